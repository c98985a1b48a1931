#include "core/run/folder/attempt_config.h"

#include "core/base/sentence.h"
#include "core/config/bounded_json.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace furrow {

namespace {

ConfigReading readingOf(const AttemptRow& attempt, const RunConfig& frozen)
{
    return configFromJson(parseBoundedJson(attempt.overridesJson), frozen);
}

} // namespace

Result<RunConfig> configOf(const AttemptRow& attempt, const RunConfig& frozen)
{
    auto reading = readingOf(attempt, frozen);
    if (!reading.problems.empty())
        return Error { ErrorCode::Corrupt,
            sentence(
                "The settings that tracker.sqlite keeps of attempt %1 cannot be read: %2 'furrowctl doctor --repair' with the folder of the run sets them aside; those of run.json hold then.",
                { std::to_string(attempt.id.value), toString(reading.problems) }) };
    return std::move(reading.config);
}

std::vector<ConfigProblem> problemsOfGoingOn(const RunConfig& frozen, const RunConfig& wanted)
{
    auto problems = validate(wanted);
    std::erase_if(problems, [](const ConfigProblem& one) {
        const auto* setting = findSetting(one.key);
        return setting && setting->resume == ResumeRule::Refused;
    });
    const auto refused = refusedOnResume(frozen, wanted);
    problems.insert(problems.end(), refused.begin(), refused.end());
    return problems;
}

std::vector<ConfigProblem> wrongOverrides(const AttemptRow& attempt, const RunConfig& frozen)
{
    const auto reading = readingOf(attempt, frozen);
    if (!reading.problems.empty())
        return reading.problems;
    auto problems = problemsOfGoingOn(frozen, reading.config);
    const auto without = problems.empty() ? problems : problemsOfGoingOn(frozen, frozen);
    std::erase_if(problems, [&without](const ConfigProblem& one) {
        return std::find(without.begin(), without.end(), one) != without.end();
    });
    return problems;
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
