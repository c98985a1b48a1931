#include "core/tracker/trained_chunks.h"

#include "core/tracker/ledger_file.h"
#include "core/tracker/replica_steps.h"
#include "core/tracker/row_bounds.h"
#include "core/tracker/window_ranges.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace furrow {

namespace {

/// A claim of which only a part lives has no figures of that part: it was lost in training, or some of its checkpoints
/// do not survive.
void keepLivingParts(Database& db, std::int64_t claim, TrainedChunk& chunk)
{
    WindowRanges living;
    chunk.steps = 0;
    Rows parts
        = db.query("SELECT first, past, steps FROM part WHERE claim=? AND alive=1 AND skipped=0 ORDER BY first", claim);
    while (parts.next()) {
        living.push_back({ parts.int32(0), parts.int32(1) });
        chunk.steps += parts.integer(2);
    }
    Rows whole = db.query("SELECT samples, tokens, coalesce(windows, 0) FROM chunk WHERE id=?", chunk.chunk);
    if (!whole.next())
        return;
    const std::int64_t windows = boundedAt(db, whole, 2, kWindowBounds);
    chunk.samples = shareOf(living, boundedAt(db, whole, 0, kAmountBounds), windows);
    chunk.tokens = tokensIn(living, boundedAt(db, whole, 1, kAmountBounds), windows, windowTokensOf(db));
    if (chunk.firstStep == 0) // a process trains its claims one after the other
        chunk.firstStep = 1
            + db.integer(
                    "SELECT max(e.last_step) FROM claim e JOIN claim c ON e.incarnation=c.incarnation AND e.id<c.id WHERE c.id=?",
                    claim)
                  .value_or(0);
    chunk.lastStep = chunk.firstStep + chunk.steps - 1;
}

/// When a training ended; what goes on is behind all others.
struct Ended {
    std::int64_t seq = 0;
    std::int64_t claim = 0;
    std::size_t index = 0; // of its chunk
    auto operator<=>(const Ended&) const = default;
};

void countSteps(std::vector<Ended> trainings, std::vector<TrainedChunk>& chunks)
{
    std::sort(trainings.begin(), trainings.end());
    std::int64_t steps = 0;
    for (const Ended& training : trainings) {
        steps += std::clamp<std::int64_t>(chunks[training.index].steps, 0, kTotalBounds.most - steps);
        chunks[training.index].weightsStep = steps;
    }
}

} // namespace

Result<std::vector<TrainedChunk>> trainedChunks(const std::filesystem::path& tracker)
{
    FURROW_TRY_ASSIGN(auto db, openForReading(tracker));
    std::vector<TrainedChunk> chunks;
    std::vector<Ended> trainings;
    {
        const auto before = stepsBeforeProcesses(db);
        Rows rows = db.query(
            "SELECT * FROM (SELECT c.chunk, i.worker, c.first_step, c.last_step, c.closed_seq,"
            " (SELECT max(p.checkpoint) FROM part p WHERE p.claim=c.id AND p.alive=1) AS kept, c.steps, c.samples, c.tokens,"
            " c.outcome=1 AND NOT EXISTS (SELECT 1 FROM part p WHERE p.claim=c.id AND p.alive=0), c.id, c.incarnation,"
            " (SELECT coalesce(sum(p.past-p.first), 0) FROM part p WHERE p.claim=c.id AND p.alive=1 AND p.skipped=0)"
            " < (SELECT coalesce(k.windows, 0) FROM chunk k WHERE k.id=c.chunk) FROM claim c JOIN incarnation i ON i.id=c.incarnation)"
            " WHERE kept IS NOT NULL ORDER BY chunk");
        while (rows.next()) {
            chunks.push_back({ { rows.integer(0) }, rows.int32(1), rows.integer(2), rows.integer(3), 0, rows.integer(5),
                rows.integer(6), rows.integer(7), rows.integer(8), rows.integer(12) != 0 });
            if (rows.integer(9) == 0)
                keepLivingParts(db, rows.integer(10), chunks.back());
            const std::int64_t closed = rows.integer(4);
            trainings.push_back({ closed == 0 ? std::numeric_limits<std::int64_t>::max() : closed, rows.integer(10),
                chunks.size() - 1 });
            const auto known = before.find(rows.integer(11));
            if (known == before.end() || chunks.back().lastStep > kTotalBounds.most)
                continue;
            chunks.back().firstStep += known->second;
            chunks.back().lastStep += known->second;
        }
    }
    FURROW_TRY(db.takeStatus());
    countSteps(std::move(trainings), chunks);
    return chunks;
}

} // namespace furrow
