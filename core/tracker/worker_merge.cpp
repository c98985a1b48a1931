#include "core/tracker/epochs.h"
#include "core/base/sentence.h"
#include "core/tracker/lineage.h"
#include "core/tracker/worker_state.h"

#include <algorithm>

// A merge round: opened by the supervisor; each live replica contributes a checkpoint and waits; one of them takes the
// job, merges the files and commits. Whoever dies, the round goes on: a dead replica takes part with its head, a dead
// computer's job is taken again.

namespace furrow {

namespace {

bool requireOpenRound(Database& db, std::int64_t round)
{
    Rows row = db.query("SELECT result FROM merge_round WHERE round=?", round);
    if (!row.next())
        db.fail({ ErrorCode::NotFound, sentence("there is no merge round %1", { std::to_string(round) }) });
    return !db.failed() && row.isNull(0);
}

// Heads and contributions that have something to add, newest facts first.
std::vector<CheckpointId> mergeInputs(Database& db, const Lineage& lineage, std::int64_t round)
{
    std::map<std::int32_t, std::int64_t> chosen;
    for (const auto& [replica, head] : lineage.heads) {
        if (head)
            chosen[replica] = *head;
    }
    {
        // What a live worker contributed counts for it; a dead one takes part with its head.
        Rows rows
            = db.query("SELECT c.replica, c.checkpoint FROM contribution c JOIN incarnation i ON i.id=c.incarnation"
                       " WHERE c.round=? AND i.live=1 AND c.checkpoint>0",
                round);
        while (rows.next())
            chosen[rows.int32(0)] = rows.integer(1);
    }
    std::vector<CheckpointId> inputs;
    for (const auto& [replica, checkpoint] : chosen) {
        const auto node = lineage.nodes.find(checkpoint);
        const bool adds
            = node != lineage.nodes.end() && node->second.kind == CheckpointKind::Replica && !node->second.damaged;
        if (adds && std::find(inputs.begin(), inputs.end(), CheckpointId { checkpoint }) == inputs.end())
            inputs.push_back({ checkpoint });
    }
    return inputs;
}

std::vector<CheckpointId> storedInputs(Database& db, std::int64_t round)
{
    std::vector<CheckpointId> inputs;
    Rows rows = db.query("SELECT checkpoint FROM merge_input WHERE round=? ORDER BY checkpoint", round);
    while (rows.next())
        inputs.push_back({ rows.integer(0) });
    return inputs;
}

// Workers whose weights in memory hold work that the merge leaves out: they must start again from it.
std::vector<std::int64_t> leftBehind(Database& db, std::int64_t round, const std::vector<CheckpointId>& parents)
{
    std::vector<std::int64_t> found;
    Rows rows
        = db.query("SELECT i.id, coalesce(c.checkpoint, -1)"
                   " FROM incarnation i LEFT JOIN contribution c ON c.round=? AND c.incarnation=i.id WHERE i.live=1",
            round);
    while (rows.next()) {
        const std::int64_t contributed = rows.integer(1);
        const bool included = contributed == 0
            || std::find(parents.begin(), parents.end(), CheckpointId { contributed }) != parents.end()
            || db.integer("SELECT kind FROM checkpoint WHERE id=?", contributed).value_or(0) == 1;
        if (!included || countHeldChunks(db, rows.integer(0), ChunkState::Trained) > 0)
            found.push_back(rows.integer(0));
    }
    return found;
}

} // namespace

Status WorkerLedger::contribute(std::int64_t round, CheckpointId checkpoint)
{
    LedgerFile& file = state_->file;
    Database& db = file.db;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(db));
    requireLive(file, state_->incarnation);
    if (requireOpenRound(db, round)) {
        const std::int64_t head = db.integer("SELECT head FROM replica WHERE replica=?", state_->replica).value_or(0);
        if (checkpoint.value != head)
            db.fail({ ErrorCode::InvalidArgument,
                sentence("a worker contributes its newest checkpoint (%1), not %2",
                    { std::to_string(head), std::to_string(checkpoint.value) }) });
        db.run("INSERT OR REPLACE INTO contribution (round, replica, incarnation, checkpoint) VALUES (?, ?, ?, ?)",
            round, state_->replica, state_->incarnation, checkpoint);
    }
    return transaction.commit();
}

namespace {

/// Not everybody has contributed yet, or somebody else does the merge. Asked without the lock: whoever waits asks a
/// hundred times a second, and each turn with the lock would hold up those who are waited for, by a sync too.
bool isForOthers(Database& db, std::int64_t round, std::int64_t incarnation)
{
    Rows row = db.query("SELECT coalesce(t.id, 0), EXISTS (SELECT 1 FROM incarnation i WHERE i.live=1 AND NOT EXISTS"
                        " (SELECT 1 FROM contribution c WHERE c.round=r.round AND c.incarnation=i.id))"
                        " FROM merge_round r LEFT JOIN incarnation t ON t.id=r.taken_by AND t.live=1"
                        " WHERE r.round=? AND r.result IS NULL",
        round);
    if (!row.next())
        return false;
    const std::int64_t taker = row.integer(0);
    return taker != incarnation && (taker != 0 || row.integer(1) != 0);
}

} // namespace

Result<std::optional<WorkerLedger::MergeJob>> WorkerLedger::takeMerge(std::int64_t round)
{
    using Answer = std::optional<MergeJob>;
    LedgerFile& file = state_->file;
    Database& db = file.db;
    requireLive(file, state_->incarnation);
    const bool isNoTurn = isForOthers(db, round, state_->incarnation);
    FURROW_TRY(db.takeStatus());
    if (isNoTurn)
        return Answer {};
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(db));
    requireLive(file, state_->incarnation);
    Answer job;
    if (requireOpenRound(db, round)) {
        const bool waiting = db.integer("SELECT 1 FROM incarnation i WHERE i.live=1 AND NOT EXISTS"
                                        " (SELECT 1 FROM contribution c WHERE c.round=? AND c.incarnation=i.id)",
                                   round)
                                 .has_value();
        const std::int64_t taker
            = db.integer(
                    "SELECT i.id FROM merge_round r JOIN incarnation i ON i.id=r.taken_by AND i.live=1 WHERE r.round=?",
                    round)
                  .value_or(0);
        const Lineage lineage = loadLineage(db);
        const std::vector<CheckpointId> stored = storedInputs(db, round);
        const std::set<std::int64_t> bad = lineage.bad();
        const bool allGood
            = std::none_of(stored.begin(), stored.end(), [&](CheckpointId input) { return bad.contains(input.value); });
        if (taker == state_->incarnation && allGood) {
            job = MergeJob { round, stored };
        } else if (!waiting && (taker == 0 || taker == state_->incarnation)) {
            job = MergeJob { round, mergeInputs(db, lineage, round) };
            db.run("DELETE FROM merge_input WHERE round=?", round);
            for (const CheckpointId input : job->contributions)
                db.run("INSERT INTO merge_input (round, checkpoint) VALUES (?, ?)", round, input);
            if (job->contributions.empty()) { // nobody trained anything since the base: the base is the result
                db.run("UPDATE merge_round SET result=? WHERE round=?", lineage.newestMerge().value_or(0), round);
                job.reset();
            } else {
                db.run("UPDATE merge_round SET taken_by=? WHERE round=?", state_->incarnation, round);
            }
        }
    }
    FURROW_TRY(transaction.commit());
    return job;
}

Result<CheckpointId> WorkerLedger::commitMerge(std::int64_t round, const CheckpointRecord& merged)
{
    LedgerFile& file = state_->file;
    Database& db = file.db;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(db));
    requireLive(file, state_->incarnation);
    if (!requireOpenRound(db, round)
        || db.integer("SELECT taken_by FROM merge_round WHERE round=?", round) != state_->incarnation)
        db.fail({ ErrorCode::Cancelled, sentence("merge round %1 is in other hands", { std::to_string(round) }) });
    const std::vector<CheckpointId> inputs = storedInputs(db, round);
    CheckpointRecord record = merged;
    if (record.parents.empty())
        record.parents = inputs;
    for (const CheckpointId parent : record.parents) {
        if (std::find(inputs.begin(), inputs.end(), parent) == inputs.end())
            db.fail({ ErrorCode::InvalidArgument,
                sentence("checkpoint %1 is not among the contributions of merge round %2",
                    { std::to_string(parent.value), std::to_string(round) }) });
    }
    record.kind = CheckpointKind::Merge;
    record.replica = -1;
    const Lineage lineage = loadLineage(db);
    for (const CheckpointId parent : record.parents) {
        if (lineage.bad().contains(parent.value))
            db.fail({ ErrorCode::InvalidArgument,
                sentence("checkpoint %1 was found damaged and cannot be merged; take the job again",
                    { std::to_string(parent.value) }) });
    }
    requireDisjoint(file, lineage, record.parents);
    const CheckpointId id = insertCheckpoint(file, state_->incarnation, record);
    ChunkMoves moves(file, state_->incarnation);
    for (const std::int64_t incarnation : leftBehind(db, round, record.parents)) // perhaps this one too
        revokeIncarnation(file, moves, incarnation, sentence("left out of merge round %1", { std::to_string(round) }));
    db.run("UPDATE replica SET head=?", id);
    keepOnlySurviving(file, moves, loadLineage(db), sentence("left out of merge round %1", { std::to_string(round) }));
    db.run("UPDATE merge_round SET result=? WHERE round=?", id, round);
    moves.finish();
    updateStop(file);
    if (Status status = transaction.commit(); !status.ok())
        return status.error().in(sentence("committing merge round %1", { std::to_string(round) }));
    return id;
}

Result<std::optional<CheckpointId>> WorkerLedger::mergeResult(std::int64_t round)
{
    Database& db = state_->file.db;
    const auto result = db.integer("SELECT result FROM merge_round WHERE round=?", round);
    FURROW_TRY(db.takeStatus());
    return result ? std::optional(CheckpointId { *result }) : std::nullopt;
}

} // namespace furrow
