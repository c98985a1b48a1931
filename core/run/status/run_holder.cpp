#include "core/run/status/run_holder.h"

#include "core/base/byte_locks.h"
#include "core/base/file_lock.h"
#include "core/base/lock_holder.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/run/status/run_status.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

namespace furrow {

namespace {

std::optional<ProcessIdentity> namedSupervisor(const RunPaths& paths)
{
    auto reader = LedgerReader::open(paths.tracker());
    const auto totals = reader.ok() ? reader.value().totals() : Result<LedgerReader::Totals>(reader.error());
    return totals.ok() ? totals.value().supervisor : std::nullopt;
}

/// Its name without a folder and an ending; "" when the system does not tell.
std::string programIn(const std::vector<std::string>& words)
{
    return words.empty() ? std::string() : utf8Text(pathFromUtf8(words.front()).stem());
}

} // namespace

bool isProgramOfFurrow(const std::vector<std::string>& words)
{
    constexpr std::array kPrograms { "furrowctl", "furrow", "furrow-worker", "furrow-trainer" };
    return std::find(kPrograms.begin(), kPrograms.end(), programIn(words)) != kPrograms.end();
}

std::optional<RunHolder> holderOf(const RunPaths& paths)
{
    const auto owner = ownerOfFileLock(paths.supervisorLock());
    if (!owner)
        return std::nullopt;
    const auto& words = owner->commandLine;
    const auto program = programIn(words);
    const bool supervises = program == "furrowctl" && std::find(words.begin(), words.end(), "supervise") != words.end();
    return RunHolder { owner->process, program, supervises, isProgramOfFurrow(words) };
}

bool isHeldByOther(const RunPaths& paths, const std::optional<RunHolder>& holder)
{
    if (holder && holder->isSupervisor)
        return false;
    auto reader = LedgerReader::open(paths.tracker());
    const auto totals = reader.ok() ? reader.value().totals() : Result<LedgerReader::Totals>(reader.error());
    if (!totals.ok())
        return holder && holder->isOurs; // else nobody knows; the tracker's own error says what to do
    const auto& supervisor = totals.value().supervisor;
    if (!supervisor || isHidden(*supervisor)) // in another container: where its lock is seen, its command line is too
        return !supervisor || holder;
    return !isAlive(*supervisor) || (holder && holder->process != *supervisor);
}

bool isHeldByHidden(const RunPaths& paths)
{
    const auto supervisor = namedSupervisor(paths);
    return supervisor && isHidden(*supervisor) && isLocked(paths.supervisorLock());
}

bool staysHeld(const RunPaths& paths)
{
    constexpr auto kEndPatience = std::chrono::seconds(2);
    constexpr auto kTurn = std::chrono::milliseconds(50);
    const auto until = std::chrono::steady_clock::now() + kEndPatience;
    while (isLocked(paths.supervisorLock())) {
        const auto holder = holderOf(paths);
        const auto supervisor = holder ? std::nullopt : namedSupervisor(paths);
        // One that is ending has no words any more, and no system tells of one that has ended.
        const bool lives
            = (holder && !holder->program.empty()) || (supervisor && (isAlive(*supervisor) || isHidden(*supervisor)));
        if (lives || std::chrono::steady_clock::now() >= until)
            return true;
        std::this_thread::sleep_for(kTurn);
    }
    return false;
}

Error heldByAnother(const RunPaths& paths, HeldFrom from)
{
    const std::string folder = paths.folder().string();
    const auto holder = holderOf(paths);
    const auto shown = fileLockHolder(paths.supervisorLock()).value_or(LockHolder {});
    if (holder && !holder->isSupervisor && holder->isOurs)
        return { ErrorCode::Busy,
            sentence("%1 is in use: %2 works on it. Wait until that has ended.", { folder, inWords(shown) }) };
    if (isHeldByOther(paths, holder))
        return { ErrorCode::Busy,
            sentence("%1 is in use: %2 holds %3 and is not a program of Furrow. End it, or wait until it lets go.",
                { folder, inWords(shown), utf8Text(paths.supervisorLock()) }) };
    if (from == HeldFrom::Moving)
        return { ErrorCode::Busy, sentence("%1 is running. Stop it first.", { folder }) };
    const auto status = readStatus(paths);
    const auto pid = status.ok() ? status.value().supervisorPid : 0;
    if (pid != 0)
        return { ErrorCode::Busy,
            sentence("%1 is already running, held by process %2. Stop it first.", { folder, std::to_string(pid) }) };
    return { ErrorCode::Busy, sentence("%1 is already running. Stop it first.", { folder }) };
}

} // namespace furrow
