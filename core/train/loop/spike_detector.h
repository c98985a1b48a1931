#pragma once

#include <cstdint>
#include <deque>

namespace furrow {

/// Finds losses that stick out of the newest ones, by the robust z-score: distance from the median in units of 1.4826 times the median
/// absolute deviation. A plain value.
class SpikeDetector {
public:
    /// @return the score when `loss` is a spike, else 0. Steps right after a spike are not told again.
    double observe(double loss);

private:
    static constexpr std::size_t kWindow = 128;
    static constexpr std::size_t kLeast = 32; ///< losses before anything is judged
    static constexpr double kSpike = 8;
    static constexpr int kQuiet = 16; ///< steps after a spike

    std::deque<double> newest_;
    int quiet_ = 0;
};

} // namespace furrow
