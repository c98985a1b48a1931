#pragma once

#include "core/base/result.h"
#include "core/config/choices.h"
#include "core/train/model/parameters_torch.h"

#include <memory>
#include <string>

namespace furrow {

/// As the setting `optimizer` names them.

struct OptimizerConfig {
    OptimizerKind kind = OptimizerKind::AdamW;
    double beta1 = 0.9;
    double beta2 = 0.99;
    double epsilon = 1e-8;
    double weightDecay = 0.1; ///< decoupled, on matrices only
    double momentum = 0.9; ///< sgd only
    int threads = 1; ///< CPU threads
};

/// Changes the weights of one ParameterStore from its gradients. The store must outlive it. Not thread-safe.
/// Call Model::weightsChanged() after step().
class Optimizer {
public:
    virtual ~Optimizer() = default;

    /// One update with gradients as they stand (already means per token), clipped to the global norm clipNorm
    /// (0: not clipped). When the norm is NaN or Inf nothing changes and the step is not counted.
    /// gradientScale: what the gradients were multiplied by beyond that (fp16 loss scale); they are divided by it
    /// first.
    /// @return the gradient norm before clipping, float32 scalar on the device. Does not synchronise.
    virtual at::Tensor step(double learningRate, double clipNorm, double gradientScale = 1.0) = 0;

    /// Updates that were applied; on CUDA this synchronises.
    virtual std::int64_t appliedSteps() const = 0;

    /// "step" and one tensor per parameter and moment ("exp_avg.<name>", "exp_avg_sq.<name>"; quantised ones flat).
    /// Views, not copies.
    virtual NamedTensors state() const = 0;
    /// Corrupt names the first tensor that is missing, extra or of another shape; then nothing has been changed.
    virtual Status loadState(const NamedTensors& state) = 0;

    /// Forgets the moments (after a merge, when asked for).
    virtual void reset() = 0;
};

std::unique_ptr<Optimizer> createOptimizer(ParameterStore& store, const OptimizerConfig& config);

/// Names of averaged weights begin with it.
inline constexpr const char* kAveragePrefix = "ema.";

/// Exponential moving average of the weights, part of the replica: a merge averages it like weights.
class WeightAverage {
public:
    WeightAverage(const ParameterStore& store, double decay);
    /// average += (1 - decay) * (weights - average)
    /// @param norm  what Optimizer::step gave: NaN or Inf leave the average as it is; undefined: always update
    void update(const ParameterStore& store, const at::Tensor& norm = {});
    /// Exchanges weights and average (evaluate with the average, then swap back); call Model::weightsChanged() after.
    void swap(ParameterStore& store);
    NamedTensors state(const ParameterStore& store) const; ///< kAveragePrefix + name
    Status loadState(const ParameterStore& store, const NamedTensors& state);

private:
    at::Tensor average_; // flat, like ParameterStore::weights
    double decay_;
};

/// Global 2-norm of a flat tensor as float32 scalar on its device.
at::Tensor flatNorm(const at::Tensor& flat);

} // namespace furrow
