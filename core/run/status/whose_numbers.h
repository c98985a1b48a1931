#pragma once

#include "core/run/folder/run_paths.h"
#include "core/run/folder/stray_checkpoints.h"
#include "core/run/status/run_status.h"
#include "core/run/status/viewpoint.h"
#include "core/tracker/ledger_reader.h"

#include <vector>

namespace furrow {

// What is shown is of another time, or of another folder: each says so among the evidence.

/// A copy of a run that is trained names the processes of the original. @param rows  of the run
void sayWhoseProcessesLive(RunStatus& status, const std::vector<IncarnationRow>& rows, const Viewpoint& view);

/// Times are told by the clock of the run.
void sayHowClocksDiffer(RunStatus& status);

/// The numbers of an older tracker that was put back look like those of a run that had come less far.
/// @param rows  of the tracker, as status was made of
/// @return why the tracker is older; "": it is not
Message sayWhatIsOlder(
    RunStatus& status, const RunPaths& paths, const CheckpointRows& rows, const Viewpoint& view, LedgerReader& ledger);

/// So do those of a snapshot. @param why  it stands in for the tracker; "": it does not
void sayThatItIsOld(RunStatus& status, const Message& why);

} // namespace furrow
