// brain list, brain show: lineages that a person keeps - weights, tokenizer, history - over runs that were started from
// one another.

#include "app/furrowctl/command.h"
#include "core/base/format.h"
#include "core/base/path.h"
#include "core/base/plain_line.h"
#include "core/base/redact.h"
#include "core/run/status/brain.h"
#include "core/workspace/run_folders.h"

#include <nlohmann/json.hpp>

#include <iostream>

namespace furrow::ctl {

namespace {

nlohmann::json ancestorJson(const ParentFile& p)
{
    return { { "run_id", p.runId }, { "run", p.folder }, { "checkpoint", p.checkpoint }, { "step", p.step },
        { "tokens", p.tokens }, { "same_data", p.sameData }, { "chunks", p.chunkCount },
        { "partly_chunks", p.partlyChunks }, { "partly_samples", p.partlySamples },
        { "choice", p.skipped ? "skip" : "again" } };
}

nlohmann::json brainJson(const Brain& b)
{
    nlohmann::json json = { { "run", b.folder }, { "run_id", b.file.runId }, { "name", b.file.config.name },
        { "tokenizer", b.file.config.tokenizer }, { "tokenizer_hash", b.file.tokenizerHash },
        { "vocabulary_size", b.file.vocabularySize }, { "steps", b.steps }, { "tokens", b.tokens },
        { "checkpoint", b.weights ? nlohmann::json(b.weights->row.record.folder) : nlohmann::json(nullptr) },
        { "eval_loss",
            b.weights && b.weights->row.record.evalLoss ? nlohmann::json(*b.weights->row.record.evalLoss)
                                                        : nlohmann::json(nullptr) } };
    json["weights"] = b.weights ? toJson(*b.weights) : nlohmann::json(nullptr);
    json["init_from"] = b.file.config.initFrom; // "": from noise
    json["init_from_sha256"] = b.file.startWeightsHash; // "": not kept
    json["lora_rank"] = b.file.config.loraRank; // 0: all weights are trained
    json["epochs"] = nlohmann::json::array();
    for (const auto& epoch : b.epochs)
        json["epochs"].push_back({ { "epoch", epoch.epoch + 1 }, { "committed", epoch.chunks[ChunkState::Committed] },
            { "chunks", epoch.chunks.sum() } });
    json["ancestors"] = nlohmann::json::array();
    for (const auto& ancestor : b.ancestors)
        json["ancestors"].push_back(ancestorJson(ancestor));
    return json;
}

std::string brainText(const Brain& b)
{
    std::string text = b.file.config.name + " in " + plainLine(b.folder) + "\n  weights: "
        + (b.weights ? b.weights->row.record.folder + " of step " + formatCount(b.weights->row.record.step) + " ("
                    + whoseWeights(*b.weights) + ")"
                     : Message("not trained yet"));
    if (b.weights && b.weights->row.record.evalLoss)
        text += ", loss on held-out text " + formatNumber(*b.weights->row.record.evalLoss, 4);
    text += "\n  tokenizer: " + b.file.config.tokenizer + ", " + std::to_string(b.file.vocabularySize) + " tokens, "
        + b.file.tokenizerHash.substr(0, 12) + "\n  trained here: " + formatCount(b.steps) + " steps, "
        + formatCount(b.tokens) + " tokens\n";
    if (const auto& config = b.file.config; config.loraRank > 0)
        text
            += "    as LoRA pairs of rank " + std::to_string(config.loraRank) + " beside the weights it started from\n";
    for (const auto& epoch : b.epochs)
        text += "    epoch " + std::to_string(epoch.epoch + 1) + ": " + formatCount(epoch.chunks[ChunkState::Committed])
            + " of " + formatCount(epoch.chunks.sum()) + " chunks\n";
    if (b.ancestors.empty() && !b.file.config.initFrom.empty()) // of another program
        text += "  grew from the weights in " + b.file.config.initFrom
            + (b.file.startWeightsHash.empty() ? "" : " (SHA-256 " + b.file.startWeightsHash + ")") + "\n";
    for (const auto& p : b.ancestors) {
        text += "  grew from " + p.folder + ", checkpoint " + p.checkpoint + ": " + formatCount(p.step) + " steps, "
            + formatCount(p.tokens) + " tokens; "
            + (p.sameData ? formatCount(p.chunkCount) + " chunks of the same data, "
                        + (p.skipped ? "skipped here" : "a new pass here")
                          : std::string("other data"))
            + "\n";
        if (const Message partly = partlyInherited(p); !partly.empty())
            text += "    " + partly.text() + "\n";
    }
    return text;
}

struct Options {
    std::string folder;
    bool json = false;
};

int show(const Options& o)
{
    auto brain = readBrain(RunPaths(o.folder));
    if (!brain.ok())
        return fail(brain.error(), o.json);
    if (o.json)
        print(brainJson(brain.value()));
    else
        std::cout << brainText(brain.value()) << std::flush;
    return kDone;
}

int list(const Options& o)
{
    if (auto readable = checkWorkspaceThere(o.folder); !readable.ok())
        return fail(readable.error(), o.json);
    nlohmann::json all = nlohmann::json::array();
    for (const auto& folder : runFolders(pathFromUtf8(o.folder))) {
        auto brain = readBrain(RunPaths(folder));
        if (!brain.ok()) { // as `furrowctl list` names it
            const Message problem = messageWithoutSecrets(brain.error().message);
            all.push_back({ { "run", utf8Text(folder) }, { "problem", problem } });
            if (!o.json)
                std::cout << "cannot be read  " << plainLine(utf8Text(folder)) << "  " << problem << "\n";
            continue;
        }
        all.push_back(brainJson(brain.value()));
        if (!o.json)
            std::cout << brainText(brain.value());
    }
    if (o.json)
        print(all);
    else if (all.empty())
        std::cout << "No brains in " << o.folder << " yet." << std::endl;
    return kDone;
}

} // namespace

void addBrainCommands(CLI::App& app, Chosen& chosen)
{
    auto* brain = app.add_subcommand("brain", "Lineages of weights: what they were made from and what they have seen.");
    brain->require_subcommand(1);
    auto listed = std::make_shared<Options>();
    listed->folder = defaultWorkspace();
    auto* all = brain->add_subcommand("list", "The brains of a workspace.");
    all->add_option("--workspace", listed->folder, "Folder that keeps runs.")->capture_default_str();
    all->add_flag("--json", listed->json, "Print JSON.");
    all->callback([&chosen, listed] { chosen.action = [listed] { return list(*listed); }; });
    auto shown = std::make_shared<Options>();
    auto* one = brain->add_subcommand("show", "One brain: weights, tokenizer, history, ancestors.");
    one->add_option("run", shown->folder, "Folder of the run.")->required();
    one->add_flag("--json", shown->json, "Print JSON.");
    one->callback([&chosen, shown] { chosen.action = [shown] { return show(*shown); }; });
}

} // namespace furrow::ctl
