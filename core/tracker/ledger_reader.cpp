// The run as a whole: its attempts and processes, epochs, events, lineage, blocks and totals. ledger_reader_chunks.cpp
// has the chunks.

#include "core/tracker/ledger_reader.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/config/message_json.h"
#include "core/tracker/epochs.h"
#include "core/tracker/incarnations.h"
#include "core/tracker/kept_messages.h"
#include "core/tracker/ledger_reader_state.h"
#include "core/tracker/lineage.h"
#include "core/tracker/lineage_rows.h"
#include "core/tracker/row_bounds.h"
#include "core/tracker/schema.h"
#include "core/tracker/sqlite/select.h"

#include <charconv>
#include <limits>
#include <set>

namespace furrow {

namespace {

ProcessIdentity identityAt(const Rows& row, int pid, int startTime, int bootId)
{
    return { row.integer(pid), row.integer(startTime), row.text(bootId) };
}

constexpr Bounds kFromBounds { "state", -1, kChunkStateCount - 1 }; // -1: the chunk became known

ChunkCounts countsAt(Database& db, const Rows& row, int column)
{
    ChunkCounts counts;
    for (int state = 0; state < kChunkStateCount; ++state)
        counts.byState[state] = boundedAt(db, row, column + state, kAmountBounds);
    return counts;
}

RowCounts rowCountsAt(Database& db, const Rows& row, int column)
{
    const auto total = [&](int place) { return boundedAt(db, row, column + place, kTotalBounds); };
    return { total(0), total(1), total(2), total(3), total(4), total(5) };
}

} // namespace

LedgerReader::LedgerReader(std::unique_ptr<State> state)
    : state_(std::move(state))
{
}
LedgerReader::LedgerReader(LedgerReader&&) noexcept = default;
LedgerReader::~LedgerReader() = default;

Result<LedgerReader> LedgerReader::open(
    const std::filesystem::path& tracker, const std::filesystem::path& shownAs, ReadFor readFor)
{
    FURROW_TRY_ASSIGN(auto db, openForReading(tracker, shownAs, readFor));
    const bool inherits = keepsInherited(db);
    return LedgerReader(std::make_unique<State>(State { std::move(db), inherits, {} }));
}

void LedgerReader::standIn(Error why) { state_->standsInBecause = std::move(why); }

const Error& LedgerReader::standsInBecause() const { return state_->standsInBecause; }

const std::filesystem::path& LedgerReader::file() const { return state_->db.path(); }

struct LedgerReader::Moment::State {
    Transaction view;
};

LedgerReader::Moment::Moment(std::unique_ptr<State> state)
    : state_(std::move(state))
{
}
LedgerReader::Moment::Moment(Moment&&) noexcept = default;
LedgerReader::Moment::~Moment() = default;

void LedgerReader::Moment::end() { state_.reset(); }

Result<LedgerReader::Moment> LedgerReader::moment()
{
    FURROW_TRY_ASSIGN(auto view, Transaction::read(state_->db));
    return Moment(std::make_unique<Moment::State>(Moment::State { std::move(view) }));
}

bool LedgerReader::isOfOneMoment() const { return state_->db.isImmutable(); }

namespace {

Result<std::string> metaText(Database& db, const char* key)
{
    std::string value;
    {
        Rows row = db.query("SELECT value FROM meta WHERE key=?", key);
        if (row.next())
            value = row.text(0);
    }
    return answer(db, value);
}

/// A text for people.
Result<Message> metaMessage(Database& db, const char* key)
{
    Message what;
    {
        Rows row = db.query("SELECT value FROM meta WHERE key=?", key);
        if (row.next())
            what = messageAt(db, row, 0);
    }
    return answer(db, std::move(what));
}

} // namespace

Status LedgerReader::checkIsLive(const std::filesystem::path& tracker)
{
    auto db = openForReading(tracker);
    if (!db.ok())
        return {}; // who needs it says so
    std::string mode;
    {
        Rows row = db.value().query("PRAGMA journal_mode");
        if (row.next())
            mode = row.text(0);
    }
    FURROW_TRY(db.value().takeStatus());
    if (mode == "wal" || db.value().isImmutable()) // of a file that was opened without its WAL nobody can say
        return {};
    return Error { ErrorCode::Corrupt,
        sentence(Database::kNotLive, { utf8Text(tracker), utf8Text(tracker.parent_path()) }) };
}

Result<std::string> LedgerReader::runId() { return metaText(state_->db, "run_id"); }

Result<std::string> LedgerReader::frozen() { return metaText(state_->db, "frozen"); }

Result<std::int64_t> LedgerReader::participations()
{
    constexpr std::int64_t kMost = std::int64_t { 1 } << 40;
    FURROW_TRY_ASSIGN(const std::string kept, metaText(state_->db, kParticipations));
    std::int64_t count = 0;
    const auto read = std::from_chars(kept.data(), kept.data() + kept.size(), count);
    return read.ec == std::errc() && count >= 0 && count <= kMost ? count : 0;
}

Result<bool> LedgerReader::isMadeAnew()
{
    FURROW_TRY_ASSIGN(const std::string when, metaText(state_->db, kMadeAnew));
    return !when.empty();
}

Result<Message> LedgerReader::goesOnWithout() { return metaMessage(state_->db, kGoesOnWithout); }

Result<Message> LedgerReader::notRemoved() { return metaMessage(state_->db, kNotRemoved); }

Result<std::vector<Message>> LedgerReader::notSaved()
{
    std::vector<Message> what;
    {
        Rows rows = state_->db.query(
            "SELECT meta.value FROM incarnation JOIN meta ON meta.key=?||incarnation.id WHERE incarnation.live=1 ORDER BY incarnation.worker",
            kNotSaved);
        while (rows.next())
            what.push_back(messageAt(state_->db, rows, 0));
    }
    return answer(state_->db, std::move(what));
}

Result<std::map<std::string, std::string>> LedgerReader::orderFacts()
{
    std::map<std::string, std::string> facts;
    {
        Rows rows = state_->db.query(
            "SELECT key, value FROM meta WHERE key IN ('seed', 'shuffle_window_blocks', 'linear_order', 'start_at', 'window_tokens')");
        while (rows.next())
            facts[rows.text(0)] = rows.text(1);
    }
    return answer(state_->db, std::move(facts));
}

Result<std::vector<AttemptRow>> LedgerReader::attempts()
{
    static constexpr Select kAttempts {
        "SELECT a.id, a.pid, a.start_time, a.boot_id, a.started_wall, a.ended_wall, a.reason, a.detail, a.overrides,"
        " CASE WHEN a.ended_wall IS NULL THEN coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key='seen-' || a.id),"
        " (SELECT heartbeat_wall FROM process p WHERE p.role='supervisor' AND p.pid=a.pid AND p.start_time=a.start_time"
        " AND p.boot_id=a.boot_id), 0) ELSE 0 END AS seen_wall FROM attempt a ORDER BY a.id"
    };
    Database& db = state_->db;
    std::vector<AttemptRow> attempts;
    {
        Rows rows = db.query(kAttempts.sql);
        while (rows.next())
            attempts.push_back({ { rows.integer(kAttempts["id"]) },
                identityAt(rows, kAttempts["pid"], kAttempts["start_time"], kAttempts["boot_id"]),
                rows.integer(kAttempts["started_wall"]), rows.optionalInteger(kAttempts["ended_wall"]),
                rows.integer(kAttempts["seen_wall"]), static_cast<StopReason>(rows.integer(kAttempts["reason"])),
                messageAt(db, rows, kAttempts["detail"]), rows.text(kAttempts["overrides"]) });
    }
    return answer(db, std::move(attempts));
}

Result<std::vector<ActiveStretch>> LedgerReader::activeStretches()
{
    std::vector<ActiveStretch> stretches;
    {
        Rows rows = state_->db.query(keepsActiveStretches(state_->db)
                ? "SELECT began_wall, ended_wall, active_ns FROM active_stretch ORDER BY id"
                : kActiveByAttempts);
        while (rows.next())
            stretches.push_back({ rows.integer(0), rows.integer(1), rows.integer(2) });
    }
    return answer(state_->db, std::move(stretches));
}

Result<std::map<AttemptId, LedgerReader::Work>> LedgerReader::workOfAttempts()
{
    std::map<AttemptId, Work> work;
    {
        Rows rows = state_->db.query(
            "SELECT i.attempt, sum(c.steps), sum(c.tokens) FROM claim c JOIN incarnation i ON i.id=c.incarnation"
            " WHERE c.ended_wall<>0 AND c.steps>0 GROUP BY i.attempt");
        while (rows.next())
            work[{ rows.integer(0) }] = { rows.integer(1), rows.integer(2) };
    }
    return answer(state_->db, std::move(work));
}

Result<std::vector<IncarnationRow>> LedgerReader::incarnations()
{
    static constexpr Select kProcesses {
        "SELECT id, attempt, worker, replica, pid, start_time, boot_id, device, device_name, live, end_cause, started_wall,"
        " ended_wall, lease_until, progress, phase, chunk, chunk_fraction, step, tokens, loss, tokens_per_second"
        " FROM incarnation ORDER BY id"
    };
    Database& db = state_->db;
    std::vector<IncarnationRow> found;
    {
        Rows rows = db.query(kProcesses.sql);
        while (rows.next()) {
            IncarnationRow row;
            row.id = { rows.integer(kProcesses["id"]) };
            row.attempt = { rows.integer(kProcesses["attempt"]) };
            row.worker = static_cast<std::int32_t>(boundedAt(db, rows, kProcesses["worker"], kWorkerBounds));
            row.replica = static_cast<std::int32_t>(boundedAt(db, rows, kProcesses["replica"], kWorkerBounds));
            row.process = identityAt(rows, kProcesses["pid"], kProcesses["start_time"], kProcesses["boot_id"]);
            row.device = lineAt(rows, kProcesses["device"]);
            row.deviceName = lineAt(rows, kProcesses["device_name"]);
            row.live = rows.integer(kProcesses["live"]) != 0;
            row.endCause = messageAt(db, rows, kProcesses["end_cause"]);
            row.startedWallNs = rows.integer(kProcesses["started_wall"]);
            row.endedWallNs = rows.integer(kProcesses["ended_wall"]);
            row.leaseUntilNs = rows.integer(kProcesses["lease_until"]);
            row.progressNs = rows.integer(kProcesses["progress"]);
            row.phase = closedValue<WorkerPhase>(lineAt(rows, kProcesses["phase"])).value_or(WorkerPhase::None);
            row.chunk = chunkIdOrNoneAt(db, rows, kProcesses["chunk"]);
            row.chunkFraction = rows.real(kProcesses["chunk_fraction"]);
            row.step = boundedAt(db, rows, kProcesses["step"], kTotalBounds);
            row.tokens = boundedAt(db, rows, kProcesses["tokens"], kTotalBounds);
            row.loss = rows.isNull(kProcesses["loss"]) ? std::numeric_limits<double>::quiet_NaN()
                                                       : rows.real(kProcesses["loss"]);
            row.tokensPerSecond = rows.real(kProcesses["tokens_per_second"]);
            found.push_back(std::move(row));
        }
    }
    return answer(db, std::move(found));
}

Result<std::vector<EpochRow>> LedgerReader::epochs()
{
    static constexpr Select kEpochs {
        "SELECT e.epoch, e.opened_wall, e.closed_wall, d.block_count, d.known_blocks, e.visited_blocks, e.completed_blocks,"
        " d.prepared_blocks, e.n0, e.n1, e.n2, e.n3, e.n4, e.n5, e.n6, e.n7, e.done_rows, e.done_samples, e.done_filtered,"
        " e.done_failed, e.done_held_out, e.done_duplicates, e.known_rows, e.known_samples, e.known_filtered,"
        " e.known_failed, e.known_held_out, e.known_duplicates, d.unproven_reason FROM epoch e, dataset d ORDER BY e.epoch"
    };
    Database& db = state_->db;
    std::vector<EpochRow> epochs;
    {
        Rows rows = db.query(kEpochs.sql);
        while (rows.next()) {
            EpochRow row;
            row.epoch = boundedAt(db, rows, kEpochs["epoch"], kEpochBounds);
            row.openedWallNs = rows.integer(kEpochs["opened_wall"]);
            row.closedWallNs = rows.optionalInteger(kEpochs["closed_wall"]);
            if (!rows.isNull(kEpochs["block_count"]))
                row.blockCount = boundedAt(db, rows, kEpochs["block_count"], kAmountBounds);
            row.knownBlocks = boundedAt(db, rows, kEpochs["known_blocks"], kAmountBounds);
            row.visitedBlocks = boundedAt(db, rows, kEpochs["visited_blocks"], kAmountBounds);
            row.completedBlocks = boundedAt(db, rows, kEpochs["completed_blocks"], kAmountBounds);
            row.preparedBlocks = boundedAt(db, rows, kEpochs["prepared_blocks"], kAmountBounds);
            row.chunks = countsAt(db, rows, kEpochs["n0"]);
            row.rowsCommitted = rowCountsAt(db, rows, kEpochs["done_rows"]);
            row.rowsKnown = rowCountsAt(db, rows, kEpochs["known_rows"]);
            row.unprovenReason = messageAt(db, rows, kEpochs["unproven_reason"]);
            epochs.push_back(std::move(row));
        }
    }
    return answer(state_->db, std::move(epochs));
}

Result<std::vector<EventRow>> LedgerReader::eventsSince(std::int64_t seq, int limit)
{
    static constexpr Select kEvents {
        "SELECT seq, wall, chunk, from_state, to_state, incarnation, cause, count FROM event WHERE seq>? ORDER BY seq LIMIT ?"
    };
    Database& db = state_->db;
    std::vector<EventRow> events;
    {
        KeptMessages causes(db);
        Rows rows = db.query(kEvents.sql, seq, limit);
        while (rows.next()) {
            const ChunkId chunk = chunkIdOrNoneAt(db, rows, kEvents["chunk"]);
            const auto from = static_cast<int>(boundedAt(db, rows, kEvents["from_state"], kFromBounds));
            const auto to = static_cast<int>(boundedAt(db, rows, kEvents["to_state"], kStateBounds));
            events.push_back({ rows.integer(kEvents["seq"]), rows.integer(kEvents["wall"]), chunk, from, to,
                rows.integer(kEvents["incarnation"]), causes.at(rows, kEvents["cause"]),
                eventCountAt(db, rows, kEvents["count"], chunk) });
        }
    }
    return answer(state_->db, std::move(events));
}

Result<std::vector<SupervisorLedger::CheckpointRow>> LedgerReader::checkpoints() { return readCheckpoints(state_->db); }

Result<std::vector<SupervisorLedger::ReplicaRow>> LedgerReader::replicas() { return readReplicas(state_->db); }

Result<Message> LedgerReader::newestPoisonedCause()
{
    Message cause;
    {
        Rows rows = state_->db.query("SELECT cause FROM event WHERE to_state=6 AND chunk<>0 ORDER BY seq DESC LIMIT 1");
        if (rows.next())
            cause = messageAt(state_->db, rows, 0);
    }
    return answer(state_->db, std::move(cause));
}

Result<std::int64_t> LedgerReader::newestEvent()
{
    return answer(state_->db, state_->db.integer("SELECT max(seq) FROM event").value_or(0));
}

Result<std::vector<Part>> LedgerReader::partsBehind(CheckpointId checkpoint)
{
    Database& db = state_->db;
    FURROW_TRY_ASSIGN(auto view, Transaction::read(db));
    std::vector<Part> parts;
    for (const std::int64_t id : loadLineage(db).ancestors(checkpoint.value)) {
        for (const PartRow& part : livingPartsOf(db, id))
            if (!part.skipped)
                parts.push_back({ part.chunk, part.windows, part.steps });
    }
    FURROW_TRY(view.commit());
    return parts;
}

Result<std::vector<Part>> LedgerReader::partsOf(CheckpointId checkpoint)
{
    std::vector<Part> parts;
    for (const PartRow& part : livingPartsOf(state_->db, checkpoint.value))
        parts.push_back({ part.chunk, part.windows, part.steps, part.skipped });
    return answer(state_->db, std::move(parts));
}

namespace {

/// What surviving checkpoints have of a chunk beside those that leave; covered is 0: nothing.
LedgerReader::Staying stayingOf(Database& db, const ChunkRow& chunk, const std::set<std::int64_t>& surviving)
{
    LedgerReader::Staying staying { chunk.id, 0, 0, static_cast<std::int32_t>(chunk.windows.value_or(0)),
        chunk.rows.samples, chunk.tokens };
    Rows rows = db.query(
        "SELECT p.first, p.past, p.checkpoint, p.skipped FROM claim c JOIN part p ON p.claim=c.id WHERE c.chunk=? AND p.alive=1",
        chunk.id);
    while (rows.next()) {
        if (!surviving.contains(rows.integer(2)))
            continue;
        const std::int32_t windows = windowsAt(db, rows, 0).size();
        staying.covered += windows;
        staying.skipped += rows.integer(3) != 0 ? windows : 0;
    }
    return staying;
}

} // namespace

Result<LedgerReader::Retreat> LedgerReader::retreat(std::optional<CheckpointId> newest,
    const std::vector<CheckpointId>& bad, const std::vector<CheckpointId>& thereAgain)
{
    Database& db = state_->db;
    FURROW_TRY_ASSIGN(auto view, Transaction::read(db));
    Lineage lineage = loadLineage(db);
    for (const CheckpointId one : bad)
        lineage.nodes[one.value].damaged = true;
    for (const CheckpointId one : thereAgain)
        lineage.nodes[one.value].removed = false;
    const std::set<std::int64_t> before = lineage.behindHeads();
    lineage.retreatFrom(newest ? lineage.badAfter(newest->value) : lineage.bad());
    const std::set<std::int64_t> after = lineage.behindHeads();
    Retreat found;
    for (const auto& [replica, head] : lineage.heads)
        if (head)
            found.heads.emplace(replica, CheckpointId { *head });
    for (const std::int64_t id : after)
        found.surviving.insert({ id });
    std::map<ChunkId, std::int64_t> leaving; // windows
    for (const std::int64_t id : before)
        if (!after.contains(id))
            for (const PartRow& part : livingPartsOf(db, id))
                leaving[part.chunk] += part.windows.size();
    for (const auto& [id, windows] : leaving) {
        const ChunkRow chunk = loadChunk(db, id);
        (chunk.state == ChunkState::Committed ? found.chunks : found.parts).push_back(id);
        if (chunk.covered > windows) // as a rule all of it leaves, and nobody looks for more
            found.staying.push_back(stayingOf(db, chunk, after));
    }
    FURROW_TRY(view.commit());
    return found;
}

namespace {

#define FURROW_BLOCKS "SELECT block, source, first_row, rows, chunks, plan, file_name, digest FROM block "
constexpr Select kBlocks { FURROW_BLOCKS };

LedgerReader::BlockRow blockAt(Database& db, const Rows& row)
{
    return { boundedAt(db, row, kBlocks["block"], kBlockBounds),
        static_cast<std::int32_t>(boundedAt(db, row, kBlocks["source"], kWindowBounds)),
        boundedAt(db, row, kBlocks["first_row"], kTotalBounds), boundedAt(db, row, kBlocks["rows"], kTotalBounds),
        boundedAt(db, row, kBlocks["chunks"], kAmountBounds), row.text(kBlocks["plan"]), row.text(kBlocks["file_name"]),
        row.text(kBlocks["digest"]) };
}

} // namespace

Result<std::vector<LedgerReader::BlockRow>> LedgerReader::blocksAfter(std::int64_t block, int limit, Blocks which)
{
    std::vector<BlockRow> found;
    {
        Rows rows = state_->db.query(FURROW_BLOCKS "WHERE block>? AND (digest<>'' OR ?) ORDER BY block LIMIT ?", block,
            which == Blocks::Known, limit);
        while (rows.next())
            found.push_back(blockAt(state_->db, rows));
    }
    return answer(state_->db, std::move(found));
}

Result<std::vector<LedgerReader::ChunkContent>> LedgerReader::committedOf(std::int64_t block)
{
    static constexpr Select kContents {
        "SELECT id, rows, samples, filtered, failed, held_out, duplicates, windows, tokens, digest FROM chunk"
        " WHERE id>=? AND id<? AND state=? AND windows IS NOT NULL ORDER BY id"
    };
    Database& db = state_->db;
    std::vector<ChunkContent> found;
    Rows epochs = db.query("SELECT epoch FROM epoch ORDER BY epoch");
    while (epochs.next()) {
        const std::int64_t first = chunkIdOf({ boundedAt(db, epochs, 0, kEpochBounds), block, 0 }).value;
        Rows rows = db.query(kContents.sql, first, first + kMaxChunksPerBlock, ChunkState::Committed);
        while (rows.next())
            found.push_back({ chunkIdAt(db, rows, kContents["id"]), rowCountsAt(db, rows, kContents["rows"]),
                static_cast<std::int32_t>(boundedAt(db, rows, kContents["windows"], kWindowBounds)),
                boundedAt(db, rows, kContents["tokens"], kAmountBounds),
                static_cast<std::uint64_t>(rows.integer(kContents["digest"])) });
    }
    return answer(db, std::move(found));
}

Result<LedgerReader::BlockRow> LedgerReader::block(std::int64_t block)
{
    BlockRow found;
    {
        Rows row = state_->db.query(FURROW_BLOCKS "WHERE block=?", block);
        if (row.next())
            found = blockAt(state_->db, row);
        else
            state_->db.fail({ ErrorCode::NotFound, sentence("block %1 is not known", { std::to_string(block) }) });
    }
    if (!found.fileName.empty() && !isPlainName(found.fileName)) // it would lead out of the cache
        state_->db.fail({ ErrorCode::Corrupt,
            sentence(
                "the tracker names '%1' as the prepared file of block %2, which is not the name of a file; `furrowctl doctor %3 --repair` rebuilds what the checkpoints prove",
                { found.fileName, std::to_string(block), utf8Text(state_->db.path().parent_path()) }) });
    return answer(state_->db, std::move(found));
}

#undef FURROW_BLOCKS

namespace {

DataNotes dataNotes(Database& db)
{
    DataNotes notes;
    if (!keepsDataNotes(db))
        return notes;
    if (Rows sums = db.query("SELECT sum(repeats), sum(invalid_utf8) FROM block WHERE repeats>0 OR invalid_utf8>0");
        sums.next() && !sums.isNull(0)) {
        notes.repeats = boundedAt(db, sums, 0, kTotalBounds);
        notes.invalidUtf8 = boundedAt(db, sums, 1, kTotalBounds);
    }
    Rows first = db.query("SELECT unreadable FROM block WHERE unreadable<>'' ORDER BY block LIMIT 1");
    if (first.next())
        notes.firstUnreadable = messageAt(db, first, 0);
    return notes;
}

} // namespace

Result<LedgerReader::Totals> LedgerReader::totals()
{
    Database& db = state_->db;
    FURROW_TRY_ASSIGN(auto view, Transaction::read(db));
    Totals totals;
    const RunState run = loadRunState(db);
    totals.steps = bounded(db, run.steps, { "total of steps", kTotalBounds.least, kTotalBounds.most });
    totals.tokens = bounded(db, run.tokens, { "total of tokens", kTotalBounds.least, kTotalBounds.most });
    totals.activeSeconds = run.activeHours * 3600;
    totals.rules = run.rules;
    totals.trainedBlocks = run.rules.blocks > 0 ? trainedBlocks(db) : 0;
    totals.stop = run.stop;
    totals.desired = static_cast<DesiredState>(std::clamp<std::int64_t>(
        db.integer("SELECT desired FROM control").value_or(0), 0, static_cast<int>(DesiredState::Kill)));
    {
        static constexpr Select kRoles {
            "SELECT role, pid, start_time, boot_id, heartbeat, heartbeat_wall, doing FROM process"
        };
        Rows rows = db.query(kRoles.sql);
        const auto doing = [&] {
            Rows parts = db.query("SELECT value FROM meta WHERE key=?", kDoingParts + rows.text(kRoles["role"]));
            return messageOf(lineAt(rows, kRoles["doing"]), parts.next() ? parts.text(0) : std::string());
        };
        while (rows.next()) {
            if (rows.text(kRoles["role"]) == "supervisor") {
                totals.supervisor = identityAt(rows, kRoles["pid"], kRoles["start_time"], kRoles["boot_id"]);
                totals.supervisorHeartbeatNs = rows.integer(kRoles["heartbeat"]);
                totals.supervisorHeartbeatWallNs = rows.integer(kRoles["heartbeat_wall"]);
                totals.awaited = doing();
            } else if (rows.text(kRoles["role"]) == "feeder") {
                totals.feeder = identityAt(rows, kRoles["pid"], kRoles["start_time"], kRoles["boot_id"]);
                totals.feederDoing = doing();
            }
        }
    }
    totals.data = dataNotes(db);
    FURROW_TRY(view.commit());
    return totals;
}

} // namespace furrow
