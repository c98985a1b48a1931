#include "core/tracker/participations.h"

#include "core/base/sentence.h"
#include "core/tracker/ledger_file.h"
#include "core/tracker/row_bounds.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>

// A unit is counted by its chunk: the most that any window of the chunk had in an epoch, summed over the epochs. Where
// the order of the samples changes with the epoch a sample had another window in each, so this is a bound and not the
// count of one window.

namespace furrow {

namespace {

/// Of a claim c that trained: any trace that it left says so, whatever its times are.
#define FURROW_BEGUN \
    "(c.started_wall>0 OR c.outcome IN (1, 3) OR c.steps>0 OR c.done<>'' OR c.skipped<>'' OR EXISTS (SELECT 1 FROM part p WHERE p.claim=c.id))"
static_assert(static_cast<int>(ClaimOutcome::Trained) == 1 && static_cast<int>(ClaimOutcome::Lost) == 3);

WindowRanges partsOf(Database& db, std::int64_t claim)
{
    WindowRanges parts;
    Rows rows = db.query("SELECT DISTINCT first, past FROM part WHERE claim=? ORDER BY first", claim);
    while (rows.next())
        parts.push_back({ rows.int32(0), rows.int32(1) });
    return parts;
}

/// Windows that a training took part with. @param row  id, outcome, ranges, done, skipped
WindowRanges windowsOf(Database& db, const Rows& row)
{
    if (static_cast<ClaimOutcome>(row.integer(1)) == ClaimOutcome::Released) // begun: a checkpoint has what was trained
        return partsOf(db, row.integer(0));
    WindowRanges told = decodeRanges(row.text(3));
    const WindowRanges skipped = decodeRanges(row.text(4));
    told.insert(told.end(), skipped.begin(), skipped.end());
    return told.empty() ? decodeRanges(row.text(2)) : told;
}

/// The most that any window has, of those in `among`.
class Depth {
public:
    void add(const WindowRanges& windows)
    {
        for (const WindowRange& range : windows) {
            ++change_[range.begin];
            --change_[range.end];
        }
    }
    std::int64_t most(const WindowRanges& among) const
    {
        std::int64_t most = 0;
        std::int64_t depth = 0;
        for (auto at = change_.begin(); at != change_.end(); ++at) {
            depth += at->second;
            const auto next = std::next(at);
            if (next != change_.end() && depth > most && !intersect(among, { { at->first, next->first } }).empty())
                most = depth;
        }
        return most;
    }

private:
    std::map<std::int32_t, std::int64_t> change_;
};

const WindowRanges kAll { { 0, std::numeric_limits<std::int32_t>::max() } };

std::int64_t mostOf(Database& db, ChunkId chunk, const WindowRanges& among)
{
    Depth depth;
    Rows rows = db.query(
        "SELECT c.id, c.outcome, c.ranges, c.done, c.skipped FROM claim c WHERE c.chunk=? AND " FURROW_BEGUN, chunk);
    while (rows.next())
        depth.add(windowsOf(db, rows));
    return depth.most(among);
}

/// By the id of the chunk in the first epoch.
using Counts = std::map<std::int64_t, std::int64_t>;

std::int64_t mostOf(const Counts& counts)
{
    std::int64_t most = 0;
    for (const auto& [chunk, count] : counts)
        most = std::max(most, count);
    return most;
}

Counts countAll(Database& db)
{
    Counts counts;
    std::int64_t at = 0;
    Depth depth;
    const auto end = [&] {
        if (at != 0)
            counts[at % kEpochIds] += depth.most(kAll);
        depth = {};
    };
    Rows rows = db.query("SELECT c.id, c.outcome, c.ranges, c.done, c.skipped, c.chunk FROM claim c WHERE " FURROW_BEGUN
                         " ORDER BY c.chunk");
    while (rows.next()) {
        const std::int64_t chunk = chunkIdAt(db, rows, 5).value;
        if (chunk != at)
            end();
        at = chunk;
        depth.add(windowsOf(db, rows));
    }
    end();
    return counts;
}

Counts countKept(Database& db)
{
    Counts counts;
    Rows rows = db.query("SELECT DISTINCT chunk FROM part WHERE alive=1 AND skipped=0");
    while (rows.next())
        ++counts[chunkIdAt(db, rows, 0).value % kEpochIds];
    return counts;
}

} // namespace

Result<Participations> participations(const std::filesystem::path& tracker, const std::filesystem::path& shownAs)
{
    FURROW_TRY_ASSIGN(auto opened, openForReading(tracker, shownAs));
    Database& db = opened;
    FURROW_TRY_ASSIGN(auto view, Transaction::read(db));
    Participations found;
    found.kept = mostOf(countKept(db));
    found.all = mostOf(countAll(db));
    found.lostTrainings = db.integer("SELECT count(*) FROM claim c WHERE " FURROW_BEGUN " AND (c.outcome=? OR EXISTS"
                                     " (SELECT 1 FROM part p WHERE p.claim=c.id AND p.alive=0))",
                                ClaimOutcome::Lost)
                              .value_or(0);
    found.isHistoryLost = db.integer("SELECT count(*) FROM meta WHERE key=?", kMadeAnew).value_or(0) > 0;
    {
        Rows row = db.query("SELECT coalesce(sum(windows), 0), coalesce(sum(samples), 0) FROM chunk WHERE epoch=0");
        if (row.next()) {
            found.windows = boundedAt(db, row, 0, kTotalBounds);
            found.samples = boundedAt(db, row, 1, kTotalBounds);
        }
    }
    FURROW_TRY(view.commit());
    return found;
}

std::int64_t participationsBefore(Database& db, const ChunkRow& chunk)
{
    std::int64_t before = mostOf(db, chunk.id, subtract(chunk.whole(), coveredRanges(db, chunk)));
    for (std::int64_t id = chunk.id.value - kEpochIds; id >= kEpochIds; id -= kEpochIds)
        before += mostOf(db, { id }, kAll);
    return before;
}

void noteParticipation(LedgerFile& file, const RunState& run, ChunkId chunk)
{
    if (run.mostParticipations == kNotPrivate)
        return;
    std::int64_t now = 0;
    for (std::int64_t id = chunk.value; id >= kEpochIds; id -= kEpochIds)
        now += mostOf(file.db, { id }, kAll);
    if (now <= run.participations)
        return;
    storeMeta(file.db, kParticipations, std::to_string(now));
    if (now > 1 && !run.isMadeAnew)
        writeRunEvent(file, 0, sentence("some unit of the data takes part %1 times from here on", { Count(now) }));
}

bool isSpent(Database& db, const RunState& run)
{
    if (run.mostParticipations <= 0)
        return false;
    const auto next = loadFirstFree(db);
    return next && isSpent(db, run, *next);
}

bool isSpent(Database& db, const RunState& run, const ChunkRow& chunk)
{
    return run.mostParticipations > 0 && participationsBefore(db, chunk) >= run.mostParticipations;
}

void stopForPrivacy(LedgerFile& file)
{
    file.db.run("UPDATE control SET stop=?", StopReason::Privacy);
    writeRunEvent(file, 0, sentence("stopping rule reached: %1", { inWords(StopReason::Privacy) }));
}

} // namespace furrow
