#pragma once

#include "core/base/message.h"
#include "core/data/data_alarms.h"
#include "core/data/question_file.h"
#include "core/data/tokenizer/tokenizer.h"
#include "core/telemetry/writer.h"
#include "core/train/checkpoint/checkpoint_torch.h"
#include "core/run/start/learning_rate.h"
#include "core/run/start/rollback.h"
#include "core/train/loop/chunk_loader.h"
#include "core/train/loop/evaluation_torch.h"
#include "core/train/checkpoint/ledger_thread.h"
#include "core/train/meters/losses_by_sample.h"
#include "core/train/meters/memory_meter_torch.h"
#include "core/telemetry/pace_meter.h"
#include "core/train/loop/rank_orders_torch.h"
#include "core/train/loop/run_setup_torch.h"
#include "core/train/meters/spike_detector.h"
#include "core/train/loop/step_torch.h"
#include "core/train/loop/trainer.h"

#include <functional>
#include <limits>
#include <memory>
#include <optional>

namespace furrow {

/// Makes a learner for a run; the tests put their own in.
using LearnerFactory = std::function<Result<std::unique_ptr<Learner>>(const RunSetup&)>;

/// One worker from its registration to its end: claim, train, checkpoint, merge, again. Each public step of it is a
/// file: training_session.cpp (the loop), session_start.cpp, session_chunk.cpp, session_checkpoint.cpp,
/// session_merge.cpp. Not thread-safe.
class TrainingSession {
public:
    static Result<std::unique_ptr<TrainingSession>> open(
        const TrainerOptions& options, std::function<bool()> stopRequested, LearnerFactory factory = newLearner);
    Result<TrainerEnd> run();
    /// Takes part in one merge round with the head of this replica, computes it when nobody else does, and ends.
    /// @param method  nothing: as configured
    /// @return folder of the merged checkpoint; "": no replica had trained anything. Cancelled by a stop request
    Result<std::string> mergeOnly(std::int64_t round, std::optional<MergeMethod> method);

private:
    /// Why a chunk was left before its end.
    enum class Cut { None, Stop, Merge, Budget, TooManyBad };

    /// A chunk in training.
    struct ChunkWork {
        Claim claim;
        std::shared_ptr<const LoadedChunk> data;
        ChunkOutcome outcome;
        std::optional<LossesBySample> bySample; ///< of the windows trained here; absent where nothing has a loss
        std::int64_t windowsDone = 0; ///< trained or skipped
        std::int64_t windowsToDo = 0;
        std::vector<WindowRange> frozen; ///< of outcome.done: in a checkpoint already
        std::int64_t frozenSteps = 0;
        std::int64_t stepsDone = 0;
        double positionTokens = 0; ///< labels trained in the run before the next step: place in the schedule
        bool begun = false;
        bool privacyTold = false;

        std::vector<Part> unfrozen(std::int64_t steps) const;
    };

    TrainingSession(
        RunSetup setup, TrainerOptions options, std::function<bool()> stopRequested, LearnerFactory factory);

    // session_start.cpp
    Status start();
    Status restore();
    struct OwnCheckpoint; ///< what of its moments this replica got back
    Result<OwnCheckpoint> restoreOwn(const std::vector<CheckpointRecord>& own, const CheckpointRecord* giver);
    Status keepFrozen();
    Status openData();
    Status openTelemetry();
    Status meetRanks();
    Status planRates();

    // training_session.cpp
    Result<std::optional<TrainerEnd>> turn();
    Result<std::optional<TrainerEnd>> onNothing(NothingToClaim why);
    Status waitPaused();
    Status releaseAhead();
    Result<TrainerEnd> finish(const Message& cause);
    void tellProgress(WorkerPhase phase, const ChunkWork* work = nullptr);
    bool askedToStop() const;
    bool stopWanted() const;
    bool mergeWanted() const;
    Status evaluate(const char* why);
    Result<TaskMarks> answerQuestions(WorkerPhase phase);
    void tellEvaluation(EvalRecord line, std::int64_t weightsStep);
    Status evaluateWhenDue();
    void sampleWhenDue();
    void tellClaimWaits();
    void tellMemory();
    void tellNotSaved(const Message& why);
    void tellEvent(EventRecord::Kind kind, const Message& text, ChunkId chunk = {});

    // session_chunk.cpp
    Result<Cut> trainChunk(const Claim& claim);
    Result<Cut> trainRange(ChunkWork& work, WindowRange range);
    void leaveOut(ChunkWork& work, const std::vector<WindowRange>& windows);
    Error rollBack(const ChunkWork& work);
    Result<Cut> lookAround();
    Status trainStep(ChunkWork& work, WindowRange windows);
    void judgeBy(const ChunkWork& work);
    Status record(ChunkWork& work, const std::vector<StepOutcome>& outcomes);
    void judge(const ChunkWork& work, const StepOutcome& step);
    void tellLeftOut(const ChunkWork& work, const StepOutcome& step);
    std::uint64_t noiseSeed() const;
    void tellPrivacy(ChunkWork& work);
    Status endChunk(ChunkWork& work, bool partly);
    Error outOfMemory(const Message& said);

    // session_checkpoint.cpp
    bool checkpointDue() const;
    void startCheckpoint(ChunkWork* work);
    Status collectCheckpoint(bool wait);
    Status commitEverything();
    Status waitForTheDisk();
    bool savesInVain() const;
    bool hasUncommitted() const { return !uncommitted_.empty() || writer_->busy() || skippedSinceCommit_; }

    // session_merge.cpp
    Status joinMerge(std::int64_t round);
    struct Contribution {
        CheckpointId id;
        ReplicaState state;
        MergeMember member;
    };
    Result<std::vector<Contribution>> loadContributions(const WorkerLedger::MergeJob& job);
    Status mergeOnceThereIsRoom(const WorkerLedger::MergeJob& job);
    Status refuseUnlessAccepted(const std::string& checkpoint, const Error& error);
    Status computeMerge(const WorkerLedger::MergeJob& job);
    Result<bool> isLastMerge();
    Result<Evaluation> evaluationOf(const NamedTensors& weights);
    Result<TaskMarks> answersOf(const NamedTensors& weights);
    Result<Message> keepBest(
        FrozenCheckpoint& merged, const std::vector<MergeMember>& members, const std::vector<std::int32_t>& replicas);
    std::string tellDrifts(std::int64_t round, const NamedTensors& base, const std::vector<MergeMember>& members,
        const std::vector<std::int32_t>& replicas);
    Status commitMerged(std::int64_t round, FrozenCheckpoint merged, const std::string& drifts);
    Status adoptMerge(std::int64_t round, CheckpointId result);
    Result<NamedTensors> baseWeights(const std::string& baseFolder);
    Result<CheckpointRecord> checkpointRow(CheckpointId id);

    // set when opened, then constant
    RunSetup setup_;
    TrainerOptions options_;
    const ChunkWork* underWay_ = nullptr; ///< what trainChunk() has in its hands
    std::function<bool()> stopRequested_;
    LearnerFactory factory_;
    LrSchedule schedule_;

    std::unique_ptr<LedgerThread> ledger_;
    std::optional<LedgerReader> reader_;
    std::shared_ptr<const Tokenizer> tokenizer_;
    std::unique_ptr<ChunkLoader> loader_;
    std::unique_ptr<Learner> learner_;
    std::unique_ptr<RankGroup> group_; ///< null: this worker trains alone
    std::unique_ptr<RankOrders> ranks_; ///< null with group_
    std::unique_ptr<StepRunner> steps_;
    std::unique_ptr<BatchMaker> batches_;
    std::unique_ptr<EvaluationSet> evaluation_;
    std::optional<QuestionFile> questions_; ///< asked at each evaluation; nothing: the run has none
    std::optional<TelemetryWriter> telemetry_;
    std::unique_ptr<CheckpointWriter> writer_;

    ReplicaState state_;
    std::vector<Part> uncommitted_; ///< finished chunks, in no checkpoint yet
    std::vector<Part> inFlight_; ///< in the checkpoint that is being written
    bool skippedSinceCommit_ = false; ///< a chunk ended with windows left out
    std::optional<CheckpointId> head_; ///< newest committed one of this replica, or the merge it stands on
    std::optional<CheckpointManifest::Frozen>
        frozenFile_; ///< of the weights that no step changes; nothing: all are trained
    std::string headFolder_; ///< its folder; "": the start weights
    int failedCheckpoints_ = 0; ///< in a row
    Error lastFailure_; ///< of these
    bool toldNotSaved_ = false; ///< by tellNotSaved()
    std::int64_t endAskedNs_ = 0; ///< while a save fails: when it was first asked to end [monotonic]
    std::int64_t badInARow_ = 0;
    TooGoodLoss tooGood_; ///< as the settings say
    std::optional<double> evalLoss_; ///< of the weights at evalStep_
    std::int64_t evalStep_ = -1; ///< lineage step of the newest evaluation
    bool lossUnsaved_ = false; ///< it is in no checkpoint yet
    std::int64_t evalOwnStep_ = -1;
    std::int64_t sampleOwnStep_ = -1;
    std::int64_t saveRequestSeen_ = 0;
    std::int64_t evalRequestSeen_ = 0;
    std::int64_t lastCheckpointNs_ = 0;
    std::int64_t lastCheckpointOwnStep_ = 0;
    bool warm_ = false; ///< the first step is done
    bool mergesOnly_ = false; ///< the run may have been told to stop before; the merge is wanted all the same
    bool pendingSave_ = false;
    int idleTurns_ = 0;
    NamedTensors baseMomentum_; ///< outer momentum of the base of the merge being computed
    PairMarks mergedPairs_; ///< of what this merge came to, where it was evaluated
    std::int64_t baseSamples_ = 0; // of the weights that the members of the merge at hand grew from
    std::int64_t mergeRoundSeen_ = 0; ///< rounds up to this one need nothing from this worker any more
    bool hasGivenHead_ = false; ///< to a merge that it did not wait for: no checkpoint may grow from its head any more

    TrainerEnd totals_;
    std::int64_t startedNs_ = 0;
    double meanStepSeconds_ = 0; ///< exponential mean
    double lastLoss_ = std::numeric_limits<double>::quiet_NaN(); ///< none yet
    PaceMeter pace_;
    std::int64_t lastClaimWaitsNs_ = 0;
    MemoryMeter memory_;
    std::int64_t toldPeakBytes_ = 0;
    AdaptiveRate adaptive_; ///< its state is kept in state_
    SpikeDetector spikes_;
    DivergenceWatch divergence_;
    std::int64_t noiseSalt_ = 0; ///< noiseSalt() when this worker began; 0 without noise
    Rollback rollback_; ///< of this replica, as the incarnation before left it
    struct BadStart {
        ChunkId chunk;
        WindowRange windows;
    } badStart_; ///< where the steps in a row that are not finite began, and how far they went in that chunk
    std::int64_t lastStepEndNs_ = 0; ///< end of the step before: what lies between is not training
    double waitedSeconds_ = 0; ///< for claim and chunk, before the next step
    double stalledSeconds_ = 0; ///< for a checkpoint copy, before the next step
};

/// runTrainer with a learner of one's own; for tests.
Result<TrainerEnd> runTrainerWith(
    const TrainerOptions& options, const std::function<bool()>& stopRequested, const LearnerFactory& factory);

} // namespace furrow
