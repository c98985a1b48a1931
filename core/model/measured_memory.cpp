#include "core/model/measured_memory.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace furrow {

namespace {

constexpr double kFormulaBand = 0.2; // measured peaks lie within it: tests/bench/README.md
constexpr double kOneRunBand = 0.1; // what nearly the same settings differ by, when only one run says so
constexpr double kLeastBand = 0.05; // the allocator and the length of the texts
constexpr double kSameSize = 1.25; // by as much estimates of nearly the same settings differ
constexpr double kLikeSize = 4; // beyond that other terms of the formula rule

/// Measured by estimated of those whose estimate differs by no more than `factor`.
std::vector<double> ratiosWithin(
    double factor, std::int64_t bytes, const MemoryCase& of, const std::vector<MeasuredMemory>& history)
{
    std::vector<double> ratios;
    for (const MeasuredMemory& run : history)
        if (run.of == of
            && std::abs(std::log(static_cast<double>(run.estimatedBytes) / static_cast<double>(bytes)))
                <= std::log(factor))
            ratios.push_back(run.ratio());
    return ratios;
}

} // namespace

nlohmann::json toJson(const MeasuredMemory& m)
{
    return { { "device", m.of.device }, { "path", toString(m.of.path) }, { "architecture", m.of.architecture },
        { "estimated_bytes", m.estimatedBytes }, { "peak_bytes", m.peakBytes } };
}

std::optional<MeasuredMemory> measuredMemoryFrom(const nlohmann::json& json)
try {
    MeasuredMemory m;
    m.of.device = json.at("device");
    m.of.architecture = json.at("architecture");
    m.estimatedBytes = json.at("estimated_bytes");
    m.peakBytes = json.at("peak_bytes");
    for (const StepPath path : { StepPath::Gpu, StepPath::CpuOperators, StepPath::CpuFast })
        if (json.at("path") == toString(path)) {
            m.of.path = path;
            return m.estimatedBytes > 0 && m.peakBytes > 0 ? std::optional(m) : std::nullopt;
        }
    return std::nullopt;
} catch (const nlohmann::json::exception&) {
    return std::nullopt;
}

MemoryForecast forecastMemory(
    const MemoryEstimate& estimate, const MemoryCase& of, const std::vector<MeasuredMemory>& history)
{
    MemoryForecast forecast { estimate, 1, kFormulaBand, 0 };
    auto ratios = ratiosWithin(kSameSize, estimate.total(), of, history);
    if (ratios.empty())
        ratios = ratiosWithin(kLikeSize, estimate.total(), of, history);
    if (ratios.empty())
        return forecast;
    std::sort(ratios.begin(), ratios.end());
    forecast.runs = static_cast<int>(ratios.size());
    forecast.factor = ratios[ratios.size() / 2];
    const double widest = std::max(ratios.back() / forecast.factor - 1, 1 - ratios.front() / forecast.factor);
    forecast.band = std::clamp(widest, ratios.size() == 1 ? kOneRunBand : kLeastBand, 0.5);
    return forecast;
}

} // namespace furrow
