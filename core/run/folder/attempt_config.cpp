#include "core/run/folder/attempt_config.h"

#include "core/config/bounded_json.h"
#include <nlohmann/json.hpp>

namespace furrow {

Result<RunConfig> configOf(const AttemptRow& attempt, const RunConfig& frozen)
{
    auto reading = configFromJson(parseBoundedJson(attempt.overridesJson), frozen);
    if (!reading.problems.empty())
        return Error { ErrorCode::Corrupt, toString(reading.problems) };
    return std::move(reading.config);
}

Result<RunConfig> latestConfig(const std::vector<AttemptRow>& attempts, const RunConfig& frozen)
{
    return attempts.empty() ? Result<RunConfig>(frozen) : configOf(attempts.back(), frozen);
}

Result<RunConfig> nextConfig(const std::vector<AttemptRow>& attempts, const RunConfig& frozen)
{
    auto config = latestConfig(attempts, frozen);
    if (config.ok())
        config.value().stopAfterEpoch = frozen.stopAfterEpoch;
    return config;
}

std::vector<std::vector<ConfigChange>> changesByAttempt(
    const std::vector<AttemptRow>& attempts, const RunConfig& frozen)
{
    std::vector<std::vector<ConfigChange>> all;
    RunConfig before = frozen;
    for (const AttemptRow& attempt : attempts) {
        auto inForce = configOf(attempt, frozen);
        all.push_back(inForce.ok() ? changes(before, inForce.value()) : std::vector<ConfigChange> {});
        if (inForce.ok())
            before = std::move(inForce).value();
    }
    return all;
}

} // namespace furrow
