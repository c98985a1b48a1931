#pragma once

#include "core/tracker/audit/audit_fault.h"
#include "core/tracker/sqlite/database.h"

#include <map>

namespace furrow {

/// As a command line names it.
std::string runFolderOf(const Database& db);

/// Sums over chunks, claims and parts, gathered while the audit reads them, and the counters of the ledger that stand
/// for these sums. Internal to the audit.
class AuditTallies {
public:
    /// Chunks by id: those of one block follow each other.
    void addChunk(ChunkId chunk, ChunkState state, const RowCounts& rows);
    /// Training of a chunk began once.
    void visit(ChunkId chunk);
    /// What is in surviving weights, or in the hands of a live worker.
    void addTokens(std::int64_t trained, std::int64_t claimed);
    void addSteps(std::int64_t steps) { steps_ += steps; }
    /// A rebuilt tracker has left-out windows that never counted as claimed: their place in the schedule cannot be
    /// recounted.
    void forgetClaimedTokens() { claimedTokensKnown_ = false; }

    /// After everything was added.
    void compare(Database& db, const AuditFault& wrong) const;

private:
    struct Block {
        ChunkCounts counts;
        RowCounts known;
        RowCounts done;
        bool visited = false;
    };
    using Place = std::pair<std::int64_t, std::int64_t>; // epoch, block
    Block& at(ChunkId chunk);
    void compareEpochs(Database& db, const AuditFault& wrong) const;
    void compareBlocksOfEpochs(Database& db, const AuditFault& wrong) const;
    void compareBlocks(Database& db, const AuditFault& wrong) const;
    void compareTotals(Database& db, const AuditFault& wrong) const;

    std::map<Place, Block> blocks_;
    Place lastPlace_ { -1, -1 };
    Block* last_ = nullptr;
    std::int64_t steps_ = 0;
    std::int64_t tokens_ = 0;
    std::int64_t claimedTokens_ = 0;
    bool claimedTokensKnown_ = true;
};

/// What only saves a search, against what it is a shortcut to.
void checkShortcuts(Database& db, const AuditFault& wrong);

} // namespace furrow
