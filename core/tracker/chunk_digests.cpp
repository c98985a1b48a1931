#include "core/tracker/chunk_digests.h"

#include "core/tracker/ledger_file.h"
#include "core/tracker/row_bounds.h"

namespace furrow {

Result<std::vector<ChunkDigest>> untrainedDigests(const std::filesystem::path& tracker)
{
    FURROW_TRY_ASSIGN(auto db, openForReading(tracker, {}, ReadFor::Look));
    std::vector<ChunkDigest> digests;
    {
        Rows rows = db.query(
            "SELECT id, digest FROM chunk WHERE state<>? AND windows IS NOT NULL ORDER BY id", ChunkState::Committed);
        while (rows.next())
            digests.emplace_back(chunkIdAt(db, rows, 0), static_cast<std::uint64_t>(rows.integer(1)));
    }
    FURROW_TRY(db.takeStatus());
    return digests;
}

} // namespace furrow
