#include "core/tracker/audit/audit_claims.h"

#include "core/base/sentence.h"
#include "core/tracker/row_bounds.h"
#include "core/tracker/schema.h"

#include <algorithm>

namespace furrow {

// --- AuditParts

PartsOfClaim& AuditParts::of(std::int64_t claim)
{
    if (claim >= 1 && claim <= std::ssize(byClaim_))
        return byClaim_[static_cast<std::size_t>(claim - 1)];
    return others_[claim];
}

void AuditParts::read(Database& db, AuditTallies& tallies, const AuditFault& wrong)
{
    byClaim_.resize(static_cast<std::size_t>(db.integer("SELECT count(*) FROM claim").value_or(0)));
    std::unordered_map<std::int64_t, std::int64_t> writers; // by checkpoint
    {
        Rows rows = db.query("SELECT id, incarnation FROM checkpoint");
        while (rows.next())
            writers[rows.integer(0)] = rows.integer(1);
    }
    Rows rows = db.query("SELECT claim, chunk, checkpoint, steps, alive FROM part ORDER BY claim");
    while (rows.next()) {
        const std::int64_t claim = rows.integer(0);
        const std::int64_t checkpoint = rows.integer(2);
        const auto writer = writers.find(checkpoint);
        PartsOfClaim& parts = of(claim);
        const bool fresh = parts.chunk == 0;
        if (writer == writers.end())
            wrong(FindingKind::Lineage, {},
                sentence("claim %1 has a part in checkpoint %2, which the tracker does not have",
                    { std::to_string(claim), std::to_string(checkpoint) }));
        else if (fresh)
            parts.incarnation = writer->second;
        else if (parts.incarnation != writer->second)
            wrong(FindingKind::Lineage, {},
                sentence("claim %1 has parts in checkpoints of different worker processes (%2 and %3)",
                    { std::to_string(claim), std::to_string(parts.incarnation), std::to_string(writer->second) }));
        if (!fresh && parts.chunk != rows.integer(1))
            wrong(FindingKind::History, {},
                sentence("checkpoint %1 has a part of claim %2, which did not train that chunk",
                    { std::to_string(checkpoint), std::to_string(claim) }));
        if (fresh) {
            parts.chunk = rows.integer(1);
            parts.checkpoint = checkpoint;
        }
        const std::int64_t steps = boundedAt(db, rows, 3, kAmountBounds);
        const bool alive = rows.integer(4) != 0;
        parts.steps += steps;
        parts.aliveSteps += alive ? steps : 0;
        (alive ? parts.alive : parts.dead) = true;
        tallies.addSteps(alive ? steps : 0);
        const auto [span, isNew] = spans_.try_emplace(checkpoint, Span { claim, claim, 0 });
        span->second.last = claim;
        span->second.steps += steps;
    }
    compareSpans(db, wrong);
}

// The claims that a checkpoint names are what its parts are searched by.
void AuditParts::compareSpans(Database& db, const AuditFault& wrong) const
{
    if (!keepsClaimSpans(db))
        return;
    Rows rows = db.query("SELECT id, first_claim, last_claim FROM checkpoint");
    while (rows.next()) {
        const auto found = spans_.find(rows.integer(0));
        const Span span = found == spans_.end() ? Span {} : found->second;
        if (span.first < rows.integer(1) || span.last > rows.integer(2))
            wrong(FindingKind::Lineage, {},
                sentence(
                    "checkpoint %1 has parts of claims that it does not name", { std::to_string(rows.integer(0)) }));
        else if (span.first != rows.integer(1) || span.last != rows.integer(2))
            wrong(FindingKind::Lineage, {},
                sentence("checkpoint %1 names claims %2 to %3 and has parts of claims %4 to %5",
                    { std::to_string(rows.integer(0)), std::to_string(rows.integer(1)), std::to_string(rows.integer(2)),
                        std::to_string(span.first), std::to_string(span.last) }));
    }
}

std::int64_t AuditParts::stepsAddedBy(std::int64_t checkpoint) const
{
    const auto found = spans_.find(checkpoint);
    return found == spans_.end() ? 0 : found->second.steps;
}

void AuditParts::nameStrays(const AuditFault& wrong) const
{
    const auto look = [&](std::int64_t claim, const PartsOfClaim& parts) {
        if (parts.chunk != 0 && !parts.seen)
            wrong(FindingKind::History, {},
                sentence("checkpoint %1 has a part of claim %2, which did not train that chunk",
                    { std::to_string(parts.checkpoint), std::to_string(claim) }));
    };
    for (std::size_t i = 0; i < byClaim_.size(); ++i)
        look(static_cast<std::int64_t>(i) + 1, byClaim_[i]);
    for (const auto& [claim, parts] : others_)
        look(claim, parts);
}

// --- AuditClaims

namespace {

/// Whether the event of its end says the same of a claim as its row.
bool isEndTold(const AuditedClaim& claim)
{
    using enum ClaimOutcome;
    const auto movedTo = [&claim](ChunkState state) { return claim.endedIn == static_cast<std::int64_t>(state); };
    const bool isGivenBack = movedTo(ChunkState::Pending) || movedTo(ChunkState::Free);
    const bool isFinished = !claim.done.empty() || !claim.skipped.empty();
    switch (claim.outcome) {
    case Open: return true; // its chunk says who holds it
    case Trained: return claim.partly || movedTo(ChunkState::Trained); // what ends in the midst moves nothing
    case Lost: return isGivenBack; // also one of which a checkpoint kept a part
    case Released: return !isFinished && isGivenBack;
    case Failed: return !isFinished && (isGivenBack || movedTo(ChunkState::Poisoned));
    }
    return false;
}

} // namespace

bool AuditClaims::look(const AuditedClaim& claim, const AuditedChunk& chunk, const WindowRanges& covered)
{
    if (chunk.id != chunk_.id)
        endChunk();
    chunk_ = chunk;
    if (claim.incarnation != process_) {
        process_ = claim.incarnation;
        known_ = processes_.all.contains(process_);
        rebuilt_ = processes_.rebuilt.contains(process_);
    }
    if (!known_)
        wrong_(FindingKind::History, claim.chunk,
            sentence("claim %1 is of worker process %2, which the tracker does not have",
                { std::to_string(claim.id), std::to_string(claim.incarnation) }));
    if (claim.begun)
        tallies_.visit(claim.chunk);
    lookAtParts(claim);
    const bool endsAsTold = lookAtEnd(claim, chunk);
    lookAtFigures(claim, chunk);
    const bool finished = claim.outcome == ClaimOutcome::Trained || !claim.done.empty() || !claim.skipped.empty();
    timesTrained_ += finished;
    if (claim.tokens > 0 && !rebuilt_) {
        loss_.add(claim.done, claim.tokens, claim.lossSum);
        newestLoss_ = claim.lossSum / static_cast<double>(claim.tokens);
    }
    if (chunk.claim != claim.id)
        return endsAsTold;
    ownClaimSeen_ = true;
    if (chunk.holder && claim.outcome == ClaimOutcome::Trained)
        tallies_.addTokens(tokensIn(subtract(claim.done, covered), chunk.tokens, chunk.windows, windowTokens_), 0);
    return endsAsTold;
}

void AuditClaims::lookAtParts(const AuditedClaim& claim)
{
    PartsOfClaim& parts = parts_.of(claim.id);
    parts.seen = true;
    parts.finished = !claim.done.empty() || !claim.skipped.empty();
    parts.claimant = claim.incarnation;
    parts.claimSteps = claim.steps;
    parts.firstStep = claim.firstStep;
    parts.lastStep = claim.lastStep;
    if (claim.outcome == ClaimOutcome::Trained) // steps that no checkpoint has yet
        tallies_.addSteps(std::max<std::int64_t>(0, claim.steps - parts.steps));
    if (parts.chunk == 0)
        return;
    if (parts.chunk != claim.chunk.value)
        wrong_(FindingKind::History, {},
            sentence("checkpoint %1 has a part of claim %2, which did not train that chunk",
                { std::to_string(parts.checkpoint), std::to_string(claim.id) }));
    if (parts.incarnation != 0 && parts.incarnation != claim.incarnation)
        wrong_(FindingKind::Lineage, claim.chunk,
            sentence(
                "checkpoint %1 was written by worker process %2 and has a part of claim %3, which is of worker process %4",
                { std::to_string(parts.checkpoint), std::to_string(parts.incarnation), std::to_string(claim.id),
                    std::to_string(claim.incarnation) }));
}

// A trained chunk leaves the hands of its worker with a checkpoint, else its claim is lost. What stands for a lost
// history is trained, and has no event of its own.
bool AuditClaims::lookAtEnd(const AuditedClaim& claim, const AuditedChunk& chunk)
{
    const bool isHeld = chunk.holder && chunk.claim == claim.id;
    const bool isTold = rebuilt_ ? claim.outcome == ClaimOutcome::Trained : isEndTold(claim);
    const bool isKept
        = claim.outcome != ClaimOutcome::Trained || claim.done.empty() || isHeld || parts_.of(claim.id).chunk != 0;
    if (!isTold)
        wrong_(FindingKind::Claims, claim.chunk,
            sentence("%1: claim %2 ended otherwise by its row than by the events: its row was changed",
                { toString(claim.chunk), std::to_string(claim.id) }));
    if (!isKept)
        wrong_(FindingKind::Claims, claim.chunk,
            sentence("%1: claim %2 was trained, and no checkpoint has a part of it: a row was changed or taken out",
                { toString(claim.chunk), std::to_string(claim.id) }));
    return isTold && isKept;
}

// How these figures come about: WorkerLedger::finish, and rebuildLineage for what stands for a lost history.
void AuditClaims::lookAtFigures(const AuditedClaim& claim, const AuditedChunk& chunk)
{
    const std::int64_t windows = countWindows(claim.done);
    const auto differs = [&](const char* what, std::int64_t stored, std::int64_t expected) {
        if (stored != expected)
            wrong_(FindingKind::Claims, claim.chunk,
                sentence("%1: claim %2 says %3 %4, its windows and steps give %5: its row was changed",
                    { toString(claim.chunk), std::to_string(claim.id), std::to_string(stored), what,
                        std::to_string(expected) }));
    };
    const bool asClaimed = claim.done == claim.ranges && claim.skipped.empty(); // nearly always
    const bool fits = asClaimed
        || (contains(claim.ranges, claim.done) && contains(claim.ranges, claim.skipped)
            && intersect(claim.done, claim.skipped).empty());
    if (!fits)
        wrong_(FindingKind::Claims, claim.chunk,
            sentence("%1: claim %2 trained or left out windows that it did not have, or both: its row was changed",
                { toString(claim.chunk), std::to_string(claim.id) }));
    const bool mustHaveBegun = claim.outcome == ClaimOutcome::Trained || claim.outcome == ClaimOutcome::Lost
        || windows > 0 || !claim.skipped.empty();
    if (mustHaveBegun && !claim.dated && !rebuilt_)
        wrong_(FindingKind::Claims, claim.chunk,
            sentence("%1: claim %2 was begun and does not say when: its row was changed",
                { toString(claim.chunk), std::to_string(claim.id) }));
    if (!rebuilt_)
        differs(
            "steps", claim.steps, windows == 0 ? 0 : std::max<std::int64_t>(0, claim.lastStep - claim.firstStep + 1));
    if (const auto roundedDown = chunk.samples * windows / std::max<std::int64_t>(1, chunk.windows);
        claim.samples != roundedDown) // as versions before 0.2 counted
        differs("samples", claim.samples, shareOf(claim.done, chunk.samples, chunk.windows));
    if (windowTokens_ > 0 || windows == 0 || (chunk.windows > 0 && windows == chunk.windows))
        differs("tokens", claim.tokens, tokensIn(claim.done, chunk.tokens, chunk.windows, windowTokens_));
    else if (claim.tokens > chunk.tokens)
        wrong_(FindingKind::Claims, claim.chunk,
            sentence("%1: claim %2 says that it trained %3 tokens, the whole chunk has %4: its row was changed",
                { toString(claim.chunk), std::to_string(claim.id), std::to_string(claim.tokens),
                    std::to_string(chunk.tokens) }));
}

void AuditClaims::endChunk()
{
    if (chunk_.id.value != 0) {
        if (chunk_.claim && !ownClaimSeen_)
            wrong_(FindingKind::Claims, chunk_.id,
                sentence("%1 names claim %2, which is not one of its claims",
                    { toString(chunk_.id), std::to_string(*chunk_.claim) }));
        if (chunk_.timesTrained != timesTrained_)
            wrong_(FindingKind::Claims, chunk_.id,
                sentence("%1 says that it was trained %2 times, its claims say %3",
                    { toString(chunk_.id), std::to_string(chunk_.timesTrained), std::to_string(timesTrained_) }));
        const auto loss = loss_.mean();
        if (loss && chunk_.meanLoss != loss && chunk_.meanLoss != newestLoss_) // as versions before 0.2 kept it
            wrong_(FindingKind::Claims, chunk_.id,
                sentence(
                    "%1: its mean loss is not the loss over the tokens of its newest training: one of the two rows was changed",
                    { toString(chunk_.id) }));
    }
    timesTrained_ = 0;
    ownClaimSeen_ = false;
    loss_ = {};
    newestLoss_.reset();
}

} // namespace furrow
