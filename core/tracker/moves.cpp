#include "core/tracker/moves.h"

#include "core/tracker/kept_messages.h"
#include "core/base/check.h"
#include "core/base/sentence.h"
#include "core/tracker/row_bounds.h"
#include "core/tracker/row_counts.h"
#include "core/tracker/run_event_texts.h"
#include "core/tracker/sqlite/select.h"

#include <algorithm>
#include <exception>

namespace furrow {

bool isLegalMove(ChunkState from, ChunkState to)
{
    using enum ChunkState;
    switch (from) {
    case Pending: // prepared; prepared and empty; left out; cannot be prepared
        return to == Free || to == Committed || to == Excluded || to == Poisoned;
    case Free: // its file is gone; claimed; left out; found unreadable
        return to == Pending || to == Leased || to == Excluded || to == Poisoned;
    case Leased: // given back, lost or partly committed; trained; failed too often
        return to == Pending || to == Free || to == Trained || to == Poisoned;
    case Trained: // checkpoint; its replica died first
        return to == Pending || to == Free || to == Committed;
    case Committed: // the checkpoint is damaged or left out of the lineage
        return to == Pending || to == Free;
    case Poisoned: // another try; left out; accepted as not trained
        return to == Pending || to == Free || to == Excluded || to == Accepted;
    case Excluded:
    case Accepted: // weights prove that it was trained: the tracker is made anew
        return to == Pending;
    }
    return false;
}

WindowRanges ChunkRow::whole() const
{
    return windows.value_or(0) > 0 ? WindowRanges { { 0, static_cast<std::int32_t>(*windows) } } : WindowRanges {};
}

namespace {

#define FURROW_CHUNK                                                                                                \
    "SELECT k.id, k.state, k.rows, k.samples, k.filtered, k.failed, k.held_out, k.duplicates, k.windows, k.tokens," \
    " k.covered, k.holder, k.claim, k.failures, k.times_trained, k.times_lost, k.worker, k.attempt, k.mean_loss,"   \
    " k.trained_wall"
#define FURROW_CLAIMED FURROW_CHUNK ", c.outcome, c.started_wall, c.ranges, c.done, c.skipped AS left_out, c.steps"
constexpr Select kChunk { FURROW_CHUNK " FROM chunk k WHERE k.id=?" };
constexpr Select kFirstFree { FURROW_CHUNK " FROM chunk k WHERE k.state=1 ORDER BY k.epoch, k.ord, k.id LIMIT 1" };
constexpr Select kClaimed { FURROW_CLAIMED " FROM chunk k JOIN claim c ON c.id=k.claim WHERE k.id=?" };

/// Of each of them: the columns of kChunk are the first ones.
ChunkRow chunkAt(Database& db, const Rows& row)
{
    const auto amount = [&](int column) { return boundedAt(db, row, column, kAmountBounds); };
    ChunkRow chunk;
    chunk.id = chunkIdAt(db, row, kChunk["id"]);
    chunk.place = placeOf(chunk.id);
    chunk.state = static_cast<ChunkState>(boundedAt(db, row, kChunk["state"], kStateBounds));
    chunk.rows = { amount(kChunk["rows"]), amount(kChunk["samples"]), amount(kChunk["filtered"]),
        amount(kChunk["failed"]), amount(kChunk["held_out"]), amount(kChunk["duplicates"]) };
    if (!row.isNull(kChunk["windows"]))
        chunk.windows = boundedAt(db, row, kChunk["windows"], kWindowBounds);
    chunk.tokens = amount(kChunk["tokens"]);
    chunk.covered = boundedAt(db, row, kChunk["covered"], kWindowBounds);
    chunk.holder = row.optionalInteger(kChunk["holder"]);
    chunk.claim = row.optionalInteger(kChunk["claim"]);
    chunk.failures = row.integer(kChunk["failures"]);
    chunk.timesTrained = row.integer(kChunk["times_trained"]);
    chunk.timesLost = row.integer(kChunk["times_lost"]);
    chunk.worker = row.integer(kChunk["worker"]);
    chunk.attempt = row.integer(kChunk["attempt"]);
    if (!row.isNull(kChunk["mean_loss"]))
        chunk.meanLoss = row.real(kChunk["mean_loss"]);
    chunk.trainedWall = row.integer(kChunk["trained_wall"]);
    return chunk;
}

} // namespace

ChunkRow loadChunk(Database& db, ChunkId id)
{
    Rows row = db.query(kChunk.sql, id);
    if (row.next())
        return chunkAt(db, row);
    db.fail({ ErrorCode::NotFound, sentence("there is no %1", { toString(id) }) });
    ChunkRow none;
    none.id = id;
    none.place = placeOf(id);
    return none;
}

std::optional<ChunkRow> loadFirstFree(Database& db)
{
    Rows row = db.query(kFirstFree.sql);
    return row.next() ? std::optional(chunkAt(db, row)) : std::nullopt;
}

namespace {

// No index knows the holders, since every claim and every commit would change it: claims in their order do, from the
// first that can still hold a chunk.
#define FURROW_HELD_BY                                                                                             \
    "FROM claim c CROSS JOIN chunk k ON k.id=c.chunk WHERE c.id>=(SELECT first_held FROM incarnation WHERE id=?1)" \
    " AND c.incarnation=?1 AND k.claim=c.id AND k.holder=?1"

ClaimedChunk claimedChunkAt(Database& db, const Rows& row)
{
    ClaimedChunk found { chunkAt(db, row), {} };
    found.claim = { found.chunk.claim.value_or(0), static_cast<ClaimOutcome>(row.integer(kClaimed["outcome"])),
        row.integer(kClaimed["started_wall"]) != 0, decodeRanges(row.text(kClaimed["ranges"])),
        decodeRanges(row.text(kClaimed["done"])), decodeRanges(row.text(kClaimed["left_out"])),
        row.integer(kClaimed["steps"]) };
    return found;
}

} // namespace

ClaimedChunk loadClaimedChunk(Database& db, ChunkId id)
{
    Rows row = db.query(kClaimed.sql, id);
    if (row.next())
        return claimedChunkAt(db, row);
    db.fail({ ErrorCode::NotFound, sentence("%1 was never claimed", { toString(id) }) });
    return {};
}

std::vector<ClaimedChunk> loadHeldChunks(Database& db, std::int64_t incarnation)
{
    std::vector<ClaimedChunk> found;
    {
        Rows rows = db.query(FURROW_CLAIMED " " FURROW_HELD_BY, incarnation);
        while (rows.next())
            found.push_back(claimedChunkAt(db, rows));
    }
    std::sort(found.begin(), found.end(),
        [](const ClaimedChunk& a, const ClaimedChunk& b) { return a.chunk.id.value < b.chunk.id.value; });
    return found;
}

std::int64_t countHeldChunks(Database& db, std::int64_t incarnation, ChunkState state)
{
    return db.integer("SELECT count(*) " FURROW_HELD_BY " AND k.state=?2", incarnation, state).value_or(0);
}

#undef FURROW_HELD_BY
#undef FURROW_CLAIMED
#undef FURROW_CHUNK

WindowRanges coveredRanges(Database& db, const ChunkRow& chunk)
{
    if (chunk.covered == 0)
        return {};
    WindowRanges ranges;
    Rows rows = db.query(
        "SELECT p.first, p.past FROM claim c JOIN part p ON p.claim=c.id WHERE c.chunk=? AND p.alive=1", chunk.id);
    while (rows.next())
        ranges.push_back({ rows.int32(0), rows.int32(1) });
    auto covered = normalized(std::move(ranges));
    if (!covered || countWindows(*covered) != chunk.covered) {
        db.fail({ ErrorCode::Corrupt,
            sentence("%1: its parts overlap or do not add up; run `furrowctl audit`", { toString(chunk.id) }) });
        return {};
    }
    return *covered;
}

// --- ChunkMoves

ChunkMoves::ChunkMoves(LedgerFile& file, std::int64_t incarnation)
    : file_(file)
    , incarnation_(incarnation)
    , wallNs_(file.clock->wallNs())
{
}

ChunkMoves::~ChunkMoves()
{
    FURROW_CHECK(finished_ || file_.db.failed() || (blocks_.empty() && epochs_.empty()),
        "chunks were moved and their counters never written");
}

std::int64_t ChunkMoves::move(ChunkRow& chunk, ChunkState to, const Message& cause, Fields fields)
{
    if (file_.db.failed())
        return 0;
    if (!isLegalMove(chunk.state, to)) {
        file_.db.fail({ ErrorCode::InvalidArgument,
            sentence("%1 is %2 and cannot become %3", { toString(chunk.id), termOf(chunk.state), termOf(to) }) });
        return 0;
    }
    writeRow(chunk, to, fields);
    writeEvent(chunk, to, cause);
    BlockChange& block = blockChange(chunk.place);
    --block.byState[static_cast<int>(chunk.state)];
    ++block.byState[static_cast<int>(to)];
    const int sign = (to == ChunkState::Committed ? 1 : 0) - (chunk.state == ChunkState::Committed ? 1 : 0);
    if (sign != 0) {
        add(epochChange(chunk.place.epoch).rowsDone, chunk.rows, sign);
        block.visited = block.visited || sign > 0;
    }
    chunk.state = to;
    return run_.seq;
}

void ChunkMoves::writeEvent(const ChunkRow& chunk, ChunkState to, const Message& cause)
{
    if (run_.count > 0 && chunk.id.value == run_.first + run_.count && chunk.state == run_.from && to == run_.to
        && cause == run_.cause) {
        ++run_.count;
        return;
    }
    endEventRun();
    file_.db.run("INSERT INTO event (wall, chunk, from_state, to_state, incarnation, cause) VALUES (?, ?, ?, ?, ?, ?)",
        wallNs_, chunk.id, chunk.state, to, incarnation_, cause);
    const std::int64_t seq = file_.db.lastId();
    keepMessage(file_.db, cause);
    run_ = { seq, chunk.id.value, 1, chunk.state, to, cause };
}

void ChunkMoves::endEventRun()
{
    if (run_.count > 1)
        file_.db.run("UPDATE event SET count=? WHERE seq=?", run_.count, run_.seq);
    run_.count = 0;
}

void ChunkMoves::store(const ChunkRow& chunk) { writeRow(chunk, chunk.state, Fields::All); }

void ChunkMoves::writeRow(const ChunkRow& chunk, ChunkState to, Fields fields)
{
    const std::int64_t changed = fields == Fields::Coverage
        ? file_.db.run("UPDATE chunk SET state=?, covered=?, holder=? WHERE id=? AND state=?", to, chunk.covered,
              chunk.holder, chunk.id, chunk.state)
        : file_.db.run(
              "UPDATE chunk SET state=?, covered=?, holder=?, claim=?, failures=?, times_trained=?, times_lost=?, worker=?,"
              " attempt=?, mean_loss=?, trained_wall=? WHERE id=? AND state=?",
              to, chunk.covered, chunk.holder, chunk.claim, chunk.failures, chunk.timesTrained, chunk.timesLost,
              chunk.worker, chunk.attempt, chunk.meanLoss, chunk.trainedWall, chunk.id, chunk.state);
    if (changed != 1)
        file_.db.fail(
            { ErrorCode::Internal, sentence("%1 is not %2 any more", { toString(chunk.id), termOf(chunk.state) }) });
}

ChunkState ChunkMoves::unclaimedState(const ChunkRow& chunk)
{
    const bool readable
        = file_.db.integer("SELECT prepared FROM block WHERE block=?", chunk.place.block).value_or(0) == 1;
    return readable ? ChunkState::Free : ChunkState::Pending;
}

void ChunkMoves::visit(const ChunkPlace& place) { blockChange(place).visited = true; }

ChunkMoves::BlockChange& ChunkMoves::blockChange(const ChunkPlace& place)
{
    const auto [at, isNew] = blockIndex_.try_emplace(chunkIdOf({ place.epoch, place.block, 0 }).value, blocks_.size());
    if (!isNew)
        return blocks_[at->second];
    blocks_.push_back({ place.epoch, place.block });
    return blocks_.back();
}

ChunkMoves::EpochChange& ChunkMoves::epochChange(std::int64_t epoch)
{
    const auto found = std::find_if(
        epochs_.begin(), epochs_.end(), [&](const EpochChange& change) { return change.epoch == epoch; });
    if (found != epochs_.end())
        return *found;
    epochs_.push_back({ epoch });
    return epochs_.back();
}

void ChunkMoves::writeBlock(const BlockChange& change)
{
    std::int64_t before[kChunkStateCount] = {};
    std::int64_t after[kChunkStateCount] = {};
    bool wasVisited = false;
    {
        Rows row
            = file_.db.query("SELECT n0, n1, n2, n3, n4, n5, n6, n7, visited FROM counts WHERE epoch=? AND block=?",
                change.epoch, change.block);
        if (!row.next()) {
            file_.db.fail({ ErrorCode::Corrupt,
                sentence(
                    "the counters of block %1 are missing; run `furrowctl audit`", { std::to_string(change.block) }) });
            return;
        }
        for (int state = 0; state < kChunkStateCount; ++state) {
            before[state] = row.integer(state);
            after[state] = before[state] + change.byState[state];
        }
        wasVisited = row.integer(8) != 0;
    }
    file_.db.run(
        "UPDATE counts SET n0=?, n1=?, n2=?, n3=?, n4=?, n5=?, n6=?, n7=?, visited=? WHERE epoch=? AND block=?",
        after[0], after[1], after[2], after[3], after[4], after[5], after[6], after[7], wasVisited || change.visited,
        change.epoch, change.block);
    const bool isWanted = after[1] + after[2] > 0;
    if (isWanted != (before[1] + before[2] > 0)) // apart from the rest, which would change its index each time
        file_.db.run("UPDATE counts SET wanted=? WHERE epoch=? AND block=?", isWanted, change.epoch, change.block);
    const auto complete
        = [](const std::int64_t (&n)[kChunkStateCount]) { return n[0] + n[1] + n[2] + n[3] + n[6] == 0; };
    EpochChange& epoch = epochChange(change.epoch);
    for (int state = 0; state < kChunkStateCount; ++state)
        epoch.byState[state] += change.byState[state];
    epoch.visitedBlocks += change.visited && !wasVisited ? 1 : 0;
    epoch.completedBlocks += (complete(after) ? 1 : 0) - (complete(before) ? 1 : 0);
}

void ChunkMoves::writeEpoch(const EpochChange& change)
{
    const auto& n = change.byState;
    const RowCounts& rows = change.rowsDone;
    file_.db.run("UPDATE epoch SET n0=n0+?, n1=n1+?, n2=n2+?, n3=n3+?, n4=n4+?, n5=n5+?, n6=n6+?, n7=n7+?,"
                 " visited_blocks=visited_blocks+?, completed_blocks=completed_blocks+?, done_rows=done_rows+?,"
                 " done_samples=done_samples+?, done_filtered=done_filtered+?, done_failed=done_failed+?,"
                 " done_held_out=done_held_out+?, done_duplicates=done_duplicates+? WHERE epoch=?",
        n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], change.visitedBlocks, change.completedBlocks, rows.rows,
        rows.samples, rows.filtered, rows.failed, rows.heldOut, rows.duplicates, change.epoch);
    if (change.completedBlocks != 0)
        file_.db.run("UPDATE budget SET completed_blocks=completed_blocks+?", change.completedBlocks);
    const bool workCameBack = n[0] + n[1] + n[2] + n[3] + n[6] > 0;
    const std::int64_t reopened = !workCameBack
        ? 0
        : file_.db.run("UPDATE epoch SET closed_wall=NULL WHERE epoch=? AND closed_wall IS NOT NULL", change.epoch);
    if (reopened == 1)
        writeRunEvent(file_, incarnation_, sentence(kEpochOpenedAgain, { std::to_string(change.epoch + 1) }));
}

void ChunkMoves::finish()
{
    endEventRun();
    for (const BlockChange& change : blocks_)
        writeBlock(change);
    for (const EpochChange& change : epochs_)
        writeEpoch(change);
    if (totals_.steps != 0 || totals_.tokens != 0 || totals_.claimedTokens != 0 || totals_.reservedSteps != 0)
        file_.db.run(
            "UPDATE budget SET steps=steps+?, tokens=tokens+?, claimed_tokens=claimed_tokens+?, reserved_steps=reserved_steps+?",
            totals_.steps, totals_.tokens, totals_.claimedTokens, totals_.reservedSteps);
    finished_ = true;
}

} // namespace furrow
