#include "core/tracker/named_chunks.h"

#include "core/tracker/kept_messages.h"
#include "core/tracker/ledger_file.h"
#include "core/tracker/row_bounds.h"
#include "core/tracker/run_event_texts.h"

#include <map>

namespace furrow {

std::vector<NamedChunk> namedChunks(Database& db)
{
    std::vector<NamedChunk> chunks;
    std::map<std::int64_t, std::size_t> index; // by chunk id
    {
        Rows rows = db.query("SELECT id, state FROM chunk WHERE state IN (5, 6, 7) ORDER BY id");
        while (rows.next()) {
            index.emplace(rows.integer(0), chunks.size());
            chunks.push_back({ { rows.integer(0) }, static_cast<ChunkState>(rows.integer(1)), {} });
        }
    }
    if (chunks.empty())
        return chunks;
    KeptMessages causes(db);
    Rows rows = db.query("SELECT chunk, count, to_state, cause FROM event WHERE to_state IN (5, 6, 7) ORDER BY seq");
    while (rows.next()) { // one row for chunks with consecutive ids; a later one wins
        const Message cause = causes.at(rows, 3);
        for (auto at = index.lower_bound(rows.integer(0));
            at != index.end() && at->first < rows.integer(0) + rows.integer(1); ++at)
            if (chunks[at->second].state == static_cast<ChunkState>(rows.integer(2)))
                chunks[at->second].cause = cause;
    }
    for (NamedChunk& chunk : chunks) { // a later epoch takes over what was left out, without an event of its own
        const auto before = chunk.cause.empty() ? index.find(chunk.chunk.value - kEpochIds) : index.end();
        if (before != index.end())
            chunk.cause = chunks[before->second].cause;
    }
    return chunks;
}

Result<std::vector<NamedChunk>> poisonedChunks(const std::filesystem::path& tracker)
{
    FURROW_TRY_ASSIGN(auto db, openForReading(tracker, {}, ReadFor::Look));
    auto chunks = namedChunks(db);
    std::erase_if(chunks, [](const NamedChunk& chunk) { return chunk.state != ChunkState::Poisoned; });
    FURROW_TRY(db.takeStatus());
    return chunks;
}

std::vector<LeftOutPart> leftOutOfTheData(Database& db, std::int64_t most)
{
    std::vector<LeftOutPart> parts;
    KeptMessages causes(db);
    Rows rows = db.query(
        "SELECT cause, wall FROM event WHERE chunk=0 AND cause LIKE ?||'%' ORDER BY seq LIMIT ?", kLeftOutEvent, most);
    while (rows.next())
        parts.push_back({ causes.at(rows, 0), rows.integer(1) });
    return parts;
}

Result<std::vector<LeftOutPart>> leftOutOfTheData(const std::filesystem::path& tracker, std::int64_t most)
{
    FURROW_TRY_ASSIGN(auto db, openForReading(tracker, {}, ReadFor::Look));
    auto parts = leftOutOfTheData(db, most);
    FURROW_TRY(db.takeStatus());
    return parts;
}

} // namespace furrow
