#pragma once

#include "core/train/model/layers_torch.h"
#include "core/train/model/model_torch.h"

#include <functional>

namespace furrow {

/// Names and shapes of a GPT's parameters, in saving order.
std::vector<ParameterShape> gptParameters(const ModelConfig& config);
/// With LoRA (arXiv:2106.09685): "lora.<layer>.a" (rank, in) and "lora.<layer>.b" (out, rank) of each linear layer of
/// the blocks. They are the parameters then, and what gptParameters() lists are buffers.
std::vector<ParameterShape> loraParameters(const ModelConfig& config);

/// GPT family in libtorch's own operators: learned or rotary positions, LayerNorm or RMSNorm, GELU or SwiGLU,
/// grouped-query attention, mixture of experts. Runs on every device and is what the fast CPU step is compared with.
class GptModel : public Model {
public:
    /// @param config  valid
    GptModel(const ModelConfig& config, const ModelOptions& options);

    bool finishesGradientsInOrder() const override { return true; }
    bool canBeCaptured() const override { return config_.moeExperts == 0 && !options_.checkpointActivations; }
    at::Tensor forwardBackward(const at::Tensor& inputs_BT, const at::Tensor& labels_BT, double gradientScale) override;
    LossSum lossSum(const at::Tensor& inputs_BT, const at::Tensor& labels_BT) override;
    at::Tensor logits(const at::Tensor& inputs_BT) override;
    std::unique_ptr<KeyValueCache> newCache(std::int64_t batch, std::int64_t capacity) override;
    at::Tensor nextLogits(const at::Tensor& tokens_BT, KeyValueCache& cache) override;
    NamedTensors fullState() const override;
    std::string backendName() const override;

private:
    struct Weights {
        at::Tensor weight;
        at::Tensor bias;
        at::Tensor loraA_RI; ///< undefined without LoRA
        at::Tensor loraB_OR;
    };
    struct Block {
        Weights norm1, qkv, attentionOut, norm2, up, down;
        at::Tensor router; ///< undefined without experts
    };
    struct LayerCache;
    class Cache;

    void initialise();
    void bind();
    at::Tensor tensor(const std::string& name) const;
    at::Tensor dense(const at::Tensor& x, const Weights& weights) const;
    at::Tensor norm(const at::Tensor& x, const Weights& weights) const;
    at::Tensor embed(const at::Tensor& inputs_BT, std::int64_t start) const;
    at::Tensor attention(const at::Tensor& x_BTD, const Block& block, LayerCache* cache) const;
    at::Tensor feedForward(const at::Tensor& x_BTD, const Block& block, at::Tensor* balanceLoss) const;
    at::Tensor runBlock(const at::Tensor& x_BTD, const Block& block, LayerCache* cache, at::Tensor* balanceLoss) const;
    at::Tensor hidden(const at::Tensor& inputs_BT, at::Tensor* balanceLoss);
    at::Tensor dropped(const at::Tensor& x) const;
    const LogitParts& logitParts() const;

    // set in the constructor, then constant
    at::Tensor embedding_;
    at::Tensor positions_;
    Weights lastNorm_;
    at::Tensor head_;
    std::vector<Block> blocks_;
    RotaryTable rotary_;
    std::vector<std::function<at::Tensor(const at::Tensor&)>> blockFunctions_; // for recomputing

    bool training_ = false; // dropout is on
};

/// Mixture of experts as in Mixtral: each token goes to its `moe_active` best experts, whatever the others choose. What
/// a token gets does not depend on those after it or beside it in the batch. Waits for a GPU once a layer.
struct ExpertWeights {
    at::Tensor router_ED;
    at::Tensor up_EUD;
    at::Tensor down_EDF;
};
/// @param balanceLoss  set to the load-balance loss of Switch Transformers (arXiv:2101.03961, eq. 4), float32 scalar;
/// may be null
at::Tensor mixtureOfExperts(const at::Tensor& x_BTD, const ExpertWeights& weights, const ModelConfig& config,
    Precision precision, at::Tensor* balanceLoss);

} // namespace furrow
