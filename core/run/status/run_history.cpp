#include "core/run/status/run_history.h"

#include "core/run/status/end_words.h"

#include "core/base/sentence.h"
#include "core/base/told.h"
#include "core/run/status/run_status.h"
#include "core/tracker/worker_ends.h"

#include <algorithm>
#include <map>
#include <utility>

namespace furrow {

namespace {

using Kind = HistoryEntry::Kind;

void addAttempts(std::vector<HistoryEntry>& history, const std::vector<AttemptRow>& attempts)
{
    for (std::size_t i = 0; i < attempts.size(); ++i) {
        const AttemptRow& row = attempts[i];
        history.push_back({ Kind::AttemptBegan, row.startedWallNs, row.id, {}, kNoWorker, StopReason::None, {},
            sentence("Attempt %1 began.", { std::to_string(row.id.value) }) });
        std::int64_t endedNs = row.endedWallNs.value_or(0);
        StopReason reason = row.reason;
        if (!row.endedWallNs && i + 1 < attempts.size()) { // it left no record: when it was last heard of
            endedNs = row.lastSeenWallNs != 0 ? row.lastSeenWallNs : attempts[i + 1].startedWallNs;
            reason = StopReason::Interrupted;
        }
        if (endedNs != 0)
            history.push_back({ Kind::AttemptEnded, endedNs, row.id, {}, kNoWorker, reason, {},
                endOfAttempt(row.id, reason, row.detail) });
    }
}

Message deathInWords(std::int32_t worker, const Message& cause)
{
    return worker == kNoWorker ? sentence("The process that merged ended: %1", { asSentence(cause) })
                               : sentence("Worker %1 ended: %2", { std::to_string(worker), asSentence(cause) });
}

void addWorkers(std::vector<HistoryEntry>& history, const std::vector<IncarnationRow>& incarnations)
{
    std::map<std::pair<std::int64_t, std::int32_t>, bool> diedBefore; // by attempt and worker
    for (const IncarnationRow& row : incarnations) {
        bool& died = diedBefore[{ row.attempt.value, row.worker }];
        if (std::exchange(died, false) && row.worker != kNoWorker)
            history.push_back({ Kind::WorkerStartedAgain, row.startedWallNs, row.attempt, row.id, row.worker,
                StopReason::None, {}, sentence("Worker %1 was started again.", { std::to_string(row.worker) }) });
        if (row.live || row.endedWallNs == 0 || isEndOfAttempt(row.endCause))
            continue;
        died = true;
        history.push_back({ Kind::WorkerDied, row.endedWallNs, row.attempt, row.id, row.worker, StopReason::None,
            row.endCause, deathInWords(row.worker, row.endCause) });
    }
}

} // namespace

Message endOfAttempt(AttemptId attempt, StopReason reason, const Message& detail)
{
    const std::string which = std::to_string(attempt.value);
    switch (stateAfter(reason)) {
    case RunState::Failed: return sentence("Attempt %1 failed: %2", { which, detail });
    case RunState::Interrupted: return sentence("Attempt %1 was interrupted.", { which });
    case RunState::Stopped: return sentence("Attempt %1 ended: %2.", { which, endInWords(reason, detail) });
    default: return sentence("Attempt %1 finished: %2.", { which, inWords(reason) });
    }
}

std::vector<HistoryEntry> historyOf(
    const std::vector<AttemptRow>& attempts, const std::vector<IncarnationRow>& incarnations)
{
    std::vector<HistoryEntry> history;
    addAttempts(history, attempts);
    addWorkers(history, incarnations);
    std::stable_sort(history.begin(), history.end(),
        [](const HistoryEntry& a, const HistoryEntry& b) { return a.wallNs < b.wallNs; });
    return history;
}

} // namespace furrow
