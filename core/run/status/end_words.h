#pragma once

#include "core/base/sentence.h"
#include "core/tracker/types.h"

#include <cstdint>
#include <string>

namespace furrow {

/// What is recorded of an attempt that a person killed; its reason is that of a stop.
inline constexpr SentenceText kKilled("killed; what was trained since the last checkpoints is trained again");

/// What is recorded of an attempt that a person stopped, or that was asked to end, and that could not save: what was
/// lost by it, and why. Its reason is that of an error.
inline constexpr SentenceText kStoppedUnsaved("a person stopped it, and %1");
inline constexpr SentenceText kEndedUnsaved("it was asked to end (SIGTERM: a stop, a shut-down or a log-out), and %1");

/// What the supervisor logs at the end of an attempt, before the reason: where the ledger could not take its exit
/// record, the log is asked.
std::string attemptIsOver(std::int64_t attempt);

/// Why an attempt ended, for people: as inWords(), a kill is called one, and a stop that could not save is a stop.
Message endReason(StopReason reason, const Message& detail);

/// Why an attempt ended, for people: the reason in words, or what the detail says more closely, or both. @param reason
/// None: ""
Message endInWords(StopReason reason, const Message& detail);

} // namespace furrow
