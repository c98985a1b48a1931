#pragma once

#include "core/train/model/layers_torch.h"
#include "core/train/model/model_torch.h"
#include "core/train/model/per_sample_torch.h"

#include <functional>

namespace furrow {

/// Names and shapes of a GPT's parameters, in saving order.
std::vector<ParameterShape> gptParameters(const ModelConfig& config);
/// With LoRA (arXiv:2106.09685): "lora.<layer>.a" (rank, in) and "lora.<layer>.b" (out, rank) of each linear layer of
/// the blocks. They are the parameters then, and what gptParameters() lists are buffers.
std::vector<ParameterShape> loraParameters(const ModelConfig& config);

/// Mixture of experts as in Mixtral: each token goes to its `moe_active` best experts, whatever the others choose. What
/// a token gets does not depend on those after it or beside it in the batch. Waits for a GPU once a layer.
struct ExpertWeights {
    at::Tensor router_ED;
    at::Tensor up_EUD;
    at::Tensor down_EDF;
    at::Tensor sharedUp_UD; ///< of the expert that each token visits; undefined without
    at::Tensor sharedDown_DF;
    at::Tensor sharedRouter_1D;
};
/// How a layer's router spread the tokens.
struct RouterUse {
    at::Tensor visits_E; ///< share of all visits
    at::Tensor probabilities_E; ///< mean
};
/// @param use  may be null
at::Tensor mixtureOfExperts(const at::Tensor& x_BTD, const ExpertWeights& weights, const ModelConfig& config,
    Precision precision, RouterUse* use);
/// The load-balance loss, float32 scalar: of Switch Transformers (arXiv:2101.03961, eq. 4), summed over the layers; or
/// as transformers takes it, once over all layers, a visit counted whole.
at::Tensor balanceLoss(const std::vector<RouterUse>& uses, const ModelConfig& config);

/// Rows of learned positions behind the training window: never trained, saved with the weights.
inline constexpr const char* kUntrainedPositions = "positions.rest";

/// A decoder of any parts that ModelConfig has, in libtorch's own operators. Runs on every device and is what the fast
/// CPU step is compared with.
class GptModel : public Model {
public:
    /// @param config  valid
    GptModel(const ModelConfig& config, const ModelOptions& options);

    bool finishesGradientsInOrder() const override { return true; }
    bool canBeCaptured() const override { return config_.moeExperts == 0 && !options_.checkpointActivations; }
    at::Tensor forwardBackward(const at::Tensor& inputs_BT, const at::Tensor& labels_BT, double gradientScale,
        const at::Tensor& places_BT = {}) override;
    /// Experts see tokens of other samples, and recomputed blocks keep nothing: with them it cannot.
    bool clipsPerSample() const override { return config_.moeExperts == 0 && !options_.checkpointActivations; }
    ClippedPass clippedBackward(const at::Tensor& inputs_BT, const at::Tensor& labels_BT, double gradientScale,
        double clipNorm, const at::Tensor& places_BT = {}) override;
    bool comparesWithStart() const override { return config_.loraRank > 0; }
    PairPass pairBackward(const PairRows& rows, const PreferenceRule& rule, double gradientScale) override;
    PairPass pairPass(const PairRows& rows, const PreferenceRule& rule) override;
    LossSum lossSum(
        const at::Tensor& inputs_BT, const at::Tensor& labels_BT, const at::Tensor& places_BT = {}) override;
    at::Tensor logits(const at::Tensor& inputs_BT, const at::Tensor& places_BT = {}) override;
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
        std::int64_t layer = 0;
        Weights before1, after1, before2, after2; ///< norms; undefined where the shape has none there
        Weights qkv, queryNorm, keyNorm, attentionOut, up, down;
        ExpertWeights experts; ///< undefined without experts
    };
    struct LayerCache;
    class Cache;
    /// Of a pass over rows that hold several documents.
    struct Documents {
        at::Tensor places_BT; ///< undefined: each row is one
        at::Tensor mask_B1TT; ///< added to scores in the compute type; with soft caps true where a query may look
        at::Tensor localMask_B1TT; ///< of layers with a sliding window; undefined where that is no shorter than a row
    };

    void initialise();
    void bind();
    at::Tensor tensor(const std::string& name) const; ///< must exist
    at::Tensor find(const std::string& name) const; ///< undefined where the shape has none
    at::Tensor dense(const at::Tensor& x, const Weights& weights) const;
    at::Tensor product(const at::Tensor& x, const at::Tensor& weight_OI, const at::Tensor& bias_O) const;
    /// A vector that all tokens share, or a copy of it for each sample, to be combined with x.
    at::Tensor shared(const at::Tensor& vector_D, const at::Tensor& x) const;
    at::Tensor lookUp(const at::Tensor& table_VD, const at::Tensor& ids_BT) const;
    Documents documentsOf(const at::Tensor& places_BT) const;
    void bindExperts(const std::string& name, Block& block) const;
    /// x where the shape has no such norm.
    at::Tensor norm(const at::Tensor& x, const Weights& weights) const;
    at::Tensor embed(const at::Tensor& inputs_BT, std::int64_t start) const;
    at::Tensor attention(const at::Tensor& x_BTD, const Block& block, LayerCache* cache) const;
    at::Tensor mixed(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, std::int64_t layer) const;
    at::Tensor feedForward(const at::Tensor& x_BTD, const Block& block, RouterUse* use) const;
    at::Tensor runBlock(const at::Tensor& x_BTD, const Block& block, LayerCache* cache, RouterUse* use) const;
    /// @param uses  of each layer with experts; may be null
    at::Tensor hidden(const at::Tensor& inputs_BT, std::vector<RouterUse>* uses);
    at::Tensor headLogits(const at::Tensor& x) const;
    at::Tensor dropped(const at::Tensor& x) const;
    HeadLoss headLoss(double gradientScale) const;
    /// Of the documents at hand by what the model was before it was trained, in nats.
    at::Tensor referenceLosses(const at::Tensor& inputs_BT, const at::Tensor& labels_N);

    // set in the constructor, then constant
    at::Tensor embedding_;
    at::Tensor positions_;
    at::Tensor untrainedPositions_; ///< undefined where the window is the context
    Weights lastNorm_;
    at::Tensor head_;
    std::vector<Block> blocks_;
    RotaryTable rotary_;
    RotaryTable localRotary_; ///< of layers with a sliding window, where they have a base of their own
    std::vector<std::function<at::Tensor(const at::Tensor&)>> blockFunctions_; // for recomputing

    // of the pass at hand
    bool training_ = false; // dropout is on
    bool isReference_ = false; // without the pairs of LoRA
    Documents documents_;
    PerSamplePass* perSample_ = nullptr; // gradients are wanted sample by sample
};

} // namespace furrow
