// torch: whether the libtorch that this process found computes what it should. A libtorch of another version may have
// every symbol and still lay its types out otherwise than the headers we were compiled with: then numbers are wrong.

#include "core/train/tasks/tasks_torch.h"

#include "core/base/sentence.h"
#include "core/train/model/model_torch.h"

#include <torch/torch.h>
#include <torch/version.h>

#include <cmath>

namespace furrow {

namespace {

constexpr double kStep = 0.02; // of the weights, along their gradient
constexpr double kMostError = 0.02; // of the slope: third derivatives and single precision

ModelConfig tinyModel()
{
    ModelConfig config;
    config.layers = 1;
    config.width = 32;
    config.vocabularySize = 29;
    config.contextLength = 16;
    return config;
}

/// How far the loss falls along the gradient, divided by what the gradient promises: 1.
Result<double> slopeRatio(const ModelOptions& options)
{
    FURROW_TRY_ASSIGN(const auto model, createModel(tinyModel(), options));
    const auto tokens = torch::arange(4 * 17, torch::kInt64).mul(7).remainder(29).view({ 4, 17 });
    const auto inputs = tokens.slice(1, 0, 16).contiguous();
    const auto labels = tokens.slice(1, 1, 17).contiguous();
    model->parameters().zeroGradients();
    model->forwardBackward(inputs, labels, 1.0 / 64);
    const auto gradient = model->parameters().gradients().clone();
    const double slope = gradient.norm().item<double>();
    const auto lossAt = [&](double step) {
        const torch::NoGradGuard noGradient;
        model->parameters().weights().add_(gradient, step / slope);
        model->weightsChanged();
        const double loss = model->lossSum(inputs, labels).sum.item<double>() / 64;
        model->parameters().weights().sub_(gradient, step / slope);
        return loss;
    };
    return (lossAt(kStep) - lossAt(-kStep)) / (2 * kStep * slope);
}

} // namespace

Result<nlohmann::json> torchTask()
{
    nlohmann::json checked = { { "built_with", TORCH_VERSION } };
    for (const bool byHand : { false, true }) {
        ModelOptions options;
        options.fastCpu = byHand;
        FURROW_TRY_ASSIGN(const double ratio, slopeRatio(options));
        if (!(std::abs(ratio - 1) < kMostError)) // also when it is no number
            return Error { ErrorCode::Internal,
                sentence("it computes wrong gradients: %1 where 1 is right", { std::to_string(ratio) }) };
        checked[byHand ? "fast" : "operators"] = ratio;
    }
    return checked;
}

} // namespace furrow
