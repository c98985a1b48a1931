#include "core/base/sentence.h"
#include "core/tracker/given_up.h"
#include "core/tracker/incarnations.h"
#include "core/tracker/ledger_reader.h"
#include "core/tracker/lineage.h"
#include "core/tracker/lineage_rows.h"
#include "core/tracker/supervisor_state.h"
#include "core/tracker/take_back.h"
#include "core/tracker/run_event_texts.h"

#include <algorithm>

// The supervisor's side of checkpoints, replicas and merge rounds.

namespace furrow {

namespace {

/// The heads leave the bad checkpoints, and whoever trains on from those must not commit. Returns how many chunks are
/// free again.
std::int64_t leave(
    LedgerFile& file, ChunkMoves& moves, Lineage& lineage, const std::set<std::int64_t>& bad, const Message& cause)
{
    Database& db = file.db;
    const auto before = lineage.heads;
    lineage.retreatFrom(bad);
    for (const auto& [replica, head] : lineage.heads) {
        if (head == before.at(replica))
            continue;
        db.run("UPDATE replica SET head=? WHERE replica=?", head, replica);
        while (const auto live = db.integer("SELECT id FROM incarnation WHERE live=1 AND replica=?", replica))
            revokeIncarnation(file, moves, *live, cause);
    }
    for (const std::int64_t lost : bad) // whoever has not taken the merge over must not look for it
        db.run("UPDATE merge_round SET result=0 WHERE result=?", lost);
    return keepOnlySurviving(file, moves, lineage, cause);
}

} // namespace

Result<std::vector<SupervisorLedger::CheckpointRow>> SupervisorLedger::checkpoints()
{
    return readCheckpoints(state_->file.db);
}

Result<std::vector<SupervisorLedger::ReplicaRow>> SupervisorLedger::replicas() { return readReplicas(state_->file.db); }

Result<std::int64_t> SupervisorLedger::markDamaged(CheckpointId checkpoint, const Message& cause)
{
    LedgerFile& file = state_->file;
    Database& db = file.db;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(db));
    ChunkMoves moves(file, 0);
    if (db.run("UPDATE checkpoint SET damaged=1 WHERE id=?", checkpoint) != 1)
        db.fail({ ErrorCode::NotFound, sentence("there is no checkpoint %1", { std::to_string(checkpoint.value) }) });
    Lineage lineage = loadLineage(db);
    const Heads before = lineage.heads;
    const std::int64_t freed = leave(file, moves, lineage, lineage.bad(), cause);
    rememberLeft(db, checkpoint, before, lineage.heads);
    writeRunEvent(file, 0, sentence(kCheckpointDamaged, { std::to_string(checkpoint.value), cause }));
    moves.finish();
    updateStop(file);
    if (Status status = transaction.commit(); !status.ok())
        return status.error().in(sentence("taking a damaged checkpoint out"));
    return freed;
}

Result<std::vector<CheckpointId>> SupervisorLedger::leftBehind()
{
    auto left = furrow::leftBehind(state_->file.db);
    FURROW_TRY(state_->file.db.takeStatus());
    return left;
}

Result<std::optional<std::int64_t>> SupervisorLedger::takeBack(CheckpointId checkpoint)
{
    LedgerFile& file = state_->file;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(file.db));
    const std::string number = std::to_string(checkpoint.value);
    const auto left = furrow::leftBehind(file.db);
    const bool wasDamaged = file.db.run("UPDATE checkpoint SET damaged=0 WHERE id=? AND damaged=1", checkpoint) == 1;
    if (!wasDamaged && std::find(left.begin(), left.end(), checkpoint) == left.end())
        file.db.fail({ ErrorCode::NotFound, sentence("there is no damaged checkpoint %1", { number }) });
    ChunkMoves moves(file, 0);
    const auto committed = returnToLeft(file, moves, checkpoint);
    if (wasDamaged || committed)
        writeRunEvent(file, 0, sentence("checkpoint %1 was found whole again", { number }));
    moves.finish();
    updateStop(file);
    if (Status status = transaction.commit(); !status.ok())
        return status.error().in(sentence("taking a checkpoint back"));
    return committed;
}

Result<std::int64_t> SupervisorLedger::goBackTo(CheckpointId checkpoint)
{
    LedgerFile& file = state_->file;
    Database& db = file.db;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(db));
    const std::string name = "checkpoint " + std::to_string(checkpoint.value);
    Lineage lineage = loadLineage(db);
    const auto node = lineage.nodes.find(checkpoint.value);
    if (node == lineage.nodes.end())
        db.fail({ ErrorCode::NotFound, sentence("there is no %1", { name }) });
    else if (!node->second.surviving || node->second.removed || lineage.bad().contains(checkpoint.value))
        db.fail({ ErrorCode::InvalidArgument,
            node->second.removed         ? sentence("%1 was removed by the keep policy", { name })
                : node->second.surviving ? sentence("%1 is damaged", { name })
                                         : sentence("%1 is not in the lineage of the weights any more", { name }) });
    if (db.integer("SELECT 1 FROM incarnation WHERE live=1"))
        db.fail({ ErrorCode::Busy, sentence("workers are alive; a run goes back only while nobody trains it") });
    ChunkMoves moves(file, 0);
    const std::int64_t freed
        = leave(file, moves, lineage, lineage.badAfter(checkpoint.value), sentence(kLeftByGoingBack, { name }));
    forgetAllLeft(db);
    writeRunEvent(file, 0, sentence(kRunWentBack, { name }));
    moves.finish();
    updateStop(file);
    if (Status status = transaction.commit(); !status.ok())
        return status.error().in(sentence("going back to %1", { name }));
    return freed;
}

Status SupervisorLedger::markRemoved(CheckpointId checkpoint) { return markRemoved(std::span(&checkpoint, 1)); }

Status SupervisorLedger::markRemoved(std::span<const CheckpointId> checkpoints)
{
    Database& db = state_->file.db;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(db));
    const auto newestMerge = loadLineage(db).newestMerge(); // once: it reads all checkpoints that there ever were
    for (const CheckpointId checkpoint : checkpoints) {
        const std::string name = "checkpoint " + std::to_string(checkpoint.value);
        if (db.integer("SELECT 1 FROM replica WHERE head=?", checkpoint) || newestMerge == checkpoint.value)
            db.fail({ ErrorCode::InvalidArgument,
                sentence("%1 is the newest of a replica or the base of new ones and must stay", { name }) });
        if (db.integer("SELECT pinned FROM checkpoint WHERE id=?", checkpoint).value_or(0) == 1)
            db.fail({ ErrorCode::InvalidArgument, sentence("%1 is pinned", { name }) });
        db.run("UPDATE checkpoint SET removed=1 WHERE id=?", checkpoint);
    }
    return transaction.commit();
}

Status SupervisorLedger::markThereAgain(CheckpointId checkpoint, bool pinned)
{
    Database& db = state_->file.db;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(db));
    db.run("UPDATE checkpoint SET removed=0, pinned=max(pinned, ?) WHERE id=?", pinned, checkpoint);
    return transaction.commit();
}

Status SupervisorLedger::keepNotRemoved(const Message& why)
{
    LedgerFile& file = state_->file;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(file.db));
    writeRunEvent(file, 0, why.empty() ? sentence(kRemovesAgain) : why); // keeps its parts
    if (why.empty())
        file.db.run("DELETE FROM meta WHERE key=?", kNotRemoved);
    else
        storeMeta(file.db, kNotRemoved, why);
    return transaction.commit();
}

Status SupervisorLedger::setPinned(CheckpointId checkpoint, bool pinned)
{
    Database& db = state_->file.db;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(db));
    if (db.run("UPDATE checkpoint SET pinned=? WHERE id=? AND removed=0", pinned, checkpoint) != 1)
        db.fail({ ErrorCode::NotFound,
            sentence("there is no checkpoint %1 with files", { std::to_string(checkpoint.value) }) });
    return transaction.commit();
}

Status SupervisorLedger::setActiveReplicas(std::int32_t count)
{
    LedgerFile& file = state_->file;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(file.db));
    for (std::int32_t replica = 0; replica < count; ++replica)
        ensureReplica(file, replica);
    file.db.run("UPDATE replica SET parked=(replica>=?)", count);
    return transaction.commit();
}

Result<std::int64_t> SupervisorLedger::openMergeRound()
{
    LedgerFile& file = state_->file;
    Database& db = file.db;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(db));
    std::int64_t round = db.integer("SELECT round FROM merge_round WHERE result IS NULL").value_or(0);
    if (round == 0) {
        db.run("INSERT INTO merge_round (opened_wall) VALUES (?)", file.clock->wallNs());
        round = db.lastId();
        writeRunEvent(file, 0, sentence(kMergeRoundOpened, { std::to_string(round) }));
    }
    if (Status status = transaction.commit(); !status.ok())
        return status.error().in(sentence("opening a merge round"));
    return round;
}

} // namespace furrow
