#include "core/config/gaussian_privacy.h"

#include "core/base/log_normal.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace furrow {

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr int kHalvings = 200; // more than a double has bits

/// Least x in [low, high] with holds(x), to the last bits; holds must be true from some x on, and at `high`.
template <typename Holds> double leastWith(double low, double high, Holds holds)
{
    for (int i = 0; i < kHalvings && low < high; ++i) {
        const double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high)
            break;
        (holds(middle) ? high : low) = middle;
    }
    return high;
}

} // namespace

GaussianLoss lossOf(std::int64_t participations, double noise)
{
    if (participations <= 0)
        return {};
    return { noise > 0 ? std::sqrt(static_cast<double>(participations)) / noise : kInfinite };
}

double deltaOf(GaussianLoss loss, double epsilon)
{
    if (loss.mu == 0)
        return 0;
    if (std::isinf(loss.mu))
        return 1;
    const double half = loss.mu / 2;
    const double shift = epsilon / loss.mu;
    const double first = logNormal(half - shift);
    const double second = epsilon + logNormal(-half - shift);
    return second >= first ? 0 : -std::exp(first) * std::expm1(second - first);
}

double epsilonOf(GaussianLoss loss, double delta)
{
    if (std::isinf(loss.mu))
        return kInfinite;
    const auto holds = [&](double epsilon) { return deltaOf(loss, epsilon) <= delta; };
    if (holds(0))
        return 0;
    double high = 1;
    while (!holds(high))
        high *= 2;
    return leastWith(0, high, holds);
}

std::int64_t mostParticipations(double noise, double epsilon, double delta)
{
    constexpr std::int64_t kMost = std::int64_t { 1 } << 40;
    const auto holds = [&](std::int64_t count) { return deltaOf(lossOf(count, noise), epsilon) <= delta; };
    if (!holds(1))
        return 0;
    std::int64_t most = 1;
    while (most < kMost && holds(2 * most))
        most *= 2;
    for (std::int64_t step = most / 2; step > 0; step /= 2)
        most += holds(most + step) ? step : 0;
    return most;
}

std::int64_t mostParticipations(const RunConfig& config)
{
    return config.noiseMultiplier > 0 && config.targetEpsilon > 0
        ? mostParticipations(config.noiseMultiplier, config.targetEpsilon, config.targetDelta)
        : 0;
}

double leastNoise(std::int64_t participations, double epsilon, double delta)
{
    const auto holds = [&](double noise) { return deltaOf(lossOf(participations, noise), epsilon) <= delta; };
    double high = 1;
    while (!holds(high))
        high *= 2;
    return leastWith(0, high, holds);
}

} // namespace furrow
