#include "core/run/status/hindrance.h"

#include "core/base/file_system.h"
#include "core/base/format.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/tracker/sqlite/database_files.h"
#include "core/tracker/sqlite/tracker_locks.h"

#include <filesystem>
#include <optional>

namespace furrow {

namespace {

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

} // namespace

std::vector<Hindrance> whatHinders(const RunStatus& status, const RunPaths& paths, double silentSeconds)
{
    std::vector<Hindrance> found;
    const auto say = [&found](const Message& words, const Message& whole) { found.push_back({ words, whole }); };
    if (status.supervisorStandsStill)
        say(sentence("the supervisor stands still"),
            sentence(
                "The supervisor stands still: somebody stopped process %1 (Ctrl+Z, SIGSTOP, a debugger). SIGCONT (`fg`, `kill -CONT`) lets it go on; until then nothing is merged and no process that ends is started again.",
                { std::to_string(status.supervisorPid) }));
    for (const auto& w : status.workers)
        if (w.phase == WorkerPhase::StandsStill)
            say(sentence("worker %1 stands still", { std::to_string(w.worker) }),
                sentence(
                    "Worker %1 stands still: somebody stopped process %2 (Ctrl+Z, SIGSTOP, a debugger). SIGCONT (`fg`, `kill -CONT`) lets it go on; when its lease ends, or others wait for it, it is ended and started again.",
                    { std::to_string(w.worker), std::to_string(w.pid) }));
    if (const auto file = readOnlyTrackerFile(paths))
        say(sentence("the tracker cannot be written"),
            sentence(
                "%1 is not to be written by anybody: its permissions were changed. What needs to write it waits, and goes on once it can (`chmod u+w`).",
                { utf8Text(*file) }));
    if (status.supervised && found.empty() && status.supervisorPid == 0 && silentSeconds > kHiddenQuietSeconds)
        say(sentence("its supervisor is silent"),
            sentence(
                "The supervisor cannot be seen from here, perhaps because it runs in another container, and wrote nothing for %1. Where that container was paused, let it go on.",
                { formatDuration(silentSeconds) }));
    if (const auto writer = silentSeconds > kQuietSeconds ? trackerLocks(paths.tracker()).writer : std::nullopt)
        say(sentence("the tracker is locked"),
            sentence(
                "Nobody could write to the tracker for %1: %2 has locked it. The run goes on as soon as it lets go; let it go on or end it.",
                { formatDuration(silentSeconds), inWords(*writer) }));
    if (!status.supervised || !found.empty() || silentSeconds <= kQuietSeconds)
        return found;
    if (const auto why = whyNobodyWrites(paths); !why.empty() || silentSeconds > kOddQuietSeconds)
        found.push_back(unwritten(paths, why, silentSeconds));
    return found;
}

} // namespace furrow
