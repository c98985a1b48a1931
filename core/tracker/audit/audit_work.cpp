#include "core/tracker/audit/audit_work.h"

#include "core/base/sentence.h"
#include "core/tracker/audit/audit_gathered.h"
#include "core/tracker/kept_messages.h"
#include "core/tracker/row_bounds.h"
#include "core/tracker/sqlite/select.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace furrow {

namespace {

constexpr std::size_t kMaxLostFindings = 50;

// Of a claim that died, what a checkpoint has of it is not lost; its steps have nearly as many tokens each.
std::int64_t tokensLost(std::int64_t tokens, std::int64_t steps, std::int64_t kept)
{
    const double share = steps > 0 ? static_cast<double>(std::min(kept, steps)) / static_cast<double>(steps) : 0;
    return tokens - std::llround(static_cast<double>(tokens) * share);
}

constexpr Select kClaims {
    "SELECT c.id, c.chunk, c.opened_seq, c.closed_seq, c.outcome, c.tokens, k.holder, k.claim AS held_claim, c.incarnation,"
    " c.cause, c.started_wall, c.steps, c.first_step, c.last_step, c.samples, c.loss_sum, c.ranges, c.done, c.skipped,"
    " k.windows AS chunk_windows, k.samples AS chunk_samples, k.tokens AS chunk_tokens, k.times_trained, k.mean_loss,"
    " c.partly, e.to_state AS ended_in FROM claim c INDEXED BY claim_chunk JOIN chunk k ON k.id=c.chunk"
    " LEFT JOIN event e ON e.seq=c.closed_seq AND e.chunk<=c.chunk AND c.chunk<e.chunk+e.count ORDER BY c.chunk, c.id"
};

} // namespace

AuditWork::AuditWork(Database& db, AuditGathered& gathered, AuditFindings& findings, const AuditFault& wrong)
    : db_(db)
    , gathered_(gathered)
    , findings_(findings)
    , wrong_(wrong)
{
}

// Claims of each chunk in their order: no lease may begin before the one before ended.
void AuditWork::check()
{
    struct Before {
        ChunkId chunk;
        std::int64_t claim = 0;
        std::int64_t closed = 0; // 0: open
    } before;
    AuditClaims figures(gathered_.processes, gathered_.parts, gathered_.tallies, gathered_.windowTokens, wrong_);
    KeptMessages causes(db_);
    Rows rows = db_.query(kClaims.sql);
    while (rows.next()) {
        const bool endsAsTold = lookAtFigures(rows, figures);
        const ChunkId chunk = chunkIdAt(db_, rows, kClaims["chunk"]);
        AuditEpoch& here = gathered_.epochs.of(chunk);
        const auto outcome = static_cast<ClaimOutcome>(rows.integer(kClaims["outcome"]));
        const bool open = outcome == ClaimOutcome::Open;
        if (before.chunk == chunk && (before.closed == 0 || rows.integer(kClaims["opened_seq"]) < before.closed)) {
            ++here.overlappingClaims;
            findings_.holds.lineage = false;
            findings_.find(FindingKind::OverlappingClaims, chunk,
                sentence(
                    "%1: claim %2 began before claim %3 had ended; likely cause: the ledger was changed from outside, or two copies of it were in use",
                    { toString(chunk), std::to_string(rows.integer(kClaims["id"])), std::to_string(before.claim) }));
        }
        before = { chunk, rows.integer(kClaims["id"]),
            open ? 0 : std::max<std::int64_t>(rows.integer(kClaims["closed_seq"]), 1) };
        const bool lost = outcome == ClaimOutcome::Lost
            || (outcome == ClaimOutcome::Trained && !gathered_.parts.of(rows.integer(kClaims["id"])).alive
                && gathered_.parts.of(rows.integer(kClaims["id"])).dead);
        if (lost && endsAsTold) {
            ++here.chunksLost;
            here.tokensLost += tokensLost(boundedAt(db_, rows, kClaims["tokens"], kAmountBounds),
                boundedAt(db_, rows, kClaims["steps"], kAmountBounds),
                gathered_.parts.of(rows.integer(kClaims["id"])).aliveSteps);
            addLost(chunk, gathered_.parts.of(rows.integer(kClaims["id"])).dead, causes.at(rows, kClaims["cause"]));
        }
        if (open
            && (rows.optionalInteger(kClaims["holder"]) != rows.integer(kClaims["incarnation"])
                || rows.optionalInteger(kClaims["held_claim"]) != rows.integer(kClaims["id"]))) {
            findings_.holds.states = false;
            findings_.find(FindingKind::Counters, chunk,
                sentence("%1: claim %2 is open but does not hold the chunk",
                    { toString(chunk), std::to_string(rows.integer(kClaims["id"])) }));
        }
    }
    figures.end();
    gathered_.parts.nameStrays(wrong_);
}

// Of a row of kClaims. Returns whether the claim ended as its row says.
bool AuditWork::lookAtFigures(const Rows& rows, AuditClaims& figures)
{
    const auto amount = [&](int column) { return boundedAt(db_, rows, column, kAmountBounds); };
    if (!isRangesText(rows.text(kClaims["ranges"])) || !isRangesText(rows.text(kClaims["done"]))
        || !isRangesText(rows.text(kClaims["skipped"])))
        wrong_(FindingKind::Claims, chunkIdAt(db_, rows, kClaims["chunk"]),
            sentence(
                "%1: the windows that claim %2 had, trained or left out are written as nobody writes them: its row was changed",
                { toString(chunkIdAt(db_, rows, kClaims["chunk"])), std::to_string(rows.integer(kClaims["id"])) }));
    const AuditedClaim claim { rows.integer(kClaims["id"]), chunkIdAt(db_, rows, kClaims["chunk"]),
        rows.integer(kClaims["incarnation"]), static_cast<ClaimOutcome>(rows.integer(kClaims["outcome"])),
        decodeRanges(rows.text(kClaims["ranges"])), decodeRanges(rows.text(kClaims["done"])),
        decodeRanges(rows.text(kClaims["skipped"])), rows.integer(kClaims["started_wall"]) != 0,
        rows.integer(kClaims["started_wall"]) != 0
            || rows.integer(kClaims["outcome"]) == static_cast<int>(ClaimOutcome::Trained),
        amount(kClaims["steps"]), amount(kClaims["first_step"]), amount(kClaims["last_step"]),
        amount(kClaims["samples"]), amount(kClaims["tokens"]), rows.real(kClaims["loss_sum"]),
        rows.integer(kClaims["partly"]) != 0, rows.optionalInteger(kClaims["ended_in"]) };
    const AuditedChunk chunk { claim.chunk, boundedAt(db_, rows, kClaims["chunk_windows"], kWindowBounds),
        amount(kClaims["chunk_samples"]), amount(kClaims["chunk_tokens"]), rows.integer(kClaims["times_trained"]),
        rows.optionalInteger(kClaims["held_claim"]), rows.optionalInteger(kClaims["holder"]),
        rows.isNull(kClaims["mean_loss"]) ? std::nullopt : std::optional(rows.real(kClaims["mean_loss"])) };
    if (gathered_.processes.rebuilt.contains(claim.incarnation) && !claim.skipped.empty())
        gathered_.tallies.forgetClaimedTokens();
    const auto covered = chunk.holder ? gathered_.held.find(claim.chunk.value) : gathered_.held.end();
    return figures.look(claim, chunk, covered == gathered_.held.end() ? WindowRanges {} : covered->second);
}

// Claims come chunk by chunk: one finding has all of a chunk.
void AuditWork::addLost(ChunkId chunk, bool isLeftBehind, const Message& cause)
{
    if (lost_.empty() || lost_.back().chunk() != chunk) {
        if (lost_.size() == kMaxLostFindings)
            return;
        lost_.emplace_back(chunk);
    }
    lost_.back().add(isLeftBehind, cause);
}

// No fault. Named last, and not without end.
void AuditWork::nameLost()
{
    for (const LostWork& one : lost_)
        findings_.find(FindingKind::Lost, one.chunk(),
            one.inWords(
                static_cast<ChunkState>(db_.integer("SELECT state FROM chunk WHERE id=?", one.chunk()).value_or(0))));
}

} // namespace furrow
