#include "core/tracker/incarnations.h"

#include "core/tracker/kept_messages.h"
#include "core/tracker/worker_state.h"

#include <algorithm>

namespace furrow {

namespace {

void loseChunk(LedgerFile& file, ChunkMoves& moves, ClaimedChunk& held, const Message& cause, std::int64_t endedWallNs)
{
    auto& [chunk, claim] = held;
    const WindowRanges covered = coveredRanges(file.db, chunk);
    const std::int64_t windows = chunk.windows.value_or(0);
    moves.totals().claimedTokens -= tokensIn(subtract(claim.ranges, covered), chunk.tokens, windows, file.windowTokens);
    const bool finished = claim.outcome == ClaimOutcome::Trained;
    if (finished) {
        // Steps and tokens of parts that a checkpoint has stay counted.
        const std::int64_t kept = committedSteps(file.db, claim.id);
        moves.totals().steps -= std::max<std::int64_t>(0, claim.steps - kept);
        moves.totals().tokens -= tokensIn(subtract(claim.done, covered), chunk.tokens, windows, file.windowTokens);
    }
    const bool lost = finished || claim.begun;
    chunk.holder.reset();
    chunk.timesLost += lost ? 1 : 0;
    const std::int64_t event = moves.move(chunk, moves.unclaimedState(chunk), cause);
    file.db.run(
        "UPDATE claim SET outcome=?, ended_wall=CASE WHEN ended_wall=0 THEN max(?, claimed_wall, started_wall) ELSE ended_wall END, closed_seq=?, cause=? WHERE id=?",
        lost ? ClaimOutcome::Lost : ClaimOutcome::Released, endedWallNs, event, cause, claim.id);
}

} // namespace

std::int64_t committedSteps(Database& db, std::int64_t claim)
{
    return db.integer("SELECT sum(steps) FROM part WHERE claim=? AND alive=1", claim).value_or(0);
}

void useReservedSteps(LedgerFile& file, ChunkMoves& moves, std::int64_t incarnation, RunState& run, std::int64_t steps)
{
    const std::int64_t used = std::min(run.ownReservedSteps, steps);
    if (used <= 0)
        return;
    run.ownReservedSteps -= used;
    file.db.run("UPDATE incarnation SET reserved_steps=reserved_steps-? WHERE id=?", used, incarnation);
    moves.totals().reservedSteps -= used;
}

std::int64_t revokeIncarnation(
    LedgerFile& file, ChunkMoves& moves, std::int64_t incarnation, const Message& cause, std::int64_t endedWallNs)
{
    Database& db = file.db;
    std::vector<ClaimedChunk> held = loadHeldChunks(db, incarnation);
    endedWallNs = endedWallNs != 0 ? endedWallNs : moves.wallNs();
    for (ClaimedChunk& one : held)
        loseChunk(file, moves, one, cause, endedWallNs);
    moves.totals().reservedSteps
        -= db.integer("SELECT reserved_steps FROM incarnation WHERE id=?", incarnation).value_or(0);
    keepMessage(db, cause);
    db.run("UPDATE incarnation SET live=0, reserved_steps=0, end_cause=?, ended_wall=? WHERE id=? AND live=1", cause,
        endedWallNs, incarnation);
    return static_cast<std::int64_t>(held.size());
}

std::int64_t leaseEnd(const LedgerFile& file, double leaseSeconds)
{
    return file.clock->monotonicNs() + static_cast<std::int64_t>(std::clamp(leaseSeconds, 0.0, 1e9) * 1e9);
}

} // namespace furrow
