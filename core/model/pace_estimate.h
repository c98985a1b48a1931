#pragma once

#include "core/model/step_path.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace furrow {

/// What of its settings decides how many tokens a run trains in a second.
struct PaceCase {
    StepPath path = StepPath::CpuOperators;
    double flopsPerToken = 0; ///< ModelConfig::flopsPerToken
    double units = 0; ///< that compute at the same time: GPUs, or cores that workers really get
    bool operator==(const PaceCase&) const = default;
};

/// @param devices  GPUs that train; 0: the CPU
/// @param workers, threads  of each; together they get no more than `cores`
PaceCase paceCaseOf(
    const RunConfig& config, const ModelConfig& model, int devices, int workers, int threads, int cores);

/// How fast an earlier run was.
struct MeasuredPace {
    PaceCase of;
    double tokensPerSecond = 0; ///< of all workers, over its active time
};

/// An earlier run whose pace, brought to the wanted settings, is the forecast.
struct PaceForecast {
    std::size_t from = 0; ///< index of the run
    double tokensPerSecond = 0;
    bool isSame = false; ///< its settings were the same: nothing was reckoned
};

/// By the run nearest in operations for a token and in units, and of those equally near the fastest: what disturbed a
/// run made it slower, never faster. Pace falls with the operations and grows with the units. Nothing: no run trained
/// in the same way.
std::optional<PaceForecast> forecastPace(const PaceCase& wanted, const std::vector<MeasuredPace>& history);

} // namespace furrow
