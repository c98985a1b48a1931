#include "core/tracker/lineage.h"

#include "core/base/sentence.h"
#include "core/tracker/incarnations.h"
#include "core/tracker/row_bounds.h"
#include "core/tracker/schema.h"

#include <algorithm>

namespace furrow {

std::set<std::int64_t> Lineage::ancestors(std::int64_t checkpoint) const
{
    std::set<std::int64_t> found;
    std::vector<std::int64_t> open { checkpoint };
    while (!open.empty()) {
        const std::int64_t id = open.back();
        open.pop_back();
        const auto node = nodes.find(id);
        if (node == nodes.end() || !found.insert(id).second)
            continue;
        open.insert(open.end(), node->second.parents.begin(), node->second.parents.end());
    }
    return found;
}

std::set<std::int64_t> Lineage::bad() const
{
    std::set<std::int64_t> found;
    for (const auto& [id, node] : nodes) { // parents have lower ids
        const bool inherited = std::any_of(
            node.parents.begin(), node.parents.end(), [&](std::int64_t parent) { return found.contains(parent); });
        if (node.damaged || inherited)
            found.insert(id);
    }
    return found;
}

std::set<std::int64_t> Lineage::badAfter(std::int64_t newest) const
{
    std::set<std::int64_t> found = bad();
    for (auto node = nodes.upper_bound(newest); node != nodes.end(); ++node)
        found.insert(node->first);
    return found;
}

void Lineage::retreatFrom(const std::set<std::int64_t>& bad)
{
    for (auto& [replica, head] : heads)
        if (head && bad.contains(*head))
            head = fallback(replica, bad);
}

std::set<std::int64_t> Lineage::behindHeads() const
{
    std::set<std::int64_t> found;
    for (const auto& [replica, head] : heads)
        if (head)
            found.merge(ancestors(*head));
    return found;
}

std::optional<std::int64_t> Lineage::fallback(std::int32_t replica, const std::set<std::int64_t>& bad) const
{
    const auto head = heads.find(replica);
    if (head == heads.end() || !head->second)
        return std::nullopt;
    const std::set<std::int64_t> line = ancestors(*head->second);
    for (auto id = line.rbegin(); id != line.rend(); ++id) {
        const Node& node = nodes.at(*id);
        const bool own = node.kind == CheckpointKind::Merge || node.replica == replica;
        if (own && !node.removed && !bad.contains(*id))
            return *id;
    }
    return std::nullopt;
}

std::map<std::int32_t, std::int64_t> Lineage::forsaken() const
{
    std::map<std::int32_t, std::int64_t> found;
    const auto out = bad();
    for (const auto& [replica, head] : heads) {
        const auto behind = head ? ancestors(*head) : std::set<std::int64_t>();
        for (auto at = nodes.rbegin(); at != nodes.rend(); ++at) {
            const Node& node = at->second;
            const bool own = node.kind == CheckpointKind::Merge || node.replica == replica;
            if (!own || !node.surviving || out.contains(at->first))
                continue;
            if (!behind.contains(at->first))
                found.emplace(replica, at->first);
            break; // what is older is behind it
        }
    }
    return found;
}

std::optional<std::int64_t> Lineage::newestMerge() const
{
    for (auto at = nodes.rbegin(); at != nodes.rend(); ++at) {
        const Node& node = at->second;
        if (node.kind == CheckpointKind::Merge && node.surviving && !node.damaged && !node.removed)
            return at->first;
    }
    return std::nullopt;
}

Lineage loadLineage(Database& db)
{
    Lineage lineage;
    {
        Rows rows = db.query("SELECT id, kind, replica, surviving, damaged, removed FROM checkpoint");
        while (rows.next())
            lineage.nodes[rows.integer(0)] = { static_cast<CheckpointKind>(rows.integer(1)),
                static_cast<std::int32_t>(boundedAt(db, rows, 2, kWorkerBounds)), rows.integer(3) != 0,
                rows.integer(4) != 0, rows.integer(5) != 0, {} };
    }
    {
        Rows rows = db.query("SELECT checkpoint, parent FROM parent");
        while (rows.next())
            lineage.nodes[rows.integer(0)].parents.push_back(rows.integer(1));
    }
    Rows rows = db.query("SELECT replica, head FROM replica");
    while (rows.next())
        lineage.heads[static_cast<std::int32_t>(boundedAt(db, rows, 0, kWorkerBounds))] = rows.optionalInteger(1);
    return lineage;
}

std::vector<PartRow> livingPartsOf(Database& db, std::int64_t checkpoint)
{
    std::vector<PartRow> parts;
    Rows rows = keepsClaimSpans(db)
        ? db.query(
              "SELECT p.claim, p.first, p.past, p.chunk, p.skipped, p.steps FROM checkpoint c CROSS JOIN part p ON p.claim>=c.first_claim AND p.claim<=c.last_claim"
              " WHERE c.id=? AND p.checkpoint=c.id AND p.alive=1",
              checkpoint)
        : db.query(
              "SELECT claim, first, past, chunk, skipped, steps FROM part WHERE checkpoint=? AND alive=1", checkpoint);
    while (rows.next())
        parts.push_back({ rows.integer(0), windowsAt(db, rows, 1), chunkIdAt(db, rows, 3), rows.integer(4) != 0,
            boundedAt(db, rows, 5, kAmountBounds) });
    return parts;
}

void insertParts(LedgerFile& file, CheckpointId checkpoint, std::vector<PartRow> parts)
{
    if (parts.empty())
        return;
    // In the order of their key, so that the table grows at its end only.
    std::sort(parts.begin(), parts.end(), [](const PartRow& a, const PartRow& b) {
        return std::pair(a.claim, a.windows.begin) < std::pair(b.claim, b.windows.begin);
    });
    for (const PartRow& part : parts)
        file.db.run(
            "INSERT INTO part (claim, first, past, chunk, checkpoint, skipped, steps) VALUES (?, ?, ?, ?, ?, ?, ?)",
            part.claim, part.windows.begin, part.windows.end, part.chunk, checkpoint, part.skipped, part.steps);
    file.db.run("UPDATE checkpoint SET first_claim=?, last_claim=? WHERE id=?", parts.front().claim, parts.back().claim,
        checkpoint);
}

namespace {

std::int64_t freeParts(LedgerFile& file, ChunkMoves& moves, std::int64_t checkpoint, const Message& cause)
{
    std::int64_t freed = 0;
    for (const PartRow& part : livingPartsOf(file.db, checkpoint)) {
        ChunkRow chunk = loadChunk(file.db, part.chunk);
        const std::int64_t tokens
            = tokensIn({ part.windows }, chunk.tokens, chunk.windows.value_or(0), file.windowTokens);
        chunk.covered -= part.windows.size();
        moves.totals().claimedTokens -= tokens;
        if (!part.skipped) {
            moves.totals().tokens -= tokens;
            moves.totals().steps -= part.steps;
        }
        if (chunk.state == ChunkState::Committed) {
            ++chunk.timesLost;
            ++freed;
            moves.move(chunk, moves.unclaimedState(chunk), cause);
        } else {
            chunk.timesLost = std::max<std::int64_t>(1, chunk.timesLost); // a part of it is lost
            moves.store(chunk);
        }
        file.db.run("UPDATE claim SET cause=? WHERE id=?", cause, part.claim);
    }
    file.db.run(
        "UPDATE part SET alive=0 WHERE claim BETWEEN (SELECT first_claim FROM checkpoint WHERE id=?1) AND (SELECT last_claim FROM checkpoint WHERE id=?1)"
        " AND checkpoint=?1 AND alive=1",
        checkpoint);
    return freed;
}

} // namespace

std::int64_t keepOnlySurviving(LedgerFile& file, ChunkMoves& moves, const Lineage& lineage, const Message& cause)
{
    const std::set<std::int64_t> surviving = lineage.behindHeads();
    std::int64_t freed = 0;
    for (const auto& [id, node] : lineage.nodes) {
        if (!node.surviving || surviving.contains(id))
            continue;
        freed += freeParts(file, moves, id, cause);
        file.db.run("UPDATE checkpoint SET surviving=0 WHERE id=?", id);
    }
    return freed;
}

void commitCovered(ChunkMoves& moves, ChunkRow& chunk, std::int64_t trainer, const Message& cause)
{
    if (chunk.state == ChunkState::Pending)
        moves.move(chunk, ChunkState::Free, cause);
    chunk.holder = trainer;
    moves.move(chunk, ChunkState::Leased, cause);
    moves.move(chunk, ChunkState::Trained, cause);
    chunk.holder.reset();
    moves.move(chunk, ChunkState::Committed, cause);
}

CheckpointId insertCheckpoint(LedgerFile& file, std::int64_t incarnation, const CheckpointRecord& record)
{
    Database& db = file.db;
    if (db.integer("SELECT 1 FROM checkpoint WHERE folder=?", record.folder))
        db.fail(
            { ErrorCode::InvalidArgument, sentence("checkpoint folder %1 is recorded already", { record.folder }) });
    db.run(
        "INSERT INTO checkpoint (kind, replica, incarnation, folder, manifest_sha256, step, tokens, eval_loss, size_bytes, wall)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        record.kind, record.kind == CheckpointKind::Merge ? -1 : record.replica, incarnation, record.folder,
        record.manifestSha256, record.step, record.tokens, record.evalLoss, record.sizeBytes, file.clock->wallNs());
    const CheckpointId id { db.lastId() };
    for (const CheckpointId parent : record.parents)
        db.run("INSERT OR IGNORE INTO parent (checkpoint, parent) VALUES (?, ?)", id, parent);
    return id;
}

void ensureReplica(LedgerFile& file, std::int32_t replica)
{
    if (file.db.integer("SELECT 1 FROM replica WHERE replica=?", replica))
        return;
    file.db.run("INSERT INTO replica (replica, head) VALUES (?, ?)", replica, loadLineage(file.db).newestMerge());
}

void requireDisjoint(LedgerFile& file, const Lineage& lineage, const std::vector<CheckpointId>& checkpoints)
{
    if (checkpoints.size() < 2)
        return;
    std::map<std::int64_t, int> owners; // how many of the checkpoints were made from this one
    for (const CheckpointId id : checkpoints) {
        for (const std::int64_t ancestor : lineage.ancestors(id.value))
            ++owners[ancestor];
    }
    std::vector<std::pair<ChunkId, WindowRange>> trained;
    for (const auto& [ancestor, count] : owners) {
        if (count == static_cast<int>(checkpoints.size()))
            continue; // in the common base, counted once
        if (count > 1) {
            file.db.fail({ ErrorCode::InvalidArgument,
                sentence("checkpoint %1 is in several contributions but not in all: they have no common base",
                    { std::to_string(ancestor) }) });
            return;
        }
        for (const PartRow& part : livingPartsOf(file.db, ancestor))
            trained.emplace_back(part.chunk, part.windows);
    }
    std::sort(trained.begin(), trained.end(), [](const auto& a, const auto& b) {
        return std::pair(a.first.value, a.second.begin) < std::pair(b.first.value, b.second.begin);
    });
    for (std::size_t i = 1; i < trained.size(); ++i) {
        if (trained[i].first == trained[i - 1].first && trained[i].second.begin < trained[i - 1].second.end) {
            file.db.fail({ ErrorCode::InvalidArgument,
                sentence(
                    "%1 was trained by two contributions; the merge is refused", { toString(trained[i].first) }) });
            return;
        }
    }
}

} // namespace furrow
