#pragma once

#include "core/base/result.h"
#include "core/config/run_config.h"
#include "core/run/start/learning_rate.h"

#include <cstdint>
#include <optional>
#include <string>

namespace furrow {

/// How the rate goes on when a resume changes its schedule: more steps, epochs or another rate.
enum class RateChoice {
    Smooth, ///< follows the new schedule; the rate is led to it over a share of what is left. A peak or floor that was
            ///< lowered holds at once
    Keep, ///< the length of the schedule stays; what else was changed holds at once
    Stretch, ///< the new schedule at once, as if the run had begun with it
    Restart, ///< a new cycle from here to the end, after a new warm-up
};
template <>
inline constexpr std::array kClosedNames<RateChoice> {
    ClosedName { RateChoice::Smooth, "smooth" },
    ClosedName { RateChoice::Keep, "keep" },
    ClosedName { RateChoice::Stretch, "stretch" },
    ClosedName { RateChoice::Restart, "restart" },
};

/// The schedule of a run in force, and the one that its settings asked for when it was planned: while they ask for the
/// same, it stays.
struct RatePlan {
    LrSchedule inForce;
    LrSchedule asked;
    bool operator==(const RatePlan&) const = default;
};

/// As a run plans that begins with these settings.
/// @param labelsOfRun  labelsOfRun() of run_length.h; decay_tokens wins over it
RatePlan planRate(const RunConfig& config, double labelsOfRun);

/// The plan of an attempt that goes on at `position`.
/// @param choice  nothing: smooth, and nothing at all while the settings ask for the same. A person's own choice is
/// done in any case
/// @param labelsOfWarmUp  of warmup_steps of all workers: a new cycle climbs over so many, and a schedule without a
/// known end
RatePlan replanRate(const RatePlan& before, const RatePlan& anew, double position, std::optional<RateChoice> choice,
    double labelsOfWarmUp);

/// For the tracker. Nothing: the text is no plan.
std::string toJsonText(const RatePlan& plan);
std::optional<RatePlan> ratePlanFrom(const std::string& text);

} // namespace furrow
