#include "core/tracker/take_back.h"

#include "core/base/sentence.h"

#include <algorithm>
#include <sstream>

// How this works: when a checkpoint is marked damaged, the heads that leave it are written down with where they went.
// While they still stand there, nothing was committed since, and the way back is free wherever no window of it has
// found other weights.

namespace furrow {

namespace {

struct LeftHead {
    std::int32_t replica = 0;
    std::int64_t before = 0;
    std::int64_t after = 0; // 0: the start weights
};

constexpr std::string_view kKey = "left-";

std::string keyOf(CheckpointId checkpoint) { return std::string(kKey) + std::to_string(checkpoint.value); }

std::vector<LeftHead> leftHeads(Database& db, CheckpointId checkpoint)
{
    std::vector<LeftHead> found;
    Rows row = db.query("SELECT value FROM meta WHERE key=?", keyOf(checkpoint));
    if (!row.next())
        return found;
    std::istringstream words(row.text(0));
    for (LeftHead one; words >> one.replica >> one.before >> one.after;)
        found.push_back(one);
    return found;
}

bool stillStands(const Lineage& lineage, const LeftHead& one)
{
    const auto head = lineage.heads.find(one.replica);
    return head != lineage.heads.end() && head->second.value_or(0) == one.after && lineage.nodes.contains(one.before)
        && !lineage.bad().contains(one.before);
}

std::vector<PartRow> deadPartsOf(Database& db, std::int64_t checkpoint)
{
    std::vector<PartRow> parts;
    Rows rows = db.query(
        "SELECT p.claim, p.first, p.past, p.chunk, p.skipped, p.steps FROM checkpoint c CROSS JOIN part p ON p.claim>=c.first_claim AND p.claim<=c.last_claim"
        " WHERE c.id=? AND p.checkpoint=c.id AND p.alive=0",
        checkpoint);
    while (rows.next())
        parts.push_back({ rows.integer(0), { rows.int32(1), rows.int32(2) }, { rows.integer(3) }, rows.integer(4) != 0,
            rows.integer(5) });
    return parts;
}

/// False when a window has found other weights, or its chunk other hands.
bool haveRoom(Database& db, const std::map<std::int64_t, std::vector<PartRow>>& dead)
{
    std::map<std::int64_t, WindowRanges> covered; // by chunk
    for (const auto& [checkpoint, parts] : dead)
        for (const PartRow& part : parts) {
            auto at = covered.find(part.chunk.value);
            if (at == covered.end()) {
                const ChunkRow chunk = loadChunk(db, part.chunk);
                if (chunk.state != ChunkState::Free && chunk.state != ChunkState::Pending)
                    return false;
                at = covered.emplace(part.chunk.value, coveredRanges(db, chunk)).first;
            }
            at->second.push_back(part.windows);
            auto joined = normalized(std::move(at->second));
            if (!joined)
                return false;
            at->second = std::move(*joined);
        }
    return true;
}

/// The reverse of what freed it. @return whether its chunk is committed again
bool revive(LedgerFile& file, ChunkMoves& moves, std::int64_t checkpoint, const PartRow& part, const Message& cause)
{
    ChunkRow chunk = loadChunk(file.db, part.chunk);
    const std::int64_t tokens = tokensIn({ part.windows }, chunk.tokens, chunk.windows.value_or(0), file.windowTokens);
    moves.totals().claimedTokens += tokens;
    if (!part.skipped) {
        moves.totals().tokens += tokens;
        moves.totals().steps += part.steps;
    }
    file.db.run("UPDATE part SET alive=1 WHERE claim=? AND first=? AND checkpoint=?", part.claim, part.windows.begin,
        checkpoint);
    file.db.run("UPDATE claim SET cause=? WHERE id=?", cause, part.claim);
    chunk.covered += part.windows.size();
    const bool whole = chunk.covered == chunk.windows.value_or(0);
    if (whole) {
        chunk.claim = part.claim;
        chunk.timesLost = std::max<std::int64_t>(0, chunk.timesLost - 1);
        commitCovered(
            moves, chunk, file.db.integer("SELECT incarnation FROM claim WHERE id=?", part.claim).value_or(0), cause);
    } else {
        if (!file.db.integer("SELECT 1 FROM claim WHERE chunk=? AND outcome=?", part.chunk, ClaimOutcome::Lost))
            chunk.timesLost = 0; // but for this part nothing of it was ever lost
        moves.store(chunk);
    }
    return whole;
}

} // namespace

void rememberLeft(Database& db, CheckpointId checkpoint, const Heads& before, const Heads& after)
{
    std::string text;
    for (const auto& [replica, head] : before)
        if (head && after.at(replica) != head)
            text += std::to_string(replica) + " " + std::to_string(*head) + " "
                + std::to_string(after.at(replica).value_or(0)) + " ";
    db.run("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", keyOf(checkpoint), text);
}

void forgetAllLeft(Database& db) { db.run("DELETE FROM meta WHERE key LIKE 'left-%'"); }

std::vector<CheckpointId> leftBehind(Database& db)
{
    std::vector<CheckpointId> found;
    Rows rows
        = db.query("SELECT CAST(substr(key, ?) AS INTEGER) FROM meta WHERE key LIKE 'left-%' AND value<>'' ORDER BY 1",
            static_cast<std::int64_t>(kKey.size()) + 1);
    while (rows.next())
        found.push_back({ rows.integer(0) });
    return found;
}

std::optional<std::int64_t> returnToLeft(LedgerFile& file, ChunkMoves& moves, CheckpointId checkpoint)
{
    Database& db = file.db;
    const auto left = leftHeads(db, checkpoint);
    Lineage lineage = loadLineage(db);
    if (left.empty()
        || !std::all_of(left.begin(), left.end(), [&](const LeftHead& one) { return stillStands(lineage, one); }))
        return std::nullopt;
    const std::set<std::int64_t> now = lineage.behindHeads();
    for (const LeftHead& one : left)
        lineage.heads[one.replica] = one.before;
    std::map<std::int64_t, std::vector<PartRow>> dead; // by checkpoint that returns
    for (const std::int64_t id : lineage.behindHeads())
        if (!now.contains(id))
            dead[id] = deadPartsOf(db, id);
    if (!haveRoom(db, dead))
        return std::nullopt;
    const Message cause = sentence("checkpoint %1 was found whole again", { std::to_string(checkpoint.value) });
    std::int64_t committed = 0;
    for (const auto& [id, parts] : dead) {
        db.run("UPDATE checkpoint SET surviving=1 WHERE id=?", id);
        for (const PartRow& part : parts)
            committed += revive(file, moves, id, part, cause) ? 1 : 0;
    }
    for (const LeftHead& one : left)
        db.run("UPDATE replica SET head=? WHERE replica=?", one.before, one.replica);
    db.run("DELETE FROM meta WHERE key=?", keyOf(checkpoint));
    return committed;
}

} // namespace furrow
