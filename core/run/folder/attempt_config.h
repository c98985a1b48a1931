#pragma once

#include "core/config/schema.h"
#include "core/tracker/ledger_reader.h"

#include <vector>

namespace furrow {

/// The configuration in force during an attempt: what run.json froze with the overrides of the attempt laid over it.
/// Corrupt names file, attempt and what cannot be read of them, and says what to do.
Result<RunConfig> configOf(const AttemptRow& attempt, const RunConfig& frozen);

/// Why a run that began with frozen settings cannot go on with these: what is out of bounds or does not fit together,
/// and what must not change. What must not change and is as it was is never wrong: it was right by the rules of its
/// time, and nobody could mend it.
std::vector<ConfigProblem> problemsOfGoingOn(const RunConfig& frozen, const RunConfig& wanted);

/// Why the overrides of an attempt cannot be settings of a next one: what cannot be read, and problemsOfGoingOn() but
/// for those that the frozen settings have without them.
std::vector<ConfigProblem> wrongOverrides(const AttemptRow& attempt, const RunConfig& frozen);

/// The configuration in force now: that of the newest of all attempts, what run.json froze before the first one.
Result<RunConfig> latestConfig(const std::vector<AttemptRow>& attempts, const RunConfig& frozen);

/// What a resume begins with: the configuration in force, without what was asked of the newest attempt alone (to end
/// with its epoch).
Result<RunConfig> nextConfig(const std::vector<AttemptRow>& attempts, const RunConfig& frozen);

/// The settings that each attempt changed against the one before it, the first one against run.json; one list an
/// attempt, in their order. An attempt whose overrides cannot be read counts as one that changed nothing.
std::vector<std::vector<ConfigChange>> changesByAttempt(
    const std::vector<AttemptRow>& attempts, const RunConfig& frozen);

} // namespace furrow
