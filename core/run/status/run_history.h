#pragma once

#include "core/tracker/ledger_reader.h"

#include <cstdint>
#include <vector>

namespace furrow {

/// What happened to a run that its ledger keeps in rows of attempts and processes, not as an event. It is the same
/// whoever looks, and whenever: nothing of it depends on what is so now.
struct HistoryEntry {
    enum class Kind { AttemptBegan, AttemptEnded, WorkerDied, WorkerStartedAgain };
    Kind kind = Kind::AttemptBegan;
    std::int64_t wallNs = 0;
    AttemptId attempt;
    IncarnationId incarnation; ///< 0: of the attempt itself
    std::int32_t worker = kNoWorker; ///< kNoWorker: of an attempt, or the process that merged
    StopReason reason = StopReason::None; ///< of an end of an attempt
    Message cause; ///< of a death: why, as the ledger has it
    Message text; ///< all of it in a sentence
};

/// In the order of their times. The newest attempt has no end here when it left no record: whether it goes on is for
/// readStatus() to say. A worker that ended with its attempt did not die.
/// @param attempts, incarnations  all of the run, the oldest first
std::vector<HistoryEntry> historyOf(
    const std::vector<AttemptRow>& attempts, const std::vector<IncarnationRow>& incarnations);

/// How an attempt ended, in a sentence: "Attempt 3 failed: ...".
Message endOfAttempt(AttemptId attempt, StopReason reason, const Message& detail);

} // namespace furrow
