// Checkpoints of a session: training stands still for the copy only.

#include "core/train/loop/training_session_torch.h"

#include "core/base/fail_point.h"
#include "core/base/format.h"
#include "core/base/log.h"
#include "core/base/sentence.h"

#include <thread>

namespace furrow {

namespace {
constexpr int kFailuresInARow = 3;
}

bool TrainingSession::checkpointDue() const
{
    if (pendingSave_)
        return true;
    const auto& c = setup_.config;
    if (state_.ownSteps == lastCheckpointOwnStep_)
        return false;
    const double minutes = static_cast<double>(systemClock().monotonicNs() - lastCheckpointNs_) / 60e9;
    return minutes >= c.checkpointMinutes
        || (c.checkpointSteps > 0 && state_.ownSteps - lastCheckpointOwnStep_ >= c.checkpointSteps);
}

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
    const double stalled = static_cast<double>(systemClock().monotonicNs() - began) / 1e9;
    stalledSeconds_ += stalled;
    totals_.checkpointSeconds += stalled;
}

/// Takes the result of the checkpoint that was being written. A disk that refuses costs the checkpoint, not the
/// training: its parts go into the next one; the third failure in a row ends the worker. So does the first in a run
/// folder that is another one now.
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
        tellMemory();
        tellEvent(EventRecord::Kind::Checkpoint,
            sentence("%1, %2, written in %3",
                { done.record.folder, Bytes(done.record.sizeBytes), formatDuration(done.seconds) }));
        return {};
    }
    if (result->error().code == ErrorCode::Cancelled || !setup_.files->guard().checkReplaced().ok()
        || ++failedCheckpoints_ >= kFailuresInARow)
        return result->error();
    logWarning(result->error().message + " Training goes on; the next checkpoint will hold this work too.");
    tellEvent(EventRecord::Kind::Alarm, result->error().message);
    uncommitted_.insert(uncommitted_.begin(), inFlight_.begin(), inFlight_.end());
    inFlight_.clear();
    return {};
}

/// Everything trained so far is in a committed checkpoint when this returns.
Status TrainingSession::commitEverything()
{
    tellProgress(WorkerPhase::Checkpoint);
    FURROW_TRY(collectCheckpoint(true));
    while (hasUncommitted()) {
        startCheckpoint(nullptr);
        const std::int64_t began = systemClock().monotonicNs();
        auto collected = collectCheckpoint(true);
        const double waited = static_cast<double>(systemClock().monotonicNs() - began) / 1e9;
        stalledSeconds_ += waited;
        totals_.checkpointSeconds += waited;
        if (!collected.ok())
            return collected;
    }
    lastStepEndNs_ = systemClock().monotonicNs();
    return {};
}

} // namespace furrow
