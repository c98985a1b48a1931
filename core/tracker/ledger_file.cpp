#include "core/tracker/ledger_file.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/config/message_json.h"
#include "core/tracker/kept_messages.h"
#include "core/tracker/readers_patience.h"
#include "core/tracker/sqlite/database_files.h"
#include "core/tracker/row_bounds.h"
#include "core/tracker/schema.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <mutex>

namespace furrow {

namespace {

std::string metaText(Database& db, const char* key)
{
    Rows rows = db.query("SELECT value FROM meta WHERE key=?", key);
    if (rows.next())
        return rows.text(0);
    db.fail({ ErrorCode::Corrupt,
        sentence("the tracker %1 lacks '%2'; `furrowctl doctor %3 --repair` rebuilds what the checkpoints prove",
            { utf8Text(db.path()), key, utf8Text(db.path().parent_path()) }) });
    return {};
}

template <typename Number> Number parsed(const std::string& text)
{
    Number number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

/// "": not there.
std::string optionalMeta(Database& db, const char* key)
{
    Rows rows = db.query("SELECT value FROM meta WHERE key=?", key);
    return rows.next() ? rows.text(0) : std::string();
}

Result<Database> openForWriting(const std::filesystem::path& tracker)
{
    if (const Message reason = unsafeForLedgerReason(tracker.parent_path()); !reason.empty())
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 cannot be changed from here: %2; do that on the computer that trains the run",
                { utf8Text(tracker), reason }) };
    FURROW_TRY(refuseLinkedDatabase(tracker));
    return Database::open(tracker, {});
}

} // namespace

Result<LedgerFile> openLedger(const std::filesystem::path& tracker, const Clock& clock)
{
    FURROW_TRY_ASSIGN(auto db, openForWriting(tracker));
    LedgerFile file { std::move(db), &clock, {}, {} };
    FURROW_TRY(checkSchema(file.db));
    if (const auto found = file.db.integer("PRAGMA user_version"); found && *found < kTrackerVersion)
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "%1 has tracker version %2, which an older Furrow writes; this one writes version %3. While an older Furrow trains the run, use that one; when it has stopped, `furrowctl resume` of this one brings the tracker forward",
                { utf8Text(tracker), std::to_string(*found), std::to_string(kTrackerVersion) }) };
    file.runId = metaText(file.db, "run_id");
    file.order.seed = parsed<std::uint64_t>(metaText(file.db, "seed"));
    file.order.windowBlocks = parsed<std::int64_t>(metaText(file.db, "shuffle_window_blocks"));
    file.order.linear = metaText(file.db, "linear_order") == "1";
    file.order.start = parseChunkName(optionalMeta(file.db, "start_at"));
    file.windowTokens = windowTokensOf(file.db);
    FURROW_TRY(file.db.takeStatus());
    return file;
}

std::int64_t windowTokensOf(Database& db)
{
    constexpr Bounds kBounds { "window_tokens", 0, 1 << 20 };
    return bounded(db, parsed<std::int64_t>(optionalMeta(db, "window_tokens")), kBounds);
}

Status migrateLedger(const std::filesystem::path& tracker, Patience patience)
{
    FURROW_TRY_ASSIGN(auto db, openForWriting(tracker));
    if (patience)
        db.setPatience(std::move(patience));
    return migrateSchema(db, trackerMigrations(), kTrackerVersion);
}

namespace {

/// Whether it is a copy, or what is left of a folder that is being removed. Who trains has made the files beside it.
bool isAlone(const std::filesystem::path& tracker)
{
    const auto [file, wal, shared, journal] = databaseFiles(tracker);
    return !isAnyInWal(tracker) && !isTaken(shared) && !isTaken(journal);
}

/// How long whoever opens a tracker to read it waits for who has locked the whole file, as nobody does for long who
/// trains. A command opens it several times, and the console each second: what was waited for in vain is not waited for
/// as long again. Thread-safe.
class ReadersPatience {
public:
    int limitMs(const std::filesystem::path& tracker)
    {
        const std::lock_guard guard(mutex_);
        const auto vain = inVain_.find(tracker);
        const bool isFresh = vain != inVain_.end() && std::chrono::steady_clock::now() - vain->second < kRemembered;
        return isFresh ? std::min(kAgainMs, firstMs_) : firstMs_;
    }
    void setFirst(std::chrono::milliseconds most)
    {
        const std::lock_guard guard(mutex_);
        firstMs_ = static_cast<int>(most.count());
    }
    void learn(const std::filesystem::path& tracker, bool isLocked)
    {
        const std::lock_guard guard(mutex_);
        if (isLocked)
            inVain_[tracker] = std::chrono::steady_clock::now();
        else
            inVain_.erase(tracker);
    }

private:
    static constexpr int kAgainMs = 200;
    static constexpr auto kRemembered = std::chrono::seconds(10);

    std::mutex mutex_;
    int firstMs_ = 2'500; // guarded by mutex_: a large WAL is taken up in that time
    std::map<std::filesystem::path, std::chrono::steady_clock::time_point>
        inVain_; // guarded by mutex_: when each tracker was locked for too long
};

ReadersPatience readersPatience;

} // namespace

void setReadersPatience(std::chrono::milliseconds most) { readersPatience.setFirst(most); }

Result<Database> openForReading(
    const std::filesystem::path& tracker, const std::filesystem::path& shownAs, ReadFor readFor)
{
    FURROW_TRY(refuseLinkedDatabase(tracker));
    Database::Options options;
    options.access = Database::Access::ReadOnly;
    options.busyMs = readersPatience.limitMs(tracker);
    options.shownAs = shownAs;
    options.makesNothing = readFor == ReadFor::Look;
    options.immutable = readFor == ReadFor::Look && isAlone(tracker);
    auto db = Database::open(tracker, options);
    if (!db.ok() && !options.immutable && db.error().code == ErrorCode::Io && !isAnyInWal(tracker)) {
        // A folder that cannot be written: without a WAL nobody writes, so the file can be read as it is.
        options.immutable = true;
        db = Database::open(tracker, options);
    }
    readersPatience.learn(tracker, !db.ok() && db.error().code == ErrorCode::Busy);
    if (!db.ok())
        return db.error();
    FURROW_TRY(checkSchema(db.value()));
    return db;
}

void writeRunEvent(LedgerFile& file, std::int64_t incarnation, const Message& cause)
{
    file.db.run("INSERT INTO event (wall, chunk, from_state, to_state, incarnation, cause) VALUES (?, 0, 0, 0, ?, ?)",
        file.clock->wallNs(), incarnation, cause);
    keepMessage(file.db, cause);
}

void writeHeartbeat(LedgerFile& file, const char* role, const ProcessIdentity& self, const Message& doing)
{
    file.db.run(
        "INSERT INTO process (role, pid, start_time, boot_id, heartbeat, heartbeat_wall, doing) VALUES (?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (role) DO UPDATE SET pid=excluded.pid, start_time=excluded.start_time, boot_id=excluded.boot_id,"
        " heartbeat=excluded.heartbeat, heartbeat_wall=excluded.heartbeat_wall, doing=excluded.doing",
        role, self.pid, self.startTime, self.place, file.clock->monotonicNs(), file.clock->wallNs(), doing);
    // It changes each second, so its parts are there once for the role. Those of a text of before are not believed.
    if (const std::string parts = messageParts(doing); !parts.empty())
        storeMeta(file.db, kDoingParts + std::string(role), parts);
}

void addLostAttempts(LedgerFile& file, std::int64_t newestUsed)
{
    Database& db = file.db;
    for (auto known = db.integer("SELECT max(id) FROM attempt").value_or(0); known < newestUsed && !db.failed();
        ++known)
        db.run("INSERT INTO attempt (pid, start_time, boot_id, started_wall, ended_wall, reason, detail, overrides)"
               " VALUES (0, 0, '', ?, ?, ?, ?, '{}')",
            file.clock->wallNs(), file.clock->wallNs(), StopReason::Interrupted,
            sentence("an older tracker was put back: only files of this attempt are left"));
}

void storeMeta(Database& db, const std::string& key, const std::string& value)
{
    db.run(
        "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value=excluded.value", key, value);
}

} // namespace furrow
