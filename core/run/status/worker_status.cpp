#include "core/run/status/worker_status.h"

#include "core/run/status/lost_trainings.h"
#include "core/run/status/telling_workers.h"
#include "core/tracker/worker_ledger.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace furrow {

namespace {

constexpr double kNsPerSecond = 1e9;

/// What a process claimed last: enough to find the training of the step that it told last.
Result<std::vector<ClaimRow>> newestClaimsOf(const IncarnationRow& process, LedgerReader& ledger)
{
    constexpr std::int64_t kEnough = 1000; // others claim too
    FURROW_TRY_ASSIGN(const auto newest, ledger.newestTrainingOf(process.id));
    if (!newest)
        return std::vector<ClaimRow>();
    FURROW_TRY_ASSIGN(auto claims, ledger.claimsSince(std::max<std::int64_t>(0, newest->claimId - kEnough), kEnough));
    std::erase_if(claims, [&](const ClaimRow& claim) {
        return claim.worker != process.worker || claim.attempt != process.attempt
            || claim.claimedWallNs < process.startedWallNs;
    });
    return claims;
}

} // namespace

std::vector<WorkerStatus> workersOf(const std::vector<IncarnationRow>& rows, AttemptId attempt, const Viewpoint& view)
{
    std::map<int, WorkerStatus> byWorker;
    std::set<int> followers;
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
        if (row.replica == kFollower)
            followers.insert(row.worker);
        else
            followers.erase(row.worker);
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
        if (w.alive && !view.isOfSnapshot) // else nobody knows
            w.secondsSinceProgress = static_cast<double>(view.nowNs - row.progressNs) / kNsPerSecond;
        if (w.alive && view.standsStill(row.process)) // what it told last is of before
            w.phase = WorkerPhase::StandsStill;
    }
    const auto first = byWorker.find(0);
    std::vector<WorkerStatus> workers;
    for (auto& [number, worker] : byWorker) {
        if (followers.contains(number) && first != byWorker.end()) // it tells its share, and the step of the group
            worker.tokens = first->second.tokens;
        workers.push_back(std::move(worker));
    }
    return workers;
}

bool isAnyAlive(const std::vector<WorkerStatus>& workers)
{
    return std::any_of(workers.begin(), workers.end(), [](const auto& w) { return w.alive; });
}

/// A worker that died before it could save told a loss of steps that are trained again. Only those whose loss counts
/// are looked at: their claims are among the newest, where nobody has to search a million for them.
Status markGoneLosses(std::vector<WorkerStatus>& workers, AttemptId attempt, LedgerReader& ledger,
    const std::vector<IncarnationRow>& rows)
{
    for (const auto* telling : tellingWorkers(workers)) {
        auto& w = workers[static_cast<std::size_t>(telling - workers.data())];
        if (w.alive || !std::isfinite(w.loss))
            continue;
        const auto row = std::find_if(rows.rbegin(), rows.rend(),
            [&](const IncarnationRow& one) { return one.worker == w.worker && one.attempt == attempt; });
        FURROW_TRY_ASSIGN(const auto claims, newestClaimsOf(*row, ledger));
        w.lossIsGone = isStepOfNoWeights(w.step, claims);
    }
    return {};
}

/// Of the same workers before and after their end: what became of their last steps changes what is said of the loss,
/// and not the loss.
MeanLoss meanLossOf(const std::vector<WorkerStatus>& workers)
{
    MeanLoss mean;
    double weighted = 0;
    double weight = 0;
    const auto telling = workersOfLoss(workers);
    mean.isGone
        = !telling.empty() && std::all_of(telling.begin(), telling.end(), [](const auto* w) { return w->lossIsGone; });
    for (const auto* w : telling) {
        weighted += w->loss * static_cast<double>(w->tokens);
        weight += static_cast<double>(w->tokens);
        ++mean.workers;
    }
    mean.loss = weight > 0 ? weighted / weight : std::numeric_limits<double>::quiet_NaN();
    return mean;
}

/// A living worker that has told nothing for long makes no steps now: sooner where it is known what keeps it from them,
/// never before a few of them at the pace that it told last.
double settlePaces(std::vector<WorkerStatus>& workers, bool isHindered)
{
    constexpr double kLongSeconds = 5;
    constexpr double kHinderedSeconds = 3;
    constexpr double kSteps = 4;
    const double least = isHindered ? kHinderedSeconds : kLongSeconds;
    double pace = 0;
    for (auto& w : workers) {
        const bool isKnown = w.step > 0 && w.tokensPerSecond > 0;
        const double perStep
            = isKnown ? static_cast<double>(w.tokens) / static_cast<double>(w.step) / w.tokensPerSecond : 0;
        if (w.phase == WorkerPhase::StandsStill || w.secondsSinceProgress > std::max(least, kSteps * perStep))
            w.tokensPerSecond = 0;
        pace += w.tokensPerSecond;
    }
    return pace;
}

} // namespace furrow
