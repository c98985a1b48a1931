// Checkpoints of a session: training stands still for the copy only.

#include "core/train/loop/training_session_torch.h"

#include "core/base/end_patience.h"
#include "core/base/fail_point.h"
#include "core/base/format.h"
#include "core/base/log.h"
#include "core/base/outside.h"
#include "core/base/process_limit.h"
#include "core/base/sentence.h"
#include "core/train/meters/seconds.h"

#include <algorithm>
#include <cmath>
#include <thread>

namespace furrow {

namespace {

constexpr int kFailuresInARow = 3;
constexpr double kFirstPauseSeconds = 0.25; // between two tries
constexpr double kLongestPauseSeconds = 1; // others may wait at a merge
constexpr auto kPoll = std::chrono::milliseconds(20);

/// Before the next try: a quarter of a second, half a second, one second, ...
double pauseAfter(int failures)
{
    return std::min(kLongestPauseSeconds, kFirstPauseSeconds * std::exp2(std::min(failures, 10) - 1));
}

} // namespace

bool TrainingSession::checkpointDue() const
{
    if (pendingSave_)
        return true;
    if (failedCheckpoints_ > 0) // what it would have held is in none
        return secondsSince(lastCheckpointNs_) >= pauseAfter(failedCheckpoints_);
    const auto& c = setup_.config;
    if (state_.ownSteps == lastCheckpointOwnStep_)
        return false;
    return secondsSince(lastCheckpointNs_) / 60 >= c.checkpointMinutes
        || (c.checkpointSteps > 0 && state_.ownSteps - lastCheckpointOwnStep_ >= c.checkpointSteps);
}

bool TrainingSession::savesInVain() const { return failedCheckpoints_ >= kFailuresInARow; }

/// Freezes this instant and writes it in the background. @param work  the chunk in training, or null at a chunk's edge
void TrainingSession::startCheckpoint(ChunkWork* work)
{
    const std::int64_t began = systemClock().monotonicNs();
    if (work) {
        std::vector<StepOutcome> known;
        steps_->flush(known);
        (void)record(*work, known);
        for (auto& part : work->unfrozen(work->stepsDone - work->frozenSteps))
            uncommitted_.push_back(part);
        work->frozen = work->outcome.done;
        work->frozenSteps = work->stepsDone;
    }
    FrozenCheckpoint frozen;
    frozen.state = state_;
    frozen.state.spikes = spikes_.state();
    frozen.state.divergence = divergence_.state();
    if (!headFolder_.empty())
        frozen.state.parents = { headFolder_ };
    frozen.parents
        = { head_.value_or(kStartWeights) }; // the ledger refuses weights that were made from anything but its head
    frozen.frozenFile = frozenFile_;
    frozen.weights = frozenCopy(learner_->weights(), writer_->spareWeights());
    frozen.optimizer = frozenCopy(learner_->optimizerState(), writer_->spareOptimizer());
    frozen.incarnation = ledger_->incarnation();
    frozen.parts = uncommitted_;
    if (evalStep_ == state_.step) {
        frozen.evalLoss = evalLoss_;
        lossUnsaved_ = false;
    }
    inFlight_ = std::move(uncommitted_);
    uncommitted_.clear();
    skippedSinceCommit_ = false;
    pendingSave_ = false;
    lastCheckpointNs_ = systemClock().monotonicNs();
    lastCheckpointOwnStep_ = state_.ownSteps;
    telemetry_->flush(); // a step that a checkpoint has is told, even where the worker dies the moment after
    failPoint("checkpoint.frozen");
    writer_->begin(std::move(frozen));
    const double stalled = secondsSince(began);
    stalledSeconds_ += stalled;
    totals_.checkpointSeconds += stalled;
}

/// Takes the result of the checkpoint that was being written. A disk that refuses costs the checkpoint, not the
/// training: its parts go into the next one, which comes soon. Any other trouble ends the worker when it comes three
/// times in a row; a run folder that is another one now ends it at once.
Status TrainingSession::collectCheckpoint(bool wait)
{
    auto result = writer_->take();
    for (; wait && ranks_ && !result && writer_->busy(); result = writer_->take()) {
        ranks_->keepWaiting();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    if (wait && !result)
        result = writer_->wait();
    if (!result)
        return {};
    if (result->ok()) {
        const auto& done = result->value();
        head_ = done.id;
        headFolder_ = done.record.folder;
        inFlight_.clear();
        failedCheckpoints_ = 0;
        tellNotSaved({});
        tellMemory();
        tellEvent(EventRecord::Kind::Checkpoint,
            sentence("%1, %2, written in %3",
                { done.record.folder, Bytes(done.record.sizeBytes), formatDuration(done.seconds) }));
        return {};
    }
    const Error& error = result->error();
    ++failedCheckpoints_;
    if (error.code == ErrorCode::Cancelled || isForLimit(error.message) || !setup_.files->guard().checkReplaced().ok()
        || (failedCheckpoints_ >= kFailuresInARow && !isOutside(error)))
        return error;
    logWarning(withFullStop(error.message) + " The next checkpoint will hold this work too.");
    tellEvent(EventRecord::Kind::Alarm, error.message);
    tellNotSaved(error.message);
    lastFailure_ = error;
    uncommitted_.insert(uncommitted_.begin(), inFlight_.begin(), inFlight_.end());
    inFlight_.clear();
    return {};
}

/// For status and events, where nobody reads this log; once for all tries, which name another file each. A tracker on
/// the same disk cannot keep it either.
void TrainingSession::tellNotSaved(const Message& why)
{
    if (std::exchange(toldNotSaved_, !why.empty()) == !why.empty())
        return;
    ledger_->post([why](WorkerLedger& ledger) {
        if (const auto kept = ledger.keepNotSaved(why); !kept.ok())
            logWarning(kept.error().message);
    });
}

/// Pauses before the next try to save. One that was asked to end gives up after a while.
Status TrainingSession::waitForTheDisk()
{
    const std::int64_t began = systemClock().monotonicNs();
    while (secondsSince(began) < pauseAfter(failedCheckpoints_)) {
        FURROW_TRY(ledger_->status());
        FURROW_TRY(setup_.files->guard().checkReplaced());
        if (!askedToStop())
            endAskedNs_ = 0;
        else if (endAskedNs_ == 0)
            endAskedNs_ = systemClock().monotonicNs();
        else if (secondsSince(endAskedNs_) > endPatienceSeconds())
            return lastFailure_;
        tellProgress(WorkerPhase::Checkpoint);
        std::this_thread::sleep_for(kPoll);
    }
    return {};
}

/// Everything trained so far is in a committed checkpoint when this returns. On a disk that refuses, it waits until
/// that is so: a worker that ended would lose the work.
Status TrainingSession::commitEverything()
{
    const std::int64_t began = systemClock().monotonicNs();
    const double counted = totals_.checkpointSeconds; // startCheckpoint() counts its own
    tellProgress(WorkerPhase::Checkpoint);
    auto status = collectCheckpoint(true);
    while (status.ok() && hasUncommitted()) {
        if (failedCheckpoints_ > 0)
            status = waitForTheDisk();
        if (!status.ok())
            break;
        startCheckpoint(nullptr);
        status = collectCheckpoint(true);
    }
    const double waited = secondsSince(began) - (totals_.checkpointSeconds - counted);
    stalledSeconds_ += waited;
    totals_.checkpointSeconds += waited;
    lastStepEndNs_ = systemClock().monotonicNs();
    return status;
}

} // namespace furrow
