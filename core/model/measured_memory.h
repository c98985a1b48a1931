#pragma once

#include "core/model/memory_estimate.h"

#include <algorithm>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace furrow {

/// What decides how far the formula is off: where a worker computes, and what.
struct MemoryCase {
    std::string device; ///< "CPU" or the name of the GPU
    StepPath path = StepPath::CpuOperators;
    std::string architecture; ///< "gpt" "hrm"
    bool operator==(const MemoryCase&) const = default;
};

/// The most memory that a worker took, beside what the formula had said of it.
struct MeasuredMemory {
    MemoryCase of;
    std::int64_t estimatedBytes = 0;
    std::int64_t peakBytes = 0;
    /// Measured divided by estimated.
    double ratio() const { return static_cast<double>(peakBytes) / static_cast<double>(estimatedBytes); }
};
nlohmann::json toJson(const MeasuredMemory& measured);
/// nullopt for what is none.
std::optional<MeasuredMemory> measuredMemoryFrom(const nlohmann::json& json);

/// An estimate corrected by what earlier runs took.
struct MemoryForecast {
    MemoryEstimate parts; ///< by formula
    double factor = 1; ///< measured by estimated, median of the earlier runs
    double band = 0; ///< share by which the likely figure may be off on either side
    int runs = 0; ///< that it was corrected by; 0: the formula alone
    std::int64_t likely() const { return at(1); }
    /// Never less than the program itself, which is there before anything is trained.
    std::int64_t low() const { return std::min(likely(), std::max(at(1 - band), parts.process)); }
    std::int64_t high() const { return at(1 + band); }

private:
    std::int64_t at(double share) const
    {
        return static_cast<std::int64_t>(static_cast<double>(parts.total()) * factor * share);
    }
};

/// Corrects by earlier runs of the same case and nearly the same size; with none of them the formula stands, with its
/// own band.
MemoryForecast forecastMemory(
    const MemoryEstimate& estimate, const MemoryCase& of, const std::vector<MeasuredMemory>& history);

} // namespace furrow
