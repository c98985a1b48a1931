#include "core/tracker/supervisor_ledger.h"

#include "core/tracker/kept_messages.h"
#include "core/base/file_system.h"
#include "core/base/format.h"
#include "core/base/path.h"
#include "core/base/random.h"
#include "core/base/sentence.h"
#include "core/tracker/feeder_verdict.h"
#include "core/tracker/incarnations.h"
#include "core/tracker/order_facts.h"
#include "core/tracker/schema.h"
#include "core/tracker/sqlite/database_files.h"
#include "core/tracker/supervisor_state.h"

#include <algorithm>
#include <limits>
#include <sstream>
#include <set>
#include <utility>

namespace furrow {

namespace {

constexpr int kMarkDigits = 16;
constexpr const char* kBuilding = ".tmp";

/// Of a snapshot that is being made: "<target>.<mark>.tmp", and what SQLite puts beside it. Other names are not ours.
bool isUnfinished(const std::filesystem::path& file, const std::filesystem::path& target)
{
    std::string name = utf8Text(file.filename());
    for (const std::string_view beside : { "-wal", "-shm", "-journal" })
        if (name.ends_with(beside))
            name.resize(name.size() - beside.size());
    const std::string begin = utf8Text(target.filename()) + ".";
    const std::string end = kBuilding;
    return name.size() == begin.size() + kMarkDigits + end.size() && name.starts_with(begin) && name.ends_with(end)
        && name.find_first_not_of("0123456789abcdef", begin.size()) == begin.size() + kMarkDigits;
}

void storeRules(Database& db, const StoppingRules& rules)
{
    db.run("UPDATE control SET rule_steps=?, rule_tokens=?, rule_hours=?, rule_epochs=?, rule_blocks=?", rules.steps,
        rules.tokens, rules.hours, rules.epochs, rules.blocks);
}

/// The sooner of two rules, of which 0 means none.
std::int64_t sooner(std::int64_t a, std::int64_t b) { return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b); }

StoppingRules resolvedNow(Database& db, const StoppingRules& rules)
{
    return resolved(rules,
        db.integer("SELECT coalesce(min(epoch) FILTER (WHERE closed_wall IS NULL), max(epoch) + 1) FROM epoch")
            .value_or(0));
}

DesiredState wishOf(Database& db)
{
    return static_cast<DesiredState>(db.integer("SELECT desired FROM control").value_or(0));
}

/// To who asks a run for less than its end, which is under way.
Error endsAlready(DesiredState desired)
{
    return { ErrorCode::InvalidArgument,
        desired == DesiredState::Stop
            ? sentence("The run is being stopped. When it has ended, 'furrowctl resume' goes on with it.")
            : sentence("The run is being killed. When it has ended, 'furrowctl resume' goes on with it.") };
}

Status checkRules(const StoppingRules& rules)
{
    if (rules.steps < 0 || rules.tokens < 0 || rules.hours < 0 || rules.epochs < 0 || rules.blocks < 0)
        return Error { ErrorCode::InvalidArgument, sentence("a stopping rule cannot be negative") };
    return {};
}

} // namespace

StoppingRules resolved(StoppingRules rules, std::int64_t currentEpoch)
{
    if (std::exchange(rules.afterThisEpoch, false))
        rules.epochs = sooner(rules.epochs, currentEpoch + 1);
    return rules;
}

SupervisorLedger::SupervisorLedger(std::unique_ptr<State> state)
    : state_(std::move(state))
{
}
SupervisorLedger::SupervisorLedger(SupervisorLedger&&) noexcept = default;
SupervisorLedger::~SupervisorLedger() = default;

Status SupervisorLedger::create(
    const std::filesystem::path& tracker, const TrackerConfig& config, const StoppingRules& rules, const Clock& clock)
{
    FURROW_TRY(checkRules(rules));
    if (const Message reason = unsafeForLedgerReason(tracker.parent_path()); !reason.empty())
        return Error { ErrorCode::InvalidArgument,
            sentence("a run cannot live in %1: %2", { utf8Text(tracker.parent_path()), reason }) };
    FURROW_TRY_ASSIGN(auto created, Database::create(tracker));
    LedgerFile file { std::move(created), &clock, config.runId,
        { config.seed, config.shuffleWindowBlocks, config.linearOrder, parseChunkName(config.startAt) } };
    Database& db = file.db;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(db));
    createSchema(db);
    const char* insert = "INSERT INTO meta (key, value) VALUES (?, ?)";
    db.run(insert, "run_id", config.runId);
    for (const auto& [key, value] : orderFacts(config))
        db.run(insert, key, value);
    db.run(insert, "frozen", config.frozen);
    db.run(insert, "created", isoTime(file.clock->wallNs()));
    db.run(insert, "furrow_version", FURROW_VERSION);
    for (const auto& [block, columns] : config.inheritedColumns)
        db.run("INSERT INTO inherited (block, columns, mark) VALUES (?, ?, ?)", block, columns, config.inherited);
    openEpoch(file, 0);
    storeRules(db, resolvedNow(db, rules));
    if (Status status = transaction.commit(); !status.ok())
        return status.error().in(sentence("creating the tracker"));
    auto moved = db.checkpoint(Database::WalFile::Empty);
    return moved.ok() ? Status {} : Status(moved.error());
}

Status SupervisorLedger::migrate(const std::filesystem::path& tracker, const FileLock&, Patience patience)
{
    return migrateLedger(tracker, std::move(patience));
}

Result<bool> SupervisorLedger::isOlder(const std::filesystem::path& tracker)
{
    FURROW_TRY_ASSIGN(auto db, openForReading(tracker));
    const auto found = db.integer("PRAGMA user_version");
    FURROW_TRY(db.takeStatus());
    return found.value_or(0) < kTrackerVersion;
}

Result<SupervisorLedger> SupervisorLedger::open(const std::filesystem::path& tracker, const Clock& clock)
{
    FURROW_TRY_ASSIGN(auto file, openLedger(tracker, clock));
    auto state = std::make_unique<State>(State { std::move(file) });
    registerClaimOrder(state->file);
    return SupervisorLedger(std::move(state));
}

void SupervisorLedger::setPatience(Patience patience)
{
    state_->patience = [state = state_.get(), patience = std::move(patience)](std::chrono::milliseconds waited) {
        state->locked += waited - (waited > state->waiting ? state->waiting : std::chrono::milliseconds(0));
        state->waiting = waited;
        return patience(waited);
    };
    state_->file.db.setPatience(state_->patience);
}

const Patience& SupervisorLedger::patience() const { return state_->patience; }

namespace {

/// Keeps of the attempt before, when it left no record, what the next heartbeat overwrites: when its supervisor was
/// last heard of, by both clocks.
void keepLastSign(Database& db)
{
    db.run("INSERT INTO meta (key, value) SELECT 'seen-' || a.id, p.heartbeat_wall || ' ' || p.heartbeat"
           " FROM attempt a JOIN process p ON p.role='supervisor' AND p.pid=a.pid AND p.start_time=a.start_time"
           " AND p.boot_id=a.boot_id WHERE a.ended_wall IS NULL ON CONFLICT (key) DO NOTHING");
}

struct LastSign {
    std::int64_t wallNs = 0; ///< 0: none was kept
    std::int64_t monotonicNs = 0;
};

/// Of one that left a record it is that.
LastSign lastSignOf(Database& db, std::int64_t attempt)
{
    LastSign sign;
    if (const auto ended = db.integer("SELECT ended_wall FROM attempt WHERE id=?", attempt))
        return { *ended, std::numeric_limits<std::int64_t>::max() };
    Rows row = db.query("SELECT value FROM meta WHERE key='seen-' || ?", attempt);
    if (row.next())
        std::istringstream(row.text(0)) >> sign.wallNs >> sign.monotonicNs;
    return sign;
}

} // namespace

Result<AttemptId> SupervisorLedger::beginAttempt(
    const ProcessIdentity& supervisor, const std::string& overridesJson, std::int64_t newestUsed)
{
    LedgerFile& file = state_->file;
    Database& db = file.db;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(db));
    keepLastSign(db);
    addLostAttempts(file, newestUsed);
    db.run("INSERT INTO attempt (pid, start_time, boot_id, started_wall, overrides) VALUES (?, ?, ?, ?, ?)",
        supervisor.pid, supervisor.startTime, supervisor.place, file.clock->wallNs(), overridesJson);
    const AttemptId id { db.lastId() };
    db.run("UPDATE block SET problem='' WHERE problem<>''"); // a source may have been restored since
    db.run("UPDATE control SET save_request=0, eval_request=0"); // from now on they are for workers of this attempt
    db.run("DELETE FROM meta WHERE key=?", kNotRemoved); // it tries them all again
    clearFeederVerdict(db);
    writeHeartbeat(file, "supervisor", supervisor, "");
    updateStop(file);
    if (Status status = transaction.commit(); !status.ok())
        return status.error().in(sentence("beginning an attempt"));
    return id;
}

Status SupervisorLedger::setOverridesAside(AttemptId attempt, const Message& why)
{
    LedgerFile& file = state_->file;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(file.db));
    file.db.run("INSERT OR REPLACE INTO meta (key, value)"
                " SELECT 'overrides-aside-' || id, overrides FROM attempt WHERE id=?",
        attempt);
    file.db.run("UPDATE attempt SET overrides='{}' WHERE id=?", attempt);
    writeRunEvent(
        file, 0, sentence("the settings of attempt %1 were set aside: %2", { std::to_string(attempt.value), why }));
    if (Status status = transaction.commit(); !status.ok())
        return status.error().in(sentence("setting the settings of an attempt aside"));
    return {};
}

Status SupervisorLedger::endAttempt(AttemptId attempt, StopReason reason, const Message& detail)
{
    LedgerFile& file = state_->file;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(file.db));
    file.db.run("UPDATE attempt SET ended_wall=?, reason=?, detail=? WHERE id=? AND ended_wall IS NULL",
        file.clock->wallNs(), reason, detail, attempt);
    keepMessage(file.db, detail);
    return transaction.commit();
}

namespace {

/// The time since the heartbeat before, at `sinceWallNs`, until the one that is written: the newest stretch goes on
/// where it ended with the one before.
void addActive(Database& db, std::int64_t sinceWallNs, std::int64_t activeNs)
{
    db.run("UPDATE budget SET active_ns=active_ns+?", activeNs);
    const auto longer
        = db.run("UPDATE active_stretch SET ended_wall=(SELECT heartbeat_wall FROM process WHERE role='supervisor'),"
                 " active_ns=active_ns+? WHERE id=(SELECT max(id) FROM active_stretch) AND ended_wall=?",
            activeNs, sinceWallNs);
    if (longer == 0)
        db.run("INSERT INTO active_stretch (began_wall, ended_wall, active_ns)"
               " SELECT ?, heartbeat_wall, ? FROM process WHERE role='supervisor'",
            sinceWallNs, activeNs);
}

} // namespace

Status SupervisorLedger::heartbeat(const ProcessIdentity& self, bool trains, const Message& awaited)
{
    LedgerFile& file = state_->file;
    Database& db = file.db;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(db, Durability::Normal));
    // Active time is the time between two heartbeats of one supervisor while the run is wanted to run, or a worker
    // trains on to the end of its chunk.
    std::int64_t active = 0;
    std::int64_t sinceWallNs = 0;
    const auto locked = std::exchange(state_->locked, {});
    state_->waiting = {};
    if (trains) {
        Rows row = db.query(
            "SELECT pid, start_time, boot_id, heartbeat, heartbeat_wall FROM process WHERE role='supervisor'"
            " AND ((SELECT desired FROM control)=0 OR EXISTS (SELECT 1 FROM incarnation WHERE live=1 AND phase=?))",
            toString(WorkerPhase::Train));
        if (row.next() && ProcessIdentity { row.integer(0), row.integer(1), row.text(2) } == self) {
            sinceWallNs = row.integer(4);
            active = std::max<std::int64_t>(
                0, file.clock->monotonicNs() - row.integer(3) - std::chrono::nanoseconds(locked).count());
        }
    }
    writeHeartbeat(file, "supervisor", self, awaited);
    if (active > 0)
        addActive(db, sinceWallNs, active);
    return transaction.commit();
}

namespace {

/// Those in force: "200 steps, 1 epoch".
Message inWords(const StoppingRules& rules)
{
    Message words = rules.epochs == 0 ? sentence("any number of epochs")
        : rules.epochs == 1           ? sentence("1 epoch")
                                      : sentence("%1 epochs", { Count(rules.epochs) });
    if (rules.blocks > 0)
        words = rules.blocks == 1 ? sentence("1 block, %1", { words })
                                  : sentence("%1 blocks, %2", { Count(rules.blocks), words });
    if (rules.tokens > 0)
        words = sentence("%1 tokens, %2", { Count(rules.tokens), words });
    if (rules.steps > 0)
        words = sentence("%1 steps, %2", { Count(rules.steps), words });
    return rules.hours > 0 ? sentence("%1 hours, %2", { Real(rules.hours, 2), words }) : words;
}

void setRules(LedgerFile& file, const StoppingRules& rules)
{
    storeRules(file.db, rules);
    writeRunEvent(file, 0, sentence("stopping rules: %1", { inWords(rules) }));
    updateStop(file);
}

} // namespace

Status SupervisorLedger::setStoppingRules(const StoppingRules& rules)
{
    FURROW_TRY(checkRules(rules));
    LedgerFile& file = state_->file;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(file.db));
    setRules(file, resolvedNow(file.db, rules));
    return transaction.commit();
}

Status SupervisorLedger::stopAfterThis(EndOf what)
{
    LedgerFile& file = state_->file;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(file.db));
    if (const auto desired = wishOf(file.db); desired >= DesiredState::Stop)
        return endsAlready(desired);
    const RunState run = loadRunState(file.db);
    StoppingRules rules = run.rules;
    if (what == EndOf::Block)
        rules.blocks = sooner(rules.blocks, trainedBlocks(file.db) + 1);
    else
        rules.afterThisEpoch = true;
    setRules(file, resolvedNow(file.db, rules));
    return transaction.commit();
}

Result<std::int64_t> SupervisorLedger::revoke(IncarnationId incarnation, const Message& cause, std::int64_t endedWallNs)
{
    LedgerFile& file = state_->file;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(file.db));
    ChunkMoves moves(file, incarnation.value);
    std::int64_t freed = 0;
    if (file.db.integer("SELECT live FROM incarnation WHERE id=?", incarnation).value_or(0) == 1)
        freed = revokeIncarnation(file, moves, incarnation.value, cause, endedWallNs);
    moves.finish();
    updateStop(file);
    if (Status status = transaction.commit(); !status.ok())
        return status.error().in(sentence("revoking a worker"));
    return freed;
}

namespace {

std::vector<SupervisorLedger::Expired> liveIncarnations(LedgerFile& file)
{
    std::vector<SupervisorLedger::Expired> found;
    const std::int64_t now = file.clock->monotonicNs();
    Rows rows = file.db.query(
        "SELECT id, worker, pid, start_time, boot_id, lease_until, progress, attempt, started_wall FROM incarnation WHERE live=1 ORDER BY id");
    while (rows.next()) {
        SupervisorLedger::Expired one { { rows.integer(0) }, rows.int32(1),
            { rows.integer(2), rows.integer(3), rows.text(4) }, rows.integer(6), 0, rows.integer(8) };
        if (const LastSign sign = lastSignOf(file.db, rows.integer(7)); sign.wallNs != 0) // both of the same boot
            one.lastSeenWallNs = std::max(
                one.lastSeenWallNs, sign.wallNs + std::max<std::int64_t>(0, one.renewedNs - sign.monotonicNs));
        // Monotonic times of another boot mean nothing; its processes are gone anyway.
        one.overdueSeconds = isOfThisBoot(one.process) ? static_cast<double>(now - rows.integer(5)) / 1e9 : 1e9;
        found.push_back(std::move(one));
    }
    return found;
}

} // namespace

Result<std::vector<SupervisorLedger::Expired>> SupervisorLedger::expired()
{
    auto all = live();
    if (all.ok())
        std::erase_if(all.value(), [](const Expired& one) { return one.overdueSeconds <= 0; });
    return all;
}

Result<std::vector<SupervisorLedger::Expired>> SupervisorLedger::live()
{
    auto found = liveIncarnations(state_->file);
    FURROW_TRY(state_->file.db.takeStatus());
    return found;
}

Result<std::vector<SupervisorLedger::Expired>> SupervisorLedger::awaitedAtMerge()
{
    Database& db = state_->file.db;
    std::set<std::int64_t> awaited;
    {
        Rows rows = db.query(
            "SELECT i.id FROM merge_round r JOIN incarnation i ON i.live=1 WHERE r.result IS NULL AND EXISTS (SELECT 1 FROM contribution c WHERE c.round=r.round)"
            " AND (r.taken_by=i.id OR NOT EXISTS (SELECT 1 FROM contribution c WHERE c.round=r.round AND c.incarnation=i.id))");
        while (rows.next())
            awaited.insert(rows.integer(0));
    }
    auto found = live();
    if (found.ok())
        std::erase_if(found.value(), [&](const Expired& one) { return !awaited.contains(one.incarnation.value); });
    return found;
}

Result<SupervisorLedger::Advance> SupervisorLedger::advance()
{
    LedgerFile& file = state_->file;
    Database& db = file.db;
    Advance result;
    EpochTurn turn;
    {
        FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(db));
        turn = turnEpochs(file);
        const EpochNeeds& needs = turn.needs;
        result.epochClosed = turn.closed;
        result.epochOpened = turn.opened;
        result.stop = turn.stop;
        FeederVerdict feeder = loadFeederVerdict(db);
        const bool nothingMoves
            = needs.openEpochs > 0 && needs.pending + needs.free + needs.leased + needs.trained == 0;
        const bool unreadable = needs.unproven ? !feeder.planningEnded.empty() : needs.poisoned > 0;
        result.onlyUnreadableLeft = nothingMoves && unreadable && needs.fullyOpened && !result.epochOpened;
        result.planningEnded = needs.unproven ? std::move(feeder.planningEnded) : Message();
        result.gaveUp = std::move(feeder.gaveUp);
        if (Status status = transaction.commit(); !status.ok())
            return status.error().in(sentence("advancing the epoch"));
    }
    if (!turn.needs.fullyOpened)
        FURROW_TRY(openAllChunks(file, turn.needs.newest));
    return result;
}

namespace {

/// What the event of a changed wish says; "": the wish for a run that begins is none of a person.
Message wishInWords(DesiredState before, DesiredState now)
{
    switch (now) {
    case DesiredState::Pause: return sentence("a person asked for a pause");
    case DesiredState::Stop: return sentence("a person asked for a stop");
    case DesiredState::Kill: return sentence("a person asked to kill the run");
    case DesiredState::Run: return before == DesiredState::Pause ? sentence("the pause is over") : Message();
    }
    return {};
}

/// Of a past moment nobody could tell else whether the run was paused, nor when a person ended it.
void writeWishEvent(LedgerFile& file, DesiredState before, DesiredState now)
{
    const Message what = wishInWords(before, now);
    if (before == now || what.empty())
        return;
    file.db.run("INSERT INTO event (wall, chunk, from_state, to_state, incarnation, cause) VALUES (?, 0, ?, ?, 0, ?)",
        file.clock->wallNs(), before, now, what);
}

} // namespace

Status SupervisorLedger::setDesired(DesiredState desired)
{
    Database& db = state_->file.db;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(db));
    const DesiredState before = wishOf(db);
    if (desired < before && before >= DesiredState::Stop)
        return endsAlready(before);
    db.run("UPDATE control SET desired=?", desired);
    writeWishEvent(state_->file, before, desired);
    return transaction.commit();
}

Status SupervisorLedger::forgetDesired()
{
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(state_->file.db));
    state_->file.db.run("UPDATE control SET desired=?", DesiredState::Run);
    return transaction.commit();
}

Status SupervisorLedger::requestSave()
{
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(state_->file.db));
    state_->file.db.run("UPDATE control SET save_request=save_request+1");
    return transaction.commit();
}

Status SupervisorLedger::requestEvaluation()
{
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(state_->file.db));
    state_->file.db.run("UPDATE control SET eval_request=eval_request+1");
    return transaction.commit();
}

Status SupervisorLedger::exclude(std::span<const ChunkId> chunks, const Message& cause)
{
    if (cause.text().size() > kMostCauseBytes)
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "The cause is %1 bytes long, allowed are %2: it is kept with each chunk and shown for it in every epoch.",
                { Count(static_cast<std::int64_t>(cause.text().size())),
                    Count(static_cast<std::int64_t>(kMostCauseBytes)) }) };
    LedgerFile& file = state_->file;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(file.db));
    ChunkMoves moves(file, 0);
    for (const ChunkId id : chunks) {
        ChunkRow chunk = loadChunk(file.db, id);
        if (chunk.state == ChunkState::Leased || chunk.state == ChunkState::Trained)
            file.db.fail({ ErrorCode::Busy,
                sentence("%1 is being trained; it can be left out when the run is stopped", { toString(id) }) });
        if (chunk.state == ChunkState::Excluded)
            file.db.fail({ ErrorCode::InvalidArgument, sentence("%1 is left out already", { toString(id) }) });
        moves.move(chunk, ChunkState::Excluded, cause);
    }
    moves.finish();
    return transaction.commit();
}

namespace {

/// The chunk, when it is poisoned.
ChunkRow loadPoisoned(Database& db, ChunkId id)
{
    ChunkRow chunk = loadChunk(db, id);
    if (!db.failed() && chunk.state != ChunkState::Poisoned)
        db.fail(
            { ErrorCode::InvalidArgument, sentence("%1 is %2, not poisoned", { toString(id), termOf(chunk.state) }) });
    return chunk;
}

} // namespace

Status SupervisorLedger::acceptPoisoned(std::span<const ChunkId> chunks)
{
    LedgerFile& file = state_->file;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(file.db));
    ChunkMoves moves(file, 0);
    for (const ChunkId id : chunks) {
        ChunkRow chunk = loadPoisoned(file.db, id);
        moves.move(chunk, ChunkState::Accepted, sentence("accepted as not trained"));
    }
    moves.finish();
    return transaction.commit();
}

Status SupervisorLedger::retryPoisoned(std::span<const ChunkId> chunks)
{
    LedgerFile& file = state_->file;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(file.db));
    ChunkMoves moves(file, 0);
    for (const ChunkId id : chunks) {
        ChunkRow chunk = loadPoisoned(file.db, id);
        file.db.run(
            "UPDATE block SET problem='' WHERE block=?", chunk.place.block); // its source may have been restored
        chunk.failures = 0;
        moves.move(chunk, chunk.windows ? moves.unclaimedState(chunk) : ChunkState::Pending, sentence("another try"));
    }
    moves.finish();
    return transaction.commit();
}

Result<bool> SupervisorLedger::checkpointWal() { return state_->file.db.checkpoint(Database::WalFile::Reuse); }

Result<bool> SupervisorLedger::emptyWal() { return state_->file.db.checkpoint(Database::WalFile::Empty); }

Status SupervisorLedger::publishSnapshot(const std::filesystem::path& target)
{
    const auto version = state_->file.db.integer("PRAGMA user_version");
    FURROW_TRY(state_->file.db.takeStatus());
    if (version != kTrackerVersion) // somebody marked a live tracker: whoever cannot read it has the last one that can
        return {};
    std::error_code error;
    FURROW_TRY_ASSIGN(const auto beside, entriesOf(target.has_parent_path() ? target.parent_path() : "."));
    for (const auto& file : beside) // of a supervisor that was killed; there is one at a time
        if (isUnfinished(file, target)
            && std::filesystem::is_regular_file(std::filesystem::symlink_status(file, error)))
            std::filesystem::remove(file, error);
    std::filesystem::path building = target;
    building += "." + randomHex(kMarkDigits) + kBuilding;
    if (Status status = state_->file.db.backupTo(building); !status.ok()) {
        for (const auto& file : databaseFiles(building))
            std::filesystem::remove(file, error);
        return status.error().in(sentence("publishing a snapshot of the tracker"));
    }
    std::filesystem::rename(building, target, error);
    if (error)
        return Error { ErrorCode::Io, sentence("%1 could not be replaced: %2", { utf8Text(target), error.message() }) };
    return {};
}

} // namespace furrow
