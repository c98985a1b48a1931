#include "app/furrowctl/bench_overhead.h"

#include "app/furrowctl/command.h"
#include "core/base/file_system.h"
#include "core/base/format.h"
#include "core/base/path.h"
#include "core/base/process.h"
#include "core/base/sentence.h"
#include "core/run/status/run_status.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include <iostream>

namespace furrow::ctl {

namespace {

constexpr std::string_view kTimeMark = "time: "; // what furrow-worker logs at its end

/// Runs `furrowctl run` to its end, with its output in `log`.
Status trainOnce(const OverheadOptions& options, const std::filesystem::path& run, const std::filesystem::path& log)
{
    ProcessOptions process;
    process.arguments = { "run", "--json", "--preset", options.preset, "--workers", std::to_string(options.workers),
        "--out", utf8Text(run), "--epochs", "1" };
    if (options.steps > 0)
        process.arguments.insert(process.arguments.end(), { "--steps", std::to_string(options.steps) });
    constexpr int kSmallestBlock = 400; // as the presets for little data have it
    if (options.chunkSamples > 0)
        process.arguments.insert(process.arguments.end(),
            { "--chunk-samples", std::to_string(options.chunkSamples), "--samples-per-block",
                std::to_string(std::max(kSmallestBlock, 2 * options.chunkSamples)) });
    if (!options.data.empty())
        process.arguments.insert(process.arguments.end(), { "--data", options.data });
    process.outputFile = log;
    FURROW_TRY_ASSIGN(auto child, ChildProcess::start(executablePath(), process));
    for (;;)
        if (const auto exit = child.wait(std::chrono::seconds(1))) {
            if (exit->signal == 0 && exit->exitCode == 0)
                return {};
            return Error { ErrorCode::Internal,
                sentence("The run of the benchmark ended with %1. What it said is in %2.",
                    { exit->describe(), utf8Text(log) }) };
        }
}

/// The times that one worker logged at its end.
Result<nlohmann::json> timesOf(const std::filesystem::path& log)
{
    FURROW_TRY_ASSIGN(auto text, readFile(log, 64ull << 20));
    const auto at = text.rfind(kTimeMark);
    if (at == std::string::npos)
        return Error { ErrorCode::Internal,
            sentence("%1 does not say where the time went: the worker did not end cleanly.", { utf8Text(log) }) };
    const auto begin = at + kTimeMark.size();
    return nlohmann::json::parse(text.substr(begin, text.find('\n', begin) - begin), nullptr, false);
}

nlohmann::json sharesOf(int worker, const nlohmann::json& times)
{
    const double train = times.value("train_s", 0.0);
    const double stalls
        = times.value("data_s", 0.0) + times.value("checkpoint_s", 0.0) + times.value("telemetry_s", 0.0);
    nlohmann::json row = times;
    row["worker"] = worker;
    row["overhead_s"] = stalls;
    row["overhead"] = train > 0 ? stalls / train : 0;
    return row;
}

void printRow(const nlohmann::json& row)
{
    const auto seconds = [&](const char* key) { return formatNumber(row.value(key, 0.0), 3) + " s"; };
    std::cout << "worker " << row["worker"].get<int>() << ": trained " << seconds("train_s") << " of "
              << seconds("seconds") << "; claims and data " << seconds("data_s") << ", checkpoint copies "
              << seconds("checkpoint_s") << ", telemetry " << seconds("telemetry_s") << ": overhead "
              << formatNumber(row["overhead"].get<double>() * 100, 2) << " % of training. Besides: evaluation "
              << seconds("evaluation_s") << ", merging " << seconds("merge_s") << ".\n";
}

} // namespace

int benchOverhead(const OverheadOptions& options)
{
    const auto folder = options.folder / ("furrow-bench-overhead-" + std::to_string(thisProcess().pid));
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed)
        return fail({ ErrorCode::Io,
                        sentence("The folder %1 cannot be made: %2. Name another one with --folder.",
                            { utf8Text(folder), failed.message() }) },
            options.json);
    if (auto trained = trainOnce(options, folder / "run", folder / "output.log"); !trained.ok())
        return fail(trained.error(), options.json);
    const RunPaths paths(folder / "run");
    nlohmann::json rows = nlohmann::json::array();
    double worst = 0;
    for (int worker = 0; worker < options.workers; ++worker) {
        auto times = timesOf(paths.logFile(1, "worker-" + std::to_string(worker)));
        if (!times.ok())
            return fail(times.error(), options.json);
        rows.push_back(sharesOf(worker, times.value()));
        worst = std::max(worst, rows.back()["overhead"].get<double>());
        if (!options.json)
            printRow(rows.back());
    }
    double seconds = 0;
    for (const auto& row : rows)
        seconds = std::max(seconds, row.value("seconds", 0.0));
    auto status = readStatus(paths);
    if (!status.ok())
        return fail(status.error(), options.json);
    const double tokensPerSecond = seconds > 0 ? static_cast<double>(status.value().tokens) / seconds : 0;
    const auto chunks = status.value().epochs.empty() ? 0 : status.value().epochs.front().chunks.sum();
    std::filesystem::remove_all(folder, failed);
    if (options.json)
        print({ { "preset", options.preset }, { "chunks", chunks }, { "workers", rows }, { "overhead", worst },
            { "tokens_per_s", tokensPerSecond } });
    else
        std::cout << formatCount(chunks) << " chunks, " << formatCount(static_cast<std::int64_t>(tokensPerSecond))
                  << " tokens/s of all workers, evaluation and merging included.\n";
    return kDone;
}

} // namespace furrow::ctl
