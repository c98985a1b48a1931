#include "core/run/status/end_words.h"

#include "core/base/sentence.h"

namespace furrow {

std::string killedDetail() { return sentence("killed; what was trained since the last checkpoints is trained again"); }

std::string endReason(StopReason reason, const std::string& detail)
{
    return reason == StopReason::User && detail == killedDetail() ? sentence("a person killed it") : inWords(reason);
}

} // namespace furrow
