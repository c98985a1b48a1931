// A merge round as one worker lives it: contribute, wait, perhaps compute, load.

#include "core/train/loop/training_session_torch.h"

#include "core/base/fail_point.h"
#include "core/base/format.h"
#include "core/base/log.h"
#include "core/base/process_limit.h"
#include "core/base/sentence.h"
#include "core/run/folder/checkpoint_notes.h"
#include "core/tracker/worker_ends.h"

#include <torch/torch.h>

#include <algorithm>
#include <thread>

namespace furrow {

namespace {
constexpr auto kPoll = std::chrono::milliseconds(10);
}

Status TrainingSession::joinMerge(std::int64_t round)
{
    const std::int64_t began = systemClock().monotonicNs();
    const double stalledBefore = stalledSeconds_;
    hasGivenHead_ = false;
    FURROW_TRY(releaseAhead());
    auto result = ledger_->call([round](WorkerLedger& ledger) { return ledger.mergeResult(round); });
    if (!result.ok())
        return result.error();
    if (result.value()) { // over before this worker looked: the head that it started from is newer, or fell back behind
                          // it
        mergeRoundSeen_ = round;
        return {};
    }
    // Members are compared with their merge about as often as evaluations are wanted, not at each of many rounds.
    const auto every = setup_.config.evalSteps;
    if (every > 0 && state_.ownSteps - std::max<std::int64_t>(evalOwnStep_, 0) >= every / 2)
        FURROW_TRY(evaluate("before the merge"));
    FURROW_TRY(commitEverything());
    FURROW_TRY(ledger_->call([round, head = head_.value_or(CheckpointId {})](
                                 WorkerLedger& ledger) { return ledger.contribute(round, head); }));
    failPoint("merge.contributed");
    while (!result.value()) {
        FURROW_TRY(ledger_->status());
        if (askedToStop()) { // everything is committed: who is left merges without this worker
            hasGivenHead_ = true;
            return {};
        }
        FURROW_TRY_ASSIGN(auto job, ledger_->call([round](WorkerLedger& ledger) { return ledger.takeMerge(round); }));
        if (job) {
            failPoint("merge.taken");
            FURROW_TRY(mergeOnceThereIsRoom(*job));
        } else {
            tellProgress(WorkerPhase::Merge);
            std::this_thread::sleep_for(kPoll);
        }
        result = ledger_->call([round](WorkerLedger& ledger) { return ledger.mergeResult(round); });
        if (!result.ok())
            return result.error();
    }
    FURROW_TRY(adoptMerge(round, *result.value()));
    const double took = static_cast<double>(systemClock().monotonicNs() - began) / 1e9;
    stalledSeconds_ = stalledBefore + took; // with the checkpoint inside
    totals_.mergeSeconds += took;
    lastStepEndNs_ = lastCheckpointNs_ = systemClock().monotonicNs();
    return {};
}

Result<std::string> TrainingSession::mergeOnly(std::int64_t round, std::optional<MergeMethod> method)
{
    setup_.config.merge = method.value_or(setup_.config.merge);
    mergesOnly_ = true;
    evalStep_ = state_.step; // its worker evaluated it when it ended; now the merge is to be compared with it
    auto merged = joinMerge(round);
    (void)ledger_->call(
        [&](WorkerLedger& ledger) { return ledger.end(merged.ok() ? sentence(kMergeDone) : merged.error().message); });
    telemetry_->flush();
    if (!merged.ok())
        return merged.error();
    if (askedToStop() && state_.mergeRound != round)
        return Error { ErrorCode::Cancelled, sentence("The merge was stopped. The replicas are kept as they are.") };
    return state_.mergeRound == round ? state_.base : std::string();
}

/// Weights that the members of a merge started from, with DiLoCo's momentum.
Result<NamedTensors> TrainingSession::baseWeights(const std::string& baseFolder)
{
    baseMomentum_.clear();
    baseSamples_ = 0;
    if (baseFolder.empty()) {
        FURROW_TRY_ASSIGN(auto start, factory_(setup_));
        return frozenCopy(start->weights());
    }
    FURROW_TRY_ASSIGN(auto rows, reader_->checkpoints());
    for (const auto& row : rows) {
        if (row.record.folder != baseFolder)
            continue;
        FURROW_TRY_ASSIGN(
            auto loaded, loadCheckpoint(setup_.paths, setup_.file.runId, row.record, { .optimizer = true }));
        for (auto& [name, tensor] : loaded.optimizer)
            if (name.rfind("outer.", 0) == 0)
                baseMomentum_.emplace_back(name.substr(6), tensor);
        baseSamples_ = loaded.state.samples;
        return std::move(loaded).weights;
    }
    return Error { ErrorCode::NotFound, sentence("the base %1 of this merge is not in the tracker", { baseFolder }) };
}

/// Members that can be merged: finite, and of the base that the newest of them grew from. Whoever cannot is left out by
/// name, and its chunks are trained again. One that is not whole on disk ends the merge, and nobody's work is lost: a
/// resume asks a person.
Result<std::vector<TrainingSession::Contribution>> TrainingSession::loadContributions(const WorkerLedger::MergeJob& job)
{
    std::vector<Contribution> members;
    Message problem;
    const auto leaveOut = [&](const Message& why) {
        problem = sentence("%1 It is left out of the merge; its chunks are trained again.", { why });
        logWarning(problem);
        tellEvent(EventRecord::Kind::Alarm, problem);
    };
    for (auto id = job.contributions.rbegin(); id != job.contributions.rend(); ++id) { // newest first
        FURROW_TRY_ASSIGN(auto row, checkpointRow(*id));
        tellProgress(WorkerPhase::Merge);
        FURROW_TRY_ASSIGN(auto loaded, loadCheckpoint(setup_.paths, setup_.file.runId, row, {}));
        auto& member = loaded;
        bool finite = true;
        for (const auto& [name, tensor] : member.weights)
            finite = finite && (!tensor.is_floating_point() || torch::isfinite(tensor).all().item<bool>());
        if (!finite)
            leaveOut(sentence("Checkpoint %1 has NaN or Inf in its weights.", { row.folder }));
        else if (!members.empty() && member.state.base != members.front().state.base)
            leaveOut(sentence(
                "Checkpoint %1 does not grow from the base of %2.", { row.folder, members.front().member.name }));
        else if (member.frozenFile && frozenFile_
            && member.frozenFile->sha256 != frozenFile_->sha256) // init_from was changed under the run
            leaveOut(sentence(
                "Checkpoint %1 stands beside other frozen weights than the replica that merges.", { row.folder }));
        else
            members.push_back(
                { *id, member.state, { row.folder, std::move(member.weights), member.state.tokensSinceBase } });
    }
    if (members.empty())
        return Error { ErrorCode::Corrupt, sentence("No replica has weights that can be merged. %1", { problem }) };
    std::reverse(members.begin(), members.end());
    return members;
}

/// What a disk refused is computed again: the others wait for it, and a worker that ended would lose nothing but time.
Status TrainingSession::mergeOnceThereIsRoom(const WorkerLedger::MergeJob& job)
{
    for (;;) {
        const Status computed = computeMerge(job);
        if (computed.ok())
            tellNotSaved({});
        if (computed.ok() || !mayPass(computed.error()) || !setup_.files->guard().checkReplaced().ok())
            return computed;
        ++failedCheckpoints_;
        lastFailure_ = computed.error();
        logWarning(withFullStop(lastFailure_.message) + " The merge is computed again.");
        tellNotSaved(lastFailure_.message);
        FURROW_TRY(waitForTheDisk());
    }
}

/// A file that is there and cannot be read now may be read later: nothing is given up for it unless a person said so at
/// the resume.
Status TrainingSession::refuseUnlessAccepted(const std::string& checkpoint, const Error& error)
{
    if (!mayPass(error) || !isTaken(setup_.paths.checkpointFolder(checkpoint) / kManifestFile))
        return {};
    FURROW_TRY_ASSIGN(const auto accepted, reader_->goesOnWithout());
    return accepted.empty() ? Status(error) : Status();
}

Status TrainingSession::computeMerge(const WorkerLedger::MergeJob& job)
{
    tellProgress(WorkerPhase::Merge);
    FURROW_TRY_ASSIGN(auto loaded, loadContributions(job));
    const ReplicaState first = loaded.front().state;
    FrozenCheckpoint merged;
    merged.kind = CheckpointKind::Merge;
    merged.frozenFile = frozenFile_;
    merged.state.learner = learner_->name();
    merged.state.replica = -1;
    merged.state.base = first.base;
    merged.state.mergeRound = job.round;
    std::vector<MergeMember> members;
    std::vector<std::int32_t> replicas;
    std::int64_t samples = 0; // of all members, each with those of the base
    for (auto& one : loaded) {
        samples += one.state.samples;
        replicas.push_back(one.state.replica);
        merged.state.members.push_back(
            { one.state.replica, one.state.ownSteps, one.state.ownTokens, one.state.ownSamples });
        merged.state.stepsSinceBase += one.state.stepsSinceBase;
        merged.state.tokensSinceBase += one.state.tokensSinceBase;
        merged.state.parents.push_back(one.member.name);
        merged.parents.push_back(one.id);
        members.push_back(std::move(one.member));
    }
    merged.state.step = first.step - first.stepsSinceBase + merged.state.stepsSinceBase;
    merged.state.tokens = first.tokens - first.tokensSinceBase + merged.state.tokensSinceBase;
    const auto& c = setup_.config;
    MergeMethod method = c.merge;
    auto from = baseWeights(first.base);
    if (!from.ok()) { // an average needs no base
        FURROW_TRY(refuseUnlessAccepted(first.base, from.error()));
        const Message text = sentence("%1 The replicas are averaged without it.", { from.error().message });
        logWarning(text);
        tellEvent(EventRecord::Kind::Alarm, text);
        from = NamedTensors {};
        method = MergeMethod::Average;
    }
    merged.state.samples = samples - (static_cast<std::int64_t>(members.size()) - 1) * baseSamples_;
    FURROW_TRY_ASSIGN(
        auto result, learner_->merge(from.value(), members, method, baseMomentum_, c.outerLr, c.outerMomentum));
    failPoint("merge.averaged");
    for (const auto& warning : result.warnings) {
        logWarning(warning);
        tellEvent(EventRecord::Kind::Alarm, warning);
    }
    const std::string drifts = tellDrifts(job.round, from.value(), members, replicas);
    merged.weights = std::move(result.weights);
    for (const auto& [name, tensor] : result.momentum)
        merged.optimizer.emplace_back("outer." + name, tensor);
    FURROW_TRY_ASSIGN(auto last, method == MergeMethod::DiLoCo ? isLastMerge() : false);
    if (last && learner_->model()) {
        FURROW_TRY_ASSIGN(auto kept, keepBest(merged, members, replicas));
        logInfo(kept);
        tellEvent(EventRecord::Kind::Merge, kept);
    }
    return commitMerged(job.round, std::move(merged), drifts);
}

/// No step follows that could make up for an outer step that went too far.
Result<bool> TrainingSession::isLastMerge()
{
    if (mergesOnly_)
        return true;
    auto totals = reader_->totals();
    FURROW_TRY_ASSIGN(auto epochs, totals.ok() ? reader_->epochs() : Result<std::vector<EpochRow>>(totals.error()));
    if (totals.value().stop != StopReason::None)
        return true;
    const auto isTrained = [](const EpochRow& epoch) {
        return epoch.blockCount
            && epoch.chunks[ChunkState::Pending] + epoch.chunks[ChunkState::Free] + epoch.chunks[ChunkState::Leased]
                + epoch.chunks[ChunkState::Trained]
            == 0;
    };
    const auto wanted = totals.value().rules.epochs;
    return wanted > 0 && std::ssize(epochs) >= wanted && std::all_of(epochs.begin(), epochs.end(), isTrained);
}

Result<Evaluation> TrainingSession::evaluationOf(const NamedTensors& weights)
{
    FURROW_TRY(learner_->loadWeights(weights));
    const UseAverage average(*learner_);
    return evaluation_->run(*learner_->model(), false, [this] {
        tellProgress(WorkerPhase::Merge);
        return ledger_->status().ok();
    });
}

Result<TaskMarks> TrainingSession::answersOf(const NamedTensors& weights)
{
    if (!questions_ || !learner_->model())
        return TaskMarks {};
    FURROW_TRY(learner_->loadWeights(weights));
    const UseAverage average(*learner_);
    return answerQuestions(WorkerPhase::Merge);
}

/// The last round of DiLoCo: `merged` holds its outer step, and is whichever evaluates better, that or the plain
/// average; the average where there is no text to evaluate on. An outer step looks ahead, for training that goes on.
/// The members are evaluated too and told; none of them can be the result, since its weights lack what the others
/// trained. @return which it is and why, for people
Result<Message> TrainingSession::keepBest(
    FrozenCheckpoint& merged, const std::vector<MergeMember>& members, const std::vector<std::int32_t>& replicas)
{
    FURROW_TRY_ASSIGN(auto average, mergeAverage(members));
    struct Candidate {
        Message name;
        NamedTensors weights;
    };
    std::vector<Candidate> candidates { { sentence("the plain average"), std::move(average.weights) },
        { sentence("the outer step"), merged.weights } };
    for (std::size_t i = 0; i < members.size() && members.size() > 1; ++i) // a single one is its own average
        candidates.push_back({ sentence("replica %1 alone", { std::to_string(replicas[i]) }), members[i].weights });
    constexpr std::size_t kOuterStep = 1;
    std::size_t best = 0; // of those that hold everything
    std::optional<double> bestMember;
    Message losses;
    for (std::size_t i = 0; i < candidates.size() && !evaluation_->empty(); ++i) {
        FURROW_TRY_ASSIGN(const auto found, evaluationOf(candidates[i].weights));
        const double loss = found.loss;
        losses += (losses.empty() ? "" : ", ") + candidates[i].name + " " + formatNumber(loss, 4);
        if (i > kOuterStep) {
            bestMember = std::min(bestMember.value_or(loss), loss);
        } else if (!merged.evalLoss || loss < *merged.evalLoss) {
            merged.evalLoss = loss;
            mergedPairs_ = found.pairs;
            best = i;
        }
    }
    if (best != kOuterStep) {
        merged.weights = std::move(candidates[best].weights);
        merged.optimizer.clear(); // the momentum belongs to the step that was not taken
    }
    if (losses.empty())
        return sentence("last round: the plain average is kept, there is no text to evaluate the outer step on");
    const Message text = sentence("last round: %1 is kept (%2)", { candidates[best].name, losses });
    return bestMember && *bestMember < *merged.evalLoss
        ? sentence("%1; a replica that evaluates better alone lacks what the others trained", { text })
        : text;
}

/// One telemetry line for each member of a merge. @return the distances from the base, for people
std::string TrainingSession::tellDrifts(std::int64_t round, const NamedTensors& base,
    const std::vector<MergeMember>& members, const std::vector<std::int32_t>& replicas)
{
    std::string ways;
    if (!learner_->model())
        return ways; // counts have no distance
    const auto mean = mergeAverage(members);
    for (std::size_t i = 0; i < members.size(); ++i) {
        DriftRecord line;
        line.monotonicNs = systemClock().monotonicNs();
        line.round = round;
        line.replica = replicas[i];
        line.fromBase = driftNorm(base, members[i].weights);
        line.fromMean = mean.ok() ? driftNorm(mean.value().weights, members[i].weights) : 0;
        line.parameterNorm = weightNorm(members[i].weights);
        telemetry_->write(line);
        ways += (ways.empty() ? "" : ", ") + formatNumber(line.fromBase, 4);
    }
    return ways;
}

Status TrainingSession::commitMerged(std::int64_t round, FrozenCheckpoint merged, const std::string& drifts)
{
    const bool compared = evalStep_ == state_.step; // the members were evaluated by their own workers
    if (!merged.evalLoss && learner_->model() && !evaluation_->empty() && compared) {
        FURROW_TRY_ASSIGN(const auto found, evaluationOf(merged.weights));
        merged.evalLoss = found.loss;
        mergedPairs_ = found.pairs;
    }
    FURROW_TRY_ASSIGN(
        const auto tasks, compared || merged.evalLoss ? answersOf(merged.weights) : Result<TaskMarks>(TaskMarks {}));
    if (merged.evalLoss || tasks.questions > 0)
        tellEvaluation({ .loss = merged.evalLoss.value_or(std::numeric_limits<double>::quiet_NaN()),
                           .what = EvalRecord::What::Merged,
                           .tasks = tasks,
                           .pairs = merged.evalLoss ? mergedPairs_ : PairMarks {} },
            merged.state.step);
    merged.incarnation = ledger_->incarnation();
    FURROW_TRY_ASSIGN(auto record, publishCheckpoint(setup_.paths, setup_.file.runId, merged, *setup_.files));
    failPoint("merge.published");
    FURROW_TRY(ledger_->call([&](WorkerLedger& ledger) { return ledger.commitMerge(round, record); }));
    failPoint("merge.committed");
    forgetWriting(setup_.paths, record.folder, *setup_.files);
    Message text = merged.parents.size() == 1
        ? sentence("merged 1 replica into %1", { record.folder })
        : sentence("merged %1 replicas into %2", { std::to_string(merged.parents.size()), record.folder });
    if (merged.evalLoss)
        text = sentence("%1, loss on held-out text %2", { text, Real(*merged.evalLoss, 4) });
    if (!drifts.empty())
        text = sentence("%1; distances from the base %2", { text, drifts });
    logInfo(text);
    tellEvent(EventRecord::Kind::Merge, text);
    return {};
}

Status TrainingSession::adoptMerge(std::int64_t round, CheckpointId result)
{
    mergeRoundSeen_ = round;
    if (result.value == 0 || (head_ && *head_ == result)) // nobody had trained anything: all stand on it already
        return {};
    FURROW_TRY_ASSIGN(auto row, checkpointRow(result));
    auto loaded = loadCheckpoint(setup_.paths, setup_.file.runId, row, {});
    if (loaded.ok() && loaded.value().frozenFile && frozenFile_
        && loaded.value().frozenFile->sha256 != frozenFile_->sha256) // this replica was left out of it
        loaded = loadCheckpoint(setup_.paths, setup_.file.runId, row, { .frozen = true });
    if (!loaded.ok())
        return loaded.error();
    if (auto fits = learner_->loadWeights(loaded.value().allWeights()); !fits.ok())
        return fits.error().in(sentence("checkpoint %1", { row.folder }));
    if (loaded.value().frozenFile)
        frozenFile_ = loaded.value().frozenFile;
    failPoint("merge.loaded");
    head_ = result;
    headFolder_ = row.folder;
    const ReplicaState own = std::exchange(state_, loaded.value().state);
    state_.keepOwnCounts(own); // moments and warm-up stay with the replica
    state_.replica = options_.replica;
    state_.base = row.folder;
    state_.stepsSinceBase = state_.tokensSinceBase = 0;
    state_.parents.clear();
    state_.members.clear();
    evalStep_ = row.evalLoss ? state_.step : -1;
    evalLoss_ = row.evalLoss;
    lastCheckpointOwnStep_ = state_.ownSteps;
    return {};
}

} // namespace furrow
