#include "core/tracker/row_bounds.h"

#include "core/base/path.h"
#include "core/base/plain_line.h"
#include "core/base/sentence.h"

namespace furrow {

namespace {

constexpr Bounds kChunkBounds { "chunk", kEpochIds, (kMaxEpochs + 1) * kEpochIds - 1 };

} // namespace

std::int64_t bounded(Database& db, std::int64_t value, const Bounds& bounds)
{
    if (value >= bounds.least && value <= bounds.most)
        return value;
    db.fail({ ErrorCode::Corrupt,
        sentence(
            "the tracker %1 is damaged (it has %2 %3, which no run can have); `furrowctl doctor %4 --repair` rebuilds what the checkpoints prove",
            { utf8Text(db.path()), bounds.what, std::to_string(value), utf8Text(db.path().parent_path()) }) });
    return bounds.least;
}

bool isChunkId(std::int64_t id) { return id >= kChunkBounds.least && id <= kChunkBounds.most; }

ChunkId chunkIdAt(Database& db, const Rows& row, int column) { return { boundedAt(db, row, column, kChunkBounds) }; }

ChunkId chunkIdOrNoneAt(Database& db, const Rows& row, int column)
{
    return row.integer(column) == 0 ? ChunkId {} : chunkIdAt(db, row, column);
}

std::int64_t eventCountAt(Database& db, const Rows& row, int column, ChunkId first)
{
    return boundedAt(db, row, column, { "chunks of one event", 1, kMaxChunksPerBlock - placeOf(first).column });
}

std::string lineAt(const Rows& row, int column) { return plainLine(row.text(column)); }

WindowRange windowsAt(Database& db, const Rows& row, int column)
{
    const auto begin = static_cast<std::int32_t>(boundedAt(db, row, column, kWindowBounds));
    return { begin,
        static_cast<std::int32_t>(boundedAt(db, row, column + 1, { "window", begin, kWindowBounds.most })) };
}

} // namespace furrow
