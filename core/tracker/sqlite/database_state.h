#pragma once

#include "core/tracker/sqlite/database.h"
#include "core/tracker/sqlite/waiting.h"

#include <sqlite3.h>

#include <unordered_map>

namespace furrow {

struct CloseDb {
    void operator()(sqlite3* db) const noexcept { sqlite3_close_v2(db); }
};
using DbHandle = std::unique_ptr<sqlite3, CloseDb>;

/// What Database, its rows and its transactions share; nobody else includes this.
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

} // namespace furrow
