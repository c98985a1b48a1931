// A tracker whose rows hold any number and any text: every reader answers or refuses with a sentence, and soon. The
// bytes are edits: which table, which column, which row, which value.

#include "core/base/check.h"
#include "core/tracker/audit/audit.h"
#include "core/tracker/sqlite/database.h"
#include "core/tracker/feeder_ledger.h"
#include "core/tracker/trained_behind.h"
#include "core/tracker/trained_chunks.h"
#include "core/tracker/worker_ledger.h"
#include "tests/fuzz/fuzz_seeds.h"
#include "tests/fuzz/scratch.h"

#include <array>
#include <cstring>

using namespace furrow;

namespace {

struct Column {
    const char* table;
    const char* name;
    const char* key; ///< of the row; "": the row of the table's only number
};
constexpr std::array kColumns {
    Column { "chunk", "id", "id" },
    Column { "chunk", "state", "id" },
    Column { "chunk", "epoch", "id" },
    Column { "chunk", "rows", "id" },
    Column { "chunk", "samples", "id" },
    Column { "chunk", "windows", "id" },
    Column { "chunk", "tokens", "id" },
    Column { "chunk", "covered", "id" },
    Column { "chunk", "holder", "id" },
    Column { "chunk", "claim", "id" },
    Column { "chunk", "worker", "id" },
    Column { "chunk", "times_trained", "id" },
    Column { "chunk", "trained_wall", "id" },
    Column { "chunk", "inherited", "id" },
    Column { "claim", "chunk", "id" },
    Column { "claim", "incarnation", "id" },
    Column { "claim", "outcome", "id" },
    Column { "claim", "tokens", "id" },
    Column { "claim", "samples", "id" },
    Column { "claim", "steps", "id" },
    Column { "claim", "ended_wall", "id" },
    Column { "claim", "ranges", "id" },
    Column { "claim", "done", "id" },
    Column { "claim", "sample_losses", "id" },
    Column { "part", "first", "claim" },
    Column { "part", "past", "claim" },
    Column { "part", "chunk", "claim" },
    Column { "part", "checkpoint", "claim" },
    Column { "part", "skipped", "claim" },
    Column { "part", "steps", "claim" },
    Column { "event", "chunk", "seq" },
    Column { "event", "count", "seq" },
    Column { "event", "from_state", "seq" },
    Column { "event", "to_state", "seq" },
    Column { "event", "wall", "seq" },
    Column { "event", "cause", "seq" },
    Column { "epoch", "epoch", "epoch" },
    Column { "epoch", "n4", "epoch" },
    Column { "epoch", "done_rows", "epoch" },
    Column { "epoch", "closed_wall", "epoch" },
    Column { "block", "block", "block" },
    Column { "block", "source", "block" },
    Column { "block", "chunks", "block" },
    Column { "block", "rows", "block" },
    Column { "block", "plan", "block" },
    Column { "block", "file_name", "block" },
    Column { "counts", "n1", "block" },
    Column { "counts", "epoch", "block" },
    Column { "checkpoint", "kind", "id" },
    Column { "checkpoint", "replica", "id" },
    Column { "checkpoint", "step", "id" },
    Column { "checkpoint", "tokens", "id" },
    Column { "checkpoint", "size_bytes", "id" },
    Column { "checkpoint", "surviving", "id" },
    Column { "checkpoint", "folder", "id" },
    Column { "checkpoint", "first_claim", "id" },
    Column { "parent", "parent", "checkpoint" },
    Column { "replica", "replica", "replica" },
    Column { "replica", "head", "replica" },
    Column { "incarnation", "worker", "id" },
    Column { "incarnation", "replica", "id" },
    Column { "incarnation", "chunk", "id" },
    Column { "incarnation", "step", "id" },
    Column { "incarnation", "first_held", "id" },
    Column { "attempt", "reason", "id" },
    Column { "attempt", "started_wall", "id" },
    Column { "dataset", "block_count", "one" },
    Column { "dataset", "known_blocks", "one" },
    Column { "control", "desired", "one" },
    Column { "control", "stop", "one" },
    Column { "control", "rule_steps", "one" },
    Column { "budget", "steps", "one" },
    Column { "budget", "active_ns", "one" },
    Column { "active_stretch", "began_wall", "id" },
    Column { "active_stretch", "ended_wall", "id" },
    Column { "active_stretch", "active_ns", "id" },
    Column { "meta", "value", "key" },
};
struct Edit {
    std::uint8_t column = 0;
    std::uint8_t row = 0;
    std::int64_t value = 0;
};
constexpr std::size_t kEditBytes = 10;

template <typename T> T must(Result<T> result)
{
    FURROW_CHECK(result.ok(), "the tracker that is edited could not be made");
    return std::move(result).value();
}
void must(const Status& status) { FURROW_CHECK(status.ok(), "the tracker that is edited could not be made"); }

void makeTracker(const std::filesystem::path& tracker)
{
    TrackerConfig config;
    config.runId = "r";
    must(SupervisorLedger::create(tracker, config, {}));
    auto supervisor = must(SupervisorLedger::open(tracker));
    const auto attempt = must(supervisor.beginAttempt(thisProcess(), "{}"));
    auto feeder = must(FeederLedger::open(tracker));
    for (std::int64_t block = 0; block < 2; ++block) {
        const NewBlock fresh { block, 0, block * 8, { 4, 4 }, "plan", {} };
        must(feeder.addBlocks({ &fresh, 1 }));
        const PreparedChunk chunk { { 4, 4, 0, 0, 0, 0 }, 100, 10, 7 };
        must(feeder.setPrepared(block, "file", "digest", std::vector { chunk, chunk }));
    }
    must(feeder.setLastBlockProven(2));
    auto worker = must(WorkerLedger::open(tracker, "r"));
    must(worker.start({ attempt, 0, 0, "cpu", "" }, 60));
    for (int i = 0; i < 3; ++i) {
        const auto claim = std::get<Claim>(must(worker.claim()));
        must(worker.begin(claim));
        ChunkOutcome outcome;
        outcome.done = claim.remaining;
        outcome.tokens = 100;
        outcome.firstStep = outcome.lastStep = i + 1;
        outcome.sampleLosses = { { 1, 2.5 } };
        must(worker.finish(claim, outcome));
        CheckpointRecord record;
        record.folder = "c" + std::to_string(i);
        const Part part { claim.chunk, claim.remaining.front() };
        if (i < 2)
            must(worker.commit(record, { &part, 1 }));
    }
    must(supervisor.advance());
    must(supervisor.emptyWal());
}

void apply(Database& db, const Edit& edit)
{
    const Column& column = kColumns[edit.column % kColumns.size()];
    const std::string value
        = edit.row >= 200 ? "'" + std::to_string(edit.value) + "-9 \xff'" : std::to_string(edit.value);
    // STRICT tables refuse a text where a number belongs, and the other way round: then nothing happens.
    const std::string script = std::string("UPDATE OR IGNORE ") + column.table + " SET " + column.name + "=" + value
        + " WHERE " + column.key + " IN (SELECT " + column.key + " FROM " + column.table + " ORDER BY 1 LIMIT 1 OFFSET "
        + std::to_string(edit.row % 8) + ")";
    db.script(script.c_str());
    (void)db.takeStatus();
}

void readEverything(const std::filesystem::path& tracker)
{
    if (auto report = audit(tracker); report.ok()) {
        (void)auditText(report.value());
        (void)auditJson(report.value());
        (void)auditHtml(report.value());
    }
    (void)trainedChunks(tracker);
    (void)trainedBehind(tracker, { 2 });
    (void)trainedEpochs(tracker, { 2 });
    auto opened = LedgerReader::open(tracker);
    if (!opened.ok())
        return;
    LedgerReader& reader = opened.value();
    (void)reader.attempts();
    (void)reader.workOfAttempts();
    (void)reader.incarnations();
    const auto epochs = reader.epochs();
    std::int64_t seq = 0;
    (void)reader.changedCells(0, seq);
    for (const EpochRow& epoch : epochs.ok() ? epochs.value() : std::vector<EpochRow> {})
        (void)reader.cells(epoch.epoch);
    const auto claims = reader.claimsSince(0, 100);
    for (const ClaimRow& claim : claims.ok() ? claims.value() : std::vector<ClaimRow> {}) {
        (void)reader.claimsOf(claim.chunk);
        (void)reader.sampleLosses(claim.chunk);
        (void)toString(claim.chunk);
    }
    (void)reader.eventsSince(0, 1000);
    (void)reader.replicas();
    const auto checkpoints = reader.checkpoints();
    for (const auto& row : checkpoints.ok() ? checkpoints.value() : std::vector<SupervisorLedger::CheckpointRow> {}) {
        (void)reader.partsBehind(row.id);
        (void)reader.partsOf(row.id);
        (void)reader.retreat(row.id, { row.id });
    }
    const auto blocks = reader.blocksAfter(-1, 100);
    for (const auto& block : blocks.ok() ? blocks.value() : std::vector<LedgerReader::BlockRow> {})
        (void)reader.committedOf(block.block);
    (void)reader.totals();
}

/// What supervisor, feeder and worker do with such a tracker.
void goOn(const std::filesystem::path& tracker)
{
    auto supervisor = SupervisorLedger::open(tracker);
    auto feeder = FeederLedger::open(tracker);
    auto worker = WorkerLedger::open(tracker, "r");
    if (!supervisor.ok() || !feeder.ok() || !worker.ok())
        return;
    (void)supervisor.value().live();
    (void)supervisor.value().advance();
    (void)feeder.value().demand();
    (void)feeder.value().wanted(10);
    (void)feeder.value().setEvicted(0, "gone");
    if (auto started = worker.value().start({ { 1 }, 1, 1, "cpu", "" }, 60); started.ok())
        (void)worker.value().claim();
    (void)supervisor.value().markDamaged({ 1 }, "damaged");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const ScratchFolder scratch("tracker");
    static const bool made = (makeTracker(scratch.path() / "base.sqlite"), true);
    (void)made;
    const auto tracker = scratch.path() / "tracker.sqlite";
    std::error_code ignored;
    for (const char* ending : { "", "-wal", "-shm" })
        std::filesystem::remove(tracker.string() + ending, ignored);
    std::filesystem::copy_file(scratch.path() / "base.sqlite", tracker);
    {
        auto db = must(Database::open(tracker, {}));
        db.script("PRAGMA foreign_keys=OFF; PRAGMA ignore_check_constraints=ON; PRAGMA synchronous=OFF; BEGIN");
        for (std::size_t at = 0; at + kEditBytes <= size && at < 32 * kEditBytes; at += kEditBytes) {
            Edit edit { data[at], data[at + 1], 0 };
            std::memcpy(&edit.value, data + at + 2, sizeof edit.value);
            apply(db, edit);
        }
        db.script("COMMIT");
    }
    readEverything(tracker);
    goOn(tracker);
    return 0;
}

std::vector<std::string> fuzzSeeds()
{
    std::vector<std::string> seeds;
    const std::int64_t values[]
        = { 0, 1, -1, 3, 77, 1'000'000'000'000, INT64_MAX, INT64_MIN, std::int64_t { 1 } << 36, 100'000'000'000'001 };
    for (std::size_t column = 0; column < kColumns.size(); ++column)
        for (const std::int64_t value : values) {
            std::string seed { static_cast<char>(column), static_cast<char>(value % 3 == 0 ? 201 : 0) };
            seed.append(reinterpret_cast<const char*>(&value), sizeof value);
            seeds.push_back(seed + (seeds.empty() ? std::string() : seeds[seeds.size() * 7 / 11]));
            seeds.back().resize(std::min(seeds.back().size(), 4 * kEditBytes));
        }
    return seeds;
}
