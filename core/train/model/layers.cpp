#include "core/train/model/layers_torch.h"

#include <torch/torch.h>

#include <cmath>

namespace furrow {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// @param losses_N  written: float32, 0 where masked
/// @param gradient_NV  written, where it is defined: d(sum of losses)/d(logits) * scale, in the compute type
void crossEntropy(const at::Tensor& logits_NV, const at::Tensor& labels_N, double scale, const at::Tensor& losses_N,
    at::Tensor gradient_NV)
{
    at::Tensor probabilities = at::log_softmax(logits_NV.to(at::kFloat), -1);
    losses_N.copy_(at::nll_loss(probabilities, labels_N, {}, at::Reduction::None, kIgnoreLabel));
    if (!gradient_NV.defined())
        return;
    probabilities.exp_();
    const at::Tensor index = labels_N.clamp_min(0).unsqueeze(1);
    probabilities.scatter_add_(1, index, at::full({ 1, 1 }, -1.0, probabilities.options()).expand_as(index));
    at::mul_out(gradient_NV, probabilities,
        labels_N.ne(kIgnoreLabel).to(at::kFloat).mul(scale).unsqueeze(1)); // rounds on the way
}

struct LossOptions {
    double scale;
    bool wantGradient;
    bool wantWeight; ///< its gradient
    LogitParts parts;
};

class LinearCrossEntropy : public torch::autograd::Function<LinearCrossEntropy> {
public:
    static at::Tensor forward(AutogradContext* context, const at::Tensor& x_ND, const at::Tensor& weight_VD,
        const at::Tensor& labels_N, const LossOptions& options)
    {
        const std::int64_t rows = x_ND.size(0);
        const std::int64_t vocabulary = weight_VD.size(0);
        const std::int64_t padded = (vocabulary + options.parts.padTo - 1) / options.parts.padTo * options.parts.padTo;
        const std::int64_t pieceRows = std::max<std::int64_t>(1, options.parts.piece / padded);
        const std::int64_t groupRows = std::min(rows, std::max(pieceRows, options.parts.group / padded));
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
                crossEntropy(logits_NV, piece(labels_N), options.scale, piece(losses_N),
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

RotaryTable::RotaryTable(std::int64_t length, std::int64_t headWidth, double theta, c10::Device device)
{
    const at::Tensor powers = at::arange(0, headWidth, 2, at::kFloat) / static_cast<double>(headWidth);
    const at::Tensor frequencies = 1.0 / at::pow(theta, powers);
    const at::Tensor angles = at::outer(at::arange(length, at::kFloat), frequencies);
    const at::Tensor both = at::cat({ angles, angles }, -1);
    cos_Td_ = both.cos().to(device);
    sin_Td_ = both.sin().to(device);
}

at::Tensor RotaryTable::rotate(const at::Tensor& x_BnTd, std::int64_t start) const
{
    const at::Tensor x = x_BnTd.to(at::kFloat);
    const std::int64_t half = x.size(-1) / 2;
    const at::Tensor turned = at::cat({ -x.narrow(-1, half, half), x.narrow(-1, 0, half) }, -1);
    const at::Tensor cos = cos_Td_.narrow(0, start, x.size(2));
    const at::Tensor sin = sin_Td_.narrow(0, start, x.size(2));
    return (x * cos + turned * sin).to(x_BnTd.scalar_type());
}

at::Tensor fusedLinearCrossEntropy(const at::Tensor& x_ND, const at::Tensor& weight_VD, const at::Tensor& labels_N,
    Precision precision, double gradientScale, const LogitParts& parts)
{
    const at::ScalarType type = scalarType(precision);
    const bool wantGradient = at::GradMode::is_enabled();
    const LossOptions options { gradientScale, wantGradient, wantGradient && weight_VD.requires_grad(), parts };
    return LinearCrossEntropy::apply(x_ND.to(type), weight_VD.to(type), labels_N, options);
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
