#pragma once

#include <cstdint>
#include <deque>
#include <optional>

namespace furrow {

/// Finds losses that stick out of the newest ones, by the robust z-score: distance from the median in units of 1.4826
/// times the median absolute deviation. A plain value, saved with the replica, so that the first loss after a resume is
/// judged too.
class SpikeDetector {
public:
    struct State {
        std::deque<double> newest; ///< losses, newest last
        int quiet = 0; ///< steps that are not judged any more, after a spike
        bool operator==(const State&) const = default;
    };

    /// @return the score when `loss` is a spike, else 0. Steps right after a spike are not told again.
    double observe(double loss);

    const State& state() const { return state_; }
    void restore(const State& state) { state_ = state; }

    static constexpr std::size_t kWindow = 128;

private:
    static constexpr std::size_t kLeast = 32; ///< losses before anything is judged
    static constexpr double kSpike = 8;
    static constexpr int kQuiet = 16; ///< steps after a spike

    State state_;
};

/// Finds training that has lost what it had learnt: the mean of the newest losses lies clearly above the lowest such
/// mean so far, by half of it and by a nat at least. Told once, until the loss is back. A plain value, saved with the
/// replica.
class DivergenceWatch {
public:
    struct State {
        std::deque<double> newest; ///< losses, newest last
        double best = -1; ///< lowest mean so far; below 0: none yet
        bool told = false;
        bool operator==(const State&) const = default;
    };
    struct Finding {
        double mean = 0; ///< of the newest losses
        double best = 0;
    };

    /// @return what is to be told; nothing: all is well, or it was told
    std::optional<Finding> observe(double loss);

    const State& state() const { return state_; }
    void restore(const State& state) { state_ = state; }

    static constexpr std::size_t kWindow = 32;

private:
    static constexpr double kShare = 0.5; ///< of the best mean, above it
    static constexpr double kLeastNats = 1;

    State state_;
};

} // namespace furrow
