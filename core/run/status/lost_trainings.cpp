#include "core/run/status/lost_trainings.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace furrow {

namespace {

constexpr double kClocks = 1; // [s] that the clocks of a worker's telemetry and of the ledger may be apart

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

} // namespace

std::vector<LostTraining> lostTrainings(const std::vector<ClaimRow>& claims, const std::vector<ChunkCell>& gone)
{
    std::set<ChunkId> held;
    for (const ChunkCell& cell : gone)
        held.insert(cell.id);
    std::vector<LostTraining> lost;
    std::map<std::tuple<int, std::int64_t, ChunkId>, std::optional<std::size_t>>
        before; // by worker, attempt and chunk: whether its claim before is in `lost`, and where
    for (const ClaimRow& claim : claims) {
        const double claimed = seconds(claim.claimedWallNs);
        const auto [earlier, isFirst] = before.try_emplace({ claim.worker, claim.attempt.value, claim.chunk });
        if (earlier->second)
            lost[*earlier->second].until = std::min(lost[*earlier->second].until, claimed);
        earlier->second.reset();
        const bool isHeld
            = (claim.outcome == ClaimEnd::Open || claim.outcome == ClaimEnd::Trained) && held.contains(claim.chunk);
        if ((claim.outcome != ClaimEnd::Lost && !claim.isLeftBehind && !isHeld) || claim.startedWallNs == 0)
            continue;
        LostTraining one { claim.worker, claim.attempt.value, claim.chunk.value, seconds(claim.startedWallNs) - kClocks,
            std::numeric_limits<double>::infinity(), claim.keptSteps };
        if (!isFirst)
            one.from = std::max(one.from, claimed);
        if (claim.endedWallNs != 0)
            one.until = seconds(claim.endedWallNs) + kClocks;
        earlier->second = lost.size();
        lost.push_back(one);
    }
    return lost;
}

const LostTraining* lostTrainingAt(
    const std::vector<LostTraining>& lost, int worker, std::int64_t attempt, std::int64_t chunk, double wall)
{
    const auto found = std::find_if(lost.begin(), lost.end(), [&](const LostTraining& one) {
        return one.worker == worker && one.attempt == attempt && one.chunk == chunk && wall >= one.from
            && wall < one.until;
    });
    return found == lost.end() ? nullptr : &*found;
}

bool isStepOfNoWeights(std::int64_t step, std::span<const ClaimRow> claims)
{
    bool isGone = false;
    std::int64_t past = 1; // the first step behind what is known to be trained
    for (const ClaimRow& claim : claims) {
        if (claim.startedWallNs == 0)
            continue;
        const std::int64_t first = claim.firstStep > 0 ? claim.firstStep : past; // not told: it was never finished
        if (first > step)
            break;
        isGone = isOfNoWeights(claim) && step - first >= claim.keptSteps;
        past = std::max(past, claim.lastStep + 1);
    }
    return isGone;
}

std::size_t lostFrom(const Stretch& stretch, const std::vector<LostTraining>& lost)
{
    const int worker = claimant(stretch.worker, stretch.rank);
    std::size_t from = stretch.size();
    for (std::size_t i = stretch.chunks.size(); i-- > 0;) {
        const ChunkStart start = stretch.chunks[i];
        while (from > start.index) { // who gave the rest of a chunk back may have claimed it again at once
            const LostTraining* training
                = lostTrainingAt(lost, worker, stretch.attempt, start.chunk, stretch.wallAt(from - 1));
            if (training == nullptr)
                return from;
            const std::size_t told = stretch.millis.lowerBound((training->from - stretch.wallStart) * 1000);
            const std::size_t first = std::clamp(told, std::size_t { start.index }, from - 1);
            while (from > first && isLostStep(*training, stretch.step[first], stretch.step[from - 1]))
                --from;
            if (from > first)
                return from;
        }
    }
    return from;
}

bool LostSteps::has(const PlacedRecord& at)
{
    const StepRecord& step = at.line.step;
    const LostTraining* training
        = lostTrainingAt(lost_, claimant(at.header.worker, step.rank), at.header.attempt, step.chunk, at.wall);
    if (training == nullptr)
        return false;
    const auto first = firstSteps_.try_emplace({ training, at.header.worker }, step.step).first->second;
    return isLostStep(*training, first, step.step);
}

} // namespace furrow
