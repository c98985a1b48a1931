#pragma once

#include "core/collective/gradient_sum_torch.h"
#include "core/train/loop/learner_torch.h"

#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace furrow {

/// What one optimiser step works on. With several ranks: all of them have the same windows and labels, and their own
/// batches.
struct StepInput {
    std::vector<Batch> batches; ///< may be empty: a step with fewer windows than ranks
    WindowRange windows; ///< of the step
    std::int64_t labels = 0; ///< in these windows, learnt or not
    std::int64_t learnt = 0; ///< of these, what the loss counts; or pairs of answers
    std::uint64_t noiseSeed = 0; ///< the same on all ranks
};
/// What is done with the gradients of a step.
struct StepRules {
    double clipNorm = 0; ///< of the whole gradient; 0: not clipped
    double sampleClip = 0; ///< of the gradient of each window alone; 0: not clipped, and no noise
    double noise = 0; ///< deviation of the noise in the sum over windows, as a multiple of sampleClip
    std::optional<PreferenceRule> preference {}; ///< nothing: the next token is learnt
};
/// Nothing where the objective is another one.
std::optional<PreferenceRule> preferenceRule(const RunConfig& config);
StepRules stepRules(const RunConfig& config);
/// The step of one worker alone.
StepInput stepOf(std::vector<Batch> batches);
/// The next step on a range of a chunk: `most` windows, but what is more than one step and less than two is halved. A
/// nearly empty last step would count as much as a full one. What the steps before were does not matter, so a range
/// that was left in the middle goes on as it would have.
WindowRange nextStep(WindowRange left, std::int64_t most);
/// The windows of one rank in a step: runs that lie side by side and differ by one window at most, so a short step has
/// no window twice.
WindowRange shareOf(WindowRange step, int rank, int ranks);
/// One rank's part of a step on `windows` of a claimed chunk.
StepInput makeStep(
    const BatchMaker& batches, const ChunkWindows& chunk, const Claim& claim, WindowRange windows, int rank, int ranks);

/// What one optimiser step gave. Loss and norm over the whole accumulated batch, of all ranks where there are several.
struct StepOutcome {
    WindowRange windows;
    std::int64_t tokens = 0; ///< real labels, learnt or not
    std::int64_t ownTokens = 0; ///< of them in this worker's batches
    std::int64_t learnt = 0; ///< of `tokens`, what the loss counts; or pairs of answers
    double lossSum = 0; ///< nats, over `learnt`
    WindowRange ownWindows; ///< of them in this worker's batches
    at::Tensor losses_WT; ///< nats of each label in these, 0 where masked; float32 on the host
    double marginSum = 0; ///< over `learnt` pairs of answers
    std::int64_t preferred = 0; ///< of these pairs: the chosen answer gained more than the rejected one
    double gradientNorm = 0; ///< before clipping, with noise where there is some
    at::Tensor sampleNorms_W; ///< of each window of the step, of all ranks, before clipping; float32 on the host;
                              ///< undefined where windows are not clipped
    double parameterNorm = 0; ///< after the step; 0: not measured at this one
    double learningRate = 0;
    bool bad = false; ///< NaN or Inf: the step was left out, nothing changed
    double backwardSeconds = 0; ///< forward and backward
    double optimizerSeconds = 0;

    /// Nats a learnt label, or a pair; 0 where none is.
    double meanLoss() const { return learnt > 0 ? lossSum / static_cast<double>(learnt) : 0; }
};

/// Optimiser steps of one learner. On the CPU each outcome is known at once; on CUDA it is read back one step later, so
/// that the host never waits for the device inside a step; only fp16 waits, for a step that overflowed must be
/// repeated. Not thread-safe.
class StepRunner {
public:
    /// @param group  the ranks that make each step together; null: this worker alone
    StepRunner(Learner& learner, const StepRules& rules, RankGroup* group = nullptr);
    StepRunner(Learner& learner, double clipNorm)
        : StepRunner(learner, StepRules { clipNorm })
    {
    }
    ~StepRunner();

    /// Runs one step and appends outcomes that are known now (this one, or the one before). Fails only with a group:
    /// the error names the rank that is missing, and nothing has changed.
    Status run(const StepInput& step, double learningRate, std::vector<StepOutcome>& known);
    /// Waits for what is still on the device.
    void flush(std::vector<StepOutcome>& known);

private:
    struct Pending;
    Status runOnHost(const StepInput& step, StepOutcome outcome, bool measures, std::vector<StepOutcome>& known);
    Status runOnDevice(const StepInput& step, StepOutcome outcome, bool measures, std::vector<StepOutcome>& known);
    /// What this worker's batches gave.
    struct Pass {
        at::Tensor losses_WT;
        at::Tensor norms_W; ///< empty where windows are not clipped
        at::Tensor margins_P; ///< empty where no pairs are compared
    };
    Pass accumulateAll(const StepInput& step);
    at::Tensor sumsOf(const Pass& pass) const;
    Status sumOnHost(StepOutcome& outcome);
    Status gatherNorms(StepOutcome& outcome, const at::Tensor& own_W);
    void addNoise(const StepInput& step);

    Learner& learner_;
    const StepRules rules_;
    RankGroup* group_;
    std::unique_ptr<GradientSum> gradients_; ///< null without a group
    std::int64_t stepsRun_ = 0;
    std::deque<std::unique_ptr<Pending>> pending_;
};

} // namespace furrow
