#include "core/telemetry/pace_meter.h"

#include <cmath>

namespace furrow {

void PaceMeter::addStep(double tokens, double seconds)
{
    const double kept = std::exp(-seconds / kFadeSeconds);
    tokens_ = kept * tokens_ + tokens;
    seconds_ = kept * seconds_ + seconds;
}

} // namespace furrow
