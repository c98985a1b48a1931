#include "core/train/loop/step_torch.h"

#include "core/base/clock.h"

#include <torch/torch.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <cmath>

namespace furrow {

namespace {

constexpr std::int64_t kParameterNormEvery = 16; // one pass over the weights: below a thousandth of the work so

double secondsNow()
{
    return static_cast<double>(systemClock().monotonicNs()) / 1e9;
}

std::int64_t labelsOf(const std::vector<Batch>& batches)
{
    std::int64_t labels = 0;
    for (const auto& batch : batches)
        labels += batch.labels;
    return labels;
}

at::Tensor accumulateAll(Learner& learner, const std::vector<Batch>& batches, std::int64_t labels)
{
    const double scale = 1.0 / static_cast<double>(std::max<std::int64_t>(labels, 1)); // mean per token of the whole accumulated batch
    at::Tensor sum;
    for (const auto& batch : batches) {
        auto loss = learner.accumulate(batch, scale);
        sum = sum.defined() ? sum + loss : loss;
    }
    return sum;
}

} // namespace

/// A step whose numbers are still on their way from the device.
struct StepRunner::Pending {
    StepOutcome outcome;
    at::Tensor values; ///< pinned: loss sum, gradient norm, parameter norm
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

StepRunner::StepRunner(Learner& learner, double clipNorm)
    : learner_(learner)
    , clipNorm_(clipNorm)
{
}

StepRunner::~StepRunner() = default;

void StepRunner::run(const std::vector<Batch>& batches, double learningRate, std::vector<StepOutcome>& known)
{
    StepOutcome outcome;
    outcome.windows = { batches.front().windows.begin, batches.back().windows.end };
    outcome.tokens = labelsOf(batches);
    outcome.learningRate = learningRate;
    const bool measures = stepsRun_++ % kParameterNormEvery == 0;
    if (learner_.device().is_cuda() && !learner_.scalesLoss())
        runOnDevice(batches, outcome, measures, known);
    else
        runOnHost(batches, outcome, measures, known);
}

void StepRunner::runOnHost(const std::vector<Batch>& batches, StepOutcome outcome, bool measures, std::vector<StepOutcome>& known)
{
    const double began = secondsNow();
    double middle = began;
    do { // once, except where fp16 gradients overflow
        outcome.lossSum = accumulateAll(learner_, batches, outcome.tokens).item<double>();
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
}

void StepRunner::runOnDevice(const std::vector<Batch>& batches, StepOutcome outcome, bool measures, std::vector<StepOutcome>& known)
{
    const double began = secondsNow();
    const auto loss = accumulateAll(learner_, batches, outcome.tokens);
    // A bad loss makes the norm bad, so that the optimizer leaves the step out without a look from the host.
    if (auto* model = learner_.model())
        model->parameters().gradients().narrow(0, 0, 1).add_(loss * 0);
    const double middle = secondsNow();
    const auto norm = learner_.apply(outcome.learningRate, clipNorm_);
    auto pending = std::make_unique<Pending>();
    outcome.backwardSeconds = middle - began; // time of launching; the device's own time shows in the waiting below
    outcome.optimizerSeconds = secondsNow() - middle;
    pending->outcome = outcome;
    pending->values = torch::empty({ 3 }, torch::TensorOptions().dtype(torch::kFloat32).pinned_memory(true));
    auto* model = learner_.model();
    const auto weights = model && measures ? flatNorm(model->parameters().weights()) : torch::zeros_like(norm);
    pending->values.copy_(torch::stack({ loss.reshape({}), norm.reshape({}).to(torch::kFloat32), weights.reshape({}).to(torch::kFloat32) }), true);
    pending->copied.record(c10::impl::VirtualGuardImpl(c10::kCUDA).getStream(learner_.device()));
    pending_.push_back(std::move(pending));
    for (; pending_.size() > 1; pending_.pop_front())
        known.push_back(pending_.front()->wait());
}

void StepRunner::flush(std::vector<StepOutcome>& known)
{
    for (; !pending_.empty(); pending_.pop_front())
        known.push_back(pending_.front()->wait());
}

} // namespace furrow
