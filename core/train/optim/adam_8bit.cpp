#include "core/train/optim/optimizer_states_torch.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>

namespace furrow {

namespace {

constexpr std::int64_t kBlock = 256;

std::int64_t paddedCount(std::int64_t count) { return (count + kBlock - 1) / kBlock * kBlock; }

/// Dynamic tree map: 7 decades, each with twice as many linear steps as the one below, so small values keep relative
/// precision. 256 sorted values with 0 and 1 among them.
at::Tensor dynamicMap(bool isSigned)
{
    constexpr int kDecades = 7;
    std::vector<float> values { 0.0F, 1.0F };
    for (int decade = 0; decade < kDecades; ++decade) {
        const int steps = isSigned ? 1 << decade : 1 << (decade + 1);
        const double top = std::pow(10.0, decade - kDecades + 1);
        for (int i = 0; i < steps; ++i) {
            const double share = 0.1 + 0.9 * (i + 0.5) / steps;
            values.push_back(static_cast<float>(share * top));
            if (isSigned)
                values.push_back(static_cast<float>(-share * top));
        }
    }
    std::sort(values.begin(), values.end());
    return at::tensor(values);
}

at::Tensor decode(const at::Tensor& codes_NB, const at::Tensor& scales_N, const at::Tensor& map)
{
    return map.index_select(0, codes_NB.flatten().to(at::kInt)).view(codes_NB.sizes()) * scales_N.unsqueeze(1);
}

at::Tensor encode(const at::Tensor& values_NB, const at::Tensor& scales_N, const at::Tensor& map)
{
    const at::Tensor middles = (map.narrow(0, 1, map.size(0) - 1) + map.narrow(0, 0, map.size(0) - 1)) * 0.5;
    const at::Tensor shares = values_NB / scales_N.clamp_min(1e-38).unsqueeze(1);
    return at::bucketize(shares, middles, true).to(at::kByte);
}

} // namespace

AdamW8Bit::AdamW8Bit(ParameterStore& store, const OptimizerConfig& config)
    : store_(store)
    , config_(config)
    , step_(at::zeros({}, store.weights().options()))
    , signedMap_(dynamicMap(true).to(store.weights().device()))
    , unsignedMap_(dynamicMap(false).to(store.weights().device()))
{
    const std::int64_t padded = paddedCount(store.count());
    for (Quantised* moment : { &mean_, &root_ }) {
        moment->codes = at::zeros({ padded }, store.weights().options().dtype(at::kByte));
        moment->scales = at::zeros({ padded / kBlock }, store.weights().options());
    }
    reset();
}

void AdamW8Bit::reset()
{
    step_.zero_();
    mean_.scales.zero_();
    root_.scales.zero_();
    mean_.codes.zero_();
    root_.codes.zero_();
}

at::Tensor AdamW8Bit::step(double learningRate, double clipNorm, double gradientScale)
{
    const at::NoGradGuard guard;
    const StepScale scale = stepScale(store_.gradients(), clipNorm, gradientScale);
    step_.add_(scale.finite.to(at::kFloat));
    const std::int64_t piece = stepPiece(store_.weights());
    static_assert((1 << 20) % kBlock == 0, "pieces hold whole blocks");
    for (std::int64_t at = 0; at < store_.count(); at += piece)
        updatePiece(at, std::min(piece, store_.count() - at), scale, learningRate);
    return scale.norm;
}

void AdamW8Bit::updatePiece(std::int64_t offset, std::int64_t count, const StepScale& scale, double learningRate)
{
    const std::int64_t padded = paddedCount(count);
    const auto codes
        = [&](const Quantised& moment) { return moment.codes.narrow(0, offset, padded).view({ -1, kBlock }); };
    const auto scales
        = [&](const Quantised& moment) { return moment.scales.narrow(0, offset / kBlock, padded / kBlock); };
    at::Tensor gradient = store_.gradients().narrow(0, offset, count) * scale.factor;
    gradient = at::constant_pad_nd(gradient, { 0, padded - count }).view({ -1, kBlock });

    const at::Tensor mean = at::lerp(decode(codes(mean_), scales(mean_), signedMap_), gradient, 1.0 - config_.beta1);
    // The root is what is stored: its range is that of the gradients, while small squares would all become zero.
    const at::Tensor square = decode(codes(root_), scales(root_), unsignedMap_).square() * config_.beta2
        + gradient.square() * (1.0 - config_.beta2);
    const at::Tensor root = square.sqrt();
    const at::Tensor correction1 = 1.0 - at::pow(config_.beta1, step_);
    const at::Tensor correction2 = (1.0 - at::pow(config_.beta2, step_)).sqrt();
    const at::Tensor update
        = ((mean / correction1) / (root / correction2 + config_.epsilon)).flatten().narrow(0, 0, count);

    const at::Tensor weights = store_.weights().narrow(0, offset, count);
    at::Tensor decayed = weights.clone();
    if (const std::int64_t matrices = std::clamp<std::int64_t>(store_.decayedCount() - offset, 0, count); matrices > 0)
        decayed.narrow(0, 0, matrices).mul_(1.0 - learningRate * config_.weightDecay);
    weights.copy_(at::where(scale.finite, decayed - update * learningRate, weights));
    for (const auto& [moment, values, map] :
        { std::tie(mean_, mean, signedMap_), std::tie(root_, root, unsignedMap_) }) {
        const at::Tensor newScales = values.abs().amax(1);
        codes(moment).copy_(at::where(scale.finite, encode(values, newScales, map), codes(moment)));
        scales(moment).copy_(at::where(scale.finite, newScales, scales(moment)));
    }
}

std::int64_t AdamW8Bit::appliedSteps() const
{
    return static_cast<std::int64_t>(step_.item<float>()); // sync: asked for at checkpoints only
}

NamedTensors AdamW8Bit::state() const
{
    return { { "step", step_ }, { "exp_avg.codes", mean_.codes }, { "exp_avg.scales", mean_.scales },
        { "exp_avg_sq_root.codes", root_.codes }, { "exp_avg_sq_root.scales", root_.scales } };
}

Status AdamW8Bit::loadState(const NamedTensors& state) { return copyState(AdamW8Bit::state(), state); }

} // namespace furrow
