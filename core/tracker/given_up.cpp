#include "core/tracker/given_up.h"

#include "core/base/told.h"
#include "core/tracker/ledger_reader_state.h"
#include "core/tracker/moves.h"
#include "core/tracker/row_bounds.h"
#include "core/tracker/schema.h"

#include <algorithm>

namespace furrow {

namespace {

// Of each chunk the newest training that began, where a part of it is dead. One that was given back, or failed, before
// a checkpoint had a part of it lost nothing. A status asks twice a second, so only the parts of checkpoints that do
// not survive are looked at.
#define FURROW_GIVEN_UP(parts)                                                                    \
    "SELECT c.chunk, c.cause FROM (SELECT DISTINCT p.claim AS claim FROM " parts                  \
    " AND p.alive=0) g CROSS JOIN claim c ON c.id=g.claim WHERE c.started_wall<>0 AND NOT EXISTS" \
    " (SELECT 1 FROM claim d WHERE d.chunk=c.chunk AND d.id>c.id AND d.started_wall<>0 AND"       \
    " (d.outcome NOT IN (2, 4) OR EXISTS (SELECT 1 FROM part q WHERE q.claim=d.id))) ORDER BY c.chunk"
static_assert(static_cast<int>(ClaimOutcome::Released) == 2 && static_cast<int>(ClaimOutcome::Failed) == 4);
constexpr const char* kGivenUp = FURROW_GIVEN_UP(
    "checkpoint k CROSS JOIN part p ON p.claim>=k.first_claim AND p.claim<=k.last_claim WHERE k.surviving=0");
constexpr const char* kGivenUpOfOld = FURROW_GIVEN_UP("part p WHERE 1"); // keepsClaimSpans() says no
#undef FURROW_GIVEN_UP

} // namespace

const GivenUpChunk* findGivenUp(std::span<const GivenUpChunk> all, ChunkId chunk)
{
    const auto found = std::ranges::lower_bound(all, chunk, {}, &GivenUpChunk::chunk);
    return found == all.end() || found->chunk != chunk ? nullptr : &*found;
}

Result<std::vector<GivenUpChunk>> LedgerReader::givenUpByCheckpoints()
{
    Database& db = state_->db;
    std::vector<GivenUpChunk> chunks;
    {
        Rows rows = db.query(keepsClaimSpans(db) ? kGivenUp : kGivenUpOfOld);
        while (rows.next())
            chunks.push_back({ chunkIdAt(db, rows, 0), tells(Message(rows.text(1)), { kLeftByGoingBack }) });
    }
    return answer(db, std::move(chunks));
}

} // namespace furrow
