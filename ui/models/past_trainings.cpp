#include "ui/models/past_trainings.h"

#include "ui/models/past_lives.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace furrow {

namespace {

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

} // namespace

bool isLeftLater(const ClaimRow& claim, std::int64_t wallNs, const PastSources& sources)
{
    return claim.isLeftBehind && std::any_of(sources.left.begin(), sources.left.end(), [&](const Replay::Left& left) {
        return left.wallNs > wallNs && claim.chunk.value >= left.first && claim.chunk.value < left.first + left.count;
    });
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

} // namespace furrow
