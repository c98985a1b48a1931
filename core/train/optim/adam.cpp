#include "core/train/optim/optimizer_states_torch.h"

#include <torch/torch.h>

namespace furrow {

namespace {

/// Temporaries of optimizers made of several operators stay below this many numbers.
constexpr std::int64_t kPiece = std::int64_t { 1 } << 24;

/// new where the step counts, old where it must not; nothing leaves the device.
void assignWhen(const at::Tensor& finite, const at::Tensor& old, const at::Tensor& updated)
{
    old.copy_(at::where(finite, updated, old));
}

} // namespace

FlatOptimizer::FlatOptimizer(ParameterStore& store, const OptimizerConfig& config, const std::vector<std::string>& moments)
    : store_(store)
    , config_(config)
    , step_(at::zeros({}, store.weights().options()))
{
    for (const std::string& name : moments)
        moments_.emplace_back(name, at::zeros_like(store.weights()));
}

AdamW::AdamW(ParameterStore& store, const OptimizerConfig& config)
    : FlatOptimizer(store, config, { "exp_avg", "exp_avg_sq" })
{
}

at::Tensor AdamW::step(double learningRate, double clipNorm, double gradientScale)
{
    const at::NoGradGuard guard;
    const StepScale scale = stepScale(store_.gradients(), clipNorm, gradientScale);
    const at::Tensor bad = scale.finite.logical_not().to(at::kFloat);
    const at::Tensor divisor = scale.factor.reciprocal();
    const at::Tensor rate = at::full({}, learningRate, step_.options());
    step_.add_(1.0);
    const std::int64_t whole = std::max<std::int64_t>(store_.count(), 1);
    for (const Range& range : ranges(whole)) {
        const auto piece = [&](const at::Tensor& flat) { return std::vector<at::Tensor> { flat.narrow(0, range.offset, range.count) }; };
        const std::vector<at::Tensor> weights = piece(store_.weights());
        const std::vector<at::Tensor> gradients = piece(store_.gradients());
        if (store_.weights().is_cuda())
            at::_fused_adamw_(weights, gradients, piece(moments_[0].second), piece(moments_[1].second), {}, { step_ }, rate, config_.beta1,
                config_.beta2, range.weightDecay, config_.epsilon, false, false, divisor, bad);
        else
            at::_fused_adamw_(weights, gradients, piece(moments_[0].second), piece(moments_[1].second), {}, { step_ }, learningRate,
                config_.beta1, config_.beta2, range.weightDecay, config_.epsilon, false, false, divisor, bad);
    }
    step_.sub_(bad);
    return scale.norm;
}

AdamATan2::AdamATan2(ParameterStore& store, const OptimizerConfig& config)
    : FlatOptimizer(store, config, { "exp_avg", "exp_avg_sq" })
{
}

at::Tensor AdamATan2::step(double learningRate, double clipNorm, double gradientScale)
{
    const at::NoGradGuard guard;
    const StepScale scale = stepScale(store_.gradients(), clipNorm, gradientScale);
    step_.add_(scale.finite.to(at::kFloat));
    const at::Tensor correction1 = 1.0 - at::pow(config_.beta1, step_);
    const at::Tensor correction2 = (1.0 - at::pow(config_.beta2, step_)).sqrt();
    for (const Range& range : ranges(kPiece)) {
        const auto piece = [&](const at::Tensor& flat) { return flat.narrow(0, range.offset, range.count); };
        const at::Tensor gradient = piece(store_.gradients()) * scale.factor;
        const at::Tensor mean = at::lerp(piece(moments_[0].second), gradient, 1.0 - config_.beta1);
        const at::Tensor square = piece(moments_[1].second) * config_.beta2 + gradient.square() * (1.0 - config_.beta2);
        const at::Tensor update = at::atan2(mean, square.sqrt() / correction2) * (learningRate / correction1);
        const at::Tensor weights = piece(store_.weights()) * (1.0 - learningRate * range.weightDecay) - update;
        assignWhen(scale.finite, piece(moments_[0].second), mean);
        assignWhen(scale.finite, piece(moments_[1].second), square);
        assignWhen(scale.finite, piece(store_.weights()), weights);
    }
    return scale.norm;
}

Sgd::Sgd(ParameterStore& store, const OptimizerConfig& config)
    : FlatOptimizer(store, config, { "momentum" })
{
}

at::Tensor Sgd::step(double learningRate, double clipNorm, double gradientScale)
{
    const at::NoGradGuard guard;
    const StepScale scale = stepScale(store_.gradients(), clipNorm, gradientScale);
    step_.add_(scale.finite.to(at::kFloat));
    for (const Range& range : ranges(kPiece)) {
        const auto piece = [&](const at::Tensor& flat) { return flat.narrow(0, range.offset, range.count); };
        const at::Tensor momentum = piece(moments_[0].second) * config_.momentum + piece(store_.gradients()) * scale.factor;
        const at::Tensor weights = piece(store_.weights()) * (1.0 - learningRate * range.weightDecay) - momentum * learningRate;
        assignWhen(scale.finite, piece(moments_[0].second), momentum);
        assignWhen(scale.finite, piece(store_.weights()), weights);
    }
    return scale.norm;
}

} // namespace furrow
