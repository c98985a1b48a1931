// estimate: how much memory a worker will take, before there is a run.

#include "app/furrowctl/command.h"
#include "core/base/format.h"
#include "core/base/process.h"
#include "core/device/placement.h"
#include "core/model/memory_estimate.h"

#include <nlohmann/json.hpp>

#include <iostream>

namespace furrow::ctl {

namespace {

struct Options {
    std::string preset = "char";
    std::uint32_t vocabulary = 0;
    bool gpu = false;
    bool json = false;
    SettingOptions settings;
};

std::string bytes(std::int64_t count)
{
    return formatBytes(static_cast<std::uint64_t>(count));
}

int estimate(const Options& o)
{
    auto preset = findPreset(o.preset);
    if (!preset.ok())
        return fail(preset.error(), o.json);
    RunConfig config = preset.value().config;
    if (const auto problems = o.settings.apply(config); !problems.empty())
        return failUsage(toString(problems), o.json);
    const ModelConfig model = modelConfigOf(config, o.vocabulary > 0 ? o.vocabulary : usualVocabulary(config));
    if (const auto problems = model.validate(); !problems.empty())
        return failUsage(problems.front().message, o.json);
    const StepPath path = stepPathOf(config, model, o.gpu);
    config.devices = "cpu"; // for its threads alone
    const auto workers = placeWorkers(config, {}, cpuCount());
    if (!workers.ok())
        return fail(workers.error(), o.json);
    const MemoryEstimate e = estimateMemory(config, model, path, workers.value().front().threads);
    if (o.json) {
        print({ { "preset", o.preset }, { "path", path == StepPath::Gpu ? "gpu" : path == StepPath::CpuFast ? "cpu fast" : "cpu operators" }, { "parameters", model.parameterCount() },
            { "vocabulary", model.vocabularySize }, { "weights", e.weights }, { "gradients", e.gradients }, { "optimizer", e.optimizer }, { "activations", e.activations },
            { "logits", e.logits }, { "process", e.process }, { "checkpoint", e.checkpoint }, { "total", e.total() } });
        return kDone;
    }
    std::cout << "About " << bytes(e.total()) << (o.gpu ? " on each GPU" : " for each worker") << ", by formula; " << formatCount(model.parameterCount()) << " parameters with a vocabulary of "
              << formatCount(model.vocabularySize) << ".\n";
    const std::pair<const char*, std::int64_t> parts[] = { { "weights", e.weights }, { "gradients", e.gradients }, { "optimizer", e.optimizer }, { "activations", e.activations },
        { "logits", e.logits }, { "the program", e.process }, { "a copy for checkpoints", e.checkpoint } };
    for (const auto& [name, size] : parts)
        if (size > 0)
            std::cout << "  " << bytes(size) << "  " << name << "\n";
    std::cout << (o.gpu ? "It was never compared with a GPU: `furrowctl fit` measures one.\n" : "Measured peaks were within 20 % of it: tests/bench/README.md.\n") << std::flush;
    return kDone;
}

} // namespace

void addEstimateCommand(CLI::App& app, Chosen& chosen)
{
    auto o = std::make_shared<Options>();
    auto* command = app.add_subcommand("estimate", "Say how much memory each worker of a run with these settings would take.");
    command->add_option("--preset", o->preset, "A built-in preset.")->capture_default_str();
    command->add_option("--vocabulary", o->vocabulary, "Size of the vocabulary; 0: what the tokenizer usually has.")->capture_default_str();
    command->add_flag("--gpu", o->gpu, "On a GPU; without it on this computer's CPU.");
    command->add_flag("--json", o->json, "Print JSON, in bytes.");
    o->settings.addTo(*command, false);
    command->callback([&chosen, o] { chosen.action = [o] { return estimate(*o); }; });
}

} // namespace furrow::ctl
