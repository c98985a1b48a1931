// eval, and what all tasks share.

#include "core/train/loop/tasks_torch.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/data/overlap.h"
#include "core/run/run_weights.h"
#include "core/tracker/ledger_reader.h"
#include "core/train/loop/evaluation_torch.h"

#include <torch/torch.h>

namespace furrow {

namespace {

constexpr HeldOutLimits kMostText { 1 << 28, 1ull << 30 }; // of an evaluation text

/// What a task works with. Without `row` the run has trained nothing yet and stands on its start weights.
struct ChosenWeights {
    std::optional<SupervisorLedger::CheckpointRow> row;
    std::optional<RunWeights> newest; ///< whose they are, when no checkpoint was named
};

/// The checkpoint of that name; without one the weights that the run is known by.
Result<ChosenWeights> chosenCheckpoint(const RunPaths& paths, const std::string& name)
{
    auto reader = LedgerReader::open(paths.tracker());
    if (!reader.ok())
        return reader.error();
    auto rows = reader.value().checkpoints();
    if (!rows.ok())
        return rows.error();
    for (const auto& row : rows.value())
        if (!name.empty() && row.record.folder == name)
            return row.removed ? Result<ChosenWeights>(Error { ErrorCode::NotFound, sentence("checkpoint %1 was removed by the keep policy.", { name }) }) : ChosenWeights { row, {} };
    if (!name.empty())
        return Error { ErrorCode::NotFound, sentence("The run has no checkpoint '%1'. They are the folders in %2.", { name, utf8Text(paths.checkpointsFolder()) }) };
    auto newest = weightsOf(rows.value());
    return newest ? ChosenWeights { newest->row, newest } : ChosenWeights {};
}

/// Weights of a checkpoint, or of init_from or the seed, for inference.
Result<std::unique_ptr<Learner>> learnerWith(const RunSetup& setup, const std::optional<SupervisorLedger::CheckpointRow>& row, ReplicaState& state)
{
    if (!row)
        return newLearner(setup);
    auto checkpoint = loadCheckpoint(setup.paths, setup.file.runId, row->record, { .frozen = true });
    if (!checkpoint.ok())
        return checkpoint.error();
    RunSetup bare = setup;
    bare.config.initFrom.clear(); // the weights come from the checkpoint
    auto learner = newLearner(bare);
    if (!learner.ok())
        return learner.error();
    if (auto fits = learner.value()->loadWeights(checkpoint.value().allWeights()); !fits.ok())
        return fits.error().in("checkpoint " + row->record.folder);
    state = checkpoint.value().state;
    return learner;
}

} // namespace

Result<LoadedRun> loadRun(const TaskOptions& options)
{
    auto setup = openRun(RunPaths(options.runFolder), { options.device, options.threads, options.counting });
    if (!setup.ok())
        return setup.error();
    auto chosen = chosenCheckpoint(setup.value().paths, options.checkpoint);
    if (!chosen.ok())
        return chosen.error();
    const auto& row = chosen.value().row;
    auto tokenizer = tokenizerOf(setup.value());
    if (!tokenizer.ok())
        return tokenizer.error();
    ReplicaState state;
    auto learner = learnerWith(setup.value(), row, state);
    if (!learner.ok())
        return learner.error();
    learner.value()->swapAverage(); // with ema_decay it is what is evaluated, sampled and exported
    return LoadedRun { std::move(setup).value(), std::move(tokenizer).value(), std::move(learner).value(), row ? row->record.folder : std::string(kStartWeightsName), std::move(chosen.value().newest), std::move(state) };
}

nlohmann::json weightsJson(const LoadedRun& run)
{
    return run.newest ? toJson(*run.newest) : nlohmann::json(nullptr);
}

Result<nlohmann::json> checkTask(const TaskOptions& options)
{
    auto setup = openRun(RunPaths(options.runFolder), { options.device, options.threads, options.counting });
    if (!setup.ok())
        return setup.error();
    std::string text;
    for (const auto& problem : trainingProblems(setup.value()))
        text += (text.empty() ? "" : "\n") + problem;
    if (!text.empty())
        return Error { ErrorCode::InvalidArgument, text };
    if (auto learner = newLearner(setup.value()); !learner.ok())
        return learner.error();
    return nlohmann::json { { "parameters", setup.value().modelConfig.parameterCount() } };
}

Result<nlohmann::json> evalTask(const TaskOptions& options, const std::function<bool()>& stopRequested)
{
    auto run = loadRun(options);
    if (!run.ok())
        return run.error();
    if (!run.value().learner->model())
        return Error { ErrorCode::InvalidArgument, sentence("the counting model has nothing to evaluate") };
    const auto& config = run.value().setup.config;
    auto text = options.data.empty() ? readHeldOut(run.value().setup.paths.evaluationFile()) : readEvaluationText(config, options.data, *run.value().tokenizer, kMostText);
    if (!text.ok())
        return text.error();
    const bool alsoTrained = text.value().alsoTrained;
    const bool complete = text.value().complete;
    const std::vector<std::uint64_t> fingerprints = text.value().text.fingerprints;
    const std::string source = options.data.empty() ? config.evalData : options.data;
    const EvaluationSet set(std::move(text).value(), run.value().tokenizer->endOfText(), config.seqLen, config.batchSize, 0, run.value().setup.device);
    auto result = set.run(*run.value().learner->model(), true, [&] { return !stopRequested(); });
    if (!result.ok())
        return result.error();
    const auto& e = result.value();
    nlohmann::json overlap;
    if (!source.empty()) {
        auto found = overlapWithTraining(config, run.value().setup.file.dataManifest, fingerprints, std::numeric_limits<std::uint64_t>::max(), [&] { return !stopRequested(); });
        if (!found.ok())
            return found.error();
        overlap = { { "text", describe(found.value()) }, { "samples", found.value().samples }, { "also_trained", found.value().seen }, { "share", found.value().share() } };
    }
    return nlohmann::json { { "overlap", overlap }, { "checkpoint", run.value().checkpoint }, { "weights", weightsJson(run.value()) }, { "step", run.value().state.step }, { "data", source.empty() ? "held-out" : source }, { "complete", complete }, { "loss", e.loss },
        { "perplexity", e.perplexity() }, { "bits_per_byte", e.bitsPerByte }, { "accuracy", e.accuracy }, { "tokens", e.tokens }, { "also_trained", alsoTrained } };
}

Result<nlohmann::json> runTask(const TaskOptions& options, const TaskOutput& output, const std::function<bool()>& stopRequested)
{
    try {
        if (options.task == "check")
            return checkTask(options);
        if (options.task == "eval")
            return evalTask(options, stopRequested);
        if (options.task == "sample")
            return sampleTask(options, output, stopRequested);
        if (options.task == "chat")
            return chatTask(options, output, stopRequested);
        if (options.task == "export")
            return exportTask(options);
        if (options.task == "merge")
            return mergeTask(options);
        if (options.task == "bench")
            return benchTask(options, stopRequested);
        if (options.task == "bench-checkpoint")
            return benchCheckpointTask(options, stopRequested);
        if (options.task == "fit")
            return fitTask(options, stopRequested);
        if (options.task == "stream")
            return streamTask(options, output, stopRequested);
    } catch (const c10::Error& e) {
        return Error { ErrorCode::Internal, e.what_without_backtrace() };
    } catch (const std::exception& e) {
        return Error { ErrorCode::Internal, e.what() };
    }
    return Error { ErrorCode::InvalidArgument, sentence("There is no task '%1'. Known are check, eval, sample, chat, export, merge, bench, bench-checkpoint, fit, stream.", { options.task }) };
}

} // namespace furrow
