#pragma once

#include "core/base/message.h"
#include "core/base/clock.h"
#include "core/tracker/sqlite/database.h"
#include "core/tracker/types.h"
#include "core/tracker/order.h"

namespace furrow {

/// An open tracker with what every writer of it needs. Internal to core/tracker.
struct LedgerFile {
    Database db;
    const Clock* clock = nullptr;
    std::string runId;
    OrderRule order;
    std::int64_t windowTokens = 0; ///< see tokensIn()
};

/// The same for whoever only reads.
std::int64_t windowTokensOf(Database& db);

/// Opens for writing and reads the fixed configuration. Refuses a file of another version.
Result<LedgerFile> openLedger(const std::filesystem::path& tracker, const Clock& clock);

/// Brings an older file to the version of this program. For a file that nobody else uses: see
/// SupervisorLedger::migrate.
/// @param patience  with others that write; without it 30 s
Status migrateLedger(const std::filesystem::path& tracker, Patience patience = {});

/// Opens read-only, in a folder that cannot be written too, and refuses what this program cannot read. @param shownAs
/// see Database::Options
Result<Database> openForReading(
    const std::filesystem::path& tracker, const std::filesystem::path& shownAs = {}, ReadFor readFor = ReadFor::Long);

/// Writes an event that belongs to the run, not to a chunk.
void writeRunEvent(LedgerFile& file, std::int64_t incarnation, const Message& cause);

/// A row for each attempt up to this number that the ledger does not know: an older one was put back, and files of
/// those attempts are left. The history has no holes, and no attempt writes into the files of another one.
void addLostAttempts(LedgerFile& file, std::int64_t newestUsed);

/// Puts a value into `meta`, in place of what is there.
void storeMeta(Database& db, const std::string& key, const std::string& value);

/// Keys in `meta` that other files read: what the newest attempt goes on without, how often any unit took part.
inline constexpr const char* kGoesOnWithout = "goes_on_without";
inline constexpr const char* kParticipations = "participations"; // epochs.cpp has it in SQL
inline constexpr const char* kMadeAnew = "made_anew"; // and this
/// Begin of the key in `meta` of why an incarnation cannot save, its number behind it.
inline constexpr const char* kNotSaved = "not_saved-";
/// Why the keep policy of the newest attempt cannot remove checkpoints.
inline constexpr const char* kNotRemoved = "not_removed";
/// Begin of the key in `meta` of what the text `doing` of a role is made of.
inline constexpr const char* kDoingParts = "doing-";

/// The row of table `process` for a role ("supervisor", "feeder").
void writeHeartbeat(LedgerFile& file, const char* role, const ProcessIdentity& self, const Message& doing);

} // namespace furrow
