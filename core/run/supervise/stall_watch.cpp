#include "core/run/supervise/stall_watch.h"

#include "core/base/format.h"
#include "core/base/log.h"
#include "core/base/process.h"
#include "core/base/sentence.h"
#include "core/run/status/own_process.h"

#include <algorithm>
#include <utility>

namespace furrow {

namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr auto kStoppedPatience = std::chrono::seconds(1); // a debugger stops a process for moments
constexpr auto kFeederPatience = std::chrono::seconds(60); // it has no lease; its writes take milliseconds
constexpr std::int64_t kBetweenEndsNs = 5 * kSecondNs;
constexpr std::int64_t kStallNs = 3 * kSecondNs; // onTurn() comes each second
constexpr std::size_t kStallsKept = 32;

} // namespace

double HeldLock::heldByOthers(std::int64_t pid, std::chrono::milliseconds waited)
{
    const bool another = waited < std::exchange(waited_, waited);
    if (another || pid != std::exchange(pid_, pid))
        since_ = another ? std::chrono::milliseconds(0) : waited;
    return std::chrono::duration<double>(since_).count();
}

StallWatch::StallWatch(RunPaths paths, LedgerReader& reader, const Clock& clock)
    : paths_(std::move(paths))
    , reader_(reader)
    , clock_(clock)
{
}

void StallWatch::whileWaiting(std::chrono::milliseconds waited)
{
    const auto locks = trackerLocks(paths_.tracker());
    if (!locks.told)
        endLongestOverdue(waited);
    else if (locks.writer)
        judge(*locks.writer, waited);
}

void StallWatch::judge(const LockHolder& writer, std::chrono::milliseconds waited)
{
    const auto now = clock_.monotonicNs();
    const double heldByOthers = lock_.heldByOthers(writer.pid, waited); // no lease could be renewed in that time
    if (!writer.stopped || writer.pid != stoppedPid_ || waited < kStoppedPatience / 2) {
        stoppedPid_ = writer.stopped ? writer.pid : 0;
        stoppedSinceNs_ = now;
    }
    if (waited < kStoppedPatience)
        return;
    const auto own = ownProcesses(waited);
    const auto found
        = std::find_if(own.begin(), own.end(), [&](const Own& one) { return one.process.pid == writer.pid; });
    if (found == own.end()) {
        if (std::exchange(saidOfPid_, writer.pid) != writer.pid)
            logWarning("The tracker is locked by " + inWords(writer) + "; everybody waits until it lets go.");
    } else if (stoppedPid_ != 0 && now - stoppedSinceNs_ >= std::chrono::nanoseconds(kStoppedPatience / 2).count()) {
        end(*found, sentence("it stood still inside a write to the tracker, for which everybody waits"));
    } else if (found->overdueSeconds > heldByOthers) {
        end(*found, sentence("it held the lock of the tracker and made no progress within its lease"));
    }
}

/// Where the system does not tell who holds a lock: the lease that ran out first, then the next one.
void StallWatch::endLongestOverdue(std::chrono::milliseconds waited)
{
    if (waited < kStoppedPatience || clock_.monotonicNs() < nextEndNs_)
        return;
    auto own = ownProcesses(waited);
    const auto worst = std::max_element(
        own.begin(), own.end(), [](const Own& a, const Own& b) { return a.overdueSeconds < b.overdueSeconds; });
    if (worst != own.end() && worst->overdueSeconds > 0)
        end(*worst, sentence("the tracker is locked, and it made no progress within its lease"));
}

void StallWatch::end(const Own& own, const Message& cause)
{
    logWarning(own.name + " is killed: " + cause + ".");
    note(own.process, cause);
    nextEndNs_ = clock_.monotonicNs() + kBetweenEndsNs;
    killProcessTree(own.process);
}

void StallWatch::note(const ProcessIdentity& process, const Message& cause)
{
    if (endOf(process) == nullptr) // the first reason: the process is killed by now, and stands still no more
        ended_[process.pid] = { process, cause, standsStill(process) };
}

void StallWatch::endFeeder(const ProcessIdentity& feeder, const Message& cause)
{
    const Own own { "The feeder", feeder, 0 };
    end(own, cause);
}

/// Those of an attempt before this one too: they may have outlived their supervisor.
std::vector<StallWatch::Own> StallWatch::ownProcesses(std::chrono::milliseconds waited)
{
    std::vector<Own> own;
    const auto add = [&](std::string name, const ProcessIdentity& process, double overdueSeconds) {
        if (isOwnProcess(paths_, process))
            own.push_back({ std::move(name), process, overdueSeconds });
    };
    if (const auto rows = reader_.incarnations(); rows.ok())
        for (const auto& row : rows.value())
            if (row.live)
                add("Worker " + std::to_string(row.worker), row.process,
                    static_cast<double>(clock_.monotonicNs() - row.leaseUntilNs) / kSecondNs
                        - forgivenSeconds(row.progressNs));
    if (const auto totals = reader_.totals(); totals.ok() && totals.value().feeder)
        add("The feeder", *totals.value().feeder, std::chrono::duration<double>(waited - kFeederPatience).count());
    return own;
}

void StallWatch::onTurn()
{
    const auto now = clock_.monotonicNs();
    const auto before = std::exchange(lastTurnNs_, now);
    const auto pause = now - before;
    saidOfPid_ = -1;
    if (before == 0 || pause < kStallNs)
        return;
    logWarning("The supervisor had no turn to write for " + formatDuration(static_cast<double>(pause) / kSecondNs)
        + "; leases are longer by that.");
    stalls_.push_back({ now, pause });
    if (stalls_.size() > kStallsKept)
        stalls_.erase(stalls_.begin());
}

double StallWatch::forgivenSeconds(std::int64_t renewedNs) const
{
    std::int64_t forgivenNs = 0;
    for (const auto& stall : stalls_)
        if (renewedNs < stall.endNs)
            forgivenNs += stall.lengthNs;
    return static_cast<double>(forgivenNs) / kSecondNs;
}

const StallWatch::EndByUs* StallWatch::endOf(const ProcessIdentity& process) const
{
    const auto found = ended_.find(process.pid);
    return found != ended_.end() && found->second.process == process ? &found->second : nullptr;
}

std::optional<Message> StallWatch::whyEnded(const ProcessIdentity& process) const
{
    const auto* end = endOf(process);
    return end == nullptr ? std::nullopt : std::optional(sentence("the supervisor ended it: %1", { end->cause }));
}

bool StallWatch::wasStopped(const ProcessIdentity& process) const
{
    const auto* end = endOf(process);
    return end != nullptr && end->wasStopped;
}

} // namespace furrow
