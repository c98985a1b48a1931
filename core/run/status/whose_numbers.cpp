#include "core/run/status/whose_numbers.h"

#include "core/base/format.h"
#include "core/base/sentence.h"
#include "core/run/status/own_process.h"

#include <algorithm>
#include <cmath>

namespace furrow {

void sayWhoseProcessesLive(RunStatus& status, const std::vector<IncarnationRow>& rows, const Viewpoint& view)
{
    const auto stranger = std::find_if(rows.begin(), rows.end(), [&view](const auto& row) {
        return row.live && view.elsewhere.empty() && isOfAnotherFolder(view.paths, row.process);
    });
    if (stranger != rows.end())
        status.evidence.push_back(
            sentence("Process %1, which the tracker names as a worker, trains in another folder: this one is a copy.",
                { std::to_string(stranger->process.pid) }));
}

void sayHowClocksDiffer(RunStatus& status)
{
    if (status.clockAheadNs == 0)
        return;
    const std::string by = formatDuration(std::abs(static_cast<double>(status.clockAheadNs)) / 1e9);
    status.evidence.push_back(status.clockAheadNs > 0
            ? sentence("The clock here is %1 ahead of that of the run; times are told by that of the run.", { by })
            : sentence("The clock here is %1 behind that of the run; times are told by that of the run.", { by }));
}

Message sayWhatIsOlder(
    RunStatus& status, const RunPaths& paths, const CheckpointRows& rows, const Viewpoint& view, LedgerReader& ledger)
{
    if (status.supervised || status.state == RunState::Running || !view.elsewhere.empty())
        return {}; // it may be writing a checkpoint
    const auto strays = findStrays(paths, status.file.runId, [&rows] { return Result<CheckpointRows>(rows); });
    if (!strays.ok())
        return {};
    const auto older = olderTrackerText(paths, status.file.runId, strays.value(), rows, ledger);
    if (!older.ok() || older.value().empty())
        return {};
    const auto problem
        = olderTrackerProblem(paths, status.file.runId); // looks again: an orphan may have committed meanwhile
    if (!problem.ok() || problem.value().empty())
        return {};
    status.evidence.push_back(problem.value());
    return older.value();
}

void sayThatItIsOld(RunStatus& status, const Message& why)
{
    if (why.empty())
        return;
    // What is in it, not when the file was written: a copy is as old as what it says.
    std::int64_t wallNs = std::max(status.endedWallNs, status.newestCheckpointWallNs);
    for (const WorkerStatus& worker : status.workers)
        wallNs = std::max({ wallNs, worker.startedWallNs, worker.endedWallNs });
    const auto old
        = sentence("The numbers are those of an older snapshot, of %1, for the tracker cannot be read now. %2",
            { WallTime(wallNs), withFullStop(why) });
    status.evidence.insert(status.evidence.begin(), old);
    status.hindrance = { sentence("an older snapshot is shown"), old };
}

} // namespace furrow
