#include "core/tracker/trained_behind.h"

#include "core/base/sentence.h"
#include "core/tracker/ledger_file.h"
#include "core/tracker/lineage.h"
#include "core/tracker/row_bounds.h"
#include "core/tracker/schema.h"

#include <algorithm>
#include <limits>

namespace furrow {

namespace {

/// The id of the same chunk in the first epoch.
std::int64_t inFirstEpoch(std::int64_t id) { return id % kEpochIds + kEpochIds; }

std::string jsonList(const std::set<std::int64_t>& ids)
{
    std::string list;
    for (const auto id : ids)
        list += (list.empty() ? "[" : ",") + std::to_string(id);
    return list + "]";
}

/// First-epoch ids of chunks that the weights saw whole, once for each time, ascending.
std::vector<std::int64_t> wholeTrainings(Database& db, const std::set<std::int64_t>& ancestors)
{
    std::vector<std::int64_t> seen;
    {
        Rows rows = db.query(
            "SELECT p.chunk FROM part p JOIN chunk c ON c.id=p.chunk WHERE p.alive=1 AND p.checkpoint IN (SELECT value FROM json_each(?))"
            " GROUP BY p.chunk HAVING sum(p.past-p.first)=max(c.windows)",
            jsonList(ancestors));
        while (rows.next())
            seen.push_back(inFirstEpoch(chunkIdAt(db, rows, 0).value));
    }
    if (keepsInherited(db)) {
        Rows rows = db.query("SELECT id FROM chunk WHERE inherited>0 AND epoch=0");
        while (rows.next())
            seen.push_back(chunkIdAt(db, rows, 0).value);
    }
    std::sort(seen.begin(), seen.end());
    return seen;
}

void append(TrainedBehind& found, std::int64_t id)
{
    const auto place = placeOf({ id });
    if (!found.chunks.empty() && found.chunks.back().block == place.block && found.chunks.back().column == place.column)
        ++found.chunks.back().times;
    else
        found.chunks.push_back({ place.block, place.column, 1 });
}

/// The smallest count over every chunk that is to be trained.
std::int32_t completePasses(Database& db, const TrainedBehind& found)
{
    if (!db.integer("SELECT 1 FROM dataset WHERE block_count=known_blocks"))
        return 0;
    auto fewest = std::numeric_limits<std::int32_t>::max();
    auto next = found.chunks.begin();
    Rows rows = keepsInherited(db)
        ? db.query(
              "SELECT id FROM chunk WHERE epoch=0 AND coalesce(windows,1)>0 AND state<>7 AND (state<>5 OR inherited=2) ORDER BY id")
        : db.query("SELECT id FROM chunk WHERE epoch=0 AND coalesce(windows,1)>0 AND state NOT IN (5,7) ORDER BY id");
    while (rows.next()) {
        const auto place = placeOf(chunkIdAt(db, rows, 0));
        while (
            next != found.chunks.end() && std::pair(next->block, next->column) < std::pair(place.block, place.column))
            ++next;
        const bool here = next != found.chunks.end() && next->block == place.block && next->column == place.column;
        fewest = std::min(fewest, here ? next->times : 0);
    }
    return fewest == std::numeric_limits<std::int32_t>::max() ? 0 : fewest;
}

std::vector<TrainedEpoch> epochsOf(Database& db, const std::set<std::int64_t>& ancestors)
{
    std::vector<TrainedEpoch> epochs;
    Rows rows = db.query(
        "SELECT c.epoch, count(*), sum(s.windows=c.windows AND c.windows>0), sum(s.windows>0 AND s.windows<c.windows), sum(c.state IN (5,6,7)),"
        " sum(CASE WHEN s.windows=c.windows AND c.windows>0 THEN c.samples ELSE 0 END),"
        " sum(coalesce(c.windows,1)=0 AND c.state NOT IN (5,6,7))"
        " FROM chunk c LEFT JOIN (SELECT chunk, sum(past-first) AS windows FROM part WHERE alive=1 AND skipped=0"
        " AND checkpoint IN (SELECT value FROM json_each(?)) GROUP BY chunk) s ON s.chunk=c.id"
        " GROUP BY c.epoch ORDER BY c.epoch",
        jsonList(ancestors));
    while (rows.next()) {
        TrainedEpoch one;
        one.epoch = boundedAt(db, rows, 0, kEpochBounds);
        one.chunks = boundedAt(db, rows, 1, kAmountBounds);
        one.whole = boundedAt(db, rows, 2, kAmountBounds);
        one.partly = boundedAt(db, rows, 3, kAmountBounds);
        one.leftOut = boundedAt(db, rows, 4, kAmountBounds);
        one.samples = boundedAt(db, rows, 5, kTotalBounds);
        one.empty = boundedAt(db, rows, 6, kAmountBounds);
        if (one.whole + one.partly > 0)
            epochs.push_back(one);
    }
    return epochs;
}

} // namespace

Result<TrainedBehind> trainedBehind(const std::filesystem::path& tracker, CheckpointId checkpoint)
{
    FURROW_TRY_ASSIGN(auto opened, openForReading(tracker));
    Database& db = opened;
    FURROW_TRY_ASSIGN(auto view, Transaction::read(db));
    TrainedBehind found;
    for (const auto id : wholeTrainings(db, loadLineage(db).ancestors(checkpoint.value)))
        append(found, id);
    found.completePasses = completePasses(db, found);
    if (Status status = view.commit(); !status.ok())
        return status.error().in(sentence("reading what a checkpoint was trained on"));
    return found;
}

Result<std::vector<TrainedEpoch>> trainedEpochs(const std::filesystem::path& tracker, CheckpointId checkpoint)
{
    FURROW_TRY_ASSIGN(auto opened, openForReading(tracker));
    Database& db = opened;
    FURROW_TRY_ASSIGN(auto view, Transaction::read(db));
    auto epochs = epochsOf(db, loadLineage(db).ancestors(checkpoint.value));
    if (Status status = view.commit(); !status.ok())
        return status.error().in(sentence("reading what a checkpoint was trained on"));
    return epochs;
}

} // namespace furrow
