#include "core/tracker/epochs.h"

#include "core/base/message.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/tracker/participations.h"
#include "core/tracker/row_bounds.h"
#include "core/tracker/run_event_texts.h"
#include "core/tracker/sqlite/select.h"

#include <vector>

namespace furrow {

namespace {

constexpr std::int64_t kChunksPerOpening = 4000; // about 20 ms under the write lock

bool isReached(StopReason reason, const RunState& run, std::int64_t closedEpochs)
{
    switch (reason) {
    case StopReason::Steps: return run.rules.steps > 0 && run.steps >= run.rules.steps;
    case StopReason::Tokens: return run.rules.tokens > 0 && run.tokens >= run.rules.tokens;
    case StopReason::Hours: return run.rules.hours > 0 && run.activeHours >= run.rules.hours;
    case StopReason::BlockEnd: return run.rules.blocks > 0 && run.completedBlocks >= run.rules.blocks;
    case StopReason::Privacy: return run.mostParticipations > 0 && closedEpochs >= run.mostParticipations;
    case StopReason::EpochEnd: return run.rules.epochs == 1 && closedEpochs >= 1;
    case StopReason::Epochs: return run.rules.epochs > 1 && closedEpochs >= run.rules.epochs;
    default: return false;
    }
}

// Nothing of the whole data set is trainable: going round again would only spin. A resume looks once more: what is left
// out with its file may be there again.
bool hasNothingToTrain(Database& db)
{
    return db.integer("SELECT count(*) FROM epoch WHERE done_samples=0"
                      " AND closed_wall>=(SELECT coalesce(max(started_wall), 0) FROM attempt)")
               .value_or(0)
        > 0;
}

std::int64_t orderFunction(void* context, const std::int64_t* arguments)
{
    const auto& rule = *static_cast<const OrderRule*>(context);
    const ChunkPlace place = placeOf({ arguments[1] });
    return claimOrder(rule, { arguments[0], place.block, place.column }, arguments[2]);
}

} // namespace

namespace {

#define FURROW_RUN_COLUMNS                                                                                             \
    "SELECT c.stop, c.rule_steps, c.rule_tokens, c.rule_hours, c.rule_epochs, c.rule_blocks, b.steps, b.tokens,"       \
    " b.claimed_tokens, b.reserved_steps, b.completed_blocks, b.active_ns,"                                            \
    " coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key='most_participations'), -1) AS most_participations," \
    " coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key='participations'), 0) AS participations,"            \
    " EXISTS (SELECT 1 FROM meta WHERE key='made_anew') AS is_made_anew"
constexpr Select kRun { FURROW_RUN_COLUMNS " FROM control c, budget b WHERE c.one=1 AND b.one=1" };
constexpr Select kRunOfLive { FURROW_RUN_COLUMNS
    ", i.reserved_steps AS own_reserved FROM incarnation i, control c, budget b"
    " WHERE i.id=? AND i.live=1 AND c.one=1 AND b.one=1" };
#undef FURROW_RUN_COLUMNS

/// Of either: kRunOfLive begins with the columns of kRun.
RunState runStateAt(const Rows& row)
{
    RunState run;
    run.stop = static_cast<StopReason>(row.integer(kRun["stop"]));
    run.rules.steps = row.integer(kRun["rule_steps"]);
    run.rules.tokens = row.integer(kRun["rule_tokens"]);
    run.rules.hours = row.real(kRun["rule_hours"]);
    run.rules.epochs = row.integer(kRun["rule_epochs"]);
    run.rules.blocks = row.integer(kRun["rule_blocks"]);
    run.steps = row.integer(kRun["steps"]);
    run.tokens = row.integer(kRun["tokens"]);
    run.claimedTokens = row.integer(kRun["claimed_tokens"]);
    run.reservedSteps = row.integer(kRun["reserved_steps"]);
    run.completedBlocks = row.integer(kRun["completed_blocks"]);
    run.activeHours = static_cast<double>(row.integer(kRun["active_ns"])) / 3.6e12;
    run.mostParticipations = row.integer(kRun["most_participations"]);
    run.participations = row.integer(kRun["participations"]);
    run.isMadeAnew = row.integer(kRun["is_made_anew"]) != 0;
    return run;
}

} // namespace

RunState loadRunState(Database& db)
{
    Rows row = db.query(kRun.sql);
    if (row.next())
        return runStateAt(row);
    db.fail({ ErrorCode::Corrupt,
        sentence("the tracker lacks its control row; run `furrowctl doctor %1 --repair`",
            { utf8Text(db.path().parent_path()) }) });
    return {};
}

RunState requireLive(LedgerFile& file, std::int64_t incarnation)
{
    Rows row = file.db.query(kRunOfLive.sql, incarnation);
    if (row.next()) {
        RunState run = runStateAt(row);
        run.ownReservedSteps = row.integer(kRunOfLive["own_reserved"]);
        return run;
    }
    file.db.fail(
        { ErrorCode::Cancelled, sentence("this worker lost the lease: its uncommitted work was given to others") });
    return {};
}

// Nothing waits in a block, and something of it was trained here or is in training. What is left out whole, what the
// parent run trained and what has nothing to train is nobody's work.
#define FURROW_BLOCKS(waiting, ofWork)                                                         \
    "SELECT count(*) FROM counts b WHERE " waiting                                             \
    "=0 AND EXISTS (SELECT 1 FROM chunk WHERE id>=(b.epoch+1)*100000000000000+b.block*1000000" \
    " AND id<(b.epoch+1)*100000000000000+(b.block+1)*1000000 AND windows>0 AND (covered>0 OR state IN (" ofWork ")))"

std::int64_t trainedBlocks(Database& db) { return db.integer(FURROW_BLOCKS("b.n0+b.n1+b.n2+b.n6", "3,4")).value_or(0); }

std::int64_t claimedBlocks(Database& db) { return db.integer(FURROW_BLOCKS("b.n0+b.n1+b.n6", "2,3,4")).value_or(0); }

#undef FURROW_BLOCKS

StopReason updateStop(LedgerFile& file)
{
    Database& db = file.db;
    RunState run = loadRunState(db);
    if (run.rules.blocks > 0)
        run.completedBlocks = trainedBlocks(db);
    const std::int64_t closed = db.integer("SELECT count(*) FROM epoch WHERE closed_wall IS NOT NULL").value_or(0);
    if (run.stop != StopReason::None
        && (isReached(run.stop, run, closed) || (run.stop == StopReason::Privacy && isSpent(db, run))))
        return run.stop;
    StopReason now = StopReason::None;
    for (const StopReason reason : { StopReason::Privacy, StopReason::Steps, StopReason::Tokens, StopReason::BlockEnd,
             StopReason::EpochEnd, StopReason::Epochs, StopReason::Hours }) {
        if (now == StopReason::None && isReached(reason, run, closed))
            now = reason;
    }
    if (now == StopReason::None && closed > 0 && hasNothingToTrain(db))
        now = run.rules.epochs == 1 ? StopReason::EpochEnd : StopReason::Epochs;
    if (now == run.stop)
        return now;
    db.run("UPDATE control SET stop=?", now);
    writeRunEvent(file, 0,
        now == StopReason::None ? sentence("no stopping rule is reached any more")
                                : sentence("stopping rule reached: %1", { inWords(now) }));
    return now;
}

void updateStopCheaply(LedgerFile& file, const RunState& before, const TotalsChange& change)
{
    const bool steps = before.rules.steps > 0 && before.steps + change.steps >= before.rules.steps;
    const bool tokens = before.rules.tokens > 0 && before.tokens + change.tokens >= before.rules.tokens;
    if (before.stop == StopReason::None && (steps || tokens || before.rules.blocks > 0))
        updateStop(file);
}

EpochNeeds loadNeeds(Database& db)
{
    EpochNeeds needs;
    std::int64_t known = 0;
    std::optional<std::int64_t> blocks;
    {
        Rows row = db.query("SELECT known_blocks, block_count FROM dataset");
        if (row.next()) {
            known = row.integer(0);
            blocks = row.optionalInteger(1);
        }
    }
    needs.unproven = !blocks || known < *blocks;
    Rows rows = db.query("SELECT sum(n0*wanted), sum(n1*wanted), sum(n2), sum(n3*wanted), sum(n6*wanted), sum(wanted)"
                         " FROM (SELECT *, rule_epochs=0 OR epoch<rule_epochs AS wanted FROM epoch, control"
                         " WHERE closed_wall IS NULL)");
    if (rows.next()) {
        needs.pending = rows.integer(0);
        needs.free = rows.integer(1);
        needs.leased = rows.integer(2);
        needs.trained = rows.integer(3);
        needs.poisoned = rows.integer(4);
        needs.openEpochs = rows.integer(5);
    }
    Rows newest = db.query("SELECT epoch, fully_opened FROM epoch ORDER BY epoch DESC LIMIT 1");
    if (newest.next()) {
        needs.newest = boundedAt(db, newest, 0, kEpochBounds);
        needs.fullyOpened = newest.integer(1) != 0;
    }
    return needs;
}

bool isNextEpochWanted(const RunState& run, const EpochNeeds& needs)
{
    const std::int64_t next = needs.newest + 1;
    return (run.rules.epochs == 0 || next < run.rules.epochs) && next < kMaxEpochs
        && (run.mostParticipations <= 0 || next < run.mostParticipations);
}

namespace {

/// Returns true when one was complete.
bool closeCompleteEpochs(LedgerFile& file)
{
    std::vector<std::int64_t> complete;
    {
        Rows rows = file.db.query(
            "SELECT epoch FROM epoch WHERE closed_wall IS NULL AND fully_opened=1 AND n0+n1+n2+n3+n6=0"
            " AND (SELECT block_count IS NOT NULL AND known_blocks=block_count FROM dataset) ORDER BY epoch");
        while (rows.next())
            complete.push_back(rows.integer(0));
    }
    for (const std::int64_t epoch : complete) {
        file.db.run("UPDATE epoch SET closed_wall=? WHERE epoch=?", file.clock->wallNs(), epoch);
        writeRunEvent(file, 0, sentence(kEpochComplete, { std::to_string(epoch + 1) }));
    }
    return !complete.empty();
}

} // namespace

EpochTurn turnEpochs(LedgerFile& file)
{
    EpochTurn turn;
    turn.closed = closeCompleteEpochs(file);
    turn.stop = updateStop(file);
    turn.needs = loadNeeds(file.db);
    EpochNeeds& needs = turn.needs;
    const bool everythingClaimed = !needs.unproven && needs.fullyOpened && needs.pending == 0 && needs.free == 0;
    if (turn.stop == StopReason::None && everythingClaimed && isNextEpochWanted(loadRunState(file.db), needs)) {
        openEpoch(file, ++needs.newest);
        needs.fullyOpened = false;
        turn.opened = true;
    }
    return turn;
}

void openEpoch(LedgerFile& file, std::int64_t epoch)
{
    file.db.run("INSERT INTO epoch (epoch, opened_wall, fully_opened) VALUES (?, ?, ?)", epoch, file.clock->wallNs(),
        epoch == 0);
    writeRunEvent(file, 0, sentence(kEpochOpened, { std::to_string(epoch + 1) }));
}

void registerClaimOrder(LedgerFile& file) { file.db.addFunction("claim_order", 3, orderFunction, &file.order); }

namespace {

/// What the epoch before left out with its file (ids of its chunks from `first` to before `last`) is to be trained in
/// the new one, unless the feeder leaves it out again.
void takeUpLeftOutFiles(Database& db, std::int64_t first, std::int64_t last)
{
    std::vector<std::pair<std::int64_t, std::int64_t>> stretches;
    {
        Rows rows
            = db.query("SELECT chunk, count FROM event WHERE to_state=5 AND chunk>=? AND chunk<? AND cause LIKE ?",
                first, last, filled(kLeftOutWithItsFile.text(), { "%" }));
        while (rows.next())
            stretches.emplace_back(rows.integer(0), rows.integer(1));
    }
    for (const auto& [chunk, count] : stretches)
        db.run(
            "UPDATE chunk SET state=CASE WHEN windows=0 THEN 4 WHEN (SELECT prepared FROM block WHERE block=id/1000000%100000000)=1 THEN 1 ELSE 0 END"
            " WHERE id>=? AND id<? AND state=5",
            chunk + kEpochIds, chunk + count + kEpochIds);
}

} // namespace

bool addNextChunks(LedgerFile& file, std::int64_t epoch)
{
    Database& db = file.db;
    const std::int64_t from
        = bounded(db, db.integer("SELECT max(block)+1 FROM counts WHERE epoch=?", epoch).value_or(0), kBlockBounds);
    const std::int64_t blocks = db.integer("SELECT block_count FROM dataset").value_or(0);
    // Whole blocks, until there are enough chunks.
    std::int64_t past = from;
    std::int64_t chunks = 0;
    {
        Rows rows = db.query("SELECT block, chunks FROM block WHERE block>=? ORDER BY block", from);
        while (chunks < kChunksPerOpening && rows.next()) {
            past = boundedAt(db, rows, 0, kBlockBounds) + 1;
            chunks += rows.integer(1);
        }
    }
    // The first epoch has the chunks of its blocks from the beginning: to open it is asked by a changed tracker alone.
    const std::int64_t before = bounded(db, epoch - 1, kEpochBounds);
    const std::int64_t first = chunkIdOf({ before, from, 0 }).value;
    const std::int64_t last = first + (past - from) * kMaxChunksPerBlock;
    // What a person left out stays out; everything else, what the parent run trained (inherited=2) too, is to be
    // trained. Empty chunks are done at once.
    db.run(
        "INSERT INTO chunk (id, epoch, ord, state, rows, samples, filtered, failed, held_out, duplicates, windows, tokens, digest)"
        " SELECT c.id+?, ?, claim_order(?, c.id, ?), CASE WHEN c.state=5 AND c.inherited<>2 THEN 5 WHEN c.windows=0 THEN 4 WHEN b.prepared=1 THEN 1 ELSE 0 END,"
        " c.rows, c.samples, c.filtered, c.failed, c.held_out, c.duplicates, c.windows, c.tokens, c.digest"
        " FROM chunk c JOIN block b ON b.block=c.id/1000000%100000000 WHERE c.id>=? AND c.id<?",
        kEpochIds, epoch, epoch, blocks, first, last);
    if (db.integer("SELECT n5 FROM epoch WHERE epoch=?", before).value_or(0) > 0)
        takeUpLeftOutFiles(db, first, last);
    db.run(
        "INSERT INTO counts (epoch, block, n0, n1, n4, n5, visited, wanted) SELECT ?, id/1000000%100000000, sum(state=0), sum(state=1),"
        " sum(state=4), sum(state=5), max(state=4), max(state=1) FROM chunk WHERE id>=? AND id<? GROUP BY 2",
        epoch, first + kEpochIds, last + kEpochIds);
    db.run(
        "INSERT INTO event (wall, chunk, from_state, to_state, incarnation, cause, count)"
        " SELECT ?, min(id), -1, 0, 0, 'epoch opened', count(*) FROM chunk WHERE id>=? AND id<? GROUP BY id/1000000 ORDER BY 2",
        file.clock->wallNs(), first + kEpochIds, last + kEpochIds);
    db.run(
        "UPDATE epoch SET n0=n0+s.pending, n1=n1+s.free, n4=n4+s.committed, n5=n5+s.excluded, visited_blocks=visited_blocks+s.visited,"
        " completed_blocks=completed_blocks+s.complete FROM (SELECT total(n0) AS pending, total(n1) AS free, total(n4) AS committed,"
        " total(n5) AS excluded, total(visited) AS visited, total(n0+n1=0) AS complete FROM counts"
        " WHERE epoch=? AND block>=? AND block<?) AS s WHERE epoch=?",
        epoch, from, past, epoch);
    db.run(
        "UPDATE budget SET completed_blocks=completed_blocks+(SELECT count(*) FROM counts WHERE epoch=? AND block>=? AND block<? AND n0+n1=0)",
        epoch, from, past);
    db.run(
        "UPDATE epoch SET known_rows=known_rows+s.a, known_samples=known_samples+s.b, known_filtered=known_filtered+s.c,"
        " known_failed=known_failed+s.d, known_held_out=known_held_out+s.e, known_duplicates=known_duplicates+s.f,"
        " done_rows=done_rows+s.g, done_filtered=done_filtered+s.h, done_failed=done_failed+s.i, done_held_out=done_held_out+s.j,"
        " done_duplicates=done_duplicates+s.k, done_samples=done_samples+s.l FROM (SELECT total(rows) a, total(samples) b, total(filtered) c,"
        " total(failed) d, total(held_out) e, total(duplicates) f, total(rows*(state=4)) g, total(filtered*(state=4)) h,"
        " total(failed*(state=4)) i, total(held_out*(state=4)) j, total(duplicates*(state=4)) k, total(samples*(state=4)) l"
        " FROM chunk WHERE id>=? AND id<?) s WHERE epoch=?",
        first + kEpochIds, last + kEpochIds, epoch);
    const bool done = db.integer("SELECT count(*) FROM block WHERE block>=?", past).value_or(0) == 0;
    if (done)
        db.run("UPDATE epoch SET fully_opened=1 WHERE epoch=?", epoch);
    return done;
}

Status openAllChunks(LedgerFile& file, std::int64_t epoch)
{
    for (bool done = false; !done;) {
        FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(file.db, Durability::Normal));
        done = addNextChunks(file, epoch);
        if (Status status = transaction.commit(); !status.ok())
            return status.error().in(sentence("opening epoch %1", { std::to_string(epoch + 1) }));
    }
    return {};
}

} // namespace furrow
