#include "core/train/loop/spike_detector.h"

#include <algorithm>
#include <cmath>
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
    if (newest_.size() >= kLeast && quiet_ == 0) {
        std::vector<double> values(newest_.begin(), newest_.end());
        const double median = medianOf(values);
        for (double& value : values)
            value = std::abs(value - median);
        const double z = (loss - median) / std::max(kNormal * medianOf(values), kFlat);
        if (z > kSpike) {
            score = z;
            quiet_ = kQuiet;
        }
    }
    quiet_ = std::max(0, quiet_ - (score > 0 ? 0 : 1));
    newest_.push_back(loss);
    if (newest_.size() > kWindow)
        newest_.pop_front();
    return score;
}

} // namespace furrow
