#pragma once

#include "core/base/message.h"
#include "core/tracker/moves.h"

#include <map>
#include <set>

namespace furrow {

/// The checkpoints of a run as a graph of parents. Small (thousands of nodes), so it is read whole. Internal.
struct Lineage {
    struct Node {
        CheckpointKind kind = CheckpointKind::Replica;
        std::int32_t replica = 0;
        bool surviving = false;
        bool damaged = false;
        bool removed = false;
        std::vector<std::int64_t> parents;
    };
    std::map<std::int64_t, Node> nodes;
    std::map<std::int32_t, std::optional<std::int64_t>> heads; // by replica

    /// `checkpoint` and everything its weights were made from.
    std::set<std::int64_t> ancestors(std::int64_t checkpoint) const;
    /// Damaged ones and all that were made from them.
    std::set<std::int64_t> bad() const;
    /// bad(), and everything newer than `newest`.
    std::set<std::int64_t> badAfter(std::int64_t newest) const;
    /// Moves each head that is in `bad` to its fallback.
    void retreatFrom(const std::set<std::int64_t>& bad);
    /// Everything that a head was made from.
    std::set<std::int64_t> behindHeads() const;
    /// Where the replica goes on when its head is bad: its newest own checkpoint, or merge, in the ancestry of the head
    /// whose files are there and good. Nothing: the start weights.
    std::optional<std::int64_t> fallback(std::int32_t replica, const std::set<std::int64_t>& bad) const;
    /// Surviving checkpoints that a replica left without a word: it stands on something older than its own newest one,
    /// or than the newest merge, which every replica takes over when it is committed. A head that was changed from
    /// outside looks like this.
    std::map<std::int32_t, std::int64_t> forsaken() const;
    /// The base of new replicas.
    std::optional<std::int64_t> newestMerge() const;
};

Lineage loadLineage(Database& db);

/// Windows of a chunk that one checkpoint committed.
struct PartRow {
    std::int64_t claim = 0; ///< that trained them
    WindowRange windows;
    ChunkId chunk;
    bool skipped = false; ///< left out by name
    std::int64_t steps = 0;
};

/// The living parts of one checkpoint, without those of its ancestors.
std::vector<PartRow> livingPartsOf(Database& db, std::int64_t checkpoint);
/// Records the parts of a checkpoint, all at once.
void insertParts(LedgerFile& file, CheckpointId checkpoint, std::vector<PartRow> parts);

/// Makes the surviving checkpoints those from which a head was made, and frees the parts of all others. Returns the
/// number of chunks that are not committed any more.
std::int64_t keepOnlySurviving(LedgerFile& file, ChunkMoves& moves, const Lineage& lineage, const Message& cause);

/// A chunk whose windows are all in living parts becomes committed, through every state on the way: one function knows
/// the moves.
/// @param trainer  incarnation that trained it
void commitCovered(ChunkMoves& moves, ChunkRow& chunk, std::int64_t trainer, const Message& cause);

/// Adds the row and its parents (existing checkpoints); returns the id.
CheckpointId insertCheckpoint(LedgerFile& file, std::int64_t incarnation, const CheckpointRecord& record);

/// Makes sure the replica exists; a new one starts from the newest merge.
void ensureReplica(LedgerFile& file, std::int32_t replica);

/// Fails the database when what two of the checkpoints trained since their common base is not disjoint.
void requireDisjoint(LedgerFile& file, const Lineage& lineage, const std::vector<CheckpointId>& checkpoints);

} // namespace furrow
