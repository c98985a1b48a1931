#pragma once

#include "core/train/cpu/thread_pool.h"
#include "core/train/optim/optimizer_torch.h"

namespace furrow {

/// Copies saved tensors over ours, or names the first that does not fit and changes nothing.
Status copyState(const NamedTensors& ours, const NamedTensors& saved);

/// What one step needs of the gradient norm, all on the device.
struct StepScale {
    at::Tensor norm; ///< before clipping, float32 scalar
    at::Tensor finite; ///< bool scalar
    at::Tensor factor; ///< gradients are multiplied by this
};
StepScale stepScale(const at::Tensor& gradients, double clipNorm, double gradientScale);

/// How many weights an optimizer made of several operators takes at a time: its temporaries stay small beside them, 4
/// MB each on a CPU, 16 MB on a GPU, where a launch costs more.
std::int64_t stepPiece(const at::Tensor& weights);

/// Shared by all optimizers that keep flat moments beside the flat weights.
class FlatOptimizer : public Optimizer {
public:
    std::int64_t appliedSteps() const override;
    NamedTensors state() const override;
    Status loadState(const NamedTensors& state) override;
    void reset() override;

protected:
    struct Range {
        std::int64_t offset;
        std::int64_t count;
        double weightDecay;
    };
    FlatOptimizer(ParameterStore& store, const OptimizerConfig& config, const std::vector<std::string>& moments);
    /// The decayed and the other parameters, in pieces.
    std::vector<Range> ranges(std::int64_t longest) const;

    ParameterStore& store_;
    OptimizerConfig config_;
    at::Tensor step_; // float32 scalar on the device
    std::vector<std::pair<std::string, at::Tensor>> moments_;
};

/// Decoupled weight decay: Loshchilov & Hutter 2019 (arXiv:1711.05101). One fused kernel per range.
class AdamW : public FlatOptimizer {
public:
    AdamW(ParameterStore& store, const OptimizerConfig& config);
    at::Tensor step(double learningRate, double clipNorm, double gradientScale) override;

private:
    at::Tensor stepFused(double learningRate, double clipNorm, double gradientScale);
    at::Tensor stepOnCpu(double learningRate, double clipNorm, double gradientScale);

    std::shared_ptr<cpu::ThreadPool> pool_; // set where the CPU kernels are used
};

/// Adam with atan2 in place of the division, so there is no epsilon: Everett et al. 2024 (arXiv:2407.05872).
class AdamATan2 : public FlatOptimizer {
public:
    AdamATan2(ParameterStore& store, const OptimizerConfig& config);
    at::Tensor step(double learningRate, double clipNorm, double gradientScale) override;
};

/// Momentum without dampening, decoupled weight decay.
class Sgd : public FlatOptimizer {
public:
    Sgd(ParameterStore& store, const OptimizerConfig& config);
    at::Tensor step(double learningRate, double clipNorm, double gradientScale) override;
};

/// AdamW whose first moment and root of the second are 8-bit codes of a dynamic map with one float32 scale for each 256
/// numbers: after Dettmers et al. 2022 (arXiv:2110.02861), who store the second moment itself.
class AdamW8Bit : public Optimizer {
public:
    AdamW8Bit(ParameterStore& store, const OptimizerConfig& config);
    at::Tensor step(double learningRate, double clipNorm, double gradientScale) override;
    std::int64_t appliedSteps() const override;
    NamedTensors state() const override;
    Status loadState(const NamedTensors& state) override;
    void reset() override;

private:
    struct Quantised {
        at::Tensor codes; // uint8, one per parameter, padded to whole blocks
        at::Tensor scales; // float32, one per block
    };
    void updatePiece(std::int64_t offset, std::int64_t count, const StepScale& scale, double learningRate);

    ParameterStore& store_;
    OptimizerConfig config_;
    at::Tensor step_;
    at::Tensor signedMap_; // 256 sorted values in [-1, 1]
    at::Tensor unsignedMap_; // 256 sorted values in [0, 1]
    Quantised mean_;
    Quantised root_; // of the second moment
};

} // namespace furrow
