// bench: figures of this machine. Each prints what was measured and how; tests/bench/README.md keeps the last table.

#include "app/closed_option.h"
#include "app/furrowctl/bench_balance.h"
#include "app/furrowctl/bench_overhead.h"
#include "app/furrowctl/command.h"
#include "core/base/file_system.h"
#include "core/base/format.h"
#include "core/base/path.h"
#include "core/base/process.h"
#include "core/config/choices.h"
#include "core/config/worker_task.h"
#include "core/run/start/worker_check.h"
#include "core/trials/bench/chat_bench.h"
#include "core/trials/bench/data_bench.h"
#include "core/trials/bench/tracker_bench.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <iostream>

namespace furrow::ctl {

namespace {

/// Of bench train, bench checkpoint and fit, as texts for furrow-worker, which checks them: it alone links libtorch.
struct WorkerOptions {
    std::vector<std::pair<std::string, std::string>> options;
    bool json = false;
};

int runWorkerTask(WorkerTask task, const WorkerOptions& o)
{
    ProcessOptions options;
    options.arguments = taskArguments(task, {});
    for (const auto& [name, value] : o.options)
        if (!value.empty())
            options.arguments.insert(options.arguments.end(), { name, value });
    if (o.json)
        options.arguments.push_back("--json");
    const auto worker = workerProgram();
    if (!worker.ok())
        return fail(worker.error(), o.json);
    auto child = ChildProcess::start(worker.value(), options);
    if (!child.ok())
        return fail(child.error());
    for (;;)
        if (const auto exit = child.value().wait(std::chrono::seconds(1)))
            return exit->signal != 0 ? kFailed : exit->exitCode;
}

struct TrackerOptions {
    TrackerBenchOptions bench;
    std::string folder = ".";
    std::vector<int> workers = { 1, 2, 4, 8 };
    std::vector<std::int64_t> chunks = { 1'000, 100'000, 1'000'000 };
    bool json = false;
};

nlohmann::json trackerJson(const TrackerBenchResult& r)
{
    return { { "chunks", r.chunks }, { "workers", r.workers }, { "durable", r.durable },
        { "claim_done_per_s", r.pairsPerSecond }, { "disk_sync_ms", r.syncMs },
        { "claim_done_per_sync", r.pairsPerSync }, { "claim_ms_p50", r.claimMsP50 }, { "claim_ms_p99", r.claimMsP99 },
        { "claim_ms_max", r.claimMsMax }, { "open_to_claim_ms", r.openToClaimMs }, { "commit_chunks", r.commitChunks },
        { "commit_ms", r.commitMs }, { "file_mib", r.fileMiB } };
}

int benchTrackerTable(TrackerOptions o)
{
    o.bench.folder = o.folder;
    o.bench.workerCommand = { executablePath().string(), "bench", "tracker-worker" };
    nlohmann::json rows = nlohmann::json::array();
    for (const auto chunks : o.chunks)
        for (const auto workers : o.workers) {
            o.bench.chunks = chunks;
            o.bench.workers = workers;
            auto result = benchTracker(o.bench);
            if (!result.ok())
                return fail(result.error(), o.json);
            rows.push_back(trackerJson(result.value()));
            const auto& r = result.value();
            if (!o.json)
                std::cout << formatCount(r.chunks) << " chunks, " << r.workers << " workers"
                          << (r.durable ? ", every claim durable" : "") << ": "
                          << formatCount(static_cast<std::int64_t>(r.pairsPerSecond)) << " claim + done/s ("
                          << formatNumber(r.pairsPerSync, 2) << " per disk sync of " << formatNumber(r.syncMs, 3)
                          << " ms); claim p50 " << formatNumber(r.claimMsP50, 2) << ", p99 "
                          << formatNumber(r.claimMsP99, 2) << ", max " << formatNumber(r.claimMsMax, 1)
                          << " ms; commit of " << formatCount(r.commitChunks) << " chunks "
                          << formatNumber(r.commitMs, 1) << " ms; open to claim " << formatNumber(r.openToClaimMs, 1)
                          << " ms" << std::endl;
        }
    if (o.json)
        print({ { "results", rows } });
    return kDone;
}

struct ChatOptions {
    std::string file;
    int turns = 20;
    bool json = false;
};

int benchChatTemplate(const ChatOptions& o)
{
    std::string source(kBenchTemplate);
    if (!o.file.empty()) {
        auto read = readFile(pathFromUtf8(o.file));
        if (!read.ok())
            return fail(read.error(), o.json);
        source = std::move(read).value();
    }
    const auto result = benchChat(source, o.turns);
    if (!result.ok())
        return fail(result.error(), o.json);
    const auto& r = result.value();
    if (o.json)
        print({ { "turns", r.turns }, { "microseconds_a_turn", r.microsecondsATurn }, { "bytes", r.textBytes } });
    else
        std::cout << r.turns << " turns, " << formatCount(static_cast<std::int64_t>(r.textBytes))
                  << " bytes: " << formatNumber(r.microsecondsATurn, 1) << " microseconds a turn" << std::endl;
    return kDone;
}

struct DataOptions {
    DataBenchOptions bench;
    std::string folder = ".";
    bool readers = false;
    bool json = false;
};

int benchDataTable(DataOptions o)
{
    o.bench.folder = pathFromUtf8(o.folder);
    auto table = o.readers ? benchReaders(o.bench) : benchData(o.bench);
    if (!table.ok())
        return fail(table.error(), o.json);
    if (o.json) {
        print(table.value());
        return kDone;
    }
    for (const auto& [name, rows] : table.value().items())
        for (const auto& row : rows.is_array() ? rows : nlohmann::json::array({ rows }))
            std::cout << name << ": " << row.dump() << "\n";
    std::cout << std::flush;
    return kDone;
}

/// Of an option that names a preset: a child would only say so in a file of its own.
CLI::Validator knownPreset()
{
    return CLI::Validator(
        [](const std::string& name) {
            const auto preset = findPreset(name);
            return preset.ok() ? std::string() : preset.error().message.text();
        },
        "");
}

void addCheckpointCommand(CLI::App& bench, Chosen& chosen)
{
    auto o = std::make_shared<WorkerOptions>();
    o->options = { { "--preset", "124m" }, { "--out", "." } };
    auto* command = bench.add_subcommand(
        "checkpoint", "What a checkpoint costs over writing the same bytes, on the disk of a folder.");
    command->add_option("--preset", o->options[0].second, "A built-in preset, for the size of its weights.")
        ->check(knownPreset())
        ->capture_default_str();
    command
        ->add_option("--folder", o->options[1].second,
            "Folder on the disk to measure; twice the checkpoint is needed for a while.")
        ->capture_default_str();
    command->add_flag("--json", o->json, "Print JSON.");
    command->callback([&chosen, o] { chosen.action = [o] { return runWorkerTask(WorkerTask::BenchCheckpoint, *o); }; });
}

struct TrainCommand {
    CLI::App* command = nullptr;
    std::shared_ptr<WorkerOptions> task;
};

TrainCommand addTrainCommand(
    CLI::App& parent, Chosen& chosen, const char* name, WorkerTask task, const char* help, const char* secondsHelp)
{
    auto o = std::make_shared<WorkerOptions>();
    o->options = { { "--preset", "" }, { "--device", "" }, { "--threads", "" }, { "--precision", "" },
        { "--batch-size", "" }, { "--seq-len", "" }, { "--seconds", "" } };
    const char* helps[] = { "A built-in preset; without it char.", "cpu, cuda:N or the UUID of a GPU.", "CPU threads.",
        "auto, fp32, bf16 or fp16; without it the preset's.", "Windows of a step; without it the preset's.",
        "Tokens of a window; without it the preset's.", secondsHelp };
    auto* command = parent.add_subcommand(name, help);
    const CLI::Validator checks[] = { knownPreset(), {}, numberFrom(1, 1024), oneOf<PrecisionChoice>(), kFromOne,
        kFromOne, numberFrom(0.1, 3600.0) };
    for (std::size_t i = 0; i < o->options.size(); ++i)
        command->add_option(o->options[i].first, o->options[i].second, helps[i])->check(checks[i]);
    command->add_flag("--json", o->json, "Print JSON.");
    command->callback([&chosen, o, task] { chosen.action = [o, task] { return runWorkerTask(task, *o); }; });
    return { command, o };
}

void addClippingOptions(const TrainCommand& train)
{
    train.command
        ->add_option_function<std::string>(
            "--clip-per-sample",
            [o = train.task](const std::string& text) { o->options.emplace_back("--clip-per-sample", text); },
            "Clip each window's gradient to this norm by itself, and time that beside plain steps, in turns.")
        ->check(numberFrom(1e-6, 1e6));
    train.command
        ->add_option_function<std::string>(
            "--noise-multiplier",
            [o = train.task](const std::string& text) { o->options.emplace_back("--noise-multiplier", text); },
            "With noise, as private training has it.")
        ->check(numberFrom(0.0, 1000.0))
        ->needs("--clip-per-sample");
}

} // namespace

void addBenchCommands(CLI::App& app, Chosen& chosen)
{
    auto* bench = app.add_subcommand("bench", "Measure this machine.");
    bench->require_subcommand(1);
    auto to = std::make_shared<TrackerOptions>();
    auto* tracker = bench->add_subcommand("tracker", "Claims a second and their latency, on the disk of a folder.");
    tracker->add_option("--folder", to->folder, "Folder on the disk to measure.")->capture_default_str();
    tracker->add_option("--workers", to->workers, "Numbers of worker processes.")
        ->delimiter(',')
        ->check(numberFrom(1, 64));
    tracker->add_option("--chunks", to->chunks, "Sizes of the ledger.")->delimiter(',')->check(kFromOne);
    tracker->add_option("--seconds", to->bench.seconds, "How long each row measures.")
        ->check(numberFrom(0.1, 3600.0))
        ->capture_default_str();
    tracker->add_flag("--durable", to->bench.durable, "Each claim survives a power loss, not only commits.");
    tracker->add_flag("--json", to->json, "Print JSON.");
    tracker->callback([&chosen, to] { chosen.action = [to] { return benchTrackerTable(*to); }; });

    auto co = std::make_shared<ChatOptions>();
    auto* chat = bench->add_subcommand("chat", "How long a chat template takes for a turn of a conversation.");
    chat->add_option("--template", co->file, "A file with the template; one of ours otherwise, with tools.");
    chat->add_option("--turns", co->turns, "Messages of the conversation.")
        ->check(numberFrom(2, 10'000))
        ->capture_default_str();
    chat->add_flag("--json", co->json, "Print JSON.");
    chat->callback([&chosen, co] { chosen.action = [co] { return benchChatTemplate(*co); }; });

    auto dataOptions = std::make_shared<DataOptions>();
    auto* data
        = bench->add_subcommand("data", "Downloads, preparing, batches, resume, healing and disk of the data path.");
    data->add_option("--folder", dataOptions->folder,
            "Folder on the disk to measure; about ten times the text is needed for a while.")
        ->capture_default_str();
    data->add_option(
        "--only", dataOptions->bench.only, "One row of the table, by its name; resume needs batches before it.");
    data->add_option("--samples", dataOptions->bench.samples, "Generated samples of about 800 bytes.")
        ->capture_default_str()
        ->check(numberFrom(1000, 100'000'000));
    data->add_option("--workers", dataOptions->bench.workers, "Numbers of workers.")->delimiter(',');
    data->add_flag("--readers", dataOptions->readers, "One reader for all workers against each worker for itself.");
    data->add_flag("--json", dataOptions->json, "Print JSON.");
    data->callback([&chosen, dataOptions] { chosen.action = [dataOptions] { return benchDataTable(*dataOptions); }; });

    auto* child = bench->add_subcommand("tracker-worker", "One worker process of that benchmark.");
    child->group("");
    child->prefix_command();
    child->callback(
        [&chosen, child] { chosen.action = [child] { return runTrackerBenchWorker(child->remaining()); }; });

    auto bo = std::make_shared<BalanceOptions>();
    auto oo = std::make_shared<OverheadOptions>();
    auto* balance = bench->add_subcommand("balance",
        "How chunks are shared when workers differ in speed, and who waits: a run of the counting model whose steps take the given times.");
    balance->add_option("--step-ms", bo->stepMs, "Milliseconds of a step, for each worker in turn.")
        ->delimiter(',')
        ->check(numberFrom(1.0, 10'000.0));
    balance->add_option("--chunks", bo->chunks, "Chunks of the epoch.")
        ->check(numberFrom(10, 100'000))
        ->capture_default_str();
    balance->add_option("--folder", bo->folder, "Folder on the disk to measure.")->default_val(".");
    balance->add_flag("--json", bo->json, "Print JSON.");
    balance->callback([&chosen, bo] { chosen.action = [bo] { return benchBalance(*bo); }; });
    auto* overhead = bench->add_subcommand(
        "overhead", "What a real run spends besides training: claims, data, checkpoints, telemetry.");
    overhead->add_option("--preset", oo->preset, "A built-in preset.")->check(knownPreset())->capture_default_str();
    overhead->add_option("--workers", oo->workers, "Worker processes.")
        ->check(numberFrom(1, 64))
        ->capture_default_str();
    overhead->add_option("--steps", oo->steps, "Optimiser steps of all workers; 0: one epoch.")
        ->check(kFromZero)
        ->capture_default_str();
    overhead->add_option("--chunk-samples", oo->chunkSamples, "Samples in a chunk; 0: as the preset has it.")
        ->check(kFromZero)
        ->capture_default_str();
    overhead->add_option("--data", oo->data, "Text file; the bundled text otherwise.")->check(CLI::ExistingFile);
    overhead->add_option("--folder", oo->folder, "Folder on the disk to measure.")->default_val(".");
    overhead->add_flag("--json", oo->json, "Print JSON.");
    overhead->callback([&chosen, oo] { chosen.action = [oo] { return benchOverhead(*oo); }; });

    addCheckpointCommand(*bench, chosen);
    const TrainCommand train = addTrainCommand(*bench, chosen, "train", WorkerTask::Bench,
        "Tokens per second, time split, share of the device's arithmetic and memory of a preset; the gain of each attention kernel where there is a choice.",
        "How long each row measures.");
    addClippingOptions(train);
    addTrainCommand(app, chosen, "fit", WorkerTask::Fit, "Measure the largest batch that fits a device.",
        "Longest step that is still of use.");
}

} // namespace furrow::ctl
