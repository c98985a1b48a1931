#include "core/tracker/ledger_reader.h"

#include "core/tracker/epochs.h"
#include "core/tracker/incarnations.h"
#include "core/tracker/lineage.h"
#include "core/tracker/lineage_rows.h"
#include "core/tracker/sample_losses.h"
#include "core/tracker/schema.h"

#include <algorithm>
#include <limits>
#include <set>

namespace furrow {

struct LedgerReader::State {
    Database db;
    bool inherits = false; ///< keepsInherited(), asked once
};

namespace {

    // Answers what was read, or the failure that the database kept meanwhile.
    template <typename T> Result<T> answer(Database& db, T value)
    {
        if (Status status = db.takeStatus(); !status.ok())
            return status.error();
        return value;
    }

    ProcessIdentity identityAt(const Rows& row, int column)
    {
        return { row.integer(column), row.integer(column + 1), row.text(column + 2) };
    }

#define FURROW_CELL_COLUMNS "id, state, worker, attempt, times_trained, times_lost, mean_loss, trained_wall"
    constexpr const char* kCells = "SELECT " FURROW_CELL_COLUMNS ", inherited FROM chunk WHERE id>=? AND id<? ORDER BY id";
    constexpr const char* kCellsOfVersion1 = "SELECT " FURROW_CELL_COLUMNS ", 0 FROM chunk WHERE id>=? AND id<? ORDER BY id";
#undef FURROW_CELL_COLUMNS

    ChunkCell cellAt(const Rows& row)
    {
        ChunkCell cell;
        cell.id = { row.integer(0) };
        const ChunkPlace place = placeOf(cell.id);
        cell.block = place.block;
        cell.column = place.column;
        cell.state = static_cast<ChunkState>(row.integer(1));
        cell.worker = static_cast<std::int16_t>(row.integer(2));
        cell.attempt = static_cast<std::int16_t>(row.integer(3));
        cell.timesTrained = static_cast<std::int16_t>(row.integer(4));
        cell.timesLost = static_cast<std::int16_t>(row.integer(5));
        cell.meanLoss = row.isNull(6) ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(row.real(6));
        cell.trainedWallNs = row.integer(7);
        cell.inherited = static_cast<Inherited>(row.integer(8));
        return cell;
    }

    void appendCells(Database& db, bool inherits, std::int64_t firstId, std::int64_t pastId, std::vector<ChunkCell>& cells)
    {
        Rows rows = db.query(inherits ? kCells : kCellsOfVersion1, firstId, pastId);
        while (rows.next())
            cells.push_back(cellAt(rows));
    }

    ClaimRow claimAt(const Rows& row)
    {
        ClaimRow claim;
        claim.claimId = row.integer(0);
        claim.chunk = { row.integer(1) };
        const ChunkPlace place = placeOf(claim.chunk);
        claim.epoch = place.epoch;
        claim.block = place.block;
        claim.column = place.column;
        claim.worker = row.int32(2);
        claim.replica = row.int32(3);
        claim.attempt = { row.integer(4) };
        claim.claimedWallNs = row.integer(5);
        claim.startedWallNs = row.integer(6);
        claim.endedWallNs = row.integer(7);
        claim.samples = row.integer(9);
        claim.tokens = row.integer(10);
        claim.meanLoss = claim.tokens > 0 ? row.real(11) / static_cast<double>(claim.tokens) : std::numeric_limits<double>::quiet_NaN();
        claim.peakGradientNorm = row.real(12);
        claim.firstStep = row.integer(13);
        claim.lastStep = row.integer(14);
        claim.checkpoint = row.integer(15);
        constexpr const char* kOutcomes[] = { "open", "trained", "released", "lost", "failed" };
        const std::int64_t outcome = row.integer(8);
        claim.outcome = outcome >= 0 && outcome < 5 ? kOutcomes[outcome] : "unknown";
        if (static_cast<ClaimOutcome>(outcome) == ClaimOutcome::Trained && claim.checkpoint != 0)
            claim.outcome = "committed";
        else if (static_cast<ClaimOutcome>(outcome) == ClaimOutcome::Trained && row.integer(16) != 0)
            claim.outcome = "lost"; // its checkpoint did not survive
        return claim;
    }

    std::vector<ClaimRow> claimsAt(Rows rows)
    {
        std::vector<ClaimRow> claims;
        while (rows.next())
            claims.push_back(claimAt(rows));
        return claims;
    }

    ChunkCounts countsAt(const Rows& row, int column)
    {
        ChunkCounts counts;
        for (int state = 0; state < kChunkStateCount; ++state)
            counts.byState[state] = row.integer(column + state);
        return counts;
    }

    RowCounts rowCountsAt(const Rows& row, int column)
    {
        return { row.integer(column), row.integer(column + 1), row.integer(column + 2), row.integer(column + 3), row.integer(column + 4), row.integer(column + 5) };
    }

} // namespace

LedgerReader::LedgerReader(std::unique_ptr<State> state)
    : state_(std::move(state))
{
}
LedgerReader::LedgerReader(LedgerReader&&) noexcept = default;
LedgerReader::~LedgerReader() = default;

Result<LedgerReader> LedgerReader::open(const std::filesystem::path& tracker)
{
    auto db = openForReading(tracker);
    if (!db.ok())
        return db.error();
    const bool inherits = keepsInherited(db.value());
    return LedgerReader(std::make_unique<State>(State { std::move(db).value(), inherits }));
}

namespace {

    Result<std::string> metaText(Database& db, const char* key)
    {
        std::string value;
        {
            Rows row = db.query("SELECT value FROM meta WHERE key=?", key);
            if (row.next())
                value = row.text(0);
        }
        return answer(db, value);
    }

} // namespace

Result<std::string> LedgerReader::runId()
{
    return metaText(state_->db, "run_id");
}

Result<std::string> LedgerReader::frozen()
{
    return metaText(state_->db, "frozen");
}

Result<std::vector<AttemptRow>> LedgerReader::attempts()
{
    std::vector<AttemptRow> attempts;
    {
        Rows rows = state_->db.query("SELECT id, pid, start_time, boot_id, started_wall, ended_wall, reason, detail, overrides FROM attempt ORDER BY id");
        while (rows.next())
            attempts.push_back({ { rows.integer(0) }, identityAt(rows, 1), rows.integer(4), rows.optionalInteger(5),
                static_cast<StopReason>(rows.integer(6)), rows.text(7), rows.text(8) });
    }
    return answer(state_->db, std::move(attempts));
}

Result<std::map<AttemptId, std::int64_t>> LedgerReader::stepsOfAttempts()
{
    std::map<AttemptId, std::int64_t> steps;
    {
        Rows rows = state_->db.query("SELECT i.attempt, sum(c.steps) FROM claim c JOIN incarnation i ON i.id=c.incarnation"
                                     " WHERE c.ended_wall<>0 AND c.steps>0 GROUP BY i.attempt");
        while (rows.next())
            steps[{ rows.integer(0) }] = rows.integer(1);
    }
    return answer(state_->db, std::move(steps));
}

Result<std::vector<IncarnationRow>> LedgerReader::incarnations()
{
    std::vector<IncarnationRow> found;
    {
        Rows rows = state_->db.query("SELECT id, attempt, worker, replica, pid, start_time, boot_id, device, device_name, live, end_cause, started_wall,"
                                     " ended_wall, lease_until, progress, phase, chunk, chunk_fraction, step, tokens, loss, tokens_per_second"
                                     " FROM incarnation ORDER BY id");
        while (rows.next()) {
            IncarnationRow row;
            row.id = { rows.integer(0) };
            row.attempt = { rows.integer(1) };
            row.worker = rows.int32(2);
            row.replica = rows.int32(3);
            row.process = identityAt(rows, 4);
            row.device = rows.text(7);
            row.deviceName = rows.text(8);
            row.live = rows.integer(9) != 0;
            row.endCause = rows.text(10);
            row.startedWallNs = rows.integer(11);
            row.endedWallNs = rows.integer(12);
            row.leaseUntilNs = rows.integer(13);
            row.progressNs = rows.integer(14);
            row.phase = rows.text(15);
            row.chunk = { rows.integer(16) };
            row.chunkFraction = rows.real(17);
            row.step = rows.integer(18);
            row.tokens = rows.integer(19);
            row.loss = rows.isNull(20) ? std::numeric_limits<double>::quiet_NaN() : rows.real(20);
            row.tokensPerSecond = rows.real(21);
            found.push_back(std::move(row));
        }
    }
    return answer(state_->db, std::move(found));
}

Result<std::vector<EpochRow>> LedgerReader::epochs()
{
    std::vector<EpochRow> epochs;
    {
        Rows rows = state_->db.query("SELECT e.epoch, e.opened_wall, e.closed_wall, d.block_count, d.known_blocks, e.visited_blocks, e.completed_blocks,"
                                     " d.prepared_blocks, e.n0, e.n1, e.n2, e.n3, e.n4, e.n5, e.n6, e.n7, e.done_rows, e.done_samples, e.done_filtered,"
                                     " e.done_failed, e.done_held_out, e.done_duplicates, e.known_rows, e.known_samples, e.known_filtered,"
                                     " e.known_failed, e.known_held_out, e.known_duplicates, d.unproven_reason FROM epoch e, dataset d ORDER BY e.epoch");
        while (rows.next()) {
            EpochRow row;
            row.epoch = rows.integer(0);
            row.openedWallNs = rows.integer(1);
            row.closedWallNs = rows.optionalInteger(2);
            row.blockCount = rows.optionalInteger(3);
            row.knownBlocks = rows.integer(4);
            row.visitedBlocks = rows.integer(5);
            row.completedBlocks = rows.integer(6);
            row.preparedBlocks = rows.integer(7);
            row.chunks = countsAt(rows, 8);
            row.rowsCommitted = rowCountsAt(rows, 16);
            row.rowsKnown = rowCountsAt(rows, 22);
            row.unprovenReason = rows.text(28);
            epochs.push_back(std::move(row));
        }
    }
    return answer(state_->db, std::move(epochs));
}

Result<std::vector<ChunkCell>> LedgerReader::cells(std::int64_t epoch)
{
    std::vector<ChunkCell> cells;
    if (epoch >= 0 && epoch < kMaxEpochs)
        appendCells(state_->db, state_->inherits, chunkIdOf({ epoch, 0, 0 }).value, chunkIdOf({ epoch, kMaxBlocks - 1, 0 }).value, cells);
    return answer(state_->db, std::move(cells));
}

Result<std::vector<ChunkCell>> LedgerReader::changedCells(std::int64_t epoch, std::int64_t& seq)
{
    Database& db = state_->db;
    auto view = Transaction::read(db);
    if (!view.ok())
        return view.error();
    std::vector<ChunkCell> cells;
    std::int64_t newest = seq;
    if (epoch >= 0 && epoch < kMaxEpochs) {
        const std::int64_t first = chunkIdOf({ epoch, 0, 0 }).value;
        const std::int64_t past = first + kMaxBlocks * kMaxChunksPerBlock;
        std::set<std::int64_t> changed;
        {
            Rows rows = db.query("SELECT seq, chunk, count FROM event WHERE seq>? ORDER BY seq", seq);
            while (rows.next()) {
                newest = rows.integer(0);
                for (std::int64_t id = rows.integer(1); id < rows.integer(1) + rows.integer(2); ++id) {
                    if (id >= first && id < past)
                        changed.insert(id);
                }
            }
        }
        for (const std::int64_t id : changed)
            appendCells(db, state_->inherits, id, id + 1, cells);
    }
    if (Status status = view.value().commit(); !status.ok())
        return status.error();
    seq = newest;
    return cells;
}

#define FURROW_CLAIM_COLUMNS                                                                                                              \
    "SELECT c.id, c.chunk, i.worker, i.replica, i.attempt, c.claimed_wall, c.started_wall, c.ended_wall, c.outcome, c.samples, c.tokens," \
    " c.loss_sum, c.peak_norm, c.first_step, c.last_step,"                                                                                \
    " coalesce((SELECT max(checkpoint) FROM part p WHERE p.claim=c.id AND p.alive=1), 0),"                                                \
    " EXISTS (SELECT 1 FROM part p WHERE p.claim=c.id AND p.alive=0)"                                                                     \
    " FROM claim c JOIN incarnation i ON i.id=c.incarnation "

Result<std::vector<ClaimRow>> LedgerReader::claimsSince(std::int64_t claimId, int limit)
{
    auto claims = claimsAt(state_->db.query(FURROW_CLAIM_COLUMNS "WHERE c.id>? ORDER BY c.id LIMIT ?", claimId, limit));
    return answer(state_->db, std::move(claims));
}

Result<std::vector<ClaimRow>> LedgerReader::claimsOf(ChunkId chunk)
{
    auto claims = claimsAt(state_->db.query(FURROW_CLAIM_COLUMNS "WHERE c.chunk=? ORDER BY c.id", chunk));
    return answer(state_->db, std::move(claims));
}

Result<std::vector<SampleLoss>> LedgerReader::sampleLosses(ChunkId chunk)
{
    std::vector<SampleLoss> losses;
    if (!keepsSampleLosses(state_->db))
        return answer(state_->db, std::move(losses));
    Rows rows = state_->db.query("SELECT sample_losses FROM claim c WHERE chunk=? AND outcome=? AND sample_losses<>''"
                                 " AND (EXISTS (SELECT 1 FROM part p WHERE p.claim=c.id AND p.alive=1) OR NOT EXISTS (SELECT 1 FROM part p WHERE p.claim=c.id))"
                                 " ORDER BY id DESC",
        chunk, ClaimOutcome::Trained);
    while (rows.next())
        for (const SampleLoss& one : decodeSampleLosses(rows.text(0)))
            if (std::none_of(losses.begin(), losses.end(), [&](const SampleLoss& known) { return known.sample == one.sample; }))
                losses.push_back(one);
    std::stable_sort(losses.begin(), losses.end(), [](const SampleLoss& a, const SampleLoss& b) { return a.loss > b.loss; });
    return answer(state_->db, std::move(losses));
}

#undef FURROW_CLAIM_COLUMNS

Result<std::vector<EventRow>> LedgerReader::eventsSince(std::int64_t seq, int limit)
{
    std::vector<EventRow> events;
    {
        Rows rows = state_->db.query("SELECT seq, wall, chunk, from_state, to_state, incarnation, cause, count FROM event WHERE seq>? ORDER BY seq LIMIT ?", seq, limit);
        while (rows.next())
            events.push_back({ rows.integer(0), rows.integer(1), { rows.integer(2) }, rows.int32(3), rows.int32(4), rows.integer(5), rows.text(6), rows.integer(7) });
    }
    return answer(state_->db, std::move(events));
}

Result<std::vector<SupervisorLedger::CheckpointRow>> LedgerReader::checkpoints()
{
    return readCheckpoints(state_->db);
}

Result<std::vector<SupervisorLedger::ReplicaRow>> LedgerReader::replicas()
{
    return readReplicas(state_->db);
}

Result<std::int64_t> LedgerReader::newestEvent()
{
    return answer(state_->db, state_->db.integer("SELECT max(seq) FROM event").value_or(0));
}

Result<std::vector<Part>> LedgerReader::partsBehind(CheckpointId checkpoint)
{
    Database& db = state_->db;
    auto view = Transaction::read(db);
    if (!view.ok())
        return view.error();
    std::vector<Part> parts;
    for (const std::int64_t id : loadLineage(db).ancestors(checkpoint.value)) {
        for (const PartRow& part : livingPartsOf(db, id))
            if (!part.skipped)
                parts.push_back({ part.chunk, part.windows, part.steps });
    }
    if (Status status = view.value().commit(); !status.ok())
        return status.error();
    return parts;
}

Result<LedgerReader::Retreat> LedgerReader::retreat(std::optional<CheckpointId> newest, const std::vector<CheckpointId>& bad)
{
    Database& db = state_->db;
    auto view = Transaction::read(db);
    if (!view.ok())
        return view.error();
    Lineage lineage = loadLineage(db);
    for (const CheckpointId one : bad)
        lineage.nodes[one.value].damaged = true;
    const std::set<std::int64_t> before = lineage.behindHeads();
    lineage.retreatFrom(newest ? lineage.badAfter(newest->value) : lineage.bad());
    const std::set<std::int64_t> after = lineage.behindHeads();
    Retreat found;
    for (const auto& [replica, head] : lineage.heads)
        if (head)
            found.heads.push_back({ *head });
    std::set<std::int64_t> chunks;
    for (const std::int64_t id : before) {
        if (after.contains(id))
            continue;
        for (const PartRow& part : livingPartsOf(db, id))
            if (db.integer("SELECT 1 FROM chunk WHERE id=? AND state=?", part.chunk, ChunkState::Committed))
                chunks.insert(part.chunk.value);
    }
    for (const std::int64_t chunk : chunks)
        found.chunks.push_back({ chunk });
    if (Status status = view.value().commit(); !status.ok())
        return status.error();
    return found;
}

Result<LedgerReader::BlockRow> LedgerReader::block(std::int64_t block)
{
    BlockRow found;
    {
        Rows row = state_->db.query("SELECT block, source, first_row, rows, plan, file_name, digest FROM block WHERE block=?", block);
        if (row.next())
            found = { row.integer(0), row.int32(1), row.integer(2), row.integer(3), row.text(4), row.text(5), row.text(6) };
        else
            state_->db.fail({ ErrorCode::NotFound, "block " + std::to_string(block) + " is not known" });
    }
    return answer(state_->db, std::move(found));
}

Result<LedgerReader::Totals> LedgerReader::totals()
{
    Database& db = state_->db;
    auto view = Transaction::read(db);
    if (!view.ok())
        return view.error();
    Totals totals;
    const RunState run = loadRunState(db);
    totals.steps = run.steps;
    totals.tokens = run.tokens;
    totals.activeSeconds = run.activeHours * 3600;
    totals.rules = run.rules;
    totals.stop = run.stop;
    totals.desired = static_cast<DesiredState>(db.integer("SELECT desired FROM control").value_or(0));
    {
        Rows rows = db.query("SELECT role, pid, start_time, boot_id, heartbeat, heartbeat_wall, doing FROM process");
        while (rows.next()) {
            if (rows.text(0) == "supervisor") {
                totals.supervisor = identityAt(rows, 1);
                totals.supervisorHeartbeatNs = rows.integer(4);
                totals.supervisorHeartbeatWallNs = rows.integer(5);
            } else if (rows.text(0) == "feeder") {
                totals.feeder = identityAt(rows, 1);
                totals.feederDoing = rows.text(6);
            }
        }
    }
    if (Status status = view.value().commit(); !status.ok())
        return status.error();
    return totals;
}

} // namespace furrow
