#include "core/train/model/layers_torch.h"

#include "core/model/step_path.h"

#include <torch/torch.h>

#include <cmath>

namespace furrow {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct LossPiece {
    at::Tensor losses_N; ///< float32, 0 where masked
    at::Tensor gradient_NV; ///< d(sum of losses)/d(logits) * scale, compute type; undefined when not wanted
};

LossPiece crossEntropyPiece(const at::Tensor& logits_NV, const at::Tensor& labels_N, double scale, bool wantGradient)
{
    const at::Tensor logProbabilities = at::log_softmax(logits_NV.to(at::kFloat), -1);
    LossPiece piece;
    piece.losses_N = at::nll_loss(logProbabilities, labels_N, {}, at::Reduction::None, kIgnoreLabel);
    if (!wantGradient)
        return piece;
    at::Tensor gradient = logProbabilities.exp();
    const at::Tensor index = labels_N.clamp_min(0).unsqueeze(1);
    gradient.scatter_add_(1, index, at::full({ 1, 1 }, -1.0, gradient.options()).expand_as(index));
    gradient.mul_(labels_N.ne(kIgnoreLabel).to(at::kFloat).mul(scale).unsqueeze(1));
    piece.gradient_NV = gradient.to(logits_NV.scalar_type());
    return piece;
}

class LinearCrossEntropy : public torch::autograd::Function<LinearCrossEntropy> {
public:
    static at::Tensor forward(AutogradContext* context, const at::Tensor& x_ND, const at::Tensor& weight_VD,
        const at::Tensor& labels_N, double scale, bool wantGradient, bool wantWeight)
    {
        const std::int64_t rows = x_ND.size(0);
        const std::int64_t vocabulary = weight_VD.size(0);
        const std::int64_t padded = x_ND.is_cuda() ? (vocabulary + 63) / 64 * 64 : vocabulary;
        const at::Tensor weight = padded == vocabulary ? weight_VD : at::constant_pad_nd(weight_VD, { 0, 0, 0, padded - vocabulary });
        const std::int64_t step = std::max<std::int64_t>(1, kLogitsPerPiece / padded);
        at::Tensor losses = at::empty({ rows }, x_ND.options().dtype(at::kFloat));
        at::Tensor gradX = wantGradient ? at::empty_like(x_ND) : at::Tensor();
        at::Tensor gradWeight;
        for (std::int64_t begin = 0; begin < rows; begin += step) {
            const std::int64_t count = std::min(step, rows - begin);
            const at::Tensor x = x_ND.narrow(0, begin, count);
            const at::Tensor logits = at::linear(x, weight).narrow(1, 0, vocabulary);
            LossPiece piece = crossEntropyPiece(logits, labels_N.narrow(0, begin, count), scale, wantGradient);
            losses.narrow(0, begin, count).copy_(piece.losses_N);
            if (!wantGradient)
                continue;
            gradX.narrow(0, begin, count).copy_(at::mm(piece.gradient_NV, weight_VD));
            if (!wantWeight)
                continue;
            const at::Tensor gradPiece = at::mm(piece.gradient_NV.t(), x).to(at::kFloat);
            gradWeight = gradWeight.defined() ? gradWeight.add_(gradPiece) : gradPiece;
        }
        if (wantGradient) {
            context->saved_data["x"] = gradX;
            if (wantWeight)
                context->saved_data["weight"] = gradWeight.to(weight_VD.scalar_type());
        }
        return losses;
    }

    static variable_list backward(AutogradContext* context, variable_list)
    {
        const auto weight = context->saved_data.find("weight");
        return { context->saved_data["x"].toTensor(), weight == context->saved_data.end() ? at::Tensor() : weight->second.toTensor(), at::Tensor(), at::Tensor(), at::Tensor(), at::Tensor() };
    }
};

at::Generator generatorOf(const at::Device& device)
{
    return at::globalContext().defaultGenerator(device);
}

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
    case Precision::BFloat16:
        return at::kBFloat16;
    case Precision::Float16:
        return at::kHalf;
    case Precision::Float32:
        break;
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
    Precision precision, double gradientScale)
{
    const at::ScalarType type = scalarType(precision);
    const bool wantGradient = at::GradMode::is_enabled();
    return LinearCrossEntropy::apply(x_ND.to(type), weight_VD.to(type), labels_N, gradientScale, wantGradient, wantGradient && weight_VD.requires_grad());
}

at::Tensor recomputed(const BlockFunction& block, const at::Tensor& x)
{
    return Recompute::apply(x, &block);
}

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
