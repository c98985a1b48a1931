#include "core/run/supervise/stuck_processes.h"

#include "core/base/fault_injection.h"
#include "core/base/log.h"
#include "core/base/sentence.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace furrow {

namespace {

constexpr double kNsPerSecond = 1e9;
constexpr auto kStartPatience = std::chrono::seconds(20); // of one that stands still before it is registered
constexpr double kExitPatienceSeconds = 20; // drivers of GPUs take seconds to let go

} // namespace

Status StuckProcesses::end(const std::vector<ProcessIdentity>& processes, AttemptId attempt, bool isStopping)
{
    FURROW_TRY(endLingering(processes, attempt));
    return endStuckStarts(processes, isStopping);
}

/// A worker that has given everything back and does not go, as drivers can make it: its process would keep the run for
/// ever.
Status StuckProcesses::endLingering(std::vector<ProcessIdentity> processes, AttemptId attempt)
{
    FURROW_TRY_ASSIGN(auto live, ledger_.live());
    std::erase_if(processes, [&](const ProcessIdentity& process) {
        return std::any_of(
            live.begin(), live.end(), [&](const auto& incarnation) { return incarnation.process == process; });
    });
    if (processes.empty())
        return {};
    FURROW_TRY_ASSIGN(auto rows, reader_.incarnations()); // not live: not registered yet, or at its end
    for (const auto& row : rows) {
        if (row.attempt != attempt || std::find(processes.begin(), processes.end(), row.process) == processes.end())
            continue;
        const auto seen = lingering_.try_emplace(row.id.value, clock_.monotonicNs()).first->second;
        if (static_cast<double>(clock_.monotonicNs() - seen)
            < faultNumber("FURROW_EXIT_PATIENCE_S", kExitPatienceSeconds) * kNsPerSecond)
            continue;
        logWarning(
            "Worker " + std::to_string(row.worker) + " ended its work and does not exit; its process is killed.");
        ends_.note(row.process, sentence("it ended its work and did not exit"));
        killProcessTree(row.process);
    }
    return {};
}

/// A worker that somebody made stand still before it was registered has no lease that could run out.
Status StuckProcesses::endStuckStarts(std::vector<ProcessIdentity> still, bool isStopping)
{
    std::erase_if(still, [](const ProcessIdentity& process) { return !standsStill(process); });
    if (still.empty()) {
        stuckSince_.clear();
        return {};
    }
    FURROW_TRY_ASSIGN(auto rows, reader_.incarnations());
    std::map<std::int64_t, std::int64_t> since;
    for (const auto& process : still) {
        if (std::any_of(rows.begin(), rows.end(), [&](const IncarnationRow& row) { return row.process == process; }))
            continue;
        const auto before = stuckSince_.find(process.pid);
        const std::int64_t now = clock_.monotonicNs();
        since[process.pid] = before == stuckSince_.end() ? now : before->second;
        const auto patience = isStopping ? std::chrono::seconds(1) : kStartPatience;
        if (now - since[process.pid] < std::chrono::nanoseconds(patience).count())
            continue;
        logWarning("Process " + std::to_string(process.pid) + " stood still while it started, and is killed.");
        ends_.note(process, sentence("it stood still while it started"));
        killProcessTree(process);
    }
    stuckSince_ = std::move(since);
    return {};
}

} // namespace furrow
