#pragma once

#include "core/base/result.h"
#include "core/config/run_config.h"

#include <cstdint>
#include <functional>
#include <string>

namespace furrow {

/// How much of a text is also in the training data of a run. Samples are cut as the run cuts its own, and compared by fingerprint: equal
/// texts count, similar ones do not.
struct TextOverlap {
    std::int64_t samples = 0; ///< of the text
    std::int64_t seen = 0; ///< of them, also among the trained samples
    double share() const { return samples > 0 ? static_cast<double>(seen) / static_cast<double>(samples) : 0; }
};

/// Reads the text and all training data once.
/// @param manifest  data manifest of the run
/// @param goOn      asked often; false ends with Cancelled; may be empty
Result<TextOverlap> overlapWithTraining(const RunConfig& config, const std::string& manifest, const std::string& textFile, const std::function<bool()>& goOn = {});

} // namespace furrow
