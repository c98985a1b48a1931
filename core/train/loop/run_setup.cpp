#include "core/train/loop/run_setup_torch.h"

#include "core/base/clock.h"
#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/cuda/cuda_backend_torch.h"
#include "core/data/block_manager.h"
#include "core/run/folder/before_writing.h"
#include "core/run/folder/checkpoint_manifest.h"
#include "core/run/folder/frozen_config.h"
#include "core/run/folder/start_weights_hash.h"
#include "core/run/start/life_cycle.h"
#include "core/telemetry/writer.h"
#include "core/train/checkpoint/start_weights_torch.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <algorithm>

namespace furrow {

Result<c10::Device> findDevice(const std::string& name)
{
    if (name.empty() || name == "cpu")
        return c10::Device(c10::kCPU);
    const auto cuda = cudaBackend();
    if (!cuda.ok())
        return Error { ErrorCode::InvalidArgument,
            sentence("There is no device '%1' here, only cpu: %2.", { name, cuda.error().message }) };
    std::string known = "cpu";
    try {
        const auto gpus = cuda.value()->gpus();
        for (std::size_t i = 0; i < gpus.size(); ++i) {
            const std::string byNumber = "cuda:" + std::to_string(i);
            if (name == gpus[i].uuid || name == byNumber || (name == "cuda" && i == 0))
                return c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(i));
            known += ", " + gpus[i].uuid + " (" + byNumber + ")";
        }
    } catch (const c10::Error& e) {
        return Error { ErrorCode::Internal, sentence("the GPUs cannot be used: %1", { e.what_without_backtrace() }) };
    }
    return Error { ErrorCode::InvalidArgument,
        sentence("There is no device '%1' here. What there is: %2.", { name, known }) };
}

void setUpCompute(const ComputeOptions& compute, const ComputeRules& rules)
{
    auto& context = at::globalContext();
    at::set_num_threads(std::max(compute.threads, 1));
    context.setDeterministicAlgorithms(rules.deterministic, false);
    context.setAllowTF32CuBLAS(rules.tf32 && !rules.deterministic);
    context.setAllowTF32CuDNN(rules.tf32 && !rules.deterministic);
    const bool any = rules.attention == AttentionKernel::Auto;
    context.setSDPUseFlash(any || rules.attention == AttentionKernel::Flash);
    context.setSDPUseMemEfficient(any || rules.attention == AttentionKernel::Efficient);
    context.setSDPUseCuDNN(any);
    context.setSDPUseMath(true); // what the wanted kernel cannot compute must still be computed
}

Result<RunSetup> openRun(const RunPaths& paths, const ComputeOptions& compute)
{
    FURROW_TRY_ASSIGN(auto file, readRunFile(paths));
    FURROW_TRY_ASSIGN(auto config, currentConfig(paths));
    FURROW_TRY_ASSIGN(auto device, findDevice(compute.device));
    shareAround(paths); // a worker may be started by hand, and an evaluation keeps what it fetches in the cache
    RunSetup setup { paths, std::move(file), std::move(config), {}, compute, device };
    setup.modelConfig = modelConfigOf(setup.config, setup.file.vocabularySize);
    setUpCompute(compute, { setup.config.deterministic || device.is_cpu(), setup.config.tf32, setup.config.attention });
    return setup;
}

std::vector<std::string> trainingProblems(const RunSetup& setup)
{
    std::vector<std::string> problems;
    if (setup.compute.counting)
        return problems;
    for (const auto& problem : setup.modelConfig.validate())
        problems.push_back(problem.message);
    if (auto precision = precisionFor(setup.config.precision, setup.device); !precision.ok())
        problems.push_back("precision: " + precision.error().message);
    const bool isHrm = setup.modelConfig.architecture == Architecture::Hrm;
    if (setup.config.clipPerSample > 0 && (isHrm || setup.modelConfig.moeExperts > 0)) // of a model from elsewhere too
        problems.push_back("clip_per_sample: "
            + sentence(
                "the gradient of each window alone is known of architecture gpt without experts only; allowed is 0")
                .text());
    return problems;
}

Result<RunSetup> openTrainerRun(const TrainerOptions& options)
{
    FURROW_TRY_ASSIGN(auto guard, RunFolderGuard::watch(RunPaths(options.runFolder)));
    auto setup
        = openRun(RunPaths(options.runFolder), { options.device, options.threads, options.counting, options.worker });
    if (!setup.ok())
        return setup.error();
    setup.value().ranks = options.ranks;
    setup.value().files = std::make_shared<GuardedFiles>(std::move(guard));
    std::string text;
    for (const auto& problem : trainingProblems(setup.value()))
        text += (text.empty() ? "" : "\n") + problem;
    return text.empty() ? std::move(setup) : Error { ErrorCode::InvalidArgument, text };
}

Result<TelemetryWriter> openTelemetry(const RunSetup& setup, const TrainerOptions& options)
{
    FURROW_TRY(setup.files->guard().check());
    return TelemetryWriter::open(setup.paths.telemetryFile(options.attempt, options.worker),
        { setup.file.runId, options.attempt, options.worker }, systemClock());
}

ChunkLoader::Options loaderOptions(const RunSetup& setup, const Tokenizer& tokenizer)
{
    ChunkLoader::Options loader;
    loader.tracker = setup.paths.tracker();
    loader.blockFolder = BlockManager::blockFolder(setup.paths.cacheFolder());
    loader.endOfText = tokenizer.endOfText();
    loader.windows = windowRules(setup.config);
    loader.seed = setup.config.seed;
    loader.shuffle = setup.config.shuffle;
    return loader;
}

Result<RunSetup> setupToGoOn(const RunSetup& setup, LedgerReader& reader, std::int32_t replica)
{
    if (setup.config.initFrom.empty())
        return setup;
    FURROW_TRY_ASSIGN(const auto replicas, reader.replicas());
    FURROW_TRY_ASSIGN(const auto rows, reader.checkpoints());
    const auto own
        = std::find_if(replicas.begin(), replicas.end(), [replica](const auto& one) { return one.replica == replica; });
    const auto head = own == replicas.end() || !own->head
        ? rows.end()
        : std::find_if(rows.begin(), rows.end(), [&own](const auto& row) { return row.id == *own->head; });
    if (head == rows.end())
        return setup;
    const auto manifest = readManifest(setup.paths.checkpointsFolder() / pathFromUtf8(head->record.folder));
    const bool hasAll = manifest.ok() && (setup.config.loraRank == 0 || manifest.value().frozen);
    RunSetup bare = setup;
    if (hasAll)
        bare.config.initFrom.clear();
    return bare;
}

Result<std::unique_ptr<Learner>> newLearner(const RunSetup& setup)
{
    if (setup.compute.counting)
        return createCountingLearner(setup.compute.worker, setup.windowsPerStep());
    const auto& c = setup.config;
    auto precision = precisionFor(c.precision, setup.device);
    if (!precision.ok())
        return precision.error().in(Message::of({}, { settingTerm("precision") }));
    ModelOptions options;
    options.seed = static_cast<std::uint64_t>(c.seed);
    options.device = setup.device;
    options.precision = precision.value();
    options.threads = std::max(setup.compute.threads, 1);
    options.fastCpu = setup.compute.fastCpu;
    OptimizerConfig optimizer;
    options.checkpointActivations = c.recompute;
    optimizer.kind = c.optimizer;
    optimizer.beta1 = c.beta1;
    optimizer.beta2 = c.beta2;
    optimizer.epsilon = c.epsilon;
    optimizer.weightDecay = c.weightDecay;
    optimizer.momentum = c.beta1;
    optimizer.threads = options.threads;
    auto learner = createModelLearner(setup.modelConfig, options, optimizer,
        { c.emaDecay, precision.value() == Precision::Float16, c.cudaGraph && setup.ranks == 1 });
    if (!learner.ok() || c.initFrom.empty())
        return learner;
    FURROW_TRY(checkStartWeights(c.initFrom, setup.file.startWeightsHash));
    auto start = startWeights(c.initFrom, setup.modelConfig);
    if (!start.ok())
        return start.error().in(Message::of({}, { settingTerm("init_from") }));
    if (c.objective == Objective::Dpo && std::any_of(start.value().begin(), start.value().end(), [](const auto& one) {
            return isLoraPair(one.first);
        })) // without them the model is another one than the person starts with
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "%1 %2 has pairs of LoRA of its own, which the reference would lack. Export it ('furrowctl export --format huggingface') and start from that folder.",
                { settingTerm("init_from"), c.initFrom }) };
    for (const auto& [name, tensor] : learner.value()->weights())
        if (isLoraPair(name) && !findTensor(start.value(), name))
            start.value().emplace_back(name, tensor); // fresh pairs beside weights that have none
    if (auto loaded = learner.value()->loadWeights(start.value()); !loaded.ok())
        return loaded.error().in(sentence("%1 %2", { settingTerm("init_from"), c.initFrom }));
    return learner;
}

} // namespace furrow
