#pragma once

#include "core/config/run_config.h"
#include "core/run/folder/run_paths.h"
#include "core/run/status/run_status.h"
#include "core/tracker/ledger_reader.h"

namespace furrow {

/// A disk that was unmounted takes the checkpoints away from a run that trains on: RunStatus::checkpointsAway.
void sayWhatIsAway(RunStatus& status, const RunPaths& paths);

/// A disk that is full hinders a run that is supervised; and which trained chunks are in no checkpoint though one was
/// due. First of all the evidence.
/// @param config  in force now
/// @param attempt  the newest; null: there was none
void sayWhatIsNotSaved(RunStatus& status, const RunPaths& paths, const RunConfig& config, const AttemptRow* attempt);

} // namespace furrow
