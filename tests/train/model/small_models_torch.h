#pragma once

#include "core/train/model/model_torch.h"
#include "reference_vectors_torch.h"

#include <QtGlobal>

namespace furrow::test {

inline ModelConfig smallGpt()
{
    ModelConfig config;
    config.layers = 2;
    config.width = 32;
    config.vocabularySize = 29;
    config.contextLength = 16;
    return config;
}

inline ModelConfig llamaLike()
{
    ModelConfig config = smallGpt();
    config.positions = "rope";
    config.norm = "rmsnorm";
    config.activation = "swiglu";
    config.kvHeads = 2;
    config.bias = config.tiedHead = false;
    return config;
}

inline std::unique_ptr<Model> make(const ModelConfig& config, ModelOptions options = {})
{
    auto model = createModel(config, options);
    if (!model.ok())
        qFatal("%s", model.error().message.c_str());
    return std::move(model).value();
}

inline at::Tensor gradientsOf(Model& model, const Batch& batch)
{
    model.parameters().zeroGradients();
    model.forwardBackward(batch.inputs_BT, batch.labels_BT, 1.0 / static_cast<double>(countLabels(batch.labels_BT)));
    return model.parameters().gradients().clone();
}

} // namespace furrow::test
