#include "ui/models/past_trainings.h"

#include "core/tracker/left_out_samples.h"
#include "ui/models/past_lives.h"
#include "ui/models/past_parts.h"
#include "ui/models/past_skipped.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace furrow {

namespace {

/// What checkpoints had of a training, in proportion: nobody keeps it to the token.
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

std::optional<Living> livingAt(std::int64_t wallNs, const PastSources& sources)
{
    return sources.tables == nullptr ? std::nullopt : std::optional<Living>(std::in_place, wallNs, sources);
}

/// Whether all of a training that had ended was in weights.
/// @param then  PartsThen::of()
bool isWhole(const ClaimRow& claim, const ClaimRow& then, const std::optional<Living>& living)
{
    if (then.isLeftBehind)
        return false;
    if (hasDied(then)) // until its worker dies, then what checkpoints have of it
        return claim.tokens > 0 && living && living->has(claim);
    switch (then.outcome) {
    case ClaimEnd::Committed: return true;
    case ClaimEnd::Trained: // what was saved later was there
        return claim.outcome != ClaimEnd::Trained || !living || living->has(claim);
    default: return false;
    }
}

/// The samples in the weights of committed chunks.
class SamplesThen {
public:
    SamplesThen(RunStatus& status, std::int64_t wallNs, const PastSources& sources)
    {
        const SkippedThen skipped(wallNs, sources.tables, sources.left);
        for (EpochRow& epoch : status.epochs)
            rows_[epoch.epoch] = &epoch;
        for (const PastSources::Epoch& epoch : sources.epochs)
            for (const ChunkCell& cell : epoch.cells)
                if (cell.state == ChunkState::Committed && rows_.contains(epoch.epoch))
                    add(cell, skipped.windowsOf(cell.id), rows_[epoch.epoch]->rowsCommitted.samples);
    }
    /// @param then  PartsThen::of() @param whole  isWhole()
    void add(const ClaimRow& then, bool whole)
    {
        if (!unknown_.contains(then.chunk))
            return;
        rows_[then.epoch]->rowsCommitted.samples
            += whole ? then.samples : samplesOfWindows(then.keptWindows, then.samples, then.doneWindows);
    }

private:
    void add(const ChunkCell& cell, std::int64_t windowsSkipped, std::int64_t& samples)
    {
        if (cell.samples > 0)
            samples += cell.samples - samplesOfWindows(windowsSkipped, cell.samples, cell.windows);
        else
            unknown_.insert(cell.id);
    }

    std::map<std::int64_t, EpochRow*> rows_;
    std::set<ChunkId> unknown_; // chunks of an epoch that is not shown: their claims have them
};

} // namespace

void takeClaimsBack(RunStatus& status, std::int64_t wallNs, const PastSources& sources)
{
    status.steps = status.tokens = 0;
    const auto living = livingAt(wallNs, sources);
    const PartsThen parts(wallNs, sources.tables, sources.left);
    SamplesThen samples(status, wallNs, sources);
    const auto addKept = [&](const ClaimRow& then) { // checkpoints may have the first steps of it
        status.steps += then.keptSteps;
        status.tokens += then.keptSteps > 0 ? keptTokens(then, sources) : 0;
    };
    for (const ClaimRow& claim : sources.claims) {
        if (claim.claimedWallNs > wallNs)
            continue;
        const ClaimRow then = parts.of(claim);
        const bool wentOn = isCutShort(claim) && living && living->has(claim);
        if (claim.endedWallNs == 0 || claim.endedWallNs > wallNs || wentOn) { // who lives tells what it has done
            if (living && !living->has(claim))
                addKept(then);
            continue;
        }
        const bool whole = isWhole(claim, then, living);
        samples.add(then, whole);
        if (!whole) {
            addKept(then);
            continue;
        }
        status.steps += claim.lastStep - claim.firstStep + 1;
        status.tokens += claim.tokens;
    }
}

std::function<std::int64_t(const ClaimRow&)> lastStepsThere(std::int64_t wallNs, const PastSources& sources)
{
    return [living = livingAt(wallNs, sources), parts = PartsThen(wallNs, sources.tables, sources.left), wallNs](
               const ClaimRow& claim) -> std::int64_t {
        if (claim.endedWallNs == 0 || claim.endedWallNs > wallNs)
            return 0;
        const ClaimRow then = parts.of(claim);
        if (isWhole(claim, then, living))
            return claim.lastStep;
        return claim.firstStep > 0 && then.keptSteps > 0 ? claim.firstStep + then.keptSteps - 1 : 0;
    };
}

std::function<bool(const ClaimRow&)> lostBy(std::int64_t wallNs, const RunStatus& shown, const PastSources& sources)
{
    return [living = livingAt(wallNs, sources), parts = PartsThen(wallNs, sources.tables, sources.left), &shown](
               const ClaimRow& claim) {
        const ClaimRow then = parts.of(claim);
        if (then.isLeftBehind)
            return true;
        if (!hasDied(then) || claim.attempt.value > shown.attempt)
            return false;
        if (claim.attempt.value < shown.attempt || !isUnderWay(shown.state))
            return true;
        return living && !living->has(claim);
    };
}

std::vector<LostTraining> lostAt(std::int64_t wallNs, const RunStatus& shown, const PastSources& sources)
{
    const auto wasLost = lostBy(wallNs, shown, sources);
    const PartsThen parts(wallNs, sources.tables, sources.left);
    std::vector<ClaimRow> then = sources.claims;
    std::erase_if(then, [wallNs](const ClaimRow& claim) { return claim.claimedWallNs > wallNs; });
    for (ClaimRow& claim : then) {
        const bool isLost = (claim.outcome == ClaimEnd::Lost || claim.isLeftBehind) && wasLost(claim);
        claim = parts.of(std::move(claim));
        if (!isLost && (claim.outcome == ClaimEnd::Lost || claim.isLeftBehind)) {
            claim.outcome = ClaimEnd::Trained;
            claim.isLeftBehind = false;
        }
    }
    return lostTrainings(then, shown.goneHolds); // what nobody has freed by then is lost all the same
}

} // namespace furrow
