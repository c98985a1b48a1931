#include "core/tracker/ledger_reader.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/config/message_json.h"
#include "core/tracker/kept_messages.h"
#include "core/tracker/epochs.h"
#include "core/tracker/incarnations.h"
#include "core/tracker/lineage.h"
#include "core/tracker/lineage_rows.h"
#include "core/tracker/replica_steps.h"
#include "core/tracker/row_bounds.h"
#include "core/tracker/sample_losses.h"
#include "core/tracker/schema.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>

namespace furrow {

struct LedgerReader::State {
    Database db;
    bool inherits = false; ///< keepsInherited(), asked once
    Message standsInBecause {};
    std::map<std::int64_t, std::int64_t> stepsBefore {}; ///< stepsBeforeProcesses()
    std::pair<std::int64_t, std::int64_t> stepsAreOf {}; ///< the newest process and checkpoint then

    std::vector<ClaimRow> claimsAt(Rows rows);
    std::int64_t stepsBeforeProcess(std::int64_t process);
};

namespace {

// Answers what was read, or the failure that the database kept meanwhile.
template <typename T> Result<T> answer(Database& db, T value)
{
    FURROW_TRY(db.takeStatus());
    return value;
}

ProcessIdentity identityAt(const Rows& row, int column)
{
    return { row.integer(column), row.integer(column + 1), row.text(column + 2) };
}

#define FURROW_CELLS(inherited, which)                                                                                             \
    "SELECT id, state, worker, attempt, times_trained, times_lost, mean_loss, trained_wall, windows, covered, samples, " inherited \
    ", tokens FROM chunk WHERE id>=? AND id<? " which " ORDER BY id"

/// Its size and what checkpoints have of it, in three columns from this one on.
void takeExtent(ChunkCell& cell, Database& db, const Rows& row, int column)
{
    cell.windows = row.isNull(column) ? 0 : static_cast<std::int32_t>(boundedAt(db, row, column, kWindowBounds));
    cell.covered = static_cast<std::int32_t>(boundedAt(db, row, column + 1, kWindowBounds));
    cell.samples = boundedAt(db, row, column + 2, kAmountBounds);
}

ChunkCell cellAt(Database& db, const Rows& row)
{
    ChunkCell cell;
    cell.id = chunkIdAt(db, row, 0);
    const ChunkPlace place = placeOf(cell.id);
    cell.block = place.block;
    cell.column = place.column;
    cell.state = static_cast<ChunkState>(boundedAt(db, row, 1, kStateBounds));
    cell.worker = static_cast<std::int16_t>(boundedAt(db, row, 2, kWorkerBounds));
    cell.attempt = static_cast<std::int16_t>(row.integer(3));
    cell.timesTrained = static_cast<std::int16_t>(row.integer(4));
    cell.timesLost = static_cast<std::int16_t>(row.integer(5));
    cell.meanLoss = row.isNull(6) ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(row.real(6));
    cell.trainedWallNs = row.integer(7);
    takeExtent(cell, db, row, 8);
    cell.inherited = static_cast<Inherited>(row.integer(11));
    cell.tokens = boundedAt(db, row, 12, kAmountBounds);
    return cell;
}

void appendCells(Database& db, bool inherits, std::int64_t firstId, std::int64_t pastId, std::vector<ChunkCell>& cells)
{
    Rows rows = db.query(inherits ? FURROW_CELLS("inherited", "") : FURROW_CELLS("0", ""), firstId, pastId);
    while (rows.next())
        cells.push_back(cellAt(db, rows));
}

ClaimEnd endOf(std::int64_t written, bool isCommitted, bool isLeftBehind)
{
    switch (static_cast<ClaimOutcome>(written)) {
    case ClaimOutcome::Open: return ClaimEnd::Open;
    case ClaimOutcome::Trained: break;
    case ClaimOutcome::Released: return ClaimEnd::Released;
    case ClaimOutcome::Lost: return ClaimEnd::Lost;
    case ClaimOutcome::Failed: return ClaimEnd::Failed;
    default: return ClaimEnd::Unknown;
    }
    return isCommitted ? ClaimEnd::Committed : isLeftBehind ? ClaimEnd::Lost : ClaimEnd::Trained;
}

ClaimRow claimAt(Database& db, const Rows& row)
{
    ClaimRow claim;
    claim.claimId = row.integer(0);
    claim.chunk = chunkIdAt(db, row, 1);
    const ChunkPlace place = placeOf(claim.chunk);
    claim.epoch = place.epoch;
    claim.block = place.block;
    claim.column = place.column;
    claim.worker = static_cast<std::int32_t>(boundedAt(db, row, 2, kWorkerBounds));
    claim.replica = static_cast<std::int32_t>(boundedAt(db, row, 3, kWorkerBounds));
    claim.attempt = { row.integer(4) };
    claim.claimedWallNs = row.integer(5);
    claim.startedWallNs = row.integer(6);
    claim.endedWallNs = row.integer(7);
    claim.samples = boundedAt(db, row, 9, kAmountBounds);
    claim.tokens = boundedAt(db, row, 10, kAmountBounds);
    claim.meanLoss = claim.tokens > 0 ? row.real(11) / static_cast<double>(claim.tokens)
                                      : std::numeric_limits<double>::quiet_NaN();
    claim.peakGradientNorm = row.real(12);
    claim.firstStep = row.integer(13);
    claim.lastStep = row.integer(14);
    claim.checkpoint = row.integer(15);
    claim.isLeftBehind = row.integer(16) != 0;
    claim.keptSteps = boundedAt(db, row, 17, kAmountBounds);
    claim.keptWindows = static_cast<std::int32_t>(boundedAt(db, row, 18, kWindowBounds));
    // A training that goes on, or whose end no checkpoint has yet, is not committed by its first part.
    const bool hasAll = claim.keptWindows >= countWindows(decodeRanges(row.text(19)));
    const bool isCommitted = claim.checkpoint != 0 && (hasAll || claim.isLeftBehind);
    claim.outcome = endOf(row.integer(8), isCommitted, claim.isLeftBehind);
    return claim;
}

constexpr Bounds kFromBounds { "state", -1, kChunkStateCount - 1 }; // -1: the chunk became known

ChunkCounts countsAt(Database& db, const Rows& row, int column)
{
    ChunkCounts counts;
    for (int state = 0; state < kChunkStateCount; ++state)
        counts.byState[state] = boundedAt(db, row, column + state, kAmountBounds);
    return counts;
}

RowCounts rowCountsAt(Database& db, const Rows& row, int column)
{
    const auto total = [&](int place) { return boundedAt(db, row, column + place, kTotalBounds); };
    return { total(0), total(1), total(2), total(3), total(4), total(5) };
}

} // namespace

std::int64_t LedgerReader::State::stepsBeforeProcess(std::int64_t process)
{
    const std::pair newest { db.integer("SELECT max(id) FROM incarnation").value_or(0),
        db.integer("SELECT max(id) FROM checkpoint").value_or(0) };
    if (newest != stepsAreOf) {
        stepsBefore = stepsBeforeProcesses(db);
        stepsAreOf = newest;
    }
    const auto found = stepsBefore.find(process);
    return found == stepsBefore.end() ? 0 : found->second;
}

/// With the steps of the replica: the ledger has those of each process.
std::vector<ClaimRow> LedgerReader::State::claimsAt(Rows rows)
{
    std::vector<ClaimRow> claims;
    std::int64_t process = 0;
    std::int64_t before = 0;
    while (rows.next()) {
        ClaimRow& claim = claims.emplace_back(claimAt(db, rows));
        if (claim.firstStep <= 0 || claim.lastStep > kTotalBounds.most) // not told, or by nobody of ours
            continue;
        if (rows.integer(20) != process) {
            process = rows.integer(20);
            before = stepsBeforeProcess(process);
        }
        claim.firstStep += before;
        claim.lastStep += before;
    }
    return claims;
}

LedgerReader::LedgerReader(std::unique_ptr<State> state)
    : state_(std::move(state))
{
}
LedgerReader::LedgerReader(LedgerReader&&) noexcept = default;
LedgerReader::~LedgerReader() = default;

Result<LedgerReader> LedgerReader::open(
    const std::filesystem::path& tracker, const std::filesystem::path& shownAs, ReadFor readFor)
{
    FURROW_TRY_ASSIGN(auto db, openForReading(tracker, shownAs, readFor));
    const bool inherits = keepsInherited(db);
    return LedgerReader(std::make_unique<State>(State { std::move(db), inherits, {} }));
}

void LedgerReader::standIn(Message why) { state_->standsInBecause = std::move(why); }

const Message& LedgerReader::standsInBecause() const { return state_->standsInBecause; }

bool LedgerReader::isOfOneMoment() const { return state_->db.isImmutable(); }

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

Status LedgerReader::checkIsLive(const std::filesystem::path& tracker)
{
    auto db = openForReading(tracker);
    if (!db.ok())
        return {}; // who needs it says so
    std::string mode;
    {
        Rows row = db.value().query("PRAGMA journal_mode");
        if (row.next())
            mode = row.text(0);
    }
    FURROW_TRY(db.value().takeStatus());
    if (mode == "wal" || db.value().isImmutable()) // of a file that was opened without its WAL nobody can say
        return {};
    return Error { ErrorCode::Corrupt,
        sentence(Database::kNotLive, { utf8Text(tracker), utf8Text(tracker.parent_path()) }) };
}

Result<std::string> LedgerReader::runId() { return metaText(state_->db, "run_id"); }

Result<std::string> LedgerReader::frozen() { return metaText(state_->db, "frozen"); }

Result<std::int64_t> LedgerReader::participations()
{
    constexpr std::int64_t kMost = std::int64_t { 1 } << 40;
    FURROW_TRY_ASSIGN(const std::string kept, metaText(state_->db, kParticipations));
    std::int64_t count = 0;
    const auto read = std::from_chars(kept.data(), kept.data() + kept.size(), count);
    return read.ec == std::errc() && count >= 0 && count <= kMost ? count : 0;
}

Result<Message> LedgerReader::goesOnWithout()
{
    Message what;
    {
        Rows row = state_->db.query("SELECT value FROM meta WHERE key=?", kGoesOnWithout);
        if (row.next())
            what = messageAt(state_->db, row, 0);
    }
    return answer(state_->db, std::move(what));
}

Result<std::vector<Message>> LedgerReader::notSaved()
{
    std::vector<Message> what;
    {
        Rows rows = state_->db.query(
            "SELECT meta.value FROM incarnation JOIN meta ON meta.key=?||incarnation.id WHERE incarnation.live=1 ORDER BY incarnation.worker",
            kNotSaved);
        while (rows.next())
            what.push_back(messageAt(state_->db, rows, 0));
    }
    return answer(state_->db, std::move(what));
}

Result<std::map<std::string, std::string>> LedgerReader::orderFacts()
{
    std::map<std::string, std::string> facts;
    {
        Rows rows = state_->db.query(
            "SELECT key, value FROM meta WHERE key IN ('seed', 'shuffle_window_blocks', 'linear_order', 'start_at', 'window_tokens')");
        while (rows.next())
            facts[rows.text(0)] = rows.text(1);
    }
    return answer(state_->db, std::move(facts));
}

Result<std::vector<AttemptRow>> LedgerReader::attempts()
{
    std::vector<AttemptRow> attempts;
    {
        Rows rows = state_->db.query(
            "SELECT a.id, a.pid, a.start_time, a.boot_id, a.started_wall, a.ended_wall, a.reason, a.detail, a.overrides,"
            " CASE WHEN a.ended_wall IS NULL THEN coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key='seen-' || a.id),"
            " (SELECT heartbeat_wall FROM process p WHERE p.role='supervisor' AND p.pid=a.pid AND p.start_time=a.start_time"
            " AND p.boot_id=a.boot_id), 0) ELSE 0 END FROM attempt a ORDER BY a.id");
        while (rows.next())
            attempts.push_back(
                { { rows.integer(0) }, identityAt(rows, 1), rows.integer(4), rows.optionalInteger(5), rows.integer(9),
                    static_cast<StopReason>(rows.integer(6)), messageAt(state_->db, rows, 7), rows.text(8) });
    }
    return answer(state_->db, std::move(attempts));
}

Result<std::vector<ActiveStretch>> LedgerReader::activeStretches()
{
    std::vector<ActiveStretch> stretches;
    {
        Rows rows = state_->db.query(keepsActiveStretches(state_->db)
                ? "SELECT began_wall, ended_wall, active_ns FROM active_stretch ORDER BY id"
                : kActiveByAttempts);
        while (rows.next())
            stretches.push_back({ rows.integer(0), rows.integer(1), rows.integer(2) });
    }
    return answer(state_->db, std::move(stretches));
}

Result<std::map<AttemptId, std::int64_t>> LedgerReader::stepsOfAttempts()
{
    std::map<AttemptId, std::int64_t> steps;
    {
        Rows rows
            = state_->db.query("SELECT i.attempt, sum(c.steps) FROM claim c JOIN incarnation i ON i.id=c.incarnation"
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
        Rows rows = state_->db.query(
            "SELECT id, attempt, worker, replica, pid, start_time, boot_id, device, device_name, live, end_cause, started_wall,"
            " ended_wall, lease_until, progress, phase, chunk, chunk_fraction, step, tokens, loss, tokens_per_second"
            " FROM incarnation ORDER BY id");
        while (rows.next()) {
            IncarnationRow row;
            row.id = { rows.integer(0) };
            row.attempt = { rows.integer(1) };
            row.worker = static_cast<std::int32_t>(boundedAt(state_->db, rows, 2, kWorkerBounds));
            row.replica = static_cast<std::int32_t>(boundedAt(state_->db, rows, 3, kWorkerBounds));
            row.process = identityAt(rows, 4);
            row.device = lineAt(rows, 7);
            row.deviceName = lineAt(rows, 8);
            row.live = rows.integer(9) != 0;
            row.endCause = messageAt(state_->db, rows, 10);
            row.startedWallNs = rows.integer(11);
            row.endedWallNs = rows.integer(12);
            row.leaseUntilNs = rows.integer(13);
            row.progressNs = rows.integer(14);
            row.phase = closedValue<WorkerPhase>(lineAt(rows, 15)).value_or(WorkerPhase::None);
            row.chunk = chunkIdOrNoneAt(state_->db, rows, 16);
            row.chunkFraction = rows.real(17);
            row.step = boundedAt(state_->db, rows, 18, kTotalBounds);
            row.tokens = boundedAt(state_->db, rows, 19, kTotalBounds);
            row.loss = rows.isNull(20) ? std::numeric_limits<double>::quiet_NaN() : rows.real(20);
            row.tokensPerSecond = rows.real(21);
            found.push_back(std::move(row));
        }
    }
    return answer(state_->db, std::move(found));
}

Result<std::vector<EpochRow>> LedgerReader::epochs()
{
    Database& db = state_->db;
    std::vector<EpochRow> epochs;
    {
        Rows rows = db.query(
            "SELECT e.epoch, e.opened_wall, e.closed_wall, d.block_count, d.known_blocks, e.visited_blocks, e.completed_blocks,"
            " d.prepared_blocks, e.n0, e.n1, e.n2, e.n3, e.n4, e.n5, e.n6, e.n7, e.done_rows, e.done_samples, e.done_filtered,"
            " e.done_failed, e.done_held_out, e.done_duplicates, e.known_rows, e.known_samples, e.known_filtered,"
            " e.known_failed, e.known_held_out, e.known_duplicates, d.unproven_reason FROM epoch e, dataset d ORDER BY e.epoch");
        while (rows.next()) {
            EpochRow row;
            row.epoch = boundedAt(db, rows, 0, kEpochBounds);
            row.openedWallNs = rows.integer(1);
            row.closedWallNs = rows.optionalInteger(2);
            if (!rows.isNull(3))
                row.blockCount = boundedAt(db, rows, 3, kAmountBounds);
            row.knownBlocks = boundedAt(db, rows, 4, kAmountBounds);
            row.visitedBlocks = boundedAt(db, rows, 5, kAmountBounds);
            row.completedBlocks = boundedAt(db, rows, 6, kAmountBounds);
            row.preparedBlocks = boundedAt(db, rows, 7, kAmountBounds);
            row.chunks = countsAt(db, rows, 8);
            row.rowsCommitted = rowCountsAt(db, rows, 16);
            row.rowsKnown = rowCountsAt(db, rows, 22);
            row.unprovenReason = messageAt(db, rows, 28);
            epochs.push_back(std::move(row));
        }
    }
    return answer(state_->db, std::move(epochs));
}

Result<std::vector<ChunkCell>> LedgerReader::cells(std::int64_t epoch)
{
    std::vector<ChunkCell> cells;
    if (epoch >= 0 && epoch < kMaxEpochs)
        appendCells(state_->db, state_->inherits, chunkIdOf({ epoch, 0, 0 }).value,
            chunkIdOf({ epoch, kMaxBlocks - 1, 0 }).value, cells);
    return answer(state_->db, std::move(cells));
}

Result<ChunkCell> LedgerReader::cell(ChunkId chunk)
{
    std::vector<ChunkCell> cells;
    appendCells(state_->db, state_->inherits, chunk.value, chunk.value + 1, cells);
    if (cells.empty())
        state_->db.fail({ ErrorCode::NotFound, sentence("there is no %1", { toString(chunk) }) });
    return answer(state_->db, cells.empty() ? ChunkCell {} : cells.front());
}

Result<std::vector<ChunkCell>> LedgerReader::heldBy(IncarnationId incarnation)
{
#define FURROW_HELD \
    "SELECT k.id, k.state, k.times_lost, c.started_wall, k.windows, k.covered, k.samples FROM claim c CROSS JOIN chunk k ON k.id=c.chunk"
    Database& db = state_->db;
    std::vector<ChunkCell> cells;
    {
        Rows rows = keepsClaimSpans(db) // of the same version
            ? db.query(FURROW_HELD
                  " WHERE c.id>=(SELECT first_held FROM incarnation WHERE id=?1) AND c.incarnation=?1 AND k.claim=c.id AND k.holder=?1",
                  incarnation)
            : db.query(FURROW_HELD " WHERE c.incarnation=?1 AND k.claim=c.id AND k.holder=?1", incarnation);
        while (rows.next()) {
            ChunkCell cell;
            cell.id = chunkIdAt(db, rows, 0);
            cell.block = placeOf(cell.id).block;
            cell.column = placeOf(cell.id).column;
            cell.state = static_cast<ChunkState>(boundedAt(db, rows, 1, kStateBounds));
            cell.timesLost = static_cast<std::int16_t>(rows.integer(2));
            cell.begun = rows.integer(3) != 0;
            takeExtent(cell, db, rows, 4);
            cells.push_back(cell);
        }
    }
    return answer(db, std::move(cells));
#undef FURROW_HELD
}

namespace {

/// @param sql  of a sum over the chunks from an id up to another one that are in a state
Result<std::int64_t> sumIn(Database& db, ChunkState state, std::int64_t epoch, const char* sql)
{
    std::int64_t sum = 0;
    if (epoch >= 0 && epoch < kMaxEpochs)
        sum = db.integer(sql, chunkIdOf({ epoch, 0, 0 }).value, chunkIdOf({ epoch, kMaxBlocks - 1, 0 }).value,
                    static_cast<std::int64_t>(state))
                  .value_or(0);
    return answer(db, std::move(sum));
}

} // namespace

Result<std::int64_t> LedgerReader::samplesIn(ChunkState state, std::int64_t epoch)
{
    return sumIn(state_->db, state, epoch, "SELECT sum(samples) FROM chunk WHERE id>=? AND id<? AND state=?");
}

Result<std::int64_t> LedgerReader::unreadRowsIn(ChunkState state, std::int64_t epoch)
{
    return sumIn(state_->db, state, epoch,
        "SELECT sum(rows) FROM chunk WHERE id>=? AND id<? AND state=? AND samples+filtered+failed+held_out+duplicates=0");
}

Result<std::vector<ChunkCell>> LedgerReader::takenUpOnce(std::int64_t epoch)
{
    std::vector<ChunkCell> cells;
    if (epoch >= 0 && epoch < kMaxEpochs) {
        Rows rows = state_->db.query(state_->inherits
                ? FURROW_CELLS("inherited", "AND state<=1 AND (times_lost>0 OR covered>0)")
                : FURROW_CELLS("0", "AND state<=1 AND (times_lost>0 OR covered>0)"),
            chunkIdOf({ epoch, 0, 0 }).value, chunkIdOf({ epoch, kMaxBlocks - 1, 0 }).value);
        while (rows.next())
            cells.push_back(cellAt(state_->db, rows));
    }
    return answer(state_->db, std::move(cells));
}

Result<std::vector<ChunkCell>> LedgerReader::changedCells(std::int64_t epoch, std::int64_t& seq)
{
    Database& db = state_->db;
    FURROW_TRY_ASSIGN(auto view, Transaction::read(db));
    std::vector<ChunkCell> cells;
    std::int64_t newest = seq;
    if (epoch >= 0 && epoch < kMaxEpochs) {
        std::vector<std::pair<std::int64_t, std::int64_t>>
            changed; // half-open ranges of ids: an event may speak of a million chunks
        {
            Rows rows = db.query("SELECT seq, chunk, count FROM event WHERE seq>? ORDER BY seq", seq);
            while (rows.next()) {
                newest = rows.integer(0);
                const ChunkId id = chunkIdOrNoneAt(db, rows, 1);
                if (id.value != 0 && placeOf(id).epoch == epoch)
                    changed.emplace_back(id.value, id.value + eventCountAt(db, rows, 2, id));
            }
        }
        std::sort(changed.begin(), changed.end());
        std::int64_t reached = 0;
        for (const auto& [begin, end] : changed) {
            if (end > reached)
                appendCells(db, state_->inherits, std::max(begin, reached), end, cells);
            reached = std::max(reached, end);
        }
    }
    FURROW_TRY(view.commit());
    seq = newest;
    return cells;
}

#define FURROW_CLAIM_COLUMNS                                                                                                              \
    "SELECT c.id, c.chunk, i.worker, i.replica, i.attempt, c.claimed_wall, c.started_wall, c.ended_wall, c.outcome, c.samples, c.tokens," \
    " c.loss_sum, c.peak_norm, c.first_step, c.last_step,"                                                                                \
    " coalesce((SELECT max(checkpoint) FROM part p WHERE p.claim=c.id AND p.alive=1), 0),"                                                \
    " EXISTS (SELECT 1 FROM part p WHERE p.claim=c.id AND p.alive=0),"                                                                    \
    " coalesce((SELECT sum(steps) FROM part p WHERE p.claim=c.id AND p.alive=1), 0),"                                                     \
    " coalesce((SELECT sum(past-first) FROM part p WHERE p.claim=c.id AND p.alive=1), 0), c.done, c.incarnation"                          \
    " FROM claim c JOIN incarnation i ON i.id=c.incarnation "

Result<std::vector<ClaimRow>> LedgerReader::claimsSince(std::int64_t claimId, int limit)
{
    auto claims
        = state_->claimsAt(state_->db.query(FURROW_CLAIM_COLUMNS "WHERE c.id>? ORDER BY c.id LIMIT ?", claimId, limit));
    return answer(state_->db, std::move(claims));
}

Result<std::vector<ClaimRow>> LedgerReader::claimsOf(ChunkId chunk)
{
    auto claims = state_->claimsAt(state_->db.query(FURROW_CLAIM_COLUMNS "WHERE c.chunk=? ORDER BY c.id", chunk));
    return answer(state_->db, std::move(claims));
}

Result<std::optional<ClaimRow>> LedgerReader::newestTrainingOf(IncarnationId incarnation)
{
    auto claims = state_->claimsAt(state_->db.query(
        FURROW_CLAIM_COLUMNS "WHERE c.incarnation=? AND c.started_wall<>0 ORDER BY c.id DESC LIMIT 1", incarnation));
    return answer(state_->db, claims.empty() ? std::nullopt : std::optional(claims.front()));
}

Result<std::vector<SampleLoss>> LedgerReader::sampleLosses(ChunkId chunk)
{
    std::vector<SampleLoss> losses;
    if (!keepsSampleLosses(state_->db))
        return answer(state_->db, std::move(losses));
    Rows rows = state_->db.query(
        "SELECT sample_losses FROM claim c WHERE chunk=? AND outcome=? AND sample_losses<>''"
        " AND (EXISTS (SELECT 1 FROM part p WHERE p.claim=c.id AND p.alive=1) OR NOT EXISTS (SELECT 1 FROM part p WHERE p.claim=c.id))"
        " ORDER BY id DESC",
        chunk, ClaimOutcome::Trained);
    while (rows.next())
        for (const SampleLoss& one : decodeSampleLosses(rows.text(0)))
            if (std::none_of(
                    losses.begin(), losses.end(), [&](const SampleLoss& known) { return known.sample == one.sample; }))
                losses.push_back(one);
    std::stable_sort(
        losses.begin(), losses.end(), [](const SampleLoss& a, const SampleLoss& b) { return a.loss > b.loss; });
    return answer(state_->db, std::move(losses));
}

#undef FURROW_CLAIM_COLUMNS

Result<std::vector<EventRow>> LedgerReader::eventsSince(std::int64_t seq, int limit)
{
    Database& db = state_->db;
    std::vector<EventRow> events;
    {
        KeptMessages causes(db);
        Rows rows = db.query(
            "SELECT seq, wall, chunk, from_state, to_state, incarnation, cause, count FROM event WHERE seq>? ORDER BY seq LIMIT ?",
            seq, limit);
        while (rows.next()) {
            const ChunkId chunk = chunkIdOrNoneAt(db, rows, 2);
            const auto from = static_cast<int>(boundedAt(db, rows, 3, kFromBounds));
            const auto to = static_cast<int>(boundedAt(db, rows, 4, kStateBounds));
            events.push_back({ rows.integer(0), rows.integer(1), chunk, from, to, rows.integer(5), causes.at(rows, 6),
                eventCountAt(db, rows, 7, chunk) });
        }
    }
    return answer(state_->db, std::move(events));
}

Result<std::vector<SupervisorLedger::CheckpointRow>> LedgerReader::checkpoints() { return readCheckpoints(state_->db); }

Result<std::vector<SupervisorLedger::ReplicaRow>> LedgerReader::replicas() { return readReplicas(state_->db); }

Result<Message> LedgerReader::newestPoisonedCause()
{
    Message cause;
    {
        Rows rows = state_->db.query("SELECT cause FROM event WHERE to_state=6 AND chunk<>0 ORDER BY seq DESC LIMIT 1");
        if (rows.next())
            cause = messageAt(state_->db, rows, 0);
    }
    return answer(state_->db, std::move(cause));
}

Result<std::int64_t> LedgerReader::newestEvent()
{
    return answer(state_->db, state_->db.integer("SELECT max(seq) FROM event").value_or(0));
}

Result<std::vector<Part>> LedgerReader::partsBehind(CheckpointId checkpoint)
{
    Database& db = state_->db;
    FURROW_TRY_ASSIGN(auto view, Transaction::read(db));
    std::vector<Part> parts;
    for (const std::int64_t id : loadLineage(db).ancestors(checkpoint.value)) {
        for (const PartRow& part : livingPartsOf(db, id))
            if (!part.skipped)
                parts.push_back({ part.chunk, part.windows, part.steps });
    }
    FURROW_TRY(view.commit());
    return parts;
}

Result<std::vector<Part>> LedgerReader::partsOf(CheckpointId checkpoint)
{
    std::vector<Part> parts;
    for (const PartRow& part : livingPartsOf(state_->db, checkpoint.value))
        parts.push_back({ part.chunk, part.windows, part.steps, part.skipped });
    return answer(state_->db, std::move(parts));
}

Result<LedgerReader::Retreat> LedgerReader::retreat(std::optional<CheckpointId> newest,
    const std::vector<CheckpointId>& bad, const std::vector<CheckpointId>& thereAgain)
{
    Database& db = state_->db;
    FURROW_TRY_ASSIGN(auto view, Transaction::read(db));
    Lineage lineage = loadLineage(db);
    for (const CheckpointId one : bad)
        lineage.nodes[one.value].damaged = true;
    for (const CheckpointId one : thereAgain)
        lineage.nodes[one.value].removed = false;
    const std::set<std::int64_t> before = lineage.behindHeads();
    lineage.retreatFrom(newest ? lineage.badAfter(newest->value) : lineage.bad());
    const std::set<std::int64_t> after = lineage.behindHeads();
    Retreat found;
    for (const auto& [replica, head] : lineage.heads)
        if (head)
            found.heads.emplace(replica, CheckpointId { *head });
    for (const std::int64_t id : after)
        found.surviving.insert({ id });
    std::set<ChunkId> chunks;
    std::set<ChunkId> parts;
    for (const std::int64_t id : before) {
        if (after.contains(id))
            continue;
        for (const PartRow& part : livingPartsOf(db, id)) {
            const bool isCommitted
                = db.integer("SELECT 1 FROM chunk WHERE id=? AND state=?", part.chunk, ChunkState::Committed)
                      .has_value();
            (isCommitted ? chunks : parts).insert(part.chunk);
        }
    }
    found.chunks.assign(chunks.begin(), chunks.end());
    found.parts.assign(parts.begin(), parts.end());
    FURROW_TRY(view.commit());
    return found;
}

#define FURROW_BLOCK_COLUMNS "block, source, first_row, rows, chunks, plan, file_name, digest"

namespace {

LedgerReader::BlockRow blockAt(Database& db, const Rows& row)
{
    return { boundedAt(db, row, 0, kBlockBounds), static_cast<std::int32_t>(boundedAt(db, row, 1, kWindowBounds)),
        boundedAt(db, row, 2, kTotalBounds), boundedAt(db, row, 3, kTotalBounds), boundedAt(db, row, 4, kAmountBounds),
        row.text(5), row.text(6), row.text(7) };
}

} // namespace

Result<std::vector<LedgerReader::BlockRow>> LedgerReader::blocksAfter(std::int64_t block, int limit, Blocks which)
{
    std::vector<BlockRow> found;
    {
        Rows rows = state_->db.query("SELECT " FURROW_BLOCK_COLUMNS
                                     " FROM block WHERE block>? AND (digest<>'' OR ?) ORDER BY block LIMIT ?",
            block, which == Blocks::Known, limit);
        while (rows.next())
            found.push_back(blockAt(state_->db, rows));
    }
    return answer(state_->db, std::move(found));
}

Result<std::vector<LedgerReader::ChunkContent>> LedgerReader::committedOf(std::int64_t block)
{
    Database& db = state_->db;
    std::vector<ChunkContent> found;
    Rows epochs = db.query("SELECT epoch FROM epoch ORDER BY epoch");
    while (epochs.next()) {
        const std::int64_t first = chunkIdOf({ boundedAt(db, epochs, 0, kEpochBounds), block, 0 }).value;
        Rows rows = db.query(
            "SELECT id, rows, samples, filtered, failed, held_out, duplicates, windows, tokens, digest FROM chunk"
            " WHERE id>=? AND id<? AND state=? AND windows IS NOT NULL ORDER BY id",
            first, first + kMaxChunksPerBlock, ChunkState::Committed);
        while (rows.next())
            found.push_back({ chunkIdAt(db, rows, 0), rowCountsAt(db, rows, 1),
                static_cast<std::int32_t>(boundedAt(db, rows, 7, kWindowBounds)), boundedAt(db, rows, 8, kAmountBounds),
                static_cast<std::uint64_t>(rows.integer(9)) });
    }
    return answer(db, std::move(found));
}

Result<LedgerReader::BlockRow> LedgerReader::block(std::int64_t block)
{
    BlockRow found;
    {
        Rows row = state_->db.query("SELECT " FURROW_BLOCK_COLUMNS " FROM block WHERE block=?", block);
        if (row.next())
            found = blockAt(state_->db, row);
        else
            state_->db.fail({ ErrorCode::NotFound, sentence("block %1 is not known", { std::to_string(block) }) });
    }
    if (!found.fileName.empty() && !isPlainName(found.fileName)) // it would lead out of the cache
        state_->db.fail({ ErrorCode::Corrupt,
            sentence(
                "the tracker names '%1' as the prepared file of block %2, which is no name of a file; `furrowctl doctor %3 --repair` rebuilds what the checkpoints prove",
                { found.fileName, std::to_string(block), utf8Text(state_->db.path().parent_path()) }) });
    return answer(state_->db, std::move(found));
}

namespace {

DataNotes dataNotes(Database& db)
{
    DataNotes notes;
    if (!keepsDataNotes(db))
        return notes;
    if (Rows sums = db.query("SELECT sum(repeats), sum(invalid_utf8) FROM block WHERE repeats>0 OR invalid_utf8>0");
        sums.next() && !sums.isNull(0)) {
        notes.repeats = boundedAt(db, sums, 0, kTotalBounds);
        notes.invalidUtf8 = boundedAt(db, sums, 1, kTotalBounds);
    }
    Rows first = db.query("SELECT unreadable FROM block WHERE unreadable<>'' ORDER BY block LIMIT 1");
    if (first.next())
        notes.firstUnreadable = messageAt(db, first, 0);
    return notes;
}

} // namespace

Result<LedgerReader::Totals> LedgerReader::totals()
{
    Database& db = state_->db;
    FURROW_TRY_ASSIGN(auto view, Transaction::read(db));
    Totals totals;
    const RunState run = loadRunState(db);
    totals.steps = bounded(db, run.steps, { "total of steps", kTotalBounds.least, kTotalBounds.most });
    totals.tokens = bounded(db, run.tokens, { "total of tokens", kTotalBounds.least, kTotalBounds.most });
    totals.activeSeconds = run.activeHours * 3600;
    totals.rules = run.rules;
    totals.stop = run.stop;
    totals.desired = static_cast<DesiredState>(std::clamp<std::int64_t>(
        db.integer("SELECT desired FROM control").value_or(0), 0, static_cast<int>(DesiredState::Kill)));
    {
        Rows rows = db.query("SELECT role, pid, start_time, boot_id, heartbeat, heartbeat_wall, doing FROM process");
        while (rows.next()) {
            if (rows.text(0) == "supervisor") {
                totals.supervisor = identityAt(rows, 1);
                totals.supervisorHeartbeatNs = rows.integer(4);
                totals.supervisorHeartbeatWallNs = rows.integer(5);
            } else if (rows.text(0) == "feeder") {
                totals.feeder = identityAt(rows, 1);
                Rows parts = db.query("SELECT value FROM meta WHERE key=?", kDoingParts + rows.text(0));
                totals.feederDoing = messageOf(lineAt(rows, 6), parts.next() ? parts.text(0) : std::string());
            }
        }
    }
    totals.data = dataNotes(db);
    FURROW_TRY(view.commit());
    return totals;
}

} // namespace furrow
