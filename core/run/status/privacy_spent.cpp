#include "core/run/status/privacy_spent.h"

#include "core/config/gaussian_privacy.h"
#include "core/config/option_term.h"
#include "core/config/schema.h"

#include <cmath>
#include <limits>

namespace furrow {

std::optional<PrivacySpent> privacySpent(const RunConfig& config, std::int64_t participations, const Message& notStated)
{
    if (config.noiseMultiplier <= 0)
        return std::nullopt;
    const double epsilon = config.targetDelta > 0 && notStated.empty()
        ? epsilonOf(lossOf(participations, config.noiseMultiplier), config.targetDelta)
        : std::numeric_limits<double>::quiet_NaN();
    return PrivacySpent { notStated.empty() ? participations : 0, mostParticipations(config), epsilon,
        config.targetDelta, config.targetEpsilon, notStated };
}

Status checkEpsilonIsKnown(const RunConfig& wanted, bool isMadeAnew)
{
    if (!isMadeAnew || mostParticipations(wanted) == 0)
        return {};
    return Error { ErrorCode::InvalidArgument,
        sentence(
            "%1 So no rule can end the run before a unit takes part once too often, and nothing was started. Write 0 for %2 to go on without that limit.",
            { sentence(kNoEpsilonOfMadeAnew), optionTerm("target_epsilon") }) };
}

Message inWords(const PrivacySpent& spent)
{
    constexpr int kDigits = 3;
    if (!spent.notStated.empty())
        return spent.notStated;
    if (spent.participations == 0)
        return sentence("Private training: no unit has taken part in a step yet.");
    if (std::isnan(spent.epsilon))
        return sentence("Private training: participations of any unit: %1 at most. No epsilon is said: %2 is 0.",
            { Count(spent.participations), settingTerm("target_delta") });
    RunConfig said;
    said.targetDelta = spent.delta;
    const std::string delta = settingText(said, *findSetting("target_delta"));
    if (spent.most == 0)
        return sentence("Private training: epsilon is %1 at most, at delta %2; participations of any unit: %3 at most.",
            { Real(spent.epsilon, kDigits), delta, Count(spent.participations) });
    return sentence(
        "Private training: epsilon is %1 at most, of %2, at delta %3; participations of any unit: %4 at most, of %5.",
        { Real(spent.epsilon, kDigits), Real(spent.targetEpsilon, kDigits), delta, Count(spent.participations),
            Count(spent.most) });
}

} // namespace furrow
