#pragma once

#include "core/config/choices.h"

#include <cstdint>

namespace furrow {

/// Learning rate as warm-up times decay. Warm-up counts the optimiser steps of this replica (its moments need them);
/// decay follows the run's position, so that all replicas are at the same place.
struct LrSchedule {
    ScheduleKind kind = ScheduleKind::Cosine;
    double peakLr = 1e-3;
    double floorLr = 1e-4;
    std::int64_t warmupSteps = 100; ///< of the replica's own optimiser steps
    double decayFrom = 0; ///< position where decay starts (same unit as decayUntil, usually tokens)
    double decayUntil = 0; ///< position where floorLr is reached; 0: no decay
    double wsdDecayShare = 0.2; ///< wsd: last share of decayUntil that falls, linearly
    double rampFrom = 0; ///< position where a ramp begins that leads into the schedule: after a resume that changed it
    double rampUntil = 0; ///< position where the schedule itself is reached; not above rampFrom: there is no ramp
    double rampLr = 0; ///< rate at rampFrom
    bool operator==(const LrSchedule&) const = default;
};

/// The rate without the warm-up of a replica: what the run's position alone decides. Pure; cannot fail.
double scheduledRate(const LrSchedule& schedule, double position);

/// @param ownStep   optimiser steps this replica has done, 0-based
/// @param position  tokens claimed before the current chunk + own tokens inside it
/// @return learning rate >= 0. Pure; cannot fail. Cosine: Loshchilov & Hutter 2017 (arXiv:1608.03983) eq. 5, one cycle;
/// wsd: warm-up, stable, decay (arXiv:2404.06395).
double learningRate(const LrSchedule& schedule, std::int64_t ownStep, double position);

} // namespace furrow
