#pragma once

#include "core/base/result.h"
#include "core/config/run_config.h"
#include "core/data/plan/duplicate_index.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace furrow {

/// How much of a text is also in the training data of a run. Samples are compared by fingerprint: equal texts count,
/// similar ones do not.
struct TextOverlap {
    std::int64_t samples = 0; ///< of the text
    std::int64_t seen = 0; ///< of them, also among the trained samples
    bool complete = true; ///< all training data was compared
    double share() const { return samples > 0 ? static_cast<double>(seen) / static_cast<double>(samples) : 0; }
};

/// Reads the training data once.
/// @param manifest      data manifest of the run
/// @param fingerprints  of the samples of the text, as in HeldOut
/// @param mostBytes     of training text; what lies behind is not compared
/// @param goOn          asked often; false ends with Cancelled; may be empty
/// @param isTrained     whether the row at this place is; empty: all of them are, or will be
Result<TextOverlap> overlapWithTraining(const RunConfig& config, const std::string& manifest,
    std::span<const std::uint64_t> fingerprints, std::uint64_t mostBytes, const std::function<bool()>& goOn = {},
    const std::function<bool(RowPlace)>& isTrained = {});

/// "2 of 28 samples (7.1 %) are also trained" or "none of 28 samples is trained as well", with what was not compared.
Message describe(const TextOverlap& overlap);

} // namespace furrow
