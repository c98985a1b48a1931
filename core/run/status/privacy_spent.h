#pragma once

#include "core/base/message.h"
#include "core/config/run_config.h"

#include <cstdint>
#include <optional>

namespace furrow {

/// What private training has given away so far, for who watches it. The audit counts anew and says more; it never says
/// more than this.
struct PrivacySpent {
    std::int64_t participations = 0; ///< of any unit at most, so far
    std::int64_t most = 0; ///< that the rules allow; 0: no limit
    double epsilon = 0; ///< of the participations, at `delta`; NaN where that is 0
    double delta = 0;
    double targetEpsilon = 0; ///< 0: no limit
    bool operator==(const PrivacySpent&) const = default;
};

/// Nothing: the run adds no noise. @param config  in force
std::optional<PrivacySpent> privacySpent(const RunConfig& config, std::int64_t participations);
/// A sentence.
Message inWords(const PrivacySpent& spent);

} // namespace furrow
