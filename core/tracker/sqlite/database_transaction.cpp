#include "core/tracker/sqlite/database_state.h"

#include "core/base/fault_injection.h"
#include "core/base/log.h"
#include "core/tracker/sqlite/sqlite_error.h"

#include <chrono>
#include <thread>
#include <utility>

namespace furrow {

namespace {

void freezeInside(sqlite3* db)
{
    if (const int state = sqlite3_txn_state(db, "main"); state != SQLITE_TXN_NONE)
        freezeWhenAsked(state == SQLITE_TXN_WRITE);
}

} // namespace

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

Result<bool> Database::checkpoint(WalFile wal)
{
    // The bulk is moved without stopping writers, the rest of it under their lock. SQLite would wait there for readers,
    // and whoever reads an older state may stand still for an hour: so nothing is waited for, it is tried for a moment.
    sqlite3* raw = state_->handle.get();
    sqlite3_busy_handler(raw, nullptr, nullptr);
    int code = sqlite3_wal_checkpoint_v2(raw, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
    while (code == SQLITE_OK) {
        code = sqlite3_wal_checkpoint_v2(raw, nullptr,
            wal == WalFile::Empty ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_RESTART, nullptr, nullptr);
        if ((code & 0xff) != SQLITE_BUSY || std::chrono::steady_clock::now() > until)
            break;
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        code = SQLITE_OK;
    }
    sqlite3_busy_handler(raw, waitForTurn, &state_->waiting);
    if (code != SQLITE_OK && (code & 0xff) != SQLITE_BUSY)
        return sqliteError(code, sqlite3_errmsg(raw), state_->path, sqlite3_system_errno(raw));
    return code == SQLITE_OK;
}

Status Database::syncWal()
{
    sqlite3* raw = state_->handle.get();
    sqlite3_file* wal = nullptr;
    int code = sqlite3_file_control(raw, "main", SQLITE_FCNTL_JOURNAL_POINTER, &wal);
    if (code == SQLITE_OK && wal != nullptr && wal->pMethods != nullptr)
        code = wal->pMethods->xSync(wal, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
    return code == SQLITE_OK ? Status {} : Status { sqliteError(code, sentence("syncing the WAL"), state_->path) };
}

} // namespace furrow
