// State is derived here and nowhere else: from the kernel's lock, the processes and the exit record, never from a stored word.

#include "core/run/run_status.h"

#include "core/base/clock.h"
#include "core/base/file_lock.h"
#include "core/base/file_system.h"
#include "core/base/format.h"
#include "core/run/finished_mark.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace furrow {

namespace {

constexpr double kNsPerSecond = 1e9;

void addWorkers(RunStatus& status, const std::vector<IncarnationRow>& rows, AttemptId attempt, std::int64_t nowNs)
{
    std::map<int, WorkerStatus> byWorker;
    for (const auto& row : rows) { // ascending by id: the newest incarnation of a worker wins
        if (row.attempt != attempt || row.worker < 0)
            continue;
        auto& w = byWorker[row.worker];
        const int restarts = w.pid == 0 ? 0 : w.restarts + 1;
        w = {};
        w.worker = row.worker;
        w.replica = std::max(row.replica, 0); // a follower (kFollower) trains replica 0 with the others
        w.pid = row.process.pid;
        w.alive = row.live && isAlive(row.process);
        w.device = row.device;
        w.deviceName = row.deviceName;
        w.phase = row.phase;
        w.endCause = row.endCause;
        w.restarts = restarts;
        w.step = row.step;
        w.tokens = row.tokens;
        w.loss = row.step > 0 ? row.loss : std::numeric_limits<double>::quiet_NaN();
        w.tokensPerSecond = w.alive ? row.tokensPerSecond : 0;
        if (row.chunk.value != 0) {
            w.chunkBlock = placeOf(row.chunk).block;
            w.chunkColumn = placeOf(row.chunk).column;
        }
        w.chunkFraction = row.chunkFraction;
        if (w.alive)
            w.secondsSinceProgress = static_cast<double>(nowNs - row.progressNs) / kNsPerSecond;
    }
    for (auto& [number, worker] : byWorker)
        status.workers.push_back(std::move(worker));
}

void addTotals(RunStatus& status, const LedgerReader::Totals& totals)
{
    status.steps = totals.steps;
    status.tokens = totals.tokens;
    status.activeSeconds = totals.activeSeconds;
    status.rules = totals.rules;
    double weighted = 0;
    double weight = 0;
    for (const auto& w : status.workers) {
        status.tokensPerSecond += w.tokensPerSecond;
        if (std::isfinite(w.loss) && w.tokens > 0) {
            weighted += w.loss * static_cast<double>(w.tokens);
            weight += static_cast<double>(w.tokens);
        }
    }
    status.loss = weight > 0 ? weighted / weight : std::numeric_limits<double>::quiet_NaN();
}

void sayWhatKeepsTheEpochOpen(RunStatus& status)
{
    if (status.epochs.empty() || status.epochs.back().closedWallNs)
        return;
    const auto& epoch = status.epochs.back();
    const auto say = [&](ChunkState state, const char* words) {
        if (const auto n = epoch.chunks[state]; n > 0)
            status.keepsEpochOpen.push_back(std::to_string(n) + (n == 1 ? " chunk " : " chunks ") + words);
    };
    say(ChunkState::Pending, "not prepared yet");
    say(ChunkState::Free, "free");
    say(ChunkState::Leased, "leased");
    say(ChunkState::Trained, "trained, not in a checkpoint yet");
    say(ChunkState::Poisoned, "poisoned: accept or retry");
    if (!epoch.blockCount)
        status.keepsEpochOpen.push_back("last block not proven" + (epoch.unprovenReason.empty() ? std::string() : " because " + epoch.unprovenReason));
}

void addCheckpoints(RunStatus& status, const std::vector<SupervisorLedger::CheckpointRow>& rows)
{
    for (const auto& row : rows) {
        if (row.removed || row.damaged || !row.surviving)
            continue;
        ++status.checkpoints;
        status.newestCheckpointWallNs = std::max(status.newestCheckpointWallNs, row.wallNs);
        if (row.record.evalLoss)
            status.evalLoss = row.record.evalLoss;
    }
}

std::string ago(double seconds)
{
    return formatDuration(seconds) + " ago";
}

/// What the supervisor logged when it ended and the ledger could not take its exit record (a full disk); "" when it logged nothing.
std::string loggedEnd(const RunPaths& paths, std::int64_t attempt)
{
    const std::string log = endOfFile(paths.supervisorLog(), 16'384);
    const std::string mark = "attempt " + std::to_string(attempt) + " is over: ";
    const auto at = log.rfind(mark);
    return at == std::string::npos ? std::string() : log.substr(at + mark.size(), log.find('\n', at) - at - mark.size());
}

/// Evidence first, verdict from it.
void derive(RunStatus& status, const RunPaths& paths, const LedgerReader::Totals& totals, const std::optional<AttemptRow>& attempt, std::int64_t nowNs)
{
    const auto say = [&](std::string text) { status.evidence.push_back({ std::move(text) }); };
    if (!attempt) {
        status.state = RunState::New;
        say("No attempt was started yet.");
        return;
    }
    const bool held = isLocked(paths.supervisorLock());
    const bool alive = held && totals.supervisor && isAlive(*totals.supervisor);
    if (alive) {
        status.supervisorPid = totals.supervisor->pid;
        const auto living = std::count_if(status.workers.begin(), status.workers.end(), [](const auto& w) { return w.alive; });
        say("The supervisor (process " + std::to_string(status.supervisorPid) + ") holds the run; its last heartbeat is "
            + ago(static_cast<double>(nowNs - totals.supervisorHeartbeatNs) / kNsPerSecond) + ".");
        say(std::to_string(living) + " of " + std::to_string(status.workers.size()) + " workers alive.");
        if (totals.desired == DesiredState::Stop || totals.desired == DesiredState::Kill)
            status.state = RunState::Stopping;
        else
            status.state = totals.desired == DesiredState::Pause ? RunState::Paused : RunState::Running;
        return;
    }
    if (attempt->endedWallNs) {
        status.stopReason = attempt->reason;
        status.stopDetail = attempt->detail;
        say("Attempt " + std::to_string(attempt->id.value) + " ended at " + isoTime(*attempt->endedWallNs) + ": " + toString(attempt->reason)
            + (attempt->detail.empty() ? "." : " (" + attempt->detail + ")."));
        switch (attempt->reason) {
        case StopReason::User: status.state = RunState::Stopped; break;
        case StopReason::Error: status.state = RunState::Failed; break;
        case StopReason::Interrupted: status.state = RunState::Interrupted; break;
        default: status.state = RunState::Finished; break;
        }
        return;
    }
    status.state = RunState::Interrupted;
    status.stopReason = StopReason::Interrupted;
    if (held) {
        status.state = RunState::Running; // starting: it holds the lock and has not said its name yet
        say("A process holds the run and has not written a heartbeat yet.");
        return;
    }
    say(attempt->supervisor.bootId == bootId() ? "The supervisor process is gone." : "The boot id changed: the computer was restarted.");
    say("Attempt " + std::to_string(attempt->id.value) + " has no exit record.");
    if (totals.supervisorHeartbeatWallNs > 0)
        say("The last heartbeat is of " + isoTime(totals.supervisorHeartbeatWallNs) + ".");
    if (const auto logged = loggedEnd(paths, attempt->id.value); !logged.empty()) {
        say("The supervisor logged at its end: " + logged);
        status.stopDetail = logged;
        return;
    }
    status.stopDetail = attempt->supervisor.bootId == bootId() ? "the supervisor process is gone, there is no exit record" : "the computer restarted while the run was training";
}

/// A person's word about the newest attempt, once nobody trains the run.
void heedFinishedMark(RunStatus& status, const RunPaths& paths)
{
    if (status.state != RunState::Interrupted && status.state != RunState::Failed && status.state != RunState::Stopped)
        return;
    const auto mark = readFinishedMark(paths);
    if (!mark || mark->attempt.value != status.attempt)
        return;
    status.evidence.push_back({ "A person marked the run as finished at " + isoTime(mark->wallNs) + "; until then it was " + toString(status.state) + "." });
    status.state = RunState::Finished;
    status.markedByHand = true;
}

} // namespace

std::string toString(RunState state)
{
    switch (state) {
    case RunState::New: return "new";
    case RunState::Running: return "running";
    case RunState::Paused: return "paused";
    case RunState::Stopping: return "stopping";
    case RunState::Stopped: return "stopped";
    case RunState::Interrupted: return "interrupted";
    case RunState::Failed: return "failed";
    case RunState::Finished: return "finished";
    case RunState::Unknown: break;
    }
    return "unknown";
}

Result<LedgerReader> openLedger(const RunPaths& paths)
{
    auto live = LedgerReader::open(paths.tracker());
    if (live.ok() || !std::filesystem::exists(paths.trackerSnapshot()))
        return live;
    return LedgerReader::open(paths.trackerSnapshot());
}

Result<RunStatus> readStatus(const RunPaths& paths)
{
    auto ledger = openLedger(paths);
    if (ledger.ok())
        return readStatus(paths, ledger.value());
    auto file = readRunFile(paths); // what is no run has no ledger either, and that says more
    return file.ok() ? ledger.error() : file.error();
}

Result<RunStatus> readStatus(const RunPaths& paths, LedgerReader& ledger)
{
    auto file = readRunFile(paths);
    if (!file.ok())
        return file.error();
    RunStatus status;
    status.folder = paths.folder().string();
    status.file = std::move(file).value();
    auto attempts = ledger.attempts();
    auto incarnations = ledger.incarnations();
    auto epochs = ledger.epochs();
    auto checkpoints = ledger.checkpoints();
    auto totals = ledger.totals();
    if (!attempts.ok())
        return attempts.error();
    if (!incarnations.ok())
        return incarnations.error();
    if (!epochs.ok())
        return epochs.error();
    if (!checkpoints.ok())
        return checkpoints.error();
    if (!totals.ok())
        return totals.error();
    std::optional<AttemptRow> attempt;
    if (!attempts.value().empty())
        attempt = attempts.value().back();
    const auto now = systemClock().monotonicNs();
    status.attempt = attempt ? attempt->id.value : 0;
    status.epochs = std::move(epochs).value();
    addWorkers(status, incarnations.value(), attempt ? attempt->id : AttemptId {}, now);
    addTotals(status, totals.value());
    addCheckpoints(status, checkpoints.value());
    sayWhatKeepsTheEpochOpen(status);
    status.reading = readReading(paths);
    if (const auto& doing = totals.value().feederDoing; !doing.empty()) { // it may wait for data before it has read anything
        status.reading = status.reading.value_or(Reading {});
        status.reading->doing = doing;
    }
    derive(status, paths, totals.value(), attempt, now);
    heedFinishedMark(status, paths);
    return status;
}

} // namespace furrow
