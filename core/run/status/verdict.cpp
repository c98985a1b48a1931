// State is derived here and nowhere else: from the kernel's lock, the processes and the exit record, never from a
// stored word.

#include "core/run/status/verdict.h"

#include "core/base/file_system.h"
#include "core/base/lock_holder.h"
#include "core/base/path.h"
#include "core/base/format.h"
#include "core/base/sentence.h"
#include "core/base/told.h"
#include "core/run/folder/finished_mark.h"
#include "core/run/status/end_words.h"
#include "core/run/status/hindrance.h"
#include "core/run/status/run_holder.h"
#include "core/tracker/sqlite/tracker_locks.h"

#include <algorithm>

namespace furrow {

namespace {

constexpr SentenceText kEndsWithBlock(
    "The run ends with the block that is complete next: a person or a stopping rule asked for that.");
constexpr SentenceText kEndsWithEpoch("The run ends with epoch %1: a person asked for that.");

constexpr double kNsPerSecond = 1e9;

/// What the supervisor logged when it ended and the ledger could not take its exit record (a full disk); "" when it
/// logged nothing.
Message loggedEnd(const RunPaths& paths, std::int64_t attempt)
{
    const std::string log = endOfFile(paths.supervisorLog(), 16'384);
    const std::string mark = attemptIsOver(attempt);
    const auto at = log.rfind(mark);
    return at == std::string::npos ? Message()
                                   : Message(log.substr(at + mark.size(), log.find('\n', at) - at - mark.size()));
}

/// A chunk that was begun is ended before a worker pauses.
bool trainsOn(const WorkerStatus& worker)
{
    return worker.alive && worker.phase != WorkerPhase::None && worker.phase != WorkerPhase::Wait
        && worker.phase != WorkerPhase::StandsStill && worker.phase != WorkerPhase::Ended;
}

void deriveFromWishes(RunStatus& status, DesiredState desired)
{
    if (desired == DesiredState::Stop || desired == DesiredState::Kill)
        status.state = RunState::Stopping;
    else
        status.state = desired != DesiredState::Pause                             ? RunState::Running
            : std::any_of(status.workers.begin(), status.workers.end(), trainsOn) ? RunState::Pausing
                                                                                  : RunState::Paused;
    if (status.state == RunState::Pausing)
        status.evidence.push_back(sentence(
            "A person asked for a pause: the workers train on to the end of their chunks. Continue (`furrowctl continue`) takes it back."));
    if (status.state == RunState::Paused)
        status.evidence.push_back(sentence(
            "A person asked for a pause: the workers wait at the end of their chunks. Continue (`furrowctl continue`) lets them go on."));
    if (status.state == RunState::Stopping)
        status.evidence.push_back(desired == DesiredState::Stop
                ? sentence("A person asked for a stop: the workers save a checkpoint and end.")
                : sentence("A person asked for a kill: every process is ended, without a checkpoint."));
}

/// An attempt without an end, whose processes are (or were) on another computer: what they write is the only sign of
/// them.
void deriveFromElsewhere(RunStatus& status, const LedgerReader::Totals& totals, const Viewpoint& view)
{
    const std::string silence
        = formatDuration(static_cast<double>(std::max<std::int64_t>(view.silentNs, 0)) / kNsPerSecond);
    status.evidence.push_back(sentence(
        "The folder is looked at from outside (%1), so the run is trained by another computer, whose processes cannot be seen from here.",
        { view.elsewhere }));
    status.evidence.push_back(sentence("The run wrote something %1 ago.", { silence }));
    if (!view.isSilent()) {
        deriveFromWishes(status, totals.desired);
        return;
    }
    status.state = RunState::Interrupted;
    status.stopReason = StopReason::Interrupted;
    status.stopDetail = sentence("no sign of life for %1 from the computer that trains it", { silence });
}

/// What the supervisor that lives has started. Its first worker tells of itself seconds after the attempt began.
Message workersInWords(const RunStatus& status, const std::vector<IncarnationRow>& incarnations)
{
    const auto living
        = std::count_if(status.workers.begin(), status.workers.end(), [](const auto& w) { return w.alive; });
    if (status.workers.size() == 1)
        return living == 1 ? sentence("The worker is alive.") : sentence("The worker is not alive.");
    if (!status.workers.empty())
        return sentence("%1 of %2 workers alive.", { std::to_string(living), std::to_string(status.workers.size()) });
    const bool isMerging = std::any_of(incarnations.begin(), incarnations.end(), [&status](const IncarnationRow& row) {
        return row.worker == kNoWorker && row.live && row.attempt.value == status.attempt;
    });
    return isMerging ? sentence("The weights are being merged; no worker trains meanwhile.")
                     : sentence("The workers are starting; none has begun yet.");
}

bool isAnyGone(const std::vector<WorkerStatus>& workers)
{
    return std::any_of(workers.begin(), workers.end(), [](const auto& w) { return !w.alive; });
}

/// Of a snapshot: its newest heartbeat is not the newest one.
Message whoHoldsNow(const RunStatus& status)
{
    return status.supervisorPid == 0
        ? sentence("A process that cannot be seen from here, perhaps in another container, holds the run.")
        : sentence("The supervisor (process %1) holds the run.", { std::to_string(status.supervisorPid) });
}

Message whoHolds(const RunStatus& status, const LedgerReader::Totals& totals, const Viewpoint& view)
{
    if (view.isOfSnapshot)
        return whoHoldsNow(status);
    const std::string ago
        = formatDuration(static_cast<double>(view.nowNs - totals.supervisorHeartbeatNs) / kNsPerSecond);
    if (status.supervisorPid == 0)
        return sentence(
            "A process that cannot be seen from here, perhaps in another container, holds the run; its last heartbeat is %1 ago.",
            { ago });
    const std::string pid = std::to_string(status.supervisorPid);
    return status.supervisorPid == totals.supervisor->pid
        ? sentence("The supervisor (process %1) holds the run; its last heartbeat is %2 ago.", { pid, ago })
        : sentence("The supervisor (process %1, in another container) holds the run; its last heartbeat is %2 ago.",
              { pid, ago });
}

/// Who has the lock of the run, also a shared one, while no supervisor of it is known.
std::optional<RunHolder> strangerOf(const RunPaths& paths, const AttemptRow& newest)
{
    const auto holder = holderOf(paths);
    return holder && holder->process != newest.supervisor ? holder : std::nullopt; // else it is about to end
}

/// One that holds the run and has begun no attempt yet: it looks at weights, or waits for the tracker.
void deriveFromStart(RunStatus& status, const RunPaths& paths, const RunHolder& supervisor)
{
    status.state = RunState::Running;
    status.supervisorPid = supervisor.process.pid;
    const auto writer = trackerLocks(paths.tracker()).writer;
    if (writer && writer->pid != supervisor.process.pid) {
        status.hindrance = { sentence("the tracker is locked"),
            sentence("%1 has locked the tracker; the attempt begins when it lets go. Let it go on or end it.",
                { inWords(*writer) }) };
        status.evidence.push_back(status.hindrance->sentence);
    }
    status.evidence.push_back(sentence("The supervisor (process %1) holds the run and has begun no attempt yet.",
        { std::to_string(supervisor.process.pid) }));
}

/// What keeps a supervisor from beginning an attempt.
void sayWhoElseHolds(RunStatus& status, const RunPaths& paths, const RunHolder& holder)
{
    if (holder.isOurs)
        return; // an audit, say: it is over soon
    const auto shown = fileLockHolder(paths.supervisorLock()).value_or(LockHolder {});
    status.evidence.push_back(
        sentence("%1 holds %2 and is not a program of Furrow: until it lets go, no attempt can begin.",
            { inWords(shown), utf8Text(paths.supervisorLock()) }));
}

} // namespace

void deriveState(RunStatus& status, const RunPaths& paths, const LedgerReader::Totals& totals,
    const std::optional<AttemptRow>& attempt, const std::vector<IncarnationRow>& incarnations, const Viewpoint& view)
{
    if (!attempt) {
        status.state = RunState::New;
        status.evidence.push_back(sentence("No attempt was started yet."));
        return;
    }
    if (!view.elsewhere.empty())
        return deriveFromElsewhere(status, totals, view);
    status.supervised = view.supervised;
    status.supervisorPid = view.supervisorPid;
    if (view.supervised) {
        status.supervisorStandsStill = standsStill(*totals.supervisor);
        for (auto& hindrance : whatHinders(status, totals, incarnations, view)) {
            status.evidence.push_back(hindrance.sentence);
            if (!status.hindrance)
                status.hindrance = std::move(hindrance);
        }
        status.evidence.push_back(whoHolds(status, totals, view));
        status.evidence.push_back(workersInWords(status, incarnations));
        if (isAnyGone(status.workers) && !totals.awaited.empty() && !view.isOfSnapshot) // of one it is old
            status.evidence.push_back(totals.awaited);
        if (!status.supervisorStandsStill) // else it keeps the WAL itself
            if (auto grown = sayWhatKeepsTheWal(paths.tracker()); !grown.empty())
                status.evidence.push_back(std::move(grown));
        deriveFromWishes(status, totals.desired);
        return;
    }
    const auto holder = strangerOf(paths, *attempt);
    if (holder && holder->isSupervisor)
        return deriveFromStart(status, paths, *holder);
    if (holder)
        sayWhoElseHolds(status, paths, *holder);
    if (attempt->endedWallNs) {
        status.stopReason = attempt->reason;
        status.stopDetail = attempt->detail;
        const Message why = endInWords(attempt->reason, attempt->detail);
        const std::vector<Argument> values { std::to_string(attempt->id.value), WallTime(*attempt->endedWallNs), why };
        status.evidence.push_back(why.ends_with(".") // a sentence of its own
                ? sentence("Attempt %1 ended at %2, for this reason: %3", values)
                : sentence("Attempt %1 ended at %2: %3.", values));
        status.state = stateAfter(attempt->reason);
        return;
    }
    status.state = RunState::Interrupted;
    status.stopReason = StopReason::Interrupted;
    if (view.held && !holder) {
        status.state = RunState::Running; // starting: it holds the lock and has not said its name yet
        status.evidence.push_back(sentence("A process holds the run and has not written a heartbeat yet."));
        return;
    }
    if (isOfThisBoot(attempt->supervisor))
        status.evidence.push_back(sentence("The supervisor process is gone."));
    else
        status.evidence.push_back(sentence("The boot id changed: the computer was restarted."));
    status.evidence.push_back(sentence("Attempt %1 has no exit record.", { std::to_string(attempt->id.value) }));
    if (totals.supervisorHeartbeatWallNs > 0 && !view.isOfSnapshot)
        status.evidence.push_back(
            sentence("The last heartbeat was at %1.", { WallTime(totals.supervisorHeartbeatWallNs) }));
    if (const auto logged = loggedEnd(paths, attempt->id.value); !logged.empty()) {
        status.evidence.push_back(sentence("The supervisor logged at its end: %1", { logged }));
        status.stopDetail = logged;
        return;
    }
    status.stopDetail = isOfThisBoot(attempt->supervisor)
        ? sentence("the supervisor process is gone, there is no exit record")
        : sentence("the computer restarted while the run was training");
}

void sayWhereItEnds(RunStatus& status, const RunConfig& config)
{
    if (!status.supervised || (status.state != RunState::Running && status.state != RunState::Paused))
        return;
    const std::int64_t complete = status.trainedBlocks;
    if (status.rules.blocks > complete)
        status.evidence.push_back(status.rules.blocks == complete + 1
                ? sentence(kEndsWithBlock)
                : sentence("The run ends when %1 more blocks are complete.",
                      { std::to_string(status.rules.blocks - complete) }));
    if (status.rules.epochs > 0 && status.rules.epochs != (config.iterate ? 0 : config.epochs))
        status.evidence.push_back(sentence(kEndsWithEpoch, { std::to_string(status.rules.epochs) }));
}

Message isAboutToEnd(const RunStatus& status)
{
    const auto said = std::find_if(status.evidence.begin(), status.evidence.end(),
        [](const Message& one) { return tells(one, { kEndsWithBlock, kEndsWithEpoch }); });
    return said == status.evidence.end() ? Message() : *said;
}

void applyFinishedMark(RunStatus& status, const RunPaths& paths)
{
    if (status.state != RunState::Interrupted && status.state != RunState::Failed && status.state != RunState::Stopped)
        return;
    const auto mark = readFinishedMark(paths);
    if (!mark || mark->attempt.value != status.attempt)
        return;
    status.evidence.push_back(sentence("A person marked the run as finished at %1; until then it was %2.",
        { WallTime(mark->wallNs), Term { TermSet::RunState, toString(status.state) } }));
    status.state = RunState::Finished;
    status.markedByHand = true;
}

} // namespace furrow
