#pragma once

#include "core/tracker/supervisor_ledger.h"
#include "ui/models/table_model.h"

#include <functional>
#include <optional>

namespace furrow {

class CheckpointVerifier;

/// A checkpoint with what only the others tell about it.
struct CheckpointLine : SupervisorLedger::CheckpointRow {
    bool best = false; ///< the lowest eval loss of those that have their files
    bool newest = false; ///< the weights that the run is known by (weightsOf)
    bool hasFiles() const { return !removed && !damaged; }
};

using CheckpointModel = TableModel<CheckpointLine>;

/// The moment that is replayed [ns since 1970]; nothing: the present.
using MomentShown = std::function<std::optional<std::int64_t>()>;

/// What a person chooses by comes first, so that it is in sight without scrolling.
/// @param moment  that ages are of; null: the present
std::vector<TableColumn<CheckpointLine>> checkpointColumns(const MomentShown& moment = {});
/// The same, and what the verifier knows of the files. It must live as long as the model.
std::vector<TableColumn<CheckpointLine>> checkpointColumns(
    const CheckpointVerifier& verifier, const MomentShown& moment = {});
/// Checkpoints in the same order, the best one and the newest found.
std::vector<CheckpointLine> checkpointLines(const std::vector<SupervisorLedger::CheckpointRow>& rows);

} // namespace furrow
