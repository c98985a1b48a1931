#include "core/tracker/left_out_samples.h"

#include "core/base/path.h"
#include "core/tracker/ledger_file.h"
#include "core/tracker/row_bounds.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>

namespace furrow {

namespace {

// Parts come with checkpoints, and chunks are committed with them, or leave the lineage with them.
constexpr const char* kMoment
    = "SELECT (SELECT value FROM meta WHERE key='run_id')||' '||(SELECT count(*) FROM checkpoint)||' '||(SELECT total(surviving) FROM checkpoint)||' '||(SELECT total(n4) FROM epoch)";

/// Of a large run all parts are many to read, and a console asks each second. Any thread.
class Known {
public:
    SkippedChunks at(const std::string& tracker, const std::string& moment) const
    {
        const std::lock_guard lock(mutex_);
        const auto found = all_.find(tracker);
        return found == all_.end() || found->second.moment != moment ? nullptr : found->second.leftOut;
    }
    void keep(const std::string& tracker, const std::string& moment, const SkippedChunks& leftOut)
    {
        const std::lock_guard lock(mutex_);
        all_[tracker] = { moment, leftOut };
    }

private:
    struct Look {
        std::string moment;
        SkippedChunks leftOut;
    };
    mutable std::mutex mutex_;
    std::map<std::string, Look> all_; // guarded by mutex_
};

Known& known()
{
    static Known known;
    return known;
}

// Tokens that were claimed and not trained are in training, or left out: without any no part needs to be looked at.
// What was left out by checkpoints that do not survive is not among them.
constexpr const char* kIsAllTrained
    = "SELECT claimed_tokens=tokens AND NOT EXISTS (SELECT 1 FROM checkpoint WHERE surviving=0) FROM budget";

constexpr const char* kLeftOut
    = "SELECT c.id, c.state, c.windows, c.samples, p.checkpoint, p.alive, sum(p.past-p.first)"
      " FROM part p CROSS JOIN chunk c ON c.id=p.chunk WHERE p.skipped<>0 AND c.windows>0"
      " GROUP BY c.id, p.checkpoint, p.alive ORDER BY c.id, p.checkpoint";

std::vector<SkippedChunk> readLeftOut(Database& db)
{
    std::vector<SkippedChunk> chunks;
    if (db.integer(kIsAllTrained).value_or(0) == 1)
        return chunks;
    Rows rows = db.query(kLeftOut);
    while (rows.next()) {
        const ChunkId id = chunkIdAt(db, rows, 0);
        if (chunks.empty() || chunks.back().chunk != id) {
            SkippedChunk& chunk = chunks.emplace_back();
            chunk.chunk = id;
            chunk.state = static_cast<ChunkState>(boundedAt(db, rows, 1, kStateBounds));
            chunk.windows = std::max<std::int64_t>(1, boundedAt(db, rows, 2, kWindowBounds));
            chunk.samples = boundedAt(db, rows, 3, kAmountBounds);
        }
        chunks.back().skipped.push_back(
            { { rows.integer(4) }, boundedAt(db, rows, 6, kAmountBounds), rows.integer(5) != 0 });
    }
    return chunks;
}

std::string momentOf(Database& db)
{
    Rows row = db.query(kMoment);
    return row.next() ? row.text(0) : std::string();
}

} // namespace

std::int64_t SkippedChunk::windowsSkipped() const
{
    std::int64_t sum = 0;
    for (const Windows& one : skipped)
        sum += one.isAlive ? one.count : 0;
    return std::min(sum, windows);
}

std::int64_t windowsSkippedOf(const SkippedChunks& skipped, ChunkId chunk)
{
    if (skipped == nullptr)
        return 0;
    const auto found = std::ranges::lower_bound(*skipped, chunk, {}, &SkippedChunk::chunk);
    return found == skipped->end() || found->chunk != chunk ? 0 : found->windowsSkipped();
}

Result<SkippedChunks> skippedChunks(const std::filesystem::path& tracker)
{
    FURROW_TRY_ASSIGN(auto opened, openForReading(tracker, {}, ReadFor::Look));
    Database& db = opened;
    const std::string name = utf8Text(tracker);
    FURROW_TRY_ASSIGN(auto view, Transaction::read(db));
    const std::string moment = momentOf(db);
    if (auto before = known().at(name, moment))
        return before;
    auto chunks = std::make_shared<const std::vector<SkippedChunk>>(readLeftOut(db));
    FURROW_TRY(view.commit());
    known().keep(name, moment, chunks);
    return SkippedChunks(std::move(chunks));
}

} // namespace furrow
