#include "core/train/optim/optimizer_states_torch.h"

#include "core/base/sentence.h"

#include <torch/torch.h>

#include <unordered_map>

namespace furrow {

std::unique_ptr<Optimizer> createOptimizer(ParameterStore& store, const OptimizerConfig& config)
{
    switch (config.kind) {
    case OptimizerKind::AdamATan2: return std::make_unique<AdamATan2>(store, config);
    case OptimizerKind::Sgd: return std::make_unique<Sgd>(store, config);
    case OptimizerKind::AdamW8Bit: return std::make_unique<AdamW8Bit>(store, config);
    case OptimizerKind::AdamW: break;
    }
    return std::make_unique<AdamW>(store, config);
}

at::Tensor flatNorm(const at::Tensor& flat) { return at::linalg_vector_norm(flat, 2); }

Status copyState(const NamedTensors& ours, const NamedTensors& saved)
{
    std::unordered_map<std::string, at::Tensor> found(saved.begin(), saved.end());
    for (const auto& [name, tensor] : ours) {
        const auto one = found.find(name);
        if (one == found.end())
            return Error { ErrorCode::Corrupt,
                sentence("tensor '%1' is missing in the saved optimizer state", { name }) };
        if (one->second.sizes() != tensor.sizes() || one->second.scalar_type() != tensor.scalar_type())
            return Error { ErrorCode::Corrupt,
                sentence("tensor '%1' of the saved optimizer state has another shape or type than this optimizer needs",
                    { name }) };
    }
    if (found.size() > ours.size()) {
        for (const auto& [name, tensor] : ours)
            found.erase(name);
        return Error { ErrorCode::Corrupt,
            sentence(
                "tensor '%1' of the saved optimizer state is unknown to this optimizer", { found.begin()->first }) };
    }
    const at::NoGradGuard guard;
    for (const auto& [name, tensor] : ours)
        tensor.copy_(found.at(name));
    return {};
}

StepScale stepScale(const at::Tensor& gradients, double clipNorm, double gradientScale)
{
    constexpr double kTiny = 1e-6; // as torch.nn.utils.clip_grad_norm_
    StepScale scale;
    scale.norm = flatNorm(gradients).div_(gradientScale);
    scale.finite = at::isfinite(scale.norm);
    scale.factor = clipNorm > 0 ? (clipNorm / (scale.norm + kTiny)).clamp_max(1.0) : at::ones_like(scale.norm);
    scale.factor.div_(gradientScale);
    return scale;
}

std::int64_t stepPiece(const at::Tensor& weights) { return std::int64_t { 1 } << (weights.is_cuda() ? 22 : 20); }

std::int64_t FlatOptimizer::appliedSteps() const
{
    return static_cast<std::int64_t>(step_.item<float>()); // sync: asked for at checkpoints only
}

NamedTensors FlatOptimizer::state() const
{
    NamedTensors state { { "step", step_ } };
    for (const auto& [name, flat] : moments_) {
        const NamedTensors views = namedViews(store_, flat, name + ".");
        state.insert(state.end(), views.begin(), views.end());
    }
    return state;
}

Status FlatOptimizer::loadState(const NamedTensors& state) { return copyState(FlatOptimizer::state(), state); }

void FlatOptimizer::reset()
{
    step_.zero_();
    for (auto& [name, flat] : moments_)
        flat.zero_();
}

std::vector<FlatOptimizer::Range> FlatOptimizer::ranges(std::int64_t longest) const
{
    std::vector<Range> found;
    const auto cut = [&](std::int64_t begin, std::int64_t end, double decay) {
        for (std::int64_t at = begin; at < end; at += longest)
            found.push_back({ at, std::min(longest, end - at), decay });
    };
    cut(0, store_.decayedCount(), config_.weightDecay);
    cut(store_.decayedCount(), store_.count(), 0.0);
    return found;
}

WeightAverage::WeightAverage(const ParameterStore& store, double decay)
    : average_(store.weights().clone())
    , decay_(decay)
{
}

void WeightAverage::update(const ParameterStore& store, const at::Tensor& norm)
{
    if (norm.defined())
        average_.lerp_(store.weights(), at::isfinite(norm).to(at::kFloat).mul(1.0 - decay_));
    else
        average_.lerp_(store.weights(), 1.0 - decay_);
}

void WeightAverage::swap(ParameterStore& store)
{
    const at::NoGradGuard guard;
    const at::Tensor weights = store.weights().clone();
    store.weights().copy_(average_);
    average_.copy_(weights);
}

NamedTensors WeightAverage::state(const ParameterStore& store) const
{
    return namedViews(store, average_, kAveragePrefix);
}

Status WeightAverage::loadState(const ParameterStore& store, const NamedTensors& state)
{
    return copyState(namedViews(store, average_, kAveragePrefix), state);
}

} // namespace furrow
