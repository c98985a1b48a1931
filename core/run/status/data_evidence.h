#pragma once

#include "core/run/folder/run_paths.h"
#include "core/run/status/run_status.h"
#include "core/tracker/ledger_reader.h"

#include <vector>

namespace furrow {

/// It may wait for data before it has read anything. Of a run that has ended it does nothing any more.
/// @param doing  as the ledger has it
void sayWhatTheFeederDoes(RunStatus& status, const Message& doing);

/// An epoch is complete without these rows, so they must be said beside it: RunStatus::leftOut.
/// @param attempts  of the run
void nameLeftOut(RunStatus& status, const LedgerReader& ledger, const std::vector<AttemptRow>& attempts);

/// Text that the tokenizer has no token for, and what the hub's copy of the data was compared with.
void sayHowDataIsRead(RunStatus& status);

} // namespace furrow
