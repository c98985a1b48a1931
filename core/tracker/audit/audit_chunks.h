#pragma once

#include "core/tracker/audit/audit.h"
#include "core/tracker/audit/audit_fault.h"
#include "core/tracker/block_chunks.h"
#include "core/tracker/sqlite/database.h"
#include "core/tracker/window_ranges.h"

namespace furrow {

class AuditFindings;
struct AuditGathered;

/// The chunks of a ledger, by id: their states, rows and the windows of them that surviving weights hold. Internal to
/// the audit.
class AuditChunks {
public:
    AuditChunks(Database& db, const AuditWatch& watch, AuditGathered& gathered, AuditFindings& findings,
        const AuditFault& wrong);

    /// Wants the epochs, `named` and `surviving` of what is gathered; adds tallies, `held` and `newestClaim`.
    void check();

private:
    struct SeenPart {
        WindowRange windows;
        std::int64_t claim = 0;
        std::int64_t checkpoint = 0;
        bool skipped = false;
    };
    /// Of one chunk.
    struct Content {
        std::int64_t windows = 0;
        std::int64_t tokens = 0;
        std::int64_t covered = 0; // windows that are in living parts by its row
    };

    void sayHowFar(std::int64_t chunks) const;
    void checkPacking(ChunkId id, std::int64_t samples, std::int64_t windows, std::int64_t tokens);
    bool isListedAsInherited(ChunkId id, Inherited mark);
    void checkState(ChunkId id, ChunkState state, bool isParents, std::optional<std::int64_t> holder, AuditEpoch& here);
    void addTokens(ChunkId id, ChunkState state, const Content& content, const std::vector<SeenPart>& parts);
    std::vector<SeenPart> partsOf(ChunkId chunk);
    std::pair<std::int64_t, std::int64_t> checkParts(
        ChunkId id, ChunkState state, const Content& content, AuditEpoch& here);
    void addRows(ChunkId id, const RowCounts& counts, std::int64_t trained, std::int64_t skipped, std::int64_t windows,
        AuditEpoch& here);
    std::string namedCause(ChunkId id, ChunkState state);

    Database& db_;
    const AuditWatch& watch_;
    AuditGathered& gathered_;
    AuditFindings& findings_;
    const AuditFault& wrong_;
    WindowRanges one_ = WindowRanges(1); // spares making one for each part
    std::int64_t inheritedBlock_ = -1; ///< that of `inherited_`
    InheritedColumns inherited_;
};

} // namespace furrow
