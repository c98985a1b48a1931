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
    config.positions = Positions::Rotary;
    config.norm = NormKind::Rms;
    config.activation = Activation::Silu;
    config.gated = true;
    config.kvHeads = 2;
    config.normBias = config.qkvBias = config.outBias = config.mlpBias = config.tiedHead = false;
    return config;
}

/// Parts that neither of them has: norms on both sides and of queries, gains less 1, heads of their own width, windows
/// by the layer with positions of their own, soft caps, scales.
inline ModelConfig gemmaLike()
{
    ModelConfig config = llamaLike();
    config.headSize = 12;
    config.normPlace = NormPlace::Both;
    config.queryNorm = QueryNorm::Head;
    config.normPlusOne = true;
    config.activation = Activation::GeluTanh;
    config.slidingWindow = 5;
    config.isSliding = { true, false };
    config.rotary.scaling = RotaryScaling::Linear;
    config.rotary.factor = 4;
    config.rotary.localBase = 100;
    config.embeddingScale = 5;
    config.attentionScale = 0.3;
    config.attentionCap = 2;
    config.logitCap = 3;
    return config;
}

/// The rest: parallel residual, part of a head turned, a layer without positions, biases of some.
inline ModelConfig neoxLike()
{
    ModelConfig config = smallGpt();
    config.positions = Positions::Rotary;
    config.rotary.part = 0.5;
    config.isRotated = { true, false };
    config.activation = Activation::Gelu;
    config.parallelResidual = true;
    config.queryNorm = QueryNorm::All;
    config.outBias = config.tiedHead = false;
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
