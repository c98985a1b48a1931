#include "core/tracker/block_chunks.h"

#include "core/tracker/feeder_ledger.h"
#include "core/tracker/row_bounds.h"

namespace furrow {

std::vector<std::int64_t> openEpochs(Database& db)
{
    std::vector<std::int64_t> epochs;
    Rows rows = db.query("SELECT epoch FROM epoch WHERE closed_wall IS NULL ORDER BY epoch");
    while (rows.next())
        epochs.push_back(boundedAt(db, rows, 0, kEpochBounds));
    return epochs;
}

std::vector<ChunkId> chunksIn(Database& db, std::int64_t block, unsigned states)
{
    std::vector<ChunkId> found;
    for (const std::int64_t epoch : openEpochs(db)) {
        const std::int64_t first = chunkIdOf({ epoch, block, 0 }).value;
        Rows rows = db.query("SELECT id FROM chunk WHERE id>=? AND id<? AND (?>>state)&1 ORDER BY id", first,
            first + kMaxChunksPerBlock, states);
        while (rows.next())
            found.push_back(chunkIdAt(db, rows, 0));
    }
    return found;
}

InheritedColumns inheritedColumns(Database& db, std::int64_t block)
{
    Rows row = db.query("SELECT columns, mark FROM inherited WHERE block=?", block);
    if (!row.next())
        return {};
    return { decodeRanges(row.text(0)), static_cast<Inherited>(row.integer(1)) };
}

bool storeContent(Database& db, ChunkId chunk, const PreparedChunk& content)
{
    const RowCounts& rows = content.rows;
    return db.run(
               "UPDATE chunk SET samples=?, filtered=?, failed=?, held_out=?, duplicates=?, windows=?, tokens=?, digest=?"
               " WHERE id=? AND rows=?",
               rows.samples, rows.filtered, rows.failed, rows.heldOut, rows.duplicates, content.windows, content.tokens,
               static_cast<std::int64_t>(content.digest), chunk, rows.rows)
        == 1;
}

void evictBlock(LedgerFile& file, ChunkMoves& moves, std::int64_t block, const Message& cause)
{
    Database& db = file.db;
    db.run("UPDATE dataset SET prepared_blocks=prepared_blocks-coalesce((SELECT prepared FROM block WHERE block=?), 0)",
        block);
    db.run("UPDATE block SET prepared=0, file_name='' WHERE block=?", block);
    for (const ChunkId id : chunksIn(db, block, bit(ChunkState::Free))) {
        ChunkRow chunk = loadChunk(db, id);
        moves.move(chunk, ChunkState::Pending, cause);
    }
}

} // namespace furrow
