#include "core/tracker/incarnations.h"
#include "core/tracker/ledger_reader.h"
#include "core/tracker/lineage.h"
#include "core/tracker/lineage_rows.h"
#include "core/tracker/supervisor_state.h"

// The supervisor's side of checkpoints, replicas and merge rounds.

namespace furrow {

Result<std::vector<SupervisorLedger::CheckpointRow>> SupervisorLedger::checkpoints()
{
    return readCheckpoints(state_->file.db);
}

Result<std::vector<SupervisorLedger::ReplicaRow>> SupervisorLedger::replicas()
{
    return readReplicas(state_->file.db);
}

Result<std::int64_t> SupervisorLedger::markDamaged(CheckpointId checkpoint, const std::string& cause)
{
    LedgerFile& file = state_->file;
    Database& db = file.db;
    auto transaction = Transaction::begin(db);
    if (!transaction.ok())
        return transaction.error();
    ChunkMoves moves(file, 0);
    if (db.run("UPDATE checkpoint SET damaged=1 WHERE id=?", checkpoint) != 1)
        db.fail({ ErrorCode::NotFound, "there is no checkpoint " + std::to_string(checkpoint.value) });
    Lineage lineage = loadLineage(db);
    const std::set<std::int64_t> bad = lineage.bad();
    const Lineage before = lineage;
    for (auto& [replica, head] : lineage.heads) {
        if (!head || !bad.contains(*head))
            continue;
        head = before.fallback(replica, bad);
        db.run("UPDATE replica SET head=? WHERE replica=?", head, replica);
        // Whoever trains on from the bad weights must not commit.
        while (const auto live = db.integer("SELECT id FROM incarnation WHERE live=1 AND replica=?", replica))
            revokeIncarnation(file, moves, *live, cause);
    }
    for (const std::int64_t lost : bad) // whoever has not taken the merge over must not look for it
        db.run("UPDATE merge_round SET result=0 WHERE result=?", lost);
    const std::int64_t freed = keepOnlySurviving(file, moves, lineage, cause);
    writeRunEvent(file, 0, "checkpoint " + std::to_string(checkpoint.value) + " is damaged: " + cause);
    moves.finish();
    updateStop(file);
    if (Status status = transaction.value().commit(); !status.ok())
        return status.error().in("taking a damaged checkpoint out");
    return freed;
}

Status SupervisorLedger::markRemoved(CheckpointId checkpoint)
{
    Database& db = state_->file.db;
    auto transaction = Transaction::begin(db);
    if (!transaction.ok())
        return transaction.error();
    const std::string name = "checkpoint " + std::to_string(checkpoint.value);
    if (db.integer("SELECT 1 FROM replica WHERE head=?", checkpoint) || loadLineage(db).newestMerge() == checkpoint.value)
        db.fail({ ErrorCode::InvalidArgument, name + " is the newest of a replica or the base of new ones and must stay" });
    if (db.integer("SELECT pinned FROM checkpoint WHERE id=?", checkpoint).value_or(0) == 1)
        db.fail({ ErrorCode::InvalidArgument, name + " is pinned" });
    db.run("UPDATE checkpoint SET removed=1 WHERE id=?", checkpoint);
    return transaction.value().commit();
}

Status SupervisorLedger::setPinned(CheckpointId checkpoint, bool pinned)
{
    Database& db = state_->file.db;
    auto transaction = Transaction::begin(db);
    if (!transaction.ok())
        return transaction.error();
    if (db.run("UPDATE checkpoint SET pinned=? WHERE id=? AND removed=0", pinned, checkpoint) != 1)
        db.fail({ ErrorCode::NotFound, "there is no checkpoint " + std::to_string(checkpoint.value) + " with files" });
    return transaction.value().commit();
}

Status SupervisorLedger::setActiveReplicas(std::int32_t count)
{
    LedgerFile& file = state_->file;
    auto transaction = Transaction::begin(file.db);
    if (!transaction.ok())
        return transaction.error();
    for (std::int32_t replica = 0; replica < count; ++replica)
        ensureReplica(file, replica);
    file.db.run("UPDATE replica SET parked=(replica>=?)", count);
    return transaction.value().commit();
}

Result<std::int64_t> SupervisorLedger::openMergeRound()
{
    LedgerFile& file = state_->file;
    Database& db = file.db;
    auto transaction = Transaction::begin(db);
    if (!transaction.ok())
        return transaction.error();
    std::int64_t round = db.integer("SELECT round FROM merge_round WHERE result IS NULL").value_or(0);
    if (round == 0) {
        db.run("INSERT INTO merge_round (opened_wall) VALUES (?)", file.clock->wallNs());
        round = db.lastId();
        writeRunEvent(file, 0, "merge round " + std::to_string(round) + " opened");
    }
    if (Status status = transaction.value().commit(); !status.ok())
        return status.error().in("opening a merge round");
    return round;
}

} // namespace furrow
