#include "core/train/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace furrow {

Result<ScheduleKind> scheduleKind(const std::string& name)
{
    if (name == "constant")
        return ScheduleKind::Constant;
    if (name == "cosine")
        return ScheduleKind::Cosine;
    if (name == "linear")
        return ScheduleKind::Linear;
    if (name == "wsd")
        return ScheduleKind::Wsd;
    return Error { ErrorCode::InvalidArgument, "schedule '" + name + "' is unknown; allowed are constant, cosine, linear, wsd" };
}

double learningRate(const LrSchedule& schedule, std::int64_t ownStep, double position)
{
    double decayed = schedule.peakLr;
    const double span = schedule.decayUntil - schedule.decayFrom;
    if (span > 0 && schedule.kind != ScheduleKind::Constant) {
        double progress = std::clamp((position - schedule.decayFrom) / span, 0.0, 1.0);
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
    if (ownStep < schedule.warmupSteps)
        decayed *= static_cast<double>(ownStep + 1) / static_cast<double>(schedule.warmupSteps + 1);
    return decayed;
}

} // namespace furrow
