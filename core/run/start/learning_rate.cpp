#include "core/run/start/learning_rate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace furrow {

double scheduledRate(const LrSchedule& schedule, double position)
{
    double decayed = schedule.peakLr;
    if (schedule.decayUntil > 0 && schedule.kind != ScheduleKind::Constant) {
        const double span = schedule.decayUntil - schedule.decayFrom;
        double progress = span > 0 ? std::clamp((position - schedule.decayFrom) / span, 0.0, 1.0) : 1;
        const double range = schedule.peakLr - schedule.floorLr;
        if (schedule.kind == ScheduleKind::Cosine) {
            decayed = schedule.floorLr + 0.5 * range * (1.0 + std::cos(std::numbers::pi * progress));
        } else {
            if (schedule.kind == ScheduleKind::Wsd) {
                const double share = std::clamp(schedule.wsdDecayShare, 1e-9, 1.0);
                progress = std::max(0.0, (progress - (1.0 - share)) / share);
            }
            decayed = schedule.peakLr - range * progress;
        }
    }
    if (position >= schedule.rampUntil || schedule.rampUntil <= schedule.rampFrom)
        return decayed;
    const double climbed = std::max(0.0, position - schedule.rampFrom) / (schedule.rampUntil - schedule.rampFrom);
    return schedule.rampLr + (decayed - schedule.rampLr) * climbed;
}

double learningRate(const LrSchedule& schedule, std::int64_t ownStep, double position)
{
    const double rate = scheduledRate(schedule, position);
    return ownStep < schedule.warmupSteps
        ? rate * static_cast<double>(ownStep + 1) / static_cast<double>(schedule.warmupSteps + 1)
        : rate;
}

} // namespace furrow
