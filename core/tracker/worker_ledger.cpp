#include "core/tracker/worker_ledger.h"

#include "core/base/check.h"
#include "core/base/outside.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/tracker/block_chunks.h"
#include "core/tracker/chunk_loss.h"
#include "core/tracker/epochs.h"
#include "core/tracker/holder_life.h"
#include "core/tracker/lineage.h"
#include "core/tracker/participations.h"
#include "core/tracker/sample_losses.h"
#include "core/tracker/worker_state.h"

#include <algorithm>
#include <limits>

// How this works: every method is one short transaction whose first statement is the fence (requireLive). Claims and
// completions are Normal: a power loss voids uncommitted training anyway. Start and commit are Full.

namespace furrow {

namespace {

constexpr std::int64_t kFailuresUntilPoisoned = 3;

NothingToClaim whyNothing(Database& db, const RunState& run, std::int64_t incarnation)
{
    if (run.stop != StopReason::None)
        return NothingToClaim::StopRuleReached;
    const EpochNeeds needs = loadNeeds(db);
    if (needs.pending > 0 || (needs.unproven && needs.openEpochs > 0))
        return NothingToClaim::WaitForData;
    const std::int64_t own = countHeldChunks(db, incarnation, ChunkState::Leased);
    if (isNextEpochWanted(run, needs) || !needs.fullyOpened)
        return NothingToClaim::WaitForData; // who claims next opens it
    return needs.leased > own || needs.poisoned > 0 ? NothingToClaim::WaitForOthers : NothingToClaim::EpochComplete;
}

/// Nothing is free: true when chunks of the next epoch may be now. Whoever wants one opens it, so that nobody waits for
/// a supervisor that stands still.
bool goOnToNextEpoch(LedgerFile& file)
{
    const EpochTurn turn = turnEpochs(file);
    if (turn.stop != StopReason::None || turn.needs.fullyOpened)
        return false;
    addNextChunks(file, turn.needs.newest);
    return true;
}

/// Optimiser steps that the budgets of the run still have room for, beside those that are reserved.
std::int64_t stepsLeft(const RunState& run, std::int64_t stepTokens)
{
    std::int64_t left = std::numeric_limits<std::int64_t>::max();
    if (run.rules.steps > 0)
        left = run.rules.steps - run.steps - run.reservedSteps;
    if (run.rules.tokens > 0 && stepTokens > 0)
        left = std::min(left, (run.rules.tokens - run.tokens + stepTokens - 1) / stepTokens - run.reservedSteps);
    return std::max<std::int64_t>(0, left);
}

// The chunk of a claim that this incarnation holds and has not finished.
ClaimedChunk requireHeld(LedgerFile& file, std::int64_t incarnation, const Claim& claim)
{
    ClaimedChunk held = loadClaimedChunk(file.db, claim.chunk);
    if (held.chunk.holder != incarnation || held.chunk.claim != claim.claimId)
        file.db.fail({ ErrorCode::InvalidArgument,
            sentence("this worker does not hold %1 (any more)", { toString(claim.chunk) }) });
    else if (held.chunk.state != ChunkState::Leased || held.claim.outcome != ClaimOutcome::Open)
        file.db.fail({ ErrorCode::InvalidArgument, sentence("%1 was finished already", { toString(claim.chunk) }) });
    return held;
}

void releaseChunk(
    LedgerFile& file, ChunkMoves& moves, ChunkRow& chunk, ClaimOutcome outcome, ChunkState to, const Message& cause)
{
    const WindowRanges rest = subtract(chunk.whole(), coveredRanges(file.db, chunk));
    moves.totals().claimedTokens -= tokensIn(rest, chunk.tokens, chunk.windows.value_or(0), file.windowTokens);
    chunk.holder.reset();
    const std::int64_t event = moves.move(chunk, to, cause);
    file.db.run("UPDATE claim SET outcome=?, ended_wall=?, closed_seq=?, cause=? WHERE id=?", outcome, moves.wallNs(),
        event, cause, chunk.claim);
}

// Done and skipped must be what was to be trained: all of it, or a part of it when `partly`.
bool fits(const HeldClaim& held, const WindowRanges& done, const WindowRanges& skipped, bool partly)
{
    if (!intersect(done, skipped).empty() || !contains(held.ranges, done) || !contains(held.ranges, skipped))
        return false;
    return partly || countWindows(done) + countWindows(skipped) == countWindows(held.ranges);
}

/// A worker that lives has taken the open merge round; its inputs are fixed.
bool isMergeComputed(Database& db)
{
    return db
        .integer(
            "SELECT 1 FROM merge_round r JOIN incarnation i ON i.id=r.taken_by AND i.live=1 WHERE r.result IS NULL")
        .has_value();
}

/// Mean loss of a chunk after one more claim on it. Who trained all of it has the only word.
std::optional<double> lossWith(
    Database& db, const ChunkRow& chunk, std::int64_t claim, const WindowRanges& done, const ChunkOutcome& outcome)
{
    ChunkLoss loss;
    if (countWindows(done) < chunk.windows.value_or(0)) {
        Rows rows
            = db.query("SELECT done, tokens, loss_sum FROM claim WHERE chunk=? AND id<>? AND tokens>0 ORDER BY id",
                chunk.id, claim);
        while (rows.next())
            loss.add(decodeRanges(rows.text(0)), rows.integer(1), rows.real(2));
    }
    loss.add(done, outcome.tokens, outcome.lossSum);
    return loss.mean();
}

} // namespace

WorkerLedger::WorkerLedger(std::unique_ptr<State> state)
    : state_(std::move(state))
{
}
WorkerLedger::WorkerLedger(WorkerLedger&&) noexcept = default;
WorkerLedger::~WorkerLedger() = default;

Result<WorkerLedger> WorkerLedger::open(
    const std::filesystem::path& tracker, const std::string& runId, const Clock& clock)
{
    FURROW_TRY_ASSIGN(auto file, openLedger(tracker, clock));
    if (file.runId != runId)
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "%1 belongs to run %2, this worker was started for run %3", { utf8Text(tracker), file.runId, runId }) };
    auto state = std::make_unique<State>(State { std::move(file) });
    registerClaimOrder(state->file);
    return WorkerLedger(std::move(state));
}

void WorkerLedger::setPatience(Patience patience) { state_->file.db.setPatience(std::move(patience)); }

void WorkerLedger::makeEveryWriteDurable() { state_->everyday = Durability::Full; }

Status WorkerLedger::together(const std::function<void()>& work) { return Transaction::join(state_->file.db, work); }

Result<std::optional<IncarnationId>> WorkerLedger::start(const WorkerRegistration& registration, double leaseSeconds)
{
    using Answer = std::optional<IncarnationId>;
    LedgerFile& file = state_->file;
    Database& db = file.db;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(db));
    const ProcessIdentity self = thisProcess();
    ChunkMoves moves(file, 0);
    if (state_->incarnation != 0)
        db.fail({ ErrorCode::InvalidArgument, sentence("this worker has started already") });
    if (!db.integer("SELECT 1 FROM attempt WHERE id=? AND ended_wall IS NULL AND id=(SELECT max(id) FROM attempt)",
            registration.attempt))
        db.fail({ ErrorCode::Cancelled,
            sentence(
                "attempt %1 is over; this worker came too late", { std::to_string(registration.attempt.value) }) });
    // One line of weights has one writer. A dead predecessor is fenced here; a living one keeps its place.
    struct Other {
        std::int64_t id = 0;
        ProcessIdentity process;
        std::int64_t leaseUntilNs = 0;
    };
    std::vector<Other> others;
    {
        Rows rows = db.query(
            "SELECT id, pid, start_time, boot_id, lease_until FROM incarnation WHERE live=1 AND replica=? AND (replica>=0 OR worker=?)",
            registration.replica, registration.worker);
        while (rows.next())
            others.push_back({ rows.integer(0), { rows.integer(1), rows.integer(2), rows.text(3) }, rows.integer(4) });
    }
    const std::int64_t now = file.clock->monotonicNs();
    for (const Other& other : others) {
        if (mayLive(other.process, other.leaseUntilNs, now))
            db.fail({ ErrorCode::Busy,
                registration.replica == kFollower
                    ? sentence("rank %1 is being trained by process %2",
                          { std::to_string(registration.worker), std::to_string(other.process.pid) })
                    : sentence("replica %1 is being trained by process %2",
                          { std::to_string(registration.replica), std::to_string(other.process.pid) }) });
        else
            revokeIncarnation(file, moves, other.id, sentence("its process is gone"));
    }
    if (isMergeComputed(db)) {
        moves.finish();
        FURROW_TRY(transaction.commit());
        return Answer {};
    }
    if (registration.replica != kFollower)
        ensureReplica(file, registration.replica);
    db.run(
        "INSERT INTO incarnation (attempt, worker, replica, pid, start_time, boot_id, device, device_name, started_wall, lease_until, progress, phase, first_held)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'warming up', coalesce((SELECT max(id) FROM claim), 0) + 1)",
        registration.attempt, registration.worker, registration.replica, self.pid, self.startTime, self.place,
        registration.device, registration.deviceName, file.clock->wallNs(), leaseEnd(file, leaseSeconds), now);
    const std::int64_t id = db.lastId();
    moves.finish();
    if (Status status = transaction.commit(); !status.ok())
        return status.error().in(sentence("starting worker %1", { std::to_string(registration.worker) }));
    state_->incarnation = id;
    state_->replica = registration.replica;
    state_->worker = registration.worker;
    state_->attempt = registration.attempt.value;
    state_->stepTokens = registration.stepTokens;
    return Answer { IncarnationId { id } };
}

Result<std::variant<Claim, NothingToClaim>> WorkerLedger::claim()
{
    using Answer = std::variant<Claim, NothingToClaim>;
    LedgerFile& file = state_->file;
    Database& db = file.db;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(db, Durability::Normal));
    const RunState run = requireLive(file, state_->incarnation);
    if (state_->replica == kFollower)
        db.fail({ ErrorCode::InvalidArgument,
            sentence("rank %1 claims nothing: rank 0 claims for all", { std::to_string(state_->worker) }) });
    const bool budgetIsSpent = (run.ownReservedSteps == 0 && stepsLeft(run, state_->stepTokens) == 0)
        || (run.rules.blocks > 0 && claimedBlocks(db) >= run.rules.blocks);
    std::optional<ChunkRow> found;
    if (run.stop == StopReason::None && !budgetIsSpent) {
        found = loadFirstFree(db);
        if (!found && goOnToNextEpoch(file))
            found = loadFirstFree(db);
        if (found && run.rules.epochs > 0 && found->place.epoch >= run.rules.epochs)
            found.reset(); // a person asked for an end with the epoch before
    }
    if (found && isSpent(db, run, *found)) {
        stopForPrivacy(file);
        FURROW_TRY(transaction.commit());
        return Answer { NothingToClaim::StopRuleReached };
    }
    if (!found) {
        NothingToClaim why = whyNothing(db, run, state_->incarnation);
        if (budgetIsSpent && why != NothingToClaim::StopRuleReached)
            why = NothingToClaim::WaitForOthers; // they hold what is left, and may give some back
        FURROW_TRY(transaction.commit());
        return Answer { why };
    }
    ChunkMoves moves(file, state_->incarnation);
    ChunkRow& chunk = *found;
    Claim claim;
    claim.chunk = chunk.id;
    claim.epoch = chunk.place.epoch;
    claim.block = chunk.place.block;
    claim.column = chunk.place.column;
    claim.windows = static_cast<std::int32_t>(chunk.windows.value_or(0));
    claim.remaining = subtract(chunk.whole(), coveredRanges(db, chunk));
    claim.positionTokens = run.claimedTokens;
    claim.coveredTokens
        = tokensIn(subtract(chunk.whole(), claim.remaining), chunk.tokens, claim.windows, file.windowTokens);
    moves.totals().claimedTokens += tokensIn(claim.remaining, chunk.tokens, claim.windows, file.windowTokens);
    if (run.mostParticipations != kNotPrivate && !run.isMadeAnew)
        claim.participations = std::max(run.participations, participationsBefore(db, chunk) + 1);
    db.run("INSERT INTO claim (chunk, incarnation, claimed_wall, ranges, position_tokens, opened_seq)"
           " VALUES (?, ?, ?, ?, ?, coalesce((SELECT max(seq) FROM event), 0) + 1)",
        chunk.id, state_->incarnation, moves.wallNs(), encodeRanges(claim.remaining), claim.positionTokens);
    claim.claimId = db.lastId();
    chunk.holder = state_->incarnation;
    chunk.claim = claim.claimId;
    chunk.worker = state_->worker;
    chunk.attempt = state_->attempt;
    moves.move(chunk, ChunkState::Leased, sentence("claim"));
    moves.finish();
    if (Status status = transaction.commit(); !status.ok())
        return status.error().in(sentence("claiming a chunk"));
    return Answer { std::move(claim) };
}

Status WorkerLedger::release(const Claim& claim)
{
    LedgerFile& file = state_->file;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(file.db, state_->everyday));
    requireLive(file, state_->incarnation);
    ChunkMoves moves(file, state_->incarnation);
    ChunkRow chunk = requireHeld(file, state_->incarnation, claim).chunk;
    releaseChunk(file, moves, chunk, ClaimOutcome::Released, moves.unclaimedState(chunk), sentence("given back"));
    moves.finish();
    return transaction.commit();
}

Status WorkerLedger::begin(const Claim& claim)
{
    LedgerFile& file = state_->file;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(file.db, state_->everyday));
    const RunState run = requireLive(file, state_->incarnation);
    ChunkMoves moves(file, state_->incarnation);
    const ChunkRow chunk = requireHeld(file, state_->incarnation, claim).chunk;
    file.db.run("UPDATE claim SET started_wall=? WHERE id=? AND started_wall=0", moves.wallNs(), claim.claimId);
    noteParticipation(file, run, chunk.id);
    moves.visit(chunk.place);
    moves.finish();
    return transaction.commit();
}

Status WorkerLedger::finish(const Claim& claim, const ChunkOutcome& outcome, bool partly)
{
    const auto done = normalized(outcome.done);
    const auto skipped = normalized(outcome.skipped);
    if (!done || !skipped)
        return Error { ErrorCode::InvalidArgument,
            sentence("%1: the trained windows overlap or are empty", { toString(claim.chunk) }) };
    LedgerFile& file = state_->file;
    Database& db = file.db;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(db, state_->everyday));
    RunState run = requireLive(file, state_->incarnation);
    ChunkMoves moves(file, state_->incarnation);
    auto [chunk, held] = requireHeld(file, state_->incarnation, claim);
    if (!fits(held, *done, *skipped, partly))
        db.fail({ ErrorCode::InvalidArgument,
            sentence("%1: trained and skipped windows are not what was claimed", { toString(claim.chunk) }) });
    const WindowRanges covered = coveredRanges(db, chunk);
    const std::int64_t windows = std::max<std::int64_t>(1, chunk.windows.value_or(1));
    const std::int64_t steps = done->empty() ? 0 : std::max<std::int64_t>(0, outcome.lastStep - outcome.firstStep + 1);
    const std::int64_t newSteps
        = std::max<std::int64_t>(0, steps - (covered.empty() ? 0 : committedSteps(db, claim.claimId)));
    moves.totals().steps += newSteps;
    moves.totals().tokens += tokensIn(subtract(*done, covered), chunk.tokens, windows, file.windowTokens);
    useReservedSteps(file, moves, state_->incarnation, run, newSteps);
    chunk.timesTrained += 1;
    chunk.trainedWall = moves.wallNs();
    if (const auto loss = lossWith(db, chunk, claim.claimId, *done, outcome))
        chunk.meanLoss = loss;
    std::int64_t event = 0;
    moves.visit(chunk.place);
    if (partly) {
        moves.store(chunk);
        event = db.integer("SELECT max(seq) FROM event").value_or(0);
    } else {
        event = moves.move(chunk, ChunkState::Trained, sentence("trained"));
    }
    db.run(
        "UPDATE claim SET outcome=?, ended_wall=?, started_wall=CASE WHEN started_wall=0 THEN claimed_wall ELSE started_wall END,"
        " done=?, skipped=?, partly=?, samples=?, tokens=?, loss_sum=?, peak_norm=?, first_step=?, last_step=?, steps=?, closed_seq=?, sample_losses=?"
        " WHERE id=?",
        ClaimOutcome::Trained, moves.wallNs(), encodeRanges(*done), encodeRanges(*skipped), partly,
        shareOf(*done, chunk.rows.samples, windows), outcome.tokens, outcome.lossSum, outcome.peakGradientNorm,
        outcome.firstStep, outcome.lastStep, steps, event, encodeSampleLosses(outcome.sampleLosses), claim.claimId);
    moves.finish();
    updateStopCheaply(file, run, moves.totals());
    if (Status status = transaction.commit(); !status.ok())
        return status.error().in(sentence("finishing %1", { toString(claim.chunk) }));
    return {};
}

Status WorkerLedger::fail(const Claim& claim, const Error& why)
{
    LedgerFile& file = state_->file;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(file.db, state_->everyday));
    requireLive(file, state_->incarnation);
    ChunkMoves moves(file, state_->incarnation);
    ChunkRow chunk = requireHeld(file, state_->incarnation, claim).chunk;
    chunk.failures += isOutside(why) ? 0 : 1;
    const bool poisoned = chunk.failures >= kFailuresUntilPoisoned;
    if (!file.db.failed())
        evictBlock(file, moves, chunk.place.block, why.message);
    releaseChunk(file, moves, chunk, ClaimOutcome::Failed,
        poisoned ? ChunkState::Poisoned : moves.unclaimedState(chunk), why.message);
    moves.finish();
    return transaction.commit();
}

Status WorkerLedger::renew(const Progress& progress, double leaseSeconds)
{
    LedgerFile& file = state_->file;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(file.db, state_->everyday));
    requireLive(file, state_->incarnation);
    file.db.run(
        "UPDATE incarnation SET lease_until=?, progress=?, phase=?, chunk=?, chunk_fraction=?, step=?, tokens=?, loss=?,"
        " tokens_per_second=? WHERE id=?",
        leaseEnd(file, leaseSeconds), file.clock->monotonicNs(), toString(progress.phase), progress.chunk,
        progress.chunkFraction, progress.step, progress.tokens, progress.loss, progress.tokensPerSecond,
        state_->incarnation);
    return transaction.commit();
}

Result<std::int64_t> WorkerLedger::reserveSteps(std::int64_t count)
{
    LedgerFile& file = state_->file;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(file.db, state_->everyday));
    const RunState run = requireLive(file, state_->incarnation);
    const std::int64_t granted = std::clamp<std::int64_t>(count, 0, stepsLeft(run, state_->stepTokens));
    file.db.run("UPDATE incarnation SET reserved_steps=reserved_steps+? WHERE id=?", granted, state_->incarnation);
    file.db.run("UPDATE budget SET reserved_steps=reserved_steps+?", granted);
    FURROW_TRY(transaction.commit());
    return granted;
}

Status WorkerLedger::returnSteps(std::int64_t unused)
{
    LedgerFile& file = state_->file;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(file.db, state_->everyday));
    RunState run = requireLive(file, state_->incarnation);
    ChunkMoves moves(file, state_->incarnation);
    useReservedSteps(file, moves, state_->incarnation, run, unused);
    moves.finish();
    return transaction.commit();
}

Result<DesiredState> WorkerLedger::desired()
{
    Database& db = state_->file.db;
    const std::int64_t desired = db.integer("SELECT desired FROM control").value_or(0);
    FURROW_TRY(db.takeStatus());
    return static_cast<DesiredState>(desired);
}

Result<WorkerLedger::Signals> WorkerLedger::signals()
{
    Database& db = state_->file.db;
    Signals signals;
    {
        Rows row = db.query(
            "SELECT desired, save_request, eval_request, stop, (SELECT max(round) FROM merge_round) FROM control");
        if (row.next()) {
            signals.desired = static_cast<DesiredState>(row.integer(0));
            signals.saveRequest = row.integer(1);
            signals.evalRequest = row.integer(2);
            signals.stopRuleReached = row.integer(3) != 0;
            signals.mergeRound = row.integer(4);
        }
    }
    FURROW_TRY(db.takeStatus());
    return signals;
}

Status WorkerLedger::end(const Message& cause)
{
    LedgerFile& file = state_->file;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(file.db));
    requireLive(file, state_->incarnation);
    ChunkMoves moves(file, state_->incarnation);
    revokeIncarnation(file, moves, state_->incarnation, cause);
    moves.finish();
    updateStop(file);
    return transaction.commit();
}

} // namespace furrow
