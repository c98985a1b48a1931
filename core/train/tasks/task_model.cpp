// A model of another program as a run that has trained nothing: what tasks ask of a run is made in a scratch folder.

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/run/folder/adopted_model.h"
#include "core/train/tasks/tasks_torch.h"

#include <algorithm>

namespace furrow {

namespace {

constexpr std::int64_t kLongestWindow = 1024; // of an evaluation [tokens], or the context where that is shorter

/// Settings of inference: the shape of the model, one window at a time.
Result<RunConfig> configFor(const TaskOptions& options, const AdoptedModel& adopted)
{
    RunConfig config;
    config.initFrom = utf8Text(std::filesystem::absolute(options.runFolder));
    config.seqLen = adopted.context > 0 ? std::min(adopted.context, kLongestWindow) : kLongestWindow;
    config.batchSize = 1;
    RunConfig usual = config;
    FURROW_TRY(adoptModel(config, usual));
    return config;
}

} // namespace

Result<LoadedRun> loadModelOfOthers(const TaskOptions& options)
{
    const std::string name = utf8Text(options.runFolder);
    if (!options.checkpoint.empty())
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 is a model without a run, which has no checkpoints. Leave --checkpoint out.", { name }) };
    FURROW_TRY_ASSIGN(const auto adopted, readAdoptedModel(name));
    if (adopted.tokenizer.empty())
        return Error { ErrorCode::NotFound,
            sentence("%1 has no tokenizer.json or tokenizer.model, so texts have no meaning for it.", { name }) };
    FURROW_TRY_ASSIGN(auto config, configFor(options, adopted));
    FURROW_TRY_ASSIGN(auto tokenizer, loadTokenizer(config.tokenizer));
    if (tokenizer->vocabularySize() > adopted.vocabulary)
        return Error { ErrorCode::InvalidArgument,
            sentence("The tokenizer of %1 has %2 ids, but the model has %3.",
                { name, std::to_string(tokenizer->vocabularySize()), std::to_string(adopted.vocabulary) }) };
    FURROW_TRY_ASSIGN(auto device, findDevice(options.device));
    FURROW_TRY_ASSIGN(auto scratch, ScratchFolder::make(std::filesystem::temp_directory_path()));
    auto kept = std::make_shared<const ScratchFolder>(std::move(scratch));
    RunSetup setup { RunPaths(*kept / "run"), {}, config, {}, { options.device, options.threads }, device };
    setup.file.config = config;
    setup.file.vocabularySize = adopted.vocabulary;
    setup.modelConfig = modelConfigOf(config, adopted.vocabulary);
    FURROW_TRY(keepOrigin(setup.paths, config, realFileSystem()));
    setUpCompute(setup.compute, { config.deterministic || device.is_cpu(), config.tf32, config.attention });
    FURROW_TRY_ASSIGN(auto learner, newLearner(setup));
    return LoadedRun { std::move(setup), std::move(tokenizer), std::move(learner), name, {}, {}, {}, std::move(kept) };
}

} // namespace furrow
