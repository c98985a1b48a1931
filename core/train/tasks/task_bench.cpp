// bench: tokens per second of a preset on made-up tokens. fit: the largest batch that a device takes. stream: random
// windows of one file without a ledger, to be compared with other programs on the same work (nanoGPT's character
// settings).

#include "core/train/tasks/tasks_torch.h"

#include "core/base/clock.h"
#include "core/base/file_system.h"
#include "core/base/format.h"
#include "core/base/path.h"
#include "core/base/random.h"
#include "core/base/sentence.h"
#include "core/config/schema.h"
#include "core/data/stream_data.h"
#include "core/model/memory_estimate.h"
#include "core/model/step_path.h"
#include "core/run/start/rate_plan.h"
#include "core/train/cpu/kernels.h"
#include "core/train/meters/memory_meter_torch.h"
#include "core/train/loop/step_torch.h"

#include <torch/torch.h>

#include <algorithm>

namespace furrow {

namespace {

double secondsNow() { return static_cast<double>(systemClock().monotonicNs()) / 1e9; }

/// A run that exists in memory only: the preset with what the command line changes.
/// @param vocabularySize  0: the preset's own
Result<RunSetup> setupOf(const TaskOptions& options, std::uint32_t vocabularySize = 0)
{
    FURROW_TRY_ASSIGN(auto preset, findPreset(options.preset));
    FURROW_TRY_ASSIGN(auto device, findDevice(options.device));
    RunSetup setup { RunPaths(std::filesystem::path()), {}, preset.config, {},
        { options.device, options.threads, false }, device };
    if (options.batchSize > 0)
        setup.config.batchSize = options.batchSize;
    if (options.seqLen > 0)
        setup.config.seqLen = options.seqLen;
    if (!options.precision.empty()) {
        const auto precision = closedValue<PrecisionChoice>(options.precision);
        if (!precision)
            return Error { ErrorCode::InvalidArgument,
                sentence("precision is '%1'; allowed are auto, fp32, bf16, fp16", { options.precision }) };
        setup.config.precision = *precision;
    }
    setup.config.seed = options.seed;
    setup.modelConfig
        = modelConfigOf(setup.config, vocabularySize > 0 ? vocabularySize : usualVocabulary(setup.config));
    setUpCompute(setup.compute, { device.is_cpu(), setup.config.tf32, setup.config.attention });
    if (const auto problems = trainingProblems(setup); !problems.empty())
        return Error { ErrorCode::InvalidArgument, problems.front() };
    return setup;
}

Batch emptyBatch(const RunSetup& setup)
{
    Batch batch;
    const auto& c = setup.config;
    batch.inputs_BT = torch::empty({ c.batchSize, c.seqLen }, torch::kInt64);
    batch.labels_BT = torch::empty({ c.batchSize, c.seqLen }, torch::kInt64);
    batch.labels = c.batchSize * c.seqLen;
    batch.windows = { 0, static_cast<std::int32_t>(c.batchSize) };
    return batch;
}

Batch randomBatch(const RunSetup& setup, std::int64_t seed)
{
    Random random(static_cast<std::uint64_t>(seed));
    auto batch = emptyBatch(setup);
    for (auto* tensor : { &batch.inputs_BT, &batch.labels_BT })
        for (std::int64_t i = 0; i < tensor->numel(); ++i)
            tensor->data_ptr<std::int64_t>()[i]
                = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(setup.modelConfig.vocabularySize)));
    return batch;
}

Batch onDevice(const Batch& batch, c10::Device device)
{
    Batch moved = batch;
    moved.inputs_BT = batch.inputs_BT.to(device);
    moved.labels_BT = batch.labels_BT.to(device);
    return moved;
}

struct StepTimes {
    std::size_t count = 0;
    double mean = 0, median = 0, backward = 0, optimizer = 0; // seconds of a step
};

Result<StepTimes> timeSteps(Learner& learner, const Batch& batch, const StepRules& rules, double seconds,
    const std::function<bool()>& stopRequested)
{
    StepRunner runner(learner, rules);
    std::vector<StepOutcome> known;
    const double warming = secondsNow();
    for (int i = 0; i < 5 && (i == 0 || secondsNow() - warming < seconds); ++i) // kernels are chosen, memory is taken
        (void)runner.run(stepOf({ batch }), 1e-4, known);
    runner.flush(known);
    known.clear();
    std::vector<double> each;
    const double began = secondsNow();
    while (secondsNow() - began < seconds && !stopRequested()) {
        const double from = secondsNow();
        (void)runner.run(stepOf({ batch }), 1e-4, known);
        runner.flush(known);
        each.push_back(secondsNow() - from);
    }
    if (each.empty())
        return Error { ErrorCode::Cancelled, sentence("the benchmark was stopped before its first step") };
    StepTimes times;
    const auto n = static_cast<double>(each.size());
    times.count = each.size();
    times.mean = (secondsNow() - began) / n;
    for (const auto& step : known) {
        times.backward += step.backwardSeconds / n;
        times.optimizer += step.optimizerSeconds / n;
    }
    std::sort(each.begin(), each.end());
    times.median = each[each.size() / 2];
    return times;
}

/// Operations a second of libtorch's matrix products on this device: what a model's rate is held against, since a data
/// sheet's peak is of another clock.
double productRate(c10::Device device, Precision precision)
{
    const std::int64_t n = device.is_cpu() ? 1024 : 8192;
    const auto type = precision == Precision::BFloat16 ? torch::kBFloat16
        : precision == Precision::Float16              ? torch::kFloat16
                                                       : torch::kFloat32;
    const auto a = torch::randn({ n, n }, device).to(type);
    const auto product
        = [&] { (void)torch::mm(a, a).select(0, 0).select(0, 0).item().toDouble(); }; // sync: the product is there
    constexpr int kTimes = 10;
    double best = 1e9;
    for (int i = 0; i < kTimes; ++i) {
        const double from = secondsNow();
        product();
        best = std::min(best, secondsNow() - from);
    }
    return 2.0 * static_cast<double>(n * n * n) / best;
}

/// The same steps with each attention kernel, and on a GPU with TF32 off and on. Empty where the model does not use
/// libtorch's operators, or replays a CUDA graph, which keeps the kernels that it was made with. A kernel that does not
/// fit says why.
Result<nlohmann::json> timeKernels(const RunSetup& setup, Learner& learner, const Batch& batch, double seconds,
    const std::function<bool()>& stopRequested)
{
    nlohmann::json rows = nlohmann::json::array();
    const bool isFast = cpu::kernels() != nullptr
        && stepPathOf(setup.config, setup.modelConfig, setup.device.is_cuda()) == StepPath::CpuFast;
    if (isFast || setup.config.cudaGraph)
        return rows;
    for (const bool tf32 : { false, true })
        for (const auto attention : { AttentionKernel::Math, AttentionKernel::Efficient, AttentionKernel::Flash }) {
            if (tf32 && !setup.device.is_cuda())
                continue;
            setUpCompute(setup.compute, { setup.device.is_cpu(), tf32, attention });
            nlohmann::json row { { "attention", nameOf(attention) }, { "tf32", tf32 } };
            try {
                FURROW_TRY_ASSIGN(
                    const auto times, timeSteps(learner, batch, stepRules(setup.config), seconds, stopRequested));
                row["tokens_per_s_median"] = static_cast<double>(batch.labels) / times.median;
                row["gain"] = row["tokens_per_s_median"].get<double>()
                    / (rows.empty() ? row : rows.front())["tokens_per_s_median"].get<double>();
            } catch (const c10::Error& error) {
                row["problem"] = error.what_without_backtrace();
            }
            rows.push_back(row);
        }
    setUpCompute(setup.compute, { setup.device.is_cpu(), setup.config.tf32, setup.config.attention });
    return rows;
}

/// Steps that clip each window by itself beside plain ones, in turns: those that the preset takes, and those by
/// libtorch's operators, which the clipped ones use too.
Result<nlohmann::json> timeClipping(
    const RunSetup& plain, const TaskOptions& options, const Batch& batch, const std::function<bool()>& stopRequested)
{
    constexpr int kRounds = 5;
    RunSetup byOperators = plain;
    byOperators.compute.fastCpu = false;
    RunSetup clipped = byOperators;
    clipped.config.clipPerSample = options.clipPerSample;
    clipped.config.noiseMultiplier = options.noiseMultiplier;
    if (const auto problems = trainingProblems(clipped); !problems.empty())
        return Error { ErrorCode::InvalidArgument, problems.front() };
    struct Kind {
        const char* name;
        const RunSetup& setup;
        std::vector<double> medians;
    };
    Kind kinds[] = { { "plain", plain, {} }, { "plain_operators", byOperators, {} }, { "clipped", clipped, {} } };
    for (int round = 0; round < kRounds; ++round)
        for (Kind& kind : kinds) {
            FURROW_TRY_ASSIGN(auto learner, newLearner(kind.setup));
            FURROW_TRY_ASSIGN(const auto times,
                timeSteps(*learner, batch, stepRules(kind.setup.config), options.seconds / kRounds, stopRequested));
            kind.medians.push_back(times.median);
        }
    nlohmann::json result { { "clip_per_sample", options.clipPerSample },
        { "noise_multiplier", options.noiseMultiplier }, { "rounds", kRounds } };
    const auto median = [](std::vector<double> values) {
        std::sort(values.begin(), values.end());
        return values[values.size() / 2];
    };
    for (const Kind& kind : kinds)
        result[std::string(kind.name) + "_ms"] = median(kind.medians) * 1e3;
    result["times_plain"] = median(kinds[2].medians) / median(kinds[0].medians);
    result["times_plain_operators"] = median(kinds[2].medians) / median(kinds[1].medians);
    return result;
}

/// Collects code points piece by piece for the character vocabulary.
Result<std::shared_ptr<const Tokenizer>> characterTokenizer(const std::string& file)
{
    FURROW_TRY_ASSIGN(auto text, readFile(pathFromUtf8(file), 1ull << 30));
    bool given = false;
    return buildCharTokenizer(
        [&](std::string_view& piece) {
            piece = text;
            return !std::exchange(given, true);
        },
        CharFallback::EndOfText);
}

/// Mean loss over random windows of the held-out tenth; the same ones each time.
Result<double> heldOutLoss(Learner& learner, const StreamData& data, const RunSetup& setup)
{
    constexpr int kBatches = 200; // as many as the PyTorch loop takes; a setting's 20 would be off by a hundredth
    Random random(mixSeed({ static_cast<std::uint64_t>(setup.config.seed), 77 }));
    const torch::NoGradGuard noGrad;
    double sum = 0;
    std::int64_t labels = 0;
    for (int i = 0; i < kBatches; ++i) {
        auto batch = emptyBatch(setup);
        FURROW_TRY(data.fillHeldOut(random, static_cast<int>(setup.config.batchSize), setup.config.seqLen,
            batch.inputs_BT.data_ptr<std::int64_t>(), batch.labels_BT.data_ptr<std::int64_t>()));
        const auto moved = onDevice(batch, setup.device);
        sum += learner.model()->lossSum(moved.inputs_BT, moved.labels_BT).sum.item<double>(); // sync: an evaluation
        labels += batch.labels;
    }
    return sum / static_cast<double>(labels);
}

} // namespace

Result<nlohmann::json> fitTask(const TaskOptions& options, const std::function<bool()>& stopRequested)
{
    constexpr double kUsable = 0.9; // of the memory: the rest is for others and for fragments
    constexpr std::int64_t kLargest = 1 << 16;
    FURROW_TRY_ASSIGN(auto setup, setupOf(options));
    FURROW_TRY_ASSIGN(auto learner, newLearner(setup));
    const auto limit = static_cast<std::int64_t>(kUsable * static_cast<double>(deviceMemoryBytes(setup.device)));
    MemoryMeter memory;
    StepRunner runner(*learner, stepRules(setup.config));
    nlohmann::json rows = nlohmann::json::array();
    std::int64_t largest = 0;
    std::int64_t before = 0; // peak of the batch half as large
    std::string end = "batch_size has reached its greatest value";
    for (std::int64_t windows = 1; windows <= kLargest; windows *= 2) {
        setup.config.batchSize = windows;
        std::vector<StepOutcome> known;
        double seconds = 0;
        try {
            const auto batch = onDevice(randomBatch(setup, options.seed), setup.device);
            for (int i = 0; i < 2; ++i) { // the second one has its memory already
                const double from = secondsNow();
                (void)runner.run(stepOf({ batch }), 1e-4, known); // fails only with a group
                runner.flush(known);
                seconds = secondsNow() - from;
            }
        } catch (const c10::OutOfMemoryError&) {
            end = "out of memory";
            break;
        }
        const std::int64_t peak = memory.read(setup.device, true).peakBytes;
        largest = windows;
        rows.push_back({ { "batch_size", windows }, { "peak_bytes", peak }, { "step_ms", seconds * 1e3 },
            { "tokens_per_s", static_cast<double>(windows * setup.config.seqLen) / seconds } });
        if (stopRequested())
            return Error { ErrorCode::Cancelled, sentence("fit was stopped") };
        if (before > 0 && peak + 2 * (peak - before) > limit) {
            end = "twice as much would not fit";
            break;
        }
        if (seconds > options.seconds) {
            end = "a step takes longer than " + formatDuration(options.seconds);
            break;
        }
        before = peak;
    }
    return nlohmann::json { { "preset", options.preset }, { "device", options.device },
        { "seq_len", setup.config.seqLen }, { "parameters", setup.modelConfig.parameterCount() },
        { "memory_bytes", limit }, { "largest_batch_size", largest }, { "end", end }, { "measured", rows } };
}

Result<nlohmann::json> benchTask(const TaskOptions& options, const std::function<bool()>& stopRequested)
{
    FURROW_TRY_ASSIGN(auto setup, setupOf(options));
    FURROW_TRY_ASSIGN(auto learner, newLearner(setup));
    const auto& c = setup.config;
    const auto batch = onDevice(randomBatch(setup, options.seed), setup.device);
    FURROW_TRY_ASSIGN(const auto steps, timeSteps(*learner, batch, stepRules(c), options.seconds, stopRequested));
    const auto peak = MemoryMeter().read(setup.device).peakBytes;
    const auto tokens = static_cast<double>(batch.labels);
    const auto precision = learner->model()->options().precision;
    const double gflops = setup.modelConfig.flopsPerToken() * tokens / steps.median / 1e9;
    const double productGflops = productRate(setup.device, precision) / 1e9;
    const auto& model = setup.modelConfig;
    const auto estimated = estimateMemory(c, model, stepPathOf(c, model, setup.device.is_cuda()), options.threads);
    nlohmann::json result { { "preset", options.preset }, { "device", options.device }, { "threads", options.threads },
        { "backend", learner->backendName() }, { "precision", toString(precision) },
        { "parameters", setup.modelConfig.parameterCount() }, { "batch_size", c.batchSize }, { "seq_len", c.seqLen },
        { "steps", steps.count }, { "tokens_per_s", tokens / steps.mean },
        { "tokens_per_s_median", tokens / steps.median }, { "step_ms_median", steps.median * 1e3 },
        { "forward_backward_ms", steps.backward * 1e3 }, { "optimizer_ms", steps.optimizer * 1e3 },
        { "estimated_memory_bytes", estimated.total() - estimated.checkpoint }, { "peak_memory_bytes", peak },
        { "gflops", gflops }, { "product_gflops", productGflops }, { "flop_utilisation", gflops / productGflops } };
    if (auto kernels = timeKernels(setup, *learner, batch, options.seconds / 4, stopRequested); !kernels.ok())
        return kernels.error();
    else if (!kernels.value().empty())
        result["kernels"] = kernels.value();
    if (options.clipPerSample > 0) {
        FURROW_TRY_ASSIGN(result["clipping"], timeClipping(setup, options, batch, stopRequested));
    }
    return result;
}

Result<nlohmann::json> streamTask(
    const TaskOptions& options, const TaskOutput& output, const std::function<bool()>& stopRequested)
{
    FURROW_TRY_ASSIGN(auto tokenizer, characterTokenizer(options.data));
    FURROW_TRY_ASSIGN(auto data, StreamData::open(pathFromUtf8(options.data), *tokenizer));
    FURROW_TRY_ASSIGN(auto setup, setupOf(options, tokenizer->vocabularySize()));
    auto& c = setup.config;
    c.warmupSteps = std::min(c.warmupSteps, options.steps);
    FURROW_TRY_ASSIGN(auto learner, newLearner(setup));
    const LrSchedule schedule = planRate(c, static_cast<double>(options.steps)).inForce; // its positions are steps
    StepRunner runner(*learner, stepRules(c));
    Random random(mixSeed({ static_cast<std::uint64_t>(options.seed), 1 }));
    double trainSeconds = 0;
    double best = 1e9;
    double last = 0;
    for (std::int64_t step = 0; step <= options.steps && !stopRequested(); ++step) {
        if (step % std::max<std::int64_t>(options.evalEvery, 1) == 0 || step == options.steps) {
            FURROW_TRY_ASSIGN(auto loss, heldOutLoss(*learner, data, setup));
            last = loss;
            best = std::min(best, last);
            const auto tokens = static_cast<double>(step * c.batchSize * c.gradAccum * c.seqLen);
            output(nlohmann::json { { "step", step }, { "validation_loss", last }, { "tokens", tokens },
                       { "tokens_per_s", trainSeconds > 0 ? tokens / trainSeconds : 0 },
                       { "train_seconds", trainSeconds } }
                       .dump()
                + "\n");
            if (step == options.steps)
                break;
        }
        const double began = secondsNow();
        std::vector<Batch> batches;
        for (std::int64_t i = 0; i < c.gradAccum; ++i) {
            auto batch = emptyBatch(setup);
            FURROW_TRY(data.fillTrain(random, static_cast<int>(c.batchSize), c.seqLen,
                batch.inputs_BT.data_ptr<std::int64_t>(), batch.labels_BT.data_ptr<std::int64_t>()));
            batches.push_back(onDevice(batch, setup.device));
        }
        std::vector<StepOutcome> known;
        (void)runner.run(stepOf(std::move(batches)), learningRate(schedule, step, static_cast<double>(step)), known);
        trainSeconds += secondsNow() - began;
    }
    return nlohmann::json { { "data", options.data }, { "steps", options.steps }, { "threads", options.threads },
        { "backend", learner->backendName() }, { "parameters", setup.modelConfig.parameterCount() },
        { "validation_loss", last }, { "best_validation_loss", best },
        { "tokens_per_s",
            static_cast<double>(options.steps * c.batchSize * c.gradAccum * c.seqLen) / std::max(trainSeconds, 1e-9) },
        { "train_seconds", trainSeconds } };
}

} // namespace furrow
