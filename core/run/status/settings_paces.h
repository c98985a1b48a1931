#pragma once

#include "core/base/result.h"
#include "core/config/run_config.h"
#include "core/tracker/ledger_reader.h"

#include <vector>

namespace furrow {

/// How fast a run trained while these settings were in force.
struct SettingsPace {
    RunConfig config;
    double tokensPerSecond = 0; ///< of all workers, over the active time of their attempts
    bool operator==(const SettingsPace&) const = default;
};

/// The pace of each settings that attempts of a run trained with, oldest first. A resume may change workers and GPUs: a
/// mean over all attempts is the pace of none of them. Empty where all attempts had the same settings: the mean of the
/// run (meanTokensPerSecond) is theirs, and no claim is read.
Result<std::vector<SettingsPace>> pacesOfSettings(
    LedgerReader& ledger, const std::vector<AttemptRow>& attempts, const RunConfig& frozen);

} // namespace furrow
