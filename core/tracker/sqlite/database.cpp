#include "core/tracker/sqlite/database.h"

#include "core/base/disk_room.h"
#include "core/base/fault_injection.h"
#include "core/base/file_system.h"
#include "core/base/is_there.h"
#include "core/base/link_refusal.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/base/plain_line.h"
#include "core/base/process_limit.h"
#include "core/base/regular_file.h"
#include "core/base/sentence.h"
#include "core/base/utf8.h"
#include "core/tracker/sqlite/database_files.h"
#include "core/tracker/sqlite/fault_vfs.h"
#include "core/tracker/sqlite/make_nothing.h"
#include "core/tracker/sqlite/read_failures.h"
#include "core/tracker/sqlite/sqlite_version.h"
#include "core/tracker/sqlite/tracker_locks.h"

#include <sqlite3.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <random>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <vector>

namespace furrow {

namespace {

using SteadyClock = std::chrono::steady_clock;

struct CloseDb {
    void operator()(sqlite3* db) const noexcept { sqlite3_close_v2(db); }
};
using DbHandle = std::unique_ptr<sqlite3, CloseDb>;

// SQLite's own busy timeout sleeps longer the longer one has waited, so newcomers win and the worst claim takes
// seconds. Here everybody who waits polls in the same short, random rhythm, however long it has waited; slower after a
// second, when somebody stands still with the lock and there are no turns to be fair about.
struct Waiting {
    int limitMs = 0;
    Patience patience; // instead of the limit
    SteadyClock::time_point since;
    SteadyClock::time_point asked; // patience
    std::minstd_rand random;

    bool mayGoOn(SteadyClock::time_point now)
    {
        if (!patience)
            return now - since <= std::chrono::milliseconds(limitMs);
        if (now - asked < std::chrono::milliseconds(100))
            return true;
        asked = now;
        return patience(std::chrono::duration_cast<std::chrono::milliseconds>(now - since));
    }
};

int waitForTurn(void* context, int count)
{
    auto& waiting = *static_cast<Waiting*>(context);
    const auto now = SteadyClock::now();
    if (count == 0) {
        waiting.since = waiting.asked = now;
        waiting.random.seed(static_cast<std::minstd_rand::result_type>(
            now.time_since_epoch().count())); // each waiter has a rhythm of its own
    }
    if (!waiting.mayGoOn(now))
        return 0;
    const bool standsStill = now - waiting.since > std::chrono::seconds(1);
    std::uniform_int_distribution<int> microseconds(20, 180);
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds(waiting.random) * (standsStill ? 50 : 1)));
    return 1;
}

/// Of a statement that could not begin to read, as somebody holds all marks of readers. SQLite tries for ten seconds
/// and asks no busy handler meanwhile, so whoever waits is asked here.
int beginReading(sqlite3_stmt* statement, Waiting& waiting)
{
    constexpr auto kTriedBySqlite = std::chrono::seconds(10);
    waiting.since = waiting.asked = SteadyClock::now() - kTriedBySqlite;
    int code = SQLITE_PROTOCOL;
    while ((code & 0xff) == SQLITE_PROTOCOL && waiting.mayGoOn(SteadyClock::now())) {
        sqlite3_reset(statement);
        code = sqlite3_step(statement);
    }
    return code;
}

/// Names who is in the way, where the system tells.
Error busyError(const std::filesystem::path& path)
{
    const auto locks = trackerLocks(path);
    const auto& writer = locks.writer ? locks.writer : locks.keeper;
    return { ErrorCode::Busy,
        writer ? sentence("%1 has been locked for too long by %2; let it go on or end it, then try again",
                     { utf8Text(path), inWords(*writer) })
               : sentence("%1 is locked by another process for too long; let it go on or end it, then try again",
                     { utf8Text(path) }) };
}

constexpr SentenceText kIoFailed("%1: reading or writing failed (%2); check the disk");

/// @param said  by SQLite, which quotes names of a damaged file as they stand there
/// @param systemCode  errno of a call that failed; 0: not known
Error sqliteError(int code, const Message& said, const std::filesystem::path& path, int systemCode = 0)
{
    const Message detail = said.isPlain() ? Message(plainLine(said.text())) : said;
    const std::string file = utf8Text(path);
    switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return { ErrorCode::Corrupt,
            sentence(
                "the tracker %1 is damaged (%2); `furrowctl doctor %3 --repair` rebuilds what the checkpoints prove",
                { file, detail, utf8Text(path.parent_path()) }) };
    case SQLITE_FULL:
        return { ErrorCode::Io,
            isOutOfFiles(path)
                ? sentence("cannot write %1", { file }) + ": " + noRoomInWords(path)
                : sentence("the disk is full: %1 could not be written; free some space and resume", { file }) };
    case SQLITE_BUSY:
    case SQLITE_PROTOCOL: // a WAL that was left could not be taken up, or nobody may read
    case SQLITE_LOCKED: return busyError(path);
    case SQLITE_READONLY:
        if (auto writable = checkWritable(path.parent_path()); !writable.ok())
            return { ErrorCode::Io, writable.error().message };
        return { ErrorCode::Io,
            sentence("%1 cannot be written; check the permissions of the run folder, and whether its disk is read-only",
                { file }) };
    case SQLITE_CANTOPEN:
        if (systemCode == EMFILE)
            return { ErrorCode::Io, sentence("cannot open %1", { file }) + ": " + sentence(kOpenFileLimit) };
        if (isThere(path) && isOutOfFiles(path)) // it needs a file beside it
            return { ErrorCode::Io, sentence("cannot open %1", { file }) + ": " + noRoomInWords(path) };
        return { isThere(path) ? ErrorCode::Io : ErrorCode::NotFound,
            isThere(path)
                ? sentence("%1 cannot be opened; check the permissions of the run folder", { file })
                : sentence("there is no tracker %1; `furrowctl doctor %2 --repair` rebuilds what the checkpoints prove",
                      { file, utf8Text(path.parent_path()) }) };
    case SQLITE_INTERRUPT: return { ErrorCode::Cancelled, file + ": " + detail };
    case SQLITE_IOERR:
        if (systemCode == EFBIG)
            return { ErrorCode::Io, sentence("cannot write %1", { file }) + ": " + tooLargeInWords() };
        return { ErrorCode::Io, sentence(kIoFailed, { file, detail }) };
    default: return { ErrorCode::Internal, file + ": " + detail };
    }
}

// Memory statistics take a lock of the whole process at each allocation, and nobody reads them.
void configureOnce()
{
    [[maybe_unused]] static const int code = [] {
        const int configured = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
        MakeNothing::install();
        ReadFailures::install();
        installFaultVfs();
        return configured;
    }();
}

void freezeInside(sqlite3* db)
{
    if (const int state = sqlite3_txn_state(db, "main"); state != SQLITE_TXN_NONE)
        freezeWhenAsked(state == SQLITE_TXN_WRITE);
}

/// Two slashes at its beginning would name a computer.
std::string uriOf(const std::string& path)
{
    std::string escaped = path.starts_with('/') ? "file://" : "file:";
    for (const char c : path) {
        if (c == '%' || c == '?' || c == '#')
            escaped += c == '%' ? "%25" : c == '?' ? "%3f" : "%23";
        else
            escaped += c;
    }
    return escaped;
}

} // namespace

struct Database::State {
    std::filesystem::path path;
    bool isImmutable = false;
    Waiting waiting;
    DbHandle handle;
    std::unordered_map<const char*, std::vector<sqlite3_stmt*>> idle; // prepared, by the address of their literal
    std::optional<Error> error;
    std::stop_token stop; // see endWith()
    std::optional<Durability> joined; // set while transactions that begin are part of one: what that one must be
    bool isViewed = false; // views that begin are part of one

    ~State()
    {
        for (auto& [sql, statements] : idle) {
            for (sqlite3_stmt* statement : statements)
                sqlite3_finalize(statement);
        }
    }
};

// --- Rows

Rows::Rows(Database& db, const char* sql)
    : db_(&db)
    , sql_(sql)
{
    if (db.failed())
        return;
    idle_ = &db.state_->idle[sql];
    if (!idle_->empty()) {
        statement_ = idle_->back();
        idle_->pop_back();
        return;
    }
    const int code
        = sqlite3_prepare_v3(db.state_->handle.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement_, nullptr);
    if (code != SQLITE_OK) {
        statement_ = nullptr;
        db.record(code, sql);
    }
}

Rows::Rows(Rows&& other) noexcept
    : db_(std::exchange(other.db_, nullptr))
    , statement_(std::exchange(other.statement_, nullptr))
    , idle_(other.idle_)
    , sql_(other.sql_)
{
}

Rows::~Rows()
{
    if (db_ == nullptr || statement_ == nullptr)
        return;
    sqlite3_reset(statement_); // its code repeats that of the last step, which was recorded
    idle_->push_back(statement_); // all values are bound anew next time
}

bool Rows::next()
{
    if (statement_ == nullptr || db_->failed())
        return false;
    int code = sqlite3_step(statement_);
    if ((code & 0xff) == SQLITE_PROTOCOL)
        code = beginReading(statement_, db_->state_->waiting);
    if (code == SQLITE_ROW)
        return true;
    if (code != SQLITE_DONE)
        db_->record(code, sql_);
    return false;
}

std::int64_t Rows::integer(int column) const { return sqlite3_column_int64(statement_, column); }

double Rows::real(int column) const { return sqlite3_column_double(statement_, column); }

std::string Rows::text(int column) const
{
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    if (bytes == nullptr)
        return {};
    std::string text(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
    return isValidUtf8(text) ? text : replaceInvalidUtf8(text).text; // SQLite checks nothing, and a file can be damaged
}

bool Rows::isNull(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

std::optional<std::int64_t> Rows::optionalInteger(int column) const
{
    return isNull(column) ? std::nullopt : std::optional(integer(column));
}

// --- Database

Database::Database(std::unique_ptr<State> state)
    : state_(std::move(state))
{
}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

namespace {

/// A named pipe in place of one of its files would let SQLite wait for ever.
Status onlyFiles(const std::filesystem::path& path)
{
    for (const auto& file : databaseFiles(path)) {
        std::error_code absent;
        const auto type = std::filesystem::status(file, absent).type();
        if (type != std::filesystem::file_type::not_found && type != std::filesystem::file_type::regular
            && type != std::filesystem::file_type::none)
            return Error { ErrorCode::Io,
                sentence("cannot read %1", { utf8Text(file) }) + ": " + sentence("it is not a regular file") };
    }
    return {};
}

/// Whether there is something in the WAL that nobody can find without an index, which is missing: of a copy, as a rule.
bool needsIndex(const std::filesystem::path& path)
{
    const auto [file, wal, shared, journal] = databaseFiles(path);
    return isAnyInWal(path) && !isThere(shared);
}

int busyLimitMs(int wantedMs)
{
    static const double kAskedSeconds = faultNumber("FURROW_BUSY_S", 0);
    return kAskedSeconds > 0 ? std::min(wantedMs, static_cast<int>(1000 * kAskedSeconds)) : wantedMs;
}

/// SQLite would give a new file no right to be written by a group, whatever the umask says.
Status makeFile(const std::filesystem::path& path)
{
    const auto made = RegularFile::open(path, RegularFile::At::End);
    return made.ok() ? Status {} : made.error();
}

} // namespace

Result<Database> Database::open(const std::filesystem::path& path, const Options& options)
{
    FURROW_TRY(onlyFiles(path));
    configureOnce();
    auto state = std::make_unique<State>();
    state->path = options.shownAs.empty() ? path : options.shownAs;
    state->waiting.limitMs = busyLimitMs(options.busyMs);
    state->isImmutable = options.immutable;
    const bool readOnly = options.access == Access::ReadOnly;
    if (Status fit = checkSqliteVersion(); !readOnly && !fit.ok())
        return fit.error();
    std::optional<MakeNothing> makeNothing;
    if (readOnly && options.makesNothing)
        makeNothing.emplace(needsIndex(path));
    const int flags
        = (readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    sqlite3* raw = nullptr;
    const std::string name = options.immutable ? uriOf(utf8Text(path)) + "?immutable=1" : utf8Text(path);
    const int code = sqlite3_open_v2(name.c_str(), &raw, options.immutable ? flags | SQLITE_OPEN_URI : flags, nullptr);
    state->handle.reset(raw);
    if (code != SQLITE_OK)
        return sqliteError(code, raw == nullptr ? sentence("out of memory") : Message(sqlite3_errmsg(raw)), state->path,
            raw == nullptr ? 0 : sqlite3_system_errno(raw));
    if (!readOnly
        && sqlite3_db_readonly(raw, "main") != 0) // else each write fails, long after it could be written again
        return sqliteError(SQLITE_READONLY, Message(), state->path);
    sqlite3_busy_handler(raw, waitForTurn, &state->waiting);
    sqlite3_db_config(raw, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);

    Database db(std::move(state));
    db.script(
        "PRAGMA foreign_keys=ON; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-32000; PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=0;"
        "PRAGMA journal_size_limit=16777216;"); // a WAL that one large commit made longer is cut back to this
    if (!db.failed() && !readOnly) {
        Rows mode = db.query("PRAGMA journal_mode");
        if (mode.next() && mode.text(0) != "wal")
            db.fail({ ErrorCode::Corrupt, sentence(kNotLive, { utf8Text(path), utf8Text(path.parent_path()) }) });
    } else if (!db.failed()) {
        db.integer("SELECT count(*) FROM sqlite_schema"); // shows at once when it cannot be read
    }
    FURROW_TRY(db.takeStatus());
    return db;
}

Result<Database> Database::create(const std::filesystem::path& path)
{
    configureOnce();
    FURROW_TRY(checkSqliteVersion());
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored))
        return Error { ErrorCode::InvalidArgument, sentence("%1 exists already", { utf8Text(path) }) };
    FURROW_TRY(makeFile(path));
    sqlite3* raw = nullptr;
    const int code = sqlite3_open_v2(utf8Text(path).c_str(), &raw,
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
    const DbHandle handle(raw);
    if (code != SQLITE_OK)
        return sqliteError(code, raw == nullptr ? sentence("out of memory") : Message(sqlite3_errmsg(raw)), path);
    // Every claim writes some nine pages whole: half the usual size does a sixth more of them with a sync each and half
    // as many again without (tests/bench/README.md), and is read almost as fast.
    const int set = sqlite3_exec(raw, "PRAGMA page_size=2048; PRAGMA journal_mode=WAL", nullptr, nullptr, nullptr);
    if (set != SQLITE_OK)
        return sqliteError(set, sqlite3_errmsg(raw), path);
    return open(path, {});
}

Status Database::setWalMode(const std::filesystem::path& path)
{
    FURROW_TRY(onlyFiles(path));
    configureOnce();
    FURROW_TRY(checkSqliteVersion());
    sqlite3* raw = nullptr;
    int code = sqlite3_open_v2(
        utf8Text(path).c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
    const DbHandle handle(raw);
    if (code == SQLITE_OK)
        code = sqlite3_exec(raw, "PRAGMA journal_mode=WAL", nullptr, nullptr, nullptr);
    if (code == SQLITE_OK)
        return {};
    return sqliteError(code, raw == nullptr ? sentence("out of memory") : Message(sqlite3_errmsg(raw)), path,
        raw == nullptr ? 0 : sqlite3_system_errno(raw));
}

void Database::setPatience(Patience patience) { state_->waiting.patience = std::move(patience); }

void Database::endWith(std::stop_token stop)
{
    constexpr int kInstructions = 10'000; // of SQLite's machine, between two questions
    state_->stop = std::move(stop);
    sqlite3_progress_handler(
        state_->handle.get(), kInstructions,
        [](void* token) { return static_cast<const std::stop_token*>(token)->stop_requested() ? 1 : 0; },
        &state_->stop);
}

void Database::script(const char* sql)
{
    if (failed())
        return;
    const int code = sqlite3_exec(state_->handle.get(), sql, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK)
        record(code, sql);
}

std::int64_t Database::lastId() const { return sqlite3_last_insert_rowid(state_->handle.get()); }

std::int64_t Database::changes() const { return sqlite3_changes64(state_->handle.get()); }

void Database::fail(Error error)
{
    if (!state_->error)
        state_->error = std::move(error);
}

bool Database::failed() const { return state_->error.has_value(); }

Status Database::takeStatus()
{
    (void)ReadFailures::take(); // those of before are none of what comes
    if (!state_->error)
        return {};
    Error error = std::move(*state_->error);
    state_->error.reset();
    return error;
}

void Database::failWhereNotRead()
{
    if (const int failed = ReadFailures::take(); failed != 0)
        fail({ ErrorCode::Io,
            sentence(kIoFailed, { utf8Text(state_->path), std::generic_category().message(failed) }) });
}

void Database::record(int code, const char* doing)
{
    if ((code & 0xff) == SQLITE_CORRUPT)
        failWhereNotRead(); // the first failure wins
    std::string detail = sqlite3_errmsg(state_->handle.get());
    const bool overflown = (code == SQLITE_ERROR && detail == "integer overflow")
        || code == SQLITE_CONSTRAINT_DATATYPE; // a sum() or an addition to what no run has
    if (overflown)
        return fail(sqliteError(SQLITE_CORRUPT, sentence("its numbers add up to more than any run has"), state_->path));
    if ((code & 0xff) == SQLITE_ERROR || (code & 0xff) == SQLITE_CONSTRAINT || (code & 0xff) == SQLITE_MISUSE)
        detail += std::string(", in: ") + doing;
    fail(sqliteError(code, detail, state_->path, sqlite3_system_errno(state_->handle.get())));
}

void Database::bindInteger(sqlite3_stmt* statement, int index, std::int64_t value)
{
    if (const int code = sqlite3_bind_int64(statement, index, value); code != SQLITE_OK)
        record(code, "bind");
}

void Database::bindReal(sqlite3_stmt* statement, int index, double value)
{
    if (const int code = sqlite3_bind_double(statement, index, value); code != SQLITE_OK)
        record(code, "bind");
}

void Database::bindText(sqlite3_stmt* statement, int index, std::string_view value, bool copy)
{
    const int code = sqlite3_bind_text64(statement, index, value.data() == nullptr ? "" : value.data(), value.size(),
        copy ? SQLITE_TRANSIENT : SQLITE_STATIC, SQLITE_UTF8);
    if (code != SQLITE_OK)
        record(code, "bind");
}

void Database::bindNull(sqlite3_stmt* statement, int index)
{
    if (const int code = sqlite3_bind_null(statement, index); code != SQLITE_OK)
        record(code, "bind");
}

namespace {

struct FunctionContext {
    Database::IntegerFunction function;
    void* context;
};

void callInteger(sqlite3_context* call, int count, sqlite3_value** values)
{
    const auto& function = *static_cast<FunctionContext*>(sqlite3_user_data(call));
    std::int64_t arguments[8] = {};
    for (int i = 0; i < count && i < 8; ++i)
        arguments[i] = sqlite3_value_int64(values[i]);
    sqlite3_result_int64(call, function.function(function.context, arguments));
}

} // namespace

void Database::addFunction(const char* name, int argumentCount, IntegerFunction function, void* context)
{
    const int code = sqlite3_create_function_v2(state_->handle.get(), name, argumentCount,
        SQLITE_UTF8 | SQLITE_DETERMINISTIC, new FunctionContext { function, context }, callInteger, nullptr, nullptr,
        [](void* memory) { delete static_cast<FunctionContext*>(memory); });
    if (code != SQLITE_OK)
        record(code, name);
}

Status Database::backupTo(const std::filesystem::path& target, Journal journal)
{
    FURROW_TRY(refuseLink(target));
    FURROW_TRY(makeFile(target));
    sqlite3* raw = nullptr;
    int code = sqlite3_open_v2(
        utf8Text(target).c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
    const DbHandle copy(raw);
    if (code != SQLITE_OK)
        return sqliteError(code, raw == nullptr ? sentence("out of memory") : Message(sqlite3_errmsg(raw)), target);
    // Both anew: outside of a statement SQLite goes on counting where the wait before ended.
    for (sqlite3* one : { raw, state_->handle.get() })
        sqlite3_busy_handler(one, waitForTurn, &state_->waiting);
    sqlite3_backup* backup = sqlite3_backup_init(raw, "main", state_->handle.get(), "main");
    if (backup == nullptr)
        return sqliteError(sqlite3_errcode(raw), sqlite3_errmsg(raw), target);
    (void)sqlite3_backup_step(backup, -1); // both files were waited for: what it could not do, finishing tells
    code = sqlite3_backup_finish(backup);
    if ((code & 0xff) == SQLITE_BUSY && !trackerLocks(target).keeper)
        return busyError(state_->path); // it is not the copy that somebody holds
    if (code != SQLITE_OK)
        return sqliteError(code, sqlite3_errmsg(raw), target);
    code = sqlite3_exec(raw, journal == Journal::Wal ? "PRAGMA journal_mode=WAL" : "PRAGMA journal_mode=DELETE",
        nullptr, nullptr, nullptr);
    return code == SQLITE_OK ? Status {} : Status { sqliteError(code, sqlite3_errmsg(raw), target) };
}

Result<bool> Database::checkpoint(WalFile wal)
{
    // The bulk is moved without stopping writers, the rest of it under their lock. SQLite would wait there for readers,
    // and whoever reads an older state may stand still for an hour: so nothing is waited for, it is tried for a moment.
    sqlite3* raw = state_->handle.get();
    sqlite3_busy_handler(raw, nullptr, nullptr);
    int code = sqlite3_wal_checkpoint_v2(raw, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
    const auto until = SteadyClock::now() + std::chrono::milliseconds(20);
    while (code == SQLITE_OK) {
        code = sqlite3_wal_checkpoint_v2(raw, nullptr,
            wal == WalFile::Empty ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_RESTART, nullptr, nullptr);
        if ((code & 0xff) != SQLITE_BUSY || SteadyClock::now() > until)
            break;
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        code = SQLITE_OK;
    }
    sqlite3_busy_handler(raw, waitForTurn, &state_->waiting);
    if (code != SQLITE_OK && (code & 0xff) != SQLITE_BUSY)
        return sqliteError(code, sqlite3_errmsg(raw), state_->path, sqlite3_system_errno(raw));
    return code == SQLITE_OK;
}

const std::filesystem::path& Database::path() const { return state_->path; }

bool Database::isImmutable() const { return state_->isImmutable; }

Status Database::syncWal()
{
    sqlite3* raw = state_->handle.get();
    sqlite3_file* wal = nullptr;
    int code = sqlite3_file_control(raw, "main", SQLITE_FCNTL_JOURNAL_POINTER, &wal);
    if (code == SQLITE_OK && wal != nullptr && wal->pMethods != nullptr)
        code = wal->pMethods->xSync(wal, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
    return code == SQLITE_OK ? Status {} : Status { sqliteError(code, sentence("syncing the WAL"), state_->path) };
}

// --- Transaction

Result<Transaction> Transaction::begin(Database& db, Durability durability)
{
    if (db.state_->joined) {
        if (durability == Durability::Full)
            db.state_->joined = durability;
        return Transaction(db, durability, PartOf::Transaction);
    }
    (void)db.takeStatus();
    db.run("BEGIN IMMEDIATE");
    FURROW_TRY(db.takeStatus());
    return Transaction(db, durability);
}

Status Transaction::join(Database& db, const std::function<void()>& work)
{
    FURROW_TRY_ASSIGN(auto all, begin(db, Durability::Normal));
    db.state_->joined = Durability::Normal;
    work();
    all.durability_ = *std::exchange(db.state_->joined, std::nullopt);
    return all.commit();
}

Result<Transaction> Transaction::read(Database& db)
{
    (void)db.takeStatus();
    if (db.state_->isViewed)
        return Transaction(db, Durability::Normal, PartOf::View);
    db.run("BEGIN");
    FURROW_TRY(db.takeStatus());
    db.state_->isViewed = true;
    return Transaction(db, Durability::Normal);
}

Status Transaction::commit()
{
    if (part_ == PartOf::View)
        return std::exchange(db_, nullptr)->takeStatus();
    if (part_ == PartOf::Transaction) {
        const Database& db = *std::exchange(db_, nullptr);
        return db.failed() ? Status(*db.state_->error) : Status {};
    }
    freezeInside(db_->state_->handle.get());
    if (!db_->failed()) {
        db_->run("COMMIT");
        if (!db_->failed()) {
            Database& db = *std::exchange(db_, nullptr);
            db.state_->isViewed = false;
            return durability_ == Durability::Full ? db.syncWal() : Status {};
        }
    }
    Status status = db_->takeStatus();
    rollBack();
    return status;
}

void Transaction::rollBack()
{
    Database& db = *std::exchange(db_, nullptr);
    db.state_->isViewed = false;
    sqlite3* raw = db.state_->handle.get();
    freezeInside(raw);
    if (sqlite3_get_autocommit(raw) == 0 && sqlite3_exec(raw, "ROLLBACK", nullptr, nullptr, nullptr) != SQLITE_OK)
        logError(std::string("rolling back: ") + sqlite3_errmsg(raw));
}

Transaction::~Transaction()
{
    if (db_ == nullptr)
        return;
    Database& db = *db_;
    if (part_ == PartOf::Transaction) {
        db.fail({ ErrorCode::Internal, sentence("a part of a joined transaction was given up") });
        return;
    }
    if (part_ == PartOf::None)
        rollBack();
    (void)db.takeStatus();
}

Transaction::Transaction(Transaction&& other) noexcept
    : db_(std::exchange(other.db_, nullptr))
    , durability_(other.durability_)
    , part_(other.part_)
{
}

} // namespace furrow
