#include "core/run/lost_trainings.h"

#include <algorithm>
#include <set>

namespace furrow {

namespace {
constexpr double kClocks = 1; // [s] that the clocks of a worker's telemetry and of the ledger may be apart
}

std::vector<LostTraining> lostTrainings(const std::vector<ClaimRow>& claims, const std::vector<ChunkCell>& gone)
{
    std::set<ChunkId> held;
    for (const ChunkCell& cell : gone)
        held.insert(cell.id);
    std::vector<LostTraining> lost;
    for (const ClaimRow& claim : claims) {
        const bool isHeld = (claim.outcome == "open" || claim.outcome == "trained") && held.contains(claim.chunk);
        if ((claim.outcome == "lost" || claim.isLeftBehind || isHeld) && claim.startedWallNs != 0)
            lost.push_back({ claim.worker, claim.attempt.value, claim.chunk.value, static_cast<double>(claim.startedWallNs) * 1e-9, static_cast<double>(claim.endedWallNs) * 1e-9, claim.keptSteps });
    }
    return lost;
}

const LostTraining* lostTrainingAt(const std::vector<LostTraining>& lost, int worker, std::int64_t attempt, std::int64_t chunk, double wall)
{
    const auto found = std::find_if(lost.begin(), lost.end(), [&](const LostTraining& one) {
        return one.worker == worker && one.attempt == attempt && one.chunk == chunk && wall >= one.began - kClocks && (one.ended == 0 || wall <= one.ended + kClocks);
    });
    return found == lost.end() ? nullptr : &*found;
}

} // namespace furrow
