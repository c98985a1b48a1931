#pragma once

#include "core/base/told.h"

namespace furrow {

/// How the end of a process is told that the kernel killed for its memory.
inline constexpr SentenceText kKilledForMemory("SIGKILL (likely the out-of-memory killer)");
/// How a worker tells that a training step did not fit: device, windows, tokens, bytes in use, what was said.
inline constexpr SentenceText kStepTooLarge(
    "%1 ran out of memory in a step of %2 windows of %3 tokens; at most %4 were in use. Lower batch_size (and raise grad_accum to keep the step as large), or lower seq_len or width. What was said: %5");
/// The same where recomputing would help.
inline constexpr SentenceText kStepTooLargeWithoutRecompute(
    "%1 ran out of memory in a step of %2 windows of %3 tokens; at most %4 were in use. Lower batch_size (and raise grad_accum to keep the step as large), turn recompute on, or lower seq_len or width. What was said: %5");

/// Whether the end of a process, or of an attempt, is told as one for want of memory.
inline bool isForMemory(const Message& end)
{
    return tells(end, { kKilledForMemory, kStepTooLarge, kStepTooLargeWithoutRecompute });
}

} // namespace furrow
