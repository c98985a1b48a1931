#include "core/run/audit/model_card.h"

#include "core/base/absolute_path.h"
#include "core/base/format.h"
#include "core/base/number_of.h"
#include "core/base/path.h"
#include "core/base/plain_line.h"
#include "core/base/redact.h"
#include "core/config/schema.h"
#include "core/data/hub/hub_spec.h"
#include "core/data/plan/held_out.h"
#include "core/data/source/data_manifest.h"
#include "core/data/source/distant_source.h"
#include "core/run/audit/run_audit.h"
#include "core/run/folder/adopted_model.h"
#include "core/run/status/data_words.h"
#include "core/run/status/ledger_view.h"
#include "core/tracker/named_chunks.h"
#include "core/tracker/trained_behind.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

// How this works: a part of the card each, joined in modelCard(). Whatever others wrote (names, settings) goes
// through plain(), code() or placeName(): one line, no folders, no secrets, and nothing that Markdown takes for its
// own.

namespace furrow {

namespace {

using CheckpointRow = SupervisorLedger::CheckpointRow;

constexpr std::size_t kMostFiles = 40; // that are named; the hash of the rows speaks for all
constexpr std::size_t kMostText = 200; // bytes of a name or a value
/// Said in other parts of the card, or nothing to do with the weights.
constexpr std::array kNotShown { "name", "data", "data_weights", "init_from", "eval_data", "held_out_percent",
    "eval_tasks", "eval_tasks_limit", "sample_prompt", "devices", "cache_gib" };

std::string plain(std::string_view text)
{
    std::string line = plainLine(redacted(text), kMostText);
    for (const auto& [character, entity] : { std::pair("&", "&amp;"), std::pair("<", "&lt;") })
        for (auto at = line.find(character); at != std::string::npos; at = line.find(character, at + 1))
            line.replace(at, 1, entity);
    return line;
}

std::string code(std::string_view text)
{
    std::string line = plainLine(redacted(text), kMostText);
    std::replace_if(line.begin(), line.end(), [](char c) { return c == '`' || c == '|'; }, '\'');
    return "`" + line + "`";
}

/// Of a place on this machine its own name; what is none, or is elsewhere, stays.
std::string placeName(const std::string& text)
{
    const auto path = pathFromUtf8(text);
    if (isDistantPath(text) || !path.is_absolute())
        return text;
    return utf8Text(path.has_filename() ? path.filename() : path.parent_path().filename());
}

/// The folder that all files of a source on this machine lie in.
std::filesystem::path rootOf(const DataSource& source)
{
    std::filesystem::path root;
    for (const DataFile& file : source.files) {
        const auto path = pathFromUtf8(file.path);
        root = root.empty() ? path.parent_path() : root;
        while (!isInside(path, root) && root.has_relative_path())
            root = root.parent_path();
    }
    return root;
}

std::string frontMatter(const DataManifest& data)
{
    std::string text = "---\nlibrary_name: transformers\npipeline_tag: text-generation\ntags:\n- furrow\n";
    if (data.chat)
        text += "- conversational\n";
    const char* heading = "datasets:\n";
    for (const DataSource& source : data.sources)
        if (const auto hub = parseHubSpec(source.spec); isHubPath(source.spec) && hub.ok()) {
            text += heading + ("- " + nlohmann::json(withoutSecrets(hub.value().repository)).dump() + "\n");
            heading = "";
        }
    return text + "---\n";
}

std::string weightsText(const CardOf& of, const std::optional<CheckpointRow>& row, const Result<HeldOut>& held)
{
    std::string text = plain(of.shape) + ".\n\nTrained with Furrow " + plain(of.file.furrowVersion);
    if (!of.config.initFrom.empty())
        text += ", starting from " + code(placeName(of.config.initFrom))
            + (of.file.startWeightsHash.empty() ? ""
                                                : " (SHA-256 of its weights " + code(of.file.startWeightsHash) + ")");
    if (!row)
        return text + ". Nothing is trained yet: these are the weights that the run starts with.\n";
    const CheckpointRecord& r = row->record;
    text += ". These are the weights of checkpoint " + code(r.folder) + ": " + numberOf(r.step, "step") + ", "
        + numberOf(r.tokens, "token") + ".";
    const bool isOfPairs = of.file.config.objective == Objective::Dpo;
    if (r.evalLoss)
        text += std::string(" Their loss on ")
            + (held.ok() && held.value().alsoTrained ? "text that they were trained on" : "held-out text") + " is "
            + formatNumber(*r.evalLoss, 4) + (isOfPairs ? " nats per pair of answers." : " nats per token.");
    return text + "\n";
}

/// The audit of the ledger alone; and that files were not looked at.
std::string auditSaid(const RunPaths& paths, const CardOf& of)
{
    const auto audited = auditRun(paths, AuditDepth::Quick);
    if (!audited.ok())
        return "Not audited: the ledger cannot be read.\n";
    std::string text = audited.value().isClean()
        ? "The ledger of the run was audited for this card and is in order: each chunk that it counts as trained is in "
          "the surviving weights once, none twice, and none is missing."
        : "The audit of the run's ledger found something wrong, so nothing proves what is said here. `furrowctl audit` "
          "names it.";
    return text + " Prepared blocks and the source were not audited; `furrowctl audit --deep` on the folder of run "
        + code(of.file.runId) + " reads them, too.\n";
}

std::string seenTable(const std::vector<TrainedEpoch>& epochs)
{
    std::string text
        = "| epoch | chunks | whole in these weights | in part | nothing to train in them | left out by name | left out, trained by the parent run | samples |\n"
          "|---|---|---|---|---|---|---|---|\n";
    for (const TrainedEpoch& e : epochs) {
        text += "| " + std::to_string(e.epoch + 1);
        for (const std::int64_t count : { e.chunks, e.whole, e.partly, e.empty, e.leftOut, e.ofParent, e.samples })
            text += " | " + formatCount(count);
        text += " |\n";
    }
    return text;
}

std::string provenText(const RunPaths& paths, const CardOf& of, const std::optional<CheckpointRow>& row)
{
    if (!row)
        return {};
    std::string text = "\n## What the audit proves\n\n";
    if (!row->surviving)
        return text + "Nothing: the run went back behind this checkpoint and goes on without it.\n";
    text += "They were read whole, with the SHA-256 that the ledger has of them (manifest "
        + code(row->record.manifestSha256) + "). " + auditSaid(paths, of);
    auto ledger = openLedger(paths);
    const auto epochs = ledger.ok() ? trainedEpochs(ledger.value().file(), row->id) : ledger.error();
    if (!epochs.ok())
        return text + "\nWhat these weights have seen cannot be read from it.\n";
    return text + "\n" + seenTable(epochs.value());
}

/// Of the files of the data what is in no epoch, as the ledger has it. Its sentences name folders: they are counted.
std::string notTrainedText(const RunPaths& paths)
{
    std::string text;
    auto ledger = openLedger(paths, ReadFor::Long);
    const auto leftOut
        = ledger.ok() ? leftOutOfTheData(ledger.value().file(), -1) : Result<std::vector<LeftOutPart>>(ledger.error());
    if (leftOut.ok() && !leftOut.value().empty())
        text = "\nNot all of it was trained: a person chose to go on without what of these files had changed or could "
               "not be read any more ("
            + numberOf(std::ssize(leftOut.value()), "part") + "). `furrowctl audit` names it.\n";
    const auto epochs = ledger.ok() ? ledger.value().epochs() : Result<std::vector<EpochRow>>(ledger.error());
    const std::int64_t unreadable = epochs.ok() ? rowsKnown(epochs.value(), &RowCounts::failed) : 0;
    return unreadable == 0 ? text : text + "\n" + formatCount(unreadable) + " rows of it cannot be used.\n";
}

std::string dataText(const CardOf& of, const DataManifest& data)
{
    std::string rows;
    std::size_t files = 0;
    for (const DataSource& source : data.sources) {
        const auto root = rootOf(source);
        for (const DataFile& file : source.files) {
            if (++files > kMostFiles)
                continue;
            const bool isHere = !isDistantPath(file.path);
            rows += "| " + code(isHere ? utf8Text(pathFromUtf8(file.path).lexically_relative(root)) : file.path) + " | "
                + formatBytes(file.sizeBytes) + " | "
                + (file.hash.empty() ? "" : code(file.hash) + (file.wholeHash ? "" : " of parts of it")) + " |\n";
        }
    }
    std::string text = "\n## Data\n\nThe rows and their order have the hash " + code(of.file.dataIdentity) + ".";
    if (data.chat)
        text
            += " Conversations are written by the chat template that comes with this model; of them what the assistant "
               "says is learnt.";
    text += "\n\n| file | size | SHA-256 |\n|---|---|---|\n" + rows;
    return files <= kMostFiles
        ? text
        : text + "\nand " + formatCount(static_cast<std::int64_t>(files - kMostFiles)) + " files more.\n";
}

std::string heldOutText(const CardOf& of, const Result<HeldOut>& held)
{
    std::string text = "\n## Held out\n\n";
    if (!held.ok())
        return text + "Not known: the held-out text of the run cannot be read.\n";
    const auto samples = static_cast<std::int64_t>(held.value().text.fingerprints.size());
    if (samples == 0)
        return text + "Nothing was held out.\n";
    text += formatCount(samples) + " samples, " + formatBytes(held.value().textBytes) + " of text, ";
    if (!of.config.evalData.empty())
        text += "from " + code(placeName(of.config.evalData)) + ", a text of its own.";
    else if (held.value().alsoTrained)
        text += "which are trained, too, since the data is too small to hold some out: their loss is no measure.";
    else
        text += "that are never trained: those of the " + formatNumber(of.config.heldOutPercent, 2)
            + " % that the hash of their text chooses" + (held.value().complete ? "." : " which come first.");
    return text + (of.file.heldOutHash.empty() ? "" : " SHA-256 of this set: " + code(of.file.heldOutHash) + ".")
        + "\n";
}

/// Those that a person sees first, and what is not as it comes.
std::string settingTable(const CardOf& of)
{
    const RunConfig usual;
    RunConfig inForce = of.config;
    inForce.samplesPerBlock = of.file.samplesPerBlock;
    std::string text = "\n## Settings\n\nThose that differ from what Furrow takes by itself, and the ones that people "
                       "ask for first. The shape is in config.json.\n\n| setting | value |\n|---|---|\n";
    for (const Setting& s : settings()) {
        const std::string value = settingText(inForce, s);
        const bool isTold = s.basic || value != settingText(usual, s);
        if (!isTold || value.empty() || isAdopted(s) || std::ranges::count(kNotShown, s.key) > 0)
            continue;
        const bool isText = std::holds_alternative<std::string RunConfig::*>(s.field);
        text += "| " + s.key + " | " + code(isText ? placeName(value) : value) + " |\n";
    }
    return text;
}

Result<std::optional<CheckpointRow>> rowOf(const RunPaths& paths, const std::string& folder)
{
    FURROW_TRY_ASSIGN(auto ledger, openLedger(paths, ReadFor::Long));
    FURROW_TRY_ASSIGN(const auto rows, ledger.checkpoints());
    const auto found
        = std::find_if(rows.begin(), rows.end(), [&](const CheckpointRow& row) { return row.record.folder == folder; });
    return found == rows.end() ? std::optional<CheckpointRow>() : *found;
}

} // namespace

Result<std::string> modelCard(const RunPaths& paths, const CardOf& of)
{
    FURROW_TRY_ASSIGN(const auto data, readManifest(of.file.dataManifest));
    FURROW_TRY_ASSIGN(const auto row, rowOf(paths, of.checkpoint));
    const auto held = readHeldOut(paths.evaluationFile());
    return frontMatter(data) + "\n# " + plain(of.config.name.empty() ? "A model" : of.config.name) + "\n\n"
        + weightsText(of, row, held) + provenText(paths, of, row) + dataText(of, data) + notTrainedText(paths)
        + heldOutText(of, held) + settingTable(of);
}

} // namespace furrow
