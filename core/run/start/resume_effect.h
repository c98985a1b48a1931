#pragma once

#include "core/base/message.h"
#include "core/run/folder/kept_states.h"
#include "core/run/start/replica_heads.h"
#include "core/run/start/resume_choice.h"
#include "core/tracker/left_out_samples.h"
#include "core/tracker/ledger_reader.h"

#include <array>
#include <functional>
#include <map>
#include <set>

namespace furrow {

/// What a resume does with a chunk.
enum class ChunkFate {
    Kept, ///< committed, and stays so
    Redo, ///< committed only in checkpoints that are left: trained again
    Lost, ///< its training died with its weights (isWorkLost): trained again
    Released, ///< claimed by a process that is gone and never begun
    Partly, ///< a part of it is in checkpoints and stays there; only the rest is trained
    Free,
    Excluded, ///< by name
    Parents, ///< left out as the parent run trained it (isLeftToParent)
    Poisoned, ///< or accepted
};
inline constexpr int kChunkFates = 9;

/// What a resume does, chunk by chunk, when nobody trains the run any more. Dry run, dialog and supervisor all say what
/// this says.
struct ResumeEffect {
    struct Epoch {
        std::int64_t epoch = 0;
        std::vector<ChunkCell> cells; ///< what dead workers hold is marked (ChunkCell::holderGone), and what is in
                                      ///< `triedAgain` is pending
    };
    std::vector<Epoch> epochs; ///< all that are open or will be open again, oldest first; the newest when there is none
    std::vector<ChunkId> redo; ///< ChunkFate::Redo, of any epoch, ascending
    std::vector<ChunkId> partsLost; ///< not committed, and something that checkpoints have of them leaves the weights
    std::vector<LedgerReader::Staying> staying; ///< those of both of which a part stays in the weights, ascending
    std::vector<ChunkId> triedAgain; ///< poisoned until then for files that came wrong (wrongTransfers), ascending
    std::vector<CheckpointId> left; ///< heads that are not whole, so that others are gone on from
    std::map<std::int32_t, CheckpointId>
        heads; ///< where each replica goes on from; one that begins from the start weights is not among them
    std::set<CheckpointId> surviving; ///< what these were made from, themselves included
    SkippedChunks skipped; ///< windows that count as done and are in no weights; null: none is known
    std::array<std::int64_t, kChunkFates> byFate {}; ///< of `epochs`

    ChunkFate fateOf(const ChunkCell& cell) const;
    std::int64_t operator[](ChunkFate fate) const { return byFate[static_cast<std::size_t>(fate)]; }
    /// Committed chunks that stay so and of which nothing was trained (SkippedChunk::isCommittedUntrained).
    std::int64_t keptUntrained(std::int64_t epoch) const;
    std::int64_t keptUntrained() const; ///< of `epochs`, and of those of `redo`
    /// What checkpoints have of chunks that are not committed, which stays. Samples without those that were left out.
    struct KeptParts {
        std::int64_t chunks = 0;
        std::int64_t samplesDone = 0; ///< of `samples`
        std::int64_t samples = 0;
        std::int64_t samplesLeftOut = 0;
    };
    /// Windows of a cell that surviving checkpoints have then.
    std::int64_t coveredThen(const ChunkCell& cell) const;
    KeptParts keptOfRedo() const; ///< ChunkFate::Redo, of any epoch: only the rest of them is trained again
    KeptParts keptOfLost() const; ///< of chunks whose work was lost: the same
    KeptParts keptOfAgain() const; ///< of both
    KeptParts keptOfPartly() const; ///< ChunkFate::Partly
    KeptParts keptOfLeftOut() const; ///< of chunks that are left out: their rest is not trained (isPartlyLeftOut)
    /// How many chunks are trained again.
    std::int64_t again() const { return againWhenLeaving(redo, partsLost); }
    /// How many would be when other chunks leave the weights, without a copy of the cells: those of epochs that only
    /// the other choice opens again are counted too. Parameters as of whenLeaving().
    std::int64_t againWhenLeaving(
        const std::vector<ChunkId>& redoThen, const std::vector<ChunkId>& partsLostThen) const;
    /// The cells as they are when other chunks leave the weights. Heads and survivors stay those of this one, and
    /// epochs that only the other choice opens again have no cells.
    /// @param redoThen  ascending, as `redo`
    /// @param partsLostThen  ascending, this one's `partsLost` among them
    /// @param stayingThen  ascending, as `staying`
    ResumeEffect whenLeaving(const std::vector<ChunkId>& redoThen, const std::vector<ChunkId>& partsLostThen,
        const std::vector<LedgerReader::Staying>& stayingThen) const;
};

/// What a look at the files of the checkpoints says.
struct CheckpointFiles {
    /// Whether one can be gone on from; asked only of those that the run would stand on.
    std::function<bool(CheckpointId)> isWhole = [](CheckpointId) { return true; };
    std::vector<CheckpointId> thereAgain; ///< the tracker calls them removed, and their files are there
};

/// @param goBackTo  what is newer leaves the weights; nothing: the newest checkpoint of each replica
Result<ResumeEffect> resumeEffect(
    LedgerReader& reader, std::optional<CheckpointId> goBackTo, const CheckpointFiles& files);

/// Of that only the weights: `redo`, `partsLost`, `staying`, `left`, `heads` and `surviving`. Reads no chunk that
/// stays.
Result<ResumeEffect> weightsAfterResume(
    LedgerReader& reader, std::optional<CheckpointId> goBackTo, const CheckpointFiles& files);

/// What training would take beside those weights.
/// @param now  the replicas and checkpoints before that
/// @param merge  as mergeInForce() says
std::vector<KeptState> keptStatesAfter(ReplicaHeads now, const ResumeEffect& weights, MergeMethod merge);

/// "It keeps 265 chunks and trains 28 again: 8 of epoch 1, 20 of epoch 2." And of chunks of which checkpoints have a
/// part what is kept of them, whether the rest was trained before or not.
Message effectSentence(const ResumeEffect& effect);

} // namespace furrow
