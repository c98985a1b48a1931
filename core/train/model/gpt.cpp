#include "core/base/check.h"
#include "core/train/model/gpt_torch.h"

#include <torch/torch.h>

#include <cmath>

// Letters in tensor names: B batch, T tokens, D width, n heads, d head width, V vocabulary, F feed-forward width.

namespace furrow {

namespace {

/// True for its lifetime, also when an error is thrown.
class TrainingMode {
public:
    explicit TrainingMode(bool& flag)
        : flag_(flag)
    {
        flag_ = true;
    }
    ~TrainingMode() { flag_ = false; }
    TrainingMode(const TrainingMode&) = delete;
    TrainingMode& operator=(const TrainingMode&) = delete;

private:
    bool& flag_;
};

} // namespace

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
    const std::int64_t up = config.activation == "swiglu" ? 2 * f : f;
    const std::int64_t qkv = d + 2 * config.keyValueHeads() * config.headWidth();
    std::vector<ParameterShape> shapes;
    const auto norm = [&](const std::string& name) {
        shapes.push_back({ name + ".weight", { d }, false });
        if (config.norm == "layernorm" && config.bias)
            shapes.push_back({ name + ".bias", { d }, false });
    };
    const auto dense = [&](const std::string& name, std::int64_t out, std::int64_t in) {
        shapes.push_back({ name + ".weight", { out, in }, true });
        if (config.bias)
            shapes.push_back({ name + ".bias", { out }, false });
    };
    shapes.push_back({ "embed.weight", { config.vocabularySize, d }, true });
    if (config.positions == "learned")
        shapes.push_back({ "positions.weight", { config.contextLength, d }, true });
    for (std::int64_t i = 0; i < config.layers; ++i) {
        const std::string block = "blocks." + std::to_string(i) + ".";
        norm(block + "norm1");
        dense(block + "attention.qkv", qkv, d);
        dense(block + "attention.out", d, d);
        norm(block + "norm2");
        if (config.moeExperts > 0) {
            shapes.push_back({ block + "moe.router.weight", { config.moeExperts, d }, true });
            shapes.push_back({ block + "moe.up.weight", { config.moeExperts, up, d }, true });
            shapes.push_back({ block + "moe.down.weight", { config.moeExperts, d, f }, true });
        } else {
            dense(block + "mlp.up", up, d);
            dense(block + "mlp.down", d, f);
        }
    }
    norm("norm");
    if (!config.tiedHead)
        shapes.push_back({ "head.weight", { config.vocabularySize, d }, true });
    return shapes;
}

GptModel::GptModel(const ModelConfig& config, const ModelOptions& options)
    : Model(config, options)
{
    if (config.loraRank > 0) {
        parameters_ = ParameterStore(loraParameters(config), options.device);
        for (const ParameterShape& shape : gptParameters(config))
            buffers_.emplace_back(
                shape.name, at::zeros(shape.shape, at::TensorOptions().dtype(at::kFloat).device(options.device)));
    } else {
        parameters_ = ParameterStore(gptParameters(config), options.device);
    }
    if (config.positions == "rope")
        rotary_ = RotaryTable(config.contextLength, config.headWidth(), config.ropeTheta, options.device);
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
        if (name.ends_with(".a")) // LoRA: with b at 0 the model starts as it was
            fillNormal(tensor, 1.0 / std::sqrt(static_cast<double>(tensor.size(1))), generator);
        else if (tensor.dim() >= 2 && name.ends_with(".weight"))
            fillNormal(tensor, isResidual ? residual : kDeviation, generator);
        else if (name.ends_with(".weight"))
            tensor.detach().fill_(1.0);
    };
    for (const auto& [name, tensor] : buffers_)
        fill(name, tensor);
    for (const auto& [name, tensor] : parameters_.tensors())
        fill(name, tensor);
}

void GptModel::bind()
{
    const auto weights = [&](const std::string& name) {
        Weights found { tensor(name + ".weight"), {}, {}, {} };
        const bool isNorm = name.ends_with("norm") || name.ends_with("norm1") || name.ends_with("norm2");
        if (isNorm ? config_.norm == "layernorm" && config_.bias : config_.bias)
            found.bias = tensor(name + ".bias");
        if (config_.loraRank > 0 && !isNorm) {
            found.loraA_RI = parameters_.at("lora." + name + ".a");
            found.loraB_OR = parameters_.at("lora." + name + ".b");
        }
        return found;
    };
    embedding_ = tensor("embed.weight");
    if (config_.positions == "learned")
        positions_ = tensor("positions.weight");
    for (std::int64_t i = 0; i < config_.layers; ++i) {
        const std::string name = "blocks." + std::to_string(i) + ".";
        Block block;
        block.norm1 = weights(name + "norm1");
        block.qkv = weights(name + "attention.qkv");
        block.attentionOut = weights(name + "attention.out");
        block.norm2 = weights(name + "norm2");
        if (config_.moeExperts > 0) {
            block.router = parameters_.at(name + "moe.router.weight");
            block.up.weight = parameters_.at(name + "moe.up.weight");
            block.down.weight = parameters_.at(name + "moe.down.weight");
        } else {
            block.up = weights(name + "mlp.up");
            block.down = weights(name + "mlp.down");
        }
        blocks_.push_back(block);
    }
    lastNorm_ = weights("norm");
    head_ = config_.tiedHead ? embedding_ : tensor("head.weight");
}

at::Tensor GptModel::norm(const at::Tensor& x, const Weights& weights) const
{
    if (config_.norm == "rmsnorm")
        return rmsNorm(x, weights.weight, config_.normEpsilon);
    return at::layer_norm(x.to(at::kFloat), { config_.width }, weights.weight, weights.bias, config_.normEpsilon);
}

at::Tensor GptModel::dropped(const at::Tensor& x) const
{
    return training_ && config_.dropout > 0 ? at::dropout(x, config_.dropout, true) : x;
}

at::Tensor GptModel::embed(const at::Tensor& inputs_BT, std::int64_t start) const
{
    at::Tensor x = at::embedding(embedding_, inputs_BT);
    if (positions_.defined())
        x = x + positions_.narrow(0, start, inputs_BT.size(1));
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
    const auto heads = [&](std::int64_t from, std::int64_t count) {
        return qkv.narrow(2, from * headWidth, count * headWidth)
            .view({ batch, tokens, count, headWidth })
            .transpose(1, 2);
    };
    at::Tensor q = heads(0, config_.heads);
    at::Tensor k = heads(config_.heads, kvHeads);
    at::Tensor v = heads(config_.heads + kvHeads, kvHeads);
    if (config_.positions == "rope") {
        q = rotary_.rotate(q, start);
        k = rotary_.rotate(k, start);
    }
    std::optional<at::Tensor> mask;
    bool causal = true;
    if (cache) {
        cache->key_BkTd.narrow(2, start, tokens).copy_(k);
        cache->value_BkTd.narrow(2, start, tokens).copy_(v);
        cache->length = start + tokens;
        k = cache->key_BkTd.narrow(2, 0, cache->length);
        v = cache->value_BkTd.narrow(2, 0, cache->length);
        causal = start == 0 && tokens > 1;
        if (start > 0 && tokens > 1)
            mask = at::ones({ tokens, cache->length }, q.options().dtype(at::kBool)).tril(start);
    }
    if (kvHeads != config_.heads) {
        k = k.repeat_interleave(config_.heads / kvHeads, 1);
        v = v.repeat_interleave(config_.heads / kvHeads, 1);
    }
    const double dropout = training_ ? config_.dropout : 0.0;
    const at::Tensor mixed = at::scaled_dot_product_attention(q, k, v, mask, dropout, causal);
    const at::Tensor joined = mixed.transpose(1, 2).reshape({ batch, tokens, config_.width });
    return dropped(dense(joined, block.attentionOut));
}

at::Tensor GptModel::feedForward(const at::Tensor& x_BTD, const Block& block, at::Tensor* balanceLoss) const
{
    if (block.router.defined())
        return dropped(mixtureOfExperts(
            x_BTD, { block.router, block.up.weight, block.down.weight }, config_, options_.precision, balanceLoss));
    const at::Tensor up = dense(x_BTD, block.up);
    at::Tensor active;
    if (config_.activation == "swiglu") {
        const auto halves = up.chunk(2, -1);
        active = at::silu(halves[0]) * halves[1];
    } else {
        active = at::gelu(up, "tanh");
    }
    return dropped(dense(active, block.down));
}

at::Tensor GptModel::runBlock(
    const at::Tensor& x_BTD, const Block& block, LayerCache* cache, at::Tensor* balanceLoss) const
{
    const at::Tensor mixed = x_BTD + attention(norm(x_BTD, block.norm1), block, cache);
    return mixed + feedForward(norm(mixed, block.norm2), block, balanceLoss);
}

at::Tensor GptModel::hidden(const at::Tensor& inputs_BT, at::Tensor* balanceLoss)
{
    at::Tensor x = embed(inputs_BT, 0);
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
        const bool recompute
            = options_.checkpointActivations && at::GradMode::is_enabled() && !blocks_[i].router.defined();
        if (recompute) {
            if (!x.requires_grad()) // frozen embeddings: without this no gradient would reach the block's own weights
                x = x.detach().set_requires_grad(true);
            x = recomputed(blockFunctions_[i], x);
            continue;
        }
        at::Tensor layerBalance;
        x = runBlock(x, blocks_[i], nullptr, balanceLoss ? &layerBalance : nullptr);
        if (layerBalance.defined())
            *balanceLoss = balanceLoss->defined() ? *balanceLoss + layerBalance : layerBalance;
    }
    return norm(x, lastNorm_);
}

const LogitParts& GptModel::logitParts() const { return options_.device.is_cuda() ? kGpuLogits : kCpuLogits; }

at::Tensor GptModel::forwardBackward(const at::Tensor& inputs_BT, const at::Tensor& labels_BT, double gradientScale)
{
    const TrainingMode mode(training_); // backward included: recomputed blocks drop the same values again
    at::Tensor balance;
    const at::Tensor x = hidden(inputs_BT, config_.moeExperts > 0 ? &balance : nullptr).view({ -1, config_.width });
    const at::Tensor labels = labels_BT.reshape({ -1 }).to(at::kLong);
    const at::Tensor losses
        = fusedLinearCrossEntropy(x, head_, labels, options_.precision, gradientScale, logitParts());
    if (balance.defined()) {
        const at::Tensor real = labels.ne(kIgnoreLabel).sum().to(at::kFloat);
        torch::autograd::backward({ losses.sum(), balance * (real * (config_.moeBalance * gradientScale)) }, {});
    } else {
        torch::autograd::backward({ losses.sum() }, {});
    }
    return losses.detach().view(labels_BT.sizes());
}

LossSum GptModel::lossSum(const at::Tensor& inputs_BT, const at::Tensor& labels_BT)
{
    const at::NoGradGuard guard;
    const at::Tensor x = hidden(inputs_BT, nullptr).view({ -1, config_.width });
    const at::Tensor losses = fusedLinearCrossEntropy(
        x, head_, labels_BT.reshape({ -1 }).to(at::kLong), options_.precision, 1.0, logitParts());
    return { losses.sum(), countLabels(labels_BT) };
}

at::Tensor GptModel::logits(const at::Tensor& inputs_BT)
{
    const at::NoGradGuard guard;
    return linear(hidden(inputs_BT, nullptr), head_, {}, options_.precision).to(at::kFloat);
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
    return linear(last, head_, {}, options_.precision).to(at::kFloat);
}

std::string GptModel::backendName() const { return options_.device.is_cuda() ? "libtorch cuda" : "libtorch cpu"; }

} // namespace furrow
