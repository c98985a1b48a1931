#include "core/tracker/audit/rebuild.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/tracker/epochs.h"
#include "core/tracker/incarnations.h"
#include "core/tracker/lineage.h"
#include "core/tracker/run_event_texts.h"

#include <algorithm>
#include <compare>
#include <map>
#include <set>
#include <tuple>

// How this works: the checkpoints form a graph by the folders they name as parents. First it is decided which of them
// can be taken (choose), without touching the ledger; then they are written, parents first, each as if its worker had
// claimed, trained and committed.

namespace furrow {

namespace {

using ByFolder = std::map<std::string, const ProvenCheckpoint*>;
using Windows = std::map<std::int64_t, WindowRanges>; // by chunk

/// By what one checkpoint is newer than another: the greatest of all that it was made from and of itself. So it is
/// newer than these, and what was trained after going back newer than what was left by that, whatever the clock said.
struct Age {
    std::int64_t incarnation = 0; // a run numbers its processes on, and goes back only while none of them lives
    std::int64_t wallNs = 0;
    std::int64_t depth = 0; // checkpoints behind it
    auto operator<=>(const Age&) const = default;
};

class Ages {
public:
    explicit Ages(const ByFolder& all)
        : all_(all)
        , numbersGrow_(doNumbersGrow())
    {
    }

    const Age& of(const std::string& folder)
    {
        std::vector<std::string> open { folder }; // a line may have more checkpoints than a stack has room
        while (!open.empty()) {
            const std::string at = open.back();
            if (!known_.contains(at) && began_.insert(at).second) {
                for (const auto& parent : parentsOf(at))
                    if (!began_.contains(parent)) // a manifest may name itself
                        open.push_back(parent);
            } else {
                open.pop_back();
                known_.try_emplace(at, byParents(at));
            }
        }
        return known_.at(folder);
    }

private:
    std::vector<std::string> parentsOf(const std::string& folder) const
    {
        const auto one = all_.find(folder);
        return one == all_.end() ? std::vector<std::string>() : one->second->parents;
    }
    /// Those of the parents are known.
    Age byParents(const std::string& folder) const
    {
        const auto one = all_.find(folder);
        if (one == all_.end())
            return {};
        Age found { numbersGrow_ ? one->second->incarnation : 0, one->second->writtenWallNs, 1 };
        for (const auto& parent : one->second->parents) {
            const auto before = known_.find(parent);
            if (before == known_.end())
                continue;
            found.incarnation = std::max(found.incarnation, before->second.incarnation);
            found.wallNs = std::max(found.wallNs, before->second.wallNs);
            found.depth = std::max(found.depth, before->second.depth + 1);
        }
        return found;
    }
    /// False: by an earlier version a tracker that was made anew without the old one numbered from the beginning, so
    /// the numbers tell nothing.
    bool doNumbersGrow() const
    {
        return std::ranges::all_of(all_, [this](const auto& entry) {
            const ProvenCheckpoint& one = *entry.second;
            return std::ranges::all_of(one.parents, [&](const std::string& name) {
                const auto parent = all_.find(name);
                return parent == all_.end() || one.record.kind != CheckpointKind::Replica
                    || parent->second->record.kind != CheckpointKind::Replica
                    || parent->second->record.replica != one.record.replica
                    || parent->second->incarnation <= one.incarnation;
            });
        });
    }

    const ByFolder& all_;
    bool numbersGrow_;
    std::map<std::string, Age> known_;
    std::set<std::string> began_;
};

class Choice {
public:
    Choice(Database& db, std::span<const ProvenCheckpoint> proven)
        : db_(db)
    {
        for (const auto& one : proven)
            all_[one.record.folder] = &one;
        Rows rows = db.query("SELECT folder, id FROM checkpoint WHERE surviving=1 AND damaged=0");
        while (rows.next()) {
            known_[rows.text(0)] = rows.integer(1);
            folders_[rows.integer(1)] = rows.text(0);
        }
        Rows left = db.query("SELECT folder FROM checkpoint WHERE surviving=0");
        while (left.next()) // the run went back from it, or lost it: whole files do not bring it back
            all_.erase(left.text(0));
        lineage_ = loadLineage(db);
    }

    /// Folders to add, parents first; heads by replica.
    void make(Rebuilt& result)
    {
        for (const bool merges : { true, false })
            for (const auto* one : newestFirst(merges))
                consider(*one, result);
    }

    const std::vector<const ProvenCheckpoint*>& chosen() const { return chosen_; }
    const std::map<std::int32_t, std::string>& heads() const { return heads_; }
    const std::string& merge() const { return merge_; }

private:
    std::vector<const ProvenCheckpoint*> newestFirst(bool merges) const
    {
        Ages ages(all_);
        std::vector<const ProvenCheckpoint*> found;
        for (const auto& [folder, one] : all_)
            if (one->whole && (one->record.kind == CheckpointKind::Merge) == merges)
                found.push_back(one);
        std::sort(found.begin(), found.end(), [&ages](const auto* a, const auto* b) {
            return std::tuple(ages.of(a->record.folder), a->record.step, a->record.folder)
                > std::tuple(ages.of(b->record.folder), b->record.step, b->record.folder);
        });
        return found;
    }

    /// Everything it was made from, itself included, parents first. Gives the folder of what is unknown of it, or "".
    std::string ancestry(const std::string& folder, std::vector<std::string>& line, std::set<std::string>& seen) const
    {
        if (!seen.insert(folder).second)
            return {};
        if (const auto known = known_.find(folder);
            known != known_.end()) { // what the ledger has, it has with all that lies behind
            for (const auto id : lineage_.ancestors(known->second))
                if (const auto name = folders_.find(id); name != folders_.end())
                    seen.insert(name->second);
            return {};
        }
        const auto one = all_.find(folder);
        if (one == all_.end())
            return folder;
        for (const auto& parent : one->second->parents)
            if (auto unknown = ancestry(parent, line, seen); !unknown.empty())
                return unknown;
        line.push_back(folder);
        return {};
    }

    void consider(const ProvenCheckpoint& one, Rebuilt& result)
    {
        const std::string& name = one.record.folder;
        const bool isMerge = one.record.kind == CheckpointKind::Merge;
        if (taken_.contains(name) || (isMerge && !merge_.empty()) || (!isMerge && heads_.contains(one.record.replica)))
            return; // an ancestor of what is taken, or an older one of its line
        std::vector<std::string> line;
        std::set<std::string> seen;
        if (const auto unknown = ancestry(name, line, seen); !unknown.empty()) {
            result.leftOut.push_back("checkpoint " + name + " was made from " + unknown + ", which nothing proves");
            return;
        }
        if (!isMerge && !merge_.empty() && !seen.contains(merge_)) {
            if (!holdsMore(line)) // its worker saved what its last weights evaluate to, while they were merged
                return;
            result.leftOut.push_back("checkpoint " + name + " does not grow from the newest merge " + merge_);
            return;
        }
        Windows windows = windows_;
        for (const auto& folder : line)
            if (!taken_.contains(folder) && !addWindows(*all_.at(folder), windows)) {
                result.leftOut.push_back(
                    "checkpoint " + name + " holds windows that others have, or that the data does not have");
                return;
            }
        windows_ = std::move(windows);
        for (const auto& folder : line)
            if (taken_.insert(folder).second)
                chosen_.push_back(all_.at(folder));
        taken_.insert(seen.begin(), seen.end());
        if (isMerge)
            merge_ = name;
        else
            heads_[one.record.replica] = name;
    }

    /// One of them has windows and is not taken yet.
    bool holdsMore(const std::vector<std::string>& line) const
    {
        return std::ranges::any_of(line,
            [this](const std::string& folder) { return !taken_.contains(folder) && !all_.at(folder)->parts.empty(); });
    }

    /// False when a window is there twice or nowhere in the data.
    bool addWindows(const ProvenCheckpoint& one, Windows& windows)
    {
        for (const Part& part : one.parts) {
            auto mine = windows.find(part.chunk.value);
            if (mine == windows.end()) {
                const auto count = db_.integer("SELECT windows FROM chunk WHERE id=?", part.chunk);
                if (!count)
                    return false;
                mine = windows.emplace(part.chunk.value, coveredRanges(db_, loadChunk(db_, part.chunk))).first;
                sizes_[part.chunk.value] = *count;
            }
            auto both = mine->second;
            both.push_back(part.windows);
            auto joined = normalized(std::move(both));
            if (!joined || part.windows.begin < 0 || part.windows.end > sizes_[part.chunk.value])
                return false;
            mine->second = std::move(*joined);
        }
        return true;
    }

    Database& db_;
    ByFolder all_;
    std::map<std::string, std::int64_t> known_; // in the ledger already
    std::map<std::int64_t, std::string> folders_; // of those
    Lineage lineage_;
    std::set<std::string> taken_;
    std::vector<const ProvenCheckpoint*> chosen_;
    std::map<std::int32_t, std::string> heads_;
    std::string merge_;
    Windows windows_;
    std::map<std::int64_t, std::int64_t> sizes_;
};

std::int64_t idOf(Database& db, const std::string& folder)
{
    return db.integer("SELECT id FROM checkpoint WHERE folder=?", folder).value_or(0);
}

// Without an id it gets the next one.
constexpr const char* kInsertPastProcess
    = "INSERT INTO incarnation (id, attempt, worker, replica, pid, start_time, boot_id, device, device_name, live, end_cause, started_wall, ended_wall, lease_until, progress)"
      " VALUES (?, ?, ?, ?, 0, 0, '', '', '', 0, 'rebuilt from checkpoints', ?, ?, 0, 0)";

/// One worker of the past for each replica: who really did it, only the lost history knew.
std::int64_t pastWorker(
    LedgerFile& file, std::int64_t attempt, std::int32_t replica, std::map<std::int32_t, std::int64_t>& made)
{
    if (const auto found = made.find(replica); found != made.end())
        return found->second;
    const std::int64_t now = file.clock->wallNs();
    file.db.run(kInsertPastProcess, std::nullopt, attempt, replica, std::max<std::int32_t>(replica, 0), now, now);
    return made[replica] = file.db.lastId();
}

/// By these numbers a later repair knows which line is the newer one, so they go on behind those of the manifests. One
/// row stands for all processes up to its number.
void numberBehind(LedgerFile& file, std::int64_t attempt, std::int64_t newestUsed)
{
    if (file.db.integer("SELECT max(id) FROM incarnation").value_or(0) < newestUsed)
        file.db.run(kInsertPastProcess, newestUsed, attempt, kNoWorker, kNoWorker, file.clock->wallNs(), 0); // no end
}

class Writer {
public:
    Writer(LedgerFile& file, std::int64_t attempt)
        : file_(file)
        , attempt_(attempt)
        , moves_(file, 0)
    {
    }

    void add(const ProvenCheckpoint& one)
    {
        Database& db = file_.db;
        CheckpointRecord record = one.record;
        std::int64_t stepBefore = 0;
        for (const auto& parent : one.parents) {
            record.parents.push_back({ idOf(db, parent) });
            stepBefore = std::max(
                stepBefore, db.integer("SELECT step FROM checkpoint WHERE id=?", record.parents.back()).value_or(0));
        }
        const auto worker
            = pastWorker(file_, attempt_, record.kind == CheckpointKind::Merge ? kNoWorker : record.replica, workers_);
        const CheckpointId id = insertCheckpoint(file_, worker, record);
        db.run("UPDATE checkpoint SET wall=?, removed=? WHERE id=?", one.writtenWallNs, !one.whole, id);
        std::int64_t steps
            = std::max<std::int64_t>(0, record.step - stepBefore); // all of them with the first part that was trained
        std::vector<PartRow> parts;
        for (const Part& part : one.parts)
            parts.push_back(addPart(part, worker, part.skipped ? 0 : std::exchange(steps, 0), one.writtenWallNs));
        insertParts(file_, id, std::move(parts));
    }

    void finish() { moves_.finish(); }

private:
    PartRow addPart(const Part& part, std::int64_t worker, std::int64_t steps, std::int64_t wallNs)
    {
        Database& db = file_.db;
        ChunkRow chunk = loadChunk(db, part.chunk);
        const std::string ranges = encodeRanges({ part.windows });
        const std::int64_t tokens = part.skipped
            ? 0
            : tokensIn({ part.windows }, chunk.tokens, chunk.windows.value_or(0), file_.windowTokens);
        const std::int64_t samples
            = part.skipped ? 0 : shareOf({ part.windows }, chunk.rows.samples, chunk.windows.value_or(0));
        db.run(
            "INSERT INTO claim (chunk, incarnation, outcome, claimed_wall, started_wall, ended_wall, ranges, done, skipped, position_tokens, samples, tokens, steps, opened_seq, closed_seq, cause)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, coalesce((SELECT max(seq) FROM event), 0)+1, coalesce((SELECT max(seq) FROM event), 0)+1, 'rebuilt')",
            part.chunk, worker, ClaimOutcome::Trained, wallNs, wallNs, wallNs, ranges,
            part.skipped ? std::string() : ranges, part.skipped ? ranges : std::string(), samples, tokens, steps);
        chunk.claim = db.lastId();
        moves_.totals().steps += steps;
        moves_.totals().tokens += tokens;
        moves_.totals().claimedTokens += tokens;
        chunk.covered += part.windows.size();
        chunk.timesTrained += 1;
        chunk.trainedWall = wallNs;
        chunk.attempt = attempt_;
        moves_.visit(chunk.place);
        if (!isLegalMove(chunk.state, ChunkState::Leased) && chunk.state != ChunkState::Pending)
            moves_.move(chunk, ChunkState::Pending, sentence("rebuilt")); // left out, or given up, by an older tracker
        if (chunk.covered < chunk.windows.value_or(0))
            moves_.store(chunk);
        else
            commitCovered(moves_, chunk, worker, sentence("rebuilt"));
        return { *chunk.claim, part.windows, part.chunk, part.skipped, steps };
    }

    LedgerFile& file_;
    std::int64_t attempt_;
    ChunkMoves moves_;
    std::map<std::int32_t, std::int64_t> workers_;
};

/// A replica whose newest checkpoint went into others since stands on what it took over from them. By the times in the
/// manifests alone that cannot be known: a clock may have gone back meanwhile.
void takeHeadsForward(Database& db, Rebuilt& result)
{
    for (const auto& [replica, newest] : loadLineage(db).forsaken())
        db.run("UPDATE replica SET head=? WHERE replica=?", newest, replica);
    Rows rows = db.query("SELECT DISTINCT c.folder FROM replica r JOIN checkpoint c ON c.id=r.head ORDER BY r.replica");
    while (rows.next())
        result.heads.push_back(rows.text(0));
}

/// Heads as chosen; a replica without a line of its own stands on the merge.
void setHeads(Database& db, const Choice& choice)
{
    if (!choice.merge().empty()) {
        db.run("UPDATE replica SET head=?", idOf(db, choice.merge()));
        if (choice.heads().empty())
            db.run("INSERT OR IGNORE INTO replica (replica, head) VALUES (0, ?)", idOf(db, choice.merge()));
    }
    for (const auto& [replica, folder] : choice.heads())
        db.run(
            "INSERT INTO replica (replica, head) VALUES (?, ?) ON CONFLICT (replica) DO UPDATE SET head=excluded.head",
            replica, idOf(db, folder));
}

} // namespace

Status adoptSnapshot(const std::filesystem::path& snapshot, const std::filesystem::path& target)
{
    FURROW_TRY_ASSIGN(auto source, openForReading(snapshot));
    std::error_code ignored;
    if (std::filesystem::exists(target, ignored))
        return Error { ErrorCode::InvalidArgument, sentence("%1 exists already", { utf8Text(target) }) };
    FURROW_TRY(source.backupTo(target, Database::Journal::Wal));
    return migrateLedger(target);
}

Status openEpochsUpTo(const std::filesystem::path& tracker, std::int64_t epoch, Patience patience)
{
    FURROW_TRY_ASSIGN(auto file, openLedger(tracker, systemClock()));
    if (patience)
        file.db.setPatience(std::move(patience));
    registerClaimOrder(file);
    if (const auto newest = file.db.integer("SELECT max(epoch) FROM epoch WHERE fully_opened=0")) // was being opened
        FURROW_TRY(openAllChunks(file, *newest));
    for (auto next = file.db.integer("SELECT max(epoch)+1 FROM epoch").value_or(0); next <= epoch; ++next) {
        FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(file.db));
        openEpoch(file, next);
        FURROW_TRY(transaction.commit());
        FURROW_TRY(openAllChunks(file, next));
    }
    return file.db.takeStatus();
}

Result<Rebuilt> rebuildLineage(const std::filesystem::path& tracker, std::span<const ProvenCheckpoint> proven,
    RebuildReason why, const NumbersUsed& used, const Clock& clock)
{
    FURROW_TRY_ASSIGN(auto file, openLedger(tracker, clock));
    Database& db = file.db;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(db));
    Rebuilt result;
    { // whoever held something in a snapshot is gone
        ChunkMoves moves(file, 0);
        std::vector<std::int64_t> live;
        {
            Rows rows = db.query("SELECT id FROM incarnation WHERE live=1");
            while (rows.next())
                live.push_back(rows.integer(0));
        }
        for (const auto incarnation : live)
            revokeIncarnation(file, moves, incarnation, sentence("the tracker was rebuilt"));
        moves.finish();
    }
    Choice choice(db, proven);
    choice.make(result);
    std::string overrides = "{}"; // of the newest attempt that is known
    if (Rows row = db.query("SELECT overrides FROM attempt ORDER BY id DESC LIMIT 1"); row.next())
        overrides = row.text(0);
    addLostAttempts(file, used.attempt);
    db.run("INSERT INTO attempt (pid, start_time, boot_id, started_wall, ended_wall, reason, detail, overrides)"
           " VALUES (0, 0, '', ?, ?, ?, 'the tracker was rebuilt', ?)",
        clock.wallNs(), clock.wallNs(), StopReason::Interrupted, overrides);
    const std::int64_t attempt = db.lastId();
    numberBehind(file, attempt, used.incarnation);
    Writer writer(file, attempt);
    for (const auto* one : choice.chosen()) {
        writer.add(*one);
        ++result.checkpoints;
        result.parts += static_cast<std::int64_t>(one->parts.size());
    }
    writer.finish();
    for (const auto& one : proven)
        if (one.removed) // by the keep policy, after the ledger that this one is made from
            db.run("UPDATE checkpoint SET removed=1 WHERE folder=? AND manifest_sha256=? AND removed=0",
                one.record.folder, one.record.manifestSha256);
    setHeads(db, choice);
    ChunkMoves moves(file, 0);
    keepOnlySurviving(file, moves, loadLineage(db), sentence("not proven when the tracker was rebuilt"));
    moves.finish();
    takeHeadsForward(db, result);
    storeMeta(db, kMadeAnew, std::to_string(clock.wallNs()));
    const std::vector<Argument> added { std::to_string(result.checkpoints), std::to_string(result.parts) };
    writeRunEvent(file, 0, why == RebuildReason::Older ? sentence(kTakenForward, added) : sentence(kRebuilt, added));
    updateStop(file);
    if (Status status = transaction.commit(); !status.ok())
        return status.error().in(sentence("rebuilding the tracker"));
    return result;
}

} // namespace furrow
