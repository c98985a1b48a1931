#pragma once

#include "core/base/message.h"
#include "core/run/folder/run_paths.h"
#include "core/tracker/ledger_reader.h"

#include <string>

namespace furrow {

/// What a resume that accepts the loss would go on from by this tracker, and how many chunks it would train again, in
/// a sentence: a tracker that is older may know none of the checkpoints that are there. Reads the weights.
Result<Message> acceptedLoss(const RunPaths& paths, const std::string& runId, LedgerReader& tracker);

} // namespace furrow
