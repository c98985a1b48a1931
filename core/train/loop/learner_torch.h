#pragma once

#include "core/base/result.h"
#include "core/train/loop/batch_torch.h"
#include "core/train/merge/merge_torch.h"
#include "core/train/model/model_torch.h"
#include "core/train/optim/optimizer_torch.h"

#include <functional>
#include <memory>
#include <string>

namespace furrow {

/// What learns: the loop's view of weights. The second implementation beside the model is the counting one, whose
/// weights say exactly which windows were trained how often. Functions may throw c10::Error. Not thread-safe.
class Learner {
public:
    virtual ~Learner() = default;

    /// Adds the gradients of one micro-batch, scaled by 1 / labels of the whole accumulated batch.
    /// @return loss of each label in nats, 0 where masked: float32 (B,T) on the device. Does not synchronise.
    virtual at::Tensor accumulate(const Batch& batch, double gradientScale) = 0;
    /// The same where each window's part is bounded (Model::clippedBackward), `scale` 1 / windows of the whole
    /// accumulated batch. What counts instead of learning has no gradient to bound: its norms are 0.
    virtual Model::ClippedPass accumulateClipped(const Batch& batch, double scale, double clipNorm);
    /// The same of a micro-batch of pairs of answers (Model::pairBackward), `scale` 1 / pairs of the whole accumulated
    /// batch. What counts instead of learning compares nothing: its margins are 0.
    virtual Model::PairPass accumulatePairs(const Batch& batch, const PreferenceRule& rule, double scale);
    /// Adds normal noise to what has been accumulated; the same on every rank.
    virtual void addNoise(double deviation, std::uint64_t seed);
    /// One optimiser step; changes nothing when the norm is NaN or Inf.
    /// @return gradient norm before clipping, float32 scalar on the device. Does not synchronise.
    virtual at::Tensor apply(double learningRate, double clipNorm) = 0;
    /// Forgets accumulated gradients (a step that is left out).
    virtual void discard() = 0;
    /// What has been accumulated, flat, float32: a view of the same storage at every call. The ranks of a group sum it
    /// before apply().
    virtual at::Tensor gradients() = 0;
    /// fp16: the loss is scaled, so that a step whose gradients overflowed must be tried again with a lower scale.
    virtual bool scalesLoss() const { return false; }
    /// @return whether the scale was lowered; false: it cannot be, the numbers themselves are bad
    virtual bool lowerLossScale() { return false; }

    /// Exchanges the weights and their moving average; does nothing without one. See UseAverage.
    virtual void swapAverage() { }

    virtual NamedTensors weights() const
        = 0; ///< what training can change, and what it leaves alone but for frozenWeights(); views
    /// Weights that no step changes and that are kept once for a run, not in each checkpoint. Views; empty where
    /// everything is trained.
    virtual NamedTensors frozenWeights() const { return {}; }
    virtual NamedTensors optimizerState() const = 0; ///< views
    /// What weights() gives, with all frozen weights or without any: then these stay.
    virtual Status loadWeights(const NamedTensors& weights) = 0;
    virtual Status loadOptimizer(const NamedTensors& state) = 0;
    virtual Result<Merged> merge(const NamedTensors& base, const std::vector<MergeMember>& members, MergeMethod method,
        const NamedTensors& momentum, double outerLr, double outerMomentum) const
        = 0;

    /// Null for the counting one: then there is nothing to evaluate or to sample.
    virtual Model* model() = 0;
    virtual std::string name() const = 0; ///< "model" or "counting", stored in checkpoints
    virtual std::string backendName() const = 0;
    virtual c10::Device device() const = 0;
};

/// The moving average of the weights (setting ema_decay) in place of the weights, for its lifetime.
class UseAverage {
public:
    explicit UseAverage(Learner& learner)
        : learner_(learner)
    {
        learner_.swapAverage();
    }
    ~UseAverage() { learner_.swapAverage(); }
    UseAverage(const UseAverage&) = delete;
    UseAverage& operator=(const UseAverage&) = delete;

private:
    Learner& learner_;
};

struct LearnerOptions {
    double emaDecay = 0; ///< 0: no moving average
    bool scalesLoss = false; ///< for fp16
    bool cudaGraph = false; ///< see MicroStep
};
Result<std::unique_ptr<Learner>> createModelLearner(const ModelConfig& config, const ModelOptions& options,
    const OptimizerConfig& optimizer, const LearnerOptions& more = {});
/// @param windowsPerStep  at most, of all ranks together
std::unique_ptr<Learner> createCountingLearner(int worker = 0, std::int64_t windowsPerStep = 4096);

} // namespace furrow
