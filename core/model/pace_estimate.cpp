#include "core/model/pace_estimate.h"

#include <algorithm>
#include <cmath>

namespace furrow {

namespace {

constexpr double kSame = 0.01; ///< difference of logarithms below which two settings count as one

double distance(const PaceCase& a, const PaceCase& b)
{
    return std::abs(std::log(a.flopsPerToken / b.flopsPerToken)) + std::abs(std::log(a.units / b.units));
}

} // namespace

PaceCase paceCaseOf(const RunConfig& config, const ModelConfig& model, int devices, int workers, int threads, int cores)
{
    const double units = devices > 0 ? devices : std::min(workers * threads, cores);
    return { stepPathOf(config, model, devices > 0), model.flopsPerToken(), units };
}

std::optional<PaceForecast> forecastPace(const PaceCase& wanted, const std::vector<MeasuredPace>& history)
{
    std::optional<PaceForecast> best;
    double nearest = 0;
    for (std::size_t i = 0; i < history.size(); ++i) {
        const MeasuredPace& run = history[i];
        if (run.of.path != wanted.path || !(run.of.flopsPerToken > 0) || !(run.of.units > 0)
            || !(run.tokensPerSecond > 0))
            continue;
        const double away = distance(run.of, wanted);
        const double pace
            = run.tokensPerSecond * run.of.flopsPerToken / wanted.flopsPerToken * wanted.units / run.of.units;
        if (best && (away > nearest + kSame || (away > nearest - kSame && pace <= best->tokensPerSecond)))
            continue;
        best = PaceForecast { i, pace, away < kSame };
        nearest = away;
    }
    return best;
}

} // namespace furrow
