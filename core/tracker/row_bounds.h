#pragma once

#include "core/tracker/sqlite/database.h"
#include "core/tracker/types.h"

#include <cstdint>
#include <limits>
#include <string>

namespace furrow {

/// What a number of a row may be. A run folder may come from anywhere, and its tracker may hold anything: what a run
/// cannot hold is damage, not an index. Internal to core/tracker.
struct Bounds {
    const char* what; ///< for the sentence
    std::int64_t least;
    std::int64_t most;
};
/// The ids of a chunk in two epochs that follow each other lie so far apart.
inline constexpr std::int64_t kEpochIds = kMaxBlocks * kMaxChunksPerBlock;
inline constexpr Bounds kEpochBounds { "epoch", 0, kMaxEpochs - 1 };
inline constexpr Bounds kBlockBounds { "block", 0, kMaxBlocks - 1 };
inline constexpr Bounds kStateBounds { "state", 0, kChunkStateCount - 1 };
inline constexpr Bounds kWorkerBounds { "worker", -1, std::numeric_limits<std::int16_t>::max() };
inline constexpr Bounds kWindowBounds { "window", 0, std::numeric_limits<std::int32_t>::max() };
/// Of rows, samples, tokens and steps: a sum over all chunks of an epoch still fits.
inline constexpr Bounds kAmountBounds { "amount", 0, std::int64_t { 1 } << 36 };
inline constexpr Bounds kTotalBounds { "total", 0, std::int64_t { 1 } << 60 };

/// The value; when it is out of bounds the database fails with Corrupt and a sentence that names it, and the least one
/// is returned.
std::int64_t bounded(Database& db, std::int64_t value, const Bounds& bounds);
inline std::int64_t boundedAt(Database& db, const Rows& row, int column, const Bounds& bounds)
{
    return bounded(db, row.integer(column), bounds);
}
/// Whether a run can have a chunk with this id.
bool isChunkId(std::int64_t id);
/// The id of a chunk that a run can have.
ChunkId chunkIdAt(Database& db, const Rows& row, int column);
/// The same where 0 stands for no chunk.
ChunkId chunkIdOrNoneAt(Database& db, const Rows& row, int column);
/// How many chunks from `first` on an event speaks of: they are of one block.
std::int64_t eventCountAt(Database& db, const Rows& row, int column, ChunkId first);
/// A text for people: one line that no terminal obeys (plainLine), since anything may stand in a tracker.
std::string lineAt(const Rows& row, int column);
/// Windows from this column to the next one.
WindowRange windowsAt(Database& db, const Rows& row, int column);

} // namespace furrow
