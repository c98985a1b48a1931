#pragma once

#include "core/base/message.h"
#include "core/base/clock.h"
#include "core/tracker/sqlite/patience.h"
#include "core/tracker/types.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <variant>

namespace furrow {

/// Why there is nothing to claim now.
enum class NothingToClaim {
    WaitForData, ///< chunks exist that are not prepared, or the last block is not proven
    WaitForOthers, ///< everything is claimed; others may still fail and free some
    EpochComplete, ///< no further epoch is wanted
    StopRuleReached, ///< see LedgerReader::stopReason
};

/// As replica of a registration: a rank of a data-parallel run beside rank 0. It trains its share of what rank 0
/// claims; it is known to the ledger so that people see it and its lease is watched, and can claim and commit nothing.
inline constexpr std::int32_t kFollower = -1;

struct WorkerRegistration {
    AttemptId attempt;
    std::int32_t worker = 0;
    std::int32_t replica = 0;
    std::string device; ///< "cpu" or the GPU's UUID
    std::string deviceName;
    std::int64_t stepTokens = 0; ///< most tokens of an optimiser step, by which a budget of tokens is met; 0: not known
};

/// As the only parent of a CheckpointRecord: its weights were made from the start weights of the run. No parent at all
/// means whatever the ledger takes for the head (tests, benchmarks).
inline constexpr CheckpointId kStartWeights { 0 };

/// The tracker as one worker sees it. Every write is fenced: once the incarnation is revoked, each call fails with
/// Cancelled "lost the lease" and changes nothing. One connection, one thread.
class WorkerLedger {
public:
    /// Refuses (InvalidArgument) when the tracker's run id is not `runId`.
    static Result<WorkerLedger> open(
        const std::filesystem::path& tracker, const std::string& runId, const Clock& clock = systemClock());
    WorkerLedger(WorkerLedger&&) noexcept;
    ~WorkerLedger();
    /// How long each call waits for others that write; without it 30 s.
    void setPatience(Patience patience);

    /// Starts an incarnation (one worker process from its start) with a first lease of `leaseSeconds`. Nothing while
    /// another one computes a merge, which would leave this one out: ask again.
    Result<std::optional<IncarnationId>> start(const WorkerRegistration& registration, double leaseSeconds);
    /// The free chunk with the lowest ord, now leased to this incarnation.
    Result<std::variant<Claim, NothingToClaim>> claim();
    /// Gives an untouched claim back.
    Status release(const Claim& claim);
    /// Training of the claim begins now (its prefetch wait is over).
    Status begin(const Claim& claim);
    /// Leased -> Trained. All remaining windows must be in done or skipped, unless `partly`: then the chunk stays
    /// leased by this incarnation until the next commit, which frees what is left.
    Status finish(const Claim& claim, const ChunkOutcome& outcome, bool partly = false);
    /// The claim could not be trained: its block cannot be read. The block counts as not prepared from now on, so that
    /// the feeder looks at it and prepares it again; the third failure makes the chunk Poisoned. Trouble outside the
    /// block (isOutside) is none.
    Status fail(const Claim& claim, const Error& why);

    struct Progress {
        WorkerPhase phase = WorkerPhase::None;
        ChunkId chunk; ///< in training; 0: none
        double chunkFraction = 0;
        std::int64_t step = 0; ///< of this worker's replica, as in telemetry
        std::int64_t tokens = 0;
        double loss = 0;
        double tokensPerSecond = 0;
    };
    /// Renews the lease for `leaseSeconds`; called because there was progress, never from an idle timer.
    Status renew(const Progress& progress, double leaseSeconds);

    /// The commit point of a checkpoint: one FULL transaction. Parts become committed, a chunk whose parts tile it
    /// turns Committed, a partly done one goes back to Free for its rest.
    Result<CheckpointId> commit(const CheckpointRecord& checkpoint, std::span<const Part> parts);

    /// Up to `count` optimiser steps of the run's budget, and no more than its budget of tokens has room for (the last
    /// may go beyond); 0 when the budget is spent. Without a budget: `count`. What
    /// finish() and commit() count as steps is taken out of the reservation. 0 is not the end yet: others may return
    /// steps, or lose work; the end is Signals::stopRuleReached.
    Result<std::int64_t> reserveSteps(std::int64_t count);
    Status returnSteps(std::int64_t unused);

    Result<DesiredState> desired();
    struct Signals { ///< everything a worker must look at once a second, in one read
        DesiredState desired = DesiredState::Run;
        std::int64_t saveRequest = 0; ///< grows by one with each "save now"
        std::int64_t evalRequest = 0;
        std::int64_t mergeRound = 0; ///< newest round that was opened; 0: none yet
        bool stopRuleReached = false;
    };
    Result<Signals> signals();

    /// Merge rounds (core/DECISIONS.md 13). Each worker contributes its newest committed checkpoint, and waits; id 0:
    /// it has none. Training since that checkpoint is lost.
    Status contribute(std::int64_t round, CheckpointId checkpoint);
    struct MergeJob {
        std::int64_t round = 0;
        std::vector<CheckpointId> contributions;
    };
    /// The job, when every live replica has contributed and no living worker computes it yet.
    Result<std::optional<MergeJob>> takeMerge(std::int64_t round);
    Result<CheckpointId> commitMerge(std::int64_t round, const CheckpointRecord& merged);
    /// The merged checkpoint of a finished round.
    Result<std::optional<CheckpointId>> mergeResult(std::int64_t round);

    /// What the next incarnation of this replica must know of a roll-back (TrainingNotes::rollbacks).
    Status keepRollback(const std::string& note);

    /// Why nothing can be saved now, while training goes on or waits (LedgerReader::notSaved); "": it was.
    Status keepNotSaved(const Message& why);

    /// From now on completions survive a power loss too (and with each of them the claims before it), not only commits.
    /// Only a benchmark needs it: a power loss voids uncommitted training anyway (core/DECISIONS.md 19).
    void makeEveryWriteDurable();

    /// The calls that `work` makes are one transaction: one turn among the writers and one sync for, say, a completion
    /// and the next claim. Nothing they return holds before this has returned without a failure. Not for signals() and
    /// desired().
    Status together(const std::function<void()>& work);

    /// Ends the incarnation in order: releases what it holds.
    Status end(const Message& cause);

private:
    struct State;
    explicit WorkerLedger(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

} // namespace furrow
