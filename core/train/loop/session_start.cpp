// Start of a worker: register, find the weights to go on from, open data and telemetry.

#include "core/train/loop/training_session_torch.h"

#include "core/base/fail_point.h"
#include "core/base/format.h"
#include "core/base/log.h"
#include "core/base/sentence.h"
#include "core/run/folder/frozen_config.h"
#include "core/run/start/rate_plan.h"
#include "core/run/start/run_length.h"
#include "core/tracker/ledger_reader.h"
#include "core/tracker/training_notes.h"
#include "core/train/checkpoint/frozen_weights_torch.h"

#include <torch/torch.h>

#include <algorithm>
#include <thread>

namespace furrow {

namespace {

/// The worker had a process before this one, which is registered, in this attempt.
Result<bool> isStartedAgain(LedgerReader& reader, const TrainerOptions& options)
{
    FURROW_TRY_ASSIGN(const auto rows, reader.incarnations());
    return std::ranges::count_if(rows, [&options](const IncarnationRow& row) {
        return row.attempt.value == options.attempt && row.worker == options.worker;
    }) > 1;
}

} // namespace

TrainingSession::TrainingSession(
    RunSetup setup, TrainerOptions options, std::function<bool()> stopRequested, LearnerFactory factory)
    : setup_(std::move(setup))
    , options_(std::move(options))
    , stopRequested_(std::move(stopRequested))
    , factory_(std::move(factory))
    , tooGood_({ setup_.config.expectedLoss, setup_.config.expectedLossFall, setup_.config.lossAlarm,
          setup_.config.initFrom.empty() })
{
}

Result<std::unique_ptr<TrainingSession>> TrainingSession::open(
    const TrainerOptions& options, std::function<bool()> stopRequested, LearnerFactory factory)
{
    FURROW_TRY_ASSIGN(auto setup, openTrainerRun(options));
    auto session = std::unique_ptr<TrainingSession>(
        new TrainingSession(std::move(setup), options, std::move(stopRequested), std::move(factory)));
    if (auto status = session->start(); !status.ok()) {
        if (session->group_)
            session->group_->leave(status.error().message);
        return status.error();
    }
    return session;
}

Status TrainingSession::start()
{
    FURROW_TRY_ASSIGN(
        auto reader, LedgerThread::outlastDisk([this] { return LedgerReader::open(setup_.paths.tracker()); }));
    reader_.emplace(std::move(reader));
    FURROW_TRY(checkFrozen(setup_.file, *reader_));
    if (options_.attempt == 0) {
        FURROW_TRY_ASSIGN(auto attempts, reader_->attempts());
        if (attempts.empty())
            return Error { ErrorCode::InvalidArgument,
                sentence(
                    "%1 was never started. Start it with 'furrowctl resume'.", { setup_.paths.folder().string() }) };
        options_.attempt = attempts.back().id.value;
    }
    LedgerThread::Options ledger;
    ledger.tracker = setup_.paths.tracker();
    ledger.runId = setup_.file.runId;
    ledger.registration = { AttemptId { options_.attempt }, options_.worker, options_.replica, options_.device,
        deviceName(setup_.device), setup_.windowsPerStep() * setup_.config.seqLen };
    ledger.onClaimed = [this](const Claim& claim) {
        if (loader_)
            loader_->prefetch(claim);
        if (ranks_)
            ranks_->expect(claim);
    };
    ledger.leastLeaseSeconds = leaseOf(setup_);
    ledger.stuckSeconds = options_.stuckSeconds;
    ledger.onStuck = [this](double seconds, const WorkerLedger::Progress& progress) {
        const Message text = sentence(
            "no progress for %1 in phase '%2'; if that continues, the lease of this worker ends and its work goes to others",
            { formatDuration(seconds), toString(progress.phase) });
        logWarning(text);
        telemetry_->write(EventRecord {
            systemClock().monotonicNs(), progress.step, progress.chunk.value, EventRecord::Kind::Alarm, text });
    };
    ledger.whileWaiting = [this, training = std::this_thread::get_id()] { // others of its group give it up else
        if (ranks_ && std::this_thread::get_id() == training) // and not who writes a checkpoint
            ranks_->keepWaiting();
    };
    FURROW_TRY(openData());
    FURROW_TRY_ASSIGN(ledger_, LedgerThread::start(std::move(ledger)));
    failPoint("worker.started");
    FURROW_TRY(openTelemetry());
    writer_ = std::make_unique<CheckpointWriter>(setup_.paths, setup_.file.runId, *ledger_, *setup_.files);
    FURROW_TRY_ASSIGN(const RunSetup making, setupToGoOn(setup_, *reader_, options_.replica));
    FURROW_TRY_ASSIGN(learner_, factory_(making));
    FURROW_TRY(restore());
    FURROW_TRY(keepFrozen());
    FURROW_TRY(meetRanks());
    steps_ = std::make_unique<StepRunner>(*learner_, stepRules(setup_.config), group_.get());
    adaptive_.restore(state_.adaptive);
    spikes_.restore(state_.spikes);
    divergence_.restore(state_.divergence);
    FURROW_TRY(planRates());
    if (setup_.config.noiseMultiplier > 0) {
        FURROW_TRY_ASSIGN(noiseSalt_, noiseSalt(setup_.paths.tracker()));
    }
    const auto signals = ledger_->signals();
    FURROW_TRY_ASSIGN(const bool isAgain, isStartedAgain(*reader_, options_)); // perhaps what was asked for ended it
    saveRequestSeen_ = isAgain ? signals.saveRequest : 0; // who asks while workers start is not forgotten
    evalRequestSeen_ = isAgain ? signals.evalRequest : 0;
    lastCheckpointNs_ = startedNs_ = systemClock().monotonicNs();
    lastCheckpointOwnStep_ = state_.ownSteps;
    logInfo("replica " + std::to_string(options_.replica) + " on " + options_.device + " (" + learner_->backendName()
        + ") goes on at step " + std::to_string(state_.step));
    tellEvent(EventRecord::Kind::Started, learner_->backendName());
    return {};
}

Status TrainingSession::openData()
{
    FURROW_TRY_ASSIGN(tokenizer_, tokenizerOfRun(setup_.paths, setup_.file));
    FURROW_TRY_ASSIGN(loader_, ChunkLoader::start(loaderOptions(setup_, *tokenizer_)));
    batches_ = std::make_unique<BatchMaker>(setup_.device, setup_.config.batchSize, setup_.config.seqLen);
    FURROW_TRY_ASSIGN(auto heldOut, readHeldOut(setup_.paths.evaluationFile()));
    evaluation_ = std::make_unique<EvaluationSet>(std::move(heldOut), tokenizer_->endOfText(),
        EvaluationSet::Cut { windowRules(setup_.config), setup_.config.batchSize, setup_.config.evalBatches,
            preferenceRule(setup_.config) },
        setup_.device);
    if (!setup_.config.evalTasks.empty()) {
        FURROW_TRY_ASSIGN(questions_, readQuestions(setup_.paths.questionsFile()));
    }
    return {};
}

/// As rank 0 of a data-parallel group, last of all: what takes long on one rank only must not count as its absence.
Status TrainingSession::meetRanks()
{
    if (options_.ranks == 1)
        return {};
    FURROW_TRY_ASSIGN(group_, joinRanks(options_, setup_, stopRequested_));
    ranks_ = std::make_unique<RankOrders>(*group_);
    return shareState(*learner_, *group_);
}

Status TrainingSession::openTelemetry()
{
    FURROW_TRY_ASSIGN(auto writer, furrow::openTelemetry(setup_, options_));
    telemetry_.emplace(std::move(writer));
    return {};
}

/// Checkpoints hold what training changes and name the rest, which has to be there before the first of them. One of an
/// older version names nothing.
Status TrainingSession::keepFrozen()
{
    const NamedTensors frozen = learner_->frozenWeights();
    if (frozen.empty() || frozenFile_)
        return {};
    tellProgress(WorkerPhase::Checkpoint);
    FURROW_TRY_ASSIGN(auto kept, storeFrozen(setup_.paths, setup_.file.runId, frozen, *setup_.files));
    frozenFile_ = kept;
    return {};
}

/// The schedule that the supervisor planned for this attempt, else as the settings ask; and what earlier roll-backs of
/// this replica changed.
Status TrainingSession::planRates()
{
    FURROW_TRY_ASSIGN(auto notes, readTrainingNotes(setup_.paths.tracker()));
    if (const auto found = notes.rollbacks.find(options_.replica); found != notes.rollbacks.end())
        rollback_ = rollbackFrom(found->second);
    if (const auto plan = ratePlanFrom(notes.ratePlan)) {
        schedule_ = plan->inForce;
        return {};
    }
    FURROW_TRY_ASSIGN(auto totals, reader_->totals());
    const auto epoch = epochLength(setup_.paths, setup_.file);
    schedule_ = planRate(setup_.config,
        labelsOfRun(setup_.config, epoch, setup_.file.samplesPerBlock, totals.rules.epochs, setup_.ranks))
                    .inForce;
    return {};
}

Result<CheckpointRecord> TrainingSession::checkpointRow(CheckpointId id)
{
    FURROW_TRY_ASSIGN(auto rows, reader_->checkpoints());
    for (const auto& row : rows)
        if (row.id == id)
            return row.record;
    return Error { ErrorCode::NotFound, sentence("the tracker has no checkpoint %1", { std::to_string(id.value) }) };
}

struct TrainingSession::OwnCheckpoint {
    std::string folder;
    NamedTensors optimizer;
};

/// Moments from the newest whole one of this replica's checkpoints, its counts from the newest that has them, else from
/// the merge that its weights come from: how far the replica was stays true, and warm-up and curves go on from there.
/// A replica that has none of its own and goes on from another one's checkpoint takes the moments and counts in that.
/// @param own  newest first
/// @param giver  null: the weights come from no other replica, or from several
Result<TrainingSession::OwnCheckpoint> TrainingSession::restoreOwn(
    const std::vector<CheckpointRecord>& own, const CheckpointRecord* giver)
{
    bool counted = false;
    for (const auto& record : own) {
        auto mine = loadCheckpoint(setup_.paths, setup_.file.runId, record, { .optimizer = true });
        if (const auto state = mine.ok() ? Result<ReplicaState>(mine.value().state)
                                         : readReplicaState(setup_.paths.checkpointFolder(record.folder));
            !counted && state.ok()) {
            state_.keepOwnCounts(state.value());
            counted = true;
        }
        if (mine.ok() && &record != &own.front())
            tellEvent(EventRecord::Kind::Alarm,
                sentence(
                    "The moments of the optimiser of replica %1 are those of checkpoint %2: newer ones cannot be used.",
                    { std::to_string(options_.replica), record.folder }));
        if (mine.ok())
            return OwnCheckpoint { record.folder, std::move(mine.value().optimizer) };
        FURROW_TRY(refuseUnlessAccepted(record.folder, mine.error()));
        logWarning(mine.error().message);
    }
    if (giver != nullptr)
        if (auto given = loadCheckpoint(setup_.paths, setup_.file.runId, *giver, { .optimizer = true }); given.ok()) {
            if (!counted)
                state_.keepOwnCounts(given.value().state);
            tellEvent(EventRecord::Kind::Alarm,
                sentence(
                    "The moments of the optimiser of replica %1 are those of checkpoint %2, of replica %3: its own are gone.",
                    { std::to_string(options_.replica), giver->folder, std::to_string(giver->replica) }));
            return OwnCheckpoint { giver->folder, std::move(given.value().optimizer) };
        }
    if (!counted) {
        state_.keepOwnCounts({}); // a new replica warms up
        const auto member = std::ranges::find(state_.members, options_.replica, &ReplicaState::Member::replica);
        if (member != state_.members.end()) {
            state_.ownSteps = member->ownSteps;
            state_.ownTokens = member->ownTokens;
            state_.ownSamples = member->ownSamples;
        }
    }
    if (state_.ownSteps > 0) {
        const Message text
            = sentence("The moments of the optimiser of replica %1 start afresh: no checkpoint has them any more.",
                { std::to_string(options_.replica) });
        logWarning(text);
        tellEvent(EventRecord::Kind::Alarm, text);
    }
    return OwnCheckpoint {};
}

namespace {

/// The checkpoint of another replica that these weights are: itself, or what a merge took over from it alone. Null: of
/// no other one.
const CheckpointRecord* takenFrom(
    const SupervisorLedger::CheckpointRow& head, const std::vector<SupervisorLedger::CheckpointRow>& rows, int replica)
{
    const auto* from = &head;
    if (head.record.kind == CheckpointKind::Merge && head.record.parents.size() == 1)
        for (const auto& row : rows)
            if (row.id == head.record.parents.front())
                from = &row;
    const bool isOfAnother
        = from->record.kind == CheckpointKind::Replica && from->record.replica != replica && !from->removed;
    return isOfAnother ? &from->record : nullptr;
}

} // namespace

/// Weights come from the head of the replica (its newest checkpoint, or a merge made after it); moments and own steps
/// from its newest own checkpoint, because they stay with the replica through merges.
Status TrainingSession::restore()
{
    state_.learner = learner_->name();
    state_.replica = options_.replica;
    FURROW_TRY_ASSIGN(auto replicas, reader_->replicas());
    for (const auto& replica : replicas)
        if (replica.replica == options_.replica)
            head_ = replica.head;
    if (!head_)
        return {}; // the common start
    FURROW_TRY_ASSIGN(auto rows, reader_->checkpoints());
    const SupervisorLedger::CheckpointRow* head = nullptr;
    std::vector<CheckpointRecord> own;
    for (const auto& row : rows) {
        if (row.id == *head_)
            head = &row;
        if (row.record.kind == CheckpointKind::Replica && row.record.replica == options_.replica && row.surviving
            && !row.damaged && !row.removed && row.id <= *head_)
            own.insert(own.begin(), row.record); // rows come in the order of their ids
    }
    if (!head)
        return Error { ErrorCode::Corrupt,
            sentence("the tracker names checkpoint %1 as the head of replica %2 and has no row of it",
                { std::to_string(head_->value), std::to_string(options_.replica) }) };
    const bool ownHead = !own.empty() && own.front().folder == head->record.folder;
    FURROW_TRY_ASSIGN(auto loaded,
        loadCheckpoint(setup_.paths, setup_.file.runId, head->record, { .optimizer = ownHead, .frozen = true }));
    if (loaded.state.learner != learner_->name())
        return Error { ErrorCode::InvalidArgument,
            sentence("checkpoint %1 was made by the %2 learner, this worker was started with the %3 one",
                { head->record.folder, loaded.state.learner, learner_->name() }) };
    if (auto fits = learner_->loadWeights(loaded.allWeights()); !fits.ok())
        return fits.error().in(sentence("checkpoint %1", { head->record.folder }));
    frozenFile_ = loaded.frozenFile;
    state_ = loaded.state;
    state_.parents.clear();
    headFolder_ = head->record.folder;
    OwnCheckpoint mine { head->record.folder, ownHead ? std::move(loaded.optimizer) : NamedTensors {} };
    if (!ownHead) {
        FURROW_TRY_ASSIGN(mine, restoreOwn(own, takenFrom(*head, rows, options_.replica)));
    }
    if (head->record.kind == CheckpointKind::Merge) {
        state_.base = head->record.folder;
        state_.stepsSinceBase = state_.tokensSinceBase = 0;
    }
    state_.members.clear();
    state_.replica = options_.replica;
    if (!mine.optimizer.empty())
        if (auto fits = learner_->loadOptimizer(mine.optimizer); !fits.ok())
            return fits.error().in(sentence("checkpoint %1", { mine.folder }));
    return {};
}

} // namespace furrow
