#include "core/run/status/viewpoint.h"

#include "core/base/byte_locks.h"
#include "core/base/clock.h"
#include "core/base/file_lock.h"
#include "core/run/status/ledger_view.h"
#include "core/run/status/own_process.h"
#include "core/tracker/holder_life.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

namespace furrow {

namespace {

/// When the newest telemetry was written, in wall-clock nanoseconds; 0: there is none.
std::int64_t newestTelemetryNs(const RunPaths& paths)
{
    std::int64_t newest = 0;
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator(paths.telemetryFolder(), failed)) {
        const auto written = std::chrono::file_clock::to_sys(entry.last_write_time(failed));
        if (!failed)
            newest = std::max<std::int64_t>(
                newest, std::chrono::duration_cast<std::chrono::nanoseconds>(written.time_since_epoch()).count());
    }
    return newest;
}

/// Who has the lock of the run. The supervisor may be of another container: from the computer around it its lock is
/// seen with another pid and the same time of its start, from any other place no owner is.
void lookAtLock(Viewpoint& view, const RunPaths& paths, const std::optional<ProcessIdentity>& supervisor)
{
    view.held = isLocked(paths.supervisorLock());
    if (!view.held || !supervisor)
        return;
    view.supervised = isAlive(*supervisor);
    view.supervisorPid = view.supervised ? supervisor->pid : 0;
    if (view.supervised || !isHidden(*supervisor))
        return;
    const auto owner = ownerOfFileLock(paths.supervisorLock());
    view.supervised = !owner || owner->process.startTime == supervisor->startTime;
    view.supervisorPid = view.supervised && owner ? owner->process.pid : 0;
}

/// How far the clock here is ahead of that of the computer that trains; 0: by a little at most, or nobody can tell. A
/// heartbeat has both times of one moment. One from elsewhere proves by its time alone that the clock here is behind.
std::int64_t clockAhead(const Viewpoint& view, const LedgerReader::Totals& totals)
{
    constexpr std::int64_t kLittleNs = 10'000'000'000;
    constexpr std::int64_t kFreshNs = 60'000'000'000; // in an older one there may be a sleep of the machine
    const std::int64_t heardWallNs = totals.supervisorHeartbeatWallNs;
    const std::int64_t sinceNs = view.elsewhere.empty() ? view.nowNs - totals.supervisorHeartbeatNs : 0;
    if (heardWallNs == 0 || sinceNs < 0 || sinceNs > kFreshNs || (view.elsewhere.empty() && !view.supervised))
        return 0;
    const std::int64_t aheadNs = systemClock().wallNs() - (heardWallNs + sinceNs);
    return aheadNs < -kLittleNs || (aheadNs > kLittleNs && view.elsewhere.empty()) ? aheadNs : 0;
}

} // namespace

bool Viewpoint::isAlive(const IncarnationRow& row) const
{
    if (!row.live || !elsewhere.empty())
        return row.live && !isSilent();
    return (supervised && isHidden(row.process))
        || (mayLive(row.process, row.leaseUntilNs, nowNs) && !isOfAnotherFolder(paths, row.process));
}

bool Viewpoint::standsStill(const ProcessIdentity& process) const
{
    return elsewhere.empty() && furrow::standsStill(process);
}

Viewpoint viewpointOf(
    const RunPaths& paths, const LedgerReader::Totals& totals, const std::optional<AttemptRow>& attempt)
{
    Viewpoint view { paths, {}, systemClock().monotonicNs() };
    lookAtLock(view, paths, totals.supervisor);
    view.clockAheadNs = clockAhead(view, totals);
    if (!attempt || attempt->endedWallNs) // nobody trains it: a library of such runs need not look at where each lies
        return view;
    view.elsewhere = seenFromElsewhereReason(paths);
    if (view.elsewhere.empty())
        return view;
    view.clockAheadNs = clockAhead(view, totals);
    const std::int64_t wallNs = systemClock().wallNs() - view.clockAheadNs;
    view.nowNs = totals.supervisorHeartbeatNs + wallNs - totals.supervisorHeartbeatWallNs;
    view.silentNs = wallNs - std::max(totals.supervisorHeartbeatWallNs, newestTelemetryNs(paths));
    return view;
}

} // namespace furrow
