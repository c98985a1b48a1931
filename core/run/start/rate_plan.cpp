#include "core/run/start/rate_plan.h"

#include "core/base/sentence.h"
#include "core/config/bounded_json.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace furrow {

namespace {

constexpr double kRampShare = 0.05; // of what is left of the schedule
constexpr double kMostOfRest = 0.1; // that a new warm-up may take

enum class Lead { UpOnly, BothWays };

/// Leads from the rate so far into the schedule.
void leadIn(LrSchedule& schedule, Lead lead, double rateSoFar, double position, double labels)
{
    schedule.rampFrom = schedule.rampUntil = schedule.rampLr = 0;
    const double wanted = scheduledRate(schedule, position);
    const bool same = std::abs(wanted - rateSoFar) <= 1e-9 * rateSoFar;
    if (same || (wanted < rateSoFar && lead == Lead::UpOnly))
        return;
    schedule.rampFrom = position;
    schedule.rampUntil = position + std::max(labels, 1.0);
    schedule.rampLr = rateSoFar;
}

/// A rate that a person lowered holds at once: it may be what keeps the loss finite. A schedule that only got shorter
/// is led into.
Lead leadOf(const LrSchedule& before, const LrSchedule& anew)
{
    return anew.peakLr < before.peakLr || anew.floorLr < before.floorLr ? Lead::UpOnly : Lead::BothWays;
}

nlohmann::json toJson(const LrSchedule& s)
{
    return { { "kind", static_cast<int>(s.kind) }, { "peak", s.peakLr }, { "floor", s.floorLr },
        { "warmup_steps", s.warmupSteps }, { "from", s.decayFrom }, { "until", s.decayUntil },
        { "wsd_share", s.wsdDecayShare }, { "ramp_from", s.rampFrom }, { "ramp_until", s.rampUntil },
        { "ramp_rate", s.rampLr } };
}

/// Throws what nlohmann throws.
LrSchedule scheduleFrom(const nlohmann::json& json)
{
    LrSchedule s;
    const int kind = json.at("kind").get<int>();
    s.kind = static_cast<ScheduleKind>(std::clamp(kind, 0, static_cast<int>(ScheduleKind::Wsd)));
    s.peakLr = json.at("peak");
    s.floorLr = json.at("floor");
    s.warmupSteps = json.at("warmup_steps");
    s.decayFrom = json.at("from");
    s.decayUntil = json.at("until");
    s.wsdDecayShare = json.at("wsd_share");
    s.rampFrom = json.at("ramp_from");
    s.rampUntil = json.at("ramp_until");
    s.rampLr = json.at("ramp_rate");
    return s;
}

bool isSound(const LrSchedule& s)
{
    const auto rate = [](double value) { return value >= 0 && value <= 10; }; // as the settings allow; NaN is neither
    const auto place = [](double value) { return value >= 0 && std::isfinite(value); };
    return rate(s.peakLr) && rate(s.floorLr) && rate(s.rampLr) && place(s.decayFrom) && place(s.decayUntil)
        && place(s.rampFrom) && place(s.rampUntil) && s.warmupSteps >= 0 && s.wsdDecayShare > 0 && s.wsdDecayShare <= 1;
}

} // namespace

RatePlan planRate(const RunConfig& c, double labelsOfRun)
{
    LrSchedule schedule;
    schedule.kind = c.schedule;
    schedule.peakLr = c.lr;
    schedule.floorLr = c.minLr;
    schedule.warmupSteps = c.warmupSteps;
    schedule.decayUntil = c.decayTokens > 0 ? static_cast<double>(c.decayTokens) : labelsOfRun;
    return { schedule, schedule };
}

RatePlan replanRate(const RatePlan& before, const RatePlan& anew, double position, std::optional<RateChoice> choice,
    double labelsOfWarmUp)
{
    if (!choice && before.asked == anew.asked)
        return before;
    const double rateSoFar = scheduledRate(before.inForce, position);
    LrSchedule next = anew.asked;
    next.decayFrom = before.inForce.decayFrom; // a new cycle stays one
    const double rest = std::max(0.0, next.decayUntil - position);
    switch (choice.value_or(RateChoice::Smooth)) {
    case RateChoice::Smooth:
        leadIn(
            next, leadOf(before.asked, anew.asked), rateSoFar, position, rest > 0 ? kRampShare * rest : labelsOfWarmUp);
        break;
    case RateChoice::Keep:
        next.decayUntil = before.inForce.decayUntil;
        next.rampFrom = before.inForce.rampFrom;
        next.rampUntil = before.inForce.rampUntil;
        next.rampLr = before.inForce.rampLr;
        break;
    case RateChoice::Stretch: next.decayFrom = 0; break;
    case RateChoice::Restart:
        next.decayFrom = position;
        leadIn(next, Lead::UpOnly, std::min(rateSoFar, next.peakLr), position,
            rest > 0 ? std::min(labelsOfWarmUp, kMostOfRest * rest) : labelsOfWarmUp);
        break;
    }
    return { next, anew.asked };
}

std::string toJsonText(const RatePlan& plan)
{
    return nlohmann::json {
        { "format", 1 }, { "in_force", toJson(plan.inForce) }, { "asked", toJson(plan.asked) }
    }.dump();
}

std::optional<RatePlan> ratePlanFrom(const std::string& text)
{
    const auto json = parseBoundedJson(text);
    if (!json.is_object())
        return std::nullopt;
    try {
        const RatePlan plan { scheduleFrom(json.at("in_force")), scheduleFrom(json.at("asked")) };
        return json.at("format").get<int>() == 1 && isSound(plan.inForce) && isSound(plan.asked) ? std::optional(plan)
                                                                                                 : std::nullopt;
    } catch (const nlohmann::json::exception&) { // not ours, or damaged: the settings say what is wanted
        return std::nullopt;
    }
}

} // namespace furrow
