#pragma once

#include "core/base/clock.h"
#include "core/tracker/database.h"
#include "core/tracker/order.h"

namespace furrow {

/// An open tracker with what every writer of it needs. Internal to core/tracker.
struct LedgerFile {
    Database db;
    const Clock* clock = nullptr;
    std::string runId;
    OrderRule order;
};

enum class LedgerRole { Worker, Feeder, Supervisor };

/// Opens for writing and reads the fixed configuration. Only the supervisor migrates.
Result<LedgerFile> openLedger(const std::filesystem::path& tracker, LedgerRole role, const Clock& clock);

/// Opens read-only, in a folder that cannot be written too, and refuses what this program cannot read.
Result<Database> openForReading(const std::filesystem::path& tracker);

/// Writes an event that belongs to the run, not to a chunk.
void writeRunEvent(LedgerFile& file, std::int64_t incarnation, std::string_view cause);

/// The row of table `process` for a role ("supervisor", "feeder").
void writeHeartbeat(LedgerFile& file, const char* role, const ProcessIdentity& self, const std::string& doing);

} // namespace furrow
