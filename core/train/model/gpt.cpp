#include "core/base/check.h"
#include "core/train/model/for_this_pass.h"
#include "core/train/model/gpt_torch.h"

#include <torch/torch.h>

#include <cmath>
#include <limits>

// Letters in tensor names: B batch, T tokens, D width, n heads, d head width, V vocabulary, F feed-forward width.

namespace furrow {

struct GptModel::LayerCache {
    at::Tensor key_BkTd;
    at::Tensor value_BkTd;
    std::int64_t length = 0;
};

class GptModel::Cache : public KeyValueCache {
public:
    std::int64_t length() const override { return layers.front().length; }
    std::int64_t capacity() const override { return layers.front().key_BkTd.size(2); }
    std::vector<LayerCache> layers;
};

std::vector<ParameterShape> gptParameters(const ModelConfig& config)
{
    const std::int64_t d = config.width;
    const std::int64_t f = config.feedForwardWidth();
    const std::int64_t q = config.queryWidth();
    const std::int64_t kv = config.keyWidth();
    std::vector<ParameterShape> shapes;
    const auto matrix = [&](const std::string& name, std::vector<std::int64_t> shape) {
        shapes.push_back({ name + ".weight", std::move(shape), true });
    };
    const auto norm = [&](const std::string& name) {
        shapes.push_back({ name + ".weight", { d }, false });
        if (config.norm == NormKind::LayerNorm && config.normBias)
            shapes.push_back({ name + ".bias", { d }, false });
    };
    const auto dense = [&](const std::string& name, std::int64_t out, std::int64_t in, bool bias) {
        matrix(name, { out, in });
        if (bias)
            shapes.push_back({ name + ".bias", { out }, false });
    };
    matrix("embed", { config.vocabularySize, d });
    if (config.positions == Positions::Learned)
        matrix("positions", { config.trainingLength(), d });
    for (std::int64_t i = 0; i < config.layers; ++i) {
        const std::string block = "blocks." + std::to_string(i) + ".";
        if (config.normsBefore())
            norm(block + "norm1");
        dense(block + "attention.qkv", q + 2 * kv, d, config.qkvBias);
        if (config.queryNorm != QueryNorm::None) {
            const bool isWhole = config.queryNorm == QueryNorm::All;
            shapes.push_back({ block + "attention.q_norm.weight", { isWhole ? q : config.headWidth() }, false });
            shapes.push_back({ block + "attention.k_norm.weight", { isWhole ? kv : config.headWidth() }, false });
        }
        dense(block + "attention.out", d, q, config.outBias);
        if (config.normsAfter())
            norm(block + "norm1_after");
        if (config.normsBefore())
            norm(block + "norm2");
        if (config.moeExperts > 0) {
            matrix(block + "moe.router", { config.moeExperts, d });
            matrix(block + "moe.up", { config.moeExperts, config.upWidth(f), d });
            matrix(block + "moe.down", { config.moeExperts, d, f });
            if (const std::int64_t shared = config.moeSharedWidth; shared > 0) {
                matrix(block + "moe.shared_up", { config.upWidth(shared), d });
                matrix(block + "moe.shared_down", { d, shared });
                matrix(block + "moe.shared_router", { 1, d });
            }
        } else {
            dense(block + "mlp.up", config.upWidth(f), d, config.mlpBias);
            dense(block + "mlp.down", d, f, config.mlpBias);
        }
        if (config.normsAfter())
            norm(block + "norm2_after");
    }
    norm("norm");
    if (!config.tiedHead)
        matrix("head", { config.vocabularySize, d });
    return shapes;
}

GptModel::GptModel(const ModelConfig& config, const ModelOptions& options)
    : Model(config, options)
{
    const auto number = at::TensorOptions().dtype(at::kFloat).device(options.device);
    if (config.loraRank > 0) {
        parameters_ = ParameterStore(loraParameters(config), options.device);
        for (const ParameterShape& shape : gptParameters(config))
            buffers_.emplace_back(shape.name, at::zeros(shape.shape, number));
    } else {
        parameters_ = ParameterStore(gptParameters(config), options.device);
    }
    if (const std::int64_t rest = config.contextLength - config.trainingLength();
        config.positions == Positions::Learned && rest > 0) {
        untrainedPositions_ = at::zeros({ rest, config.width }, number);
        buffers_.emplace_back(kUntrainedPositions, untrainedPositions_);
    }
    if (config.positions == Positions::Rotary) {
        rotary_ = RotaryTable(config, false, options.device);
        localRotary_ = RotaryTable(config, true, options.device);
    }
    initialise();
    bind();
    Model::reseed(options.seed);
    for (std::size_t i = 0; i < blocks_.size(); ++i)
        blockFunctions_.push_back([this, i](const at::Tensor& x) { return runBlock(x, blocks_[i], nullptr, nullptr); });
}

/// As GPT-2: N(0, 0.02), projections onto the residual stream smaller by sqrt(2 layers), biases 0, gains 1.
void GptModel::initialise()
{
    constexpr double kDeviation = 0.02;
    const double residual = kDeviation / std::sqrt(2.0 * static_cast<double>(config_.layers));
    at::Generator generator = at::detail::createCPUGenerator(options_.seed);
    const at::NoGradGuard guard;
    const auto fill = [&](const std::string& name, const at::Tensor& tensor) {
        const bool isResidual = name.ends_with("attention.out.weight") || name.ends_with("down.weight");
        const double gain = config_.normPlusOne ? 0.0 : 1.0;
        if (name.ends_with(".a")) // LoRA: with b at 0 the model starts as it was
            fillNormal(tensor, 1.0 / std::sqrt(static_cast<double>(tensor.size(1))), generator);
        else if (tensor.dim() >= 2 && name.ends_with(".weight"))
            fillNormal(tensor, isResidual ? residual : kDeviation, generator);
        else if (name.ends_with(".weight"))
            tensor.detach().fill_(gain);
    };
    for (const auto& [name, tensor] : buffers_)
        fill(name, tensor);
    for (const auto& [name, tensor] : parameters_.tensors())
        fill(name, tensor);
}

void GptModel::bind()
{
    const auto normWeights
        = [&](const std::string& name) { return Weights { tensor(name + ".weight"), find(name + ".bias"), {}, {} }; };
    const auto weights = [&](const std::string& name) {
        Weights found = normWeights(name);
        if (config_.loraRank > 0) {
            found.loraA_RI = parameters_.at("lora." + name + ".a");
            found.loraB_OR = parameters_.at("lora." + name + ".b");
        }
        return found;
    };
    embedding_ = tensor("embed.weight");
    if (config_.positions == Positions::Learned)
        positions_ = tensor("positions.weight");
    for (std::int64_t i = 0; i < config_.layers; ++i) {
        const std::string name = "blocks." + std::to_string(i) + ".";
        Block block;
        block.layer = i;
        if (config_.normsBefore()) {
            block.before1 = normWeights(name + "norm1");
            block.before2 = normWeights(name + "norm2");
        }
        if (config_.normsAfter()) {
            block.after1 = normWeights(name + "norm1_after");
            block.after2 = normWeights(name + "norm2_after");
        }
        block.qkv = weights(name + "attention.qkv");
        if (config_.queryNorm != QueryNorm::None) {
            block.queryNorm = normWeights(name + "attention.q_norm");
            block.keyNorm = normWeights(name + "attention.k_norm");
        }
        block.attentionOut = weights(name + "attention.out");
        if (config_.moeExperts > 0) {
            bindExperts(name + "moe.", block);
        } else {
            block.up = weights(name + "mlp.up");
            block.down = weights(name + "mlp.down");
        }
        blocks_.push_back(block);
    }
    lastNorm_ = normWeights("norm");
    head_ = config_.tiedHead ? embedding_ : tensor("head.weight");
}

void GptModel::bindExperts(const std::string& name, Block& block) const
{
    block.experts.router_ED = parameters_.at(name + "router.weight");
    block.experts.up_EUD = parameters_.at(name + "up.weight");
    block.experts.down_EDF = parameters_.at(name + "down.weight");
    if (config_.moeSharedWidth == 0)
        return;
    block.experts.sharedUp_UD = parameters_.at(name + "shared_up.weight");
    block.experts.sharedDown_DF = parameters_.at(name + "shared_down.weight");
    block.experts.sharedRouter_1D = parameters_.at(name + "shared_router.weight");
}

at::Tensor GptModel::norm(const at::Tensor& x, const Weights& weights) const
{
    if (!weights.weight.defined())
        return x;
    const at::Tensor weight = shared(weights.weight, x);
    const at::Tensor gain = config_.normPlusOne ? weight + 1.0 : weight;
    if (config_.norm == NormKind::Rms)
        return rmsNorm(x, gain, config_.normEpsilon);
    if (gain.dim() == 1)
        return at::layer_norm(x.to(at::kFloat), gain.sizes(), gain, weights.bias, config_.normEpsilon);
    const at::Tensor normed
        = at::layer_norm(x.to(at::kFloat), weights.weight.sizes(), {}, {}, config_.normEpsilon) * gain;
    return weights.bias.defined() ? normed + shared(weights.bias, x) : normed;
}

at::Tensor GptModel::shared(const at::Tensor& vector_D, const at::Tensor& x) const
{
    return perSample_ && vector_D.requires_grad() ? perSample_->copies(vector_D, x.size(0), x.dim()) : vector_D;
}

/// x W^T + b; the bias may be undefined.
at::Tensor GptModel::product(const at::Tensor& x, const at::Tensor& weight_OI, const at::Tensor& bias_O) const
{
    if (!perSample_ || !weight_OI.requires_grad())
        return linear(x, weight_OI, bias_O, options_.precision);
    const at::Tensor y = perSample_->linear(x, weight_OI);
    return bias_O.defined() ? y + shared(bias_O, y).to(y.scalar_type()) : y;
}

at::Tensor GptModel::lookUp(const at::Tensor& table_VD, const at::Tensor& ids_BT) const
{
    return perSample_ && table_VD.requires_grad() ? perSample_->lookUp(table_VD, ids_BT)
                                                  : at::embedding(table_VD, ids_BT);
}

at::Tensor GptModel::dropped(const at::Tensor& x) const
{
    return training_ && config_.dropout > 0 ? at::dropout(x, config_.dropout, true) : x;
}

GptModel::Documents GptModel::documentsOf(const at::Tensor& places_BT) const
{
    if (!places_BT.defined())
        return {};
    Documents documents { places_BT.to(at::kLong), {}, {} };
    const std::int64_t tokens = places_BT.size(1);
    const std::int64_t window = config_.slidingWindow;
    const at::Tensor key_T = at::arange(tokens, documents.places_BT.options());
    const at::Tensor query_T1 = key_T.unsqueeze(1);
    const at::Tensor isSeen_BTT = key_T.le(query_T1).logical_and(key_T.ge(query_T1 - documents.places_BT.unsqueeze(2)));
    const auto mask = [&](const at::Tensor& isSeen) {
        if (config_.attentionCap > 0)
            return isSeen.unsqueeze(1);
        return at::zeros(isSeen.sizes(), isSeen.options().dtype(scalarType(options_.precision)))
            .masked_fill_(isSeen.logical_not(), -std::numeric_limits<double>::infinity())
            .unsqueeze(1);
    };
    documents.mask_B1TT = mask(isSeen_BTT);
    if (window > 0 && window < tokens)
        documents.localMask_B1TT = mask(isSeen_BTT.logical_and(key_T.gt(query_T1 - window)));
    return documents;
}

at::Tensor GptModel::embed(const at::Tensor& inputs_BT, std::int64_t start) const
{
    at::Tensor x = lookUp(embedding_, inputs_BT);
    if (config_.embeddingScale != 1)
        x = x * config_.embeddingScale;
    if (positions_.defined() && perSample_) {
        const at::Tensor places_BT = documents_.places_BT.defined()
            ? documents_.places_BT
            : at::arange(inputs_BT.size(1), inputs_BT.options()).expand(inputs_BT.sizes());
        x = x + lookUp(positions_, places_BT);
    } else if (positions_.defined()) {
        const std::int64_t end = start + inputs_BT.size(1);
        const at::Tensor all = end > positions_.size(0) ? at::cat({ positions_, untrainedPositions_ }) : positions_;
        x = x
            + (documents_.places_BT.defined() ? at::embedding(all, documents_.places_BT)
                                              : all.narrow(0, start, inputs_BT.size(1)));
    }
    return dropped(x);
}

at::Tensor GptModel::attention(const at::Tensor& x_BTD, const Block& block, LayerCache* cache) const
{
    const std::int64_t batch = x_BTD.size(0);
    const std::int64_t tokens = x_BTD.size(1);
    const std::int64_t headWidth = config_.headWidth();
    const std::int64_t kvHeads = config_.keyValueHeads();
    const std::int64_t start = cache ? cache->length : 0;
    const at::Tensor qkv = dense(x_BTD, block.qkv);
    const auto heads = [&](std::int64_t from, std::int64_t count, const Weights& norms) {
        at::Tensor x = qkv.narrow(2, from * headWidth, count * headWidth);
        if (config_.queryNorm == QueryNorm::All)
            x = norm(x, norms).to(qkv.scalar_type());
        x = x.view({ batch, tokens, count, headWidth });
        if (config_.queryNorm == QueryNorm::Head)
            x = norm(x, norms).to(qkv.scalar_type());
        return x.transpose(1, 2);
    };
    at::Tensor q = heads(0, config_.heads, block.queryNorm);
    at::Tensor k = heads(config_.heads, kvHeads, block.keyNorm);
    at::Tensor v = heads(config_.heads + kvHeads, kvHeads, {});
    if (config_.rotates(block.layer)) {
        const RotaryTable& table = config_.windowOf(block.layer) > 0 ? localRotary_ : rotary_;
        q = table.rotate(q, start, documents_.places_BT);
        k = table.rotate(k, start, documents_.places_BT);
    }
    if (cache) {
        cache->key_BkTd.narrow(2, start, tokens).copy_(k);
        cache->value_BkTd.narrow(2, start, tokens).copy_(v);
        cache->length = start + tokens;
        k = cache->key_BkTd.narrow(2, 0, cache->length);
        v = cache->value_BkTd.narrow(2, 0, cache->length);
    }
    if (kvHeads != config_.heads) {
        k = k.repeat_interleave(config_.heads / kvHeads, 1);
        v = v.repeat_interleave(config_.heads / kvHeads, 1);
    }
    const at::Tensor joined
        = mixed(q, k, v, block.layer).transpose(1, 2).reshape({ batch, tokens, config_.queryWidth() });
    return dropped(dense(joined, block.attentionOut));
}

/// Values mixed by the queries, which belong to the last of the tokens that there are keys of.
at::Tensor GptModel::mixed(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, std::int64_t layer) const
{
    const std::int64_t tokens = q.size(2);
    const std::int64_t seen = k.size(2);
    const std::int64_t window = config_.windowOf(layer);
    const bool isCut = window > 0 && seen > window;
    const bool isCapped = config_.attentionCap > 0;
    const bool isCausal = tokens > 1;
    std::optional<at::Tensor> mask;
    if (documents_.places_BT.defined()) {
        mask = isCut ? documents_.localMask_B1TT : documents_.mask_B1TT;
    } else if (isCut || (isCausal && (isCapped || seen > tokens))) {
        mask = at::ones({ tokens, seen }, q.options().dtype(at::kBool)).tril(seen - tokens);
        if (isCut)
            mask = mask->triu(seen - tokens - window + 1);
    }
    const double dropout = training_ ? config_.dropout : 0.0;
    if (!isCapped) {
        const auto scale = config_.attentionScale > 0 ? std::optional(config_.attentionScale) : std::nullopt;
        return at::scaled_dot_product_attention(q, k, v, mask, dropout, isCausal && !mask, scale);
    }
    const double scale
        = config_.attentionScale > 0 ? config_.attentionScale : 1 / std::sqrt(static_cast<double>(config_.headWidth()));
    at::Tensor scores = softCapped((q.matmul(k.transpose(-1, -2)) * scale).to(at::kFloat), config_.attentionCap);
    if (mask)
        scores = scores.masked_fill(mask->logical_not(), -std::numeric_limits<double>::infinity());
    const at::Tensor shares = at::softmax(scores, -1).to(v.scalar_type());
    return (dropout > 0 ? at::dropout(shares, dropout, true) : shares).matmul(v);
}

at::Tensor GptModel::feedForward(const at::Tensor& x_BTD, const Block& block, RouterUse* use) const
{
    if (block.experts.router_ED.defined())
        return dropped(mixtureOfExperts(x_BTD, block.experts, config_, options_.precision, use));
    return dropped(dense(activated(dense(x_BTD, block.up), config_), block.down));
}

at::Tensor GptModel::runBlock(const at::Tensor& x_BTD, const Block& block, LayerCache* cache, RouterUse* use) const
{
    const at::Tensor ofAttention = norm(attention(norm(x_BTD, block.before1), block, cache), block.after1);
    if (config_.parallelResidual)
        return x_BTD + ofAttention + feedForward(norm(x_BTD, block.before2), block, use);
    const at::Tensor middle = x_BTD + ofAttention;
    return middle + norm(feedForward(norm(middle, block.before2), block, use), block.after2);
}

at::Tensor GptModel::hidden(const at::Tensor& inputs_BT, std::vector<RouterUse>* uses)
{
    at::Tensor x = embed(inputs_BT, 0);
    if (perSample_ && !x.requires_grad()) // frozen embeddings: without this nothing would come back
        x = x.detach().set_requires_grad(true);
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
        const bool recompute
            = options_.checkpointActivations && at::GradMode::is_enabled() && !blocks_[i].experts.router_ED.defined();
        if (recompute) {
            if (!x.requires_grad()) // frozen embeddings: without this no gradient would reach the block's own weights
                x = x.detach().set_requires_grad(true);
            x = recomputed(blockFunctions_[i], x);
            continue;
        }
        x = runBlock(x, blocks_[i], nullptr, uses ? &uses->emplace_back() : nullptr);
    }
    return norm(x, lastNorm_);
}

at::Tensor GptModel::headLogits(const at::Tensor& x) const
{
    return softCapped(linear(x, head_, {}, options_.precision).to(at::kFloat), config_.logitCap);
}

HeadLoss GptModel::headLoss(double gradientScale) const
{
    return { gradientScale, config_.logitCap, options_.device.is_cuda() ? kGpuLogits : kCpuLogits };
}

at::Tensor GptModel::forwardBackward(
    const at::Tensor& inputs_BT, const at::Tensor& labels_BT, double gradientScale, const at::Tensor& places_BT)
{
    const ForThisPass mode(training_, true); // backward included: recomputed blocks drop the same values again
    const ForThisPass documents(documents_, documentsOf(places_BT));
    const bool isBalanced = config_.moeExperts > 0 && config_.moeBalance > 0;
    std::vector<RouterUse> uses;
    const at::Tensor x = hidden(inputs_BT, isBalanced ? &uses : nullptr).view({ -1, config_.width });
    const at::Tensor labels = labels_BT.reshape({ -1 }).to(at::kLong);
    const at::Tensor losses = fusedLinearCrossEntropy(x, head_, labels, options_.precision, headLoss(gradientScale));
    if (isBalanced) {
        const at::Tensor balance = balanceLoss(uses, config_);
        const at::Tensor real = labels.ne(kIgnoreLabel).sum().to(at::kFloat);
        torch::autograd::backward({ losses.sum(), balance * (real * (config_.moeBalance * gradientScale)) }, {});
    } else {
        torch::autograd::backward({ losses.sum() }, {});
    }
    return losses.detach().view(labels_BT.sizes());
}

Model::ClippedPass GptModel::clippedBackward(const at::Tensor& inputs_BT, const at::Tensor& labels_BT,
    double gradientScale, double clipNorm, const at::Tensor& places_BT)
{
    constexpr double kTiny = 1e-6; // as Opacus: no division by zero, and what is rounded stays below the bound
    FURROW_CHECK(clipsPerSample(), "a model was asked to clip by sample that cannot");
    const ForThisPass mode(training_, true);
    const ForThisPass documents(documents_, documentsOf(places_BT));
    PerSamplePass pass(options_.precision);
    const ForThisPass perSample(perSample_, &pass);
    at::Tensor losses_BT = pass.backward(hidden(inputs_BT, nullptr), head_, labels_BT, inputs_BT, config_.logitCap);
    const at::Tensor norms_B = pass.norms();
    const at::Tensor isBad_B = at::isfinite(norms_B).logical_not();
    if (isBad_B.any().item<bool>()) { // sync: on CUDA, once a micro-batch
        if (!isBad_B.all().item<bool>())
            losses_BT.masked_fill_(isBad_B.unsqueeze(1), 0.0);
        pass.leaveOut(isBad_B);
    }
    pass.addScaled((clipNorm / (norms_B + kTiny)).clamp_max_(1.0).masked_fill_(isBad_B, 0.0).mul_(gradientScale));
    return { losses_BT, norms_B };
}

LossSum GptModel::lossSum(const at::Tensor& inputs_BT, const at::Tensor& labels_BT, const at::Tensor& places_BT)
{
    const at::NoGradGuard guard;
    const ForThisPass documents(documents_, documentsOf(places_BT));
    const at::Tensor x = hidden(inputs_BT, nullptr).view({ -1, config_.width });
    const at::Tensor losses
        = fusedLinearCrossEntropy(x, head_, labels_BT.reshape({ -1 }).to(at::kLong), options_.precision, headLoss(1));
    return { losses.sum(), countLabels(labels_BT) };
}

at::Tensor GptModel::logits(const at::Tensor& inputs_BT, const at::Tensor& places_BT)
{
    const at::NoGradGuard guard;
    const ForThisPass documents(documents_, documentsOf(places_BT));
    return headLogits(hidden(inputs_BT, nullptr));
}

std::unique_ptr<KeyValueCache> GptModel::newCache(std::int64_t batch, std::int64_t capacity)
{
    FURROW_CHECK(capacity <= config_.contextLength, "a key-value cache was asked for that is longer than the context");
    auto cache = std::make_unique<Cache>();
    const auto options = at::TensorOptions().device(options_.device).dtype(scalarType(options_.precision));
    for (std::int64_t i = 0; i < config_.layers; ++i) {
        const std::vector<std::int64_t> shape { batch, config_.keyValueHeads(), capacity, config_.headWidth() };
        cache->layers.push_back({ at::zeros(shape, options), at::zeros(shape, options), 0 });
    }
    return cache;
}

at::Tensor GptModel::nextLogits(const at::Tensor& tokens_BT, KeyValueCache& cache)
{
    const at::NoGradGuard guard;
    auto& layers = static_cast<Cache&>(cache).layers;
    FURROW_CHECK(cache.length() + tokens_BT.size(1) <= cache.capacity(), "the key-value cache is full");
    at::Tensor x = embed(tokens_BT, cache.length());
    for (std::size_t i = 0; i < blocks_.size(); ++i)
        x = runBlock(x, blocks_[i], &layers[i], nullptr);
    const at::Tensor last = norm(x.narrow(1, x.size(1) - 1, 1).squeeze(1), lastNorm_);
    return headLogits(last);
}

std::string GptModel::backendName() const { return options_.device.is_cuda() ? "libtorch cuda" : "libtorch cpu"; }

} // namespace furrow
