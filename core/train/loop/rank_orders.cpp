#include "core/train/loop/rank_orders_torch.h"

#include "core/base/clock.h"

#include <torch/torch.h>

#include <array>
#include <bit>

namespace furrow {

namespace {

constexpr std::int64_t kKeepWaitingEveryNs = 500'000'000;

using Values = std::array<std::int64_t, 19>;

void put(const Claim& claim, std::int64_t* to)
{
    const std::array<std::int64_t, 6> fields { claim.claimId, claim.chunk.value, claim.epoch, claim.block, claim.column,
        claim.windows };
    std::copy(fields.begin(), fields.end(), to);
}

Claim claimAt(const std::int64_t* from)
{
    Claim claim;
    claim.claimId = from[0];
    claim.chunk = ChunkId { from[1] };
    claim.epoch = from[2];
    claim.block = from[3];
    claim.column = static_cast<std::int32_t>(from[4]);
    claim.windows = static_cast<std::int32_t>(from[5]);
    return claim;
}

Values encode(const RankOrder& order)
{
    Values v {};
    v[0] = static_cast<std::int64_t>(order.kind);
    v[1] = order.windows.begin;
    v[2] = order.windows.end;
    v[3] = order.ownSteps;
    v[4] = std::bit_cast<std::int64_t>(order.learningRate);
    put(order.claim, &v[5]);
    put(order.ahead, &v[11]);
    v[17] = static_cast<std::int64_t>(order.noiseSeed);
    return v;
}

RankOrder decode(const Values& v)
{
    RankOrder order;
    order.kind = static_cast<RankOrder::Kind>(v[0]);
    order.windows = { static_cast<std::int32_t>(v[1]), static_cast<std::int32_t>(v[2]) };
    order.ownSteps = v[3];
    order.learningRate = std::bit_cast<double>(v[4]);
    order.claim = claimAt(&v[5]);
    order.ahead = claimAt(&v[11]);
    order.noiseSeed = static_cast<std::uint64_t>(v[17]);
    return order;
}

} // namespace

Result<std::unique_ptr<RankGroup>> joinRanks(
    const TrainerOptions& options, const RunSetup& setup, const std::function<bool()>& stopRequested)
{
    RankGroupOptions group;
    group.rank = options.worker;
    group.ranks = options.ranks;
    group.meetingFile = options.meetingFile;
    group.device = setup.device;
    group.timeoutSeconds = static_cast<double>(setup.config.rankTimeout);
    group.stopRequested = stopRequested;
    return RankGroup::join(group);
}

double leaseOf(const RunSetup& setup)
{
    constexpr double kLease = 60;
    constexpr double kLonger = 15; // than the others wait for a rank: first they say which one is missing
    return setup.ranks > 1 ? std::max(kLease, static_cast<double>(setup.config.rankTimeout) + kLonger) : kLease;
}

/// Rank 0 adds its order, the others add noughts: what comes out is the order, on every rank. The last value counts the
/// ranks that want to stop.
Result<RankOrder> RankOrders::exchange(const RankOrder& order, bool wantsStop)
{
    Values values = encode(order);
    values.back() = wantsStop;
    FURROW_TRY(group_.exchange(RankGroup::Exchange::Order, values));
    stopWanted_ = stopWanted_ || values.back() > 0;
    return decode(values);
}

Status RankOrders::give(RankOrder order)
{
    if (!status_.ok())
        return status_;
    if (order.kind == RankOrder::Kind::Step) {
        const std::lock_guard lock(mutex_);
        if (ahead_.claimId != order.claim.claimId)
            order.ahead = ahead_;
    }
    lastGivenNs_ = systemClock().monotonicNs();
    isOver_ = order.kind == RankOrder::Kind::End;
    if (auto given = exchange(order, false); !given.ok())
        status_ = given.error();
    return status_;
}

void RankOrders::keepWaiting()
{
    if (!isOver_ && systemClock().monotonicNs() - lastGivenNs_ > kKeepWaitingEveryNs)
        (void)give({});
}

void RankOrders::expect(const Claim& claim)
{
    const std::lock_guard lock(mutex_);
    ahead_ = claim;
}

Result<RankOrder> RankOrders::take(bool wantsStop) { return exchange({}, wantsStop); }

namespace {

/// A table that grows, as the counting model's, has as many rows as on rank 0.
Result<at::Tensor> shapedAsOnRank0(const at::Tensor& own, RankGroup& group)
{
    auto shape = torch::tensor(own.sizes(), torch::kInt64);
    FURROW_TRY(group.broadcast(shape));
    std::vector<std::int64_t> sizes(shape.data_ptr<std::int64_t>(), shape.data_ptr<std::int64_t>() + shape.numel());
    return own.sizes() == sizes ? own : torch::zeros(sizes, own.options());
}

} // namespace

Status shareState(Learner& learner, RankGroup& group)
{
    const auto shared = [&](const NamedTensors& own) -> Result<NamedTensors> {
        NamedTensors all;
        for (const auto& [name, mine] : own) {
            FURROW_TRY_ASSIGN(auto shaped, learner.model() ? Result<at::Tensor>(mine) : shapedAsOnRank0(mine, group));
            const auto& tensor = shaped;
            auto copy = tensor.detach()
                            .to(learner.device(), tensor.scalar_type(), false, true)
                            .contiguous(); // the step count lies on the host
            if (copy.numel() > 0)
                FURROW_TRY(group.broadcast(copy));
            all.emplace_back(name, copy);
        }
        return all;
    };
    NamedTensors all = learner.weights();
    const NamedTensors frozen = learner.frozenWeights();
    all.insert(all.end(), frozen.begin(), frozen.end());
    FURROW_TRY_ASSIGN(auto weights, shared(all));
    FURROW_TRY_ASSIGN(auto optimizer, shared(learner.optimizerState()));
    FURROW_TRY(learner.loadWeights(weights));
    return learner.loadOptimizer(optimizer);
}

} // namespace furrow
