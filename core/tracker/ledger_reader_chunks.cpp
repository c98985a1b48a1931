// Chunks and what processes did with them: cells of the coverage map, claims, losses of samples.

#include "core/base/sentence.h"
#include "core/base/told.h"
#include "core/tracker/given_up.h"
#include "core/tracker/ledger_reader_state.h"
#include "core/tracker/left_out_samples.h"
#include "core/tracker/moves.h"
#include "core/tracker/row_bounds.h"
#include "core/tracker/sample_losses.h"
#include "core/tracker/schema.h"
#include "core/tracker/sqlite/select.h"

#include <algorithm>
#include <limits>
#include <sstream>

namespace furrow {

namespace {

// ChunkCell::savedSinceLoss, by the newest claim of a chunk that left a mark: a loss, or parts in checkpoints. Parts
// that the run went back behind are lost.
#define FURROW_SAVED_SINCE_LOSS                                                                                    \
    "CASE WHEN k.times_lost>0 AND k.covered>0 AND k.state<=2 THEN coalesce((SELECT c.outcome<>3 AND NOT EXISTS"    \
    " (SELECT 1 FROM part p WHERE p.claim=c.id AND p.alive=0) FROM claim c WHERE c.chunk=k.id AND (c.outcome=3 OR" \
    " EXISTS (SELECT 1 FROM part p WHERE p.claim=c.id)) ORDER BY c.id DESC LIMIT 1), 0) ELSE 0 END AS saved_since_loss"
static_assert(static_cast<int>(ClaimOutcome::Lost) == 3 && static_cast<int>(ChunkState::Leased) == 2);

// ChunkCell::worker and attempt. Who only held the chunk and gave it back trained nothing of it: unless somebody holds
// it, they are those of the training whose loss and end the chunk has, else of the newest that was begun.
#define FURROW_WHO_TRAINED(what)                                                                                    \
    "CASE WHEN k.state IN (2,3,4) OR k.worker<0 THEN k." what " ELSE coalesce((SELECT i." what " FROM claim c JOIN" \
    " incarnation i ON i.id=c.incarnation WHERE c.chunk=k.id AND c.started_wall<>0"                                 \
    " ORDER BY c.tokens>0 DESC, c.id DESC LIMIT 1), k." what ") END AS " what
static_assert(static_cast<int>(ChunkState::Leased) == 2 && static_cast<int>(ChunkState::Trained) == 3
    && static_cast<int>(ChunkState::Committed) == 4);

#define FURROW_CELLS(inherited, which)                                                                     \
    "SELECT k.id, k.state, " FURROW_WHO_TRAINED("worker") ", " FURROW_WHO_TRAINED(                         \
        "attempt") ", k.times_trained, k.times_lost, k.mean_loss, k.trained_wall, k.windows,"              \
                   " k.covered, k.samples, " inherited " AS inherited, k.tokens, " FURROW_SAVED_SINCE_LOSS \
                   " FROM chunk k WHERE k.id>=? AND"                                                       \
                   " k.id<? " which " ORDER BY k.id"
constexpr Select kCells { FURROW_CELLS("k.inherited", "") };
constexpr Select kCellsOfOld { FURROW_CELLS("0", "") }; // keepsInherited() says no
constexpr Select kCellsTakenUp { FURROW_CELLS("k.inherited", "AND k.state<=1 AND (k.times_lost>0 OR k.covered>0)") };
constexpr Select kCellsOfOldTakenUp { FURROW_CELLS("0", "AND k.state<=1 AND (k.times_lost>0 OR k.covered>0)") };
#undef FURROW_CELLS
#undef FURROW_WHO_TRAINED

/// Where a SELECT has which chunk it is, its state, its size and what checkpoints have of it.
struct CellColumns {
    int id;
    int state;
    int timesLost;
    int savedSinceLoss;
    int windows;
    int covered;
    int samples;
};

ChunkCell briefCellAt(Database& db, const Rows& row, const CellColumns& at)
{
    ChunkCell cell;
    cell.id = chunkIdAt(db, row, at.id);
    const ChunkPlace place = placeOf(cell.id);
    cell.block = place.block;
    cell.column = place.column;
    cell.state = static_cast<ChunkState>(boundedAt(db, row, at.state, kStateBounds));
    cell.timesLost = static_cast<std::int16_t>(row.integer(at.timesLost));
    cell.savedSinceLoss = row.integer(at.savedSinceLoss) != 0;
    cell.windows
        = row.isNull(at.windows) ? 0 : static_cast<std::int32_t>(boundedAt(db, row, at.windows, kWindowBounds));
    cell.covered = static_cast<std::int32_t>(boundedAt(db, row, at.covered, kWindowBounds));
    cell.samples = boundedAt(db, row, at.samples, kAmountBounds);
    return cell;
}

ChunkCell cellAt(Database& db, const Rows& row)
{
    constexpr CellColumns kBrief { kCells["id"], kCells["state"], kCells["times_lost"], kCells["saved_since_loss"],
        kCells["windows"], kCells["covered"], kCells["samples"] };
    ChunkCell cell = briefCellAt(db, row, kBrief);
    cell.worker = static_cast<std::int16_t>(boundedAt(db, row, kCells["worker"], kWorkerBounds));
    cell.attempt = static_cast<std::int16_t>(row.integer(kCells["attempt"]));
    cell.timesTrained = static_cast<std::int16_t>(row.integer(kCells["times_trained"]));
    cell.meanLoss = row.isNull(kCells["mean_loss"]) ? std::numeric_limits<float>::quiet_NaN()
                                                    : static_cast<float>(row.real(kCells["mean_loss"]));
    cell.trainedWallNs = row.integer(kCells["trained_wall"]);
    cell.inherited = static_cast<Inherited>(row.integer(kCells["inherited"]));
    cell.tokens = boundedAt(db, row, kCells["tokens"], kAmountBounds);
    return cell;
}

void appendCells(Database& db, bool inherits, std::int64_t firstId, std::int64_t pastId, std::vector<ChunkCell>& cells)
{
    Rows rows = db.query(inherits ? kCells.sql : kCellsOfOld.sql, firstId, pastId);
    while (rows.next())
        cells.push_back(cellAt(db, rows));
}

#define FURROW_CLAIMS                                                                                                \
    "SELECT c.id, c.chunk, i.worker, i.replica, i.attempt, c.claimed_wall, c.started_wall, c.ended_wall, c.outcome," \
    " c.samples, c.tokens, c.loss_sum, c.peak_norm, c.first_step, c.last_step,"                                      \
    " coalesce((SELECT max(checkpoint) FROM part p WHERE p.claim=c.id AND p.alive=1), 0) AS checkpoint,"             \
    " EXISTS (SELECT 1 FROM part p WHERE p.claim=c.id AND p.alive=0) AS left_behind,"                                \
    " coalesce((SELECT sum(steps) FROM part p WHERE p.claim=c.id AND p.alive=1), 0) AS kept_steps,"                  \
    " coalesce((SELECT sum(past-first) FROM part p WHERE p.claim=c.id AND p.alive=1), 0) AS kept_windows,"           \
    " (SELECT CASE WHEN count(*)>1 OR min(p.alive)=0 THEN group_concat(p.checkpoint||' '||p.steps||' '||"            \
    "(p.past-p.first)||' '||p.alive, ' ') END"                                                                       \
    " FROM part p WHERE p.claim=c.id) AS parts,"                                                                     \
    " c.done, c.cause, c.incarnation FROM claim c JOIN incarnation i ON i.id=c.incarnation "
constexpr Select kClaims { FURROW_CLAIMS };

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

/// As the SELECT writes them: "27 12 132 1 28 2 21 0".
std::vector<ClaimPart> claimParts(const std::string& text)
{
    std::vector<ClaimPart> parts;
    std::istringstream words(text);
    int isAlive = 0;
    for (ClaimPart part; words >> part.checkpoint.value >> part.steps >> part.windows >> isAlive;) {
        part.isAlive = isAlive != 0;
        parts.push_back(part);
    }
    return parts;
}

ClaimRow claimAt(Database& db, const Rows& row)
{
    ClaimRow claim;
    claim.claimId = row.integer(kClaims["id"]);
    claim.chunk = chunkIdAt(db, row, kClaims["chunk"]);
    const ChunkPlace place = placeOf(claim.chunk);
    claim.epoch = place.epoch;
    claim.block = place.block;
    claim.column = place.column;
    claim.worker = static_cast<std::int32_t>(boundedAt(db, row, kClaims["worker"], kWorkerBounds));
    claim.replica = static_cast<std::int32_t>(boundedAt(db, row, kClaims["replica"], kWorkerBounds));
    claim.attempt = { row.integer(kClaims["attempt"]) };
    claim.claimedWallNs = row.integer(kClaims["claimed_wall"]);
    claim.startedWallNs = row.integer(kClaims["started_wall"]);
    claim.endedWallNs = row.integer(kClaims["ended_wall"]);
    claim.samples = boundedAt(db, row, kClaims["samples"], kAmountBounds);
    claim.tokens = boundedAt(db, row, kClaims["tokens"], kAmountBounds);
    claim.meanLoss = claim.tokens > 0 ? row.real(kClaims["loss_sum"]) / static_cast<double>(claim.tokens)
                                      : std::numeric_limits<double>::quiet_NaN();
    claim.peakGradientNorm = row.real(kClaims["peak_norm"]);
    claim.firstStep = row.integer(kClaims["first_step"]);
    claim.lastStep = row.integer(kClaims["last_step"]);
    claim.checkpoint = row.integer(kClaims["checkpoint"]);
    claim.isLeftBehind = row.integer(kClaims["left_behind"]) != 0;
    claim.wentBack = claim.isLeftBehind && tells(Message(row.text(kClaims["cause"])), { kLeftByGoingBack });
    claim.keptSteps = boundedAt(db, row, kClaims["kept_steps"], kAmountBounds);
    claim.keptWindows = static_cast<std::int32_t>(boundedAt(db, row, kClaims["kept_windows"], kWindowBounds));
    if (!row.isNull(kClaims["parts"]))
        claim.parts = claimParts(row.text(kClaims["parts"]));
    claim.died = static_cast<ClaimOutcome>(row.integer(kClaims["outcome"])) == ClaimOutcome::Lost;
    const WindowRanges done = decodeRanges(row.text(kClaims["done"]));
    claim.doneWindows = static_cast<std::int32_t>(std::min<std::int64_t>(countWindows(done), kWindowBounds.most));
    if (!done.empty())
        claim.done = { done.front().begin, done.back().end };
    // A training that goes on, or whose end no checkpoint has yet, is not committed by its first part.
    const bool hasAll = claim.keptWindows >= claim.doneWindows;
    const bool isCommitted = claim.checkpoint != 0 && (hasAll || claim.isLeftBehind);
    claim.outcome = endOf(row.integer(kClaims["outcome"]), isCommitted, claim.isLeftBehind);
    return claim;
}

} // namespace

ProcessSteps LedgerReader::State::stepsOfProcess(std::int64_t process)
{
    const std::pair newest { db.integer("SELECT max(id) FROM incarnation").value_or(0),
        db.integer("SELECT max(id) FROM checkpoint").value_or(0) };
    if (newest != stepsAreOf) {
        processSteps = stepsOfProcesses(db);
        stepsAreOf = newest;
    }
    const auto found = processSteps.find(process);
    return found == processSteps.end() ? ProcessSteps {} : found->second;
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
        if (rows.integer(kClaims["incarnation"]) != process) {
            process = rows.integer(kClaims["incarnation"]);
            before = stepsOfProcess(process).before;
        }
        claim.firstStep += before;
        claim.lastStep += before;
    }
    return claims;
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
#define FURROW_HELD(since)                                                                                          \
    "SELECT k.id, k.state, k.times_lost, h.started_wall, k.windows, k.covered, k.samples, " FURROW_SAVED_SINCE_LOSS \
    " FROM claim h CROSS JOIN chunk k ON k.id=h.chunk WHERE " since                                                 \
    "h.incarnation=?1 AND k.claim=h.id AND k.holder=?1"
    static constexpr Select kHeld { FURROW_HELD("h.id>=(SELECT first_held FROM incarnation WHERE id=?1) AND ") };
    static constexpr Select kHeldOfOld { FURROW_HELD("") };
#undef FURROW_HELD
#undef FURROW_SAVED_SINCE_LOSS
    constexpr CellColumns kBrief { kHeld["id"], kHeld["state"], kHeld["times_lost"], kHeld["saved_since_loss"],
        kHeld["windows"], kHeld["covered"], kHeld["samples"] };
    Database& db = state_->db;
    std::vector<ChunkCell> cells;
    {
        Rows rows = db.query(keepsClaimSpans(db) ? kHeld.sql : kHeldOfOld.sql, incarnation); // of the same version
        while (rows.next()) {
            cells.push_back(briefCellAt(db, rows, kBrief));
            cells.back().begun = rows.integer(kHeld["started_wall"]) != 0;
        }
    }
    return answer(db, std::move(cells));
}

std::int64_t PartlyLeftOut::add(const ChunkCell& cell, std::int64_t windowsSkipped)
{
    const std::int64_t trained = cell.covered - windowsSkipped;
    if (trained <= 0)
        return 0;
    const std::int64_t done = samplesTrained(trained, windowsSkipped, cell.samples, cell.windows);
    *this += { 1, done, cell.samples };
    return done;
}

namespace {

#define FURROW_BY_NAME(inherited) "NOT (state=5 AND " inherited "=2)" // and not as the parent run trained it
static_assert(static_cast<int>(ChunkState::Excluded) == 5 && static_cast<int>(Inherited::Skipped) == 2);

/// Takes what is in the weights from LeftOutOfEpoch::samples.
/// @param range  first id, id past the last one
void addPartlyLeftOut(
    Database& db, bool inherits, std::pair<std::int64_t, std::int64_t> range, ChunkState state, LeftOutOfEpoch& out)
{
#define FURROW_PARTLY(inherited)                                                                               \
    "SELECT k.windows, k.covered, k.samples, coalesce((SELECT sum(p.past-p.first) FROM claim c JOIN part p ON" \
    " p.claim=c.id WHERE c.chunk=k.id AND p.alive=1 AND p.skipped<>0), 0) AS skipped FROM chunk k WHERE id>=?" \
    " AND id<? AND state=? AND covered>0 AND windows>0 AND " FURROW_BY_NAME(inherited)
    static constexpr Select kPartly { FURROW_PARTLY("inherited") };
    static constexpr Select kPartlyOfOld { FURROW_PARTLY("0") };
#undef FURROW_PARTLY
    Rows rows = db.query(inherits ? kPartly.sql : kPartlyOfOld.sql, range.first, range.second, state);
    while (rows.next()) {
        ChunkCell cell;
        cell.windows = static_cast<std::int32_t>(boundedAt(db, rows, kPartly["windows"], kWindowBounds));
        cell.covered = static_cast<std::int32_t>(boundedAt(db, rows, kPartly["covered"], kWindowBounds));
        cell.samples = boundedAt(db, rows, kPartly["samples"], kAmountBounds);
        out.samples -= out.partly.add(cell, boundedAt(db, rows, kPartly["skipped"], kWindowBounds));
    }
}

} // namespace

Result<LeftOutOfEpoch> LedgerReader::leftOut(ChunkState state, std::int64_t epoch)
{
#define FURROW_LEFT_OUT(inherited)                                                                                             \
    "SELECT sum(samples*by_name) AS samples, sum(unread*by_name) AS unread, sum(1-by_name) AS parents,"                        \
    " sum(samples*(1-by_name)) AS parents_samples, sum(unread*(1-by_name)) AS parents_unread, sum(covered>0) AS"               \
    " covered FROM (SELECT samples, covered, rows*(samples+filtered+failed+held_out+duplicates=0) AS unread, " FURROW_BY_NAME( \
        inherited) " AS by_name FROM chunk WHERE id>=? AND id<? AND state=?)"
    static constexpr Select kLeftOut { FURROW_LEFT_OUT("inherited") };
    static constexpr Select kLeftOutOfOld { FURROW_LEFT_OUT("0") };
#undef FURROW_LEFT_OUT
#undef FURROW_BY_NAME
    LeftOutOfEpoch out;
    if (epoch < 0 || epoch >= kMaxEpochs)
        return answer(state_->db, out);
    const std::pair range { chunkIdOf({ epoch, 0, 0 }).value, chunkIdOf({ epoch, kMaxBlocks - 1, 0 }).value };
    std::int64_t covered = 0;
    {
        Rows rows
            = state_->db.query(state_->inherits ? kLeftOut.sql : kLeftOutOfOld.sql, range.first, range.second, state);
        if (rows.next()) {
            out.samples = rows.integer(kLeftOut["samples"]);
            out.unread = rows.integer(kLeftOut["unread"]);
            out.toParent = { rows.integer(kLeftOut["parents"]), rows.integer(kLeftOut["parents_samples"]),
                rows.integer(kLeftOut["parents_unread"]) };
            covered = rows.integer(kLeftOut["covered"]);
        }
    }
    if (covered > 0)
        addPartlyLeftOut(state_->db, state_->inherits, range, state, out);
    return answer(state_->db, out);
}

Result<PartlyLeftOut> LedgerReader::partlyLeftOut(const EpochRow& closed)
{
    const std::pair of { closed.chunks[ChunkState::Excluded] + closed.chunks[ChunkState::Accepted],
        state_->db.integer("SELECT coalesce(sum(id), 0) FROM checkpoint WHERE surviving=0").value_or(0) };
    const auto found = state_->partlyLeftOut.find(closed.epoch);
    if (found != state_->partlyLeftOut.end() && found->second.of == of)
        return answer(state_->db, found->second.partly);
    PartlyLeftOut partly;
    for (const ChunkState state : { ChunkState::Excluded, ChunkState::Accepted }) {
        FURROW_TRY_ASSIGN(const auto out, leftOut(state, closed.epoch));
        partly += out.partly;
    }
    state_->partlyLeftOut[closed.epoch] = { of, partly };
    return answer(state_->db, partly);
}

Result<std::int64_t> LedgerReader::leftOutBlocks(std::int64_t epoch)
{
    Database& db = state_->db;
    auto blocks = db.integer("SELECT count(*) FROM counts WHERE epoch=? AND n5+n7>0 AND n0+n1+n2+n3+n4+n6=0", epoch)
                      .value_or(0);
    return answer(db, std::move(blocks));
}

Result<std::vector<ChunkCell>> LedgerReader::takenUpOnce(std::int64_t epoch)
{
    std::vector<ChunkCell> cells;
    if (epoch >= 0 && epoch < kMaxEpochs) {
        Rows rows = state_->db.query(state_->inherits ? kCellsTakenUp.sql : kCellsOfOldTakenUp.sql,
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

Result<std::vector<ClaimRow>> LedgerReader::claimsSince(std::int64_t claimId, int limit)
{
    auto claims
        = state_->claimsAt(state_->db.query(FURROW_CLAIMS "WHERE c.id>? ORDER BY c.id LIMIT ?", claimId, limit));
    return answer(state_->db, std::move(claims));
}

Result<std::vector<ClaimRow>> LedgerReader::claimsOf(ChunkId chunk)
{
    auto claims = state_->claimsAt(state_->db.query(FURROW_CLAIMS "WHERE c.chunk=? ORDER BY c.id", chunk));
    return answer(state_->db, std::move(claims));
}

Result<std::optional<ClaimRow>> LedgerReader::newestTrainingOf(IncarnationId incarnation)
{
    auto claims = state_->claimsAt(state_->db.query(
        FURROW_CLAIMS "WHERE c.incarnation=? AND c.started_wall<>0 ORDER BY c.id DESC LIMIT 1", incarnation));
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

#undef FURROW_CLAIMS

} // namespace furrow
