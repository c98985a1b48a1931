#pragma once

#include "core/base/message.h"
#include "core/run/start/rate_plan.h"
#include "core/run/start/run_length.h"
#include "core/run/folder/run_paths.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace furrow {

/// What of a run decides how its learning rate goes on. A value: read once, then asked for any settings.
struct RateOutlook {
    RatePlan before; ///< in force so far
    bool started = false; ///< an attempt was begun: there is a rate so far
    EpochLength epoch;
    std::int64_t samplesPerBlock = 0;
    std::int64_t currentEpoch = 0; ///< counted from 0: the first that is open; where none is, the next
    double position = 0; ///< labels that the weights have trained
    double rollbackFactor
        = 1; ///< of the rate, after roll-backs for losses that were not finite; kept while the plan is
};
Result<RateOutlook> readRateOutlook(const RunPaths& paths);

/// How the rate goes on when a run is resumed with some settings.
struct RateForecast {
    struct Point {
        double labels = 0; ///< trained by then
        double before = 0; ///< as planned so far
        double now = 0;
    };
    RatePlan plan;
    RateChoice choice = RateChoice::Smooth;
    bool changed = false; ///< the plan is another one than so far
    double position = 0;
    double before = 0; ///< rate at the position, as it was
    double now = 0; ///< and as it will be, without the warm-up of a new replica
    double most = 0; ///< from the position on
    double atEnd = 0;
    std::vector<Point> curve; ///< from the position to the end, evenly; empty: nothing falls or climbs

    Message text() const; ///< a sentence
    /// Two lines of blocks, one a point, between 0 and the highest rate: before and from now on. Empty without a curve.
    std::string drawing() const;
};
/// @param workers  that will train
/// @param labelsBack  that are taken back before training goes on: an older checkpoint was chosen
RateForecast forecastRate(const RateOutlook& outlook, const RunConfig& wanted, std::int64_t workers,
    std::optional<RateChoice> choice, double labelsBack = 0);
nlohmann::json toJson(const RateForecast& forecast);

} // namespace furrow
