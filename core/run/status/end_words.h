#pragma once

#include "core/base/message.h"
#include "core/tracker/types.h"

namespace furrow {

/// What is recorded of an attempt that a person killed; its reason is that of a stop.
Message killedDetail();

/// Why an attempt ended, for people: as inWords(), and a kill is called one.
Message endReason(StopReason reason, const Message& detail);

/// Why an attempt ended, for people: the reason in words, or what the detail says more closely, or both. @param reason
/// None: ""
Message endInWords(StopReason reason, const Message& detail);

} // namespace furrow
