// The ledger under several processes, one of which is killed, without any framework: on Linux and (cross-built, under
// wine) on Windows. tracker_checks [FOLDER]; as a worker: tracker_checks --worker TRACKER INDEX ATTEMPT
#include "core/base/file_system.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/base/process.h"
#include "core/base/random.h"
#include "core/tracker/audit/audit.h"
#include "core/tracker/feeder_ledger.h"
#include "core/tracker/ledger_reader.h"
#include "core/tracker/supervisor_ledger.h"
#include "core/tracker/worker_ledger.h"

#include <cstdio>
#include <cstdlib>
#include <thread>

using namespace furrow;
using namespace std::chrono_literals;
using std::filesystem::path;

namespace {

constexpr int kBlocks = 6;
constexpr int kColumns = 50;
constexpr int kCommitEvery = 5; // chunks
constexpr std::int64_t kRows = 40;
constexpr std::int32_t kWindows = 10;

int checkNumber = 0;
int failures = 0;

void check(bool holds, const std::string& claim, const std::string& detail = {})
{
    std::printf("%2d %s %s%s%s\n", ++checkNumber, holds ? "ok    " : "FAILED", claim.c_str(),
        detail.empty() ? "" : ": ", detail.c_str());
    std::fflush(stdout);
    failures += holds ? 0 : 1;
}

template <typename T> void checkOk(const Result<T>& result, const std::string& claim)
{
    check(result.ok(), claim, result.ok() ? "" : result.error().message);
}

/// What cannot fail in a worker: its parent reads the exit code.
template <typename T> T must(Result<T> result)
{
    if (!result.ok()) {
        logError(result.error().message);
        std::exit(1);
    }
    if constexpr (!std::is_void_v<T>)
        return std::move(result).value();
}

void commit(WorkerLedger& ledger, int index, std::vector<Part>& parts)
{
    if (parts.empty())
        return;
    CheckpointRecord checkpoint;
    checkpoint.replica = index;
    checkpoint.folder = randomHex(16);
    checkpoint.manifestSha256 = "none: no weights are trained here";
    must(ledger.commit(checkpoint, parts));
    parts.clear();
}

/// Claims and commits until nothing is left, as fast as the tracker can.
int work(const path& tracker, int index, std::int64_t attempt)
{
    WorkerLedger ledger = must(WorkerLedger::open(tracker, "checks"));
    must(ledger.start({ AttemptId { attempt }, index, index, "cpu", "checks" }, 60));
    std::vector<Part> parts;
    int uncommitted = 0;
    for (;;) {
        auto answer = must(ledger.claim());
        const auto* claim = std::get_if<Claim>(&answer);
        if (!claim) {
            commit(ledger, index, parts);
            if (std::get<NothingToClaim>(answer) != NothingToClaim::WaitForOthers)
                break;
            std::this_thread::sleep_for(5ms);
            continue;
        }
        must(ledger.begin(*claim));
        ChunkOutcome outcome;
        outcome.done = claim->remaining;
        outcome.tokens = 1000;
        outcome.lossSum = 2000;
        outcome.firstStep = 1;
        outcome.lastStep = 5;
        must(ledger.finish(*claim, outcome));
        for (const WindowRange& range : claim->remaining)
            parts.push_back({ claim->chunk, range });
        if (++uncommitted % kCommitEvery == 0)
            commit(ledger, index, parts);
    }
    must(ledger.end("done"));
    return 0;
}

std::vector<PreparedChunk> preparedChunks(std::int64_t block)
{
    std::vector<PreparedChunk> chunks(kColumns);
    for (int column = 0; column < kColumns; ++column) {
        PreparedChunk& chunk = chunks[static_cast<std::size_t>(column)];
        chunk.rows.rows = kRows;
        chunk.rows.samples = kRows;
        chunk.tokens = 1000;
        chunk.windows = kWindows;
        chunk.digest = mixSeed({ static_cast<std::uint64_t>(block), static_cast<std::uint64_t>(column) });
    }
    return chunks;
}

void fill(const path& tracker)
{
    auto feeder = FeederLedger::open(tracker);
    checkOk(feeder, "a feeder opens the tracker");
    if (!feeder.ok())
        return;
    std::vector<NewBlock> blocks(kBlocks);
    for (int block = 0; block < kBlocks; ++block) {
        NewBlock& known = blocks[static_cast<std::size_t>(block)];
        known.block = block;
        known.firstRow = block * kColumns * kRows;
        known.chunkRows.assign(kColumns, kRows);
        known.plan = "{}";
    }
    checkOk(feeder.value().addBlocks(blocks), "blocks become known");
    Status prepared;
    for (int block = 0; block < kBlocks && prepared.ok(); ++block)
        prepared = feeder.value().setPrepared(block, "file", "digest" + std::to_string(block), preparedChunks(block));
    checkOk(prepared, "and are prepared");
    checkOk(feeder.value().setLastBlockProven(kBlocks), "the last block is proven");
}

Result<ChildProcess> startWorker(const path& tracker, int index, AttemptId attempt)
{
    return ChildProcess::start(executablePath(),
        { { "--worker", utf8Text(tracker), std::to_string(index), std::to_string(attempt.value) }, {}, {}, {} });
}

std::int64_t committed(const path& tracker)
{
    auto reader = LedgerReader::open(tracker);
    if (!reader.ok())
        return -1;
    const auto epochs = reader.value().epochs();
    return epochs.ok() && !epochs.value().empty() ? epochs.value()[0].chunks[ChunkState::Committed] : -1;
}

/// Three workers; one is killed once the ledger has some of its commits, and replaced.
void checkWorkers(const path& tracker, SupervisorLedger& supervisor, AttemptId attempt)
{
    std::vector<ChildProcess> workers;
    for (int index = 0; index < 3; ++index) {
        auto worker = startWorker(tracker, index, attempt);
        if (worker.ok())
            workers.push_back(std::move(worker.value()));
    }
    check(workers.size() == 3, "three workers start");
    if (workers.size() != 3)
        return;
    for (int round = 0; round < 3000 && committed(tracker) < 20; ++round)
        std::this_thread::sleep_for(2ms);
    // Whoever works already: on a busy machine one of the three may not have begun.
    const auto live = supervisor.live();
    check(live.ok() && !live.value().empty(), "the ledger knows who works");
    if (!live.ok() || live.value().empty())
        return;
    const SupervisorLedger::Expired victim = live.value().front();
    const auto index = static_cast<std::size_t>(victim.worker);
    check(workers.at(index).identity() == victim.process, "by an identity that we know too");
    workers.at(index).killTree();
    const auto exit = workers.at(index).wait(10s);
    check(exit.has_value() && !isAlive(victim.process), "one of them is killed in the middle",
        exit ? exit->describe() : "it lives");
    checkOk(supervisor.revoke(victim.incarnation, "killed by the check"), "its claims are revoked");
    auto replacement = startWorker(tracker, victim.worker, attempt);
    checkOk(replacement, "another one takes its place");
    if (replacement.ok())
        workers.at(index) = std::move(replacement.value());
    bool allDone = true;
    for (ChildProcess& worker : workers) {
        const auto end = worker.wait(120s);
        allDone = allDone && end && end->exitCode == 0 && end->signal == 0;
    }
    check(allDone, "all end in order");
}

void checkTracker(const path& folder)
{
    const path tracker = folder / "tracker.sqlite";
    TrackerConfig config;
    config.runId = "checks";
    config.seed = 7;
    checkOk(SupervisorLedger::create(tracker, config, {}), "makes a tracker");
    check(!SupervisorLedger::create(tracker, config, {}).ok(), "but not over another one");
    auto supervisor = SupervisorLedger::open(tracker);
    checkOk(supervisor, "opens it");
    if (!supervisor.ok())
        return;
    const auto attempt = supervisor.value().beginAttempt(thisProcess(), "{}");
    checkOk(attempt, "begins an attempt");
    if (!attempt.ok())
        return;
    fill(tracker);
    const auto begin = std::chrono::steady_clock::now();
    checkWorkers(tracker, supervisor.value(), attempt.value());
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    check(committed(tracker) == kBlocks * kColumns, "every chunk is committed",
        std::to_string(committed(tracker)) + " in " + std::to_string(seconds) + " s");
    const auto report = audit(tracker);
    check(report.ok() && report.value().isClean() && report.value().integrityOk,
        "the audit finds nothing twice or missing", report.ok() ? "" : report.error().message);
    if (report.ok() && !report.value().isClean())
        std::printf("%s\n", auditText(report.value()).c_str());
    check(!WorkerLedger::open(tracker, "another run").ok(), "a worker of another run is refused");
}

} // namespace

int main(int argc, char** argv)
{
    const auto words = commandLineArguments(argc, argv);
    if (words.size() == 4 && words[0] == "--worker")
        return work(pathFromUtf8(words[1]), std::atoi(words[2].c_str()), std::atoll(words[3].c_str()));
    const path base = words.empty() ? std::filesystem::temp_directory_path() : pathFromUtf8(words[0]);
    const path folder = base / pathFromUtf8("furrow-tracker \xD0\xBF\xD0\xBE\xD0\xBB\xD0\xB5-" + randomHex(8));
    checkOk(realFileSystem().createFolders(folder), "makes a folder to work in");
    checkTracker(folder);
    checkOk(realFileSystem().removeAll(folder), "removes it all");
    std::printf("%d of %d checks passed\n", checkNumber - failures, checkNumber);
    return failures == 0 ? 0 : 1;
}
