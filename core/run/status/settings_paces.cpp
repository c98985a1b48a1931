#include "core/run/status/settings_paces.h"

#include "core/run/folder/attempt_config.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace furrow {

namespace {

constexpr double kLeastSeconds = 10; // the heartbeats that active time is counted by lie a second apart

struct Settings {
    RunConfig config;
    std::vector<std::size_t> attempts; ///< that trained with it, by their place
};

/// An attempt whose settings cannot be read is of none.
std::vector<Settings> settingsOf(const std::vector<AttemptRow>& attempts, const RunConfig& frozen)
{
    std::vector<Settings> all;
    for (std::size_t i = 0; i < attempts.size(); ++i) {
        auto config = configOf(attempts[i], frozen);
        if (!config.ok())
            continue;
        const auto known
            = std::find_if(all.begin(), all.end(), [&](const Settings& one) { return one.config == config.value(); });
        if (known == all.end())
            all.push_back({ std::move(config).value(), { i } });
        else
            known->attempts.push_back(i);
    }
    return all;
}

double activeSecondsOf(
    std::size_t attempt, const std::vector<AttemptRow>& attempts, const std::vector<ActiveStretch>& active)
{
    const bool isNewest = attempt + 1 == attempts.size();
    const std::int64_t end = isNewest ? std::numeric_limits<std::int64_t>::max() : attempts[attempt + 1].startedWallNs;
    return activeSecondsUntil(active, end) - activeSecondsUntil(active, attempts[attempt].startedWallNs);
}

} // namespace

Result<std::vector<SettingsPace>> pacesOfSettings(
    LedgerReader& ledger, const std::vector<AttemptRow>& attempts, const RunConfig& frozen)
{
    std::vector<SettingsPace> paces;
    auto all = settingsOf(attempts, frozen);
    if (all.size() < 2)
        return paces;
    FURROW_TRY_ASSIGN(const auto work, ledger.workOfAttempts());
    FURROW_TRY_ASSIGN(const auto active, ledger.activeStretches());
    std::vector<double> seconds; // of `paces`
    for (Settings& one : all) {
        double trainedFor = 0;
        double tokens = 0;
        for (const std::size_t attempt : one.attempts) {
            trainedFor += activeSecondsOf(attempt, attempts, active);
            const auto found = work.find(attempts[attempt].id);
            tokens += found == work.end() ? 0 : static_cast<double>(found->second.tokens);
        }
        if (!(trainedFor > 0) || !(tokens > 0))
            continue;
        paces.push_back({ std::move(one.config), tokens / trainedFor });
        seconds.push_back(trainedFor);
    }
    const bool isAnyLong = std::any_of(seconds.begin(), seconds.end(), [](double s) { return s >= kLeastSeconds; });
    for (std::size_t i = paces.size(); isAnyLong && i-- > 0;) // what was short says little
        if (seconds[i] < kLeastSeconds)
            paces.erase(paces.begin() + static_cast<std::ptrdiff_t>(i));
    return paces;
}

} // namespace furrow
