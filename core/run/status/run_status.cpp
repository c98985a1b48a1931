// State is derived here and nowhere else: from the kernel's lock, the processes and the exit record, never from a
// stored word.

#include "core/run/status/run_status.h"

#include "core/base/byte_locks.h"
#include "core/base/clock.h"
#include "core/base/disk_room.h"
#include "core/base/file_lock.h"
#include "core/base/file_system.h"
#include "core/base/format.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/data/plan/held_out.h"
#include "core/run/folder/attempt_config.h"
#include "core/run/status/attempt_times.h"
#include "core/run/status/end_words.h"
#include "core/run/folder/finished_mark.h"
#include "core/run/status/ledger_view.h"
#include "core/run/status/own_process.h"
#include "core/run/status/data_wait.h"
#include "core/run/status/evaluation_file.h"
#include "core/run/status/feeder_words.h"
#include "core/run/folder/memory_file.h"
#include "core/run/status/run_weights.h"
#include "core/run/folder/stray_checkpoints.h"
#include "core/tracker/holder_life.h"
#include "core/tracker/named_chunks.h"
#include "core/tracker/sqlite/database_files.h"
#include "core/tracker/sqlite/tracker_locks.h"

#include <algorithm>
#include <functional>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>

namespace furrow {

namespace {

constexpr double kNsPerSecond = 1e9;
constexpr double kQuietSeconds = 3; // the supervisor writes a heartbeat each second
constexpr double kHiddenQuietSeconds = 10; // of one whose state the system does not tell
constexpr std::int64_t kTogetherNs
    = 60'000'000'000; // workers that ended within this time of the last one trained until the end
constexpr std::int64_t kSilenceNs = 60'000'000'000; // of a run on another computer, until it counts as interrupted

/// From where the run is looked at.
struct Viewpoint {
    RunPaths paths;
    std::string elsewhere; // why the run may be trained by another computer, whose processes cannot be asked; "": it is
                           // this one, or nobody trains it
    std::int64_t nowNs = 0; // monotonic, of the computer that trains
    std::int64_t clockAheadNs = 0; // of the clock here; 0: it agrees with that of the run
    std::int64_t silentNs = 0; // elsewhere: since the run wrote anything
    bool held = false; // somebody has the lock of the run
    bool supervised = false; // it is the supervisor that the ledger names, seen from here or not
    std::int64_t supervisorPid = 0; // as it is seen from here; 0: it is not
    /// A supervisor ends the lives of its workers in the ledger: where they cannot be seen they are as it says.
    bool isAlive(const IncarnationRow& row) const
    {
        if (!row.live || !elsewhere.empty())
            return row.live && silentNs < kSilenceNs;
        return (supervised && isHidden(row.process))
            || (mayLive(row.process, row.leaseUntilNs, nowNs) && !isOfAnotherFolder(paths, row.process));
    }
    bool standsStill(const ProcessIdentity& process) const { return elsewhere.empty() && furrow::standsStill(process); }
};

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

void addWorkers(RunStatus& status, const std::vector<IncarnationRow>& rows, AttemptId attempt, const Viewpoint& view)
{
    std::map<int, WorkerStatus> byWorker;
    for (const auto& row : rows) { // ascending by id: the newest incarnation of a worker wins
        if (row.attempt != attempt || row.worker < 0)
            continue;
        const bool isFirst = !byWorker.contains(row.worker);
        auto& w = byWorker[row.worker];
        const int restarts = isFirst ? 0 : w.restarts + 1;
        Message before = std::move(w.endCause);
        w = {};
        w.lastDeath = std::move(before);
        w.worker = row.worker;
        w.replica = std::max(row.replica, 0); // a follower (kFollower) trains replica 0 with the others
        w.alive = view.isAlive(row);
        w.pid = w.alive && isHidden(row.process) ? 0 : row.process.pid;
        w.device = row.device;
        w.deviceName = row.deviceName;
        w.phase = row.phase;
        w.endCause = row.endCause;
        w.startedWallNs = row.startedWallNs;
        w.endedWallNs = w.alive ? 0 : row.endedWallNs;
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
            w.secondsSinceProgress = static_cast<double>(view.nowNs - row.progressNs) / kNsPerSecond;
        if (w.alive && view.standsStill(row.process)) // what it told last is of before
            w.phase = WorkerPhase::StandsStill;
    }
    for (auto& [number, worker] : byWorker)
        status.workers.push_back(std::move(worker));
}

} // namespace

std::int64_t nowOfRun(const RunStatus& status) { return systemClock().wallNs() - status.clockAheadNs; }

bool isAnyAlive(const RunStatus& status)
{
    return std::any_of(status.workers.begin(), status.workers.end(), [](const auto& w) { return w.alive; });
}

namespace {

/// Whose loss the run has now: a worker that is gone says nothing any more of what the others have trained since.
std::vector<const WorkerStatus*> tellingWorkers(const RunStatus& status)
{
    const bool anyAlive = isAnyAlive(status);
    std::int64_t last = 0;
    for (const auto& w : status.workers)
        last = std::max(last, w.endedWallNs);
    std::vector<const WorkerStatus*> telling;
    for (const auto& w : status.workers) {
        const bool untilTheEnd = w.endedWallNs == 0 || w.endedWallNs >= last - kTogetherNs;
        if (anyAlive ? w.alive : untilTheEnd)
            telling.push_back(&w);
    }
    return telling;
}

/// A worker that died before it could save told a loss of steps that are trained again. Only those whose loss counts
/// are looked at: their claims are among the newest, where nobody has to search a million for them.
/// @param rows  as status.workers were made of
Status markGoneLosses(RunStatus& status, LedgerReader& ledger, const std::vector<IncarnationRow>& rows)
{
    for (const auto* telling : tellingWorkers(status)) {
        auto& w = status.workers[static_cast<std::size_t>(telling - status.workers.data())];
        if (w.alive || !std::isfinite(w.loss))
            continue;
        const auto row = std::find_if(rows.rbegin(), rows.rend(),
            [&](const IncarnationRow& one) { return one.worker == w.worker && one.attempt.value == status.attempt; });
        FURROW_TRY_ASSIGN(const auto newest, ledger.newestTrainingOf(row->id));
        w.lossIsGone = newest && isOfNoWeights(*newest);
    }
    return {};
}

void addTotals(RunStatus& status, const LedgerReader::Totals& totals)
{
    status.steps = totals.steps;
    status.tokens = totals.tokens;
    status.activeSeconds = totals.activeSeconds;
    status.rules = totals.rules;
    status.data = totals.data;
    double weighted = 0;
    double weight = 0;
    auto telling = tellingWorkers(status);
    std::erase_if(telling, [](const auto* w) { return !std::isfinite(w->loss) || w->tokens <= 0; });
    status.lossIsGone
        = !telling.empty() && std::all_of(telling.begin(), telling.end(), [](const auto* w) { return w->lossIsGone; });
    for (const auto* w : telling) {
        if (w->lossIsGone != status.lossIsGone) // others have weights to it
            continue;
        weighted += w->loss * static_cast<double>(w->tokens);
        weight += static_cast<double>(w->tokens);
        ++status.lossWorkers;
    }
    status.loss = weight > 0 ? weighted / weight : std::numeric_limits<double>::quiet_NaN();
}

/// A living worker that has told nothing for long makes no steps now: sooner where it is known what keeps it from them,
/// never before a few of them at the pace that it told last.
void addPaces(RunStatus& status)
{
    constexpr double kLongSeconds = 30;
    constexpr double kSteps = 4;
    const double least = status.hindrance ? kQuietSeconds : kLongSeconds;
    for (auto& w : status.workers) {
        const bool isKnown = w.step > 0 && w.tokensPerSecond > 0;
        const double perStep
            = isKnown ? static_cast<double>(w.tokens) / static_cast<double>(w.step) / w.tokensPerSecond : 0;
        if (w.phase == WorkerPhase::StandsStill || w.secondsSinceProgress > std::max(least, kSteps * perStep))
            w.tokensPerSecond = 0;
        status.tokensPerSecond += w.tokensPerSecond;
    }
}

/// The same kinds with the same counts as the legend of the epoch has them: what has lost its work is counted as that
/// alone.
std::vector<Message> whatKeepsOpen(const EpochRow& epoch)
{
    std::vector<Message> reasons;
    const auto say = [&](std::int64_t n, const Message& one, const Message& many) {
        if (n > 0)
            reasons.push_back(n == 1 ? one : many);
    };
    const auto& lost = epoch.lost;
    const ChunkCounts chunks = countedOnce(epoch);
    const auto pending = chunks[ChunkState::Pending];
    const auto free = chunks[ChunkState::Free];
    const auto leased = chunks[ChunkState::Leased];
    const auto trained = chunks[ChunkState::Trained];
    const auto poisoned = chunks[ChunkState::Poisoned];
    say(pending, sentence("1 chunk not prepared yet"),
        sentence("%1 chunks not prepared yet", { std::to_string(pending) }));
    say(free, sentence("1 chunk free"), sentence("%1 chunks free", { std::to_string(free) }));
    const auto partly = epoch.partly.sum();
    const Count done(epoch.partly.samplesDone);
    const Count all(epoch.partly.samples);
    say(partly,
        sentence("1 chunk partly trained: %1 of its %2 samples are in checkpoints, the rest is to come", { done, all }),
        sentence("%1 chunks partly trained: %2 of their %3 samples are in checkpoints, the rest is to come",
            { std::to_string(partly), done, all }));
    say(lost.sum(), sentence("1 chunk whose work was lost: it is trained again"),
        sentence("%1 chunks whose work was lost: they are trained again", { std::to_string(lost.sum()) }));
    say(leased, sentence("1 chunk leased"), sentence("%1 chunks leased", { std::to_string(leased) }));
    say(lost.released, sentence("1 chunk claimed by a worker that is gone"),
        sentence("%1 chunks claimed by workers that are gone", { std::to_string(lost.released) }));
    say(trained, sentence("1 chunk trained, not in a checkpoint yet"),
        sentence("%1 chunks trained, not in a checkpoint yet", { std::to_string(trained) }));
    say(poisoned, sentence("1 chunk poisoned: accept or retry"),
        sentence("%1 chunks poisoned: accept or retry", { std::to_string(poisoned) }));
    if (!epoch.blockCount)
        reasons.push_back(epoch.unprovenReason.empty()
                ? sentence("last block not proven")
                : sentence("last block not proven because %1", { epoch.unprovenReason }));
    return reasons;
}

/// Two open epochs have a sentence each; of more, which differ in counts alone, people want the sums.
void sayWhatKeepsTheEpochsOpen(RunStatus& status)
{
    constexpr std::int64_t kMostApart = 2;
    const auto shown = shownEpochs(status);
    if (!shown || shown->together.closedWallNs)
        return;
    if (shown->count() > kMostApart) {
        for (const Message& reason : whatKeepsOpen(shown->together))
            status.keepsEpochOpen.push_back(sentence(
                "epochs %1 to %2: %3", { std::to_string(shown->first + 1), std::to_string(shown->last + 1), reason }));
        return;
    }
    for (const EpochRow& epoch : openEpochs(status.epochs))
        for (const Message& reason : whatKeepsOpen(epoch))
            status.keepsEpochOpen.push_back(
                shown->count() == 1 ? reason : sentence("epoch %1: %2", { std::to_string(epoch.epoch + 1), reason }));
}

/// What the state of a chunk alone does not tell, of every open epoch: work that died with its weights, what processes
/// hold that are gone, and what is trained in part.
Status countChunksApart(
    RunStatus& status, LedgerReader& ledger, const std::vector<IncarnationRow>& rows, const Viewpoint& view)
{
    for (const auto& row : rows) {
        if (!row.live || view.isAlive(row))
            continue;
        FURROW_TRY_ASSIGN(auto held, ledger.heldBy(row.id));
        for (ChunkCell& cell : held) {
            cell.holderGone = true;
            status.goneHolds.push_back(cell);
        }
    }
    for (EpochRow& epoch : status.epochs) {
        const bool isShown = !epoch.closedWallNs || &epoch == &status.epochs.back(); // shownEpochs()
        if (isShown && epoch.chunks[ChunkState::Excluded] > 0) {
            FURROW_TRY_ASSIGN(epoch.samplesExcluded, ledger.samplesIn(ChunkState::Excluded, epoch.epoch));
            FURROW_TRY_ASSIGN(epoch.unreadExcluded, ledger.unreadRowsIn(ChunkState::Excluded, epoch.epoch));
        }
        if (isShown && epoch.chunks[ChunkState::Accepted] > 0) {
            FURROW_TRY_ASSIGN(epoch.samplesAccepted, ledger.samplesIn(ChunkState::Accepted, epoch.epoch));
            FURROW_TRY_ASSIGN(epoch.unreadAccepted, ledger.unreadRowsIn(ChunkState::Accepted, epoch.epoch));
        }
        if (epoch.closedWallNs)
            continue;
        if (epoch.chunks[ChunkState::Pending] + epoch.chunks[ChunkState::Free] > 0 && status.attempt > 0) {
            FURROW_TRY_ASSIGN(auto cells, ledger.takenUpOnce(epoch.epoch));
            for (const ChunkCell& cell : cells)
                countApart(epoch, cell);
        }
        for (const ChunkCell& cell : status.goneHolds)
            if (placeOf(cell.id).epoch == epoch.epoch)
                countApart(epoch, cell);
    }
    return {};
}

HeldOutLoss evaluationOf(const SupervisorLedger::CheckpointRow& row, const Message& whose, bool isNewest)
{
    const bool merged = row.record.kind == CheckpointKind::Merge;
    return { *row.record.evalLoss, row.record.step, {}, merged ? 0 : row.record.replica, merged, row.wallNs, whose,
        row.id.value, !isNewest };
}

/// One answer to "how good is it": the newest evaluation of weights that are there. Where several replicas train it is
/// of the one that was evaluated last, whichever has the newest checkpoint: nothing but an evaluation changes it.
void addEvaluation(RunStatus& status, const std::vector<SupervisorLedger::CheckpointRow>& rows,
    const std::optional<RunWeights>& newest)
{
    for (const auto& row : rows) {
        const bool known = row.record.evalLoss && !row.removed && !row.damaged && row.surviving;
        if (!known || (status.evaluation && row.wallNs < status.evaluation->wallNs))
            continue;
        const bool isNewest = newest && row.id == newest->row.id;
        status.evaluation = evaluationOf(row,
            isNewest ? whoseWeights(*newest)
                : row.record.kind == CheckpointKind::Merge
                ? sentence("an older merge")
                : sentence("replica %1", { std::to_string(row.record.replica) }),
            isNewest);
    }
    if (status.evaluation)
        status.evaluation->text = status.evaluated;
}

/// What workers found on their way, since. A checkpoint is saved after its weights were evaluated: where it is the
/// newer one it has that loss. A worker that takes a merge over evaluates the same weights once more, and knows its own
/// steps only.
/// @param counts  whether what was told is of weights that are there
void takeNewer(RunStatus& status, const RunPaths& paths, const std::optional<RunWeights>& newest,
    const std::function<bool(const ToldEvaluation&)>& counts)
{
    constexpr double kSame = 1e-6;
    const auto told
        = newestEvaluation(paths, [&](const ToldEvaluation& one) { return std::isfinite(one.loss) && counts(one); });
    const bool isSame = told && told->merged && status.evaluation && status.evaluation->merged
        && std::abs(told->loss - status.evaluation->loss) < kSame;
    if (told && !isSame && (!status.evaluation || told->wallNs > status.evaluation->wallNs))
        status.evaluation = heldOutLossOf(*told, status.evaluated);
    if (status.evaluation && status.evaluation->checkpoint == 0)
        status.evaluation->superseded = newest && newest->row.wallNs > status.evaluation->wallNs;
    if (const auto asked
        = newestEvaluation(paths, [&](const ToldEvaluation& one) { return one.tasks.questions > 0 && counts(one); }))
        status.answers = answersOf(*asked);
}

void addCheckpoints(RunStatus& status, const std::vector<SupervisorLedger::CheckpointRow>& rows,
    const std::vector<IncarnationRow>& incarnations, const std::vector<AttemptRow>& attempts)
{
    AttemptTimes times;
    times.know(attempts, nowOfRun(status));
    for (const auto& row : rows) {
        const auto writer = std::find_if(incarnations.begin(), incarnations.end(),
            [&row](const IncarnationRow& one) { return one.id == row.incarnation; });
        const auto wallNs = writer == incarnations.end() ? row.wallNs : times.at(writer->attempt, row.wallNs);
        if (row.removed || row.damaged || !row.surviving)
            continue;
        ++status.checkpoints;
        status.newestCheckpointWallNs = std::max(status.newestCheckpointWallNs, wallNs);
    }
}

/// What the supervisor logged when it ended and the ledger could not take its exit record (a full disk); "" when it
/// logged nothing.
Message loggedEnd(const RunPaths& paths, std::int64_t attempt)
{
    const std::string log = endOfFile(paths.supervisorLog(), 16'384);
    const std::string mark = "attempt " + std::to_string(attempt) + " is over: ";
    const auto at = log.rfind(mark);
    return at == std::string::npos ? Message()
                                   : Message(log.substr(at + mark.size(), log.find('\n', at) - at - mark.size()));
}

void deriveFromWishes(RunStatus& status, DesiredState desired)
{
    if (desired == DesiredState::Stop || desired == DesiredState::Kill)
        status.state = RunState::Stopping;
    else
        status.state = desired == DesiredState::Pause ? RunState::Paused : RunState::Running;
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
    if (view.silentNs < kSilenceNs) {
        deriveFromWishes(status, totals.desired);
        return;
    }
    status.state = RunState::Interrupted;
    status.stopReason = StopReason::Interrupted;
    status.stopDetail = sentence("no sign of life for %1 from the computer that trains it", { silence });
}

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

/// What keeps a living run from going on, first of all: where there is room for one sentence, it is this one.
void sayWhatHinders(RunStatus& status, const RunPaths& paths, double silentSeconds)
{
    const auto say = [&status](const Message& words, const Message& whole) {
        status.evidence.push_back(whole);
        if (!status.hindrance)
            status.hindrance = { words, whole };
    };
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
    if (status.supervised && !status.hindrance && status.supervisorPid == 0 && silentSeconds > kHiddenQuietSeconds)
        say(sentence("its supervisor is silent"),
            sentence(
                "The supervisor cannot be seen from here, perhaps because it runs in another container, and wrote nothing for %1. Where that container was paused, let it go on.",
                { formatDuration(silentSeconds) }));
    if (const auto writer = silentSeconds > kQuietSeconds ? trackerLocks(paths.tracker()).writer : std::nullopt)
        say(sentence("the tracker is locked"),
            sentence(
                "Nobody could write to the tracker for %1: %2 has locked it. The run goes on as soon as it lets go; let it go on or end it.",
                { formatDuration(silentSeconds), inWords(*writer) }));
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

Message whoHolds(const RunStatus& status, const ProcessIdentity& supervisor, double silence)
{
    const std::string ago = formatDuration(silence);
    if (status.supervisorPid == 0)
        return sentence(
            "A process that cannot be seen from here, perhaps in another container, holds the run; its last heartbeat is %1 ago.",
            { ago });
    const std::string pid = std::to_string(status.supervisorPid);
    return status.supervisorPid == supervisor.pid
        ? sentence("The supervisor (process %1) holds the run; its last heartbeat is %2 ago.", { pid, ago })
        : sentence("The supervisor (process %1, in another container) holds the run; its last heartbeat is %2 ago.",
              { pid, ago });
}

/// Evidence first, verdict from it.
void derive(RunStatus& status, const RunPaths& paths, const LedgerReader::Totals& totals,
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
        const double silence = static_cast<double>(view.nowNs - totals.supervisorHeartbeatNs) / kNsPerSecond;
        status.supervisorStandsStill = standsStill(*totals.supervisor);
        sayWhatHinders(status, paths, silence);
        status.evidence.push_back(whoHolds(status, *totals.supervisor, silence));
        status.evidence.push_back(workersInWords(status, incarnations));
        if (auto grown = sayWhatKeepsTheWal(paths.tracker()); !grown.empty())
            status.evidence.push_back(std::move(grown));
        deriveFromWishes(status, totals.desired);
        return;
    }
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
    if (view.held) {
        status.state = RunState::Running; // starting: it holds the lock and has not said its name yet
        status.evidence.push_back(sentence("A process holds the run and has not written a heartbeat yet."));
        return;
    }
    if (isOfThisBoot(attempt->supervisor))
        status.evidence.push_back(sentence("The supervisor process is gone."));
    else
        status.evidence.push_back(sentence("The boot id changed: the computer was restarted."));
    status.evidence.push_back(sentence("Attempt %1 has no exit record.", { std::to_string(attempt->id.value) }));
    if (totals.supervisorHeartbeatWallNs > 0)
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

/// Numbers of before look like those of a run that had come less far.
void sayThatItIsOld(RunStatus& status, const RunPaths& paths, const Message& why)
{
    if (why.empty())
        return;
    std::error_code failed;
    const auto written
        = std::chrono::file_clock::to_sys(std::filesystem::last_write_time(paths.trackerSnapshot(), failed));
    const auto wallNs = std::chrono::duration_cast<std::chrono::nanoseconds>(written.time_since_epoch()).count();
    const auto old
        = sentence("The numbers are those of an older snapshot, of %1, for the tracker cannot be read now. %2",
            { WallTime(wallNs), withFullStop(why) });
    status.evidence.insert(status.evidence.begin(), old);
    status.hindrance = { sentence("an older snapshot is shown"), old };
}

/// An epoch is complete without these rows, so they must be said beside it.
void nameLeftOut(RunStatus& status, const RunPaths& paths, const std::vector<AttemptRow>& attempts)
{
    constexpr std::int64_t kMost = 10;
    const auto leavesOut = [&status](const AttemptRow& row) {
        const auto config = configOf(row, status.file.config);
        return config.ok() && config.value().badFiles == BadFiles::LeaveOut;
    };
    const bool chosen
        = status.file.config.badFiles == BadFiles::LeaveOut || std::any_of(attempts.begin(), attempts.end(), leavesOut);
    auto leftOut = chosen ? leftOutOfTheData(readableLedger(paths), kMost)
                          : Result<std::vector<LeftOutPart>>(std::vector<LeftOutPart> {});
    if (leftOut.ok())
        status.leftOut = std::move(leftOut).value();
}

/// A copy of a run that is trained names the processes of the original.
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
    const std::string by = formatDuration(std::abs(static_cast<double>(status.clockAheadNs)) / kNsPerSecond);
    status.evidence.push_back(status.clockAheadNs > 0
            ? sentence("The clock here is %1 ahead of that of the run; times are told by that of the run.", { by })
            : sentence("The clock here is %1 behind that of the run; times are told by that of the run.", { by }));
}

/// A disk that was unmounted takes the checkpoints away from a run that trains on.
void sayWhatIsAway(RunStatus& status, const RunPaths& paths)
{
    std::error_code unknown;
    if (status.checkpoints == 0 || std::filesystem::exists(paths.checkpointsFolder(), unknown) || unknown)
        return;
    status.checkpointsAway = sentence(
        "%1 is not there (is its disk mounted?). What is trained cannot be kept, and no resume begins, until it is back.",
        { utf8Text(paths.checkpointsFolder()) });
    status.evidence.push_back(status.checkpointsAway);
}

/// Training goes on while nothing can be saved, and then waits: what is in no checkpoint grows. Looked at where
/// checkpoints go, for on a full disk nobody can write down why.
void sayWhatIsNotSaved(RunStatus& status, const RunPaths& paths, const RunConfig& config, const AttemptRow* attempt)
{
    constexpr std::uintmax_t kLeastRoom = 1 << 20;
    constexpr double kLateSeconds = 120;
    if (status.state == RunState::New || status.state == RunState::Stopped || status.state == RunState::Finished)
        return;
    const auto sayFirst = [&status](Message what) { status.evidence.insert(status.evidence.begin(), std::move(what)); };
    const auto sayOfDisk = [&](const Message& words, const Message& whole) {
        if (status.supervised)
            status.hindrance = { words, whole };
        sayFirst(whole);
    };
    for (const auto& folder : { paths.folder(), paths.checkpointsFolder() }) {
        if (isOutOfFiles(folder))
            return sayOfDisk(sentence("its disk can hold no more files"),
                sentence(
                    "The disk of %1 can hold no more files (no inodes are left): nothing is saved until some are removed.",
                    { utf8Text(folder) }));
        std::error_code failed;
        const auto space = std::filesystem::space(folder, failed);
        if (failed || space.capacity == 0 || space.available >= kLeastRoom)
            continue;
        return sayOfDisk(sentence("its disk is full"),
            sentence("The disk of %1 is full: nothing is saved until there is room.", { utf8Text(folder) }));
    }
    std::int64_t trained = 0;
    for (const EpochRow& epoch : status.epochs)
        trained += epoch.chunks[ChunkState::Trained];
    const std::int64_t since = std::max(status.newestCheckpointWallNs, attempt != nullptr ? attempt->startedWallNs : 0);
    const double late = static_cast<double>(nowOfRun(status) - since) / 1e9 - 2 * 60 * config.checkpointMinutes;
    if (status.state == RunState::Running && trained > 0 && late > kLateSeconds)
        sayFirst(sentence(
            "The newest checkpoint is of %1, though one is due every %2 minutes; the logs of the workers say why. %3 trained chunks are in none.",
            { WallTime(since), Real(config.checkpointMinutes, config.checkpointMinutes < 1 ? 2 : 1), Count(trained) }));
}

/// The numbers of an older tracker that was put back look like those of a run that had come less far.
/// @param rows  of the tracker, as status was made of
void sayWhatIsOlder(RunStatus& status, const RunPaths& paths, const CheckpointRows& rows, const Viewpoint& view)
{
    if (status.supervised || status.state == RunState::Running || !view.elsewhere.empty())
        return; // it may be writing a checkpoint
    const auto strays = findStrays(paths, status.file.runId, [&rows] { return Result<CheckpointRows>(rows); });
    if (!strays.ok() || strays.value().newer.empty())
        return;
    const auto problem
        = olderTrackerProblem(paths, status.file.runId); // looks again: an orphan may have committed meanwhile
    if (problem.ok() && !problem.value().empty())
        status.evidence.push_back(problem.value());
}

/// A person's word about the newest attempt, once nobody trains the run.
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

/// It may wait for data before it has read anything. Of a run that has ended it does nothing any more.
void sayWhatTheFeederDoes(RunStatus& status, const Message& doing)
{
    const bool lives
        = status.state == RunState::Running || status.state == RunState::Paused || status.state == RunState::Stopping;
    if (lives && !doing.empty() && !status.reading)
        status.reading = Reading {};
    if (status.reading && !lives)
        status.reading->doing = {};
    else if (status.reading && !doing.empty() && !(status.reading->doing == doing)) // the same is there with its parts
        status.reading->doing = doing;
}

/// What was asked of a run that trains, and has not happened yet.
void sayWhereItEnds(RunStatus& status, const RunConfig& config)
{
    if (!status.supervised || status.state != RunState::Running)
        return;
    std::int64_t complete = 0;
    for (const EpochRow& epoch : status.epochs)
        complete += epoch.completedBlocks;
    if (status.rules.blocks > complete)
        status.evidence.push_back(status.rules.blocks == complete + 1
                ? sentence(
                      "The run ends with the block that is complete next: a person or a stopping rule asked for that.")
                : sentence("The run ends when %1 more blocks are complete.",
                      { std::to_string(status.rules.blocks - complete) }));
    if (status.rules.epochs > 0 && status.rules.epochs != config.epochs)
        status.evidence.push_back(
            sentence("The run ends with epoch %1: a person asked for that.", { std::to_string(status.rules.epochs) }));
}

} // namespace

RunState stateAfter(StopReason reason)
{
    switch (reason) {
    case StopReason::User: return RunState::Stopped;
    case StopReason::Error:
    case StopReason::Incomplete: return RunState::Failed;
    case StopReason::Interrupted: return RunState::Interrupted;
    default: return RunState::Finished;
    }
}

double meanTokensPerSecond(const RunStatus& status)
{
    return status.activeSeconds > 0 ? static_cast<double>(status.tokens) / status.activeSeconds : 0;
}

Message ofWhat(const HeldOutLoss& evaluation)
{
    Message facts;
    if (evaluation.checkpoint != 0)
        facts += sentence("checkpoint %1", { std::to_string(evaluation.checkpoint) }) + ", ";
    if (evaluation.superseded)
        facts += sentence("not the newest weights") + ", ";
    if (evaluation.beforeEndOf)
        facts += sentence("before the end of epoch %1", { std::to_string(*evaluation.beforeEndOf + 1) }) + ", ";
    facts += evaluation.whose;
    const Count step(evaluation.step);
    const Count tokens(evaluation.text.labels);
    if (evaluation.text.labels == 0)
        return sentence("of weights with %1 steps; %2", { step, facts });
    return evaluation.text.alsoTrained
        ? sentence(
              "of weights with %1 steps, on %2 tokens that are trained too, for the data is too small to hold text out; %3",
              { step, tokens, facts })
        : sentence("of weights with %1 steps, on %2 tokens of held-out text; %3", { step, tokens, facts });
}

Message inWords(const TaskAnswers& answers)
{
    const TaskMarks& marks = answers.marks;
    const auto percent = [](double share) { return Real(100 * share, 1); };
    const double normalised = static_cast<double>(marks.rightNormalised) / static_cast<double>(marks.questions);
    const Message right = marks.isMultipleChoice()
        ? sentence("accuracy %1 %, by length %2 %, where guessing gets %3 %",
              { percent(marks.share()), percent(normalised), percent(marks.chance) })
        : sentence("exact match %1 %", { percent(marks.share()) });
    const Message whose
        = answers.merged ? sentence("the merge") : sentence("replica %1", { std::to_string(answers.replica) });
    return sentence("%1; of %2 questions, by weights with %3 steps, %4",
        { right, Count(marks.questions), Count(answers.step), whose });
}

Message endInWords(StopReason reason, const Message& detail)
{
    if (detail.empty() || reason == StopReason::None)
        return inWords(reason);
    const bool detailSaysIt
        = reason == StopReason::Error || reason == StopReason::Interrupted || reason == StopReason::Incomplete;
    return detailSaysIt ? detail : sentence("%1 (%2)", { endReason(reason, detail), detail });
}

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

Result<RunStatus> readStatus(const RunPaths& paths)
{
    FURROW_TRY_ASSIGN(auto ledger, openLedger(paths));
    return readStatus(paths, ledger);
}

Result<RunStatus> readStatus(const RunPaths& paths, LedgerReader& ledger)
{
    FURROW_TRY_ASSIGN(auto file, readRunFile(paths));
    RunStatus status;
    status.folder = paths.folder().string();
    status.file = std::move(file);
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
    const auto view = viewpointOf(paths, totals.value(), attempt);
    status.clockAheadNs = view.clockAheadNs;
    status.attempt = attempt ? attempt->id.value : 0;
    if (attempt)
        status.endedWallNs = attempt->endedWallNs.value_or(totals.value().supervisorHeartbeatWallNs);
    status.epochs = std::move(epochs).value();
    addWorkers(status, incarnations.value(), attempt ? attempt->id : AttemptId {}, view);
    FURROW_TRY(markGoneLosses(status, ledger, incarnations.value()));
    addTotals(status, totals.value());
    addCheckpoints(status, checkpoints.value(), incarnations.value(), attempts.value());
    const auto latest = latestConfig(attempts.value(), status.file.config);
    const RunConfig& config = latest.ok() ? latest.value() : status.file.config;
    status.evaluated = evaluatedText(paths.evaluationFile(), config);
    const auto newest = weightsOf(checkpoints.value());
    addEvaluation(status, checkpoints.value(), newest);
    takeNewer(status, paths, newest, [&](const ToldEvaluation& one) {
        return areWeightsThere(
            one, checkpoints.value(), incarnations.value(), [&view](const auto& row) { return view.isAlive(row); },
            [](const auto& row) { return row.surviving; });
    });
    if (auto& known = status.evaluation) {
        const bool isNewest = known->checkpoint != 0 && !known->superseded;
        known->beforeEndOf = unfinishedEpoch(status.epochs, isNewest ? std::nullopt : std::optional(known->wallNs));
    }
    FURROW_TRY(countChunksApart(status, ledger, incarnations.value(), view));
    sayWhatKeepsTheEpochsOpen(status);
    if (std::any_of(status.epochs.begin(), status.epochs.end(),
            [](const EpochRow& epoch) { return epoch.chunks[ChunkState::Poisoned] > 0; }))
        if (auto cause = ledger.newestPoisonedCause(); cause.ok())
            status.poisonedCause = std::move(cause).value();
    status.reading = readReading(paths);
    for (auto& worker : status.workers)
        worker.memory = readMemory(paths.memoryFile(worker.worker));
    derive(status, paths, totals.value(), attempt, incarnations.value(), view);
    addPaces(status);
    sayWhereItEnds(status, config);
    sayWhatTheFeederDoes(status, totals.value().feederDoing);
    sayThatItWaitsForData(status);
    if (status.state == RunState::Running && status.reading && isSlow(status.reading->doing))
        status.keepsEpochOpen.push_back(sentence("feeder: %1", { status.reading->doing }));
    sayHowClocksDiffer(status);
    sayWhoseProcessesLive(status, incarnations.value(), view);
    sayWhatIsAway(status, paths);
    sayWhatIsNotSaved(status, paths, config, attempt ? &*attempt : nullptr);
    sayWhatIsOlder(status, paths, checkpoints.value(), view);
    nameLeftOut(status, paths, attempts.value());
    if (status.reading && status.reading->dropped > 0)
        status.evidence.push_back(sentence(
            "%1 characters of the text prepared so far have no token and are dropped: the tokenizer has no unknown token that would stand for them.",
            { Count(status.reading->dropped) }));
    else if (status.reading && status.reading->unknownShare > 0)
        status.evidence.push_back(
            sentence("%1 % of the tokens prepared so far stand for characters that the vocabulary does not have.",
                { Real(100 * status.reading->unknownShare, 2) }));
    if (status.reading)
        for (auto& words : comparedInWords(status.reading->hub))
            status.evidence.push_back(std::move(words));
    applyFinishedMark(status, paths);
    sayThatItIsOld(status, paths, ledger.standsInBecause());
    return status;
}

} // namespace furrow
