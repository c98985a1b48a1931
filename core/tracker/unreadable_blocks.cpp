#include "core/tracker/unreadable_blocks.h"

#include "core/tracker/kept_messages.h"
#include "core/tracker/ledger_file.h"
#include "core/tracker/row_bounds.h"
#include "core/tracker/schema.h"
#include "core/tracker/types.h"

namespace furrow {

Result<std::vector<UnreadableBlock>> unreadableBlocks(const std::filesystem::path& tracker)
{
    FURROW_TRY_ASSIGN(auto db, openForReading(tracker));
    std::vector<UnreadableBlock> blocks;
    { // the first epoch has every block
        Rows chunks = db.query(
            "SELECT id, failed FROM chunk WHERE failed>0 AND epoch=(SELECT min(epoch) FROM epoch) ORDER BY id");
        while (chunks.next()) {
            const std::int64_t block = placeOf(chunkIdAt(db, chunks, 0)).block;
            if (blocks.empty() || blocks.back().block != block)
                blocks.push_back({ block, 0, {} });
            blocks.back().rows += boundedAt(db, chunks, 1, kAmountBounds);
        }
    }
    for (UnreadableBlock& one : blocks) {
        if (!keepsDataNotes(db))
            break;
        Rows first = db.query("SELECT unreadable FROM block WHERE block=?", one.block);
        if (first.next())
            one.first = messageAt(db, first, 0);
    }
    FURROW_TRY(db.takeStatus());
    return blocks;
}

} // namespace furrow
