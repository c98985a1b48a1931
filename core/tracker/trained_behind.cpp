#include "core/tracker/trained_behind.h"

#include "core/base/sentence.h"
#include "core/tracker/ledger_file.h"
#include "core/tracker/left_out_samples.h"
#include "core/tracker/lineage.h"
#include "core/tracker/row_bounds.h"
#include "core/tracker/schema.h"
#include "core/tracker/sqlite/select.h"

#include <algorithm>
#include <limits>
#include <utility>

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

/// One pass over a chunk: each of its windows is done, in the weights or left out by name, as its step was not finite.
struct Pass {
    std::int64_t chunk = 0; ///< its id in the first epoch
    std::int64_t epoch = -1; ///< -1: of the parent run
    bool isTrained = true; ///< every window is in the weights
    auto operator<=>(const Pass&) const = default;
};

/// Ascending.
std::vector<Pass> passesOver(Database& db, const std::set<std::int64_t>& ancestors)
{
    std::vector<Pass> passes;
    {
        Rows rows = db.query(
            "SELECT p.chunk, sum((p.past-p.first)*(p.skipped=0))=max(c.windows) FROM part p JOIN chunk c ON c.id=p.chunk"
            " WHERE p.alive=1 AND p.checkpoint IN (SELECT value FROM json_each(?))"
            " GROUP BY p.chunk HAVING sum(p.past-p.first)=max(c.windows)",
            jsonList(ancestors));
        while (rows.next()) {
            const ChunkId id = chunkIdAt(db, rows, 0);
            passes.push_back({ inFirstEpoch(id.value), placeOf(id).epoch, rows.integer(1) != 0 });
        }
    }
    if (keepsInherited(db)) {
        Rows rows = db.query("SELECT id FROM chunk WHERE inherited>0 AND epoch=0");
        while (rows.next())
            passes.push_back({ chunkIdAt(db, rows, 0).value });
    }
    std::sort(passes.begin(), passes.end());
    return passes;
}

/// What the weights have of them. A pass over a chunk that left windows out by name is over, and trained nothing whole.
std::vector<TrainedBehind::Chunk> trainedIn(const std::vector<Pass>& passes, std::int32_t completePasses)
{
    std::vector<TrainedBehind::Chunk> chunks;
    std::int64_t chunk = 0;
    std::int32_t nth = 0;
    for (const Pass& pass : passes) {
        nth = pass.chunk == std::exchange(chunk, pass.chunk) ? nth + 1 : 1;
        if (!pass.isTrained)
            continue;
        const auto place = placeOf({ pass.chunk });
        if (chunks.empty() || chunks.back().block != place.block || chunks.back().column != place.column)
            chunks.push_back({ place.block, place.column });
        ++chunks.back().times;
        chunks.back().timesInOpenPasses += nth > completePasses ? 1 : 0;
    }
    return chunks;
}

void addPartly(
    Database& db, const std::set<std::int64_t>& ancestors, const std::vector<Pass>& passes, TrainedBehind& found)
{
    Rows rows = db.query("SELECT p.chunk, sum((p.past-p.first)*(p.skipped=0)) AS done, max(c.windows), max(c.samples),"
                         " sum((p.past-p.first)*(p.skipped<>0))"
                         " FROM part p JOIN chunk c ON c.id=p.chunk"
                         " WHERE p.alive=1 AND p.checkpoint IN (SELECT value FROM json_each(?))"
                         " GROUP BY p.chunk HAVING sum(p.past-p.first)<max(c.windows) AND done>0",
        jsonList(ancestors));
    while (rows.next()) {
        const std::int64_t chunk = inFirstEpoch(chunkIdAt(db, rows, 0).value);
        const auto over = std::ranges::count(passes, chunk, &Pass::chunk);
        if (over > found.completePasses)
            continue; // the open pass has the chunk whole
        ++found.partlyChunks;
        found.partlySamples
            += samplesTrained(boundedAt(db, rows, 1, kWindowBounds), boundedAt(db, rows, 4, kWindowBounds),
                boundedAt(db, rows, 3, kAmountBounds), boundedAt(db, rows, 2, kWindowBounds));
    }
}

/// The smallest count over every chunk that is to be trained.
std::int32_t completePasses(Database& db, const std::vector<Pass>& passes)
{
    if (!db.integer("SELECT 1 FROM dataset WHERE block_count=known_blocks"))
        return 0;
    auto fewest = std::numeric_limits<std::int32_t>::max();
    auto next = passes.begin();
    Rows rows = keepsInherited(db)
        ? db.query(
              "SELECT id FROM chunk WHERE epoch=0 AND coalesce(windows,1)>0 AND state<>7 AND (state<>5 OR inherited=2) ORDER BY id")
        : db.query("SELECT id FROM chunk WHERE epoch=0 AND coalesce(windows,1)>0 AND state NOT IN (5,7) ORDER BY id");
    while (rows.next()) {
        const std::int64_t id = chunkIdAt(db, rows, 0).value;
        next = std::find_if(next, passes.end(), [id](const Pass& pass) { return pass.chunk >= id; });
        const auto past = std::find_if(next, passes.end(), [id](const Pass& pass) { return pass.chunk > id; });
        fewest = std::min(fewest, static_cast<std::int32_t>(past - next));
        next = past;
    }
    return fewest == std::numeric_limits<std::int32_t>::max() ? 0 : fewest;
}

std::vector<TrainedEpoch> epochsOf(Database& db, const std::set<std::int64_t>& ancestors)
{
    std::vector<TrainedEpoch> epochs;
#define FURROW_TRAINED_EPOCHS(inherited)                                                                                    \
    "SELECT c.epoch, count(*) AS chunks, sum(s.windows=c.windows AND c.windows>0) AS whole,"                                \
    " sum(s.windows>0 AND s.windows<c.windows) AS partly, sum(c.state IN (5,6,7) AND coalesce(s.windows,0)=0) AS left_out," \
    " sum(CASE WHEN s.windows>0 AND c.windows>0 THEN c.samples*(s.windows+s.skipped)/c.windows"                             \
    "-c.samples*s.skipped/c.windows ELSE 0 END) AS samples," /* samplesTrained() */                                         \
    " sum(coalesce(c.windows,1)=0 AND c.state NOT IN (5,6,7)) AS empty,"                                                    \
    " sum(c.state=5 AND " inherited "=2) AS of_parent"                                                                      \
    " FROM chunk c LEFT JOIN (SELECT chunk, sum((past-first)*(skipped=0)) AS windows,"                                      \
    " sum((past-first)*(skipped<>0)) AS skipped FROM part WHERE alive=1"                                                    \
    " AND checkpoint IN (SELECT value FROM json_each(?)) GROUP BY chunk) s ON s.chunk=c.id"                                 \
    " GROUP BY c.epoch ORDER BY c.epoch"
    static constexpr Select kEpochs { FURROW_TRAINED_EPOCHS("c.inherited") };
    static constexpr Select kEpochsOfOld { FURROW_TRAINED_EPOCHS("0") };
#undef FURROW_TRAINED_EPOCHS
    Rows rows = db.query(keepsInherited(db) ? kEpochs.sql : kEpochsOfOld.sql, jsonList(ancestors));
    while (rows.next()) {
        TrainedEpoch one;
        const auto amount = [&](int column) { return boundedAt(db, rows, column, kAmountBounds); };
        one.epoch = boundedAt(db, rows, kEpochs["epoch"], kEpochBounds);
        one.chunks = amount(kEpochs["chunks"]);
        one.whole = amount(kEpochs["whole"]);
        one.partly = amount(kEpochs["partly"]);
        one.ofParent = amount(kEpochs["of_parent"]);
        one.leftOut = amount(kEpochs["left_out"]) - one.ofParent;
        one.samples = boundedAt(db, rows, kEpochs["samples"], kTotalBounds);
        one.empty = amount(kEpochs["empty"]);
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
    const auto ancestors = loadLineage(db).ancestors(checkpoint.value);
    const auto passes = passesOver(db, ancestors);
    found.completePasses = completePasses(db, passes);
    found.chunks = trainedIn(passes, found.completePasses);
    addPartly(db, ancestors, passes, found);
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
