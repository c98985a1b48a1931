// eval, sample, export, merge: work with weights. furrow-worker does it, since it alone links libtorch; this passes the
// options on.

#include "app/closed_option.h"
#include "app/furrowctl/command.h"
#include "app/furrowctl/hub_models.h"
#include "core/base/absolute_path.h"
#include "core/base/file_lock.h"
#include "core/base/path.h"
#include "core/base/process.h"
#include "core/base/sentence.h"
#include "core/config/worker_task.h"
#include "core/data/source/distant_source.h"
#include "core/model/gguf/gguf_blocks.h"
#include "core/run/status/measured_export.h"
#include "core/run/folder/run_paths.h"
#include "core/run/start/worker_check.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <iostream>

namespace furrow::ctl {

namespace {

struct Option {
    const char* name;
    const char* help;
    bool required = false;
    CLI::Validator check {}; ///< of a number, so that a wrong one is refused before a worker starts
    bool isFlag = false; ///< it has no value
};

struct Task {
    WorkerTask kind;
    const char* help;
    const char* place;
    std::vector<Option> options;
};
constexpr const char* kRun = "Folder of the run.";
constexpr const char* kRunOrModel
    = "Folder of the run, or a model without one: a Hugging Face folder, a GGUF, or hf://owner/name of the hub.";

const Option kDevice { "--device", "cpu, cuda:N or the UUID of a GPU; without it the CPU." };
const Option kSpecial { .name = "--special",
    .help
    = "Special tokens written in the prompt, as <|im_start|>, are those tokens; of a model without a run they always are.",
    .isFlag = true };
const Option kTokens { "--tokens", "Tokens to write, at most.", false,
    numberFrom(std::int64_t(1), std::int64_t(1) << 24) };
const Option kTemperature { "--temperature", "0: always the likeliest token.", false, numberFrom(0.0, 100.0) };
const Option kTopK { "--top-k", "Choose among the k likeliest; 0: all.", false,
    numberFrom(std::int64_t(0), std::int64_t(1) << 32) };
const Option kTopP { "--top-p", "Choose among the likeliest that hold this share.", false, numberFrom(0.0, 1.0) };
const Option kSampleSeed { "--seed", "Of the choice.", false, numberFrom(std::int64_t(0), std::int64_t(1) << 62) };
const Option kThreads { "--threads", "CPU threads; without it all cores, or one beside a run in training." };

const std::vector<Task>& tasks()
{
    static const std::vector<Task> all = {
        { WorkerTask::Eval,
            "Loss on the evaluation text of the run, or on another one, with the share of it that was trained; of a model without a run in windows of 1024 tokens. With --tasks: right answers to the questions of a file.",
            kRunOrModel,
            { { "--checkpoint", "Folder name below checkpoints/; without it the newest." },
                { "--data", "File, folder, hf://, https://, s3:// or gs:// source to evaluate instead." },
                { "--tasks",
                    "Questions with known answers instead, a JSON object in each line: question, choices and gold (the place of the right one from 0, its label or text), chosen by likelihood; or question and answer, to be written word for word." },
                { "--few-shot", "Questions, the first of the file, shown with their answers before each other one.",
                    false, numberFrom(std::int64_t(0), std::int64_t(1) << 20) },
                { "--limit", "Ask so many questions at most; 0: all.", false,
                    numberFrom(std::int64_t(0), std::int64_t(1) << 32) },
                { "--until", "What ends an answer that is written; without it the end of its line." },
                { "--tokens", "Tokens of an answer that is written, at most; without it 200.", false,
                    numberFrom(std::int64_t(1), std::int64_t(1) << 24) },
                kDevice, kThreads } },
        { WorkerTask::Sample, "Write text with the model.", kRunOrModel,
            { { "--prompt", "Beginning of the text." },
                { "--chat", "Instead of a prompt: what a person says, answered in the chat format of the model." },
                kSpecial, kTokens, kTemperature, kTopK, kTopP, kSampleSeed,
                { "--checkpoint", "Folder name below checkpoints/; without it the newest." }, kDevice, kThreads } },
        { WorkerTask::Chat,
            "Talk with the model, in its chat format where it has one: each line you write is answered, until /quit. It follows the newest checkpoint of a run in training. With --json you write {\"say\": TEXT}, {\"stop\": true} and {\"forget\": true}, and tokens come with their probabilities.",
            kRunOrModel,
            { { "--prompt", "What the conversation begins with, without a chat format." }, kSpecial, kTokens,
                kTemperature, kTopK, kTopP, kSampleSeed,
                { "--checkpoint", "Folder name below checkpoints/; without it the newest." }, kDevice, kThreads } },
        { WorkerTask::Export, "Write the model, or what was measured, for other programs.", kRunOrModel,
            { { "--format",
                  "huggingface (a folder) or gguf (a file for llama.cpp), the model; csv, jsonl or tensorboard, what was measured",
                  false, oneOf<ModelFormat, MeasuredFormat>() },
                { "--type", "gguf: how weights are stored; without it f16.", false, oneOf<GgufType>(isWritable) },
                { "--out", "Folder or file to make.", true },
                { "--checkpoint", "Folder name below checkpoints/; without it the newest." } } },
        { WorkerTask::Merge, "Combine replicas into one model.", kRun,
            { { "--checkpoints",
                  "Folder names below checkpoints/, joined by commas; without it the newest of each replica." },
                { "--method", "average or diloco" }, kDevice, kThreads } },
    };
    return all;
}

struct Given {
    std::string folder;
    bool json = false;
    std::map<std::string, std::string> values;
    std::map<std::string, bool> flags;

    /// "": not given, or no option of this task.
    std::string value(const char* name) const
    {
        const auto found = values.find(name);
        return found == values.end() ? std::string() : found->second;
    }
};

int exportMeasured(const Given& given, MeasuredFormat format)
{
    const auto out = pathFromUtf8(given.values.at("--out"));
    if (auto run = checkRun(given.folder); !run.ok())
        return fail(run.error(), given.json);
    if (!given.values.at("--checkpoint").empty())
        return failUsage(
            sentence("--checkpoint chooses the model of --format huggingface; what was measured is of the whole run."),
            given.json);
    auto records = furrow::exportMeasured(RunPaths(pathFromUtf8(given.folder)), format, out);
    if (!records.ok())
        return fail(records.error(), given.json);
    const std::string folder = utf8Text(absolutePath(out));
    if (given.json)
        print({ { "format", nameOf(format) }, { "records", records.value() }, { "out", folder } });
    else
        std::cout << records.value() << " records in " << folder << std::endl;
    return kDone;
}

/// Why these options of eval do not go together; "": they do.
Message clashOf(const Given& given)
{
    const auto isGiven = [&given](const char* name) { return !given.value(name).empty(); };
    if (isGiven("--tasks") && isGiven("--data"))
        return sentence("--data gives a loss and --tasks right answers: ask for one after the other.");
    for (const char* name : { "--few-shot", "--limit", "--until" })
        if (isGiven(name) && !isGiven("--tasks"))
            return sentence("%1 is for --tasks.", { name });
    return {};
}

int perform(const Task& task, Given& given)
{
    if (const auto clash = clashOf(given); !clash.empty())
        return failUsage(clash, given.json);
    const std::string format = given.value("--format");
    if (const auto measured = closedValue<MeasuredFormat>(format))
        return exportMeasured(given, *measured);
    if (!given.value("--type").empty() && closedValue<ModelFormat>(format) != ModelFormat::Gguf)
        return failUsage(sentence("--type is for --format gguf."), given.json);
    if (auto there = bringModel(given.folder, given.json); !there.ok())
        return fail(there.error(), given.json);
    if (auto there = checkThere(given.folder); !there.ok()) // a run, or a model without one
        return fail(there.error(), given.json);
    ProcessOptions options;
    options.arguments = taskArguments(task.kind, { given.folder });
    options.withSecrets = isDistantPath(given.value("--data"));
    if (given.value(kThreads.name).empty())
        options.arguments.insert(options.arguments.end(),
            { kThreads.name,
                std::to_string(isLocked(RunPaths(pathFromUtf8(given.folder)).supervisorLock()) ? 1 : cpuCount()) });
    for (const auto& [name, value] : given.values)
        if (!value.empty())
            options.arguments.insert(options.arguments.end(), { name, value });
    for (const auto& [name, isGiven] : given.flags)
        if (isGiven)
            options.arguments.push_back(name);
    if (given.json)
        options.arguments.push_back("--json");
    const auto worker = workerProgram();
    if (!worker.ok())
        return fail(worker.error(), given.json);
    auto child = ChildProcess::start(worker.value(), options);
    if (!child.ok())
        return fail(child.error(), given.json);
    if (task.kind == WorkerTask::Chat) { // before Ctrl+C is caught: it must end the wait for a line
        std::string line;
        while (std::getline(std::cin, line) && child.value().writeInput(line + "\n").ok()) { }
        child.value().closeInput();
    }
    const StopRequest interrupt(false);
    for (;;) {
        if (const auto exit = child.value().wait(std::chrono::milliseconds(100)))
            return exit->signal != 0 ? kFailed : exit->exitCode;
        if (interrupt.requested()) {
            child.value().killTree();
            return kCancelled;
        }
    }
}

} // namespace

void addTaskCommands(CLI::App& app, Chosen& chosen)
{
    for (const auto& task : tasks()) {
        auto given = std::make_shared<Given>();
        auto* command = app.add_subcommand(toString(task.kind), task.help);
        command->add_option("run", given->folder, task.place)->required();
        command->add_flag("--json", given->json, "Print JSON.");
        for (const auto& option : task.options) {
            if (option.isFlag) {
                command->add_flag(option.name, given->flags[option.name], option.help);
                continue;
            }
            auto* added = command->add_option(option.name, given->values[option.name], option.help);
            if (option.required)
                added->required();
            added->check(option.check);
        }
        command->callback(
            [&chosen, given, &task] { chosen.action = [given, &task] { return perform(task, *given); }; });
    }
}

} // namespace furrow::ctl
