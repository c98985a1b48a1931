#pragma once

#include "core/run/audit/new_tracker.h"
#include "core/tracker/ledger_reader.h"

#include <optional>
#include <vector>

namespace furrow {

/// What else keeps a run from going on as it was, each in a sentence: newest weights that are damaged or cannot be
/// read, or of which a resume takes more than weights (keptStates()), marked ones that are whole, a tracker that is
/// older than the weights, another held-out text, settings of the newest attempt that cannot be used. Reads the newest
/// weights; changes nothing.
Result<std::vector<Message>> checkpointProblems(const RunPaths& paths);

/// The same without reading again what was read.
Result<std::vector<Message>> checkpointProblems(const RunPaths& paths, const RunFile& file, WeightsVerdicts known);

/// The settings of the newest attempt where they cannot be used; nothing: they can.
struct WrongSettings {
    AttemptId attempt;
    Message why;
};
Result<std::optional<WrongSettings>> wrongSettings(const RunFile& file, LedgerReader& reader);

} // namespace furrow
