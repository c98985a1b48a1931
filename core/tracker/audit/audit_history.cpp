#include "core/tracker/audit/audit_history.h"

#include "core/base/told.h"
#include "core/tracker/audit/audit_tallies.h"
#include "core/tracker/row_bounds.h"
#include "core/tracker/run_event_texts.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

namespace furrow {

void RunEvents::add(const Message& cause)
{
    if (tells(cause, { kRebuilt, kCountedAnew }))
        rebuilt.push_back(cause);
    else if (tells(cause, { kTakenForward }))
        takenForward.push_back(cause);
    else if (tells(cause, { kMergeRoundOpened }))
        ++rounds;
    else if (tells(cause, { kEpochOpened }))
        ++epochsOpened;
    else if (tells(cause, { kEpochOpenedAgain }))
        --epochsClosed;
    else if (tells(cause, { kEpochComplete, kAnEpochComplete }))
        ++epochsClosed;
    else if (const auto values = valuesOf(cause, kEpochsComplete)) {
        std::int64_t count = 0;
        std::from_chars(values->front().data(), values->front().data() + values->front().size(), count);
        epochsClosed += count;
    }
}

KnownProcesses knownProcesses(Database& db)
{
    KnownProcesses known;
    Rows rows = db.query("SELECT id, pid=0 AND boot_id='' FROM incarnation");
    while (rows.next()) {
        known.all.insert(rows.integer(0));
        if (rows.integer(1) != 0)
            known.rebuilt.insert(rows.integer(0));
    }
    return known;
}

namespace {

/// Rows that name one which is not there. The query gives the two numbers of the sentence.
void nowhere(Database& db, const char* sql,
    const std::function<std::string(const std::string&, const std::string&)>& text, const AuditFault& wrong)
{
    Rows rows = db.query(sql);
    while (rows.next())
        wrong(FindingKind::History, {}, text(std::to_string(rows.integer(0)), std::to_string(rows.integer(1))));
}

} // namespace

void checkReferences(Database& db, const KnownProcesses& processes, const AuditFault& wrong)
{
    const auto one = [&](const char* table, const char* sql) {
        if (const auto count = db.integer(sql).value_or(0); count != 1)
            wrong(FindingKind::History, {},
                sentence(
                    "the table %1 has %2 rows, it must have one; 'furrowctl doctor %3 --repair' makes the tracker anew",
                    { table, std::to_string(count), runFolderOf(db) }));
    };
    one("control", "SELECT count(*) FROM control");
    one("budget", "SELECT count(*) FROM budget");
    one("dataset", "SELECT count(*) FROM dataset");
    nowhere(
        db, "SELECT i.id, i.attempt FROM incarnation i LEFT JOIN attempt a ON a.id=i.attempt WHERE a.id IS NULL",
        [](const auto& id, const auto& attempt) {
            return sentence("worker process %1 is of attempt %2, which the tracker does not have", { id, attempt });
        },
        wrong);
    nowhere(
        db,
        "SELECT c.id, c.incarnation FROM checkpoint c LEFT JOIN incarnation i ON i.id=c.incarnation WHERE i.id IS NULL",
        [](const auto& id, const auto& process) {
            return sentence(
                "checkpoint %1 was written by worker process %2, which the tracker does not have", { id, process });
        },
        wrong);
    nowhere(
        db,
        "SELECT c.id, c.incarnation FROM checkpoint c JOIN incarnation i ON i.id=c.incarnation WHERE c.kind=0 AND i.replica<>c.replica",
        [](const auto& id, const auto& process) {
            return sentence(
                "checkpoint %1 is of another replica than worker process %2, which wrote it", { id, process });
        },
        wrong);
    nowhere(
        db,
        "SELECT p.checkpoint, p.parent FROM parent p LEFT JOIN checkpoint c ON c.id=p.checkpoint WHERE c.id IS NULL",
        [](const auto& id, const auto& parent) {
            return sentence("checkpoint %1, which the tracker does not have, is said to be made from checkpoint %2",
                { id, parent });
        },
        wrong);
    Rows rows = db.query(
        "SELECT i.id, i.replica FROM incarnation i LEFT JOIN replica r ON r.replica=i.replica WHERE i.replica>=0 AND r.replica IS NULL");
    while (rows.next())
        if (!processes.rebuilt.contains(rows.integer(0)))
            wrong(FindingKind::History, {},
                sentence("worker process %1 trained replica %2, which the tracker does not have",
                    { std::to_string(rows.integer(0)), std::to_string(rows.integer(1)) }));
}

namespace {

using Ids = std::set<std::int64_t>;

std::map<std::int64_t, Ids> grouped(Database& db, const char* sql)
{
    std::map<std::int64_t, Ids> found;
    Rows rows = db.query(sql);
    while (rows.next())
        found[rows.integer(0)].insert(rows.integer(1));
    return found;
}

// A merge takes nothing but what was given to its round, and the round keeps that for ever, also when its result was
// damaged later.
void checkOrigins(Database& db, const KnownProcesses& processes, const AuditFault& wrong)
{
    const auto inputs = grouped(db, "SELECT round, checkpoint FROM merge_input");
    const auto parents = grouped(
        db, "SELECT p.checkpoint, p.parent FROM parent p JOIN checkpoint c ON c.id=p.checkpoint WHERE c.kind=1");
    Rows rows = db.query("SELECT id, incarnation FROM checkpoint WHERE kind=1");
    while (rows.next()) {
        const auto made = parents.find(rows.integer(0));
        if (processes.rebuilt.contains(rows.integer(1)))
            continue;
        const bool given = made != parents.end() && std::any_of(inputs.begin(), inputs.end(), [&](const auto& round) {
            return std::includes(round.second.begin(), round.second.end(), made->second.begin(), made->second.end());
        });
        if (!given)
            wrong(FindingKind::History, {},
                sentence("checkpoint %1 is a merge, and no round of merging had all checkpoints that it was made from",
                    { std::to_string(rows.integer(0)) }));
    }
}

} // namespace

void checkMerges(Database& db, const KnownProcesses& processes, const RunEvents& events, const AuditFault& wrong)
{
    const std::int64_t rounds = db.integer("SELECT count(*) FROM merge_round").value_or(0);
    if (rounds != events.rounds)
        wrong(FindingKind::History, {},
            sentence("the events open %1 rounds of merging, the tracker has %2",
                { std::to_string(events.rounds), std::to_string(rounds) }));
    nowhere(
        db,
        "SELECT r.round, r.result FROM merge_round r LEFT JOIN checkpoint c ON c.id=r.result AND c.kind=1 WHERE r.result>0 AND c.id IS NULL",
        [](const auto& round, const auto& result) {
            return sentence(
                "round %1 of merging gave checkpoint %2, which is not a merge that the tracker has", { round, result });
        },
        wrong);
    nowhere(
        db,
        "SELECT m.checkpoint, m.round FROM merge_input m LEFT JOIN checkpoint c ON c.id=m.checkpoint LEFT JOIN merge_round r ON r.round=m.round WHERE c.id IS NULL OR r.round IS NULL",
        [](const auto& checkpoint, const auto& round) {
            return sentence("checkpoint %1 was given to round %2 of merging, and the tracker lacks one of them",
                { checkpoint, round });
        },
        wrong);
    // Inputs are stored before they are merged; a round that had nothing to merge has none.
    nowhere(
        db,
        "SELECT m.checkpoint, m.round FROM merge_input m JOIN merge_round r ON r.round=m.round WHERE r.result>0 AND m.checkpoint>=r.result",
        [](const auto& checkpoint, const auto& round) {
            return sentence(
                "checkpoint %1 is not older than what round %2 of merging gave, and is said to have been given to it",
                { checkpoint, round });
        },
        wrong);
    nowhere(
        db,
        "SELECT k.incarnation, k.round FROM contribution k JOIN incarnation i ON i.id=k.incarnation WHERE i.replica<>k.replica",
        [](const auto& process, const auto& round) {
            return sentence(
                "worker process %1 is said to have contributed to round %2 of merging for a replica that it did not train",
                { process, round });
        },
        wrong);
    nowhere(
        db,
        "SELECT k.incarnation, k.round FROM contribution k LEFT JOIN merge_round r ON r.round=k.round LEFT JOIN incarnation i ON i.id=k.incarnation"
        " LEFT JOIN checkpoint c ON c.id=k.checkpoint WHERE r.round IS NULL OR i.id IS NULL OR (k.checkpoint<>0 AND c.id IS NULL)",
        [](const auto& process, const auto& round) {
            return sentence(
                "worker process %1 contributed to round %2 of merging, and the tracker lacks the process, the round or the checkpoint",
                { process, round });
        },
        wrong);
    // Who merges has contributed itself.
    nowhere(
        db,
        "SELECT r.round, r.taken_by FROM merge_round r WHERE r.result IS NOT NULL AND r.taken_by IS NOT NULL AND EXISTS (SELECT 1 FROM merge_input m WHERE m.round=r.round)"
        " AND NOT EXISTS (SELECT 1 FROM contribution k WHERE k.round=r.round AND k.incarnation=r.taken_by)",
        [](const auto& round, const auto& process) {
            return sentence("round %1 of merging was done by worker process %2, whose own contribution to it is gone",
                { round, process });
        },
        wrong);
    nowhere(
        db,
        "SELECT r.round, 0 FROM merge_round r WHERE r.result IS NOT NULL AND NOT EXISTS (SELECT 1 FROM contribution k WHERE k.round=r.round)",
        [](const auto& round, const auto&) {
            return sentence("round %1 of merging has a result and no contributions", { round });
        },
        wrong);
    checkOrigins(db, processes, wrong);
}

namespace {

/// What the events say of one chunk.
struct ToldMoves {
    static constexpr std::int64_t kNone = -1; ///< no move but that of its beginning, which stands for any state
    std::int64_t newest = kNone; ///< the state that it came into last
    bool wasLeftOut = false; ///< once, whatever became of it
};
using MovesByChunk = std::map<std::int64_t, ToldMoves>;

void readMoves(Database& db, MovesByChunk& chunks)
{
    constexpr auto kExcluded = static_cast<std::int64_t>(ChunkState::Excluded);
    Rows rows = db.query("SELECT chunk, count, from_state, to_state FROM event WHERE chunk<>0 ORDER BY seq");
    while (rows.next()) {
        const ChunkId first = chunkIdAt(db, rows, 0);
        const std::int64_t past = first.value + eventCountAt(db, rows, 1, first);
        const std::int64_t from = rows.integer(2);
        const std::int64_t to = rows.integer(3);
        for (auto at = chunks.lower_bound(first.value); at != chunks.end() && at->first < past; ++at) {
            at->second.newest = from < 0 ? ToldMoves::kNone : to;
            at->second.wasLeftOut = at->second.wasLeftOut || from == kExcluded || to == kExcluded;
        }
    }
}

/// Chunks that were left out, poisoned or accepted once and are not now: they may have been tried again since.
std::map<std::int64_t, ChunkState> namedBefore(Database& db)
{
    std::map<std::int64_t, ChunkState> chunks;
    // In this order: the chunks of an event lie together, and of the events none knows its chunks.
    Rows rows
        = db.query("SELECT c.id, c.state FROM event e CROSS JOIN chunk c WHERE e.to_state IN (5, 6, 7) AND e.chunk<>0"
                   " AND c.id>=e.chunk AND c.id<e.chunk+e.count AND c.state NOT IN (5, 6, 7)");
    while (rows.next()) {
        const ChunkId id = chunkIdAt(db, rows, 0);
        chunks[id.value] = static_cast<ChunkState>(boundedAt(db, rows, 1, kStateBounds));
    }
    return chunks;
}

} // namespace

std::vector<LostName> lostNames(Database& db)
{
    std::vector<LostName> lost;
    const auto states = namedBefore(db);
    if (states.empty())
        return lost;
    MovesByChunk chunks;
    for (const auto& [id, state] : states)
        chunks.try_emplace(id);
    readMoves(db, chunks);
    for (const auto& [id, moves] : chunks)
        for (const auto told : { ChunkState::Excluded, ChunkState::Poisoned, ChunkState::Accepted })
            if (moves.newest == static_cast<std::int64_t>(told))
                lost.push_back({ { id }, states.at(id), told });
    return lost;
}

void checkNamedChunks(Database& db, const std::vector<NamedChunk>& named, const AuditFault& wrong)
{
    for (const LostName& one : lostNames(db))
        wrong(FindingKind::History, one.chunk,
            sentence("%1 is %2, and its last event says that it is %3: its row was changed from outside",
                { toString(one.chunk), termOf(one.state), termOf(one.told) }));
    if (named.empty())
        return;
    MovesByChunk chunks; // and those of the epoch before, from which they may be taken over
    for (const NamedChunk& one : named) {
        chunks.try_emplace(one.chunk.value);
        if (placeOf(one.chunk).epoch > 0)
            chunks.try_emplace(one.chunk.value - kEpochIds);
    }
    readMoves(db, chunks);
    for (const NamedChunk& one : named) {
        ToldMoves& moves = chunks.at(one.chunk.value);
        const auto before = chunks.find(one.chunk.value - kEpochIds);
        const bool isTakenOver = moves.newest == ToldMoves::kNone && one.state == ChunkState::Excluded
            && before != chunks.end() && before->second.wasLeftOut;
        moves.wasLeftOut = moves.wasLeftOut || isTakenOver; // the next epoch takes it over from here
        if (!isTakenOver && moves.newest != static_cast<std::int64_t>(one.state))
            wrong(FindingKind::History, one.chunk,
                sentence("%1 is marked as %2, and no event says so: its row was changed from outside",
                    { toString(one.chunk), termOf(one.state) }));
    }
}

void checkEpochEvents(Database& db, const RunEvents& events, const AuditFault& wrong)
{
    const std::int64_t epochs = db.integer("SELECT count(*) FROM epoch").value_or(0);
    if (events.epochsOpened != epochs)
        wrong(FindingKind::History, {},
            sentence("the events open %1 epochs, the tracker has %2",
                { std::to_string(events.epochsOpened), std::to_string(epochs) }));
    const std::int64_t closed = db.integer("SELECT count(*) FROM epoch WHERE closed_wall IS NOT NULL").value_or(0);
    if (closed != events.epochsClosed)
        wrong(FindingKind::History, {},
            sentence(
                "the events close %1 epochs, and %2 are marked as closed; 'furrowctl doctor %3 --repair' counts anew",
                { std::to_string(events.epochsClosed), std::to_string(closed), runFolderOf(db) }));
}

} // namespace furrow
