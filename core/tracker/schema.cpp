#include "core/tracker/schema.h"

#include "core/base/free_name.h"
#include "core/base/path.h"
#include "core/base/sentence.h"

namespace furrow {

namespace {

constexpr const char* kTables = R"sql(
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE control (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    desired INTEGER NOT NULL DEFAULT 0,
    save_request INTEGER NOT NULL DEFAULT 0,
    eval_request INTEGER NOT NULL DEFAULT 0,
    stop INTEGER NOT NULL DEFAULT 0,
    rule_steps INTEGER NOT NULL DEFAULT 0,
    rule_tokens INTEGER NOT NULL DEFAULT 0,
    rule_hours REAL NOT NULL DEFAULT 0,
    rule_epochs INTEGER NOT NULL DEFAULT 1,
    rule_blocks INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE budget (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    steps INTEGER NOT NULL DEFAULT 0,
    tokens INTEGER NOT NULL DEFAULT 0,
    claimed_tokens INTEGER NOT NULL DEFAULT 0,
    reserved_steps INTEGER NOT NULL DEFAULT 0,
    completed_blocks INTEGER NOT NULL DEFAULT 0,
    active_ns INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE active_stretch (
    id INTEGER PRIMARY KEY,
    began_wall INTEGER NOT NULL,
    ended_wall INTEGER NOT NULL,
    active_ns INTEGER NOT NULL
) STRICT;

CREATE TABLE dataset (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    known_blocks INTEGER NOT NULL DEFAULT 0,
    prepared_blocks INTEGER NOT NULL DEFAULT 0,
    block_count INTEGER,
    unproven_reason TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE TABLE block (
    block INTEGER PRIMARY KEY,
    source INTEGER NOT NULL,
    first_row INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    chunks INTEGER NOT NULL,
    plan TEXT NOT NULL,
    prepared INTEGER NOT NULL DEFAULT 0,
    file_name TEXT NOT NULL DEFAULT '',
    digest TEXT NOT NULL DEFAULT '',
    problem TEXT NOT NULL DEFAULT '',
    repeats INTEGER NOT NULL DEFAULT 0,
    invalid_utf8 INTEGER NOT NULL DEFAULT 0,
    unreadable TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX block_prepared ON block (block) WHERE prepared = 1;
CREATE INDEX block_noted ON block (repeats, invalid_utf8) WHERE repeats > 0 OR invalid_utf8 > 0;
CREATE INDEX block_unreadable ON block (block) WHERE unreadable <> '';

CREATE TABLE epoch (
    epoch INTEGER PRIMARY KEY,
    opened_wall INTEGER NOT NULL,
    closed_wall INTEGER,
    fully_opened INTEGER NOT NULL DEFAULT 1,
    n0 INTEGER NOT NULL DEFAULT 0, n1 INTEGER NOT NULL DEFAULT 0, n2 INTEGER NOT NULL DEFAULT 0, n3 INTEGER NOT NULL DEFAULT 0,
    n4 INTEGER NOT NULL DEFAULT 0, n5 INTEGER NOT NULL DEFAULT 0, n6 INTEGER NOT NULL DEFAULT 0, n7 INTEGER NOT NULL DEFAULT 0,
    visited_blocks INTEGER NOT NULL DEFAULT 0,
    completed_blocks INTEGER NOT NULL DEFAULT 0,
    known_rows INTEGER NOT NULL DEFAULT 0, known_samples INTEGER NOT NULL DEFAULT 0, known_filtered INTEGER NOT NULL DEFAULT 0,
    known_failed INTEGER NOT NULL DEFAULT 0, known_held_out INTEGER NOT NULL DEFAULT 0, known_duplicates INTEGER NOT NULL DEFAULT 0,
    done_rows INTEGER NOT NULL DEFAULT 0, done_samples INTEGER NOT NULL DEFAULT 0, done_filtered INTEGER NOT NULL DEFAULT 0,
    done_failed INTEGER NOT NULL DEFAULT 0, done_held_out INTEGER NOT NULL DEFAULT 0, done_duplicates INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE counts (
    epoch INTEGER NOT NULL REFERENCES epoch,
    block INTEGER NOT NULL REFERENCES block,
    n0 INTEGER NOT NULL DEFAULT 0, n1 INTEGER NOT NULL DEFAULT 0, n2 INTEGER NOT NULL DEFAULT 0, n3 INTEGER NOT NULL DEFAULT 0,
    n4 INTEGER NOT NULL DEFAULT 0, n5 INTEGER NOT NULL DEFAULT 0, n6 INTEGER NOT NULL DEFAULT 0, n7 INTEGER NOT NULL DEFAULT 0,
    visited INTEGER NOT NULL DEFAULT 0,
    wanted INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (epoch, block)
) STRICT, WITHOUT ROWID;
CREATE INDEX counts_wanted ON counts (epoch, block) WHERE wanted = 1;

CREATE TABLE chunk (
    id INTEGER PRIMARY KEY,
    epoch INTEGER NOT NULL,
    ord INTEGER NOT NULL,
    state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 7),
    rows INTEGER NOT NULL,
    samples INTEGER NOT NULL DEFAULT 0,
    filtered INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    held_out INTEGER NOT NULL DEFAULT 0,
    duplicates INTEGER NOT NULL DEFAULT 0,
    windows INTEGER,
    tokens INTEGER NOT NULL DEFAULT 0,
    digest INTEGER NOT NULL DEFAULT 0,
    covered INTEGER NOT NULL DEFAULT 0,
    holder INTEGER,
    claim INTEGER,
    failures INTEGER NOT NULL DEFAULT 0,
    times_trained INTEGER NOT NULL DEFAULT 0,
    times_lost INTEGER NOT NULL DEFAULT 0,
    worker INTEGER NOT NULL DEFAULT -1,
    attempt INTEGER NOT NULL DEFAULT 0,
    mean_loss REAL,
    trained_wall INTEGER NOT NULL DEFAULT 0,
    inherited INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX chunk_free ON chunk (epoch, ord) WHERE state = 1;
CREATE INDEX chunk_pending ON chunk (epoch, ord) WHERE state = 0;

CREATE TABLE attempt (
    id INTEGER PRIMARY KEY,
    pid INTEGER NOT NULL, start_time INTEGER NOT NULL, boot_id TEXT NOT NULL,
    started_wall INTEGER NOT NULL,
    ended_wall INTEGER,
    reason INTEGER NOT NULL DEFAULT 0,
    detail TEXT NOT NULL DEFAULT '',
    overrides TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE TABLE incarnation (
    id INTEGER PRIMARY KEY,
    attempt INTEGER NOT NULL REFERENCES attempt,
    worker INTEGER NOT NULL,
    replica INTEGER NOT NULL,
    pid INTEGER NOT NULL, start_time INTEGER NOT NULL, boot_id TEXT NOT NULL,
    device TEXT NOT NULL, device_name TEXT NOT NULL,
    live INTEGER NOT NULL DEFAULT 1,
    first_held INTEGER NOT NULL DEFAULT 0,
    end_cause TEXT NOT NULL DEFAULT '',
    started_wall INTEGER NOT NULL,
    ended_wall INTEGER NOT NULL DEFAULT 0,
    lease_until INTEGER NOT NULL,
    progress INTEGER NOT NULL,
    reserved_steps INTEGER NOT NULL DEFAULT 0,
    phase TEXT NOT NULL DEFAULT '',
    chunk INTEGER NOT NULL DEFAULT 0,
    chunk_fraction REAL NOT NULL DEFAULT 0,
    step INTEGER NOT NULL DEFAULT 0,
    tokens INTEGER NOT NULL DEFAULT 0,
    loss REAL,
    tokens_per_second REAL NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX incarnation_live ON incarnation (id) WHERE live = 1;

CREATE TABLE claim (
    id INTEGER PRIMARY KEY,
    chunk INTEGER NOT NULL REFERENCES chunk,
    incarnation INTEGER NOT NULL REFERENCES incarnation,
    outcome INTEGER NOT NULL DEFAULT 0,
    claimed_wall INTEGER NOT NULL,
    started_wall INTEGER NOT NULL DEFAULT 0,
    ended_wall INTEGER NOT NULL DEFAULT 0,
    ranges TEXT NOT NULL,
    done TEXT NOT NULL DEFAULT '',
    skipped TEXT NOT NULL DEFAULT '',
    partly INTEGER NOT NULL DEFAULT 0,
    position_tokens INTEGER NOT NULL,
    samples INTEGER NOT NULL DEFAULT 0,
    tokens INTEGER NOT NULL DEFAULT 0,
    loss_sum REAL NOT NULL DEFAULT 0,
    peak_norm REAL NOT NULL DEFAULT 0,
    first_step INTEGER NOT NULL DEFAULT 0,
    last_step INTEGER NOT NULL DEFAULT 0,
    steps INTEGER NOT NULL DEFAULT 0,
    opened_seq INTEGER NOT NULL,
    closed_seq INTEGER NOT NULL DEFAULT 0,
    cause TEXT NOT NULL DEFAULT '',
    sample_losses TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX claim_chunk ON claim (chunk);

CREATE TABLE checkpoint (
    id INTEGER PRIMARY KEY,
    kind INTEGER NOT NULL,
    replica INTEGER NOT NULL,
    incarnation INTEGER NOT NULL REFERENCES incarnation,
    folder TEXT NOT NULL UNIQUE,
    manifest_sha256 TEXT NOT NULL,
    step INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    eval_loss REAL,
    size_bytes INTEGER NOT NULL,
    wall INTEGER NOT NULL,
    surviving INTEGER NOT NULL DEFAULT 1,
    damaged INTEGER NOT NULL DEFAULT 0,
    removed INTEGER NOT NULL DEFAULT 0,
    pinned INTEGER NOT NULL DEFAULT 0,
    first_claim INTEGER NOT NULL DEFAULT 0,
    last_claim INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE parent (
    checkpoint INTEGER NOT NULL REFERENCES checkpoint,
    parent INTEGER NOT NULL REFERENCES checkpoint,
    PRIMARY KEY (checkpoint, parent)
) STRICT, WITHOUT ROWID;

CREATE TABLE part (
    claim INTEGER NOT NULL,
    first INTEGER NOT NULL,
    past INTEGER NOT NULL CHECK (past > first),
    chunk INTEGER NOT NULL,
    checkpoint INTEGER NOT NULL,
    skipped INTEGER NOT NULL DEFAULT 0,
    steps INTEGER NOT NULL DEFAULT 0,
    alive INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (claim, first, checkpoint)
) STRICT, WITHOUT ROWID;

CREATE TABLE replica (
    replica INTEGER PRIMARY KEY,
    head INTEGER REFERENCES checkpoint,
    parked INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE event (
    seq INTEGER PRIMARY KEY,
    wall INTEGER NOT NULL,
    chunk INTEGER NOT NULL,
    from_state INTEGER NOT NULL,
    to_state INTEGER NOT NULL,
    incarnation INTEGER NOT NULL,
    cause TEXT NOT NULL,
    count INTEGER NOT NULL DEFAULT 1
) STRICT;

CREATE TABLE merge_round (
    round INTEGER PRIMARY KEY,
    opened_wall INTEGER NOT NULL,
    taken_by INTEGER,
    result INTEGER
) STRICT;

CREATE TABLE contribution (
    round INTEGER NOT NULL REFERENCES merge_round,
    replica INTEGER NOT NULL,
    incarnation INTEGER NOT NULL REFERENCES incarnation,
    checkpoint INTEGER NOT NULL,
    PRIMARY KEY (round, replica)
) STRICT, WITHOUT ROWID;

CREATE TABLE merge_input (
    round INTEGER NOT NULL REFERENCES merge_round,
    checkpoint INTEGER NOT NULL REFERENCES checkpoint,
    PRIMARY KEY (round, checkpoint)
) STRICT, WITHOUT ROWID;

CREATE TABLE inherited (
    block INTEGER PRIMARY KEY,
    columns TEXT NOT NULL,
    mark INTEGER NOT NULL
) STRICT;

CREATE TABLE message (text TEXT PRIMARY KEY, parts TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE process (
    role TEXT PRIMARY KEY,
    pid INTEGER NOT NULL, start_time INTEGER NOT NULL, boot_id TEXT NOT NULL,
    heartbeat INTEGER NOT NULL,
    heartbeat_wall INTEGER NOT NULL,
    doing TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;

INSERT INTO control (one) VALUES (1);
INSERT INTO budget (one) VALUES (1);
INSERT INTO dataset (one) VALUES (1);
)sql";

// PRAGMA takes no bound values; the numbers are our own.
void setVersion(Database& db, std::int64_t version)
{
    db.script(("PRAGMA user_version=" + std::to_string(version)).c_str());
}

} // namespace

void createSchema(Database& db)
{
    db.script(kTables);
    db.script(("PRAGMA application_id=" + std::to_string(kTrackerApplicationId)).c_str());
    setVersion(db, kTrackerVersion);
}

Status checkSchema(Database& db, std::int64_t version)
{
    const std::int64_t application = db.integer("PRAGMA application_id").value_or(0);
    const std::int64_t found = db.integer("PRAGMA user_version").value_or(0);
    FURROW_TRY(db.takeStatus());
    const std::string file = utf8Text(db.path());
    if (application != kTrackerApplicationId || found < 1)
        return Error { ErrorCode::Corrupt,
            sentence(
                "%1 is not a tracker of Furrow, or was never finished; `furrowctl doctor %2 --repair` rebuilds what the checkpoints prove",
                { file, utf8Text(db.path().parent_path()) }) };
    if (db.integer(
              "SELECT count(*) FROM sqlite_schema WHERE type NOT IN ('table','index') OR sql LIKE 'CREATE VIRTUAL%'")
            .value_or(1)
        != 0)
        return Error { ErrorCode::Corrupt,
            sentence(
                "the tracker %1 has a view, a trigger or a virtual table, which Furrow makes none of: it was changed from outside; `furrowctl doctor %2 --repair` rebuilds what the checkpoints prove",
                { file, utf8Text(db.path().parent_path()) }) };
    if (found < kTrackerVersion && version == kTrackerVersion
        && db.integer("SELECT 1 FROM sqlite_schema WHERE name='active_stretch'")) // the newest step makes it
        return Error { ErrorCode::Corrupt,
            sentence(
                "%1 says that it has tracker version %2 and has tables of a newer one: it was changed from outside; `furrowctl doctor %3 --repair` rebuilds what the checkpoints prove",
                { file, std::to_string(found), utf8Text(db.path().parent_path()) }) };
    if (found > version)
        return Error { ErrorCode::InvalidArgument,
            sentence(kNewerTracker, { file, std::to_string(found), std::to_string(version) }) };
    return {};
}

Status migrateSchema(Database& db, std::span<const MigrationStep> steps, std::int64_t version)
{
    FURROW_TRY(checkSchema(db, version));
    std::int64_t found = db.integer("PRAGMA user_version").value_or(0);
    if (found == version)
        return db.takeStatus();
    std::filesystem::path backup = db.path();
    backup += ".v" + std::to_string(found) + ".bak"; // taken by a migration before an older tracker was put back
    if (Status status = db.backupTo(freeName(backup)); !status.ok())
        return status.error().in(sentence("keeping a copy before the tracker is migrated"));
    for (const MigrationStep& step : steps) {
        if (step.from < found)
            continue;
        FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(db));
        // Another process may have been faster while we waited for the lock.
        found = db.integer("PRAGMA user_version").value_or(0);
        if (found == step.from) {
            db.script(step.sql);
            setVersion(db, step.from + 1);
            found = step.from + 1;
        }
        if (Status status = transaction.commit(); !status.ok())
            return status.error().in(
                sentence("migrating the tracker to version %1", { std::to_string(step.from + 1) }));
    }
    if (found != version)
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 has tracker version %2, which this Furrow cannot bring to version %3",
                { utf8Text(db.path()), std::to_string(found), std::to_string(version) }) };
    return {};
}

std::span<const MigrationStep> trackerMigrations()
{
    // 7 to 8: when the run was active, for a look at the past.
    static const std::string kKeepActiveStretches
        = "CREATE TABLE active_stretch (id INTEGER PRIMARY KEY, began_wall INTEGER NOT NULL, ended_wall INTEGER NOT NULL,"
          " active_ns INTEGER NOT NULL) STRICT;"
          "INSERT INTO active_stretch (began_wall, ended_wall, active_ns) "
        + std::string(kActiveByAttempts) + ";";
    // 1 to 2: runs that start from a checkpoint know what its weights have seen.
    static const MigrationStep kSteps[] = {
        { 1,
            "ALTER TABLE chunk ADD COLUMN inherited INTEGER NOT NULL DEFAULT 0;"
            "CREATE TABLE inherited (block INTEGER PRIMARY KEY, columns TEXT NOT NULL, mark INTEGER NOT NULL) STRICT;" },
        { 2, "CREATE INDEX counts_wanted ON counts (epoch, block) WHERE n1 + n2 > 0;" },
        { 3, "ALTER TABLE claim ADD COLUMN sample_losses TEXT NOT NULL DEFAULT '';" },
        // 4 to 5: fewer indexes change with each claim and each commit.
        { 4,
            "ALTER TABLE counts ADD COLUMN wanted INTEGER NOT NULL DEFAULT 0;"
            "UPDATE counts SET wanted=1 WHERE n1+n2>0;"
            "DROP INDEX counts_wanted;"
            "CREATE INDEX counts_wanted ON counts (epoch, block) WHERE wanted = 1;"
            "ALTER TABLE incarnation ADD COLUMN first_held INTEGER NOT NULL DEFAULT 0;"
            "DROP INDEX chunk_held;"
            "ALTER TABLE checkpoint ADD COLUMN first_claim INTEGER NOT NULL DEFAULT 0;"
            "ALTER TABLE checkpoint ADD COLUMN last_claim INTEGER NOT NULL DEFAULT 0;"
            "UPDATE checkpoint SET first_claim=s.first, last_claim=s.last"
            " FROM (SELECT checkpoint, min(claim) AS first, max(claim) AS last FROM part GROUP BY checkpoint) AS s WHERE s.checkpoint=checkpoint.id;"
            "DROP INDEX part_checkpoint;" },
        { 5, "CREATE TABLE message (text TEXT PRIMARY KEY, parts TEXT NOT NULL) STRICT, WITHOUT ROWID;" },
        { 6,
            "ALTER TABLE block ADD COLUMN repeats INTEGER NOT NULL DEFAULT 0;"
            "ALTER TABLE block ADD COLUMN invalid_utf8 INTEGER NOT NULL DEFAULT 0;"
            "ALTER TABLE block ADD COLUMN unreadable TEXT NOT NULL DEFAULT '';"
            "CREATE INDEX block_noted ON block (repeats, invalid_utf8) WHERE repeats > 0 OR invalid_utf8 > 0;"
            "CREATE INDEX block_unreadable ON block (block) WHERE unreadable <> '';" },
        { 7, kKeepActiveStretches.c_str() },
    };
    return kSteps;
}

bool keepsInherited(Database& db) { return db.integer("PRAGMA user_version").value_or(0) >= 2; }

bool keepsSampleLosses(Database& db) { return db.integer("PRAGMA user_version").value_or(0) >= 4; }

bool keepsClaimSpans(Database& db) { return db.integer("PRAGMA user_version").value_or(0) >= 5; }

bool keepsMessages(Database& db) { return db.integer("PRAGMA user_version").value_or(0) >= 6; }

bool keepsDataNotes(Database& db) { return db.integer("PRAGMA user_version").value_or(0) >= 7; }

bool keepsActiveStretches(Database& db) { return db.integer("PRAGMA user_version").value_or(0) >= 8; }

} // namespace furrow
