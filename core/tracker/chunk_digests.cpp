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

Status storeDigests(const std::filesystem::path& tracker, std::span<const ChunkDigest> digests, const Message& cause)
{
    FURROW_TRY_ASSIGN(auto file, openLedger(tracker, systemClock()));
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(file.db));
    for (const auto& [chunk, digest] : digests)
        file.db.run("UPDATE chunk SET digest=? WHERE id=?", static_cast<std::int64_t>(digest), chunk);
    writeRunEvent(file, 0, cause);
    return transaction.commit();
}

} // namespace furrow
