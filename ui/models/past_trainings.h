#pragma once

#include "core/run/status/lost_trainings.h"
#include "ui/models/past_sources.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace furrow {

/// Whether its process died in the middle of a training: that ended then, and not when the process was seen last, as
/// the ledger has it.
inline bool isCutShort(const ClaimRow& claim) { return claim.outcome == ClaimEnd::Lost && claim.tokens == 0; }

/// The steps, tokens and samples of the claims whose weights were there. Wants the epochs of that time.
void takeClaimsBack(RunStatus& status, std::int64_t wallNs, const PastSources& sources);

/// The last step in weights of a training that had ended; 0: none, or it is not known.
/// @param sources  without epochs; it outlives the answer
std::function<std::int64_t(const ClaimRow&)> lastStepsThere(std::int64_t wallNs, const PastSources& sources);

/// Whether a training that the ledger has as lost had been lost by a moment already.
/// @param shown  statusAt() of the moment
/// @param sources  without epochs; like `shown` it outlives the answer
std::function<bool(const ClaimRow&)> lostBy(std::int64_t wallNs, const RunStatus& shown, const PastSources& sources);

/// The trainings that had died with their processes by a moment, or left the weights: of earlier attempts, of one that
/// was over then, and of workers that had ended.
/// @param shown  statusAt() of the moment
/// @param sources  without epochs
std::vector<LostTraining> lostAt(std::int64_t wallNs, const RunStatus& shown, const PastSources& sources);

} // namespace furrow
