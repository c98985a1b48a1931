#include "core/train/meters/spike_detector.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace furrow {

namespace {

double medianOf(std::vector<double>& values)
{
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

} // namespace

double SpikeDetector::observe(double loss)
{
    constexpr double kNormal = 1.4826; // makes the deviation of a normal distribution 1
    constexpr double kFlat = 1e-3; // nats: below it a loss curve is level, and any ripple would look like a spike
    double score = 0;
    if (state_.newest.size() >= kLeast && state_.quiet == 0) {
        std::vector<double> values(state_.newest.begin(), state_.newest.end());
        const double median = medianOf(values);
        for (double& value : values)
            value = std::abs(value - median);
        const double z = (loss - median) / std::max(kNormal * medianOf(values), kFlat);
        if (z > kSpike) {
            score = z;
            state_.quiet = kQuiet;
        }
    }
    state_.quiet = std::max(0, state_.quiet - (score > 0 ? 0 : 1));
    state_.newest.push_back(loss);
    if (state_.newest.size() > kWindow)
        state_.newest.pop_front();
    return score;
}

std::optional<DivergenceWatch::Finding> DivergenceWatch::observe(double loss)
{
    State& s = state_;
    s.newest.push_back(loss);
    if (s.newest.size() > kWindow)
        s.newest.pop_front();
    if (s.newest.size() < kWindow)
        return std::nullopt;
    const double mean = std::accumulate(s.newest.begin(), s.newest.end(), 0.0) / static_cast<double>(kWindow);
    if (s.best < 0 || mean < s.best)
        s.best = mean;
    const double above = mean - s.best;
    const double limit = std::max(kLeastNats, kShare * s.best);
    if (above < limit / 2)
        s.told = false;
    if (above < limit || s.told)
        return std::nullopt;
    s.told = true;
    return Finding { mean, s.best };
}

} // namespace furrow
