#pragma once

#include "core/base/result.h"
#include "core/base/sentence.h"
#include "core/tracker/sqlite/patience.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace furrow {

class Database;

/// What a commit survives: a crash of the process (Normal) or a power loss too (Full). core/DECISIONS.md 19.
enum class Durability { Normal, Full };

/// Rows of one running statement; the statement is reset when this goes away.
class Rows {
public:
    /// False at the end, and after an error (which the Database keeps).
    bool next();
    std::int64_t integer(int column) const;
    std::int32_t int32(int column) const { return static_cast<std::int32_t>(integer(column)); }
    double real(int column) const;
    std::string text(int column) const;
    bool isNull(int column) const;
    std::optional<std::int64_t> optionalInteger(int column) const;

    Rows(Rows&& other) noexcept;
    Rows& operator=(Rows&&) = delete;
    ~Rows();

private:
    friend class Database;
    Rows(Database& db, const char* sql);
    Database* db_ = nullptr; // null once moved from
    sqlite3_stmt* statement_ = nullptr; // null after an error
    std::vector<sqlite3_stmt*>* idle_ = nullptr; // where the statement goes back to
    const char* sql_ = nullptr;
};

/// One connection to one tracker file: WAL, foreign keys, statements kept prepared. The WAL moves into the file by
/// checkpoint() alone (core/DECISIONS.md 20: by one process at a time). Errors are kept: after the first failure every
/// further statement of the transaction does nothing, and commit() returns that failure. So SQL code reads as straight
/// lines and no return code is lost. One thread.
class Database {
public:
    /// What open() says of a file without a WAL: itself, the folder of the run.
    static constexpr SentenceText kNotLive {
        "the tracker %1 is not in WAL mode: it is a copy, not a live tracker; `furrowctl doctor %2 --repair` puts it into WAL mode and changes nothing else"
    };
    enum class Access { ReadOnly, ReadWrite };
    struct Options {
        Access access = Access::ReadWrite;
        /// Of ReadOnly: nobody writes, so it needs neither a file beside it nor a lock. What is written all the same
        /// is not seen, or seen half.
        bool immutable = false;
        /// Of ReadOnly: no file beside it is made but the index of a WAL that has none; without a WAL, opening a
        /// database that had one fails (Io).
        bool makesNothing = false;
        int busyMs = 30'000; ///< how long it waits for its turn; see setPatience
        std::filesystem::path
            shownAs {}; ///< what errors name in place of a private copy that goes away; empty: the file itself
    };
    static Result<Database> open(const std::filesystem::path& path, const Options& options);
    /// Brings a copy without a WAL back to life, as open() wants it. Nobody may have it open.
    static Status setWalMode(const std::filesystem::path& path);
    /// Makes an empty file in WAL mode; fails when one exists.
    static Result<Database> create(const std::filesystem::path& path);
    Database(Database&&) noexcept;
    Database& operator=(Database&&) noexcept;
    ~Database();

    /// From now on this decides how long it waits, not Options::busyMs: a process of a run outlasts whoever holds a
    /// lock.
    void setPatience(Patience patience);

    /// Statements end with Cancelled, large ones within milliseconds, once this is requested.
    void endWith(std::stop_token stop);

    /// `sql` must be a literal: its address is the key of the prepared statement.
    template <typename... Values> Rows query(const char* sql, const Values&... values)
    {
        return start<true>(sql, values...);
    }
    /// Runs to the end. Returns the number of changed rows.
    template <typename... Values> std::int64_t run(const char* sql, const Values&... values)
    {
        Rows rows = start<false>(sql, values...); // the values live until the end of this call
        while (rows.next()) { }
        return failed() ? 0 : changes();
    }
    /// First column of the first row; nothing when there is no row or it is NULL.
    template <typename... Values> std::optional<std::int64_t> integer(const char* sql, const Values&... values)
    {
        Rows rows = query(sql, values...);
        return rows.next() ? rows.optionalInteger(0) : std::nullopt;
    }
    /// Several statements without values.
    void script(const char* sql);
    std::int64_t lastId() const;

    /// Records a failure of our own rules; the transaction will not commit. The first one wins.
    void fail(Error error);
    /// Records Io where the system refused a read since takeStatus(): SQLite may have called that damage.
    void failWhereNotRead();
    bool failed() const;
    /// The recorded failure, if any; it is forgotten by this call.
    Status takeStatus();

    /// Adds an SQL function of integers, with the same result for the same arguments.
    using IntegerFunction = std::int64_t (*)(void* context, const std::int64_t* arguments);
    void addFunction(const char* name, int argumentCount, IntegerFunction function, void* context);

    /// Rollback: readable from a read-only folder or over a mount. Wal: as open() wants it.
    enum class Journal { Rollback, Wal };
    /// Consistent copy into a new file, through the backup interface (a plain copy would miss the WAL). Waits for who
    /// holds either file as every statement does (Options::busyMs, setPatience), then Busy.
    Status backupTo(const std::filesystem::path& target, Journal journal = Journal::Rollback);
    enum class WalFile { Reuse, Empty };
    /// Moves the WAL into the file, most of it without stopping writers. Afterwards the WAL is written from its start
    /// again (Reuse: a sync of bytes that the file has already costs half of one that makes it longer) or is an empty
    /// file. False: it is not, because somebody reads an older state or writes all the time; the WAL grows until
    /// another call succeeds. Waits for nobody.
    Result<bool> checkpoint(WalFile wal);
    /// The file as errors name it: Options::shownAs where that was given.
    const std::filesystem::path& path() const;
    bool isImmutable() const; ///< Options::immutable

private:
    friend class Rows;
    friend class Transaction;
    struct State;
    explicit Database(std::unique_ptr<State> state);

    std::int64_t changes() const;
    void record(int code, const char* doing);
    Status syncWal(); ///< all that was committed so far, by anybody

    void bindInteger(sqlite3_stmt* statement, int index, std::int64_t value);
    void bindReal(sqlite3_stmt* statement, int index, double value);
    void bindText(sqlite3_stmt* statement, int index, std::string_view value, bool copy);
    void bindNull(sqlite3_stmt* statement, int index);

    template <bool CopyText, typename... Values> Rows start(const char* sql, const Values&... values)
    {
        Rows rows(*this, sql);
        int index = 0;
        (bind<CopyText>(rows.statement_, ++index, values), ...);
        return rows;
    }

    template <bool CopyText, typename Value> void bind(sqlite3_stmt* statement, int index, const Value& value)
    {
        if (statement == nullptr)
            return;
        if constexpr (std::is_integral_v<Value> || std::is_enum_v<Value>)
            bindInteger(statement, index, static_cast<std::int64_t>(value));
        else if constexpr (std::is_floating_point_v<Value>)
            bindReal(statement, index, value);
        else if constexpr (std::is_convertible_v<Value, std::string_view>)
            bindText(statement, index, value, CopyText);
        else if constexpr (std::is_same_v<Value, std::nullopt_t>)
            bindNull(statement, index);
        else if constexpr (requires { value.has_value(); }) {
            if (value.has_value())
                bind<CopyText>(statement, index, *value);
            else
                bindNull(statement, index);
        } else
            bindInteger(statement, index, value.value); // an id
    }

    std::unique_ptr<State> state_;
};

/// Begins on construction, rolls back unless committed. A writing one is BEGIN IMMEDIATE: it waits for its turn here
/// and never later. A durable one (Full) syncs the WAL after its commit, when the next writer has its turn already: so
/// several processes share syncs. Whatever follows in the WAL is durable no sooner, so nobody can build on what a power
/// loss takes away.
class Transaction {
public:
    static Result<Transaction> begin(Database& db, Durability durability = Durability::Full);
    /// A consistent view for several reads; keep it short, the WAL cannot be emptied meanwhile. One that begins inside
    /// another is a part of that view, which goes on after it.
    static Result<Transaction> read(Database& db);
    /// The transactions that `work` begins are one: all of them happen or, after a failure inside any, none. It is
    /// durable when one of them is, and the failure of the first is what each later one and this returns.
    static Status join(Database& db, const std::function<void()>& work);
    /// Returns the first failure of the statements inside, if any, and rolls back then. When only the sync of a durable
    /// one fails, its changes stay, and its failure says that the disk does not hold them.
    Status commit();
    ~Transaction();
    Transaction(Transaction&& other) noexcept;
    Transaction& operator=(Transaction&&) = delete;

private:
    enum class PartOf { None, Transaction, View }; // of another one, which commits; of a longer view, which goes on
    Transaction(Database& db, Durability durability, PartOf part = PartOf::None)
        : db_(&db)
        , durability_(durability)
        , part_(part)
    {
    }
    void rollBack();

    Database* db_ = nullptr; // null once committed, rolled back or moved from
    Durability durability_;
    PartOf part_;
};

} // namespace furrow
