#include "core/tracker/active_stretch.h"

#include <algorithm>

namespace furrow {

double activeSecondsUntil(const std::vector<ActiveStretch>& stretches, std::int64_t wallNs)
{
    double seconds = 0;
    for (const ActiveStretch& stretch : stretches) {
        const double whole = static_cast<double>(stretch.activeNs) * 1e-9;
        if (wallNs >= std::max(stretch.beganWallNs, stretch.endedWallNs)) // a clock may have been moved back in it
            seconds += whole;
        else if (wallNs > stretch.beganWallNs)
            seconds += whole * static_cast<double>(wallNs - stretch.beganWallNs)
                / static_cast<double>(stretch.endedWallNs - stretch.beganWallNs);
    }
    return seconds;
}

std::int64_t idleNs(const std::vector<ActiveStretch>& stretches, std::int64_t fromNs, std::int64_t toNs)
{
    std::int64_t idle = 0;
    for (std::size_t i = 1; i < stretches.size(); ++i) {
        const std::int64_t began = std::max(fromNs, stretches[i - 1].endedWallNs);
        const std::int64_t ended = std::min(toNs, stretches[i].beganWallNs);
        idle += std::max<std::int64_t>(0, ended - began);
    }
    return idle;
}

} // namespace furrow
