#pragma once

#include "core/base/file_system.h"
#include "core/base/result.h"
#include "core/run/folder/checkpoint_manifest.h"
#include "core/run/folder/run_paths.h"
#include "core/tracker/types.h"
#include "core/train/checkpoint/ledger_thread.h"
#include "core/train/meters/spike_detector.h"
#include "core/train/model/parameters_torch.h"
#include "core/train/optim/adaptive_rate.h"

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace furrow {

/// state.json: everything of a replica that is neither weights nor optimizer moments.
struct ReplicaState {
    /// What a member of a merge had done itself by then. Its own checkpoints may be gone when the run goes back to it.
    struct Member {
        std::int32_t replica = 0;
        std::int64_t ownSteps = 0;
        std::int64_t ownTokens = 0;
        std::int64_t ownSamples = 0;
        bool operator==(const Member&) const = default;
    };

    std::string learner = "model"; ///< or "counting"; another one refuses to load it
    std::int32_t replica = 0; ///< -1: a merge
    std::int64_t ownSteps = 0; ///< optimiser steps that this replica did itself: warm-up, telemetry
    std::int64_t ownTokens = 0;
    std::int64_t ownSamples = 0;
    std::int64_t step = 0; ///< optimiser steps in this line of weights
    std::int64_t tokens = 0; ///< tokens in this line of weights
    std::int64_t samples = 0; ///< rows in this line of weights
    std::int64_t stepsSinceBase = 0;
    std::int64_t tokensSinceBase = 0; ///< weight of this replica in the next merge
    std::string base; ///< folder of the merge it grew from; "": the common start
    std::int64_t mergeRound = 0; ///< newest round whose result is in these weights; 0: none
    std::vector<std::string>
        parents; ///< folders that these weights were made from: one checkpoint, or all members of a merge
    std::vector<Member> members; ///< of a merge; older ones name none
    AdaptiveRate::State adaptive; ///< of this replica; as it began where adaptive_lr is off
    SpikeDetector::State spikes; ///< what this replica's losses are compared with, also after a resume
    DivergenceWatch::State divergence;
    /// What stays with a replica when it takes over the weights of a merge.
    void keepOwnCounts(const ReplicaState& own)
    {
        ownSteps = own.ownSteps;
        ownTokens = own.ownTokens;
        ownSamples = own.ownSamples;
        adaptive = own.adaptive;
        spikes = own.spikes;
        divergence = own.divergence;
    }
    bool operator==(const ReplicaState&) const = default;
};

/// A replica frozen at one optimiser-step edge; tensors are copies on the CPU.
struct FrozenCheckpoint {
    CheckpointKind kind = CheckpointKind::Replica;
    ReplicaState state;
    NamedTensors weights; ///< without the frozen ones
    std::optional<CheckpointManifest::Frozen> frozenFile; ///< which these stand beside; see frozen_weights_torch.h
    NamedTensors optimizer; ///< may be empty; a merge keeps DiLoCo's momentum here as "outer.<name>"
    std::vector<Part> parts;
    std::optional<double> evalLoss;
    IncarnationId incarnation; ///< of who writes it
    std::vector<CheckpointId> parents;
};

/// Notes the name, writes checkpoints/<replica>-<step>-<random>.tmp, syncs, renames, syncs the parent. Afterwards the
/// folder is whole and durable but means nothing until its record is in the ledger; then call forgetWriting()
/// (checkpoint_notes.h). On failure folder and note are removed.
Result<CheckpointRecord> publishCheckpoint(const RunPaths& paths, const std::string& runId,
    const FrozenCheckpoint& frozen, FileSystem& files = realFileSystem());

/// What a checkpoint folder holds.
struct LoadedCheckpoint {
    ReplicaState state;
    NamedTensors weights; ///< without the frozen ones
    NamedTensors frozen; ///< what LoRA's pairs stand beside; empty when not asked for. Older checkpoints have it in
                         ///< their own file
    std::optional<CheckpointManifest::Frozen> frozenFile; ///< nothing: it is in the checkpoint itself, or there is none
    NamedTensors optimizer; ///< empty when not asked for

    NamedTensors allWeights() const; ///< for a learner that has no frozen weights yet
};
/// What to read of a checkpoint beside state and trained weights. A merge, and who takes one over, has the frozen
/// weights already.
struct CheckpointParts {
    bool optimizer = false;
    bool frozen = false;
};
/// The state.json of a checkpoint, without a look at its hash. Corrupt: it cannot be used.
Result<ReplicaState> readReplicaState(const std::filesystem::path& folder);

/// Verifies manifest, hashes and run of what is asked for, then reads. A foreign run is refused by name, a damaged file
/// by file.
Result<LoadedCheckpoint> loadCheckpoint(
    const RunPaths& paths, const std::string& runId, const CheckpointRecord& record, const CheckpointParts& wanted);

/// Moves the frozen weights out of those of a checkpoint with pairs of LoRA.
NamedTensors takeFrozen(NamedTensors& weights);

/// Writes checkpoints in the background, one at a time; the commit in the ledger is its last act. One thread calls.
class CheckpointWriter {
public:
    CheckpointWriter(RunPaths paths, std::string runId, LedgerThread& ledger, FileSystem& files = realFileSystem());

    struct Committed {
        CheckpointId id;
        CheckpointRecord record;
        double seconds = 0; ///< of writing and committing, in the background
    };
    /// Begins a write. The one before must have been taken with take() or wait().
    void begin(FrozenCheckpoint frozen);
    bool busy() const { return running_.valid(); }
    /// Memory of the checkpoint before, to be used again: a fresh copy costs page faults while training stands still.
    NamedTensors spareWeights() { return std::move(spareWeights_); }
    NamedTensors spareOptimizer() { return std::move(spareOptimizer_); }
    /// The result of a write that has ended, without waiting.
    std::optional<Result<Committed>> take();
    /// Waits for the running one.
    std::optional<Result<Committed>> wait();

private:
    Result<Committed> write(const FrozenCheckpoint& frozen);
    Result<Committed> finished();

    RunPaths paths_;
    std::string runId_;
    LedgerThread& ledger_;
    FileSystem& files_;
    std::shared_ptr<FrozenCheckpoint> frozen_; ///< the writing thread's until running_ is ready
    std::future<Result<Committed>> running_;
    NamedTensors spareWeights_;
    NamedTensors spareOptimizer_;
};

/// Copies on the CPU, independent of the originals; into `reuse` where that has the same shapes.
NamedTensors frozenCopy(const NamedTensors& tensors, NamedTensors reuse = {});

} // namespace furrow
