#pragma once

#include "core/train/cpu/gpt_step.h"
#include "core/train/model/gpt_torch.h"

namespace furrow {

/// The GPT family on CPUs with AVX2 or AVX-512, without experts, in float32 or bfloat16: training and evaluation go
/// through cpu::GptStep, everything else through libtorch.
class FastGptModel : public GptModel {
public:
    /// True when this configuration, device and processor can use it.
    static bool fits(const ModelConfig& config, const ModelOptions& options);

    FastGptModel(const ModelConfig& config, const ModelOptions& options);

    bool finishesGradientsInOrder() const override { return false; } // its own step adds them at the end
    at::Tensor forwardBackward(const at::Tensor& inputs_BT, const at::Tensor& labels_BT, double gradientScale,
        const at::Tensor& places_BT = {}) override;
    /// On libtorch's operators: the step by hand does not tell what came back to each weight.
    ClippedPass clippedBackward(const at::Tensor& inputs_BT, const at::Tensor& labels_BT, double gradientScale,
        double clipNorm, const at::Tensor& places_BT = {}) override;
    LossSum lossSum(
        const at::Tensor& inputs_BT, const at::Tensor& labels_BT, const at::Tensor& places_BT = {}) override;
    void weightsChanged() override { stale_ = true; }
    void reseed(std::uint64_t seed) override;
    std::string backendName() const override;

private:
    at::Tensor run(const at::Tensor& inputs_BT, const at::Tensor& labels_BT, const at::Tensor& places_BT,
        float* gradients, double gradientScale);

    cpu::GptStep step_;
    bool stale_ = true; // packed weights are older than the weights
    std::uint64_t dropoutSeed_ = 0;
    std::uint64_t passes_ = 0; // since that seed; each drops other values
};

} // namespace furrow
