#include "core/run/status/hindrance.h"

#include "core/base/file_system.h"
#include "core/base/format.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/tracker/sqlite/database_files.h"
#include "core/tracker/sqlite/tracker_locks.h"

#include <algorithm>
#include <filesystem>
#include <optional>

namespace furrow {

namespace {

constexpr double kNsPerSecond = 1e9;
constexpr double kQuietSeconds = 3; // the supervisor writes a heartbeat each second
constexpr double kOddQuietSeconds = 20; // no load explains it any more
constexpr double kHiddenQuietSeconds = 10; // of one whose state the system does not tell

/// One of the tracker's files that nobody has the right to write; root writes it all the same.
std::optional<std::filesystem::path> readOnlyTrackerFile(const RunPaths& paths)
{
    using std::filesystem::perms;
    constexpr perms kAnybody = perms::owner_write | perms::group_write | perms::others_write;
    for (const auto& file : databaseFiles(paths.tracker())) {
        std::error_code absent;
        const auto status = std::filesystem::status(file, absent);
        if (!absent && std::filesystem::is_regular_file(status) && (status.permissions() & kAnybody) == perms::none)
            return file;
    }
    return std::nullopt;
}

/// What keeps everybody from writing to one of the tracker's files; "": nothing that can be seen.
Message whyNobodyWrites(const RunPaths& paths)
{
    for (const auto& file : databaseFiles(paths.tracker()))
        if (const auto writable = checkWritableByAny(file); !writable.ok())
            return writable.error().message;
    return {};
}

/// Until its lease ends; 0: it has ended, or nobody knows.
double secondsOfLease(const WorkerStatus& worker, const std::vector<IncarnationRow>& incarnations, std::int64_t nowNs)
{
    for (const auto& row : incarnations)
        if (row.live && row.worker == worker.worker && row.process.pid == worker.pid)
            return std::max(0.0, static_cast<double>(row.leaseUntilNs - nowNs) / kNsPerSecond);
    return 0;
}

/// Of a worker that somebody stopped.
Message standsStillInWords(const WorkerStatus& worker, double leaseSeconds)
{
    const std::vector<Argument> who { std::to_string(worker.worker), std::to_string(worker.pid) };
    if (leaseSeconds <= 0)
        return sentence(
            "Worker %1 stands still: somebody stopped process %2 (Ctrl+Z, SIGSTOP, a debugger). SIGCONT (`fg`, `kill -CONT`) lets it go on; when its lease ends, or others wait for it, it is ended and started again.",
            who);
    return sentence(
        "Worker %1 stands still: somebody stopped process %2 (Ctrl+Z, SIGSTOP, a debugger). It has said nothing for %3. SIGCONT (`fg`, `kill -CONT`) lets it go on; when its lease ends, in about %4, or as soon as others wait for it, it is ended and started again.",
        { who[0], who[1], formatDuration(worker.secondsSinceProgress), formatDuration(leaseSeconds) });
}

/// Of a supervisor that lives, and whom no lock hinders.
Hindrance unwritten(const RunPaths& paths, const Message& why, double silentSeconds)
{
    const auto silence = formatDuration(silentSeconds);
    if (!why.empty())
        return { sentence("the tracker cannot be written"),
            sentence("Nobody could write to the tracker for %1: %2 The run goes on by itself once it can be written.",
                { silence, withFullStop(why) }) };
    return { sentence("its supervisor writes nothing"),
        sentence(
            "The supervisor has written nothing to the tracker for %1, though it lives and nobody has locked it: the disk of %2 takes nothing, or answers no more. Look at the disk; the run goes on by itself once it can be written.",
            { silence, utf8Text(paths.folder()) }) };
}

/// Since the newest heartbeat of the supervisor. That of a snapshot is an old one, and tells of no silence.
double silentSeconds(const LedgerReader::Totals& totals, const Viewpoint& view)
{
    return view.isOfSnapshot ? 0 : static_cast<double>(view.nowNs - totals.supervisorHeartbeatNs) / kNsPerSecond;
}

/// Processes that somebody stopped, but for the feeder.
std::vector<Hindrance> whoStandsStill(
    const RunStatus& status, const std::vector<IncarnationRow>& incarnations, const Viewpoint& view)
{
    std::vector<Hindrance> found;
    if (status.supervisorStandsStill)
        found.push_back({ sentence("the supervisor stands still"),
            sentence(
                "The supervisor stands still: somebody stopped process %1 (Ctrl+Z, SIGSTOP, a debugger). SIGCONT (`fg`, `kill -CONT`) lets it go on; until then nothing is merged and no process that ends is started again.",
                { std::to_string(status.supervisorPid) }) });
    for (const auto& w : status.workers)
        if (w.phase == WorkerPhase::StandsStill)
            found.push_back({ sentence("worker %1 stands still", { std::to_string(w.worker) }),
                standsStillInWords(w, view.isOfSnapshot ? 0 : secondsOfLease(w, incarnations, view.nowNs)) });
    return found;
}

/// What keeps the supervisor from writing. @param found  so far: it may be the reason
void addWhyNothingIsWritten(
    std::vector<Hindrance>& found, const RunStatus& status, const RunPaths& paths, double silentSeconds)
{
    if (const auto file = readOnlyTrackerFile(paths))
        found.push_back({ sentence("the tracker cannot be written"),
            sentence(
                "%1 is not to be written by anybody: its permissions were changed. What needs to write it waits, and goes on once it can (`chmod u+w`).",
                { utf8Text(*file) }) });
    if (status.supervised && found.empty() && status.supervisorPid == 0 && silentSeconds > kHiddenQuietSeconds)
        found.push_back({ sentence("its supervisor is silent"),
            sentence(
                "The supervisor cannot be seen from here, perhaps because it runs in another container, and wrote nothing for %1. Where that container was paused, let it go on.",
                { formatDuration(silentSeconds) }) });
    if (const auto writer = silentSeconds > kQuietSeconds ? trackerLocks(paths.tracker()).writer : std::nullopt)
        found.push_back({ sentence("the tracker is locked"),
            sentence(
                "Nobody could write to the tracker for %1: %2 has locked it. The run goes on as soon as it lets go; let it go on or end it.",
                { formatDuration(silentSeconds), inWords(*writer) }) });
    if (!status.supervised || !found.empty() || silentSeconds <= kQuietSeconds)
        return;
    if (const auto why = whyNobodyWrites(paths); !why.empty() || silentSeconds > kOddQuietSeconds)
        found.push_back(unwritten(paths, why, silentSeconds));
}

} // namespace

std::vector<Hindrance> whatHinders(const RunStatus& status, const LedgerReader::Totals& totals,
    const std::vector<IncarnationRow>& incarnations, const Viewpoint& view)
{
    auto found = whoStandsStill(status, incarnations, view);
    addWhyNothingIsWritten(found, status, view.paths, silentSeconds(totals, view));
    if (totals.feeder && view.standsStill(*totals.feeder)) // last: it explains no silence of the supervisor
        found.push_back({ sentence("the feeder stands still"),
            sentence(
                "The feeder stands still: somebody stopped process %1 (Ctrl+Z, SIGSTOP, a debugger). SIGCONT (`fg`, `kill -CONT`) lets it go on; until then no block is prepared. When workers wait for data, it is ended and started again.",
                { std::to_string(totals.feeder->pid) }) });
    return found;
}

} // namespace furrow
