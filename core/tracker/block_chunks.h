#pragma once

#include "core/base/message.h"
#include "core/tracker/moves.h"
#include "core/tracker/window_ranges.h"

namespace furrow {

struct PreparedChunk;

constexpr unsigned bit(ChunkState state) { return 1U << static_cast<unsigned>(state); }

std::vector<std::int64_t> openEpochs(Database& db);
/// Chunks of a block in every open epoch that are in one of the states of a bit mask.
std::vector<ChunkId> chunksIn(Database& db, std::int64_t block, unsigned states);

/// What chunks of the first epoch inherit from the weights that the run began with.
struct InheritedColumns {
    WindowRanges columns; ///< of one block; none: nothing is listed for it
    Inherited mark = Inherited::Nothing;
};
InheritedColumns inheritedColumns(Database& db, std::int64_t block);

/// What preparing showed of a chunk. @return false: the chunk has another number of rows by the plan of its block
bool storeContent(Database& db, ChunkId chunk, const PreparedChunk& content);

/// The prepared file of a block is gone or cannot be read: its free chunks wait until it is prepared again.
void evictBlock(LedgerFile& file, ChunkMoves& moves, std::int64_t block, const Message& cause);

} // namespace furrow
