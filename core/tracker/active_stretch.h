#pragma once

#include <cstdint>
#include <vector>

namespace furrow {

/// Wall time in which a run was active: a worker lived, nobody had paused it, and there was something to train or to
/// prepare. The supervisor keeps them with its heartbeats, so an end may lie a second behind what happened.
struct ActiveStretch {
    std::int64_t beganWallNs = 0;
    std::int64_t endedWallNs = 0; ///< of one that goes on: the newest heartbeat
    std::int64_t activeNs = 0; ///< by the monotonic clock: less where a stranger held the tracker, or a clock was moved
};

/// Active time of a run until a moment [s]: at its newest heartbeat what readStatus() says.
/// @param stretches  all of the run, oldest first
double activeSecondsUntil(const std::vector<ActiveStretch>& stretches, std::int64_t wallNs);

/// Time between two moments in which the run was not active [ns]; none before the first stretch, nor behind the newest.
std::int64_t idleNs(const std::vector<ActiveStretch>& stretches, std::int64_t fromNs, std::int64_t toNs);

} // namespace furrow
