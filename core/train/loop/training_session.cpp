// The loop of a worker on one screen: look at what people and the run want, claim, train, checkpoint.

#include "core/train/loop/training_session_torch.h"

#include "core/train/loop/rank_follower_torch.h"

#include "core/base/caught.h"
#include "core/base/fail_point.h"
#include "core/base/format.h"
#include "core/base/log.h"
#include "core/base/sentence.h"
#include "core/run/status/evaluation_file.h"
#include "core/run/folder/memory_file.h"
#include "core/tracker/sqlite/write_or_fail.h"
#include "core/tracker/worker_ends.h"
#include "core/train/sample/questions_torch.h"
#include "core/train/sample/sampler_torch.h"
#include "core/train/meters/seconds.h"

#include <torch/torch.h>

#include <thread>

namespace furrow {

namespace {

constexpr auto kPoll = std::chrono::milliseconds(20);
constexpr double kToldAgain = 1.01; // times the peak told before
constexpr int kPollsBeforeCommit = 10; // data that is about to come is worth a short wait before a checkpoint is spent

} // namespace

Result<TrainerEnd> TrainingSession::run()
{
    for (;;) {
        auto turned = turn();
        if (turned.ok() && !turned.value())
            continue;
        if (turned.ok())
            return *turned.value();
        const Error error = turned.error();
        logError(error.message);
        tellEvent(EventRecord::Kind::Alarm, error.message);
        if (group_)
            group_->leave(error.message);
        (void)writer_->wait();
        if (error.code != ErrorCode::Cancelled) // else another one holds what this incarnation held
            (void)ledger_->call([&](WorkerLedger& ledger) { return ledger.end(error.message); });
        return error;
    }
}

Result<std::optional<TrainerEnd>> TrainingSession::turn()
{
    using Turn = std::optional<TrainerEnd>;
    FURROW_TRY_ASSIGN(auto look, lookAround());
    Status status;
    if (look == Cut::Stop) {
        auto end = finish(sentence(kWorkerStopped));
        return end.ok() ? Result<Turn>(end.value()) : Result<Turn>(end.error());
    }
    if (look == Cut::Merge) {
        status = joinMerge(ledger_->signals().mergeRound);
        return status.ok() ? Result<Turn>(Turn {}) : Result<Turn>(status.error());
    }
    if (ledger_->signals().desired == DesiredState::Pause) {
        status = waitPaused();
        return status.ok() ? Result<Turn>(Turn {}) : Result<Turn>(status.error());
    }
    const std::int64_t asked = systemClock().monotonicNs();
    FURROW_TRY_ASSIGN(auto next, ledger_->next());
    if (const auto* why = std::get_if<NothingToClaim>(&next))
        return onNothing(*why);
    waitedSeconds_ += secondsSince(asked);
    totals_.dataSeconds += secondsSince(asked);
    auto trained = trainChunk(std::get<Claim>(next));
    underWay_ = nullptr;
    FURROW_TRY_ASSIGN(auto cut, std::move(trained));
    // Of a spent budget others hold the last steps and may give some back: claim() says when it is over. And a disk
    // that refuses must not cost more and more work.
    if (cut == Cut::Budget || savesInVain())
        status = commitEverything();
    else if (checkpointDue() && !writer_->busy())
        startCheckpoint(nullptr);
    return status.ok() ? Result<Turn>(Turn {}) : Result<Turn>(status.error());
}

Result<std::optional<TrainerEnd>> TrainingSession::onNothing(NothingToClaim why)
{
    using Turn = std::optional<TrainerEnd>;
    if (why == NothingToClaim::EpochComplete || why == NothingToClaim::StopRuleReached) {
        auto end = finish(
            why == NothingToClaim::EpochComplete ? sentence(kWorkerSawEpochsEnd) : sentence(kWorkerSawRuleReached));
        return end.ok() ? Result<Turn>(end.value()) : Result<Turn>(end.error());
    }
    if (++idleTurns_ == kPollsBeforeCommit || (why == NothingToClaim::WaitForOthers && hasUncommitted())) {
        // What this worker trained may be all that keeps the epoch open: nobody else can commit it.
        FURROW_TRY(commitEverything());
        FURROW_TRY(ledger_->returnSteps());
    }
    tellProgress(WorkerPhase::Wait);
    std::this_thread::sleep_for(kPoll);
    waitedSeconds_ += std::chrono::duration<double>(kPoll).count();
    return Turn {};
}

/// Gives back what is claimed and not begun.
Status TrainingSession::releaseAhead()
{
    auto released = ledger_->releasePrefetched();
    loader_->forget();
    if (ranks_)
        ranks_->expect({});
    return released;
}

Status TrainingSession::waitPaused()
{
    FURROW_TRY(releaseAhead());
    FURROW_TRY(commitEverything());
    FURROW_TRY(ledger_->returnSteps());
    logInfo("paused");
    while (!stopWanted() && ledger_->status().ok() && ledger_->signals().desired == DesiredState::Pause) {
        tellProgress(WorkerPhase::Wait);
        std::this_thread::sleep_for(kPoll);
    }
    lastStepEndNs_ = lastCheckpointNs_ = systemClock().monotonicNs(); // the pause belongs to no step
    logInfo("going on");
    return {};
}

Result<TrainerEnd> TrainingSession::finish(const Message& cause)
{
    FURROW_TRY(releaseAhead());
    FURROW_TRY(evaluate("at the end"));
    FURROW_TRY(collectCheckpoint(true));
    // The last step may lie in a checkpoint from before its evaluation: what the run ends with says how good it is.
    if (lossUnsaved_ && head_ && !hasGivenHead_ && totals_.stepsHere > 0)
        startCheckpoint(nullptr);
    FURROW_TRY(commitEverything());
    FURROW_TRY(ledger_->returnSteps());
    FURROW_TRY(ledger_->flushProgress());
    if (ranks_)
        FURROW_TRY(ranks_->give({ RankOrder::Kind::End }));
    failPoint("worker.ending");
    FURROW_TRY(ledger_->call([&](WorkerLedger& ledger) { return ledger.end(cause); }));
    totals_.cause = cause;
    totals_.step = state_.step;
    totals_.tokens = state_.tokens;
    totals_.seconds = secondsSince(startedNs_);
    totals_.ledgerSeconds = ledger_->busySeconds();
    tellClaimWaits();
    tellEvent(EventRecord::Kind::Stopped, cause);
    telemetry_->flush();
    logInfo("ended: " + cause + ", step " + std::to_string(state_.step));
    return totals_;
}

/// By a person, a signal or the parent's death.
bool TrainingSession::askedToStop() const
{
    if ((stopRequested_ && stopRequested_()) || (ranks_ && ranks_->stopWanted()))
        return true;
    const auto desired = mergesOnly_ ? DesiredState::Run : ledger_->signals().desired;
    return desired == DesiredState::Stop || desired == DesiredState::Kill;
}

/// With a budget of steps, what is reserved of it is used up first: then the total is met exactly.
bool TrainingSession::stopWanted() const
{
    return askedToStop() || (ledger_->signals().stopRuleReached && setup_.config.steps == 0);
}

bool TrainingSession::mergeWanted() const
{
    return !ranks_ && ledger_->signals().mergeRound > state_.mergeRound
        && ledger_->signals().mergeRound > mergeRoundSeen_;
}

void TrainingSession::tellProgress(WorkerPhase phase, const ChunkWork* work)
{
    WorkerLedger::Progress progress;
    progress.phase = warm_ || work || phase == WorkerPhase::Wait ? phase : WorkerPhase::WarmingUp;
    progress.step = state_.ownSteps;
    progress.tokens = state_.ownTokens;
    progress.loss = lastLoss_;
    progress.tokensPerSecond = work ? pace_.tokensPerSecond() : 0;
    if (const ChunkWork* at = work ? work : underWay_) { // an evaluation takes the chunk out of nobody's hands
        progress.chunk = at->claim.chunk;
        progress.chunkFraction
            = at->windowsToDo > 0 ? static_cast<double>(at->windowsDone) / static_cast<double>(at->windowsToDo) : 0;
    }
    if (work)
        idleTurns_ = 0;
    ledger_->progress(progress);
    if (ranks_)
        ranks_->keepWaiting();
}

void TrainingSession::tellClaimWaits()
{
    const auto waits = ledger_->claimWaits();
    lastClaimWaitsNs_ = systemClock().monotonicNs();
    telemetry_->write(ClaimWaitRecord { lastClaimWaitsNs_, waits.count, waits.p50Ms, waits.p99Ms, waits.maxMs });
}

/// After a checkpoint: its copy belongs to the peak.
void TrainingSession::tellMemory()
{
    const std::int64_t peak = memory_.read(setup_.device, true).peakBytes;
    if (setup_.compute.counting || static_cast<double>(peak) < kToldAgain * static_cast<double>(toldPeakBytes_))
        return;
    toldPeakBytes_ = peak;
    const StepPath path = stepPathOf(setup_.config, setup_.modelConfig, setup_.device.is_cuda());
    const auto estimate = estimateMemory(setup_.config, setup_.modelConfig, path, options_.threads);
    const MeasuredMemory measured { { deviceName(setup_.device), path, toString(setup_.modelConfig.architecture) },
        estimate.total(), peak };
    if (auto told = publishMemory(setup_.paths, options_.worker, measured, *setup_.files); !told.ok())
        logWarning(told.error().message);
}

void TrainingSession::tellEvent(EventRecord::Kind kind, const Message& text, ChunkId chunk)
{
    if (telemetry_)
        telemetry_->write(EventRecord { systemClock().monotonicNs(), state_.ownSteps, chunk.value, kind, text });
}

Status TrainingSession::evaluate(const char* why)
{
    if (!learner_->model() || (evaluation_->empty() && !questions_) || evalStep_ == state_.step)
        return {};
    const std::int64_t began = systemClock().monotonicNs();
    const UseAverage average(*learner_);
    EvalRecord line;
    line.loss = std::numeric_limits<double>::quiet_NaN();
    if (!evaluation_->empty()) {
        FURROW_TRY_ASSIGN(const auto result, evaluation_->run(*learner_->model(), false, [this] {
            tellProgress(WorkerPhase::Evaluate);
            return ledger_->status().ok();
        }));
        line.loss = result.loss;
        line.pairs = result.pairs;
        evalLoss_ = result.loss;
        lossUnsaved_ = true;
    }
    FURROW_TRY_ASSIGN(line.tasks, answerQuestions(WorkerPhase::Evaluate));
    evalStep_ = state_.step;
    evalOwnStep_ = state_.ownSteps;
    line.what
        = state_.tokensSinceBase == 0 && state_.mergeRound > 0 ? EvalRecord::What::Merged : EvalRecord::What::Replica;
    tellEvaluation(line, state_.step);
    totals_.evaluationSeconds += secondsSince(began);
    lastStepEndNs_ = systemClock().monotonicNs();
    std::string found = evaluation_->empty() ? "" : "loss on held-out text " + formatNumber(line.loss, 4);
    if (line.pairs.pairs > 0)
        found += ", margin " + formatNumber(line.pairs.margin, 4) + ", preferred "
            + formatNumber(100 * line.pairs.preferred, 1) + " %";
    for (const auto& [name, value] : namedMarks(line.tasks))
        found += (found.empty() ? "" : ", ") + std::string(name) + " " + formatNumber(value, 4);
    logInfo("step " + std::to_string(state_.step) + ": " + found + " (" + why + ")");
    return {};
}

/// None while a person waits for the end. A model that cannot answer may be trained all the same.
Result<TaskMarks> TrainingSession::answerQuestions(WorkerPhase phase)
{
    if (!questions_ || askedToStop())
        return TaskMarks {};
    bool isOver = false;
    auto answers = ask(*learner_->model(), *tokenizer_, *questions_,
        { .limit = setup_.config.evalTasksLimit, .onlyMarks = true }, [&] {
            tellProgress(phase);
            isOver = askedToStop();
            return !isOver && ledger_->status().ok();
        });
    if (answers.ok())
        return answers.value().marks;
    FURROW_TRY(ledger_->status());
    if (!isOver) {
        const Message text
            = sentence("The questions of eval_tasks could not be answered: %1", { answers.error().message });
        logWarning(text);
        tellEvent(EventRecord::Kind::Alarm, text);
    }
    return TaskMarks {};
}

/// @param line  with loss, answers, and what was evaluated  @param weightsStep  as checkpoints say it
void TrainingSession::tellEvaluation(EvalRecord line, std::int64_t weightsStep)
{
    line.monotonicNs = systemClock().monotonicNs();
    line.step = state_.ownSteps;
    line.weightsStep = weightsStep;
    line.tokens = state_.ownTokens;
    if (line.tasks.questions > 0 || !evaluation_->empty())
        telemetry_->write(line);
    if (auto told = publishEvaluation(setup_.paths,
            { options_.worker, line.what == EvalRecord::What::Merged, weightsStep, line.loss, systemClock().wallNs(),
                line.tasks, line.pairs },
            *setup_.files);
        !told.ok())
        logWarning(told.error().message);
}

Status TrainingSession::evaluateWhenDue()
{
    const auto every = setup_.config.evalSteps;
    if (every == 0 || state_.ownSteps == 0 || state_.ownSteps % every != 0 || evalOwnStep_ == state_.ownSteps)
        return {};
    return evaluate("as planned");
}

void TrainingSession::sampleWhenDue()
{
    const auto every = setup_.config.sampleSteps;
    if (every == 0 || options_.worker != 0 || !learner_->model() || state_.ownSteps % every != 0
        || sampleOwnStep_ == state_.ownSteps)
        return;
    sampleOwnStep_ = state_.ownSteps;
    std::vector<TokenId> ids;
    if (auto status = tokenizer_->encode(setup_.config.samplePrompt, ids); !status.ok()) {
        logWarning(status.error().message);
        return;
    }
    std::vector<std::int64_t> prompt(ids.begin(), ids.end());
    if (prompt.empty())
        prompt.push_back(tokenizer_->endOfText());
    SampleOptions options;
    options.seed = static_cast<std::uint64_t>(setup_.config.seed);
    options.stopTokens = { tokenizer_->endOfText() };
    const UseAverage average(*learner_);
    auto tokens = sampleText(*learner_->model(), prompt, options, [this](const DrawnToken&) {
        tellProgress(WorkerPhase::Evaluate);
        return true;
    });
    if (!tokens.ok()) {
        logWarning(tokens.error().message);
        return;
    }
    const std::vector<TokenId> text(tokens.value().begin(), tokens.value().end());
    telemetry_->write(SampleRecord {
        systemClock().monotonicNs(), state_.ownSteps, setup_.config.samplePrompt, tokenizer_->decode(text) });
    lastStepEndNs_ = systemClock().monotonicNs();
}

Result<TrainerEnd> runTrainerWith(
    const TrainerOptions& options, const std::function<bool()>& stopRequested, const LearnerFactory& factory)
{
    writeTrackersOrFail();
    const auto stoppedOr = [&stopRequested](const Error& error) -> Result<TrainerEnd> {
        if (error.code == ErrorCode::Cancelled && stopRequested && stopRequested())
            return TrainerEnd { sentence(kWorkerStopped) }; // before it had begun
        return error;
    };
    try {
        if (options.ranks > 1 && options.worker > 0) {
            auto follower = RankFollower::open(options, stopRequested, factory);
            return follower.ok() ? follower.value()->run() : stoppedOr(follower.error());
        }
        auto session = TrainingSession::open(options, stopRequested, factory);
        return session.ok() ? session.value()->run() : stoppedOr(session.error());
    } catch (const c10::Error& e) {
        return Error { ErrorCode::Internal, e.what_without_backtrace() };
    } catch (const std::exception& e) {
        return caught(e);
    }
}

Result<TrainerEnd> runTrainer(const TrainerOptions& options, const std::function<bool()>& stopRequested)
{
    return runTrainerWith(options, stopRequested, newLearner);
}

} // namespace furrow
