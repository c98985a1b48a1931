#pragma once

#include "core/base/clock.h"

#include <cstdint>

namespace furrow {

/// Between two times of a monotonic clock.
inline double secondsBetween(std::int64_t fromNs, std::int64_t toNs)
{
    return static_cast<double>(toNs - fromNs) / 1e9;
}

inline double secondsSince(std::int64_t monotonicNs)
{
    return secondsBetween(monotonicNs, systemClock().monotonicNs());
}

} // namespace furrow
