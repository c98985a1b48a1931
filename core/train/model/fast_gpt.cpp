#include "core/train/model/fast_gpt_torch.h"

#include "core/base/random.h"
#include "core/model/step_path.h"

#include <torch/torch.h>

#include <cmath>
#include <span>

namespace furrow {

namespace {

cpu::GptShape shapeOf(const ModelConfig& config)
{
    cpu::GptShape shape;
    shape.layers = config.layers;
    shape.heads = config.heads;
    shape.kvHeads = config.keyValueHeads();
    shape.width = config.width;
    shape.ffWidth = config.feedForwardWidth();
    shape.vocabulary = config.vocabularySize;
    shape.rope = config.positions == Positions::Rotary;
    shape.rms = config.norm == NormKind::Rms;
    shape.swiglu = config.gated;
    shape.epsilon = static_cast<float>(config.normEpsilon);
    shape.dropout = static_cast<float>(config.dropout);
    return shape;
}

/// Null where there are no kernels for this processor or precision.
const cpu::Products* productsFor(Precision precision)
{
    const cpu::Kernels* kernels = cpu::kernels();
    if (kernels == nullptr || precision == Precision::Float16)
        return nullptr;
    return precision == Precision::BFloat16 ? &kernels->bfloat16 : &kernels->float32;
}

cpu::GptOffsets offsetsOf(const ParameterStore& store, const ModelConfig& config)
{
    const auto find = [&](const std::string& name) {
        for (const ParameterStore::Slot& slot : store.slots()) {
            if (slot.name == name)
                return slot.offset;
        }
        return cpu::kAbsent;
    };
    const auto dense
        = [&](const std::string& name) { return cpu::DenseOffsets { find(name + ".weight"), find(name + ".bias") }; };
    cpu::GptOffsets offsets;
    offsets.embedding = find("embed.weight");
    offsets.positions = find("positions.weight");
    for (std::int64_t i = 0; i < config.layers; ++i) {
        const std::string block = "blocks." + std::to_string(i) + ".";
        offsets.layers.push_back(
            { dense(block + "norm1"), dense(block + "attention.qkv"), dense(block + "attention.out"),
                dense(block + "norm2"), dense(block + "mlp.up"), dense(block + "mlp.down") });
    }
    offsets.norm = dense("norm");
    offsets.head = config.tiedHead ? offsets.embedding : find("head.weight");
    offsets.count = store.count();
    return offsets;
}

/// The angles of RotaryTable for a training window.
std::vector<float> rotaryTable(const ModelConfig& config)
{
    if (config.positions != Positions::Rotary)
        return {};
    const RotaryFrequencies frequencies = rotaryFrequencies(config, false);
    const at::Tensor angles = at::outer(at::arange(config.trainingLength(), at::kFloat), frequencies.values);
    const at::Tensor table = at::cat({ angles.cos().flatten(), angles.sin().flatten() }).mul_(frequencies.amplitude);
    const std::span<const float> values(table.const_data_ptr<float>(), static_cast<std::size_t>(table.numel()));
    return { values.begin(), values.end() };
}

at::Tensor checkedTokens(const at::Tensor& tokens, std::int64_t lowest, std::int64_t vocabulary, const char* what)
{
    const at::Tensor host = tokens.to(at::kLong).contiguous();
    const std::int64_t* values = host.const_data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < host.numel(); ++i)
        TORCH_CHECK_INDEX(values[i] >= lowest && values[i] < vocabulary, what, " ", values[i],
            " is outside the vocabulary of ", vocabulary);
    return host;
}

/// Each place follows the one before it or begins a document.
at::Tensor checkedPlaces(const at::Tensor& places_BT)
{
    if (!places_BT.defined())
        return {};
    const at::Tensor host = places_BT.to(at::kLong).contiguous();
    const std::int64_t* values = host.const_data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < host.numel(); ++i)
        TORCH_CHECK_INDEX(values[i] == 0 || (i % host.size(1) > 0 && values[i] == values[i - 1] + 1), "place ",
            values[i], " does not follow the one before it");
    return host;
}

} // namespace

bool FastGptModel::fits(const ModelConfig& config, const ModelOptions& options)
{
    return options.fastCpu && options.device.is_cpu() && fitsFastStep(config, options.checkpointActivations)
        && productsFor(options.precision) != nullptr;
}

FastGptModel::FastGptModel(const ModelConfig& config, const ModelOptions& options)
    : GptModel(config, options)
    , step_(shapeOf(config), offsetsOf(parameters_, config), rotaryTable(config), *cpu::kernels(),
          *productsFor(options.precision), options.threads)
    , dropoutSeed_(options.seed)
{
}

at::Tensor FastGptModel::run(const at::Tensor& inputs_BT, const at::Tensor& labels_BT, const at::Tensor& places_BT,
    float* gradients, double gradientScale)
{
    TORCH_CHECK(
        inputs_BT.dim() == 2 && inputs_BT.sizes() == labels_BT.sizes() && inputs_BT.size(1) <= config_.trainingLength(),
        "inputs and labels must both be (batch, tokens) with at most ", config_.trainingLength(), " tokens");
    at::Tensor losses = at::zeros(labels_BT.sizes(), at::kFloat);
    if (inputs_BT.numel() == 0)
        return losses;
    const at::Tensor inputs = checkedTokens(inputs_BT, 0, config_.vocabularySize, "input token");
    const at::Tensor labels = checkedTokens(labels_BT, kIgnoreLabel, config_.vocabularySize, "label");
    const at::Tensor places = checkedPlaces(places_BT);
    if (stale_)
        step_.setWeights(parameters_.weights().const_data_ptr<float>());
    stale_ = false;
    const cpu::TokenBatch batch { inputs.const_data_ptr<std::int64_t>(), labels.const_data_ptr<std::int64_t>(),
        places.defined() ? places.const_data_ptr<std::int64_t>() : nullptr, inputs.size(0), inputs.size(1) };
    step_.run(batch, losses.mutable_data_ptr<float>(), gradients, static_cast<float>(gradientScale),
        gradients ? mixSeed({ dropoutSeed_, passes_++ }) : 0);
    return losses;
}

at::Tensor FastGptModel::forwardBackward(
    const at::Tensor& inputs_BT, const at::Tensor& labels_BT, double gradientScale, const at::Tensor& places_BT)
{
    return run(inputs_BT, labels_BT, places_BT, parameters_.gradients().mutable_data_ptr<float>(), gradientScale);
}

Model::ClippedPass FastGptModel::clippedBackward(const at::Tensor& inputs_BT, const at::Tensor& labels_BT,
    double gradientScale, double clipNorm, const at::Tensor& places_BT)
{
    if (config_.dropout > 0)
        Model::reseed(mixSeed({ dropoutSeed_, passes_++ }));
    return GptModel::clippedBackward(inputs_BT, labels_BT, gradientScale, clipNorm, places_BT);
}

LossSum FastGptModel::lossSum(const at::Tensor& inputs_BT, const at::Tensor& labels_BT, const at::Tensor& places_BT)
{
    if (inputs_BT.dim() == 2 && inputs_BT.size(1) > config_.trainingLength()) // the step has tables for a window
        return GptModel::lossSum(inputs_BT, labels_BT, places_BT);
    return { run(inputs_BT, labels_BT, places_BT, nullptr, 1.0).sum(), countLabels(labels_BT) };
}

void FastGptModel::reseed(std::uint64_t seed)
{
    dropoutSeed_ = seed;
    passes_ = 0;
}

std::string FastGptModel::backendName() const
{
    return std::string("fast cpu (") + toString(cpu::kernels()->level) + ", " + productsFor(options_.precision)->name
        + ")";
}

} // namespace furrow
