// How an attempt ends, and how its end is recorded.

#include "core/base/fail_point.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/base/process_limit.h"
#include "core/base/sentence.h"
#include "core/run/start/replica_heads.h"
#include "core/run/status/end_words.h"
#include "core/run/supervise/attempt_end.h"
#include "core/run/supervise/merge_task.h"
#include "core/run/supervise/supervision.h"
#include "core/tracker/worker_ends.h"

#include <thread>

namespace furrow {

namespace {

constexpr auto kKeepPatience = std::chrono::seconds(10); // what is not removed by then, the next attempt removes
constexpr int kRecordTries = 10; // one a second, of an end on a full disk

} // namespace

/// No worker is alive. Either the attempt is over, or they ended too early and start again.
Status Supervision::endOrRestart()
{
    if (!fatal_.empty()) {
        finish(StopReason::Error, fatal_);
    } else if (!incomplete_.empty()) {
        finish(StopReason::Incomplete, incomplete_);
    } else if (stopReason_ != StopReason::None) {
        FURROW_TRY_ASSIGN(auto now, readReplicaHeads(reader_));
        if (config_.merge != MergeMethod::None && isInPieces(now))
            FURROW_TRY(merge("the run is at its end"));
        FURROW_TRY_ASSIGN(const auto totals, reader_.totals());
        FURROW_TRY_ASSIGN(const auto epochs, reader_.epochs());
        const Message asked = stopAskedFor(stopReason_, rules_, totals.rules, epochs);
        finish(asked.empty() ? asWished(stopReason_, config_, totals.rules) : StopReason::User,
            asked.empty() ? whatWasLeftOut(paths_.tracker()) : asked);
    } else if (!unsaved_.empty()) {
        finish(StopReason::Error,
            desired_ == DesiredState::Stop ? sentence(kStoppedUnsaved, { unsaved_ })
                : stop_.requested()        ? sentence(kEndedUnsaved, { unsaved_ })
                                           : unsaved_);
    } else if (desired_ == DesiredState::Stop || desired_ == DesiredState::Kill) {
        finish(StopReason::User, desired_ == DesiredState::Kill ? sentence(kKilled) : sentence("after a checkpoint"));
    } else if (stop_.requested()) {
        finish(StopReason::Interrupted,
            sentence(
                "The supervisor was asked to end (SIGTERM): shut-down, log-out, or a stop that the tracker could not take."));
    } else {
        FURROW_TRY_ASSIGN(const auto totals, reader_.totals());
        if (totals.desired == DesiredState::Stop || totals.desired == DesiredState::Kill)
            return obey(totals.desired); // the workers have seen it first; the next turn ends the attempt
        if (!pool_->restartLater(0))
            finish(StopReason::Error,
                lastFailure_.empty() ? sentence("The workers ended before the run did.") : lastFailure_);
    }
    return {};
}

Status Supervision::merge(const char* when)
{
    logInfo(std::string("merging the replicas: ") + when);
    const auto goOn = [this] {
        (void)beat();
        return !stop_.requested() && !wasKilled() && files_.guard().checkReplaced().ok();
    };
    auto merged = runMergeTask({ paths_, attempt_.value, config_.merge, mergeDevice_ }, goOn);
    if (merged.ok() || merged.error().code == ErrorCode::Cancelled)
        return merged;
    if (checkpointsAreAway())
        return Error { ErrorCode::Io,
            sentence("%1 is not there. Is its disk mounted?", { utf8Text(paths_.checkpointsFolder()) }) };
    const auto refusal = heads_.waitFor(ledger_, goOn); // weights that are not whole are the reason to tell
    if (!refusal.ok() && refusal.error().code == ErrorCode::Cancelled)
        return refusal.error();
    return !refusal.ok() || refusal.value().empty() ? merged : Error { ErrorCode::Corrupt, refusal.value() };
}

StopReason Supervision::endedBy(const Error& error) const
{
    if (error.code != ErrorCode::Cancelled && !(error.code == ErrorCode::Busy && stop_.requested()))
        return StopReason::Error;
    return stop_.requested() ? StopReason::Interrupted : StopReason::User;
}

/// Also where the loop that obeys is not reached any more.
bool Supervision::wasKilled()
{
    const auto totals = reader_.totals();
    return totals.ok() && totals.value().desired == DesiredState::Kill;
}

void Supervision::finish(StopReason reason, const Message& detail)
{
    over_ = true;
    if (pool_)
        pool_->stopFeeder();
    const bool isReplaced = !files_.guard().checkReplaced().ok();
    if (!isReplaced && pool_) // an attempt that was refused changes nothing: a person may choose what it would remove
        if (auto status = keep_.finish(ledger_, kKeepPatience); !status.ok())
            logWarning(status.error().message);
    (void)beat(); // the time since the last one was active too
    failPoint("supervisor.ending");
    auto recorded = ledger_.endAttempt(attempt_, reason, detail);
    if (!recorded.ok() && isForLimit(recorded.error().message)) {
        (void)ledger_.emptyWal(); // one that begins anew may have room for it below the limit
        recorded = ledger_.endAttempt(attempt_, reason, detail);
    }
    for (int tries = 0; !recorded.ok() && mayPass(recorded.error()) && tries < kRecordTries; ++tries) {
        std::this_thread::sleep_for(std::chrono::seconds(1));
        recorded = ledger_.endAttempt(attempt_, reason, detail);
    }
    if (!recorded.ok())
        logError(recorded.error().message);
    care_.atTheEnd(isReplaced);
    logInfo(attemptIsOver(attempt_.value) + endInWords(reason, detail));
}

} // namespace furrow
