#include "core/train/cpu/kernels.h"
#include "core/train/optim/optimizer_states_torch.h"

#include <torch/torch.h>

#include <cmath>

namespace furrow {

namespace {

/// new where the step counts, old where it must not; nothing leaves the device.
void assignWhen(const at::Tensor& finite, const at::Tensor& old, const at::Tensor& updated)
{
    old.copy_(at::where(finite, updated, old));
}

} // namespace

FlatOptimizer::FlatOptimizer(
    ParameterStore& store, const OptimizerConfig& config, const std::vector<std::string>& moments)
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
    if (store.weights().is_cpu() && cpu::kernels())
        pool_ = cpu::sharedPool(std::max(1, config.threads));
}

at::Tensor AdamW::step(double learningRate, double clipNorm, double gradientScale)
{
    return pool_ ? stepOnCpu(learningRate, clipNorm, gradientScale) : stepFused(learningRate, clipNorm, gradientScale);
}

at::Tensor AdamW::stepOnCpu(double learningRate, double clipNorm, double gradientScale)
{
    const cpu::Kernels& kernels = *cpu::kernels();
    const float* gradients = store_.gradients().const_data_ptr<float>();
    const std::int64_t count = store_.count();
    const int threads = pool_->threads();
    const auto border = [&](std::int64_t thread) { return count * thread / threads; };
    std::vector<double> squares(static_cast<std::size_t>(threads));
    pool_->run([&](int thread) {
        squares[static_cast<std::size_t>(thread)]
            = kernels.squaredSum(gradients + border(thread), border(thread + 1) - border(thread));
    });
    double total = 0;
    for (const double one : squares)
        total += one;
    const double norm = std::sqrt(total) / gradientScale;
    if (!std::isfinite(norm))
        return at::scalar_tensor(norm, at::kFloat);

    step_.add_(1.0F);
    const double done = static_cast<double>(step_.item<float>());
    constexpr double kTiny = 1e-6; // as torch.nn.utils.clip_grad_norm_
    const double clip = clipNorm > 0 ? std::min(1.0, clipNorm / (norm + kTiny)) : 1.0;
    cpu::AdamArguments all;
    all.gradientScale = static_cast<float>(clip / gradientScale);
    all.rate = static_cast<float>(learningRate / (1.0 - std::pow(config_.beta1, done)));
    all.beta1 = static_cast<float>(config_.beta1);
    all.beta2 = static_cast<float>(config_.beta2);
    all.epsilon = static_cast<float>(config_.epsilon);
    all.inverseRoot = static_cast<float>(1.0 / std::sqrt(1.0 - std::pow(config_.beta2, done)));
    pool_->run([&](int thread) {
        for (const Range& range : ranges(std::max<std::int64_t>(count, 1))) {
            const std::int64_t begin = std::max(range.offset, border(thread));
            const std::int64_t end = std::min(range.offset + range.count, border(thread + 1));
            if (begin >= end)
                continue;
            cpu::AdamArguments part = all;
            part.weights = store_.weights().mutable_data_ptr<float>() + begin;
            part.mean = moments_[0].second.mutable_data_ptr<float>() + begin;
            part.square = moments_[1].second.mutable_data_ptr<float>() + begin;
            part.gradients = gradients + begin;
            part.count = end - begin;
            part.keep = static_cast<float>(1.0 - learningRate * range.weightDecay);
            kernels.adamW(part);
        }
    });
    return at::scalar_tensor(norm, at::kFloat);
}

at::Tensor AdamW::stepFused(double learningRate, double clipNorm, double gradientScale)
{
    const at::NoGradGuard guard;
    const StepScale scale = stepScale(store_.gradients(), clipNorm, gradientScale);
    const at::Tensor bad = scale.finite.logical_not().to(at::kFloat);
    const at::Tensor divisor = scale.factor.reciprocal();
    const at::Tensor rate = at::full({}, learningRate, step_.options());
    step_.add_(1.0);
    const std::int64_t whole = std::max<std::int64_t>(store_.count(), 1);
    for (const Range& range : ranges(whole)) {
        const auto piece = [&](const at::Tensor& flat) {
            return std::vector<at::Tensor> { flat.narrow(0, range.offset, range.count) };
        };
        const std::vector<at::Tensor> weights = piece(store_.weights());
        const std::vector<at::Tensor> gradients = piece(store_.gradients());
        if (store_.weights().is_cuda())
            at::_fused_adamw_(weights, gradients, piece(moments_[0].second), piece(moments_[1].second), {}, { step_ },
                rate, config_.beta1, config_.beta2, range.weightDecay, config_.epsilon, false, false, divisor, bad);
        else
            at::_fused_adamw_(weights, gradients, piece(moments_[0].second), piece(moments_[1].second), {}, { step_ },
                learningRate, config_.beta1, config_.beta2, range.weightDecay, config_.epsilon, false, false, divisor,
                bad);
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
    for (const Range& range : ranges(stepPiece(store_.weights()))) {
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
    for (const Range& range : ranges(stepPiece(store_.weights()))) {
        const auto piece = [&](const at::Tensor& flat) { return flat.narrow(0, range.offset, range.count); };
        const at::Tensor momentum
            = piece(moments_[0].second) * config_.momentum + piece(store_.gradients()) * scale.factor;
        const at::Tensor weights
            = piece(store_.weights()) * (1.0 - learningRate * range.weightDecay) - momentum * learningRate;
        assignWhen(scale.finite, piece(moments_[0].second), momentum);
        assignWhen(scale.finite, piece(store_.weights()), weights);
    }
    return scale.norm;
}

} // namespace furrow
