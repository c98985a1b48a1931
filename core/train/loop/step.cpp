#include "core/train/loop/step_torch.h"

#include "core/base/clock.h"
#include "core/config/run_config.h"
#include "core/train/meters/profile_range.h"

#include <torch/torch.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

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
    at::Tensor values; ///< pinned: gradient norm, parameter norm, sumsOf(); outcome's tensors are pinned too
    c10::Event copied { c10::kCUDA };

    StepOutcome wait()
    {
        copied.synchronize(); // sync: once a step at most, for the step before, or when a chunk ends
        outcome.gradientNorm = values[0].item<double>();
        outcome.parameterNorm = values[1].item<double>();
        outcome.lossSum = values[2].item<double>();
        if (values.size(0) > 3) {
            outcome.marginSum = values[3].item<double>();
            outcome.preferred = std::llround(values[4].item<double>());
        }
        outcome.bad = !std::isfinite(outcome.lossSum) || !std::isfinite(outcome.gradientNorm);
        return outcome;
    }
};

std::optional<PreferenceRule> preferenceRule(const RunConfig& config)
{
    return config.objective == Objective::Dpo ? std::optional(PreferenceRule { config.dpoBeta, config.dpoNormalise })
                                              : std::nullopt;
}

StepRules stepRules(const RunConfig& config)
{
    return { config.clip, config.clipPerSample, config.noiseMultiplier, preferenceRule(config) };
}

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

StepRunner::StepRunner(Learner& learner, const StepRules& rules, RankGroup* group)
    : learner_(learner)
    , rules_(rules)
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
    // Windows that are clipped are added up by hand, at the end of a pass.
    const bool isInOrder = model && model->finishesGradientsInOrder() && rules.sampleClip == 0;
    gradients_ = std::make_unique<GradientSum>(*group, learner.gradients(), std::move(parameters), isInOrder);
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

/// Forward and backward of this worker's batches.
StepRunner::Pass StepRunner::accumulateAll(const StepInput& step)
{
    // Mean per learnt token (or pair) of the whole accumulated batch; over windows where each has its own bound.
    const std::int64_t parts = rules_.sampleClip > 0 ? step.windows.size() : step.learnt;
    const double scale = 1.0 / static_cast<double>(std::max<std::int64_t>(parts, 1));
    std::vector<at::Tensor> losses;
    std::vector<at::Tensor> norms;
    std::vector<at::Tensor> margins;
    for (std::size_t i = 0; i < step.batches.size(); ++i) {
        const Batch& batch = step.batches[i];
        if (gradients_ && i + 1 == step.batches.size())
            gradients_->arm();
        const ProfileRange profiled("forward and backward");
        if (rules_.preference) {
            const auto pass = learner_.accumulatePairs(batch, *rules_.preference, scale);
            losses.push_back(pass.losses_BT);
            margins.push_back(pass.margins_P);
        } else if (rules_.sampleClip > 0) {
            const auto pass = learner_.accumulateClipped(batch, scale, rules_.sampleClip);
            losses.push_back(pass.losses_BT);
            norms.push_back(pass.norms_B);
        } else {
            losses.push_back(learner_.accumulate(batch, scale));
        }
    }
    const auto options = torch::TensorOptions().device(learner_.device());
    const auto joined = [&](const std::vector<at::Tensor>& all) {
        return all.empty() ? torch::zeros({ 0 }, options) : torch::cat(all);
    };
    return { losses.empty() ? torch::zeros({ 0, 0 }, options) : torch::cat(losses), joined(norms), joined(margins) };
}

/// Loss, and of pairs of answers margins and how many of them are above 0: float32 on the device.
at::Tensor StepRunner::sumsOf(const Pass& pass) const
{
    const at::Tensor loss = pass.losses_WT.sum();
    if (!rules_.preference)
        return loss.reshape({ 1 });
    return torch::stack({ loss, pass.margins_P.sum(), pass.margins_P.gt(0).sum().to(loss.scalar_type()) });
}

/// After the sum over ranks, on each of them the same: noise that every rank adds before it would be added up.
void StepRunner::addNoise(const StepInput& step)
{
    if (rules_.noise > 0)
        learner_.addNoise(
            rules_.noise * rules_.sampleClip / static_cast<double>(std::max(step.windows.size(), 1)), step.noiseSeed);
}

/// Norms by the place of the window in the step. A rank puts its own where they belong and noughts elsewhere, so what
/// is summed up is each norm alone, however the windows are shared.
Status StepRunner::gatherNorms(StepOutcome& outcome, const at::Tensor& own_W)
{
    if (rules_.sampleClip == 0)
        return {};
    outcome.sampleNorms_W = own_W.cpu();
    if (!group_)
        return {};
    std::vector<std::int64_t> all(static_cast<std::size_t>(outcome.windows.size()), 0);
    const std::size_t first = static_cast<std::size_t>(outcome.ownWindows.begin - outcome.windows.begin);
    for (std::int64_t i = 0; i < own_W.numel(); ++i)
        all[first + static_cast<std::size_t>(i)]
            = std::bit_cast<std::int32_t>(outcome.sampleNorms_W.const_data_ptr<float>()[i]);
    for (std::size_t at = 0; at < all.size(); at += RankGroup::kMostValues)
        FURROW_TRY(group_->exchange(
            RankGroup::Exchange::Norms, std::span(all).subspan(at, std::min(RankGroup::kMostValues, all.size() - at))));
    outcome.sampleNorms_W = torch::empty({ outcome.windows.size() });
    std::transform(all.begin(), all.end(), outcome.sampleNorms_W.mutable_data_ptr<float>(),
        [](std::int64_t bits) { return std::bit_cast<float>(static_cast<std::int32_t>(bits)); });
    return {};
}

/// Every rank adds the same numbers in the same order: all come to the same sum.
Status StepRunner::sumOnHost(StepOutcome& outcome)
{
    const auto ranks = static_cast<std::size_t>(group_->ranks());
    const std::size_t values = rules_.preference ? 3 : 1;
    std::vector<std::int64_t> each(ranks * values, 0);
    std::int64_t* own = each.data() + static_cast<std::size_t>(group_->rank()) * values;
    own[0] = std::bit_cast<std::int64_t>(outcome.lossSum);
    if (rules_.preference) {
        own[1] = std::bit_cast<std::int64_t>(outcome.marginSum);
        own[2] = outcome.preferred;
    }
    FURROW_TRY(group_->exchange(RankGroup::Exchange::Loss, each));
    outcome.lossSum = outcome.marginSum = 0;
    outcome.preferred = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        outcome.lossSum += std::bit_cast<double>(each[rank * values]);
        if (!rules_.preference)
            continue;
        outcome.marginSum += std::bit_cast<double>(each[rank * values + 1]);
        outcome.preferred += each[rank * values + 2];
    }
    return {};
}

Status StepRunner::runOnHost(const StepInput& step, StepOutcome outcome, bool measures, std::vector<StepOutcome>& known)
{
    const double began = secondsNow();
    double middle = began;
    do { // once, except where fp16 gradients overflow
        const auto pass = accumulateAll(step);
        outcome.losses_WT = pass.losses_WT.cpu(); // fp16 on a GPU waits here
        outcome.lossSum = outcome.losses_WT.sum(torch::kFloat64).item<double>();
        outcome.marginSum = pass.margins_P.sum(torch::kFloat64).item<double>();
        outcome.preferred = pass.margins_P.gt(0).sum().item<std::int64_t>();
        if (gradients_) {
            FURROW_TRY(gradients_->finish());
            FURROW_TRY(sumOnHost(outcome));
        }
        FURROW_TRY(gatherNorms(outcome, pass.norms_W));
        addNoise(step);
        middle = secondsNow();
        if (std::isfinite(outcome.lossSum))
            outcome.gradientNorm = learner_.apply(outcome.learningRate, rules_.clipNorm).item<double>();
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
    const auto pass = accumulateAll(step);
    const auto losses_WT = pass.losses_WT;
    const auto sums = sumsOf(pass);
    // A bad loss makes the norm bad, so that the optimizer leaves the step out without a look from the host. With
    // several ranks the piece that holds this element is summed last.
    if (auto* model = learner_.model())
        model->parameters().gradients().narrow(0, 0, 1).add_(sums.narrow(0, 0, 1) * 0);
    if (gradients_) {
        FURROW_TRY(gradients_->finish());
        group_->beginSum(sums);
        FURROW_TRY(group_->finishSums());
    }
    FURROW_TRY(gatherNorms(outcome, pass.norms_W)); // where windows are clipped the host waits here anyway
    addNoise(step);
    const double middle = secondsNow();
    const auto norm = learner_.apply(outcome.learningRate, rules_.clipNorm);
    auto pending = std::make_unique<Pending>();
    outcome.backwardSeconds = middle - began; // time of launching; the device's own time shows in the waiting below
    outcome.optimizerSeconds = secondsNow() - middle;
    pending->outcome = outcome;
    pending->outcome.losses_WT
        = torch::empty(losses_WT.sizes(), torch::TensorOptions().pinned_memory(true)).copy_(losses_WT, true);
    pending->values
        = torch::empty({ 2 + sums.size(0) }, torch::TensorOptions().dtype(torch::kFloat32).pinned_memory(true));
    auto* model = learner_.model();
    const auto weights = model && measures ? flatNorm(model->parameters().weights()) : torch::zeros_like(norm);
    pending->values.copy_(
        torch::cat({ norm.reshape({ 1 }).to(torch::kFloat32), weights.reshape({ 1 }).to(torch::kFloat32), sums }),
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
