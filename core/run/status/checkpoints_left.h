#pragma once

#include "core/tracker/ledger_reader.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace furrow {

/// Checkpoints left the weights, as an event of the run tells it.
struct WeightsLeft {
    std::int64_t wallNs = 0;
    CheckpointId checkpoint;
    bool wentBack = false; ///< the run went back to `checkpoint`: all newer ones left. Else it was found damaged, and
                           ///< left with all that was made from it
};

/// Nothing: the event tells something else.
std::optional<WeightsLeft> weightsLeftBy(const EventRow& event);

/// When a checkpoint that does not survive left the weights.
struct CheckpointLeft {
    std::int64_t wallNs = 0;
    CheckpointId checkpoint;
};

/// Of each checkpoint that does not survive, as far as anything tells it: an event, or the merge that left it out.
/// @param rows  of the run, by id, as LedgerReader::checkpoints() has them
std::vector<CheckpointLeft> checkpointsLeft(
    const std::vector<SupervisorLedger::CheckpointRow>& rows, const std::vector<WeightsLeft>& events);

} // namespace furrow
