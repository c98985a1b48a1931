#include "ui/models/past_workers.h"

#include "core/telemetry/pace_meter.h"
#include "ui/models/past_lives.h"
#include "ui/models/past_parts.h"
#include "ui/models/past_trainings.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <utility>

namespace furrow {

namespace {

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

/// As the worker told it then: of its last seconds, not of its last step.
double paceAt(const Stretch& stretch)
{
    constexpr double kBefore = 8 * PaceMeter::kFadeSeconds; // [s] what is older is faded away
    PaceMeter pace;
    const std::size_t last = stretch.size() - 1;
    const PaceColumn paces = stretch.paces();
    std::size_t first = last;
    while (first > 0 && stretch.wallEnd() - stretch.wallAt(first) < kBefore)
        --first;
    for (std::size_t i = first; i <= last; ++i) {
        const Summary step = paces.range(i, i + 1);
        pace.addStep(step.sum, step.weight);
    }
    return pace.tokensPerSecond();
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

/// What the process of a worker had begun to train last, as it stood then: enough to find the step that it told last.
std::vector<ClaimRow> newestTrainingsOf(
    const WorkerStatus& worker, std::int64_t attempt, std::int64_t wallNs, const PastSources& sources)
{
    constexpr std::size_t kEnough = 1000;
    const PartsThen parts(wallNs, sources.tables, sources.left);
    std::vector<ClaimRow> newest;
    for (auto claim = sources.claims.rbegin(); claim != sources.claims.rend() && newest.size() < kEnough; ++claim) {
        if (claim->worker != worker.worker || claim->attempt.value != attempt
            || claim->claimedWallNs < worker.startedWallNs || claim->startedWallNs == 0
            || claim->startedWallNs > wallNs)
            continue;
        newest.push_back(parts.of(*claim));
        if (newest.back().outcome == ClaimEnd::Trained && claim->outcome != ClaimEnd::Trained)
            newest.back().outcome = ClaimEnd::Committed; // it was saved a moment later
    }
    std::reverse(newest.begin(), newest.end());
    return newest;
}

} // namespace

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
        worker->tokens = stretch.ownTokens();
        worker->loss = stretch.rank > 0 ? std::numeric_limits<double>::quiet_NaN() // only rank 0 knows it
                                        : static_cast<double>(stretch.loss.values[last]);
        worker->secondsSinceProgress = wall - stretch.wallEnd();
        const bool trains = worker->secondsSinceProgress <= stretch.quietAfter();
        worker->tokensPerSecond = trains ? paceAt(stretch) : 0;
        worker->phase = trains ? worker->phase : WorkerPhase::Wait;
        worker->chunkBlock = chunk.value == 0 ? -1 : placeOf(chunk).block;
        worker->chunkColumn = chunk.value == 0 ? -1 : placeOf(chunk).column;
        worker->chunkFraction = fractionAt(*worker, status.attempt, chunk, sources.claims);
    }
    for (const WorkerStatus& worker : status.workers)
        status.tokensPerSecond += worker.tokensPerSecond;
}

void addWorkUnderWay(RunStatus& status, std::int64_t wallNs, const PastSources& sources)
{
    const auto lastStepOf = lastStepsThere(wallNs, sources);
    for (const WorkerStatus& worker : status.workers) {
        if (!worker.alive || worker.chunkBlock < 0 || worker.step <= 0
            || !isTraining(worker, status.attempt, wallNs, sources))
            continue;
        std::int64_t ended = 0;
        for (const ClaimRow& claim : sources.claims)
            if (claim.replica == worker.replica)
                ended = std::max(ended, lastStepOf(claim));
        const std::int64_t steps = std::max<std::int64_t>(0, worker.step - ended);
        status.steps += steps;
        status.tokens += worker.tokens * steps / worker.step;
    }
}

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

} // namespace furrow
