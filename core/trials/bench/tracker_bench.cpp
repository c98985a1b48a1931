#include "core/trials/bench/tracker_bench.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/process.h"
#include "core/base/scratch_folder.h"
#include "core/tracker/feeder_ledger.h"
#include "core/tracker/supervisor_ledger.h"
#include "core/tracker/worker_ledger.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <fstream>
#include <thread>

namespace furrow {

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::int64_t kChunksPerBlock = 25;
constexpr std::int64_t kCommitChunks = 10'000;
constexpr const char* kRunId = "bench";

double secondsSince(SteadyClock::time_point start)
{
    return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

// What one worker did: nanoseconds of each claim.
struct WorkerFigures {
    std::vector<std::int64_t> claimNs;
    double seconds = 0; // from its first claim to its last completion
    std::string error;
};

ChunkOutcome outcomeOf(const Claim& claim)
{
    ChunkOutcome outcome;
    outcome.done = claim.remaining;
    outcome.tokens = 1000;
    outcome.lossSum = 1000;
    outcome.firstStep = 1;
    outcome.lastStep = 10;
    return outcome;
}

Result<WorkerLedger> startedWorker(const std::filesystem::path& tracker, AttemptId attempt, int index, bool durable)
{
    FURROW_TRY_ASSIGN(auto worker, WorkerLedger::open(tracker, kRunId));
    if (durable)
        worker.makeEveryWriteDurable();
    FURROW_TRY(worker.start({ attempt, index, index, "cpu", "bench" }, 3600));
    return worker;
}

// Claims and finishes until nothing is free or the time is over; a completion and the next claim in one transaction, as
// in training.
WorkerFigures work(WorkerLedger& worker, double seconds)
{
    WorkerFigures figures;
    const auto start = SteadyClock::now();
    std::optional<Claim> held;
    while (true) {
        const bool goesOn = secondsSince(start) < seconds;
        const bool finishes = held.has_value();
        std::optional<Claim> next;
        const auto before = SteadyClock::now();
        const Status status = worker.together([&] {
            if (held)
                (void)worker.finish(*held, outcomeOf(*held)); // a failure is that of the whole
            if (!goesOn)
                return;
            auto answer = worker.claim();
            if (auto* claim = answer.ok() ? std::get_if<Claim>(&answer.value()) : nullptr)
                next = std::move(*claim);
        });
        if (!status.ok()) {
            figures.error = status.error().message;
            break;
        }
        if (finishes) {
            figures.claimNs.push_back(
                std::chrono::duration_cast<std::chrono::nanoseconds>(SteadyClock::now() - before).count());
            figures.seconds = secondsSince(start);
        }
        held = std::move(next);
        if (!held)
            break;
    }
    return figures;
}

Status fill(const std::filesystem::path& tracker, std::int64_t chunks)
{
    FURROW_TRY(SupervisorLedger::create(tracker, { kRunId, 7, 4, false }, {}));
    FURROW_TRY_ASSIGN(auto supervisor, SupervisorLedger::open(tracker));
    FURROW_TRY_ASSIGN(auto feeder, FeederLedger::open(tracker));
    const std::int64_t blocks = (chunks + kChunksPerBlock - 1) / kChunksPerBlock;
    PreparedChunk prepared;
    prepared.rows = { 4000, 4000, 0, 0, 0, 0 };
    prepared.tokens = 1'000'000;
    prepared.windows = 1000;
    for (std::int64_t block = 0; block < blocks; ++block) {
        NewBlock known;
        known.block = block;
        const auto columns = static_cast<std::size_t>(std::min(kChunksPerBlock, chunks - block * kChunksPerBlock));
        known.chunkRows.assign(columns, 4000);
        FURROW_TRY(feeder.addBlocks({ &known, 1 }));
        const std::vector<PreparedChunk> all(columns, prepared);
        FURROW_TRY(feeder.setPrepared(block, "block", "digest", all));
        if (block % 2000 == 1999) {
            FURROW_TRY(supervisor.checkpointWal());
        }
    }
    FURROW_TRY(feeder.setLastBlockProven(blocks));
    auto moved = supervisor.checkpointWal();
    return moved.ok() ? Status {} : Status(moved.error());
}

std::vector<WorkerFigures> runThreads(
    const std::filesystem::path& tracker, AttemptId attempt, const TrackerBenchOptions& options)
{
    std::vector<WorkerFigures> figures(static_cast<std::size_t>(options.workers));
    std::vector<std::jthread> threads;
    for (int index = 0; index < options.workers; ++index) {
        threads.emplace_back([&, index] {
            auto& mine = figures[static_cast<std::size_t>(index)];
            auto worker = startedWorker(tracker, attempt, index, options.durable);
            if (worker.ok())
                mine = work(worker.value(), options.seconds);
            else
                mine.error = worker.error().message;
        });
    }
    threads.clear();
    return figures;
}

std::filesystem::path figuresFile(const std::filesystem::path& tracker, int index)
{
    return tracker.parent_path() / ("worker-" + std::to_string(index) + ".txt");
}

WorkerFigures readFigures(const std::filesystem::path& path)
{
    WorkerFigures figures;
    std::ifstream file(path);
    if (!(file >> figures.seconds)) {
        figures.error = "a worker process left no figures";
        return figures;
    }
    for (std::int64_t ns = 0; file >> ns;)
        figures.claimNs.push_back(ns);
    return figures;
}

Result<std::vector<WorkerFigures>> runProcesses(
    const std::filesystem::path& tracker, AttemptId attempt, const TrackerBenchOptions& options)
{
    std::vector<ChildProcess> children;
    for (int index = 0; index < options.workers; ++index) {
        ProcessOptions process;
        process.arguments.assign(options.workerCommand.begin() + 1, options.workerCommand.end());
        for (const std::string& argument :
            { utf8Text(tracker), std::to_string(attempt.value), std::to_string(index), std::to_string(options.seconds),
                std::string(options.durable ? "full" : "normal"), utf8Text(figuresFile(tracker, index)) })
            process.arguments.push_back(argument);
        FURROW_TRY_ASSIGN(auto child, ChildProcess::start(pathFromUtf8(options.workerCommand.front()), process));
        children.push_back(std::move(child));
    }
    std::vector<WorkerFigures> figures;
    for (int index = 0; index < options.workers; ++index) {
        const auto exit = children[static_cast<std::size_t>(index)].wait(
            std::chrono::seconds(static_cast<int>(options.seconds) + 60));
        if (!exit || exit->exitCode != 0)
            return Error { ErrorCode::Internal,
                "a worker process of the benchmark failed: " + (exit ? exit->describe() : Message("it hangs")) };
        figures.push_back(readFigures(figuresFile(tracker, index)));
    }
    return figures;
}

double percentile(const std::vector<std::int64_t>& sortedNs, double share)
{
    if (sortedNs.empty())
        return 0;
    const auto index = static_cast<std::size_t>(share * static_cast<double>(sortedNs.size() - 1));
    return static_cast<double>(sortedNs[index]) / 1e6;
}

// One tracker from its making to its end; adds what it saw.
Status measureOnce(const TrackerBenchOptions& options, TrackerBenchResult& result, std::vector<std::int64_t>& claimNs)
{
    FURROW_TRY_ASSIGN(const auto folder, ScratchFolder::make(options.folder));
    const std::filesystem::path tracker = folder / "tracker.sqlite";
    auto start = SteadyClock::now();
    FURROW_TRY(fill(tracker, options.chunks));
    result.fillSeconds = secondsSince(start);
    std::error_code ignored;
    result.fileMiB = static_cast<double>(std::filesystem::file_size(tracker, ignored)) / (1 << 20);
    FURROW_TRY_ASSIGN(auto supervisor, SupervisorLedger::open(tracker));
    FURROW_TRY_ASSIGN(auto attempt, supervisor.beginAttempt(thisProcess(), ""));
    {
        start = SteadyClock::now();
        FURROW_TRY_ASSIGN(auto first, startedWorker(tracker, attempt, 1000, false));
        FURROW_TRY(first.claim());
        result.openToClaimMs = secondsSince(start) * 1000;
        FURROW_TRY(first.end("measured"));
    }
    std::jthread emptying([&](std::stop_token stop) { // the supervisor's part in a real run
        while (!stop.stop_requested()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            (void)supervisor.checkpointWal();
        }
    });
    std::vector<WorkerFigures> figures;
    if (options.workerCommand.empty()) {
        figures = runThreads(tracker, attempt, options);
    } else {
        FURROW_TRY_ASSIGN(figures, runProcesses(tracker, attempt, options));
    }
    emptying.request_stop();
    emptying.join();
    double seconds = 0;
    for (const WorkerFigures& one : figures) {
        if (!one.error.empty())
            return Error { ErrorCode::Internal, "a worker of the benchmark failed: " + one.error };
        claimNs.insert(claimNs.end(), one.claimNs.begin(), one.claimNs.end());
        result.pairs += static_cast<std::int64_t>(one.claimNs.size());
        seconds = std::max(seconds, one.seconds);
    }
    result.seconds += seconds;
    return {};
}

// The ledger's part of a checkpoint that holds many chunks.
Status measureCommit(const TrackerBenchOptions& options, TrackerBenchResult& result)
{
    FURROW_TRY_ASSIGN(const auto folder, ScratchFolder::make(options.folder));
    const std::filesystem::path tracker = folder / "tracker.sqlite";
    FURROW_TRY(fill(tracker, kCommitChunks));
    FURROW_TRY_ASSIGN(auto supervisor, SupervisorLedger::open(tracker));
    FURROW_TRY_ASSIGN(auto attempt, supervisor.beginAttempt(thisProcess(), ""));
    FURROW_TRY_ASSIGN(auto worker, startedWorker(tracker, attempt, 0, false));
    std::vector<Part> parts;
    while (true) {
        FURROW_TRY_ASSIGN(auto answer, worker.claim());
        const auto* claim = std::get_if<Claim>(&answer);
        if (claim == nullptr)
            break;
        FURROW_TRY(worker.finish(*claim, outcomeOf(*claim)));
        parts.push_back({ claim->chunk, claim->remaining.front() });
        if (parts.size() % 500 == 0) { // as the supervisor does all the time
            FURROW_TRY(supervisor.checkpointWal());
        }
    }
    FURROW_TRY(supervisor.checkpointWal());
    CheckpointRecord record;
    record.folder = "bench";
    const auto start = SteadyClock::now();
    auto committed = worker.commit(record, parts);
    result.commitMs = secondsSince(start) * 1000;
    result.commitChunks = static_cast<std::int64_t>(parts.size());
    return committed.ok() ? Status {} : Status { committed.error() };
}

} // namespace

Result<TrackerBenchResult> benchTracker(const TrackerBenchOptions& options)
{
    if (options.chunks < 1 || options.workers < 1 || options.workers > 64)
        return Error { ErrorCode::InvalidArgument, "the benchmark needs at least one chunk and 1 to 64 workers" };
    TrackerBenchResult result;
    result.chunks = options.chunks;
    result.workers = options.workers;
    result.durable = options.durable;
    std::vector<std::int64_t> claimNs;
    do { // few chunks are claimed in an instant: again with a new tracker
        FURROW_TRY(measureOnce(options, result, claimNs));
    } while (result.seconds < options.seconds * 0.9);
    FURROW_TRY(measureCommit(options, result));
    FURROW_TRY_ASSIGN(auto sync, measureSyncMs(options.folder, 100));
    result.syncMs = sync;
    result.pairsPerSecond = static_cast<double>(result.pairs) / std::max(result.seconds, 1e-9);
    result.pairsPerSync = result.pairsPerSecond * result.syncMs / 1000;
    std::sort(claimNs.begin(), claimNs.end());
    result.claimMsP50 = percentile(claimNs, 0.5);
    result.claimMsP99 = percentile(claimNs, 0.99);
    result.claimMsMax = percentile(claimNs, 1);
    return result;
}

int runTrackerBenchWorker(const std::vector<std::string>& arguments)
{
    if (arguments.size() != 6)
        return 2;
    const auto number = [](const std::string& text) {
        double value = 0;
        std::from_chars(text.data(), text.data() + text.size(), value);
        return value;
    };
    auto worker = startedWorker(pathFromUtf8(arguments[0]), { static_cast<std::int64_t>(number(arguments[1])) },
        static_cast<int>(number(arguments[2])), arguments[4] == "full");
    if (!worker.ok())
        return 1;
    const WorkerFigures figures = work(worker.value(), number(arguments[3]));
    std::ofstream file(pathFromUtf8(arguments[5]));
    file << figures.seconds;
    for (const std::int64_t ns : figures.claimNs)
        file << ' ' << ns;
    file.flush();
    return figures.error.empty() && file.good() ? 0 : 1;
}

} // namespace furrow
