#pragma once

#include "core/collective/rank_group_torch.h"
#include "core/train/loop/run_setup_torch.h"
#include "core/train/loop/trainer.h"

#include <mutex>
#include <optional>

namespace furrow {

/// What the ranks of a data-parallel group do next. Rank 0, the only one that claims, says it; all of them do it.
struct RankOrder {
    enum class Kind { Wait, Step, End };
    Kind kind = Kind::Wait;
    // Of a step:
    Claim claim; ///< claimId, chunk, epoch, block, column, windows
    Claim ahead; ///< the chunk that comes next, to be read ahead; claimId 0: not known
    WindowRange windows; ///< of all ranks together
    std::int64_t ownSteps = 0; ///< optimiser steps of the replica before this one
    double learningRate = 0;
    std::uint64_t noiseSeed = 0; ///< of what is added to the sum of clipped gradients
};

/// Orders from rank 0 to the others. One thread, but for expect().
class RankOrders {
public:
    explicit RankOrders(RankGroup& group)
        : group_(group)
    {
    }

    RankGroup& group() { return group_; }

    /// Rank 0: gives an order. The error names the rank that is missing.
    Status give(RankOrder order);
    /// Rank 0: lets the others know, now and then, that there is nothing to do yet. An error shows at the next give().
    void keepWaiting();
    /// Rank 0: this chunk will be trained after the one at hand. Thread-safe.
    void expect(const Claim& claim);
    /// Rank 0: another rank was asked to stop (SIGTERM): as if this one had been.
    bool stopWanted() const { return stopWanted_; }

    /// The others: waits for the next order. @param wantsStop  told to rank 0
    Result<RankOrder> take(bool wantsStop);

private:
    Result<RankOrder> exchange(const RankOrder& order, bool wantsStop);

    RankGroup& group_;
    std::mutex mutex_;
    Claim ahead_; // guarded by mutex_
    std::int64_t lastGivenNs_ = 0;
    bool stopWanted_ = false;
    bool isOver_ = false; ///< the others were told to end and take no order any more
    Status status_;
};

/// Meets the other ranks, as the command line and the settings say.
Result<std::unique_ptr<RankGroup>> joinRanks(
    const TrainerOptions& options, const RunSetup& setup, const std::function<bool()>& stopRequested);
/// The shortest lease of a worker [s].
double leaseOf(const RunSetup& setup);
/// Gives every rank the weights and the optimizer state of rank 0.
Status shareState(Learner& learner, RankGroup& group);

} // namespace furrow
