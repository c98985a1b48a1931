#pragma once

#include "core/base/result.h"
#include "core/train/loop/batch_torch.h"
#include "core/train/loop/merge_torch.h"
#include "core/train/model/model_torch.h"
#include "core/train/optim/optimizer_torch.h"

#include <functional>
#include <memory>
#include <string>

namespace furrow {

/// What learns: the loop's view of weights. The second implementation beside the model is the counting one, whose weights say
/// exactly which windows were trained how often. Functions may throw c10::Error. Not thread-safe.
class Learner {
public:
    virtual ~Learner() = default;

    /// Adds the gradients of one micro-batch, scaled by 1 / labels of the whole accumulated batch.
    /// @return loss sum in nats over its labels, float32 scalar on the device. Does not synchronise.
    virtual at::Tensor accumulate(const Batch& batch, double gradientScale) = 0;
    /// One optimiser step; changes nothing when the norm is NaN or Inf.
    /// @return gradient norm before clipping, float32 scalar on the device. Does not synchronise.
    virtual at::Tensor apply(double learningRate, double clipNorm) = 0;
    /// Forgets accumulated gradients (a step that is left out).
    virtual void discard() = 0;

    virtual NamedTensors weights() const = 0; ///< views
    virtual NamedTensors optimizerState() const = 0; ///< views
    virtual Status loadWeights(const NamedTensors& weights) = 0;
    virtual Status loadOptimizer(const NamedTensors& state) = 0;
    virtual Result<Merged> merge(const NamedTensors& base, const std::vector<MergeMember>& members, const std::string& method, const NamedTensors& momentum, double outerLr,
        double outerMomentum) const
        = 0;

    /// Null for the counting one: then there is nothing to evaluate or to sample.
    virtual Model* model() = 0;
    virtual std::string name() const = 0; ///< "model" or "counting", stored in checkpoints
    virtual std::string backendName() const = 0;
    virtual c10::Device device() const = 0;
};

Result<std::unique_ptr<Learner>> createModelLearner(const ModelConfig& config, const ModelOptions& options, const OptimizerConfig& optimizer);
std::unique_ptr<Learner> createCountingLearner();

} // namespace furrow
