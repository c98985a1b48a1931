#pragma once

#include "core/run/status/checkpoints_left.h"
#include "ui/bridge/run_feed.h"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace furrow {

/// What checkpoints had at a moment. What was given up later was still in the weights then; what had been given up
/// before was not.
class PartsThen {
public:
    /// @param tables  null: not read yet, then parts count as they do now
    /// @param left  as Replay::left() has it
    PartsThen(std::int64_t wallNs, const LedgerTables* tables, const std::vector<CheckpointLeft>& left);

    /// It had been saved.
    bool isSaved(CheckpointId checkpoint) const;
    /// It had been saved, and was in the weights.
    bool isThere(CheckpointId checkpoint, bool survives) const;
    /// A training with what checkpoints had of it: `checkpoint`, `keptSteps`, `keptWindows`, `isLeftBehind` and
    /// `wentBack`, and where these say otherwise its outcome.
    ClaimRow of(ClaimRow claim) const;

private:
    std::int64_t wallNs_;
    std::optional<std::unordered_map<std::int64_t, std::int64_t>> saved_; ///< when; nothing: not known
    std::unordered_map<std::int64_t, std::int64_t> left_; ///< when
};

/// What no checkpoint had of it was lost with its process.
inline bool hasDied(const ClaimRow& claim)
{
    return claim.outcome == ClaimEnd::Lost && (claim.died || !claim.isLeftBehind);
}

} // namespace furrow
