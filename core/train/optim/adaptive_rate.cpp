#include "core/train/optim/adaptive_rate.h"

#include "core/base/format.h"
#include "core/base/sentence.h"

#include <algorithm>
#include <cmath>

namespace furrow {

Message AdaptiveRate::observe(double loss)
{
    constexpr double kBrake = 0.7;
    constexpr double kRelease = 1.1;
    constexpr double kClearly = 3; // standard errors
    State& s = state_;
    ++s.count;
    s.sum += loss;
    s.squares += loss * loss;
    if (s.count < kWindow)
        return {};
    const double mean = s.sum / kWindow;
    const double variance = std::max(0.0, s.squares / kWindow - mean * mean);
    const double before = s.factor;
    const double error = std::sqrt((variance + s.lastVariance) / kWindow);
    if (s.lastVariance >= 0 && mean > s.lastMean + kClearly * error)
        s.factor = std::max(kLeast, s.factor * kBrake);
    else if (s.lastVariance >= 0 && mean < s.lastMean)
        s.factor = std::min(1.0, s.factor * kRelease);
    const double lastMean = s.lastMean;
    s = { s.factor, 0, 0, 0, mean, variance };
    if (s.factor == before)
        return {};
    return sentence(
        "adaptive rate: mean loss of %1 steps went from %2 to %3, so the rate is %4 % of the schedule (before: %5 %)",
        { std::to_string(kWindow), Real(lastMean, 4), Real(mean, 4), Real(100 * s.factor, 1), Real(100 * before, 1) });
}

} // namespace furrow
