#pragma once

namespace furrow {

/// Tokens per second now: all tokens of the last seconds over all their time. A mean of the paces of steps would weigh
/// a step by no time at all: where a machine runs and stands in turns (a CPU quota, a busy neighbour) most steps are
/// quick and the few that stood take most of the time.
class PaceMeter {
public:
    static constexpr double kFadeSeconds
        = 5; ///< long beside a period of the scheduler, short beside a look at the screen

    /// @param seconds  since the end of the step before, waiting included
    void addStep(double tokens, double seconds);
    /// 0: no step yet.
    double tokensPerSecond() const { return seconds_ > 0 ? tokens_ / seconds_ : 0; }

private:
    // both fade with the time, not with the steps
    double tokens_ = 0;
    double seconds_ = 0;
};

} // namespace furrow
