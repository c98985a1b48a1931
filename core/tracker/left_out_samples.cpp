#include "core/tracker/left_out_samples.h"

#include "core/base/path.h"
#include "core/tracker/ledger_file.h"
#include "core/tracker/row_bounds.h"
#include "core/tracker/types.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>

namespace furrow {

namespace {

using ByEpoch = std::map<std::int64_t, std::int64_t>;

// The parts of a committed chunk change with a commit, or when checkpoints leave the lineage.
constexpr const char* kMoment
    = "SELECT (SELECT value FROM meta WHERE key='run_id')||' '||(SELECT count(*) FROM checkpoint)||' '||(SELECT total(surviving) FROM checkpoint)||' '||(SELECT total(n4) FROM epoch)";

/// Of a large run all parts are many to read, and a console asks each second. Any thread.
class Known {
public:
    std::optional<ByEpoch> at(const std::string& tracker, const std::string& moment) const
    {
        const std::lock_guard lock(mutex_);
        const auto found = all_.find(tracker);
        return found == all_.end() || found->second.moment != moment ? std::nullopt
                                                                     : std::optional(found->second.leftOut);
    }
    void keep(const std::string& tracker, const std::string& moment, const ByEpoch& leftOut)
    {
        const std::lock_guard lock(mutex_);
        all_[tracker] = { moment, leftOut };
    }

private:
    struct Look {
        std::string moment;
        ByEpoch leftOut;
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
constexpr const char* kIsAllTrained = "SELECT claimed_tokens=tokens FROM budget";

constexpr const char* kLeftOut
    = "SELECT c.epoch, c.samples, c.windows, sum(p.past-p.first) FROM part p CROSS JOIN chunk c ON c.id=p.chunk"
      " WHERE p.alive=1 AND p.skipped<>0 AND c.state=? AND c.windows>0"
      " GROUP BY c.id";

} // namespace

namespace {

ByEpoch readLeftOut(Database& db)
{
    ByEpoch byEpoch;
    if (db.integer(kIsAllTrained).value_or(0) == 1)
        return byEpoch;
    Rows rows = db.query(kLeftOut, ChunkState::Committed);
    while (rows.next()) {
        const std::int64_t samples = boundedAt(db, rows, 1, kAmountBounds);
        const std::int64_t windows = boundedAt(db, rows, 2, kWindowBounds);
        const std::int64_t leftOut = std::min(boundedAt(db, rows, 3, kAmountBounds), windows);
        byEpoch[boundedAt(db, rows, 0, kEpochBounds)] += windows > 0 ? samples * leftOut / windows : 0;
    }
    return byEpoch;
}

std::string momentOf(Database& db)
{
    Rows row = db.query(kMoment);
    return row.next() ? row.text(0) : std::string();
}

} // namespace

Result<std::map<std::int64_t, std::int64_t>> samplesLeftOut(const std::filesystem::path& tracker)
{
    FURROW_TRY_ASSIGN(auto opened, openForReading(tracker, {}, ReadFor::Look));
    Database& db = opened;
    const std::string name = utf8Text(tracker);
    FURROW_TRY_ASSIGN(auto view, Transaction::read(db));
    const std::string moment = momentOf(db);
    if (auto before = known().at(name, moment))
        return std::move(*before);
    auto byEpoch = readLeftOut(db);
    FURROW_TRY(view.commit());
    known().keep(name, moment, byEpoch);
    return byEpoch;
}

} // namespace furrow
