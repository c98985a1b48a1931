#include "ui/models/past_status.h"

#include "core/run/folder/attempt_config.h"
#include "core/run/status/evaluation_file.h"
#include "core/run/status/known_evaluation.h"
#include "core/run/status/lost_trainings.h"
#include "core/run/status/run_weights.h"
#include "core/run/status/tracker_config.h"
#include "core/telemetry/pace_meter.h"
#include "core/tracker/worker_ends.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

namespace furrow {

namespace {

constexpr std::int64_t kLastStepNs
    = 2'000'000'000; // what an attempt without a record may have gone on after the last thing that is known of it

/// With at least one chunk that was begun.
std::int64_t visitedBlocks(std::int64_t epoch, std::int64_t wallNs, const std::vector<ClaimRow>& claims)
{
    std::set<std::int64_t> visited;
    for (const ClaimRow& claim : claims)
        if (claim.epoch == epoch && claim.startedWallNs != 0 && claim.startedWallNs <= wallNs)
            visited.insert(claim.block);
    return std::ssize(visited);
}

/// The epochs of that time, with the chunks as they were, and nothing that came later.
void takeEpochsBack(RunStatus& status, std::int64_t wallNs, const PastSources& sources)
{
    std::vector<EpochRow> then;
    for (const PastSources::Epoch& past : sources.epochs) {
        const auto now = std::find_if(status.epochs.begin(), status.epochs.end(),
            [&past](const EpochRow& epoch) { return epoch.epoch == past.epoch; });
        EpochRow epoch = now == status.epochs.end() ? EpochRow {} : *now;
        epoch.epoch = past.epoch;
        epoch.chunks = {};
        epoch.lost = {};
        epoch.partly = {};
        epoch.rowsCommitted = {};
        epoch.samplesExcluded = 0;
        epoch.samplesAccepted = 0;
        epoch.unreadExcluded = 0; // cells do not know their rows
        epoch.unreadAccepted = 0;
        std::set<std::int64_t> blocks;
        std::set<std::int64_t> missing; // what is not there has a chunk that waits for it
        for (const ChunkCell& cell : past.cells) {
            blocks.insert(cell.block);
            if (cell.state == ChunkState::Pending)
                missing.insert(cell.block);
            ++epoch.chunks[cell.state];
            epoch.samplesExcluded += cell.state == ChunkState::Excluded ? cell.samples : 0;
            epoch.samplesAccepted += cell.state == ChunkState::Accepted ? cell.samples : 0;
            countApart(epoch, cell);
        }
        const std::int64_t done = epoch.chunks[ChunkState::Committed] + epoch.chunks[ChunkState::Excluded]
            + epoch.chunks[ChunkState::Accepted];
        const auto closedNs = std::min(epoch.closedWallNs.value_or(wallNs), wallNs);
        epoch.closedWallNs
            = done == epoch.chunks.sum() ? std::optional(closedNs) : std::nullopt; // whatever became of it
        epoch.preparedBlocks = std::ssize(blocks) - std::ssize(missing);
        epoch.visitedBlocks = visitedBlocks(past.epoch, wallNs, sources.claims);
        epoch.completedBlocks = 0; // no view shows it
        then.push_back(std::move(epoch));
    }
    status.epochs = std::move(then);
}

/// What a later attempt left by going back to an older checkpoint was in the weights until then.
bool isLeftLater(const ClaimRow& claim, std::int64_t wallNs, const PastSources& sources)
{
    return claim.isLeftBehind && std::any_of(sources.left.begin(), sources.left.end(), [&](const Replay::Left& left) {
        return left.wallNs > wallNs && claim.chunk.value >= left.first && claim.chunk.value < left.first + left.count;
    });
}

/// When an attempt was over. One that left no record ended with what it did last; nothing: it goes on today.
/// @param wallNs  what the telemetry, which ends there, says of it counts too
std::optional<std::int64_t> endOf(const AttemptRow& attempt, std::int64_t wallNs, const PastSources& sources)
{
    const bool newest = sources.tables->attempts.back().id == attempt.id;
    if (attempt.endedWallNs)
        return attempt.endedWallNs;
    const bool isPresent = newest && sources.now.attempt <= attempt.id.value; // the tables may be the older of the two
    if (isPresent && isUnderWay(sources.now.state))
        return std::nullopt;
    std::int64_t last = std::max(attempt.startedWallNs, attempt.lastSeenWallNs);
    if (newest)
        last = std::max(last, sources.now.endedWallNs);
    for (const ClaimRow& claim : sources.claims) {
        if (claim.attempt != attempt.id)
            continue;
        const bool trained = claim.outcome == ClaimEnd::Trained
            || claim.outcome == ClaimEnd::Committed; // other ends were written by the attempt behind it
        last = std::max({ last, claim.claimedWallNs, claim.startedWallNs, trained ? claim.endedWallNs : 0 });
    }
    for (const Stretch& stretch : sources.telemetry != nullptr ? sources.telemetry->stretches : std::vector<Stretch> {})
        if (stretch.attempt == attempt.id.value && stretch.size() > 0)
            last = std::max(last, std::min(wallNs, static_cast<std::int64_t>(stretch.wallEnd() * 1e9)));
    return last;
}

/// What became of an attempt by then; nothing: it goes on.
std::optional<std::int64_t> overBy(const AttemptRow& attempt, std::int64_t wallNs, const PastSources& sources)
{
    const auto end = endOf(attempt, wallNs, sources);
    return end && *end + (attempt.endedWallNs ? 0 : kLastStepNs) <= wallNs ? end : std::nullopt;
}

/// Whether it was known by then how a process had ended. What was found dead was seen last before, and found when the
/// next attempt began.
bool isEndTold(const IncarnationRow& row, std::int64_t wallNs, const std::vector<AttemptRow>& attempts)
{
    if (row.endedWallNs == 0 || row.endedWallNs > wallNs)
        return false;
    return !tells(row.endCause, { kFoundDead })
        || std::any_of(attempts.begin(), attempts.end(),
            [&](const AttemptRow& one) { return one.id > row.attempt && one.startedWallNs <= wallNs; });
}

/// Which processes lived at a moment. Those that died with their supervisor lived no longer than their own attempt.
class Living {
public:
    Living(std::int64_t wallNs, const PastSources& sources)
        : processes_(processesAt(wallNs, sources))
    {
        for (const AttemptRow& attempt : sources.tables->attempts)
            if (overBy(attempt, wallNs, sources)) // looks at all claims, so once an attempt
                over_.insert(attempt.id);
    }
    /// The one that holds, or held, a claim.
    bool has(const ClaimRow& claim) const
    {
        return !over_.contains(claim.attempt)
            && std::any_of(processes_.begin(), processes_.end(), [&](const IncarnationRow& row) {
                   return row.worker == claim.worker && row.attempt == claim.attempt
                       && row.startedWallNs <= claim.claimedWallNs && row.live;
               });
    }

private:
    std::vector<IncarnationRow> processes_;
    std::set<AttemptId> over_;
};

/// What checkpoints have of a training, in proportion: nobody keeps it to the token.
std::int64_t keptTokens(const ClaimRow& claim, const PastSources& sources)
{
    const std::int64_t steps = claim.lastStep - claim.firstStep + 1;
    if (claim.tokens > 0 && steps > 0)
        return claim.tokens * claim.keptSteps / steps;
    for (const PastSources::Epoch& epoch : sources.epochs) // it was never finished
        for (const ChunkCell& cell : epoch.cells)
            if (cell.id == claim.chunk && cell.windows > 0)
                return cell.tokens * claim.keptWindows / cell.windows;
    return 0;
}

void takeClaimsBack(RunStatus& status, std::int64_t wallNs, const PastSources& sources)
{
    status.steps = status.tokens = 0;
    const auto living
        = sources.tables == nullptr ? std::nullopt : std::optional<Living>(std::in_place, wallNs, sources);
    const auto isThere = [&](const ClaimRow& claim) { // until its worker dies, then what checkpoints have of it
        if (isLeftLater(claim, wallNs, sources))
            return true;
        if (claim.isLeftBehind)
            return false;
        switch (claim.outcome) {
        case ClaimEnd::Committed: return true;
        case ClaimEnd::Trained: return !living || living->has(claim);
        case ClaimEnd::Lost: return claim.tokens > 0 && living && living->has(claim);
        default: return false;
        }
    };
    std::set<ChunkId> committed;
    std::map<std::int64_t, EpochRow*> rows;
    for (EpochRow& epoch : status.epochs)
        rows[epoch.epoch] = &epoch;
    for (const PastSources::Epoch& epoch : sources.epochs)
        for (const ChunkCell& cell : epoch.cells)
            if (cell.state == ChunkState::Committed)
                committed.insert(cell.id);
    const auto addKept = [&](const ClaimRow& claim) { // checkpoints may have the first steps of it
        status.steps += claim.keptSteps;
        status.tokens += claim.keptSteps > 0 ? keptTokens(claim, sources) : 0;
    };
    for (const ClaimRow& claim : sources.claims) {
        const bool wentOn = isCutShort(claim) && living && living->has(claim);
        if (claim.endedWallNs == 0 || claim.endedWallNs > wallNs || wentOn) { // who lives tells what it has done
            if (claim.claimedWallNs <= wallNs && living && !living->has(claim))
                addKept(claim);
            continue;
        }
        if (!isThere(claim)) {
            addKept(claim);
            continue;
        }
        status.steps += claim.lastStep - claim.firstStep + 1;
        status.tokens += claim.tokens;
        if (claim.outcome != ClaimEnd::Lost && committed.contains(claim.chunk) && rows.contains(claim.epoch))
            rows[claim.epoch]->rowsCommitted.samples += claim.samples;
    }
}

/// What checkpoints had left out by a moment, as their steps were not finite.
class SkippedThen {
public:
    SkippedThen(std::int64_t wallNs, const LedgerTables* tables, const std::vector<Replay::Left>& left)
        : wallNs_(wallNs)
        , left_(left)
    {
        if (tables == nullptr || !tables->skipped || tables->skipped->empty())
            return;
        chunks_ = tables->skipped;
        for (const auto& row : tables->checkpoints)
            saved_[row.id] = row.wallNs;
    }
    const std::vector<SkippedChunk>& chunks() const
    {
        static const std::vector<SkippedChunk> none;
        return chunks_ ? *chunks_ : none;
    }
    std::int64_t windowsOf(const SkippedChunk& chunk) const
    {
        std::int64_t sum = 0;
        for (const SkippedChunk::Windows& one : chunk.skipped)
            sum += wasThere(chunk.chunk, one) ? one.count : 0;
        return std::min(sum, chunk.windows);
    }

private:
    /// What does not survive was there until its chunk left the weights.
    bool wasThere(ChunkId chunk, const SkippedChunk::Windows& one) const
    {
        const auto saved = saved_.find(one.checkpoint);
        if (saved == saved_.end() || saved->second > wallNs_)
            return false;
        if (one.isAlive)
            return true;
        const auto end = std::find_if(left_.begin(), left_.end(), [&](const Replay::Left& left) {
            return left.wallNs > saved->second && chunk.value >= left.first && chunk.value < left.first + left.count;
        });
        return end != left_.end() && end->wallNs > wallNs_;
    }

    std::int64_t wallNs_;
    const std::vector<Replay::Left>& left_;
    SkippedChunks chunks_; ///< null: none is known
    std::map<CheckpointId, std::int64_t> saved_;
};

/// Tells samples that were left out from trained ones, as readStatus() does. The claims have those that were trained,
/// so what was left out is what committed chunks have beside them.
void takeSkippedBack(RunStatus& status, std::int64_t wallNs, const PastSources& sources)
{
    const SkippedThen then(wallNs, sources.tables, sources.left);
    if (then.chunks().empty())
        return;
    std::map<ChunkId, const ChunkCell*> cells;
    for (const SkippedChunk& chunk : then.chunks())
        cells[chunk.chunk] = nullptr;
    for (const PastSources::Epoch& epoch : sources.epochs)
        for (const ChunkCell& cell : epoch.cells)
            if (const auto found = cells.find(cell.id); found != cells.end())
                found->second = &cell;
    for (EpochRow& epoch : status.epochs)
        epoch.rowsCommitted.rows = epoch.rowsCommitted.samples; // cells do not know the others
    for (const SkippedChunk& chunk : then.chunks()) {
        const ChunkCell* cell = cells[chunk.chunk];
        const auto epoch = std::find_if(status.epochs.begin(), status.epochs.end(),
            [&chunk](const EpochRow& row) { return row.epoch == placeOf(chunk.chunk).epoch; });
        if (cell == nullptr || epoch == status.epochs.end())
            continue;
        const std::int64_t samples = chunk.samplesOf(then.windowsOf(chunk));
        if (cell->state == ChunkState::Committed)
            epoch->rowsCommitted.rows += samples;
        else if (isPartlyTrained(*cell)) {
            epoch->partly.samplesDone -= std::min(epoch->partly.samplesDone, samples);
            epoch->partly.samples -= std::min(epoch->partly.samples, samples);
        }
    }
}

/// The stopping rules of the attempt of that time. In the newest one those of now hold: somebody may have set them
/// since it began.
void takeRulesBack(RunStatus& status, const std::vector<AttemptRow>& attempts)
{
    const auto then = std::find_if(
        attempts.begin(), attempts.end(), [&](const AttemptRow& row) { return row.id.value == status.attempt; });
    if (then == attempts.end() || std::next(then) == attempts.end())
        return;
    if (const auto config = configOf(*then, status.file.config); config.ok())
        status.rules = stoppingRules(config.value());
}

void takeAttemptsBack(RunStatus& status, std::int64_t wallNs, const PastSources& sources)
{
    const LedgerTables& tables = *sources.tables;
    status.attempt = 0;
    status.activeSeconds = activeSecondsUntil(tables.active, wallNs);
    status.state = RunState::New;
    for (const AttemptRow& attempt : tables.attempts) {
        if (attempt.startedWallNs > wallNs)
            break;
        status.attempt = attempt.id.value;
        const auto over = overBy(attempt, wallNs, sources);
        const StopReason reason = attempt.endedWallNs ? attempt.reason : StopReason::Interrupted;
        status.stopReason = over ? reason : StopReason::None;
        status.endedWallNs = over.value_or(0);
        status.state = over ? stateAfter(reason) : sources.isPaused ? RunState::Paused : RunState::Running;
    }
    takeRulesBack(status, tables.attempts);
    status.checkpoints = 0;
    status.newestCheckpointWallNs = 0;
    for (const auto& row : tables.checkpoints) {
        if (row.wallNs > wallNs)
            continue;
        ++status.checkpoints;
        status.newestCheckpointWallNs = std::max(status.newestCheckpointWallNs, row.wallNs);
    }
}

/// What a worker that is gone told last, as readStatus() shows it: its telemetry ends some steps before or behind.
void takeLastWords(WorkerStatus& worker, const IncarnationRow& row)
{
    worker.phase = row.phase;
    worker.step = row.step;
    worker.tokens = row.tokens;
    if (row.step > 0)
        worker.loss = row.loss;
    worker.chunkBlock = row.chunk.value == 0 ? -1 : placeOf(row.chunk).block;
    worker.chunkColumn = row.chunk.value == 0 ? -1 : placeOf(row.chunk).column;
    worker.chunkFraction = row.chunkFraction;
}

/// The workers of the attempt of that time, as far as the ledger knows them.
void takeProcessesBack(RunStatus& status, std::int64_t wallNs, const PastSources& sources)
{
    std::map<int, WorkerStatus> workers;
    for (const IncarnationRow& row : processesAt(wallNs, sources)) {
        if (row.worker < 0 || row.attempt.value != status.attempt)
            continue;
        const auto [place, isNew] = workers.try_emplace(row.worker);
        WorkerStatus& worker = place->second;
        const int restarts = isNew ? 0 : worker.restarts + 1;
        worker = {};
        worker.worker = row.worker;
        worker.replica = std::max(row.replica, 0);
        worker.pid = row.process.pid;
        worker.device = row.device;
        worker.deviceName = row.deviceName;
        worker.phase = WorkerPhase::Train;
        worker.restarts = restarts;
        worker.startedWallNs = row.startedWallNs;
        worker.loss = std::numeric_limits<double>::quiet_NaN();
        worker.endedWallNs = row.endedWallNs;
        worker.endCause = row.endCause;
        worker.alive = row.live && isUnderWay(status.state);
        if (!worker.alive)
            takeLastWords(worker, row);
    }
    status.workers.clear();
    for (auto& [number, worker] : workers)
        status.workers.push_back(std::move(worker));
}

/// How far a worker was in its chunk; 0: its training was never finished, so nobody knows how long it would have been.
double fractionAt(const WorkerStatus& worker, std::int64_t attempt, ChunkId chunk, std::span<const ClaimRow> claims)
{
    for (const ClaimRow& claim : claims)
        if (claim.chunk == chunk && claim.worker == worker.worker && claim.attempt.value == attempt
            && claim.firstStep <= worker.step && worker.step <= claim.lastStep)
            return static_cast<double>(worker.step - claim.firstStep + 1)
                / static_cast<double>(claim.lastStep - claim.firstStep + 1);
    return 0;
}

/// Of the replica since the run began, by its steps and what the newest of them had.
std::int64_t ownTokens(const Stretch& stretch)
{
    constexpr std::size_t kSteps = 64;
    const std::size_t first = stretch.size() > kSteps ? stretch.size() - kSteps : 0;
    double tokens = 0;
    for (std::size_t i = first; i < stretch.size(); ++i)
        tokens += static_cast<double>(stretch.stepTokens.values[i]);
    return std::llround(static_cast<double>(stretch.lastStep) * tokens / static_cast<double>(stretch.size() - first));
}

/// So long after its newest step a worker is taken to train still [s]: a few of its steps.
double quietAfter(const Stretch& stretch)
{
    constexpr double kLeast = 2;
    constexpr double kSteps = 4;
    const std::size_t first = stretch.size() > 8 ? stretch.size() - 8 : 0;
    const auto steps = static_cast<double>(stretch.size() - 1 - first);
    return steps > 0 ? std::max(kLeast, kSteps * (stretch.wallEnd() - stretch.wallAt(first)) / steps) : kLeast;
}

/// As the worker told it then: of its last seconds, not of its last step.
double paceAt(const Stretch& stretch)
{
    constexpr double kBefore = 8 * PaceMeter::kFadeSeconds; // [s] what is older is faded away
    PaceMeter pace;
    const std::size_t last = stretch.size() - 1;
    std::size_t first = last;
    while (first > 0 && stretch.wallEnd() - stretch.wallAt(first) < kBefore)
        --first;
    for (std::size_t i = first + 1; i <= last; ++i) {
        const double seconds = stretch.wallAt(i) - stretch.wallAt(i - 1);
        pace.addStep(static_cast<double>(stretch.tokensPerSecond.values[i]) * seconds, seconds);
    }
    return pace.tokensPerSecond() > 0 ? pace.tokensPerSecond()
                                      : static_cast<double>(stretch.tokensPerSecond.values[last]);
}

/// What the process of a worker had begun to train last, as it stood then: enough to find the step that it told last.
std::vector<ClaimRow> newestTrainingsOf(
    const WorkerStatus& worker, std::int64_t attempt, std::int64_t wallNs, const PastSources& sources)
{
    constexpr std::size_t kEnough = 1000;
    std::vector<ClaimRow> newest;
    for (auto claim = sources.claims.rbegin(); claim != sources.claims.rend() && newest.size() < kEnough; ++claim) {
        if (claim->worker != worker.worker || claim->attempt.value != attempt
            || claim->claimedWallNs < worker.startedWallNs || claim->startedWallNs == 0
            || claim->startedWallNs > wallNs)
            continue;
        newest.push_back(*claim);
        if (isLeftLater(*claim, wallNs, sources))
            newest.back().outcome = ClaimEnd::Committed;
    }
    std::reverse(newest.begin(), newest.end());
    return newest;
}

/// As readStatus() has it: of workers that had ended also whether the step that they told last was lost with them.
void takeLossBack(RunStatus& status, std::int64_t wallNs, const PastSources& sources)
{
    for (WorkerStatus& worker : status.workers)
        if (!worker.alive && std::isfinite(worker.loss))
            worker.lossIsGone
                = isStepOfNoWeights(worker.step, newestTrainingsOf(worker, status.attempt, wallNs, sources));
    const MeanLoss mean = meanLossOf(status.workers);
    status.loss = mean.loss;
    status.lossWorkers = mean.workers;
    status.lossIsGone = mean.isGone;
}

/// What the workers that lived had told by then.
void takeWorkersBack(RunStatus& status, std::int64_t wallNs, const PastSources& sources)
{
    const TelemetrySnapshot& telemetry = *sources.telemetry;
    const double wall = static_cast<double>(wallNs) * 1e-9;
    for (std::size_t i = 0; i < telemetry.stretches.size(); ++i) {
        const Stretch& stretch = telemetry.stretches[i];
        const auto worker = std::find_if(status.workers.begin(), status.workers.end(),
            [&](const WorkerStatus& w) { return w.worker == stretch.worker && w.alive; });
        if (stretch.size() == 0 || stretch.attempt != status.attempt || worker == status.workers.end())
            continue;
        if (stretch.wallEnd() * 1e9 < static_cast<double>(worker->startedWallNs))
            continue; // of the process before
        const std::size_t last = stretch.size() - 1;
        const ChunkId chunk { telemetry.chunkAt(i, last) };
        worker->step = stretch.lastStep;
        worker->tokens = ownTokens(stretch);
        worker->loss = stretch.rank > 0 ? std::numeric_limits<double>::quiet_NaN() // only rank 0 knows it
                                        : static_cast<double>(stretch.loss.values[last]);
        worker->secondsSinceProgress = wall - stretch.wallEnd();
        const bool trains = worker->secondsSinceProgress <= quietAfter(stretch);
        worker->tokensPerSecond = trains ? paceAt(stretch) : 0;
        worker->phase = trains ? worker->phase : WorkerPhase::Wait;
        worker->chunkBlock = chunk.value == 0 ? -1 : placeOf(chunk).block;
        worker->chunkColumn = chunk.value == 0 ? -1 : placeOf(chunk).column;
        worker->chunkFraction = fractionAt(*worker, status.attempt, chunk, sources.claims);
    }
    for (const WorkerStatus& worker : status.workers)
        status.tokensPerSecond += worker.tokensPerSecond;
}

/// A worker had a claim in training; a follower of a data-parallel group holds none, and the steps are those of rank 0.
bool isTraining(const WorkerStatus& worker, std::int64_t attempt, std::int64_t wallNs, const PastSources& sources)
{
    return std::any_of(sources.claims.begin(), sources.claims.end(), [&](const ClaimRow& claim) {
        return claim.worker == worker.worker && claim.attempt.value == attempt
            && claim.claimedWallNs >= worker.startedWallNs && claim.startedWallNs != 0 && claim.startedWallNs <= wallNs
            && (claim.endedWallNs == 0 || claim.endedWallNs > wallNs || isCutShort(claim));
    });
}

/// What workers had trained of the chunks in their hands, as readStatus() counts it; takeClaimsBack() has the claims
/// that had ended.
void addWorkUnderWay(RunStatus& status, std::int64_t wallNs, const PastSources& sources)
{
    for (const WorkerStatus& worker : status.workers) {
        if (!worker.alive || worker.chunkBlock < 0 || worker.step <= 0
            || !isTraining(worker, status.attempt, wallNs, sources))
            continue;
        std::int64_t ended = 0;
        for (const ClaimRow& claim : sources.claims)
            if (claim.replica == worker.replica && claim.endedWallNs != 0 && claim.endedWallNs <= wallNs
                && claim.outcome != ClaimEnd::Lost)
                ended = std::max(ended, claim.lastStep);
        const std::int64_t steps = std::max<std::int64_t>(0, worker.step - ended);
        status.steps += steps;
        status.tokens += worker.tokens * steps / worker.step;
    }
}

/// The checkpoints that were there, with the heads of that time. What was removed since, or found damaged, was not yet.
std::vector<SupervisorLedger::CheckpointRow> checkpointsAt(std::int64_t wallNs, const PastSources& sources)
{
    const bool wentBackLater = std::any_of(
        sources.left.begin(), sources.left.end(), [wallNs](const Replay::Left& left) { return left.wallNs > wallNs; });
    auto rows = sources.tables->checkpoints;
    std::erase_if(rows, [&](const SupervisorLedger::CheckpointRow& row) {
        return row.wallNs > wallNs || (!row.surviving && !wentBackLater);
    });
    std::set<CheckpointId> trainedOn;
    for (const auto& row : rows)
        trainedOn.insert(row.record.parents.begin(), row.record.parents.end());
    for (auto& row : rows) {
        row.surviving = true;
        row.removed = row.damaged = false;
        row.head = !trainedOn.contains(row.id);
    }
    return rows;
}

/// Of each worker the newest evaluation with a loss and the newest one with answers, as its files had them then.
std::vector<ToldEvaluation> toldUntil(const TelemetrySnapshot& telemetry)
{
    if (!telemetry.evals)
        return {};
    std::map<std::pair<int, bool>, ToldEvaluation> newest; // by worker, and whether for its answers
    const auto keep = [&newest](const ToldEvaluation& told, bool forAnswers) {
        const auto [known, isFirst] = newest.try_emplace({ told.worker, forAnswers }, told);
        if (!isFirst && told.wallNs >= known->second.wallNs)
            known->second = told;
    };
    for (const EvalPoint& eval : *telemetry.evals) {
        const auto step = eval.record.weightsStep > 0 ? eval.record.weightsStep : eval.record.step;
        const ToldEvaluation told { eval.worker, eval.record.what == EvalRecord::What::Merged, step, eval.record.loss,
            static_cast<std::int64_t>(eval.wall * 1e9), eval.record.tasks };
        if (std::isfinite(told.loss))
            keep(told, false);
        if (told.tasks.questions > 0)
            keep(told, true);
    }
    std::vector<ToldEvaluation> all;
    for (const auto& [whose, told] : newest)
        all.push_back(told);
    return all;
}

/// As newestEvaluation() answers it of files.
NewestTold newestOf(const std::vector<ToldEvaluation>& told)
{
    return [&told](const std::function<bool(const ToldEvaluation&)>& question) {
        std::optional<ToldEvaluation> newest;
        for (const ToldEvaluation& one : told)
            if (question(one) && (!newest || one.wallNs > newest->wallNs))
                newest = one;
        return newest;
    };
}

/// The newest of weights that were there, as readStatus() has it: of processes and checkpoints as they were.
void takeEvaluationsBack(RunStatus& status, std::int64_t wallNs, const PastSources& sources)
{
    const auto told = sources.telemetry == nullptr ? std::vector<ToldEvaluation>() : toldUntil(*sources.telemetry);
    const bool isRead = sources.tables != nullptr;
    const auto rows = isRead ? checkpointsAt(wallNs, sources) : std::vector<SupervisorLedger::CheckpointRow>();
    const auto processes = isRead ? processesAt(wallNs, sources) : std::vector<IncarnationRow>();
    const auto lived = [&status](const IncarnationRow& row) {
        return row.attempt.value == status.attempt && isUnderWay(status.state) && row.live;
    };
    const auto isThere = [](const SupervisorLedger::CheckpointRow&) { return true; };
    KnownEvaluation known = knownEvaluation(newestOf(told), rows, status.evaluated,
        [&](const ToldEvaluation& one) { return !isRead || areWeightsThere(one, rows, processes, lived, isThere); });
    status.answers = known.answers;
    status.evaluation = std::move(known.loss);
    if (!status.evaluation)
        return;
    const bool isNewest = status.evaluation->checkpoint != 0 && !status.evaluation->superseded;
    status.evaluation->beforeEndOf
        = unfinishedEpoch(status.epochs, isNewest ? std::nullopt : wholeUntil(*status.evaluation, rows));
}

/// Of a run without a delta telemetry knows nothing of it; what is not stated now was not known better then.
void takePrivacyBack(RunStatus& status, std::int64_t wallNs, const PastSources& sources)
{
    if (status.privacy && !status.privacy->notStated.empty())
        return;
    if (!status.privacy || status.privacy->delta == 0 || !sources.telemetry->privacy) {
        status.privacy.reset();
        return;
    }
    status.privacy->participations = 0;
    status.privacy->epsilon = 0;
    for (const PrivacyPoint& point : *sources.telemetry->privacy) {
        if (point.wall * 1e9 > static_cast<double>(wallNs)
            || point.record.participations < status.privacy->participations)
            continue;
        status.privacy->participations = point.record.participations;
        status.privacy->epsilon = point.record.epsilon;
        status.privacy->delta = point.record.delta;
    }
}

} // namespace

RunStatus statusAt(std::int64_t wallNs, const PastSources& sources)
{
    RunStatus status = sources.now;
    status.keepsEpochOpen.clear();
    status.lostCauses.clear();
    status.skipped.clear(); // takeSkippedBack() has it in the counts
    status.goneHolds.clear();
    for (const PastSources::Epoch& epoch : sources.epochs)
        std::copy_if(epoch.cells.begin(), epoch.cells.end(), std::back_inserter(status.goneHolds),
            [](const ChunkCell& cell) { return cell.holderGone; });
    status.reading.reset();
    status.poisonedCause = {};
    status.stopDetail = {};
    status.markedByHand = false; // nobody kept when
    std::erase_if(status.leftOut, [wallNs](const LeftOutPart& part) { return part.wallNs > wallNs; });
    status.evaluation.reset();
    status.answers.reset();
    status.lossWorkers = 0;
    status.endedWallNs = 0;
    status.tokensPerSecond = 0;
    status.loss = std::numeric_limits<double>::quiet_NaN();
    status.supervised = false;
    status.supervisorPid = 0;
    status.supervisorStandsStill = false;
    status.hindrance.reset();
    status.dataWait.reset();
    status.lossIsGone = false;
    status.evidence = { QCoreApplication::translate("Replay", "As it was at %1, from the ledger and the telemetry.")
            .arg(wallTimeText(wallNs))
            .toStdString() };
    status.workers.clear();
    takeEpochsBack(status, wallNs, sources);
    takeClaimsBack(status, wallNs, sources);
    takeSkippedBack(status, wallNs, sources);
    if (sources.tables != nullptr) {
        takeAttemptsBack(status, wallNs, sources);
        takeProcessesBack(status, wallNs, sources);
    }
    if (sources.telemetry != nullptr) {
        takeWorkersBack(status, wallNs, sources);
        addWorkUnderWay(status, wallNs, sources);
        takePrivacyBack(status, wallNs, sources);
    }
    takeLossBack(status, wallNs, sources);
    takeEvaluationsBack(status, wallNs, sources);
    return status;
}

std::vector<IncarnationRow> processesAt(std::int64_t wallNs, const PastSources& sources)
{
    std::vector<IncarnationRow> rows = sources.tables->incarnations;
    std::erase_if(rows, [wallNs](const IncarnationRow& row) { return row.startedWallNs > wallNs; });
    for (IncarnationRow& row : rows) {
        row.live = !isEndTold(row, wallNs, sources.tables->attempts);
        if (!row.live)
            continue;
        row.endedWallNs = 0;
        row.endCause = {};
    }
    return rows;
}

bool isLiveAt(std::int64_t wallNs, const PastSources& sources)
{
    const auto& attempts = sources.tables->attempts;
    const auto later = std::find_if(
        attempts.begin(), attempts.end(), [wallNs](const AttemptRow& one) { return one.startedWallNs > wallNs; });
    return later != attempts.begin() && !overBy(*std::prev(later), wallNs, sources);
}

std::map<std::int64_t, std::int64_t> lastSigns(const PastSources& sources)
{
    std::map<std::int64_t, std::int64_t> signs;
    for (const AttemptRow& attempt : sources.tables->attempts)
        if (!attempt.endedWallNs)
            if (const auto end = endOf(attempt, std::numeric_limits<std::int64_t>::max(), sources))
                signs[attempt.id.value] = *end;
    return signs;
}

RunStatus lastKnownStatus(const RunStatus& last, std::int64_t readNs, const Message& problem)
{
    RunStatus status = last;
    status.state = RunState::Unknown;
    status.markedByHand = false;
    status.stopReason = StopReason::None;
    status.supervised = false;
    status.supervisorPid = 0;
    status.supervisorStandsStill = false;
    status.hindrance.reset();
    status.dataWait.reset();
    status.tokensPerSecond = 0;
    status.evidence = { problem,
        QCoreApplication::translate("Words", "When last read, at %1, the run was: %2.")
            .arg(wallTimeText(readNs), stateWord(last).toLower())
            .toStdString() };
    for (WorkerStatus& worker : status.workers) {
        if (worker.alive)
            worker.endCause
                = QCoreApplication::translate("Words", "unknown since %1").arg(wallTimeText(readNs)).toStdString();
        worker.alive = false;
    }
    return status;
}

StatusPtr presentStatus(Workbench& bench)
{
    const StatusPtr& now = bench.watcher().status();
    if (!now || bench.watcher().problem().empty())
        return now;
    return std::make_shared<const RunStatus>(
        lastKnownStatus(*now, bench.watcher().lastReadNs(), bench.watcher().problem()));
}

StatusPtr shownStatus(Workbench& bench)
{
    const StatusPtr& now = bench.watcher().status();
    const auto moment = bench.replay().moment();
    if (!now || !moment)
        return presentStatus(bench);
    std::vector<PastSources::Epoch> epochs;
    for (const std::int64_t epoch : bench.replay().openEpochsAt(*moment))
        epochs.push_back({ epoch, bench.replay().cellsOf(epoch, *moment) });
    return std::make_shared<const RunStatus>(statusAt(*moment,
        { *now, epochs, bench.replay().left(), bench.claims().claims(), bench.watcher().tables().get(),
            bench.watcher().telemetry().get(), bench.replay().pausedAt(*moment) }));
}

namespace {

SkippedThen shownSkipped(Workbench& bench)
{
    return { bench.replay().moment().value_or(0), bench.watcher().tables().get(), bench.replay().left() };
}

} // namespace

std::map<ChunkId, std::int64_t> shownLeftOut(Workbench& bench)
{
    std::map<ChunkId, std::int64_t> windows;
    const auto moment = bench.replay().moment();
    const SkippedThen then = shownSkipped(bench);
    for (const SkippedChunk& chunk : then.chunks())
        if (const auto count = moment ? then.windowsOf(chunk) : chunk.windowsSkipped(); count > 0)
            windows[chunk.chunk] = count;
    return windows;
}

std::vector<ChunkId> shownUntrained(Workbench& bench)
{
    std::vector<ChunkId> untrained;
    const auto moment = bench.replay().moment();
    const SkippedThen then = shownSkipped(bench);
    for (const SkippedChunk& chunk : then.chunks())
        if (moment ? then.windowsOf(chunk) == chunk.windows : chunk.isCommittedUntrained())
            untrained.push_back(chunk.chunk);
    return untrained;
}

std::int64_t shownUntrainedChunks(Workbench& bench, const RunStatus& shown)
{
    const auto epochs = shownEpochs(shown);
    const auto untrained = shownUntrained(bench);
    return std::count_if(untrained.begin(), untrained.end(), [&epochs](ChunkId chunk) {
        const std::int64_t epoch = placeOf(chunk).epoch;
        return epochs && epoch >= epochs->first && epoch <= epochs->last;
    });
}

std::vector<ActiveStretch> activeStretches(Workbench& bench)
{
    const TablesPtr& tables = bench.watcher().tables();
    return tables ? tables->active : std::vector<ActiveStretch>();
}

std::optional<double> shownEvaluation(const StatusPtr& shown)
{
    if (!shown)
        return std::nullopt;
    if (shown->evaluation)
        return shown->evaluation->loss;
    return shown->supervised ? std::nullopt : std::optional(std::numeric_limits<double>::quiet_NaN());
}

std::function<bool(const ClaimRow&)> lostBy(std::int64_t wallNs, const RunStatus& shown, const PastSources& sources)
{
    const auto living
        = sources.tables == nullptr ? std::nullopt : std::optional<Living>(std::in_place, wallNs, sources);
    return [living, wallNs, &shown, &sources](const ClaimRow& claim) {
        if (claim.attempt.value > shown.attempt || isLeftLater(claim, wallNs, sources))
            return false;
        if (claim.attempt.value < shown.attempt || !isUnderWay(shown.state))
            return true;
        return living && !living->has(claim);
    };
}

std::vector<LostTraining> lostAt(std::int64_t wallNs, const RunStatus& shown, const PastSources& sources)
{
    const auto wasLost = lostBy(wallNs, shown, sources);
    std::vector<ClaimRow> then = sources.claims;
    std::erase_if(then, [wallNs](const ClaimRow& claim) { return claim.claimedWallNs > wallNs; });
    for (ClaimRow& claim : then)
        if ((claim.outcome == ClaimEnd::Lost || claim.isLeftBehind) && !wasLost(claim)) {
            claim.outcome = ClaimEnd::Trained;
            claim.isLeftBehind = false;
        }
    return lostTrainings(then, shown.goneHolds); // what nobody has freed by then is lost all the same
}

std::optional<std::vector<LostTraining>> shownLost(Workbench& bench, const RunStatus& shown)
{
    const auto& claims = bench.claims().claims();
    if (claims.empty())
        return std::nullopt;
    const auto moment = bench.replay().moment();
    if (!moment)
        return lostTrainings(claims, shown.goneHolds);
    return lostAt(*moment, shown, { shown, {}, bench.replay().left(), claims, bench.watcher().tables().get() });
}

} // namespace furrow
