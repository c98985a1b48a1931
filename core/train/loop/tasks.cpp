// eval and sample, and what all tasks share.

#include "core/train/loop/tasks_torch.h"

#include "core/base/clock.h"
#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/tracker/ledger_reader.h"
#include "core/train/loop/evaluation_torch.h"
#include "core/train/sample/sampler_torch.h"

#include <torch/torch.h>

namespace furrow {

namespace {

constexpr std::uint64_t kMaxTextBytes = 1ull << 30;

/// The checkpoint of that name, else the newest merge that a replica stands on, else the newest head.
Result<SupervisorLedger::CheckpointRow> chosenCheckpoint(const RunPaths& paths, const std::string& name)
{
    auto reader = LedgerReader::open(paths.tracker());
    if (!reader.ok())
        return reader.error();
    auto rows = reader.value().checkpoints();
    if (!rows.ok())
        return rows.error();
    const SupervisorLedger::CheckpointRow* best = nullptr;
    for (const auto& row : rows.value()) {
        if (!name.empty() && row.record.folder == name) {
            if (row.removed)
                return Error { ErrorCode::NotFound, "checkpoint " + name + " was removed by the keep policy." };
            return row;
        }
        if (!name.empty() || row.damaged || row.removed || !row.head)
            continue;
        const bool merge = row.record.kind == CheckpointKind::Merge;
        if (!best || (merge && best->record.kind != CheckpointKind::Merge) || (merge == (best->record.kind == CheckpointKind::Merge) && row.id > best->id))
            best = &row;
    }
    if (best)
        return *best;
    return Error { ErrorCode::NotFound, name.empty() ? "The run has no checkpoint yet: train it first." : "The run has no checkpoint '" + name + "'. They are the folders in " + utf8Text(paths.checkpointsFolder()) + "." };
}

/// A text file as one sample.
Result<HeldOut> textOfFile(const std::string& file, const Tokenizer& tokenizer)
{
    auto bytes = readFile(pathFromUtf8(file), kMaxTextBytes);
    if (!bytes.ok())
        return bytes.error();
    if (bytes.value().empty())
        return Error { ErrorCode::InvalidArgument, file + " is empty: there is nothing to evaluate." };
    HeldOut text;
    text.textBytes = bytes.value().size();
    tokenizer.encode(bytes.value(), text.text.tokens);
    text.text.offsets = { 0, text.text.tokens.size() };
    text.text.fingerprints = { 0 };
    text.text.files = { 0 };
    text.text.rows = { 0 };
    text.text.flags = { 0 };
    return text;
}

} // namespace

Result<std::shared_ptr<const Tokenizer>> tokenizerOf(const RunSetup& setup)
{
    auto text = readFile(setup.paths.tokenizer(), 512u << 20);
    if (!text.ok())
        return text.error();
    return loadTokenizerDefinition(text.value(), setup.config.tokenizer);
}

Result<LoadedRun> loadRun(const TaskOptions& options)
{
    auto setup = openRun(RunPaths(options.runFolder), { options.device, options.threads, options.counting });
    if (!setup.ok())
        return setup.error();
    auto row = chosenCheckpoint(setup.value().paths, options.checkpoint);
    if (!row.ok())
        return row.error();
    auto checkpoint = loadCheckpoint(setup.value().paths, setup.value().file.runId, row.value().record, false);
    if (!checkpoint.ok())
        return checkpoint.error();
    auto tokenizer = tokenizerOf(setup.value());
    if (!tokenizer.ok())
        return tokenizer.error();
    setup.value().config.initFrom.clear(); // the weights come from the checkpoint
    auto learner = newLearner(setup.value());
    if (!learner.ok())
        return learner.error();
    if (auto fits = learner.value()->loadWeights(checkpoint.value().weights); !fits.ok())
        return fits.error().in("checkpoint " + row.value().record.folder);
    return LoadedRun { std::move(setup).value(), std::move(tokenizer).value(), std::move(learner).value(), row.value().record.folder, checkpoint.value().state };
}

Result<nlohmann::json> evalTask(const TaskOptions& options, const std::function<bool()>& stopRequested)
{
    auto run = loadRun(options);
    if (!run.ok())
        return run.error();
    if (!run.value().learner->model())
        return Error { ErrorCode::InvalidArgument, "the counting model has nothing to evaluate" };
    const auto& config = run.value().setup.config;
    auto text = options.data.empty() ? readHeldOut(run.value().setup.paths.evaluationFile()) : textOfFile(options.data, *run.value().tokenizer);
    if (!text.ok())
        return text.error();
    const bool alsoTrained = text.value().alsoTrained;
    const EvaluationSet set(std::move(text).value(), run.value().tokenizer->endOfText(), config.seqLen, config.batchSize, 0, run.value().setup.device);
    auto result = set.run(*run.value().learner->model(), true, [&] { return !stopRequested(); });
    if (!result.ok())
        return result.error();
    const auto& e = result.value();
    return nlohmann::json { { "checkpoint", run.value().checkpoint }, { "step", run.value().state.step }, { "data", options.data.empty() ? "held-out" : options.data }, { "loss", e.loss },
        { "perplexity", e.perplexity() }, { "bits_per_byte", e.bitsPerByte }, { "accuracy", e.accuracy }, { "tokens", e.tokens }, { "also_trained", alsoTrained } };
}

Result<nlohmann::json> sampleTask(const TaskOptions& options, const TaskOutput& output, const std::function<bool()>& stopRequested)
{
    auto run = loadRun(options);
    if (!run.ok())
        return run.error();
    auto* model = run.value().learner->model();
    if (!model)
        return Error { ErrorCode::InvalidArgument, "the counting model writes no text" };
    const auto& tokenizer = *run.value().tokenizer;
    std::vector<TokenId> ids;
    tokenizer.encode(options.prompt, ids);
    std::vector<std::int64_t> prompt(ids.begin(), ids.end());
    if (prompt.empty())
        prompt.push_back(tokenizer.endOfText());
    SampleOptions sample;
    sample.maxTokens = options.tokens;
    sample.temperature = options.temperature;
    sample.topK = options.topK;
    sample.topP = options.topP;
    sample.seed = static_cast<std::uint64_t>(options.seed);
    const std::int64_t began = systemClock().monotonicNs();
    std::vector<TokenId> all;
    std::string shown; // grows by whole tokens; a code point may need several
    output(options.prompt);
    auto tokens = sampleText(*model, prompt, sample, [&](std::int64_t token) {
        all.push_back(static_cast<TokenId>(token));
        const std::string text = tokenizer.decode(all);
        if (text.size() > shown.size() && text.compare(0, shown.size(), shown) == 0) {
            output(text.substr(shown.size()));
            shown = text;
        }
        return !stopRequested();
    });
    if (!tokens.ok())
        return tokens.error();
    const double seconds = static_cast<double>(systemClock().monotonicNs() - began) / 1e9;
    return nlohmann::json { { "checkpoint", run.value().checkpoint }, { "prompt", options.prompt }, { "text", tokenizer.decode(all) }, { "tokens", all.size() },
        { "tokens_per_s", static_cast<double>(all.size()) / std::max(seconds, 1e-9) } };
}

Result<nlohmann::json> runTask(const TaskOptions& options, const TaskOutput& output, const std::function<bool()>& stopRequested)
{
    try {
        if (options.task == "eval")
            return evalTask(options, stopRequested);
        if (options.task == "sample")
            return sampleTask(options, output, stopRequested);
        if (options.task == "export")
            return exportTask(options);
        if (options.task == "merge")
            return mergeTask(options);
        if (options.task == "bench")
            return benchTask(options, stopRequested);
        if (options.task == "stream")
            return streamTask(options, output, stopRequested);
    } catch (const c10::Error& e) {
        return Error { ErrorCode::Internal, e.what_without_backtrace() };
    } catch (const std::exception& e) {
        return Error { ErrorCode::Internal, e.what() };
    }
    return Error { ErrorCode::InvalidArgument, "There is no task '" + options.task + "'. Known are eval, sample, export, merge, bench, stream." };
}

} // namespace furrow
