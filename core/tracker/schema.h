#pragma once

#include "core/base/sentence.h"
#include "core/tracker/sqlite/database.h"

#include <span>

namespace furrow {

/// Tables of the tracker; FORMAT.md beside this file is their page of prose.
inline constexpr std::int64_t kTrackerVersion = 8;
inline constexpr std::int64_t kTrackerApplicationId = 0x46525257; // "FRRW"

/// One step forward: from version `from` to `from + 1`.
struct MigrationStep {
    std::int64_t from = 0;
    const char* sql = nullptr;
};

/// Makes all tables of the current version in an empty file. Inside a transaction of the caller.
void createSchema(Database& db);

inline constexpr SentenceText kNewerTracker(
    "%1 was written with tracker version %2, this Furrow reads up to version %3; open the run with a newer Furrow");

/// Refuses a file that is no tracker (Corrupt) or of a newer version (InvalidArgument, kNewerTracker).
Status checkSchema(Database& db, std::int64_t version = kTrackerVersion);

/// Brings an older file to `version` by `steps`, one transaction each, after a copy `<file>.v<k>.bak`. A file of
/// this version is left alone.
Status migrateSchema(Database& db, std::span<const MigrationStep> steps, std::int64_t version);

/// False in a file of version 1, which may be read without being migrated: it has no table `inherited` and no column of
/// that name.
bool keepsInherited(Database& db);
/// False in a file of version 3 or older, which may be read without being migrated: its claims have no column
/// `sample_losses`.
bool keepsSampleLosses(Database& db);
/// False in a file of version 4 or older, which may be read without being migrated: its checkpoints do not say which
/// claims their parts are of.
bool keepsClaimSpans(Database& db);
/// False in a file of version 5 or older, which may be read without being migrated: its texts are in English only.
bool keepsMessages(Database& db);
/// False in a file of version 6 or older, which may be read without being migrated: its blocks have no columns for
/// repeats, broken texts and unreadable rows.
bool keepsDataNotes(Database& db);
/// False in a file of version 7 or older, which may be read without being migrated: when the run was active is known by
/// its attempts only (kActiveByAttempts).
bool keepsActiveStretches(Database& db);

/// Columns of `active_stretch` for a file without that table: its whole active time, shared out over the attempts.
inline constexpr const char* kActiveByAttempts
    = "WITH span AS (SELECT a.id, a.started_wall AS began, max(a.started_wall, coalesce(a.ended_wall,"
      " (SELECT CAST(value AS INTEGER) FROM meta WHERE key='seen-' || a.id),"
      " (SELECT heartbeat_wall FROM process p WHERE p.role='supervisor' AND p.pid=a.pid AND p.start_time=a.start_time"
      " AND p.boot_id=a.boot_id), a.started_wall)) AS ended FROM attempt a)"
      " SELECT began, ended, CAST((SELECT active_ns FROM budget) * (1.0 * (ended - began)"
      " / (SELECT sum(ended - began) FROM span)) AS INTEGER) FROM span WHERE ended>began ORDER BY id";

/// The steps that lead to kTrackerVersion.
std::span<const MigrationStep> trackerMigrations();

} // namespace furrow
