// eval, and what all tasks share.

#include "core/train/tasks/tasks_torch.h"

#include "core/base/caught.h"
#include "core/base/check.h"
#include "core/base/clock.h"
#include "core/base/file_system.h"
#include "core/base/format.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/data/hub/hub_pieces.h"
#include "core/data/overlap.h"
#include "core/data/plan/sample_encoder.h"
#include "core/run/folder/frozen_config.h"
#include "core/run/folder/adopted_model.h"
#include "core/run/status/ledger_view.h"
#include "core/run/status/row_fates.h"
#include "core/run/status/run_weights.h"
#include "core/tracker/ledger_reader.h"
#include "core/train/loop/evaluation_torch.h"
#include "core/train/loop/step_torch.h"

#include <algorithm>
#include <optional>
#include <torch/torch.h>

namespace furrow {

namespace {

constexpr HeldOutLimits kMostText { 1 << 28, 1ull << 30 }; // of an evaluation text

/// What a task works with. Without `row` the run has trained nothing yet and stands on its start weights.
struct ChosenWeights {
    std::optional<SupervisorLedger::CheckpointRow> row;
    std::optional<RunWeights> newest; ///< whose they are, when no checkpoint was named
    nlohmann::json place; ///< placeAmong()
};

/// {"newest": the checkpoint that is, "newest_step", "is_newest", "before_end_of_epoch" (from 1, null: none)} of a
/// checkpoint: what of the run a figure of it tells.
nlohmann::json placeAmong(const SupervisorLedger::CheckpointRow& row, const std::optional<RunWeights>& newest,
    const std::vector<EpochRow>& epochs)
{
    const bool isNewest = newest && newest->row.id == row.id;
    const auto epoch = unfinishedEpoch(epochs, isNewest ? std::nullopt : std::optional(row.wallNs));
    return { { "newest", newest ? nlohmann::json(newest->row.record.folder) : nlohmann::json(nullptr) },
        { "newest_step", newest ? newest->row.record.step : 0 }, { "is_newest", isNewest },
        { "before_end_of_epoch", epoch ? nlohmann::json(*epoch + 1) : nlohmann::json(nullptr) } };
}

/// The checkpoint of that name; without one the weights that the run is known by.
Result<ChosenWeights> chosenCheckpoint(const RunPaths& paths, const std::string& name)
{
    FURROW_TRY_ASSIGN(auto reader, LedgerReader::open(paths.tracker()));
    FURROW_TRY_ASSIGN(auto rows, reader.checkpoints());
    FURROW_TRY_ASSIGN(const auto epochs, reader.epochs());
    const auto newest = weightsOf(rows);
    for (const auto& row : rows)
        if (!name.empty()
            && (row.record.folder == name || std::to_string(row.id.value) == name)) // as the console has it
            return row.removed ? Result<ChosenWeights>(Error { ErrorCode::InvalidArgument,
                                     sentence("checkpoint %1 was removed by the keep policy.", { name }) })
                               : ChosenWeights { row, {}, placeAmong(row, newest, epochs) };
    if (!name.empty())
        return Error { ErrorCode::InvalidArgument,
            sentence("The run has no checkpoint '%1'. They are the folders in %2.",
                { name, utf8Text(paths.checkpointsFolder()) }) };
    return newest ? ChosenWeights { newest->row, newest, placeAmong(newest->row, newest, epochs) } : ChosenWeights {};
}

/// Weights of a checkpoint, or of init_from or the seed, for inference.
Result<std::unique_ptr<Learner>> learnerWith(
    const RunSetup& setup, const std::optional<SupervisorLedger::CheckpointRow>& row, ReplicaState& state)
{
    if (!row)
        return newLearner(setup);
    FURROW_TRY_ASSIGN(auto checkpoint, loadCheckpoint(setup.paths, setup.file.runId, row->record, { .frozen = true }));
    RunSetup bare = setup;
    bare.config.initFrom.clear(); // the weights come from the checkpoint
    FURROW_TRY_ASSIGN(auto learner, newLearner(bare));
    if (auto fits = learner->loadWeights(checkpoint.allWeights()); !fits.ok())
        return fits.error().in(sentence("checkpoint %1", { row->record.folder }));
    state = checkpoint.state;
    return learner;
}

} // namespace

Result<LoadedRun> loadRun(const TaskOptions& options)
{
    if (isModelOfOthers(options.runFolder))
        return loadModelOfOthers(options);
    FURROW_TRY_ASSIGN(
        auto setup, openRun(RunPaths(options.runFolder), { options.device, options.threads, options.counting }));
    FURROW_TRY_ASSIGN(auto chosen, chosenCheckpoint(setup.paths, options.checkpoint));
    const auto& row = chosen.row;
    FURROW_TRY_ASSIGN(auto tokenizer, tokenizerOfRun(setup.paths, setup.file));
    ReplicaState state;
    FURROW_TRY_ASSIGN(auto learner, learnerWith(setup, row, state));
    learner->swapAverage(); // with ema_decay it is what is evaluated, sampled and exported
    return LoadedRun { std::move(setup), std::move(tokenizer), std::move(learner),
        row ? row->record.folder : std::string(kStartWeightsName), std::move(chosen.newest), std::move(state),
        std::move(chosen.place) };
}

Result<std::string> newestCheckpoint(const RunPaths& paths)
{
    FURROW_TRY_ASSIGN(const auto chosen, chosenCheckpoint(paths, {}));
    return chosen.row ? chosen.row->record.folder : std::string(kStartWeightsName);
}

nlohmann::json weightsJson(const LoadedRun& run) { return run.newest ? toJson(*run.newest) : nlohmann::json(nullptr); }

Result<nlohmann::json> checkTask(const TaskOptions& options)
{
    FURROW_TRY_ASSIGN(
        auto setup, openRun(RunPaths(options.runFolder), { options.device, options.threads, options.counting }));
    std::string text;
    for (const auto& problem : trainingProblems(setup))
        text += (text.empty() ? "" : "\n") + problem;
    if (!text.empty())
        return Error { ErrorCode::InvalidArgument, text };
    FURROW_TRY_ASSIGN(const auto learner, newLearner(setup));
    return nlohmann::json { { "parameters", setup.modelConfig.parameterCount() } };
}

bool isOfStartWeights(const LoadedRun& run) { return run.isRun() && run.checkpoint == kStartWeightsName; }

namespace {

/// Says in the log what goes on, at most every ten seconds: who waits for minutes takes silence for the end.
class SlowWork {
public:
    void say(const std::string& what)
    {
        const std::int64_t now = systemClock().monotonicNs();
        if (now - saidNs_ < kSilenceNs)
            return;
        saidNs_ = now;
        logInfo(what);
    }

private:
    static constexpr std::int64_t kSilenceNs = 10'000'000'000;
    std::int64_t saidNs_ = systemClock().monotonicNs();
};

} // namespace

Result<nlohmann::json> evalTask(const TaskOptions& options, const std::function<bool()>& stopRequested)
{
    FURROW_TRY_ASSIGN(auto run, loadRun(options));
    if (!run.learner->model())
        return Error { ErrorCode::InvalidArgument, sentence("the counting model has nothing to evaluate") };
    if (!options.tasks.empty())
        return questionsTask(run, options, stopRequested);
    if (!run.isRun() && options.data.empty())
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "A model without a run has no evaluation text. Name one with --data, or questions with --tasks.") };
    RunConfig config = run.setup.config;
    if (run.isRun() && namesChatFile(config)) // as it was when the run was made, whatever became of that file
        config.chatTemplate = utf8Text(run.setup.paths.originFolder());
    std::optional<KeepHubPieces> kept(std::in_place, run.setup.paths.cacheFolder(), config.cacheGiB);
    FURROW_TRY_ASSIGN(auto text,
        options.data.empty() ? readHeldOut(run.setup.paths.evaluationFile())
                             : readEvaluationText(config, options.data, *run.tokenizer, kMostText));
    kept.reset(); // what follows may read all of the training data
    const bool alsoTrained = text.alsoTrained;
    const bool complete = text.complete;
    const std::vector<Message> left = leftInWords(text.left);
    const std::vector<std::uint64_t> fingerprints = text.text.fingerprints;
    const std::string source = options.data.empty() ? config.evalData : options.data;
    const auto allTokens = static_cast<std::int64_t>(text.text.tokens.size());
    const EvaluationSet set(std::move(text), run.tokenizer->endOfText(),
        { windowRules(config), config.batchSize, 0, preferenceRule(config) }, run.setup.device);
    SlowWork work;
    std::int64_t batches = 0;
    FURROW_TRY_ASSIGN(auto result, set.run(*run.learner->model(), true, [&] {
        const std::int64_t done = std::min(allTokens, ++batches * config.batchSize * config.seqLen);
        work.say("evaluated " + formatCount(done) + " of about " + formatCount(allTokens) + " tokens");
        return !stopRequested();
    }));
    const auto& e = result;
    nlohmann::json overlap;
    if (!source.empty() && run.isRun()) {
        FURROW_TRY_ASSIGN(auto ledger, openLedger(run.setup.paths, ReadFor::Long));
        FURROW_TRY_ASSIGN(
            const auto isTrained, trainedRows(ledger, run.setup.file.dataManifest, run.setup.paths.duplicatesFile()));
        const auto goOn = [&] {
            work.say("looking for these texts in the training data");
            return !stopRequested();
        };
        FURROW_TRY_ASSIGN(auto found,
            overlapWithTraining(config, run.setup.file.dataManifest, fingerprints,
                std::numeric_limits<std::uint64_t>::max(), goOn, isTrained));
        overlap = { { "text", describe(found) }, { "samples", found.samples }, { "also_trained", found.seen },
            { "share", found.share() } };
    }
    return nlohmann::json { { "overlap", overlap }, { "not_in_it", left }, { "is_run", run.isRun() },
        { "checkpoint", run.checkpoint }, { "is_start_weights", isOfStartWeights(run) },
        { "weights", weightsJson(run) }, { "place", run.place }, { "step", run.state.step },
        { "data", source.empty() ? "held-out" : source }, { "complete", complete }, { "loss", e.loss },
        { "perplexity", e.pairs.pairs > 0 ? nlohmann::json(nullptr) : nlohmann::json(e.perplexity()) },
        { "bits_per_byte", e.bitsPerByte }, { "accuracy", e.accuracy }, { "tokens", e.tokens },
        { "pairs", e.pairs.pairs }, { "margin", e.pairs.margin }, { "preferred", e.pairs.preferred },
        { "also_trained", alsoTrained } };
}

Result<nlohmann::json> runTask(
    const TaskOptions& options, const TaskOutput& output, const std::function<bool()>& stopRequested)
{
    try {
        switch (options.task) {
        case WorkerTask::Check: return checkTask(options);
        case WorkerTask::Eval: return evalTask(options, stopRequested);
        case WorkerTask::Sample: return sampleTask(options, output, stopRequested);
        case WorkerTask::Chat: return chatTask(options, output, stopRequested);
        case WorkerTask::Export: return exportTask(options);
        case WorkerTask::Merge: return mergeTask(options);
        case WorkerTask::Bench: return benchTask(options, stopRequested);
        case WorkerTask::BenchCheckpoint: return benchCheckpointTask(options, stopRequested);
        case WorkerTask::Fit: return fitTask(options, stopRequested);
        case WorkerTask::Stream: return streamTask(options, output, stopRequested);
        case WorkerTask::Torch: return torchTask();
        }
    } catch (const c10::Error& e) {
        return Error { ErrorCode::Internal, e.what_without_backtrace() };
    } catch (const std::exception& e) {
        return caught(e);
    }
    FURROW_CHECK(false, "a task outside its set");
}

} // namespace furrow
