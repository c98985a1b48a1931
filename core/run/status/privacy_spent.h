#pragma once

#include "core/base/sentence.h"
#include "core/base/result.h"
#include "core/config/run_config.h"

#include <cstdint>
#include <optional>

namespace furrow {

/// Of a run whose history of trainings is not whole: the audit and everything else say the same.
inline constexpr SentenceText kNoEpsilonOfMadeAnew(
    "No epsilon is stated: the tracker was made anew or went on from an older copy, and the trainings that were lost before that are not in it.");

/// What private training has given away so far, for who watches it. The audit counts anew and says more; it never says
/// more than this.
struct PrivacySpent {
    std::int64_t participations = 0; ///< of any unit at most, so far
    std::int64_t most = 0; ///< that the rules allow; 0: no limit
    double epsilon = 0; ///< of the participations, at `delta`; NaN where that is 0
    double delta = 0;
    double targetEpsilon = 0; ///< 0: no limit
    Message notStated; ///< why neither participations nor epsilon are known, a sentence; "": they are
    bool operator==(const PrivacySpent&) const = default;
};

/// Nothing: the run adds no noise. @param config  in force @param notStated  why nothing is known; "": it is
std::optional<PrivacySpent> privacySpent(
    const RunConfig& config, std::int64_t participations, const Message& notStated = {});
/// Refuses a limit that could not be kept: nobody knows how often a unit took part.
/// @param wanted  of the attempt that would begin
Status checkEpsilonIsKnown(const RunConfig& wanted, bool isMadeAnew);
/// A sentence.
Message inWords(const PrivacySpent& spent);

} // namespace furrow
