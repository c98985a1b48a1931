// What LoRA changes in a GPT: pairs of small matrices beside frozen weights.

#include "core/base/check.h"
#include "core/train/model/gpt_torch.h"

#include <torch/torch.h>

namespace furrow {

std::vector<ParameterShape> loraParameters(const ModelConfig& config)
{
    std::vector<ParameterShape> shapes;
    for (const ParameterShape& full : gptParameters(config)) {
        if (!full.name.starts_with("blocks.") || full.shape.size() != 2)
            continue;
        const std::string layer = "lora." + full.name.substr(0, full.name.rfind('.'));
        shapes.push_back({ layer + ".a", { config.loraRank, full.shape[1] }, true });
        shapes.push_back({ layer + ".b", { full.shape[0], config.loraRank }, true });
    }
    return shapes;
}

bool isLoraPair(const std::string& name) { return name.starts_with("lora."); }

/// A weight by its full name, whether it is trained or not.
at::Tensor GptModel::find(const std::string& name) const
{
    for (const NamedTensors* all : { &buffers_, &parameters_.tensors() })
        for (const auto& [own, found] : *all)
            if (own == name)
                return found;
    return {};
}

at::Tensor GptModel::tensor(const std::string& name) const
{
    at::Tensor found = find(name);
    FURROW_CHECK(found.defined(), "a weight was asked for that the model does not have");
    return found;
}

/// x W^T + b, and with LoRA + scale (x A^T) B^T.
at::Tensor GptModel::dense(const at::Tensor& x, const Weights& weights) const
{
    const at::Tensor y = product(x, weights.weight, weights.bias);
    if (!weights.loraA_RI.defined())
        return y;
    return y + product(product(x, weights.loraA_RI, {}), weights.loraB_OR, {}) * config_.loraScale();
}

NamedTensors GptModel::fullState() const
{
    const at::NoGradGuard guard;
    NamedTensors state;
    for (const auto& [name, own] : modelState(*this)) {
        if (isLoraPair(name) || name == kUntrainedPositions)
            continue;
        const std::string layer = "lora." + name.substr(0, name.rfind('.'));
        at::Tensor whole = own;
        if (config_.loraRank > 0 && name.starts_with("blocks.") && own.dim() == 2)
            whole = own + at::mm(parameters_.at(layer + ".b"), parameters_.at(layer + ".a")) * config_.loraScale();
        if (name == "positions.weight" && untrainedPositions_.defined())
            whole = at::cat({ own.detach(), untrainedPositions_ });
        state.emplace_back(name, whole);
    }
    return state;
}

} // namespace furrow
