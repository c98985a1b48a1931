#include "core/tracker/ledger_reader_state.h"

#include "core/tracker/incarnations.h"
#include "core/tracker/ledger_file.h"
#include "core/tracker/moves.h"
#include "core/tracker/schema.h"
#include "core/tracker/worker_state.h"

#include <algorithm>
#include <cmath>

// What workers hold that the totals of the run count too early or too late for somebody who looks.

namespace furrow {

namespace {

/// The first `count` windows of the ranges: a claim is trained in their order.
WindowRanges firstOf(const WindowRanges& ranges, std::int64_t count)
{
    WindowRanges first;
    for (const WindowRange& range : ranges) {
        if (count <= 0)
            break;
        const auto taken = static_cast<std::int32_t>(std::min<std::int64_t>(count, range.size()));
        first.push_back({ range.begin, range.begin + taken });
        count -= taken;
    }
    return first;
}

std::vector<ClaimedChunk> heldChunks(Database& db, IncarnationId incarnation)
{
    return keepsClaimSpans(db) ? loadHeldChunks(db, incarnation.value)
                               : std::vector<ClaimedChunk> {}; // of an older version: not known
}

LedgerReader::Work unsavedIn(Database& db, const std::vector<ClaimedChunk>& held)
{
    LedgerReader::Work work;
    for (const auto& [chunk, claim] : held) {
        if (claim.outcome != ClaimOutcome::Trained)
            continue;
        work.steps += std::max<std::int64_t>(0, claim.steps - committedSteps(db, claim.id));
        work.tokens += tokensIn(subtract(claim.done, coveredRanges(db, chunk)), chunk.tokens, chunk.windows.value_or(0),
            windowTokensOf(db));
    }
    return work;
}

} // namespace

Result<LedgerReader::Work> LedgerReader::unsavedOf(IncarnationId incarnation)
{
    Database& db = state_->db;
    FURROW_TRY_ASSIGN(auto view, Transaction::read(db));
    Work work = unsavedIn(db, heldChunks(db, incarnation));
    FURROW_TRY(view.commit());
    return answer(db, work);
}

Result<LedgerReader::Work> LedgerReader::underWayOf(const IncarnationRow& row)
{
    Database& db = state_->db;
    FURROW_TRY_ASSIGN(auto view, Transaction::read(db));
    const auto held = heldChunks(db, row.id);
    const auto open = std::find_if(held.begin(), held.end(), [&row](const ClaimedChunk& one) {
        return one.chunk.id == row.chunk && one.claim.outcome == ClaimOutcome::Open && one.claim.begun;
    });
    Work work;
    if (open != held.end()) {
        const auto& [chunk, claim] = *open;
        const auto done
            = std::llround(std::clamp(row.chunkFraction, 0.0, 1.0) * static_cast<double>(countWindows(claim.ranges)));
        work.tokens = tokensIn(subtract(firstOf(claim.ranges, done), coveredRanges(db, chunk)), chunk.tokens,
            chunk.windows.value_or(0), windowTokensOf(db));
        work.steps = std::max<std::int64_t>(
            0, row.step - state_->stepsOfProcess(row.id.value).saved - unsavedIn(db, held).steps);
    }
    FURROW_TRY(view.commit());
    return answer(db, work);
}

} // namespace furrow
