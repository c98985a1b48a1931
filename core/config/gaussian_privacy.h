#pragma once

#include "core/config/run_config.h"

#include <cstdint>

namespace furrow {

/// What training with clipped gradients and normal noise gives away about one unit, exactly. A unit that takes part in
/// k steps, each with noise of `noise` times its largest part in the sum, is as well hidden as by one step with
/// k-fold squared part: k Gaussian mechanisms are one with mu = sqrt(k) / noise, whatever the steps before showed
/// (Dong, Roth, Su 2022, arXiv:1905.02383, corollary 3.3). No chance of taking part is assumed. Pure; cannot fail.
struct GaussianLoss {
    double mu = 0; ///< >= 0; infinite without noise
};
GaussianLoss lossOf(std::int64_t participations, double noise);

/// Delta that belongs to an epsilon: Balle and Wang 2018 (arXiv:1805.06083), theorem 8. @param epsilon  >= 0
double deltaOf(GaussianLoss loss, double epsilon);
/// The smallest epsilon at a delta; infinite for an infinite loss. @param delta  in (0, 1)
double epsilonOf(GaussianLoss loss, double delta);

/// How often a unit may take part at most, so that epsilon at delta is not above `epsilon`; 0: not even once.
std::int64_t mostParticipations(double noise, double epsilon, double delta);
/// The same as the settings ask; 0: they set no limit.
std::int64_t mostParticipations(const RunConfig& config);
/// The least noise with which so many participations keep to epsilon at delta.
double leastNoise(std::int64_t participations, double epsilon, double delta);

} // namespace furrow
