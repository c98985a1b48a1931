#include "ui/models/past_parts.h"

#include <algorithm>

namespace furrow {

PartsThen::PartsThen(std::int64_t wallNs, const LedgerTables* tables, const std::vector<CheckpointLeft>& left)
    : wallNs_(wallNs)
{
    for (const CheckpointLeft& one : left)
        left_[one.checkpoint.value] = one.wallNs;
    if (tables == nullptr)
        return;
    saved_.emplace();
    for (const auto& row : tables->checkpoints)
        (*saved_)[row.id.value] = row.wallNs;
}

bool PartsThen::isSaved(CheckpointId checkpoint) const
{
    if (!saved_)
        return true;
    const auto saved = saved_->find(checkpoint.value);
    return saved != saved_->end() && saved->second <= wallNs_;
}

bool PartsThen::isThere(CheckpointId checkpoint, bool survives) const
{
    if (!isSaved(checkpoint))
        return false;
    const auto left = left_.find(checkpoint.value);
    return survives || (left != left_.end() && left->second > wallNs_);
}

ClaimRow PartsThen::of(ClaimRow claim) const
{
    if (claim.parts.empty()) {
        if (claim.checkpoint != 0 && !isSaved({ claim.checkpoint }))
            claim.checkpoint = claim.keptSteps = claim.keptWindows = 0;
        return claim;
    }
    const bool died = hasDied(claim);
    claim.checkpoint = claim.keptSteps = claim.keptWindows = 0;
    claim.isLeftBehind = false;
    for (const ClaimPart& part : claim.parts) {
        if (isThere(part.checkpoint, part.isAlive)) {
            claim.checkpoint = std::max(claim.checkpoint, part.checkpoint.value);
            claim.keptSteps += part.steps;
            claim.keptWindows += part.windows;
        } else if (isSaved(part.checkpoint)) {
            claim.isLeftBehind = true;
        }
    }
    claim.wentBack = claim.wentBack && claim.isLeftBehind;
    const bool isOver = claim.outcome == ClaimEnd::Trained || claim.outcome == ClaimEnd::Committed
        || claim.outcome == ClaimEnd::Lost; // else it goes on, or came to nothing
    if (!isOver || died)
        return claim;
    if (claim.isLeftBehind)
        claim.outcome = claim.checkpoint != 0 ? ClaimEnd::Committed : ClaimEnd::Lost;
    else
        claim.outcome
            = claim.checkpoint != 0 && claim.keptWindows >= claim.doneWindows ? ClaimEnd::Committed : ClaimEnd::Trained;
    return claim;
}

} // namespace furrow
