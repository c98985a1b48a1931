#pragma once

#include "core/tracker/audit/audit.h"
#include "core/tracker/feeder_ledger.h"
#include "core/tracker/ledger_reader.h"
#include "core/tracker/supervisor_ledger.h"
#include "core/tracker/worker_ledger.h"

#include <QTemporaryDir>
#include <QtTest>

/// QCOMPARE for types whose furrow::toString makes a std::string, which Qt would take for its own.
#define SAME(actual, expected) QVERIFY((actual) == (expected))

namespace furrow {

/// A clock that tests move by hand. Thread-safe enough for one test thread.
class HandClock : public Clock {
public:
    std::int64_t monotonicNs() const override { return nowNs; }
    std::int64_t wallNs() const override { return 1'700'000'000'000'000'000 + nowNs; }
    void advance(double seconds) { nowNs += static_cast<std::int64_t>(seconds * 1e9); }
    std::int64_t nowNs = 1'000'000'000;
};

/// A failing Result ends the test program with its sentence: the tests read straight on.
template <typename T> T good(Result<T> result, const char* what = "")
{
    if (!result.ok())
        qFatal("%s: %s", what, result.error().message.c_str());
    return std::move(result).value();
}
inline void good(const Status& status, const char* what = "")
{
    if (!status.ok())
        qFatal("%s: %s", what, status.error().message.c_str());
}

/// A tracker in a temporary folder.
struct Field {
    QTemporaryDir folder;
    std::filesystem::path tracker;
    HandClock clock;
    AttemptId attempt;

    static constexpr std::int64_t kRows = 40;
    static constexpr std::int64_t kTokens = 1000;
    static constexpr std::int32_t kWindows = 10;

    explicit Field(const StoppingRules& rules = {}, bool linear = true, std::uint64_t seed = 7,
        const std::string& startAt = {}, std::int64_t windowTokens = 0)
        : tracker(std::filesystem::path(folder.path().toStdString()) / "tracker.sqlite")
    {
        TrackerConfig config;
        config.runId = "run-1";
        config.seed = seed;
        config.linearOrder = linear;
        config.startAt = startAt;
        config.windowTokens = windowTokens;
        good(SupervisorLedger::create(tracker, config, rules), "create");
        attempt = good(supervisor().beginAttempt(thisProcess(), "{}"), "attempt");
    }

    /// For a test that makes another one in its place.
    void removeTracker() const
    {
        for (const char* ending : { "", "-wal", "-shm" })
            std::filesystem::remove(tracker.string() + ending);
    }

    SupervisorLedger supervisor() { return good(SupervisorLedger::open(tracker, clock), "supervisor"); }
    FeederLedger feeder() { return good(FeederLedger::open(tracker, clock), "feeder"); }
    LedgerReader reader() { return good(LedgerReader::open(tracker), "reader"); }

    WorkerLedger worker(int index, double leaseSeconds = 60, std::int64_t stepTokens = 0)
    {
        auto ledger = good(WorkerLedger::open(tracker, "run-1", clock), "worker");
        ids[index] = *good(ledger.start({ attempt, index, index, "cpu", "test", stepTokens }, leaseSeconds), "start");
        return ledger;
    }
    std::map<int, IncarnationId> ids;

    static NewBlock newBlock(std::int64_t block, int columns)
    {
        NewBlock known;
        known.block = block;
        known.firstRow = block * columns * kRows;
        known.chunkRows.assign(static_cast<std::size_t>(columns), kRows);
        known.plan = "{\"block\":" + std::to_string(block) + "}";
        return known;
    }
    static std::vector<PreparedChunk> prepared(std::int64_t block, int columns, std::int32_t windows = kWindows)
    {
        std::vector<PreparedChunk> chunks;
        for (int column = 0; column < columns; ++column) {
            PreparedChunk chunk;
            chunk.rows = { kRows, kRows - 5, 1, 1, 2, 1 };
            chunk.tokens = windows == 0 ? 0 : kTokens;
            chunk.windows = windows;
            chunk.digest = static_cast<std::uint64_t>(block * 1000 + column + 1) * 0x9e3779b97f4a7c15ULL;
            chunks.push_back(chunk);
        }
        return chunks;
    }
    void fill(int blocks, int columns, bool prove = true)
    {
        auto ledger = feeder();
        std::vector<NewBlock> known;
        for (int block = 0; block < blocks; ++block)
            known.push_back(newBlock(block, columns));
        good(ledger.addBlocks(known), "blocks"); // those known already are left as they are
        for (int block = 0; block < blocks; ++block)
            good(ledger.setPrepared(block, "file", "digest" + std::to_string(block), prepared(block, columns)),
                "prepared");
        if (prove)
            good(ledger.setLastBlockProven(blocks), "proven");
    }

    /// As the feeder does after a worker could not read the block.
    void prepareAgain(std::int64_t block, int columns)
    {
        good(feeder().setPrepared(block, "file", "digest" + std::to_string(block), prepared(block, columns)),
            "prepared again");
    }

    ChunkCounts counts(std::int64_t epoch = 0)
    {
        return good(reader().epochs(), "epochs").at(static_cast<std::size_t>(epoch)).chunks;
    }
};

inline std::optional<Claim> claimed(WorkerLedger& worker)
{
    auto answer = good(worker.claim(), "claim");
    auto* claim = std::get_if<Claim>(&answer);
    return claim == nullptr ? std::nullopt : std::optional(*claim);
}

inline std::optional<NothingToClaim> whyNot(WorkerLedger& worker)
{
    auto answer = good(worker.claim(), "claim");
    auto* why = std::get_if<NothingToClaim>(&answer);
    return why == nullptr ? std::nullopt : std::optional(*why);
}

/// The outcome of training everything that was claimed, in `steps` optimiser steps from `firstStep`.
inline ChunkOutcome trainedAll(const Claim& claim, std::int64_t firstStep = 1, std::int64_t steps = 5)
{
    ChunkOutcome outcome;
    outcome.done = claim.remaining;
    outcome.tokens = Field::kTokens;
    outcome.lossSum = 2.0 * Field::kTokens;
    outcome.firstStep = firstStep;
    outcome.lastStep = firstStep + steps - 1;
    return outcome;
}

inline ChunkOutcome trainedRange(std::int32_t begin, std::int32_t end, std::int64_t firstStep, std::int64_t steps)
{
    ChunkOutcome outcome;
    outcome.done = { { begin, end } };
    outcome.tokens = Field::kTokens * (end - begin) / Field::kWindows;
    outcome.lossSum = 1.5 * static_cast<double>(outcome.tokens);
    outcome.firstStep = firstStep;
    outcome.lastStep = firstStep + steps - 1;
    return outcome;
}

inline std::vector<Part> partsOf(const Claim& claim)
{
    std::vector<Part> parts;
    for (const WindowRange& range : claim.remaining)
        parts.push_back({ claim.chunk, range });
    return parts;
}

inline CheckpointRecord record(int replica, const std::string& folder)
{
    CheckpointRecord checkpoint;
    checkpoint.replica = replica;
    checkpoint.folder = folder;
    checkpoint.manifestSha256 = "sha";
    return checkpoint;
}

/// Claims one chunk, trains it and commits it.
inline CheckpointId trainOne(WorkerLedger& worker, int replica, const std::string& folder, std::int64_t steps = 5)
{
    const auto claim = claimed(worker);
    if (!claim)
        qFatal("nothing to claim");
    good(worker.begin(*claim), "begin");
    good(worker.finish(*claim, trainedAll(*claim, 1, steps)), "finish");
    const auto parts = partsOf(*claim);
    return good(worker.commit(record(replica, folder), parts), "commit");
}

inline CheckpointId newestHead(Field& field, int replica)
{
    for (const auto& row : good(field.reader().replicas())) {
        if (row.replica == replica)
            return row.head.value_or(CheckpointId {});
    }
    return {};
}

/// The audit finds nothing wrong.
inline void verifyClean(Field& field)
{
    const AuditReport report = good(audit(field.tracker), "audit");
    QVERIFY2(report.isClean(), auditText(report).c_str());
}

} // namespace furrow
