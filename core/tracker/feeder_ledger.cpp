#include "core/tracker/feeder_ledger.h"

#include "core/tracker/kept_messages.h"
#include "core/base/sentence.h"
#include "core/tracker/block_chunks.h"
#include "core/tracker/feeder_verdict.h"
#include "core/tracker/order_group.h"
#include "core/tracker/row_bounds.h"
#include "core/tracker/row_counts.h"
#include "core/tracker/run_event_texts.h"
#include "core/tracker/window_ranges.h"

#include <algorithm>
#include <set>
#include <map>

namespace furrow {

struct FeederLedger::State {
    LedgerFile file;
};

namespace {

void insertBlock(LedgerFile& file, const NewBlock& block)
{
    std::int64_t rows = 0;
    for (const std::int64_t count : block.chunkRows)
        rows += count;
    file.db.run("INSERT INTO block (block, source, first_row, rows, chunks, plan) VALUES (?, ?, ?, ?, ?, ?)",
        block.block, block.source, block.firstRow, rows, block.chunkRows.size(), block.plan);
}

void insertChunks(LedgerFile& file, std::int64_t epoch, const NewBlock& block, std::int64_t blockCount)
{
    Database& db = file.db;
    ChunkPlace place { epoch, block.block, 0 };
    std::int64_t rows = 0;
    for (const std::int64_t count : block.chunkRows) {
        db.run("INSERT INTO chunk (id, epoch, ord, state, rows) VALUES (?, ?, ?, 0, ?)", chunkIdOf(place), epoch,
            claimOrder(file.order, place, blockCount), count);
        rows += count;
        ++place.column;
    }
    const auto chunks = static_cast<std::int64_t>(block.chunkRows.size());
    db.run("INSERT INTO counts (epoch, block, n0) VALUES (?, ?, ?)", epoch, block.block, chunks);
    db.run("UPDATE epoch SET n0=n0+?, known_rows=known_rows+? WHERE epoch=?", chunks, rows, epoch);
    db.run(
        "INSERT INTO event (wall, chunk, from_state, to_state, incarnation, cause, count) VALUES (?, ?, -1, 0, 0, 'block known', ?)",
        file.clock->wallNs(), chunkIdOf({ epoch, block.block, 0 }), chunks);
}

void excludeChunks(Database& db, ChunkMoves& moves, const NewBlock& block)
{
    for (const ChunkId id :
        block.excluded.empty() ? std::vector<ChunkId> {} : chunksIn(db, block.block, bit(ChunkState::Pending))) {
        if (std::count(block.excluded.begin(), block.excluded.end(), placeOf(id).column) == 0)
            continue;
        ChunkRow chunk = loadChunk(db, id);
        moves.move(chunk, ChunkState::Excluded, sentence("on the quarantine list"));
    }
}

/// Marks the chunks of the first epoch that the start weights have seen. A chunk that a person left out stays that.
void inheritChunks(Database& db, ChunkMoves& moves, const NewBlock& block)
{
    const auto [columns, mark] = inheritedColumns(db, block.block);
    for (const WindowRange& range : columns) {
        for (std::int32_t column = range.begin; column < std::min<std::int64_t>(range.end, std::ssize(block.chunkRows));
            ++column) {
            const ChunkId id = chunkIdOf({ 0, block.block, column });
            if (db.run("UPDATE chunk SET inherited=? WHERE id=? AND state=0", mark, id) == 0
                || mark != Inherited::Skipped)
                continue;
            ChunkRow chunk = loadChunk(db, id);
            moves.move(chunk, ChunkState::Excluded, sentence("trained by the parent run"));
        }
    }
}

Status checkBlock(const NewBlock& block)
{
    const std::string name = "block " + std::to_string(block.block);
    if (block.block < 0 || block.block >= kMaxBlocks)
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 is outside what a run can hold; choose larger blocks", { name }) };
    if (block.chunkRows.empty() || static_cast<std::int64_t>(block.chunkRows.size()) > kMaxChunksPerBlock)
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 has %2 chunks; 1 to 1,000,000 are possible", { name, Count(std::ssize(block.chunkRows)) }) };
    if (std::any_of(block.chunkRows.begin(), block.chunkRows.end(), [](std::int64_t rows) { return rows <= 0; }))
        return Error { ErrorCode::InvalidArgument, sentence("%1 has a chunk without rows", { name }) };
    return {};
}

void storeFound(Database& db, ChunkId chunk, const PreparedChunk& found)
{
    if (!storeContent(db, chunk, found))
        db.fail({ ErrorCode::Corrupt,
            sentence("%1 was prepared with %2 rows, which is not what its block promised",
                { toString(chunk), Count(found.rows.rows) }) });
}

// What preparing showed, for chunks that were never prepared, and the meters of the epoch that go with it.
void storeCounts(Database& db, ChunkId chunk, const PreparedChunk& found)
{
    const RowCounts& rows = found.rows;
    storeFound(db, chunk, found);
    db.run(
        "UPDATE epoch SET known_samples=known_samples+?, known_filtered=known_filtered+?, known_failed=known_failed+?,"
        " known_held_out=known_held_out+?, known_duplicates=known_duplicates+? WHERE epoch=?",
        rows.samples, rows.filtered, rows.failed, rows.heldOut, rows.duplicates, placeOf(chunk).epoch);
}

/// The meters of an epoch of which rows were stored anew: whoever had changed these may have changed the meters or not.
void countKnownAnew(Database& db, std::int64_t epoch)
{
    db.run(
        "UPDATE epoch SET known_samples=s.a, known_filtered=s.b, known_failed=s.c, known_held_out=s.d, known_duplicates=s.e FROM"
        " (SELECT sum(samples) a, sum(filtered) b, sum(failed) c, sum(held_out) d, sum(duplicates) e FROM chunk WHERE epoch=?1) s WHERE epoch.epoch=?1",
        epoch);
}

/// Whether the row of a chunk, which was prepared before, says what preparing its block again shows.
bool isAsPrepared(Database& db, const ChunkRow& chunk, const PreparedChunk& found)
{
    return chunk.rows == found.rows && chunk.windows == found.windows && chunk.tokens == found.tokens
        && db.integer("SELECT digest FROM chunk WHERE id=?", chunk.id) == static_cast<std::int64_t>(found.digest);
}

/// Of a chunk that is in no weights and in nobody's hands. What a block of the same digest holds is beyond doubt: its
/// row was changed from outside, and whoever claims it would train, or pass over, something else. @return whether it
/// was
bool storeAnewWhereChanged(LedgerFile& file, const ChunkRow& chunk, const PreparedChunk& found)
{
    constexpr unsigned kInUse = bit(ChunkState::Leased) | bit(ChunkState::Trained) | bit(ChunkState::Committed);
    if ((bit(chunk.state) & kInUse) != 0 || isAsPrepared(file.db, chunk, found))
        return false;
    storeFound(file.db, chunk.id, found);
    writeRunEvent(file, 0,
        sentence("%1: the tracker had other rows, windows or tokens than its block; they were stored anew from it",
            { toString(chunk.id) }));
    return true;
}

void storeNotes(Database& db, std::int64_t block, std::span<const PreparedChunk> chunks, const Message& firstUnreadable)
{
    std::int64_t repeats = 0;
    std::int64_t invalidUtf8 = 0;
    for (const PreparedChunk& chunk : chunks) {
        repeats += chunk.repeats;
        invalidUtf8 += chunk.invalidUtf8;
    }
    db.run("UPDATE block SET repeats=?, invalid_utf8=?, unreadable=? WHERE block=?", repeats, invalidUtf8,
        firstUnreadable, block);
    keepMessage(db, firstUnreadable);
}

Status checkPrepared(std::int64_t block, std::span<const PreparedChunk> chunks)
{
    for (std::size_t column = 0; column < chunks.size(); ++column) {
        if (!addsUp(chunks[column].rows) || chunks[column].windows < 0 || chunks[column].tokens < 0) // I3
            return Error { ErrorCode::InvalidArgument,
                sentence("block %1, chunk %2: the rows of a prepared chunk do not add up",
                    { std::to_string(block), std::to_string(column) }) };
    }
    return {};
}

} // namespace

FeederLedger::FeederLedger(std::unique_ptr<State> state)
    : state_(std::move(state))
{
}
FeederLedger::FeederLedger(FeederLedger&&) noexcept = default;
FeederLedger::~FeederLedger() = default;

Result<FeederLedger> FeederLedger::open(const std::filesystem::path& tracker, const Clock& clock)
{
    FURROW_TRY_ASSIGN(auto file, openLedger(tracker, clock));
    return FeederLedger(std::make_unique<State>(State { std::move(file) }));
}

void FeederLedger::setPatience(Patience patience) { state_->file.db.setPatience(std::move(patience)); }

Status FeederLedger::addBlocks(std::span<const NewBlock> blocks)
{
    for (const NewBlock& block : blocks) {
        FURROW_TRY(checkBlock(block));
    }
    LedgerFile& file = state_->file;
    Database& db = file.db;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(db, Durability::Normal));
    const auto end = db.integer("SELECT block_count FROM dataset");
    std::int64_t added = 0;
    ChunkMoves moves(file, 0);
    for (const NewBlock& block : blocks) {
        if (db.integer("SELECT 1 FROM block WHERE block=?", block.block))
            continue;
        if (end && block.block >= *end)
            db.fail({ ErrorCode::InvalidArgument,
                sentence("block %1 lies after the proven end of the data set", { std::to_string(block.block) }) });
        insertBlock(file, block);
        for (const std::int64_t epoch : openEpochs(db))
            insertChunks(file, epoch, block, end.value_or(0));
        excludeChunks(db, moves, block);
        inheritChunks(db, moves, block);
        ++added;
    }
    moves.finish();
    db.run("UPDATE dataset SET known_blocks=known_blocks+?", added);
    return transaction.commit();
}

Status FeederLedger::setLastBlockProven(std::int64_t blockCount)
{
    Database& db = state_->file.db;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(db));
    const auto stored = db.integer("SELECT block_count FROM dataset");
    if (stored && *stored != blockCount)
        db.fail({ ErrorCode::Corrupt,
            sentence("the data set ended after %1 blocks before and after %2 now: it has changed",
                { Count(*stored), Count(blockCount) }) });
    if (db.integer("SELECT max(block)+1 FROM block").value_or(0) > blockCount)
        db.fail({ ErrorCode::InvalidArgument, sentence("more blocks are known than the data set is said to have") });
    db.run("UPDATE dataset SET block_count=?, unproven_reason=''", blockCount);
    return transaction.commit();
}

Status FeederLedger::setUnprovenReason(const Message& reason)
{
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(state_->file.db, Durability::Normal));
    state_->file.db.run("UPDATE dataset SET unproven_reason=? WHERE block_count IS NULL", reason);
    keepMessage(state_->file.db, reason);
    return transaction.commit();
}

Status FeederLedger::setPrepared(std::int64_t block, const std::string& fileName, const std::string& digest,
    std::span<const PreparedChunk> chunks, const Message& firstUnreadable)
{
    FURROW_TRY(checkPrepared(block, chunks));
    LedgerFile& file = state_->file;
    Database& db = file.db;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(db, Durability::Normal));
    ChunkMoves moves(file, 0);
    std::string firstDigest;
    {
        Rows row = db.query("SELECT chunks, digest FROM block WHERE block=?", block);
        if (!row.next())
            db.fail({ ErrorCode::NotFound, sentence("block %1 is not known", { std::to_string(block) }) });
        else if (row.integer(0) != static_cast<std::int64_t>(chunks.size()))
            db.fail({ ErrorCode::InvalidArgument,
                sentence("block %1 was prepared with another number of chunks", { std::to_string(block) }) });
        else
            firstDigest = row.text(1);
    }
    if (!db.failed() && !firstDigest.empty() && firstDigest != digest) {
        // Not what was trained before: nothing of it may be claimed, and the feeder hears why.
        const Message problem
            = sentence("block %1 has other content than when it was first prepared", { std::to_string(block) });
        evictBlock(file, moves, block, problem);
        db.run("UPDATE block SET problem=? WHERE block=?", problem, block);
        writeRunEvent(file, 0, problem);
        moves.finish();
        FURROW_TRY(transaction.commit());
        return Error { ErrorCode::Corrupt,
            sentence("%1; its source has changed. Restore the source, or exclude the block", { problem }) };
    }
    db.run("UPDATE dataset SET prepared_blocks=prepared_blocks+1-(SELECT prepared FROM block WHERE block=?)", block);
    db.run("UPDATE block SET prepared=1, file_name=?, digest=?, problem='' WHERE block=?", fileName, digest, block);
    if (firstDigest.empty())
        storeNotes(db, block, chunks, firstUnreadable);
    std::set<std::int64_t> changed; // epochs
    for (const ChunkId id : chunksIn(db, block, 0xff)) {
        const auto& found = chunks[static_cast<std::size_t>(placeOf(id).column)];
        ChunkRow chunk = loadChunk(db, id);
        if (!chunk.windows)
            storeCounts(db, id, found);
        else if (storeAnewWhereChanged(file, chunk, found))
            changed.insert(chunk.place.epoch);
        chunk = loadChunk(db, id);
        if (chunk.state == ChunkState::Pending)
            moves.move(chunk, chunk.windows == 0 ? ChunkState::Committed : ChunkState::Free,
                chunk.windows == 0 ? sentence("nothing to train") : sentence("prepared"));
    }
    for (const std::int64_t epoch : changed)
        countKnownAnew(db, epoch);
    moves.finish();
    return transaction.commit();
}

Status FeederLedger::setEvicted(std::int64_t block, const Message& cause)
{
    LedgerFile& file = state_->file;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(file.db, Durability::Normal));
    ChunkMoves moves(file, 0);
    evictBlock(file, moves, block, cause);
    moves.finish();
    return transaction.commit();
}

namespace {

/// Nothing of a block can be trained from now on: its chunks that wait go where `to` says.
Status giveBlockUp(LedgerFile& file, std::int64_t block, ChunkState to, const Message& cause)
{
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(file.db, Durability::Normal));
    ChunkMoves moves(file, 0);
    for (const ChunkId id : chunksIn(file.db, block, bit(ChunkState::Pending) | bit(ChunkState::Free))) {
        ChunkRow chunk = loadChunk(file.db, id);
        moves.move(chunk, to, cause);
    }
    moves.finish();
    return transaction.commit();
}

} // namespace

Status FeederLedger::setFailed(std::int64_t block, const Message& cause)
{
    return giveBlockUp(state_->file, block, ChunkState::Poisoned, cause);
}

Status FeederLedger::setLeftOut(std::int64_t block, const Message& cause)
{
    return giveBlockUp(state_->file, block, ChunkState::Excluded, cause);
}

namespace {

void storeLeftOut(LedgerFile& file, const Message& what, const Message& takenBackBy = {})
{
    const auto saidLast = [&file](const Message& said) {
        return file.db.integer("SELECT max(seq) FROM event WHERE chunk=0 AND cause=?", said).value_or(0);
    };
    const Message note = kLeftOutEvent + what;
    if (saidLast(note) <= (takenBackBy.empty() ? 0 : saidLast(kLeftOutEvent + takenBackBy)))
        writeRunEvent(file, 0, note);
}

} // namespace

Status FeederLedger::noteLeftOut(const Message& what, const Message& takenBackBy)
{
    LedgerFile& file = state_->file;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(file.db, Durability::Normal));
    storeLeftOut(file, what, takenBackBy);
    return transaction.commit();
}

Status FeederLedger::replan(std::int64_t block, const std::string& plan, const Message& what)
{
    LedgerFile& file = state_->file;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(file.db, Durability::Normal));
    if (file.db.run("UPDATE block SET plan=? WHERE block=? AND prepared=0 AND digest=''", plan, block) == 0)
        file.db.fail({ ErrorCode::InvalidArgument,
            sentence("block %1 was prepared already and stays as it was planned", { std::to_string(block) }) });
    storeLeftOut(file, what);
    return transaction.commit();
}

Status FeederLedger::giveUp(const Message& reason)
{
    LedgerFile& file = state_->file;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(file.db, Durability::Normal));
    storeGaveUp(file, reason);
    return transaction.commit();
}

Status FeederLedger::endPlanning(const Message& reason)
{
    LedgerFile& file = state_->file;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(file.db, Durability::Normal));
    storePlanningEnded(file, reason);
    file.db.run("UPDATE dataset SET unproven_reason=? WHERE block_count IS NULL", reason);
    keepMessage(state_->file.db, reason);
    return transaction.commit();
}

Result<std::vector<FeederLedger::KnownBlock>> FeederLedger::wanted(int limit, Reach reach)
{
    Database& db = state_->file.db;
    std::vector<KnownBlock> wanted;
    {
#define FURROW_PENDING \
    "SELECT c.id, b.plan, b.problem, c.ord FROM chunk c JOIN block b ON b.block=c.id/1000000%100000000 WHERE c.state=0"
        Rows rows = reach == Reach::BehindStart && state_->file.order.start
            ? db.query(FURROW_PENDING " AND c.epoch=0 AND c.ord<? ORDER BY c.ord, c.id", kBeforeStart)
            : db.query(FURROW_PENDING " ORDER BY c.epoch, c.ord, c.id");
#undef FURROW_PENDING
        std::map<std::int64_t, std::string> group; // block -> plan, of those whose chunks are mixed
        std::pair<std::int64_t, std::int64_t> current { -1, -1 }; // epoch and group
        const auto close = [&] {
            for (auto& [block, plan] : group)
                if (std::none_of(wanted.begin(), wanted.end(),
                        [wantedBlock = block](const KnownBlock& known) { return known.block == wantedBlock; }))
                    wanted.push_back({ block, std::move(plan) });
            group.clear();
        };
        while (rows.next()) {
            const ChunkPlace place = placeOf(chunkIdAt(db, rows, 0));
            if (const std::pair its { place.epoch, groupOf(state_->file.order, rows.integer(3)) }; its != current) {
                close();
                if (std::ssize(wanted) >= limit)
                    break;
                current = its;
            }
            if (rows.text(2).empty())
                group.try_emplace(place.block, rows.text(1));
        }
        close();
    }
    FURROW_TRY(db.takeStatus());
    wanted.resize(std::min(wanted.size(), static_cast<std::size_t>(std::max(limit, 0))));
    return wanted;
}

Result<FeederLedger::Demand> FeederLedger::demand(std::int64_t mostBlocks)
{
    Database& db = state_->file.db;
    FURROW_TRY_ASSIGN(auto view, Transaction::read(db));
    Demand demand;
    {
        // The joins in this order: a scan of all counts for each block would grow with the square of the data.
        Rows rows = db.query(
            "SELECT DISTINCT c.block FROM epoch e CROSS JOIN counts c INDEXED BY counts_wanted ON c.epoch=e.epoch"
            " CROSS JOIN block b ON b.block=c.block WHERE e.closed_wall IS NULL AND c.wanted=1 AND b.prepared=1 LIMIT ?",
            mostBlocks);
        while (rows.next())
            demand.neededBlocks.push_back(rows.integer(0));
    }
    std::sort(demand.neededBlocks.begin(), demand.neededBlocks.end());
    demand.freeChunks = db.integer("SELECT sum(n1) FROM epoch WHERE closed_wall IS NULL").value_or(0);
    demand.knownBlocks = db.integer("SELECT known_blocks FROM dataset").value_or(0);
    demand.lastBlockProven = db.integer("SELECT block_count FROM dataset").has_value();
    FURROW_TRY(view.commit());
    return demand;
}

Status FeederLedger::heartbeat(const ProcessIdentity& self, const Message& doing)
{
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(state_->file.db, Durability::Normal));
    writeHeartbeat(state_->file, "feeder", self, doing);
    return transaction.commit();
}

Result<DesiredState> FeederLedger::desired()
{
    Database& db = state_->file.db;
    const std::int64_t desired = db.integer("SELECT desired FROM control").value_or(0);
    FURROW_TRY(db.takeStatus());
    return static_cast<DesiredState>(desired);
}

} // namespace furrow
