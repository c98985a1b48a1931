#include "app/furrowctl/bench_balance.h"

#include "app/furrowctl/command.h"
#include "core/base/file_system.h"
#include "core/base/format.h"
#include "core/base/process.h"
#include "core/base/sentence.h"
#include "core/run/start/life_cycle.h"
#include "core/run/status/run_status.h"
#include "core/telemetry/run_telemetry.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <thread>

namespace furrow::ctl {

namespace {

constexpr int kRowsPerChunk = 10; // of one window and one step each

RunConfig balanceConfig(const BalanceOptions& options, const std::filesystem::path& text)
{
    RunConfig c;
    c.name = "balance";
    c.data = { text.string() };
    c.dataMode = DataMode::Lines;
    c.tokenizer = "byte";
    c.samplesPerBlock = kRowsPerChunk * 30;
    c.chunkSamples = kRowsPerChunk;
    c.heldOutPercent = 0;
    c.layers = 1;
    c.heads = 1;
    c.width = 16;
    c.seqLen = 64;
    c.batchSize = 1;
    c.devices = "cpu";
    c.workers = static_cast<int>(options.stepMs.size());
    c.threads = 1;
    c.evalSteps = 0;
    c.merge = MergeMethod::None;
    c.epochs = 1;
    return c;
}

/// Lines that fill a window each: 63 characters and the end of the text.
std::string lines(int count)
{
    std::string text;
    for (int line = 0; line < count; ++line) {
        std::string words = std::to_string(line) + " ";
        while (words.size() < 63)
            words += static_cast<char>('a' + (line * 7 + static_cast<int>(words.size()) * 3) % 26);
        text += words.substr(0, 63) + '\n';
    }
    return text;
}

Result<RunPaths> trainOnce(const BalanceOptions& options, const std::filesystem::path& folder)
{
    const auto text = folder / "text.txt";
    FURROW_TRY(realFileSystem().createFolders(folder));
    FURROW_TRY(writeFileDurably(realFileSystem(), text, lines(options.chunks * kRowsPerChunk)));
    NewRun request;
    request.config = balanceConfig(options, text);
    request.preset = "char";
    request.folder = folder / "run";
    FURROW_TRY_ASSIGN(auto paths, createRun(request, {}));
    std::string times;
    for (const auto ms : options.stepMs)
        times += (times.empty() ? "" : ",") + std::to_string(ms);
    auto config = currentConfig(paths);
    FURROW_TRY_ASSIGN(auto started,
        config.ok()
            ? startRun(paths, config.value(), { { "FURROW_COUNTING", "1" }, { "FURROW_COUNTING_STEP_MS", times } })
            : config.error());
    while (isAlive(started))
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    FURROW_TRY_ASSIGN(auto status, readStatus(paths));
    if (status.state != RunState::Finished)
        return Error { ErrorCode::Internal,
            sentence("The run of the benchmark is %1: %2",
                { Term { TermSet::RunState, toString(status.state) }, status.stopDetail }) };
    return paths;
}

struct WorkerShare {
    int chunks = 0;
    double idleMs = 0; ///< longest time without a chunk before the last ones were begun
    double idleAtEndMs = 0;
    std::int64_t lastEnd = 0;
    ClaimWaitRecord waits; ///< how long its claims kept training waiting
};

/// Takes the last word of each worker about its claims.
void readWaits(const RunPaths& paths, std::vector<WorkerShare>& shares)
{
    RunTelemetry telemetry(paths.telemetryFolder());
    while (telemetry.poll()) { }
    for (const auto& point : *telemetry.snapshot()->claimWaits)
        shares.at(static_cast<std::size_t>(point.worker)).waits = point.record;
}

std::vector<WorkerShare> sharesOf(std::vector<ClaimRow> claims, std::size_t workers)
{
    std::erase_if(claims, [](const ClaimRow& claim) { return claim.startedWallNs == 0; });
    std::sort(claims.begin(), claims.end(),
        [](const ClaimRow& a, const ClaimRow& b) { return a.startedWallNs < b.startedWallNs; });
    std::int64_t lastStart = 0; // of the first of the chunks that end the epoch, one for each worker
    if (claims.size() > workers)
        lastStart = claims[claims.size() - workers].startedWallNs;
    std::vector<WorkerShare> shares(workers);
    std::int64_t end = 0;
    for (const auto& claim : claims) {
        auto& share = shares.at(static_cast<std::size_t>(claim.worker));
        if (share.lastEnd > 0 && claim.startedWallNs <= lastStart)
            share.idleMs = std::max(share.idleMs, static_cast<double>(claim.startedWallNs - share.lastEnd) / 1e6);
        ++share.chunks;
        share.lastEnd = claim.endedWallNs;
        end = std::max(end, claim.endedWallNs);
    }
    for (auto& share : shares)
        share.idleAtEndMs = static_cast<double>(end - share.lastEnd) / 1e6;
    return shares;
}

void printShares(const BalanceOptions& options, const std::vector<WorkerShare>& shares)
{
    double speed = 0;
    int chunks = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        speed += 1 / options.stepMs[i];
        chunks += shares[i].chunks;
    }
    nlohmann::json rows = nlohmann::json::array();
    for (std::size_t i = 0; i < shares.size(); ++i) {
        const double fair = chunks / options.stepMs[i] / speed;
        const auto& s = shares[i];
        rows.push_back({ { "worker", i }, { "step_ms", options.stepMs[i] }, { "chunks", s.chunks },
            { "fair_chunks", fair }, { "longest_idle_ms", s.idleMs }, { "idle_at_end_ms", s.idleAtEndMs },
            { "claim_wait_ms", { { "p50", s.waits.p50Ms }, { "p99", s.waits.p99Ms }, { "max", s.waits.maxMs } } } });
        if (!options.json)
            std::cout << "worker " << i << ", " << formatNumber(options.stepMs[i], 0) << " ms a step: " << s.chunks
                      << " chunks (by its speed " << formatNumber(fair, 1) << "); longest time between two chunks "
                      << formatNumber(s.idleMs, 1) << " ms; idle at the end of the epoch "
                      << formatNumber(s.idleAtEndMs, 0) << " ms; waited for a claim p50 "
                      << formatNumber(s.waits.p50Ms, 2) << ", p99 " << formatNumber(s.waits.p99Ms, 2) << ", max "
                      << formatNumber(s.waits.maxMs, 1) << " ms\n";
    }
    if (options.json)
        print({ { "chunks", chunks }, { "workers", rows } });
}

} // namespace

int benchBalance(const BalanceOptions& options)
{
    const auto folder = options.folder / ("furrow-bench-balance-" + std::to_string(thisProcess().pid));
    auto paths = trainOnce(options, folder);
    if (!paths.ok())
        return fail(paths.error(), options.json);
    auto reader = openLedger(paths.value());
    auto claims = reader.ok() ? reader.value().claimsSince(0, 1'000'000) : reader.error();
    if (!claims.ok())
        return fail(claims.error(), options.json);
    auto shares = sharesOf(std::move(claims).value(), options.stepMs.size());
    readWaits(paths.value(), shares);
    printShares(options, shares);
    if (auto removed = realFileSystem().removeAll(folder); !removed.ok())
        return fail(removed.error(), options.json);
    return kDone;
}

} // namespace furrow::ctl
