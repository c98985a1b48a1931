#include "core/run/start/limit_reached.h"

#include "core/base/format.h"
#include "core/base/sentence.h"
#include "core/config/gaussian_privacy.h"
#include "core/config/option_term.h"

#include <algorithm>

namespace furrow {

namespace {

constexpr double kSecondsPerHour = 3600;

bool areEpochsComplete(const RunStatus& status, const RunConfig& wanted)
{
    const auto closed = std::count_if(status.epochs.begin(), status.epochs.end(),
        [](const EpochRow& epoch) { return epoch.closedWallNs.has_value(); });
    return wanted.epochs > 0 && !wanted.iterate && closed >= wanted.epochs;
}

} // namespace

// What went with processes that are gone is not in the status. Of what is trained again only the tokens are known:
// steps are taken in proportion.
StopReason limitReached(
    const RunStatus& status, const ResumePlan& plan, const RunConfig& wanted, const ResumePlan::CheckpointChoice* from)
{
    const auto tokens = static_cast<double>(status.tokens);
    const double kept = std::max(0.0, tokens - (from == nullptr ? plan.redoTokens : from->redoTokens));
    const double steps
        = status.tokens > 0 ? static_cast<double>(status.steps) * kept / tokens : static_cast<double>(status.steps);
    const bool allKept = (from == nullptr ? plan.effect.redo : from->redo).empty();
    if (wanted.steps > 0 && steps >= static_cast<double>(wanted.steps))
        return StopReason::Steps;
    if (wanted.tokens > 0 && kept >= static_cast<double>(wanted.tokens))
        return StopReason::Tokens;
    if (wanted.hours > 0 && status.activeSeconds >= wanted.hours * kSecondsPerHour)
        return StopReason::Hours;
    if (allKept && areEpochsComplete(status, wanted))
        return StopReason::Epochs;
    if (allKept && wanted.stopAfterBlocks > 0 && status.trainedBlocks >= wanted.stopAfterBlocks)
        return StopReason::BlockEnd;
    if (status.stopReason == StopReason::Privacy && status.privacy && mostParticipations(wanted) > 0
        && status.privacy->participations >= mostParticipations(wanted))
        return StopReason::Privacy;
    return StopReason::None;
}

Message limitInWords(StopReason limit, const RunStatus& status, const RunConfig& wanted)
{
    constexpr int kDigits = 2;
    switch (limit) {
    case StopReason::Steps:
        return sentence(
            "The limit of %1 optimiser steps is reached: %2 are done. The attempt would end at once; raise the limit, or write 0 for none.",
            { Count(wanted.steps), Count(status.steps) });
    case StopReason::Tokens:
        return sentence(
            "The limit of %1 tokens is reached: %2 are done. The attempt would end at once; raise the limit, or write 0 for none.",
            { Count(wanted.tokens), Count(status.tokens) });
    case StopReason::Hours:
        return sentence(
            "The limit of %1 hours is reached: %2 are done. The attempt would end at once; raise the limit, or write 0 for none.",
            { Real(wanted.hours, kDigits), Real(status.activeSeconds / kSecondsPerHour, kDigits) });
    case StopReason::Epochs:
        if (wanted.epochs == 1)
            return sentence(
                "The limit of one epoch is reached: it is complete. The attempt would end at once; raise the limit, or turn on %1.",
                { optionTerm("iterate") });
        return sentence(
            "The limit of %1 epochs is reached: they are complete. The attempt would end at once; raise the limit, or turn on %2.",
            { Count(wanted.epochs), optionTerm("iterate") });
    case StopReason::BlockEnd:
        return sentence(
            "As many blocks are complete as %1 wants: %2. The attempt would end at once; raise it, or write 0 for no limit.",
            { optionTerm("stop_after_blocks"), Count(status.trainedBlocks) });
    case StopReason::Privacy:
        return sentence(
            "Epsilon may be %1 at most, and %2 is spent: no unit may take part once more. The attempt would end at once; raise %3, or write 0 for no limit.",
            { Real(wanted.targetEpsilon, kDigits), Real(status.privacy ? status.privacy->epsilon : 0, kDigits),
                optionTerm("target_epsilon") });
    default: return {};
    }
}

bool leavesEpochOpen(const RunStatus& status, const RunConfig& wanted)
{
    return areEpochsComplete(status, wanted)
        && std::any_of(status.epochs.begin(), status.epochs.end(),
            [](const EpochRow& epoch) { return !epoch.closedWallNs.has_value(); });
}

Status refuseNothingLeft(
    const RunStatus& status, const ResumePlan& plan, const RunConfig& wanted, const ResumePlan::CheckpointChoice* from)
{
    const bool isAtEnd = hasComeToItsEnd(status);
    if (!isAtEnd && !leavesEpochOpen(status, wanted))
        return {};
    const StopReason reached = limitReached(status, plan, wanted, from);
    if (reached == StopReason::None || (!isAtEnd && reached != StopReason::Epochs))
        return {};
    const auto limit = limitInWords(reached, status, wanted);
    return Error { ErrorCode::InvalidArgument,
        isAtEnd ? sentence("%1 is finished, and nothing was started. %2", { status.folder, limit })
                : sentence("Nothing was started, and the epoch of %1 that is open stays as it is. %2",
                      { status.folder, limit }) };
}

} // namespace furrow
