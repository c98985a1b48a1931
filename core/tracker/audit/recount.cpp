#include "core/tracker/audit/recount.h"

#include "core/base/sentence.h"
#include "core/tracker/audit/audit_history.h"
#include "core/tracker/block_chunks.h"
#include "core/tracker/epochs.h"
#include "core/tracker/incarnations.h"
#include "core/tracker/run_event_texts.h"

#include <algorithm>

namespace furrow {

namespace {

void revokeAll(LedgerFile& file)
{
    ChunkMoves moves(file, 0);
    while (const auto live = file.db.integer("SELECT id FROM incarnation WHERE live=1"))
        revokeIncarnation(file, moves, *live, sentence("the tracker was rebuilt"));
    moves.finish();
}

void recountBlocks(Database& db)
{
    db.run("UPDATE chunk SET epoch=id/100000000000000-1 WHERE epoch<>id/100000000000000-1");
    db.run(
        "UPDATE chunk SET covered=s.windows FROM (SELECT k.id, total(p.past-p.first) AS windows FROM chunk k LEFT JOIN claim c ON c.chunk=k.id LEFT JOIN part p ON p.claim=c.id AND p.alive=1"
        " GROUP BY k.id) s WHERE s.id=chunk.id AND covered<>s.windows");
    db.run("UPDATE counts SET n0=0, n1=0, n2=0, n3=0, n4=0, n5=0, n6=0, n7=0, visited=0, wanted=0");
    db.run(
        "UPDATE counts SET n0=s.n0, n1=s.n1, n2=s.n2, n3=s.n3, n4=s.n4, n5=s.n5, n6=s.n6, n7=s.n7, visited=s.n4>0, wanted=s.n1+s.n2>0 FROM"
        " (SELECT id/1000000 AS place, sum(state=0) n0, sum(state=1) n1, sum(state=2) n2, sum(state=3) n3, sum(state=4) n4, sum(state=5) n5, sum(state=6) n6, sum(state=7) n7"
        " FROM chunk GROUP BY 1) s WHERE s.place=(counts.epoch+1)*100000000+counts.block");
    db.run(
        "UPDATE counts SET visited=1 WHERE (epoch+1)*100000000+block IN (SELECT chunk/1000000 FROM claim WHERE started_wall<>0 OR outcome=1)");
    db.run(
        "UPDATE dataset SET known_blocks=(SELECT count(*) FROM block), prepared_blocks=(SELECT count(*) FROM block WHERE prepared<>0)");
    db.run("UPDATE checkpoint SET first_claim=0, last_claim=0");
    db.run(
        "UPDATE checkpoint SET first_claim=s.first, last_claim=s.last FROM (SELECT checkpoint, min(claim) AS first, max(claim) AS last FROM part GROUP BY 1) s WHERE s.checkpoint=checkpoint.id");
}

void recountEpochs(Database& db)
{
    db.run("UPDATE epoch SET fully_opened=1 WHERE epoch=0 OR epoch<(SELECT max(epoch) FROM epoch)");
    db.run(
        "UPDATE epoch SET n0=s.n0, n1=s.n1, n2=s.n2, n3=s.n3, n4=s.n4, n5=s.n5, n6=s.n6, n7=s.n7, visited_blocks=s.visited, completed_blocks=s.completed FROM"
        " (SELECT epoch, sum(n0) n0, sum(n1) n1, sum(n2) n2, sum(n3) n3, sum(n4) n4, sum(n5) n5, sum(n6) n6, sum(n7) n7, sum(visited) visited,"
        " sum(n0+n1+n2+n3+n6=0) completed FROM counts GROUP BY 1) s WHERE s.epoch=epoch.epoch");
    db.run(
        "UPDATE epoch SET known_rows=s.a, known_samples=s.b, known_filtered=s.c, known_failed=s.d, known_held_out=s.e, known_duplicates=s.f,"
        " done_rows=s.g, done_samples=s.h, done_filtered=s.i, done_failed=s.j, done_held_out=s.k, done_duplicates=s.l FROM"
        " (SELECT epoch, sum(rows) a, sum(samples) b, sum(filtered) c, sum(failed) d, sum(held_out) e, sum(duplicates) f, sum(rows*(state=4)) g, sum(samples*(state=4)) h,"
        " sum(filtered*(state=4)) i, sum(failed*(state=4)) j, sum(held_out*(state=4)) k, sum(duplicates*(state=4)) l FROM chunk GROUP BY 1) s WHERE s.epoch=epoch.epoch");
}

/// What a person decided, or what could not be read, where the row of a chunk does not say so any more.
void nameAgain(Database& db)
{
    for (const LostName& one : lostNames(db))
        db.run("UPDATE chunk SET state=? WHERE id=? AND state IN (0, 1) AND covered=0", one.told, one.chunk);
}

// As many as the events closed, those that are complete; which of them is in no event.
void closeAsTheEventsSay(Database& db)
{
    RunEvents events;
    std::int64_t wall = 0;
    {
        Rows rows = db.query("SELECT cause, wall FROM event WHERE chunk=0 ORDER BY seq");
        while (rows.next()) {
            const std::int64_t before = events.epochsClosed;
            events.add(rows.text(0));
            wall = events.epochsClosed > before ? rows.integer(1) : wall;
        }
    }
    const std::int64_t missing
        = events.epochsClosed - db.integer("SELECT count(*) FROM epoch WHERE closed_wall IS NOT NULL").value_or(0);
    if (missing > 0)
        db.run(
            "UPDATE epoch SET closed_wall=? WHERE epoch IN (SELECT epoch FROM epoch WHERE closed_wall IS NULL AND n0+n1+n2+n3+n6=0 ORDER BY epoch LIMIT ?)",
            wall, missing);
    else if (missing < 0) // the next start closes them
        db.run(
            "UPDATE epoch SET closed_wall=NULL WHERE epoch IN (SELECT epoch FROM epoch WHERE closed_wall IS NOT NULL ORDER BY epoch DESC LIMIT ?)",
            -missing);
}

// Nobody holds anything, so what is in living parts is all there is.
void recountTotals(Database& db)
{
    db.run("INSERT OR IGNORE INTO budget (one) VALUES (1)");
    db.run(
        "UPDATE budget SET reserved_steps=0, completed_blocks=(SELECT sum(completed_blocks) FROM epoch),"
        " steps=(SELECT coalesce(sum(steps), 0) FROM part WHERE alive=1)"
        "+(SELECT coalesce(sum(max(0, c.steps-coalesce((SELECT sum(p.steps) FROM part p WHERE p.claim=c.id), 0))), 0) FROM claim c WHERE c.outcome=1)");
    db.run("UPDATE incarnation SET reserved_steps=0");
    db.run(
        "UPDATE budget SET tokens=s.trained, claimed_tokens=s.claimed FROM (SELECT coalesce(sum(t*(skipped=0)), 0) AS trained, coalesce(sum(t), 0) AS claimed FROM"
        " (SELECT p.skipped, CASE WHEN ?1>0 THEN min(k.tokens, ?1*p.past)-min(k.tokens, ?1*p.first) ELSE k.tokens*p.past/k.windows-k.tokens*p.first/k.windows END AS t" // as tokensIn()
        " FROM part p JOIN chunk k ON k.id=p.chunk WHERE p.alive=1 AND k.windows>0)) s",
        windowTokensOf(db));
}

} // namespace

Status recount(const std::filesystem::path& tracker, std::span<const PreparedContent> contents)
{
    FURROW_TRY_ASSIGN(auto file, openLedger(tracker, systemClock()));
    Database& db = file.db;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(db));
    db.run("INSERT OR IGNORE INTO dataset (one) VALUES (1)");
    revokeAll(file);
    for (const PreparedContent& one : contents)
        (void)storeContent(db, one.chunk, one.content); // with another number of rows it is damaged otherwise
    nameAgain(db);
    recountBlocks(db);
    recountEpochs(db);
    closeAsTheEventsSay(db);
    recountTotals(db);
    writeRunEvent(file, 0, sentence(kCountedAnew));
    return transaction.commit();
}

} // namespace furrow
