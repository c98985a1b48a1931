#include "core/train/loop/step_torch.h"

#include "core/base/clock.h"
#include "core/train/meters/profile_range.h"

#include <torch/torch.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <bit>
#include <cmath>

namespace furrow {

namespace {

constexpr std::int64_t kParameterNormEvery = 16; // one pass over the weights: below a thousandth of the work so

double secondsNow() { return static_cast<double>(systemClock().monotonicNs()) / 1e9; }

std::int64_t sumOf(const std::vector<Batch>& batches, std::int64_t Batch::* count)
{
    std::int64_t sum = 0;
    for (const auto& batch : batches)
        sum += batch.*count;
    return sum;
}

} // namespace

/// A step whose numbers are still on their way from the device.
struct StepRunner::Pending {
    StepOutcome outcome;
    at::Tensor values; ///< pinned: loss sum, gradient norm, parameter norm; outcome.losses_WT is pinned too
    c10::Event copied { c10::kCUDA };

    StepOutcome wait()
    {
        copied.synchronize(); // sync: once a step at most, for the step before, or when a chunk ends
        outcome.lossSum = values[0].item<double>();
        outcome.gradientNorm = values[1].item<double>();
        outcome.parameterNorm = values[2].item<double>();
        outcome.bad = !std::isfinite(outcome.lossSum) || !std::isfinite(outcome.gradientNorm);
        return outcome;
    }
};

StepInput stepOf(std::vector<Batch> batches)
{
    StepInput step;
    step.windows = { batches.front().windows.begin, batches.back().windows.end };
    step.labels = sumOf(batches, &Batch::labels);
    step.learnt = sumOf(batches, &Batch::learnt);
    step.batches = std::move(batches);
    return step;
}

WindowRange nextStep(WindowRange left, std::int64_t most)
{
    const std::int64_t windows = left.size();
    const std::int64_t next = windows >= 2 * most ? most : windows > most ? (windows + 1) / 2 : windows;
    return { left.begin, left.begin + static_cast<std::int32_t>(next) };
}

WindowRange shareOf(WindowRange step, int rank, int ranks)
{
    const std::int64_t size = step.size();
    const auto at = [&](std::int64_t part) { return step.begin + static_cast<std::int32_t>(size * part / ranks); };
    return { at(rank), at(rank + 1) };
}

StepInput makeStep(
    const BatchMaker& batches, const ChunkWindows& chunk, const Claim& claim, WindowRange windows, int rank, int ranks)
{
    StepInput step;
    step.windows = windows;
    for (std::int32_t window = windows.begin; window < windows.end; ++window) {
        step.labels += chunk.labelCount(window);
        step.learnt += chunk.learntCount(window);
    }
    step.batches = batches.make(chunk, shareOf(windows, rank, ranks));
    for (auto& batch : step.batches) {
        batch.epoch = claim.epoch;
        batch.block = claim.block;
        batch.column = claim.column;
    }
    return step;
}

StepRunner::StepRunner(Learner& learner, double clipNorm, RankGroup* group)
    : learner_(learner)
    , clipNorm_(clipNorm)
    , group_(group)
{
    if (!group)
        return;
    std::vector<GradientSum::Parameter> parameters;
    auto* model = learner.model();
    if (model) {
        const auto& store = model->parameters();
        for (std::size_t i = 0; i < store.slots().size(); ++i)
            parameters.push_back({ store.tensors()[i].second, store.slots()[i].offset, store.slots()[i].count });
    }
    gradients_ = std::make_unique<GradientSum>(
        *group, learner.gradients(), std::move(parameters), model && model->finishesGradientsInOrder());
}

StepRunner::~StepRunner() = default;

Status StepRunner::run(const StepInput& step, double learningRate, std::vector<StepOutcome>& known)
{
    const ProfileRange profiled("step");
    StepOutcome outcome;
    outcome.windows = step.windows;
    outcome.tokens = step.labels;
    outcome.ownTokens = sumOf(step.batches, &Batch::labels);
    outcome.learnt = step.learnt;
    if (!step.batches.empty())
        outcome.ownWindows = { step.batches.front().windows.begin, step.batches.back().windows.end };
    outcome.learningRate = learningRate;
    const bool measures = stepsRun_++ % kParameterNormEvery == 0;
    if (learner_.device().is_cuda() && !learner_.scalesLoss())
        return runOnDevice(step, outcome, measures, known);
    return runOnHost(step, outcome, measures, known);
}

/// Forward and backward of this worker's batches. @return losses of their labels, float32 (W,T) on the device
at::Tensor StepRunner::accumulateAll(const StepInput& step)
{
    const double scale = 1.0
        / static_cast<double>(
            std::max<std::int64_t>(step.learnt, 1)); // mean per learnt token of the whole accumulated batch
    std::vector<at::Tensor> losses;
    for (std::size_t i = 0; i < step.batches.size(); ++i) {
        if (gradients_ && i + 1 == step.batches.size())
            gradients_->arm();
        const ProfileRange profiled("forward and backward");
        losses.push_back(learner_.accumulate(step.batches[i], scale));
    }
    return losses.empty() ? torch::zeros({ 0, 0 }, torch::TensorOptions().device(learner_.device()))
                          : torch::cat(losses);
}

/// Every rank adds the same numbers in the same order: all come to the same sum.
Status StepRunner::sumLossOnHost(double& lossSum)
{
    std::vector<std::int64_t> each(static_cast<std::size_t>(group_->ranks()), 0);
    each[static_cast<std::size_t>(group_->rank())] = std::bit_cast<std::int64_t>(lossSum);
    FURROW_TRY(group_->exchange(RankGroup::Exchange::Loss, each));
    lossSum = 0;
    for (const auto one : each)
        lossSum += std::bit_cast<double>(one);
    return {};
}

Status StepRunner::runOnHost(const StepInput& step, StepOutcome outcome, bool measures, std::vector<StepOutcome>& known)
{
    const double began = secondsNow();
    double middle = began;
    do { // once, except where fp16 gradients overflow
        outcome.losses_WT = accumulateAll(step).cpu(); // fp16 on a GPU waits here
        outcome.lossSum = outcome.losses_WT.sum(torch::kFloat64).item<double>();
        if (gradients_) {
            FURROW_TRY(gradients_->finish());
            FURROW_TRY(sumLossOnHost(outcome.lossSum));
        }
        middle = secondsNow();
        if (std::isfinite(outcome.lossSum))
            outcome.gradientNorm = learner_.apply(outcome.learningRate, clipNorm_).item<double>();
        else
            learner_.discard();
        outcome.bad = !std::isfinite(outcome.lossSum) || !std::isfinite(outcome.gradientNorm);
    } while (outcome.bad && std::isfinite(outcome.lossSum) && learner_.lowerLossScale());
    outcome.backwardSeconds = middle - began;
    if (auto* model = learner_.model(); model && measures && !outcome.bad)
        outcome.parameterNorm = flatNorm(model->parameters().weights()).item<double>();
    outcome.optimizerSeconds = secondsNow() - middle;
    known.push_back(outcome);
    return {};
}

Status StepRunner::runOnDevice(
    const StepInput& step, StepOutcome outcome, bool measures, std::vector<StepOutcome>& known)
{
    const double began = secondsNow();
    const auto losses_WT = accumulateAll(step);
    const auto loss = losses_WT.sum();
    // A bad loss makes the norm bad, so that the optimizer leaves the step out without a look from the host. With
    // several ranks the piece that holds this element is summed last.
    if (auto* model = learner_.model())
        model->parameters().gradients().narrow(0, 0, 1).add_(loss * 0);
    if (gradients_) {
        FURROW_TRY(gradients_->finish());
        group_->beginSum(loss);
        FURROW_TRY(group_->finishSums());
    }
    const double middle = secondsNow();
    const auto norm = learner_.apply(outcome.learningRate, clipNorm_);
    auto pending = std::make_unique<Pending>();
    outcome.backwardSeconds = middle - began; // time of launching; the device's own time shows in the waiting below
    outcome.optimizerSeconds = secondsNow() - middle;
    pending->outcome = outcome;
    pending->outcome.losses_WT
        = torch::empty(losses_WT.sizes(), torch::TensorOptions().pinned_memory(true)).copy_(losses_WT, true);
    pending->values = torch::empty({ 3 }, torch::TensorOptions().dtype(torch::kFloat32).pinned_memory(true));
    auto* model = learner_.model();
    const auto weights = model && measures ? flatNorm(model->parameters().weights()) : torch::zeros_like(norm);
    pending->values.copy_(torch::stack({ loss.reshape({}), norm.reshape({}).to(torch::kFloat32),
                              weights.reshape({}).to(torch::kFloat32) }),
        true);
    pending->copied.record(c10::impl::VirtualGuardImpl(c10::kCUDA).getStream(learner_.device()));
    pending_.push_back(std::move(pending));
    for (; pending_.size() > 1; pending_.pop_front())
        known.push_back(pending_.front()->wait());
    return {};
}

void StepRunner::flush(std::vector<StepOutcome>& known)
{
    for (; !pending_.empty(); pending_.pop_front())
        known.push_back(pending_.front()->wait());
}

} // namespace furrow
