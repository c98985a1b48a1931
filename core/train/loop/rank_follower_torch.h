#pragma once

#include "core/train/loop/training_session_torch.h"

namespace furrow {

/// A rank of a data-parallel group beside rank 0: does what rank 0 orders with its share of the windows. It has an
/// incarnation in the ledger, so that people see it and its lease is watched, but claims and commits nothing. Not
/// thread-safe.
class RankFollower {
public:
    /// Meets the other ranks and takes the weights of rank 0.
    static Result<std::unique_ptr<RankFollower>> open(
        const TrainerOptions& options, std::function<bool()> stopRequested, const LearnerFactory& factory);
    Result<TrainerEnd> run();

private:
    RankFollower(RunSetup setup, TrainerOptions options, std::function<bool()> stopRequested);
    Status start(const LearnerFactory& factory);
    Status openLedger();
    Result<bool> turn();
    Status load(const RankOrder& order);
    Status trainStep(const RankOrder& order);
    void record(const std::vector<StepOutcome>& outcomes);
    void tellProgress(WorkerPhase phase);

    // set when opened, then constant
    RunSetup setup_;
    TrainerOptions options_;
    std::function<bool()> stopRequested_;
    std::unique_ptr<LedgerThread> ledger_;
    std::unique_ptr<ChunkLoader> loader_;
    std::unique_ptr<Learner> learner_;
    std::unique_ptr<RankGroup> group_;
    std::unique_ptr<RankOrders> orders_;
    std::unique_ptr<StepRunner> steps_;
    std::unique_ptr<BatchMaker> batches_;
    std::optional<TelemetryWriter> telemetry_;

    std::shared_ptr<const LoadedChunk> chunk_;
    Claim claim_; ///< of chunk_
    std::int64_t ahead_ = 0; ///< claim that is being read ahead
    std::int64_t windowsDone_ = 0; ///< of chunk_: where the newest step ended
    std::int64_t ownSteps_ = 0;
    TrainerEnd totals_;
    MemoryMeter memory_;
    PaceMeter pace_;
    double waitedSeconds_ = 0;
    std::int64_t startedNs_ = 0;
    std::int64_t lastStepEndNs_ = 0;
};

} // namespace furrow
