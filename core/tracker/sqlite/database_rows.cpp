#include "core/tracker/sqlite/database_state.h"

#include "core/base/utf8.h"

#include <utility>

namespace furrow {

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

} // namespace furrow
