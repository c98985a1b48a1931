#include "core/tracker/sqlite/database_state.h"

#include "core/base/fault_injection.h"
#include "core/base/is_there.h"
#include "core/base/link_refusal.h"
#include "core/base/path.h"
#include "core/base/regular_file.h"
#include "core/base/sentence.h"
#include "core/tracker/sqlite/database_files.h"
#include "core/tracker/sqlite/fault_vfs.h"
#include "core/tracker/sqlite/make_nothing.h"
#include "core/tracker/sqlite/read_failures.h"
#include "core/tracker/sqlite/sqlite_error.h"
#include "core/tracker/sqlite/sqlite_version.h"
#include "core/tracker/sqlite/tracker_locks.h"

#include <algorithm>
#include <system_error>

namespace furrow {

namespace {

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

const std::filesystem::path& Database::path() const { return state_->path; }

bool Database::isImmutable() const { return state_->isImmutable; }

} // namespace furrow
