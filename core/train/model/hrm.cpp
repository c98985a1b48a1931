#include "core/train/model/gpt_torch.h"
#include "core/train/model/hrm_torch.h"

#include <torch/torch.h>

#include <cmath>

// The network of one segment; hrm_act.cpp has halting, losses and training.

namespace furrow {

std::vector<ParameterShape> hrmParameters(const ModelConfig& config)
{
    const std::int64_t d = config.width;
    const std::int64_t f = config.feedForwardWidth();
    std::vector<ParameterShape> shapes { { "embed.weight", { config.vocabularySize, d }, true } };
    if (config.positions == Positions::Learned)
        shapes.push_back({ "positions.weight", { config.contextLength, d }, true });
    const auto module = [&](const std::string& name, std::int64_t layers) {
        for (std::int64_t i = 0; i < layers; ++i) {
            const std::string block = name + ".blocks." + std::to_string(i) + ".";
            shapes.push_back({ block + "attention.qkv.weight", { 3 * d, d }, true });
            shapes.push_back({ block + "attention.out.weight", { d, d }, true });
            if (config.moeExperts > 0) {
                shapes.push_back({ block + "moe.router.weight", { config.moeExperts, d }, true });
                shapes.push_back({ block + "moe.up.weight", { config.moeExperts, 2 * f, d }, true });
                shapes.push_back({ block + "moe.down.weight", { config.moeExperts, d, f }, true });
            } else {
                shapes.push_back({ block + "mlp.up.weight", { 2 * f, d }, true });
                shapes.push_back({ block + "mlp.down.weight", { d, f }, true });
            }
        }
    };
    module("low", config.hrm.lowLayers);
    module("high", config.hrm.highLayers);
    shapes.push_back({ "head.weight", { config.vocabularySize, d }, true });
    shapes.push_back({ "halt.weight", { 2, d }, true });
    shapes.push_back({ "halt.bias", { 2 }, false });
    return shapes;
}

HrmModel::HrmModel(const ModelConfig& config, const ModelOptions& options)
    : Model(config, options)
    , exploration_(at::detail::createCPUGenerator(options.seed))
{
    parameters_ = ParameterStore(hrmParameters(config), options.device);
    if (config.positions == Positions::Rotary)
        rotary_ = RotaryTable(config, false, options.device);
    else
        positions_ = parameters_.at("positions.weight");
    embedding_ = parameters_.at("embed.weight");
    head_ = parameters_.at("head.weight");
    haltWeight_ = parameters_.at("halt.weight");
    haltBias_ = parameters_.at("halt.bias");
    low_ = bind("low", config.hrm.lowLayers);
    high_ = bind("high", config.hrm.highLayers);
    startHigh_D_ = at::empty({ config.width }, at::TensorOptions().device(options.device).dtype(at::kFloat));
    startLow_D_ = at::empty_like(startHigh_D_);
    buffers_ = { { "start.high", startHigh_D_ }, { "start.low", startLow_D_ } };
    initialise();
}

std::vector<HrmModel::Block> HrmModel::bind(const std::string& module, std::int64_t layers) const
{
    std::vector<Block> blocks;
    for (std::int64_t i = 0; i < layers; ++i) {
        const std::string name = module + ".blocks." + std::to_string(i) + ".";
        Block block;
        block.qkv = parameters_.at(name + "attention.qkv.weight");
        block.out = parameters_.at(name + "attention.out.weight");
        const std::string feedForward = config_.moeExperts > 0 ? "moe" : "mlp";
        block.up = parameters_.at(name + feedForward + ".up.weight");
        block.down = parameters_.at(name + feedForward + ".down.weight");
        if (config_.moeExperts > 0)
            block.router = parameters_.at(name + "moe.router.weight");
        blocks.push_back(block);
    }
    return blocks;
}

void HrmModel::initialise()
{
    at::Generator generator = at::detail::createCPUGenerator(options_.seed);
    const at::NoGradGuard guard;
    const double byWidth = 1.0 / std::sqrt(static_cast<double>(config_.width));
    for (const auto& [name, tensor] : parameters_.tensors()) {
        if (name == "halt.bias")
            tensor.detach().fill_(-5.0);
        else if (name == "halt.weight")
            tensor.detach().zero_();
        else if (name == "embed.weight" || name == "positions.weight")
            fillTruncatedNormal(tensor, byWidth, generator);
        else
            fillTruncatedNormal(tensor, 1.0 / std::sqrt(static_cast<double>(tensor.size(-1))), generator);
    }
    fillTruncatedNormal(startHigh_D_, 1.0, generator);
    fillTruncatedNormal(startLow_D_, 1.0, generator);
}

at::Tensor HrmModel::embed(const at::Tensor& inputs_BT) const
{
    at::Tensor x = at::embedding(embedding_, inputs_BT);
    if (positions_.defined())
        x = (x + positions_.narrow(0, 0, inputs_BT.size(1))) * std::sqrt(0.5);
    return x * std::sqrt(static_cast<double>(config_.width));
}

at::Tensor HrmModel::runBlock(const at::Tensor& x_BTD, const Block& block, at::Tensor* balance) const
{
    const std::int64_t batch = x_BTD.size(0);
    const std::int64_t tokens = x_BTD.size(1);
    const auto heads = linear(x_BTD, block.qkv, {}, options_.precision)
                           .view({ batch, tokens, 3, config_.heads, config_.headWidth() })
                           .permute({ 2, 0, 3, 1, 4 });
    at::Tensor q = heads[0];
    at::Tensor k = heads[1];
    if (!positions_.defined()) {
        q = rotary_.rotate(q, 0);
        k = rotary_.rotate(k, 0);
    }
    const at::Tensor mixed = at::scaled_dot_product_attention(q, k, heads[2], {}, 0.0, config_.hrm.causal);
    const at::Tensor joined = mixed.transpose(1, 2).reshape({ batch, tokens, config_.width });
    const at::Tensor x = rmsNorm(x_BTD + linear(joined, block.out, {}, options_.precision), {}, config_.normEpsilon);
    if (block.router.defined()) {
        ModelConfig gated = config_;
        gated.activation = Activation::Silu;
        gated.gated = true;
        RouterUse use;
        const at::Tensor y = mixtureOfExperts(
            x, { block.router, block.up, block.down, {}, {}, {} }, gated, options_.precision, balance ? &use : nullptr);
        if (balance) {
            const at::Tensor own = balanceLoss({ use }, gated);
            *balance = balance->defined() ? *balance + own : own;
        }
        return rmsNorm(x + y, {}, config_.normEpsilon);
    }
    const auto halves = linear(x, block.up, {}, options_.precision).chunk(2, -1);
    const at::Tensor y = linear(at::silu(halves[0]) * halves[1], block.down, {}, options_.precision);
    return rmsNorm(x + y, {}, config_.normEpsilon);
}

at::Tensor HrmModel::runModule(
    const at::Tensor& state, const at::Tensor& injected, const std::vector<Block>& blocks, at::Tensor* balance) const
{
    at::Tensor x = state + injected;
    for (const Block& block : blocks)
        x = runBlock(x, block, balance);
    return x;
}

HrmModel::Output HrmModel::segment(const HrmCarry& carry, const at::Tensor& inputs_BT) const
{
    const at::Tensor input = embed(inputs_BT);
    at::Tensor high = carry.high_BTD;
    at::Tensor low = carry.low_BTD;
    {
        const at::NoGradGuard guard;
        for (std::int64_t i = 1; i <= config_.hrm.highCycles; ++i) {
            for (std::int64_t j = 1; j <= config_.hrm.lowCycles; ++j) {
                if (i != config_.hrm.highCycles || j != config_.hrm.lowCycles)
                    low = runModule(low, high + input, low_, nullptr);
            }
            if (i != config_.hrm.highCycles)
                high = runModule(high, low, high_, nullptr);
        }
    }
    Output output;
    at::Tensor* balance = config_.moeExperts > 0 && at::GradMode::is_enabled() ? &output.balance : nullptr;
    low = runModule(low, high + input, low_, balance); // one-step approximation: gradients go through these two only
    high = runModule(high, low, high_, balance);
    output.logits_BTV = linear(high, head_, {}, options_.precision);
    const at::Tensor pooled = config_.hrm.poolLast ? high.select(1, high.size(1) - 1) : high.mean(1);
    const at::Tensor q = at::linear(pooled.to(at::kFloat), haltWeight_, haltBias_);
    output.halt_B = q.select(1, 0);
    output.continue_B = q.select(1, 1);
    output.high_BTD = high.detach();
    output.low_BTD = low.detach();
    return output;
}

std::string HrmModel::backendName() const { return options_.device.is_cuda() ? "libtorch cuda" : "libtorch cpu"; }

} // namespace furrow
