#pragma once

#include "core/base/message.h"

#include <cstdint>
#include <string>

namespace furrow {

/// Brakes the learning rate when training gets worse: compares the mean loss of each window of 64 steps with the one
/// before. Clearly higher (three standard errors): times 0.7; lower: times 1.1. Stays within kLeast to 1. A plain
/// value, saved with the replica, so that a resumed run goes on with the same rates.
class AdaptiveRate {
public:
    static constexpr int kWindow = 64;
    static constexpr double kLeast = 0.1;

    struct State {
        double factor = 1; ///< of the scheduled rate
        std::int64_t count = 0; ///< losses in the window so far
        double sum = 0;
        double squares = 0;
        double lastMean = 0; ///< of the window before
        double lastVariance = -1; ///< of its losses; -1: there is none yet
        bool operator==(const State&) const = default;
    };

    double factor() const { return state_.factor; }
    /// @return why the factor has changed, in a sentence; "": it has not
    Message observe(double loss);

    const State& state() const { return state_; }
    void restore(const State& state) { state_ = state; }

private:
    State state_;
};

} // namespace furrow
