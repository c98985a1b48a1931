#include "core/run/status/end_words.h"

#include "core/base/sentence.h"

namespace furrow {

Message killedDetail() { return sentence("killed; what was trained since the last checkpoints is trained again"); }

Message endReason(StopReason reason, const Message& detail)
{
    return reason == StopReason::User && detail == killedDetail() ? sentence("a person killed it") : inWords(reason);
}

Message endInWords(StopReason reason, const Message& detail)
{
    if (detail.empty() || reason == StopReason::None)
        return inWords(reason);
    const bool detailSaysIt
        = reason == StopReason::Error || reason == StopReason::Interrupted || reason == StopReason::Incomplete;
    return detailSaysIt ? detail : sentence("%1 (%2)", { endReason(reason, detail), detail });
}

} // namespace furrow
