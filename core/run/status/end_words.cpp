#include "core/run/status/end_words.h"

#include "core/base/told.h"

namespace furrow {

std::string attemptIsOver(std::int64_t attempt) { return "attempt " + std::to_string(attempt) + " is over: "; }

Message endReason(StopReason reason, const Message& detail)
{
    if (reason == StopReason::User && tells(detail, { kKilled }))
        return sentence("a person killed it");
    return inWords(reason == StopReason::Error && tells(detail, { kStoppedUnsaved }) ? StopReason::User : reason);
}

Message endInWords(StopReason reason, const Message& detail)
{
    if (detail.empty() || reason == StopReason::None)
        return inWords(reason);
    const bool detailSaysIt
        = reason == StopReason::Error || reason == StopReason::Interrupted || reason == StopReason::Incomplete;
    if (detailSaysIt)
        return detail;
    const bool isKill = reason == StopReason::User && valuesOf(detail, kKilled);
    return sentence("%1 (%2)",
        { endReason(reason, detail),
            isKill ? sentence("what was trained since the last checkpoints is trained again") : asSentence(detail) });
}

} // namespace furrow
