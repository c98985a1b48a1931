#include "core/run/status/end_words.h"

#include "core/base/sentence.h"

namespace furrow {

Message killedDetail() { return sentence("killed; what was trained since the last checkpoints is trained again"); }

Message endReason(StopReason reason, const Message& detail)
{
    return reason == StopReason::User && detail == killedDetail() ? sentence("a person killed it") : inWords(reason);
}

} // namespace furrow
