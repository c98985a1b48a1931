#include "core/base/check.h"
#include "core/train/model/hrm_torch.h"

#include <torch/torch.h>

#include <cmath>

namespace furrow {

namespace {

/// log of s(x) / sum s, s(x) = x + 1 for x >= 0 and 1 / (1 - x) below, in float64.
at::Tensor logStablemax(const at::Tensor& logits)
{
    const at::Tensor x = logits.to(at::kDouble);
    // The clamps keep the branch that is not taken finite, in value and in gradient.
    const at::Tensor s = at::where(x.ge(0), x.clamp_min(0) + 1.0, 1.0 / (1.0 - x.clamp_max(0)));
    return s.log() - s.sum(-1, true).log();
}

void checkWhole(const at::Tensor& places_BT)
{
    FURROW_CHECK(!places_BT.defined(), "the samples of a window cannot be kept apart by a model that sums it up");
}

} // namespace

class HrmModel::Cache : public KeyValueCache {
public:
    Cache(std::int64_t batch, std::int64_t capacity, c10::Device device)
        : tokens_BT(at::empty({ batch, 0 }, at::TensorOptions().dtype(at::kLong).device(device)))
        , capacity_(capacity)
    {
    }
    std::int64_t length() const override { return tokens_BT.size(1); }
    std::int64_t capacity() const override { return capacity_; }

    at::Tensor tokens_BT;

private:
    std::int64_t capacity_;
};

HrmCarry HrmModel::startCarry(std::int64_t batch, std::int64_t length) const
{
    const auto options = at::TensorOptions().device(options_.device);
    HrmCarry carry;
    carry.high_BTD = at::zeros({ batch, length, config_.width }, options.dtype(at::kFloat));
    carry.low_BTD = at::zeros_like(carry.high_BTD);
    carry.steps_B = at::zeros({ batch }, options.dtype(at::kLong));
    carry.halted_B = at::ones({ batch }, options.dtype(at::kBool));
    return carry;
}

void HrmModel::restartHalted(HrmCarry& carry) const
{
    const at::Tensor fresh = carry.halted_B.view({ -1, 1, 1 });
    carry.high_BTD = at::where(fresh, startHigh_D_, carry.high_BTD);
    carry.low_BTD = at::where(fresh, startLow_D_, carry.low_BTD);
    carry.steps_B = carry.steps_B.masked_fill(carry.halted_B, 0);
}

/// Moves the carry behind a segment and decides which rows halt.
void HrmModel::updateHalting(HrmCarry& carry, const Output& output)
{
    const std::int64_t most = config_.hrm.maxSegments;
    carry.high_BTD = output.high_BTD;
    carry.low_BTD = output.low_BTD;
    carry.steps_B = carry.steps_B + 1;
    carry.halted_B = carry.steps_B.ge(most);
    if (most == 1)
        return;
    const std::int64_t rows = carry.steps_B.size(0);
    const at::Tensor explore = at::empty({ rows }, at::kFloat).uniform_(0, 1, exploration_).lt(config_.hrm.exploration);
    const at::Tensor fewest = at::empty({ rows }, at::kLong).random_(2, most + 1, exploration_) * explore;
    const at::Tensor wants = output.halt_B.detach().gt(output.continue_B.detach());
    carry.halted_B = carry.halted_B.logical_or(wants).logical_and(carry.steps_B.ge(fewest.to(carry.steps_B.device())));
}

at::Tensor HrmModel::continueTarget(const HrmCarry& carry, const at::Tensor& inputs_BT) const
{
    const at::NoGradGuard guard;
    const Output next = segment(carry, inputs_BT);
    const at::Tensor isLast = carry.steps_B.ge(config_.hrm.maxSegments);
    return at::sigmoid(at::where(isLast, next.halt_B, at::maximum(next.halt_B, next.continue_B)));
}

HrmSegment HrmModel::measure(const at::Tensor& logits_BTV, const at::Tensor& labels_BT) const
{
    const at::Tensor labels = labels_BT.to(at::kLong);
    const at::Tensor real = labels.ne(kIgnoreLabel);
    const at::Tensor logProbabilities
        = config_.hrm.stablemax ? logStablemax(logits_BTV) : at::log_softmax(logits_BTV.to(at::kFloat), -1);
    const at::Tensor picked = logProbabilities.gather(-1, labels.clamp_min(0).unsqueeze(-1)).squeeze(-1);
    HrmSegment result;
    result.losses_BT = -at::where(real, picked, at::zeros({}, picked.options()));
    result.lossSum_B = result.losses_BT.sum(1);
    result.labels_B = real.sum(1);
    result.correct_B = logits_BTV.detach().argmax(-1).eq(labels).logical_and(real).sum(1);
    result.exact_B = result.correct_B.eq(result.labels_B);
    result.logits_BTV = logits_BTV.detach();
    return result;
}

HrmSegment HrmModel::trainSegment(
    HrmCarry& carry, const at::Tensor& inputs_BT, const at::Tensor& labels_BT, const at::Tensor& rowWeights_B)
{
    restartHalted(carry);
    const Output output = segment(carry, inputs_BT);
    HrmSegment result = measure(output.logits_BTV, labels_BT);
    updateHalting(carry, output);
    const at::Tensor labels = result.labels_B.clamp_min(1);
    const at::Tensor reward
        = config_.hrm.exactReward ? result.exact_B.to(at::kFloat) : result.correct_B.to(at::kFloat) / labels;
    at::Tensor halting = at::binary_cross_entropy_with_logits(output.halt_B, reward, {}, {}, at::Reduction::None);
    if (config_.hrm.maxSegments > 1)
        halting = halting
            + at::binary_cross_entropy_with_logits(
                output.continue_B, continueTarget(carry, inputs_BT), {}, {}, at::Reduction::None);
    at::Tensor objective = ((result.lossSum_B / labels + 0.5 * halting) * rowWeights_B).sum();
    if (output.balance.defined())
        objective = objective + output.balance * (config_.moeBalance * rowWeights_B.sum());
    objective.backward();
    result.losses_BT = result.losses_BT.detach().to(at::kFloat);
    result.lossSum_B = result.lossSum_B.detach().to(at::kFloat);
    return result;
}

HrmSegment HrmModel::evaluate(const at::Tensor& inputs_BT, const at::Tensor& labels_BT)
{
    const at::NoGradGuard guard;
    HrmCarry carry = startCarry(inputs_BT.size(0), inputs_BT.size(1));
    restartHalted(carry);
    Output output;
    for (std::int64_t i = 0; i < config_.hrm.maxSegments; ++i) {
        output = segment(carry, inputs_BT);
        carry.high_BTD = output.high_BTD;
        carry.low_BTD = output.low_BTD;
    }
    return measure(output.logits_BTV, labels_BT);
}

at::Tensor HrmModel::forwardBackward(
    const at::Tensor& inputs_BT, const at::Tensor& labels_BT, double gradientScale, const at::Tensor& places_BT)
{
    checkWhole(places_BT);
    HrmCarry carry = startCarry(inputs_BT.size(0), inputs_BT.size(1));
    const at::Tensor weights = labels_BT.ne(kIgnoreLabel).sum(1).to(at::kFloat) * gradientScale;
    at::Tensor done = at::zeros_like(carry.halted_B);
    at::Tensor losses = at::zeros(labels_BT.sizes(), weights.options());
    for (std::int64_t i = 0; i < config_.hrm.maxSegments; ++i) {
        // A row that has halted keeps its place with weight 0, so that shapes stay the same; its state is of no
        // interest.
        const HrmSegment result = trainSegment(carry, inputs_BT, labels_BT, weights.masked_fill(done, 0));
        const at::Tensor justHalted = carry.halted_B.logical_and(done.logical_not());
        losses = losses + result.losses_BT.masked_fill(justHalted.logical_not().unsqueeze(1), 0);
        done = done.logical_or(justHalted);
        carry.halted_B = at::zeros_like(done);
        if (options_.device.is_cpu() && done.all().item<bool>())
            break;
    }
    return losses;
}

LossSum HrmModel::lossSum(const at::Tensor& inputs_BT, const at::Tensor& labels_BT, const at::Tensor& places_BT)
{
    checkWhole(places_BT);
    const at::NoGradGuard guard;
    return { evaluate(inputs_BT, labels_BT).lossSum_B.to(at::kFloat).sum(), countLabels(labels_BT) };
}

at::Tensor HrmModel::logits(const at::Tensor& inputs_BT, const at::Tensor& places_BT)
{
    checkWhole(places_BT);
    return evaluate(inputs_BT, inputs_BT).logits_BTV.to(at::kFloat);
}

std::unique_ptr<KeyValueCache> HrmModel::newCache(std::int64_t batch, std::int64_t capacity)
{
    FURROW_CHECK(capacity <= config_.contextLength, "a cache was asked for that is longer than the context");
    return std::make_unique<Cache>(batch, capacity, options_.device);
}

at::Tensor HrmModel::nextLogits(const at::Tensor& tokens_BT, KeyValueCache& cache)
{
    auto& own = static_cast<Cache&>(cache);
    FURROW_CHECK(own.length() + tokens_BT.size(1) <= own.capacity(), "the cache is full");
    own.tokens_BT = at::cat({ own.tokens_BT, tokens_BT.to(at::kLong) }, 1);
    const at::Tensor all = logits(own.tokens_BT);
    return all.select(1, all.size(1) - 1);
}

void HrmModel::reseed(std::uint64_t seed)
{
    Model::reseed(seed);
    exploration_.set_current_seed(seed);
}

} // namespace furrow
