#include "core/run/start/rate_outlook.h"

#include "core/base/format.h"
#include "core/base/sentence.h"
#include "core/run/folder/attempt_config.h"
#include "core/run/status/ledger_view.h"
#include "core/run/start/rollback.h"
#include "core/run/status/tracker_config.h"
#include "core/tracker/training_notes.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace furrow {

namespace {

constexpr int kPoints = 48;
constexpr double kJump = 0.02; // of the higher rate: less is no jump

/// "0.00055": three digits that count.
std::string rateText(double rate)
{
    char buffer[32];
    const auto [end, failed] = std::to_chars(buffer, buffer + sizeof buffer, rate, std::chars_format::general, 3);
    return failed == std::errc {} ? std::string(buffer, end) : std::string();
}

std::int64_t ranksOf(const RunConfig& c, std::int64_t workers)
{
    return c.parallel == ParallelMode::Data ? std::max<std::int64_t>(workers, 1) : 1;
}

RatePlan planOf(const RunConfig& c, const RateOutlook& o, std::int64_t epochs, std::int64_t workers)
{
    return planRate(c, labelsOfRun(c, o.epoch, o.samplesPerBlock, epochs, ranksOf(c, workers)));
}

double labelsOfWarmUp(const RunConfig& c, std::int64_t workers)
{
    return static_cast<double>(c.warmupSteps * c.batchSize * c.gradAccum * c.seqLen
        * std::max<std::int64_t>(workers, 1)); // ranks make each step so much larger, others make so many more
}

std::string blocks(const std::vector<RateForecast::Point>& curve, double RateForecast::Point::* rate, double most)
{
    static constexpr const char* kBlocks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
    std::string line;
    for (const auto& point : curve)
        line += kBlocks[static_cast<std::size_t>(std::clamp(std::lround(point.*rate / most * 7), 0L, 7L))];
    return line;
}

void addCurve(RateForecast& forecast, const RatePlan& before, double factorBefore, double factorNow)
{
    const double end
        = std::max({ forecast.plan.inForce.decayUntil, forecast.plan.inForce.rampUntil, before.inForce.decayUntil });
    forecast.atEnd = factorNow * scheduledRate(forecast.plan.inForce, std::max(end, forecast.position));
    forecast.most = forecast.now;
    if (end <= forecast.position)
        return;
    for (int i = 0; i < kPoints; ++i) {
        const double at = forecast.position + (end - forecast.position) * i / (kPoints - 1);
        forecast.curve.push_back({ at, factorBefore * scheduledRate(before.inForce, at),
            factorNow * scheduledRate(forecast.plan.inForce, at) });
        forecast.most = std::max(forecast.most, forecast.curve.back().now);
    }
}

} // namespace

Result<RateOutlook> readRateOutlook(const RunPaths& paths)
{
    FURROW_TRY_ASSIGN(auto file, readRunFile(paths));
    FURROW_TRY_ASSIGN(auto reader, openLedger(paths));
    auto attempts = reader.attempts();
    auto epochs = reader.epochs();
    auto totals = reader.totals();
    auto notes = readTrainingNotes(reader.file());
    for (const auto* error : { attempts.ok() ? nullptr : &attempts.error(), epochs.ok() ? nullptr : &epochs.error(),
             totals.ok() ? nullptr : &totals.error(), notes.ok() ? nullptr : &notes.error() })
        if (error)
            return *error;
    FURROW_TRY_ASSIGN(auto config, latestConfig(attempts.value(), file.config));
    RateOutlook outlook;
    outlook.started = !attempts.value().empty();
    outlook.epoch = epochLength(paths, file);
    outlook.samplesPerBlock = file.samplesPerBlock;
    const auto open = std::find_if(
        epochs.value().begin(), epochs.value().end(), [](const EpochRow& epoch) { return !epoch.closedWallNs; });
    outlook.currentEpoch = open != epochs.value().end() ? open->epoch
        : epochs.value().empty()                        ? 0
                                                        : epochs.value().back().epoch + 1;
    outlook.position = static_cast<double>(
        std::max<std::int64_t>(0, notes.value().positionTokens - notes.value().uncommittedTokens));
    for (const auto& [replica, note] : notes.value().rollbacks)
        outlook.rollbackFactor = std::min(outlook.rollbackFactor, rollbackFrom(note).rateFactor);
    const auto kept = ratePlanFrom(notes.value().ratePlan);
    const auto ranks = config.workers; // of an earlier Furrow, which kept no plan
    outlook.before = kept ? *kept : planOf(config, outlook, totals.value().rules.epochs, ranks);
    return outlook;
}

RateForecast forecastRate(const RateOutlook& outlook, const RunConfig& wanted, std::int64_t workers,
    std::optional<RateChoice> choice, double labelsBack)
{
    const auto epochs = resolved(stoppingRules(wanted), outlook.currentEpoch).epochs;
    const RatePlan anew = planOf(wanted, outlook, epochs, workers);
    RateForecast forecast;
    forecast.choice = choice.value_or(RateChoice::Smooth);
    forecast.position = std::max(0.0, outlook.position - labelsBack);
    forecast.plan = outlook.started
        ? replanRate(outlook.before, anew, forecast.position, choice, labelsOfWarmUp(wanted, workers))
        : anew;
    const RatePlan& before = outlook.started ? outlook.before : forecast.plan;
    forecast.changed = !(forecast.plan == before);
    const double factorNow = forecast.changed || choice ? 1 : outlook.rollbackFactor; // a person has decided
    forecast.before = outlook.rollbackFactor * scheduledRate(before.inForce, forecast.position);
    forecast.now = factorNow * scheduledRate(forecast.plan.inForce, forecast.position);
    addCurve(forecast, before, outlook.rollbackFactor, factorNow);
    return forecast;
}

Message RateForecast::text() const
{
    if (!changed)
        return sentence(
            "The learning rate goes on as planned: %1 now, %2 at the end.", { rateText(now), rateText(atEnd) });
    if (std::abs(now - before) > kJump * std::max(now, before))
        return sentence(
            "The learning rate jumps at once from %1 to %2, is %3 at most and %4 at the end (rate plan %5).",
            { rateText(before), rateText(now), rateText(most), rateText(atEnd), toString(choice) });
    return sentence("The learning rate was %1, goes on at %2, is %3 at most and %4 at the end (rate plan %5).",
        { rateText(before), rateText(now), rateText(most), rateText(atEnd), toString(choice) });
}

std::string RateForecast::drawing() const
{
    if (curve.empty())
        return {};
    double highest = 1e-30;
    for (const auto& point : curve)
        highest = std::max({ highest, point.before, point.now });
    const std::string fromNow = blocks(curve, &Point::now, highest);
    return changed ? blocks(curve, &Point::before, highest) + "\n" + fromNow : fromNow;
}

nlohmann::json toJson(const RateForecast& forecast)
{
    nlohmann::json json
        = { { "plan", toString(forecast.choice) }, { "changed", forecast.changed }, { "tokens", forecast.position },
              { "before", forecast.before }, { "now", forecast.now }, { "most", forecast.most },
              { "at_end", forecast.atEnd }, { "text", forecast.text() }, { "curve", nlohmann::json::array() } };
    for (const auto& point : forecast.curve)
        json["curve"].push_back({ { "tokens", point.labels }, { "before", point.before }, { "now", point.now } });
    return json;
}

} // namespace furrow
