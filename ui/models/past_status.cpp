#include "ui/models/past_status.h"

#include "core/run/evaluation_file.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace furrow {

namespace {

constexpr std::int64_t kLastStepNs
    = 2'000'000'000; // what an attempt without a record may have gone on after the last thing that is known of it
constexpr double kStillAlive = 60; // [s] a worker that told a step so long ago counts as there

bool isLive(RunState state)
{
    return state == RunState::Running || state == RunState::Paused || state == RunState::Stopping;
}

/// The epoch that is shown, with the chunks as they were, and nothing that came later.
void takeEpochBack(RunStatus& status, std::int64_t wallNs, const PastSources& sources)
{
    std::erase_if(status.epochs, [&](const EpochRow& epoch) { return epoch.epoch != sources.epoch; });
    if (status.epochs.empty())
        return;
    EpochRow& epoch = status.epochs.front();
    if (epoch.closedWallNs && *epoch.closedWallNs > wallNs)
        epoch.closedWallNs.reset();
    epoch.chunks = {};
    epoch.lost = {};
    epoch.rowsCommitted = {};
    std::set<std::int64_t> visited;
    for (const ChunkCell& cell : sources.cells) {
        ++epoch.chunks[cell.state];
        if (cell.worker >= 0 || cell.timesTrained > 0)
            visited.insert(cell.block);
        if (isWorkLost(cell))
            ++(cell.state == ChunkState::Pending ? epoch.lost.pending : epoch.lost.free);
    }
    epoch.visitedBlocks = std::ssize(visited);
    epoch.completedBlocks = 0; // no view shows it
}

void takeClaimsBack(RunStatus& status, std::int64_t wallNs, const PastSources& sources)
{
    status.steps = status.tokens = 0;
    std::map<std::int64_t, std::int64_t> written; // checkpoint -> wall
    if (sources.tables != nullptr)
        for (const auto& row : sources.tables->checkpoints)
            written[row.id.value] = row.wallNs;
    for (const ClaimRow& claim : sources.claims) {
        if (claim.endedWallNs == 0 || claim.endedWallNs > wallNs
            || (claim.outcome != "trained" && claim.outcome != "committed"))
            continue;
        status.steps += claim.lastStep - claim.firstStep + 1;
        status.tokens += claim.tokens;
        const auto checkpoint = written.find(claim.checkpoint);
        if (checkpoint != written.end() && checkpoint->second <= wallNs && claim.epoch == sources.epoch
            && !status.epochs.empty())
            status.epochs.front().rowsCommitted.samples += claim.samples;
    }
}

/// When an attempt was over. One that left no record ended with what it did last; nothing: it goes on today.
/// @param wallNs  what the telemetry, which ends there, says of it counts too
std::optional<std::int64_t> endOf(const AttemptRow& attempt, std::int64_t wallNs, const PastSources& sources)
{
    const bool newest = sources.tables->attempts.back().id == attempt.id;
    if (attempt.endedWallNs)
        return attempt.endedWallNs;
    if (newest && isLive(sources.now.state))
        return std::nullopt;
    std::int64_t last = newest ? std::max(attempt.startedWallNs, sources.now.endedWallNs) : attempt.startedWallNs;
    for (const ClaimRow& claim : sources.claims) {
        if (claim.attempt != attempt.id)
            continue;
        const bool trained = claim.outcome == "trained"
            || claim.outcome == "committed"; // other ends were written by the attempt behind it
        last = std::max({ last, claim.claimedWallNs, claim.startedWallNs, trained ? claim.endedWallNs : 0 });
    }
    for (const Stretch& stretch : sources.telemetry != nullptr ? sources.telemetry->stretches : std::vector<Stretch> {})
        if (stretch.attempt == attempt.id.value && stretch.size() > 0)
            last = std::max(last, std::min(wallNs, static_cast<std::int64_t>(stretch.wallEnd() * 1e9)));
    return last;
}

void takeAttemptsBack(RunStatus& status, std::int64_t wallNs, const PastSources& sources)
{
    const LedgerTables& tables = *sources.tables;
    status.attempt = 0;
    status.activeSeconds = 0;
    status.state = RunState::New;
    for (const AttemptRow& attempt : tables.attempts) {
        if (attempt.startedWallNs > wallNs)
            break;
        status.attempt = attempt.id.value;
        const auto end = endOf(attempt, wallNs, sources);
        const bool over = end && *end + (attempt.endedWallNs ? 0 : kLastStepNs) <= wallNs;
        const StopReason reason = attempt.endedWallNs ? attempt.reason : StopReason::Interrupted;
        status.activeSeconds += static_cast<double>((over ? *end : wallNs) - attempt.startedWallNs) * 1e-9;
        status.stopReason = over ? reason : StopReason::None;
        status.endedWallNs = over ? *end : 0;
        status.state = over ? stateAfter(reason) : RunState::Running;
    }
    status.checkpoints = 0;
    status.newestCheckpointWallNs = 0;
    for (const auto& row : tables.checkpoints) {
        if (row.wallNs > wallNs)
            continue;
        ++status.checkpoints;
        status.newestCheckpointWallNs = std::max(status.newestCheckpointWallNs, row.wallNs);
    }
}

void takeWorkersBack(RunStatus& status, std::int64_t wallNs, const TelemetrySnapshot& telemetry)
{
    const double wall = static_cast<double>(wallNs) * 1e-9;
    double weighted = 0;
    double weight = 0;
    for (std::size_t i = 0; i < telemetry.stretches.size(); ++i) {
        const Stretch& stretch = telemetry.stretches[i];
        if (stretch.size() == 0)
            continue;
        const auto worker = std::find_if(status.workers.begin(), status.workers.end(),
            [&](const WorkerStatus& w) { return w.worker == stretch.worker; });
        if (worker == status.workers.end())
            continue;
        const std::size_t last = stretch.size() - 1;
        const ChunkId chunk { telemetry.chunkAt(i, last) };
        worker->step = stretch.lastStep;
        worker->loss = static_cast<double>(stretch.loss.values[last]);
        worker->tokensPerSecond = static_cast<double>(stretch.tokensPerSecond.values[last]);
        worker->secondsSinceProgress = wall - stretch.wallEnd();
        worker->alive = worker->secondsSinceProgress < kStillAlive && status.state == RunState::Running;
        worker->chunkBlock = chunk.value == 0 ? -1 : placeOf(chunk).block;
        worker->chunkColumn = chunk.value == 0 ? -1 : placeOf(chunk).column;
    }
    for (WorkerStatus& worker : status.workers) {
        if (!worker.alive) {
            worker.tokensPerSecond = 0;
            continue;
        }
        status.tokensPerSecond += worker.tokensPerSecond;
        if (std::isfinite(worker.loss)) {
            weighted += worker.loss;
            ++weight;
            ++status.lossWorkers;
        }
    }
    status.loss = weight > 0 ? weighted / weight : std::numeric_limits<double>::quiet_NaN();
    double newest = 0;
    for (const EvalPoint& eval : telemetry.evals ? *telemetry.evals : std::vector<EvalPoint> {}) {
        if (eval.wall < newest)
            continue;
        newest = eval.wall;
        status.evaluation = heldOutLossOf({ eval.worker, eval.record.what == EvalRecord::What::Merged, eval.record.step,
                                              eval.record.loss, static_cast<std::int64_t>(eval.wall * 1e9) },
            status.evaluationTokens);
    }
}

} // namespace

RunStatus statusAt(std::int64_t wallNs, const PastSources& sources)
{
    RunStatus status = sources.now;
    status.keepsEpochOpen.clear();
    status.goneHolds.clear();
    status.reading.reset();
    status.poisonedCause.clear();
    status.stopDetail.clear();
    status.evaluation.reset();
    status.lossWorkers = 0;
    status.endedWallNs = 0;
    status.tokensPerSecond = 0;
    status.loss = std::numeric_limits<double>::quiet_NaN();
    status.supervisorPid = 0;
    status.evidence = { QCoreApplication::translate("Replay", "As it was at %1, from the ledger and the telemetry.")
            .arg(wallTimeText(wallNs))
            .toStdString() };
    for (WorkerStatus& worker : status.workers) {
        worker.alive = false;
        worker.step = 0;
        worker.tokens = 0;
        worker.loss = std::numeric_limits<double>::quiet_NaN();
        worker.tokensPerSecond = 0;
        worker.chunkBlock = worker.chunkColumn = -1;
        worker.endCause.clear();
        worker.lastDeath.clear();
        worker.phase = "train";
    }
    takeEpochBack(status, wallNs, sources);
    takeClaimsBack(status, wallNs, sources);
    if (sources.tables != nullptr)
        takeAttemptsBack(status, wallNs, sources);
    if (sources.telemetry != nullptr)
        takeWorkersBack(status, wallNs, *sources.telemetry);
    return status;
}

StatusPtr shownStatus(Workbench& bench)
{
    const StatusPtr& now = bench.watcher().status();
    const auto moment = bench.replay().moment();
    if (!now || !moment)
        return now;
    return std::make_shared<const RunStatus>(statusAt(*moment,
        { *now, bench.cells().epoch(), bench.cells().cells(), bench.claims().claims(), bench.watcher().tables().get(),
            bench.watcher().telemetry().get() }));
}

} // namespace furrow
