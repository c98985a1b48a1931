// furrow-worker: trains a run (--role trainer) or does one task with its weights (--role task). The only program that
// links libtorch. Logs go to stderr, results to stdout. SIGTERM, SIGINT or the end of stdin mean: checkpoint and end.

#include "app/closed_option.h"
#include "app/describe.h"
#include "app/number_range.h"
#include "app/task_words.h"
#include "core/config/message_json.h"
#include "core/base/disk_room.h"
#include "core/base/fault_injection.h"
#include "core/base/log.h"
#include "core/base/process.h"
#include "core/base/process_limit.h"
#include "core/base/redact.h"
#include "core/base/terminal.h"
#include "core/model/gguf/gguf_blocks.h"
#include "core/train/tasks/tasks.h"
#include "core/train/loop/trainer.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

using furrow::WorkerTask;

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kUsage = 2;
constexpr int kCancelled = 130;

struct Options {
    furrow::WorkerRole role = furrow::WorkerRole::Trainer;
    furrow::TrainerOptions trainer;
    furrow::TaskOptions task;
    std::string folder;
    int replica = -1;
    bool json = false;
};

int environmentNumber(const char* name, int otherwise)
{
    const char* text = std::getenv(name);
    return text && *text ? std::atoi(text) : otherwise;
}

/// torchrun and Slurm say which process this is by RANK; LOCAL_RANK picks the GPU.
void addOptions(CLI::App& app, Options& o)
{
    o.trainer.worker = environmentNumber("RANK", environmentNumber("SLURM_PROCID", 0));
    const int localRank = environmentNumber("LOCAL_RANK", -1);
    const std::string device = localRank >= 0 ? "cuda:" + std::to_string(localRank) : "cpu";
    app.set_version_flag("--version", FURROW_VERSION);
    app.footer("Exit codes: 0 done, 1 failed, 2 wrong usage, 130 stopped by you.");
    furrow::addDescribeOption(app);
    furrow::addChoice<furrow::WorkerRole>(app, "--role", o.role, "trainer or task.")->required();
    app.add_option("run", o.folder, "Folder of the run.");
    app.add_option("--device", o.trainer.device, "cpu, cuda:N or the UUID of a GPU.")
        ->default_str(device)
        ->default_val(device);
    app.add_option("--threads", o.trainer.threads, "CPU threads.")->check(furrow::numberFrom(1, 1024));
    app.add_flag("--counting", o.trainer.counting,
        "Train the counting model: its weights say how often each window was trained (storm harness). Also FURROW_COUNTING=1.");
    app.add_flag("--json", o.json, "Results as JSON on stdout.");

    auto* trainer = app.add_option_group("trainer");
    trainer->add_option("--worker", o.trainer.worker, "Number of this worker; default RANK, else 0.");
    trainer->add_option("--replica", o.replica, "Line of weights; default: the number of the worker.");
    trainer->add_option("--ranks", o.trainer.ranks, "Workers that train one model together; --worker is the rank.")
        ->check(furrow::numberFrom(1, 256));
    trainer->add_option(
        "--meeting", o.trainer.meetingFile, "File through which the ranks find one another; a fresh name each time.");
    trainer->add_option("--attempt", o.trainer.attempt, "Attempt of the run; default: the newest.");

    auto& t = o.task;
    auto* task = app.add_option_group("task");
    furrow::addChoice<WorkerTask>(*task, "--task", t.task,
        "check, eval, sample, chat, export, merge, bench, bench-checkpoint, fit, stream or torch.");
    task->add_option("--checkpoint", t.checkpoint, "Folder name below checkpoints/; default: the newest.");
    task->add_option("--data", t.data, "Text file for eval and stream.");
    task->add_option("--tasks", t.tasks, "eval: file of questions.");
    task->add_option("--few-shot", t.fewShot, "eval: questions shown with their answers.")
        ->check(furrow::numberFrom(std::int64_t(0), std::int64_t(1) << 20));
    task->add_option("--limit", t.limit, "eval: questions at most.")->check(CLI::NonNegativeNumber);
    task->add_option("--until", t.until, "eval: what ends a written answer.");
    task->add_option("--prompt", t.prompt, "Beginning of a sample.");
    task->add_option("--chat", t.chat, "A turn that sample answers in the chat format of the model.");
    task->add_flag("--special", t.special, "Special tokens written in the prompt are those tokens.");
    task->add_option("--tokens", t.tokens, "Tokens of a sample.")
        ->check(furrow::numberFrom(std::int64_t(1), std::int64_t(1) << 24));
    task->add_option("--temperature", t.temperature, "0: always the likeliest token.")
        ->check(furrow::numberFrom(0.0, 100.0));
    task->add_option("--top-k", t.topK, "Choose among the k likeliest; 0: all.")->check(CLI::NonNegativeNumber);
    task->add_option("--top-p", t.topP, "Choose among the likeliest that hold this share.")
        ->check(furrow::numberFrom(0.0, 1.0));
    task->add_option("--seed", t.seed, "Of sampling, bench and stream.");
    furrow::addChoice<furrow::ModelFormat>(*task, "--format", t.format, "Of the export.");
    furrow::addChoice<furrow::GgufType>(
        *task, "--type", t.type, "Of the weights in a GGUF.", furrow::oneOf<furrow::GgufType>(furrow::isWritable));
    task->add_option("--out", t.out, "Folder or file of the export; bench-checkpoint: where to write.");
    task->add_option("--checkpoints", t.checkpoints, "merge: folder names joined by commas.");
    task->add_option("--method", t.method, "merge: average or diloco.");
    task->add_option("--preset", t.preset, "bench, bench-checkpoint, fit, stream: a built-in preset.");
    task->add_option("--precision", t.precision, "bench, stream: auto, fp32 or bf16.");
    task->add_option("--batch-size", t.batchSize, "bench, stream.");
    task->add_option("--seq-len", t.seqLen, "bench, stream.");
    task->add_option("--clip-per-sample", t.clipPerSample, "bench.")->check(furrow::numberFrom(0.0, 1e6));
    task->add_option("--noise-multiplier", t.noiseMultiplier, "bench.")->check(furrow::numberFrom(0.0, 1000.0));
    task->add_option("--seconds", t.seconds, "bench: time to measure.")->check(furrow::numberFrom(0.1, 3600.0));
    task->add_option("--steps", t.steps, "stream: optimiser steps.");
    task->add_option("--eval-every", t.evalEvery, "stream: steps between evaluations.");
}

int train(Options& o, const furrow::StopRequest& stop)
{
    o.trainer.runFolder = o.folder;
    o.trainer.replica = o.replica >= 0 ? o.replica : o.trainer.worker;
    furrow::startLog("worker-" + std::to_string(o.trainer.worker));
    auto end = furrow::runTrainer(o.trainer, [&] { return stop.requested(); });
    if (!end.ok()) {
        furrow::logError(end.error().message);
        return furrow::isForLimit(end.error().message) ? furrow::kLimitExit : kFailed;
    }
    const auto& e = end.value();
    const nlohmann::json time = { { "seconds", e.seconds }, { "train_s", e.trainSeconds }, { "data_s", e.dataSeconds },
        { "checkpoint_s", e.checkpointSeconds }, { "evaluation_s", e.evaluationSeconds }, { "merge_s", e.mergeSeconds },
        { "telemetry_s", e.telemetrySeconds }, { "ledger_s", e.ledgerSeconds } };
    furrow::logInfo("time: " + time.dump()); // `furrowctl bench overhead` reads it
    std::this_thread::sleep_for(std::chrono::duration<double>(furrow::faultNumber("FURROW_LINGER_S", 0)));
    return kDone;
}

int exitCodeOf(const furrow::Error& error, bool stopRequested)
{
    if (error.code == furrow::ErrorCode::Cancelled && stopRequested)
        return kCancelled;
    return error.code == furrow::ErrorCode::InvalidArgument ? kUsage : kFailed;
}

int doTask(Options& o, const furrow::StopRequest& stop)
{
    furrow::startLog(toString(o.task.task));
    o.task.runFolder = o.folder;
    o.task.device = o.trainer.device;
    o.task.threads = o.trainer.threads;
    o.task.counting = o.trainer.counting;
    o.task.attempt = o.trainer.attempt;
    o.task.jsonLines = o.json;
    const bool talks = o.task.task == WorkerTask::Chat;
    const bool streamsJson = o.task.task == WorkerTask::Stream;
    const bool writesText = o.task.task == WorkerTask::Sample && !o.json;
    const bool streams = talks || streamsJson || writesText;
    const bool onTerminal = furrow::outputIsTerminal();
    furrow::TerminalText forTerminal; // a model may write what a terminal would obey
    auto result = furrow::runTask(
        o.task,
        [&](const std::string& text) {
            if (!streams)
                return;
            const std::string shown = onTerminal ? forTerminal.next(text) : text;
            std::fwrite(shown.data(), 1, shown.size(), stdout);
            std::fflush(stdout);
        },
        [&] { return stop.requested(); });
    if (!result.ok()) {
        const furrow::Message shown = furrow::messageWithoutSecrets(result.error().message);
        if (o.json)
            std::printf("%s\n",
                nlohmann::json { { "error", shown.text() }, { "message", furrow::toJson(shown) } }.dump().c_str());
        else
            std::fprintf(stderr, "%s\n", shown.c_str());
        return exitCodeOf(result.error(), stop.requested());
    }
    if (writesText) {
        std::fputs("\n", stdout);
        std::fputs(furrow::unknownWords(result.value()).c_str(), stderr);
        std::fputs(furrow::startWeightsWords(result.value()).c_str(), stderr);
        std::fputs(furrow::oneReplicaWords(result.value()).c_str(), stderr); // standard output is the text alone
    } else if (o.json || streamsJson) {
        std::printf("%s\n", result.value().dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    } else if (!talks) {
        std::fputs(furrow::taskWords(o.task.task, result.value()).c_str(), stdout);
    }
    return kDone;
}

} // namespace

int main(int argc, char** argv)
{
    furrow::makeFileSizeLimitAnError();
    Options options;
    CLI::App app("Furrow's trainer process. Normally started by furrowctl; may be run by hand.", "furrow-worker");
    addOptions(app, options);
    try {
        auto words = furrow::commandLineArguments(argc, argv);
        std::reverse(words.begin(), words.end()); // as CLI11 wants a vector
        app.parse(words);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? kDone : kUsage;
    }
    constexpr std::array kWithoutRun { WorkerTask::Bench, WorkerTask::BenchCheckpoint, WorkerTask::Fit,
        WorkerTask::Stream, WorkerTask::Torch };
    const bool trains = options.role == furrow::WorkerRole::Trainer;
    const bool needsRun
        = trains || std::find(kWithoutRun.begin(), kWithoutRun.end(), options.task.task) == kWithoutRun.end();
    if (!trains && app.get_option("--task")->count() == 0) {
        std::fprintf(stderr, "furrow-worker: name the task with --task.\n");
        return kUsage;
    }
    if (needsRun && options.folder.empty()) {
        std::fprintf(stderr, "furrow-worker: name the folder of the run.\n");
        return kUsage;
    }
    if (const char* counting = std::getenv("FURROW_COUNTING"); counting && *counting == '1')
        options.trainer.counting = true;
    // The pipe of a parent on stdin says when it dies. A terminal, or the nothing that a batch system gives, says
    // nothing. What a chat gets through it is what a person writes.
    const furrow::StopRequest stop(furrow::inputIsPipe() && options.task.task != WorkerTask::Chat);
    return trains ? train(options, stop) : doTask(options, stop);
}
