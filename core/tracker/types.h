#pragma once

#include "core/base/closed_set.h"
#include "core/base/message.h"
#include "core/base/process.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace furrow {

struct ChunkId {
    std::int64_t value = 0;
    auto operator<=>(const ChunkId&) const = default;
};
struct CheckpointId {
    std::int64_t value = 0;
    auto operator<=>(const CheckpointId&) const = default;
};
struct IncarnationId {
    std::int64_t value = 0;
    auto operator<=>(const IncarnationId&) const = default;
};
struct AttemptId {
    std::int64_t value = 0;
    auto operator<=>(const AttemptId&) const = default;
};

/// Where a chunk is. An id is made of it in decimal places, so that a person can read it and the same chunk has the
/// same id in every run over the same data: 1'00000003'000017 is column 17 of block 3 in epoch 0 (epochs count from 1).
struct ChunkPlace {
    std::int64_t epoch = 0;
    std::int64_t block = 0;
    std::int32_t column = 0;
    bool operator==(const ChunkPlace&) const = default;
};
inline constexpr std::int64_t kMaxBlocks = 100'000'000;
inline constexpr std::int64_t kMaxChunksPerBlock = 1'000'000;
inline constexpr std::int64_t kMaxEpochs = 90'000;
/// The place must be inside the limits above.
ChunkId chunkIdOf(const ChunkPlace& place);
ChunkPlace placeOf(ChunkId chunk);
Message toString(ChunkId chunk); ///< "chunk 17 of block 3 (epoch 1)"

/// State of one chunk in one epoch. The legal moves are in moves.h; the numbers are on disk.
enum class ChunkState {
    Pending = 0, ///< its block is known, not prepared
    Free = 1,
    Leased = 2,
    Trained = 3, ///< in the weights of a replica, not in a checkpoint yet
    Committed = 4,
    Excluded = 5, ///< the user said so, or the run leaves out what its parent has trained (Inherited::Skipped)
    Poisoned = 6, ///< failed too often; keeps the epoch open until accepted
    Accepted = 7, ///< poisoned, and the user accepts that it is not trained
};
inline constexpr int kChunkStateCount = 8;

/// What a worker is at, as it told last.
enum class WorkerPhase { None, WarmingUp, Train, Evaluate, Checkpoint, Merge, Wait, Ended, StandsStill };
template <>
inline constexpr std::array kClosedNames<WorkerPhase> {
    ClosedName { WorkerPhase::None, "" }, ///< nothing yet
    ClosedName { WorkerPhase::WarmingUp, "warming up" },
    ClosedName { WorkerPhase::Train, "train" },
    ClosedName { WorkerPhase::Evaluate, "evaluate" },
    ClosedName { WorkerPhase::Checkpoint, "checkpoint" },
    ClosedName { WorkerPhase::Merge, "merge" },
    ClosedName { WorkerPhase::Wait, "wait" },
    ClosedName { WorkerPhase::Ended, "ended" },
    ClosedName { WorkerPhase::StandsStill, "stands still" }, ///< somebody stopped the living process: it cannot tell
};

/// What the weights that a run started from had seen of a chunk. The numbers are on disk.
enum class Inherited {
    Nothing = 0,
    Seen = 1, ///< the parent run trained it; it is trained again
    Skipped = 2, ///< the parent run trained it; the first epoch leaves it out
};

/// Half-open range of windows (packed rows of the chunk, in training order).
struct WindowRange {
    std::int32_t begin = 0;
    std::int32_t end = 0;
    bool operator==(const WindowRange&) const = default;
    std::int32_t size() const { return end - begin; }
};

/// What happened to the rows of a chunk when its block was prepared. They add up to `rows`.
struct RowCounts {
    std::int64_t rows = 0;
    std::int64_t samples = 0; ///< to be trained
    std::int64_t filtered = 0;
    std::int64_t failed = 0; ///< unreadable
    std::int64_t heldOut = 0;
    std::int64_t duplicates = 0; ///< skipped as duplicates (0 with the policy `report`)
    bool operator==(const RowCounts&) const = default;
};

/// What the blocks prepared so far have besides: it is trained all the same, but the row that cannot be read.
struct DataNotes {
    std::int64_t repeats = 0; ///< samples to be trained whose text stands before in their block
    std::int64_t invalidUtf8 = 0; ///< samples to be trained with bytes or escapes that are no characters
    Message firstUnreadable; ///< "row 2 of chats.jsonl is broken JSON"; "": every row could be read, or it is not known
};

/// A claimed chunk: everything a worker needs to find and train it. Windows already in the weights are left out.
struct Claim {
    std::int64_t claimId = 0; ///< row of the append-only history
    ChunkId chunk;
    std::int64_t epoch = 0;
    std::int64_t block = 0;
    std::int32_t column = 0; ///< index of the chunk inside its block
    std::int32_t windows = 0; ///< of the whole chunk
    std::vector<WindowRange> remaining; ///< ascending, disjoint, at least one
    std::int64_t positionTokens
        = 0; ///< tokens claimed in the run before this chunk: place in the learning-rate schedule
    std::int64_t coveredTokens = 0; ///< what they count for the windows of this chunk that are in the weights already
    std::int64_t participations
        = 0; ///< of private training, how often any unit of the run took part at most, this training included
};

/// What the labels of one sample cost on average at the moment it was trained.
struct SampleLoss {
    std::int64_t sample = 0; ///< index inside the chunk, as it is stored
    double loss = 0; ///< nats per token, the end-of-text after it included
    bool operator==(const SampleLoss&) const = default;
};

/// What one training of (a range of) a chunk gave; stored with the claim for ever.
struct ChunkOutcome {
    std::vector<WindowRange> done; ///< in the weights now
    std::vector<WindowRange> skipped; ///< left out by name: NaN, overflow
    std::int64_t tokens = 0; ///< real label tokens trained
    double lossSum = 0; ///< nats, over those tokens; one that is not learnt counts with the mean of its step
    double peakGradientNorm = 0;
    std::vector<SampleLoss> sampleLosses; ///< a few that stand out, highest first
    std::int64_t firstStep = 0; ///< worker steps
    std::int64_t lastStep = 0;
};

/// A part of a chunk that a checkpoint commits.
struct Part {
    ChunkId chunk;
    WindowRange windows;
    /// Optimiser steps that trained this range. Needed only for a chunk that is still in training when the checkpoint
    /// freezes; -1: those of the finished claim.
    std::int64_t steps = -1;
    bool skipped = false; ///< left out by name (NaN, overflow): counted as seen, in no weights. Manifests keep it; a
                          ///< commit goes by the claim.
};

enum class CheckpointKind { Replica = 0, Merge = 1 };
template <>
inline constexpr std::array kClosedNames<CheckpointKind> {
    ClosedName { CheckpointKind::Replica, "replica" },
    ClosedName { CheckpointKind::Merge, "merge" },
};

/// A checkpoint row. The folder was published and synced before the row is written.
struct CheckpointRecord {
    CheckpointKind kind = CheckpointKind::Replica;
    std::int32_t replica = 0; ///< -1 for a merge
    std::string folder; ///< name below checkpoints/
    std::string manifestSha256;
    std::int64_t step = 0; ///< optimiser steps of this line of weights
    std::int64_t tokens = 0; ///< tokens trained in this line of weights
    std::optional<double> evalLoss; ///< nats per token on the held-out text
    std::uint64_t sizeBytes = 0;
    std::vector<CheckpointId> parents;
};

/// What a person wants of the run. Written by console and furrowctl, read by supervisor and workers.
enum class DesiredState { Run = 0, Pause = 1, Stop = 2, Kill = 3 };

/// Why a run or an attempt ended.
enum class StopReason {
    None,
    EpochEnd,
    BlockEnd,
    Steps,
    Tokens,
    Hours,
    Epochs,
    User,
    Error,
    Interrupted,
    Incomplete,
    Privacy
};
std::string toString(StopReason reason); ///< "none" "epoch" "block" "steps" "tokens" "hours" "epochs" "user" "error"
                                         ///< "interrupted" "incomplete" "privacy"
/// For people: "all wanted epochs are trained"; a sentence (core/base/sentence.h), "" for None. The codes of toString()
/// are for programs.
Message inWords(StopReason reason);
std::string toString(ChunkState state); ///< "pending" "free" ...
Term termOf(ChunkState state); ///< for a sentence
std::string toString(DesiredState state);

/// Worker number of a process that registers without training: the task that merges.
inline constexpr std::int32_t kNoWorker = -1;

/// Numbers of chunks of one epoch by state.
struct ChunkCounts {
    std::int64_t byState[kChunkStateCount] = {};
    std::int64_t& operator[](ChunkState s) { return byState[static_cast<int>(s)]; }
    std::int64_t operator[](ChunkState s) const { return byState[static_cast<int>(s)]; }
    std::int64_t sum() const;
};

/// How long a reader reads. A look, of a moment and again and again, makes no file in a folder that holds nothing to be
/// read but the tracker: somebody may be removing it. It does not see what is written from then on. Who reads for
/// longer, or takes part in the run, has what SQLite needs beside it, so that nothing changes under it.
enum class ReadFor { Long, Look };

} // namespace furrow
