#include "core/train/meters/pace_meter.h"

#include <cmath>

namespace furrow {

namespace {

constexpr double kFadeSeconds = 5; // long beside a period of the scheduler, short beside a look at the screen

} // namespace

void PaceMeter::addStep(double tokens, double seconds)
{
    const double kept = std::exp(-seconds / kFadeSeconds);
    tokens_ = kept * tokens_ + tokens;
    seconds_ = kept * seconds_ + seconds;
}

} // namespace furrow
