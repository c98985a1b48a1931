#include "core/config/poisson_privacy.h"

#include "core/base/log_normal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace furrow {

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

std::vector<double> orders()
{
    std::vector<double> all;
    for (int tenth = 1; tenth < 100; ++tenth)
        all.push_back(1 + tenth / 10.0);
    for (int order = 11; order < 64; ++order)
        all.push_back(order);
    for (const double order : { 128, 256, 512, 1024 })
        all.push_back(order);
    return all;
}

/// log(e^a + e^b)
double logSum(double a, double b)
{
    const double high = std::max(a, b);
    return std::isinf(high) ? high : high + std::log1p(std::exp(std::min(a, b) - high));
}

/// log(e^a - e^b) where a >= b but for rounding
double logDifference(double a, double b) { return b >= a ? -kInfinite : a + std::log(-std::expm1(b - a)); }

double logBinomial(double n, double k) { return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1); }

/// log of the moment of a whole order: a sum of order + 1 terms.
double logMoment(double rate, double noise, int order)
{
    double sum = -kInfinite;
    for (int k = 0; k <= order; ++k)
        sum = logSum(sum,
            logBinomial(order, k) + k * std::log(rate) + (order - k) * std::log1p(-rate)
                + (k * k - k) / (2 * noise * noise));
    return sum;
}

/// The same of any order: two series that alternate from the order on, one on each side of the point where the two
/// densities are equal.
double logMoment(double rate, double noise, double order)
{
    constexpr double kSmall = -30; // a term is below e^-30 of the whole, which is at least 1
    const double variance = noise * noise;
    const double equal = variance * std::log(1 / rate - 1) + 0.5;
    double below = -kInfinite;
    double above = -kInfinite;
    bool isPositive = true; // sign of the binomial of order and i
    double logCoefficient = 0;
    for (int i = 0;; ++i) {
        const double rest = order - i;
        const double first = logCoefficient + i * std::log(rate) + rest * std::log1p(-rate)
            + (static_cast<double>(i) * i - i) / (2 * variance) + logNormal((equal - i) / noise);
        const double second = logCoefficient + rest * std::log(rate) + i * std::log1p(-rate)
            + (rest * rest - rest) / (2 * variance) + logNormal((rest - equal) / noise);
        below = isPositive ? logSum(below, first) : logDifference(below, first);
        above = isPositive ? logSum(above, second) : logDifference(above, second);
        if (std::max(first, second) < kSmall)
            return logSum(below, above);
        logCoefficient += std::log(std::abs(rest)) - std::log(i + 1.0);
        isPositive = isPositive == (rest > 0);
    }
}

double divergence(const PoissonSteps& training, double order)
{
    const double noise = training.noise;
    if (training.rate == 1)
        return order / (2 * noise * noise);
    const bool isWhole = order == std::floor(order);
    const double moment
        = isWhole ? logMoment(training.rate, noise, static_cast<int>(order)) : logMoment(training.rate, noise, order);
    return moment / (order - 1);
}

double epsilonOf(double divergence, double order, double delta)
{
    if (delta * delta + std::expm1(-divergence) >= 0)
        return 0;
    return divergence + std::log1p(-1 / order) - (std::log(delta) + std::log(order)) / (order - 1);
}

} // namespace

double poissonEpsilon(const PoissonSteps& training, double delta)
{
    if (training.steps <= 0 || training.rate <= 0)
        return 0;
    if (training.noise <= 0)
        return kInfinite;
    double least = kInfinite;
    for (const double order : orders()) {
        const double all = divergence(training, order) * static_cast<double>(training.steps);
        if (std::isfinite(all))
            least = std::min(least, epsilonOf(all, order, delta));
    }
    return std::max(0.0, least);
}

} // namespace furrow
