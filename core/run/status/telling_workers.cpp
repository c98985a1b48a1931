#include "core/run/status/telling_workers.h"

#include <algorithm>
#include <cmath>

namespace furrow {

namespace {

constexpr std::int64_t kTogetherNs
    = 60'000'000'000; // workers that ended within this time of the last one trained until the end

} // namespace

std::vector<const WorkerStatus*> tellingWorkers(const std::vector<WorkerStatus>& workers)
{
    const bool anyAlive = isAnyAlive(workers);
    std::int64_t last = 0;
    for (const auto& w : workers)
        last = std::max(last, w.endedWallNs);
    std::vector<const WorkerStatus*> telling;
    for (const auto& w : workers) {
        const bool untilTheEnd = w.endedWallNs == 0 || w.endedWallNs >= last - kTogetherNs;
        if (anyAlive ? w.alive : untilTheEnd)
            telling.push_back(&w);
    }
    return telling;
}

std::vector<const WorkerStatus*> workersOfLoss(const std::vector<WorkerStatus>& workers)
{
    auto telling = tellingWorkers(workers);
    std::erase_if(telling, [](const auto* w) { return !std::isfinite(w->loss) || w->tokens <= 0; });
    return telling;
}

int workersOfLostLoss(const std::vector<WorkerStatus>& workers)
{
    const auto telling = workersOfLoss(workers);
    return static_cast<int>(std::count_if(telling.begin(), telling.end(), [](const auto* w) { return w->lossIsGone; }));
}

} // namespace furrow
