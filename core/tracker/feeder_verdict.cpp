#include "core/tracker/feeder_verdict.h"

#include "core/tracker/kept_messages.h"
#include "core/tracker/ledger_file.h"

namespace furrow {

namespace {

constexpr const char* kGaveUp = "feeder_gave_up";
constexpr const char* kPlanningEnded = "planning_ended";

Message textOf(Database& db, const char* key)
{
    Rows rows = db.query("SELECT value FROM meta WHERE key=?", key);
    return rows.next() ? messageAt(db, rows, 0) : Message();
}

} // namespace

FeederVerdict loadFeederVerdict(Database& db) { return { textOf(db, kGaveUp), textOf(db, kPlanningEnded) }; }

void storeGaveUp(LedgerFile& file, const Message& reason)
{
    storeMeta(file.db, kGaveUp, reason);
    writeRunEvent(file, 0, reason);
}

void storePlanningEnded(LedgerFile& file, const Message& reason)
{
    storeMeta(file.db, kPlanningEnded, reason);
    writeRunEvent(file, 0, reason);
}

void clearFeederVerdict(Database& db) { db.run("DELETE FROM meta WHERE key IN (?, ?)", kGaveUp, kPlanningEnded); }

} // namespace furrow
