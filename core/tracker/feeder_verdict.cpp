#include "core/tracker/feeder_verdict.h"

#include "core/tracker/kept_messages.h"

namespace furrow {

namespace {

constexpr const char* kGaveUp = "feeder_gave_up";
constexpr const char* kPlanningEnded = "planning_ended";

Message textOf(Database& db, const char* key)
{
    Rows rows = db.query("SELECT value FROM meta WHERE key=?", key);
    return rows.next() ? messageAt(db, rows, 0) : Message();
}

void store(Database& db, const char* key, const std::string& text)
{
    db.run(
        "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value=excluded.value", key, text);
}

} // namespace

FeederVerdict loadFeederVerdict(Database& db) { return { textOf(db, kGaveUp), textOf(db, kPlanningEnded) }; }

void storeGaveUp(LedgerFile& file, const Message& reason)
{
    store(file.db, kGaveUp, reason);
    writeRunEvent(file, 0, reason);
}

void storePlanningEnded(LedgerFile& file, const Message& reason)
{
    store(file.db, kPlanningEnded, reason);
    writeRunEvent(file, 0, reason);
}

void clearFeederVerdict(Database& db) { db.run("DELETE FROM meta WHERE key IN (?, ?)", kGaveUp, kPlanningEnded); }

} // namespace furrow
