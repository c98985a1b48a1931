#include "core/train/model/layers_torch.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace furrow {

void crossEntropy(const at::Tensor& logits_NV, const at::Tensor& labels_N, const HeadLoss& options,
    const at::Tensor& losses_N, at::Tensor gradient_NV)
{
    const at::Tensor capped_NV = softCapped(logits_NV.to(at::kFloat), options.cap);
    at::Tensor probabilities = at::log_softmax(capped_NV, -1);
    losses_N.copy_(at::nll_loss(probabilities, labels_N, {}, at::Reduction::None, kIgnoreLabel));
    if (!gradient_NV.defined())
        return;
    probabilities.exp_();
    const at::Tensor index = labels_N.clamp_min(0).unsqueeze(1);
    probabilities.scatter_add_(1, index, at::full({ 1, 1 }, -1.0, probabilities.options()).expand_as(index));
    if (options.cap > 0)
        probabilities.mul_(1 - capped_NV.div(options.cap).square_()); // the slope of tanh
    at::mul_out(gradient_NV, probabilities,
        labels_N.ne(kIgnoreLabel).to(at::kFloat).mul(options.gradientScale).unsqueeze(1)); // rounds on the way
}

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct LossOptions {
    HeadLoss loss;
    bool wantGradient;
    bool wantWeight; ///< its gradient
};

class LinearCrossEntropy : public torch::autograd::Function<LinearCrossEntropy> {
public:
    static at::Tensor forward(AutogradContext* context, const at::Tensor& x_ND, const at::Tensor& weight_VD,
        const at::Tensor& labels_N, const LossOptions& options)
    {
        const std::int64_t rows = x_ND.size(0);
        const std::int64_t vocabulary = weight_VD.size(0);
        const std::int64_t padded
            = (vocabulary + options.loss.parts.padTo - 1) / options.loss.parts.padTo * options.loss.parts.padTo;
        const std::int64_t pieceRows = std::max<std::int64_t>(1, options.loss.parts.piece / padded);
        const std::int64_t groupRows = std::min(rows, std::max(pieceRows, options.loss.parts.group / padded));
        const at::Tensor weight_PD
            = padded == vocabulary ? weight_VD : at::constant_pad_nd(weight_VD, { 0, 0, 0, padded - vocabulary });
        at::Tensor losses_N = at::empty({ rows }, x_ND.options().dtype(at::kFloat));
        at::Tensor gradLogits_GP; // of a group; the columns behind the vocabulary stay 0
        at::Tensor gradX_ND;
        at::Tensor gradWeight_PD;
        if (options.wantGradient) {
            gradLogits_GP = at::zeros({ groupRows, padded }, x_ND.options());
            gradX_ND = at::empty_like(x_ND);
        }
        for (std::int64_t group = 0; group < rows; group += groupRows) {
            const std::int64_t groupCount = std::min(groupRows, rows - group);
            for (std::int64_t at = 0; at < groupCount; at += pieceRows) {
                const std::int64_t count = std::min(pieceRows, groupCount - at);
                const auto piece = [&](const at::Tensor& all) { return all.narrow(0, group + at, count); };
                const at::Tensor logits_NV = at::linear(piece(x_ND), weight_PD).narrow(1, 0, vocabulary);
                crossEntropy(logits_NV, piece(labels_N), options.loss, piece(losses_N),
                    options.wantGradient ? gradLogits_GP.narrow(0, at, count).narrow(1, 0, vocabulary) : at::Tensor());
            }
            if (!options.wantGradient)
                continue;
            const at::Tensor gradLogits = gradLogits_GP.narrow(0, 0, groupCount);
            gradX_ND.narrow(0, group, groupCount).copy_(at::mm(gradLogits, weight_PD));
            if (!options.wantWeight)
                continue;
            const at::Tensor gradWeight = at::mm(gradLogits.t(), x_ND.narrow(0, group, groupCount));
            if (groupRows == rows)
                gradWeight_PD = gradWeight;
            else
                gradWeight_PD = gradWeight_PD.defined() ? gradWeight_PD.add_(gradWeight) : gradWeight.to(at::kFloat);
        }
        if (options.wantGradient) {
            context->saved_data["x"] = gradX_ND;
            if (options.wantWeight)
                context->saved_data["weight"] = gradWeight_PD.narrow(0, 0, vocabulary).to(weight_VD.scalar_type());
        }
        return losses_N;
    }

    static variable_list backward(AutogradContext* context, variable_list)
    {
        const auto weight = context->saved_data.find("weight");
        return { context->saved_data["x"].toTensor(),
            weight == context->saved_data.end() ? at::Tensor() : weight->second.toTensor(), at::Tensor(),
            at::Tensor() };
    }
};

at::Generator generatorOf(const at::Device& device) { return at::globalContext().defaultGenerator(device); }

using BlockFunction = std::function<at::Tensor(const at::Tensor&)>;

class Recompute : public torch::autograd::Function<Recompute> {
public:
    static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const BlockFunction* block)
    {
        context->save_for_backward({ x });
        context->saved_data["random"] = generatorOf(x.device()).get_state();
        context->saved_data["block"] = reinterpret_cast<std::int64_t>(block);
        const at::AutoGradMode off(false);
        return (*block)(x);
    }

    static variable_list backward(AutogradContext* context, variable_list gradients)
    {
        const auto* block = reinterpret_cast<const BlockFunction*>(context->saved_data["block"].toInt());
        at::Tensor x = context->get_saved_variables()[0].detach();
        x.set_requires_grad(true);
        at::Generator generator = generatorOf(x.device());
        const at::Tensor now = generator.get_state();
        generator.set_state(context->saved_data["random"].toTensor());
        at::Tensor y;
        {
            const at::AutoGradMode on(true);
            y = (*block)(x);
        }
        generator.set_state(now);
        torch::autograd::backward({ y }, { gradients[0] });
        return { x.grad(), at::Tensor() };
    }
};

} // namespace

at::ScalarType scalarType(Precision precision)
{
    switch (precision) {
    case Precision::BFloat16: return at::kBFloat16;
    case Precision::Float16: return at::kHalf;
    case Precision::Float32: break;
    }
    return at::kFloat;
}

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight_OI, const at::Tensor& bias_O, Precision precision)
{
    const at::ScalarType type = scalarType(precision);
    return at::linear(x.to(type), weight_OI.to(type), bias_O.defined() ? bias_O.to(type) : bias_O);
}

at::Tensor rmsNorm(const at::Tensor& x, const at::Tensor& gain_D, double epsilon)
{
    const at::Tensor x32 = x.to(at::kFloat);
    const at::Tensor normed = x32 * at::rsqrt(x32.square().mean(-1, true) + epsilon);
    return gain_D.defined() ? normed * gain_D : normed;
}

namespace {

/// Llama 3.1: long wavelengths are stretched, short ones are not, those between in part.
at::Tensor stretchedByLlama(const at::Tensor& frequencies, const RotaryConfig& rotary)
{
    const auto context = static_cast<double>(rotary.originalContext);
    const at::Tensor wavelengths = 2 * std::numbers::pi / frequencies;
    const at::Tensor isLong = wavelengths.gt(context / rotary.lowFactor);
    const at::Tensor stretched = at::where(isLong, frequencies / rotary.factor, frequencies);
    const at::Tensor share
        = (context / wavelengths - rotary.lowFactor) / (rotary.highFactor - rotary.lowFactor); // that is not stretched
    const at::Tensor between = (1 - share) * stretched / rotary.factor + share * stretched;
    const at::Tensor isShort = wavelengths.lt(context / rotary.highFactor);
    return at::where(isLong.logical_or(isShort), stretched, between);
}

/// YaRN (arXiv:2309.00071): by how often a pair of numbers turns within the first context.
at::Tensor stretchedByYarn(const at::Tensor& powers, const RotaryConfig& rotary, std::int64_t width)
{
    const auto pairOfTurns = [&](double turns) {
        return static_cast<double>(width)
            * std::log(static_cast<double>(rotary.originalContext) / (turns * 2 * std::numbers::pi))
            / (2 * std::log(rotary.base));
    };
    const double low = std::max(std::floor(pairOfTurns(rotary.betaFast)), 0.0);
    double high = std::min(std::ceil(pairOfTurns(rotary.betaSlow)), static_cast<double>(width - 1));
    if (low == high)
        high += 0.001;
    const at::Tensor stretched = 1.0 / (rotary.factor * powers);
    const at::Tensor kept = 1 - ((at::arange(width / 2, at::kFloat) - low) / (high - low)).clamp(0, 1);
    return stretched * (1 - kept) + 1.0 / powers * kept;
}

} // namespace

RotaryFrequencies rotaryFrequencies(const ModelConfig& config, bool local)
{
    const RotaryConfig& rotary = config.rotary;
    const std::int64_t width = config.rotaryWidth();
    const bool isOwn = local && rotary.localBase > 0;
    const at::Tensor exponents = at::arange(0, width, 2, at::kFloat) / static_cast<double>(width);
    const at::Tensor powers = at::pow(isOwn ? rotary.localBase : rotary.base, exponents);
    const at::Tensor frequencies = 1.0 / powers;
    if (isOwn)
        return { frequencies };
    switch (rotary.scaling) {
    case RotaryScaling::Linear: return { frequencies / rotary.factor };
    case RotaryScaling::Llama3: return { stretchedByLlama(frequencies, rotary) };
    case RotaryScaling::Yarn: return { stretchedByYarn(powers, rotary, width), rotary.amplitude };
    case RotaryScaling::Dynamic: // begins beyond the context of the model
    case RotaryScaling::None: break;
    }
    return { frequencies };
}

RotaryTable::RotaryTable(const ModelConfig& config, bool local, c10::Device device)
    : frequencies_(rotaryFrequencies(config, local))
    , device_(device)
{
    grow(config.trainingLength());
}

void RotaryTable::grow(std::int64_t length) const
{
    const at::Tensor angles = at::outer(at::arange(length, at::kFloat), frequencies_.values);
    const at::Tensor both = at::cat({ angles, angles }, -1);
    cos_Td_ = both.cos();
    sin_Td_ = both.sin();
    if (frequencies_.amplitude != 1) {
        cos_Td_.mul_(frequencies_.amplitude);
        sin_Td_.mul_(frequencies_.amplitude);
    }
    cos_Td_ = cos_Td_.to(device_);
    sin_Td_ = sin_Td_.to(device_);
}

at::Tensor RotaryTable::rotate(const at::Tensor& x_BnTd, std::int64_t start, const at::Tensor& places_BT) const
{
    const std::int64_t length = x_BnTd.size(2);
    if (start + length > cos_Td_.size(0))
        grow(std::max(start + length, 2 * cos_Td_.size(0)));
    const std::int64_t width = cos_Td_.size(1);
    const std::int64_t half = width / 2;
    const at::Tensor x = x_BnTd.narrow(-1, 0, width).to(at::kFloat);
    const at::Tensor swapped = at::cat({ -x.narrow(-1, half, half), x.narrow(-1, 0, half) }, -1);
    const auto rows = [&](const at::Tensor& table_Td) {
        return places_BT.defined() ? at::embedding(table_Td, places_BT).unsqueeze(1)
                                   : table_Td.narrow(0, start, length);
    };
    const at::Tensor cos = rows(cos_Td_);
    const at::Tensor sin = rows(sin_Td_);
    const at::Tensor turned = (x * cos + swapped * sin).to(x_BnTd.scalar_type());
    return width == x_BnTd.size(-1) ? turned
                                    : at::cat({ turned, x_BnTd.narrow(-1, width, x_BnTd.size(-1) - width) }, -1);
}

at::Tensor softCapped(const at::Tensor& x, double cap) { return cap > 0 ? at::tanh(x / cap) * cap : x; }

at::Tensor activated(const at::Tensor& up, const ModelConfig& config)
{
    const auto act = [&config](const at::Tensor& x) {
        return config.activation == Activation::Silu
            ? at::silu(x)
            : at::gelu(x, config.activation == Activation::GeluTanh ? "tanh" : "none");
    };
    if (!config.gated)
        return act(up);
    const auto halves = up.chunk(2, -1);
    return act(halves[0]) * halves[1];
}

at::Tensor fusedLinearCrossEntropy(const at::Tensor& x_ND, const at::Tensor& weight_VD, const at::Tensor& labels_N,
    Precision precision, const HeadLoss& options)
{
    const at::ScalarType type = scalarType(precision);
    const bool wantGradient = at::GradMode::is_enabled();
    return LinearCrossEntropy::apply(x_ND.to(type), weight_VD.to(type), labels_N,
        LossOptions { options, wantGradient, wantGradient && weight_VD.requires_grad() });
}

at::Tensor recomputed(const BlockFunction& block, const at::Tensor& x) { return Recompute::apply(x, &block); }

void fillNormal(const at::Tensor& parameter, double deviation, at::Generator& generator)
{
    const at::NoGradGuard guard;
    parameter.copy_(at::empty(parameter.sizes(), at::kFloat).normal_(0.0, deviation, generator));
}

void fillTruncatedNormal(const at::Tensor& parameter, double deviation, at::Generator& generator)
{
    // Inverse of the normal distribution function on the part within two deviations.
    constexpr double kRealDeviationOfCut = 0.8796256610342398;
    const at::NoGradGuard guard;
    const double edge = std::erf(2.0 / std::sqrt(2.0));
    at::Tensor values = at::empty(parameter.sizes(), at::kFloat).uniform_(-edge, edge, generator);
    values = values.erfinv_().mul_(std::sqrt(2.0)).clamp_(-2.0, 2.0).mul_(deviation / kRealDeviationOfCut);
    parameter.copy_(values);
}

} // namespace furrow
