// estimate: how much memory a worker will take, before there is a run.

#include "app/furrowctl/command.h"
#include "app/furrowctl/hub_models.h"
#include "core/base/format.h"
#include "core/base/path.h"
#include "core/base/process.h"
#include "core/device/machine_fit.h"
#include "core/run/folder/adopted_model.h"
#include "core/workspace/memory_history.h"

#include <nlohmann/json.hpp>

#include <iostream>

namespace furrow::ctl {

namespace {

struct Options {
    std::string preset = "char";
    std::string workspace = defaultWorkspace();
    std::uint32_t vocabulary = 0;
    bool gpu = false;
    bool json = false;
    SettingOptions settings;
};

std::string bytes(std::int64_t count) { return formatBytes(static_cast<std::uint64_t>(count)); }

/// What earlier runs are compared by. A computer's GPUs are taken to be alike.
std::string deviceName(bool gpu)
{
    if (!gpu)
        return "CPU";
    auto monitor = GpuMonitor::open();
    const auto gpus = monitor.ok() ? monitor.value().read() : std::vector<Gpu>();
    return gpus.empty() ? std::string() : gpus.front().name;
}

void say(const MemoryForecast& forecast, const ModelConfig& model, bool gpu)
{
    const MemoryEstimate& e = forecast.parts;
    std::cout << "About " << bytes(forecast.likely()) << (gpu ? " on each GPU" : " for each worker") << ", between "
              << bytes(forecast.low()) << " and " << bytes(forecast.high()) << "; "
              << formatCount(model.parameterCount()) << " parameters with a vocabulary of "
              << formatCount(model.vocabularySize) << ".\n";
    if (forecast.runs > 0)
        std::cout << "By formula " << bytes(e.total()) << "; " << forecast.runs
                  << (forecast.runs == 1 ? " worker" : " workers") << " of earlier runs took "
                  << formatNumber(forecast.factor, 2) << " times theirs.\n";
    const std::pair<const char*, std::int64_t> parts[] = { { "weights, with their copies", e.weights },
        { "gradients", e.gradients }, { "optimizer", e.optimizer }, { "activations", e.activations },
        { "logits", e.logits }, { "the program", e.process }, { "a copy for checkpoints", e.checkpoint } };
    for (const auto& [name, size] : parts)
        if (size > 0)
            std::cout << "  " << bytes(size) << "  " << name << "\n";
    if (forecast.runs == 0)
        std::cout << (gpu
                ? "The formula was never compared with a GPU: `furrowctl fit` measures one, and so does the first run.\n"
                : "The first run here will correct the formula.\n");
    std::cout << std::flush;
}

int estimate(const Options& o)
{
    auto preset = findPreset(o.preset);
    if (!preset.ok())
        return fail(preset.error(), o.json);
    RunConfig config = preset.value().config;
    if (const auto problems = o.settings.apply(config); !problems.empty())
        return failUsage(toString(problems), o.json);
    if (auto there = bringModel(config.initFrom, o.json); !there.ok())
        return fail(there.error(), o.json);
    const auto adopted = adoptModel(config, preset.value().config, o.settings.given());
    if (!adopted.ok())
        return fail(adopted.error(), o.json);
    const ModelConfig model = modelConfigOf(config, o.vocabulary > 0 ? o.vocabulary : usualVocabulary(config));
    if (const auto problems = model.validate(); !problems.empty())
        return failUsage(problems.front().message, o.json);
    const StepPath path = stepPathOf(config, model, o.gpu);
    if (o.gpu || !config.devices.starts_with("cpu"))
        config.devices = "cpu"; // for its threads alone
    const auto workers = placeWorkers(config, {}, cpuCount());
    if (!workers.ok())
        return fail(workers.error(), o.json);
    const MemoryEstimate e = estimateMemory(config, model, path, workers.value().front().threads);
    const MemoryForecast forecast = forecastMemory(
        e, { deviceName(o.gpu), path, toString(model.architecture) }, memoryHistory(pathFromUtf8(o.workspace)));
    const auto warnings
        = o.gpu ? std::vector<Message>() : machineWarnings(workers.value(), forecast.likely(), Machine::here());
    for (const auto& line : adopted.value())
        if (!o.json)
            std::cout << line << "\n";
    if (o.json)
        print({ { "preset", o.preset }, { "adopted", adopted.value() }, { "workers", workers.value().size() },
            { "warnings", warnings }, { "path", toString(path) }, { "parameters", model.parameterCount() },
            { "vocabulary", model.vocabularySize }, { "weights", e.weights }, { "gradients", e.gradients },
            { "optimizer", e.optimizer }, { "activations", e.activations }, { "logits", e.logits },
            { "process", e.process }, { "checkpoint", e.checkpoint }, { "formula", e.total() },
            { "earlier_workers", forecast.runs }, { "factor", forecast.factor }, { "likely", forecast.likely() },
            { "low", forecast.low() }, { "high", forecast.high() } });
    else
        say(forecast, model, o.gpu);
    if (!o.json)
        for (const auto& warning : warnings)
            std::cout << warning << std::endl;
    return kDone;
}

} // namespace

void addEstimateCommand(CLI::App& app, Chosen& chosen)
{
    auto o = std::make_shared<Options>();
    auto* command
        = app.add_subcommand("estimate", "Say how much memory each worker of a run with these settings would take.");
    command->add_option("--preset", o->preset, "A built-in preset.")->capture_default_str();
    command->add_option("--vocabulary", o->vocabulary, "Size of the vocabulary; 0: what the tokenizer usually has.")
        ->capture_default_str();
    command->add_option("--workspace", o->workspace, "Folder whose earlier runs correct the formula.")
        ->capture_default_str();
    command->add_flag("--gpu", o->gpu, "On a GPU; without it on this computer's CPU.");
    command->add_flag("--json", o->json, "Print JSON, in bytes.");
    o->settings.addTo(*command, false);
    command->callback([&chosen, o] { chosen.action = [o] { return estimate(*o); }; });
}

} // namespace furrow::ctl
