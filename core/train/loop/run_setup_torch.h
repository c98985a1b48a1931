#pragma once

#include "core/base/result.h"
#include "core/run/folder/run_file.h"
#include "core/run/folder/run_folder_guard.h"
#include "core/run/folder/run_paths.h"
#include "core/tracker/ledger_reader.h"
#include "core/data/tokenizer/tokenizer.h"
#include "core/train/loop/chunk_loader.h"
#include "core/train/loop/learner_torch.h"
#include "core/train/loop/trainer.h"

#include <string>

namespace furrow {

class TelemetryWriter;

/// Where and how one process computes.
struct ComputeOptions {
    std::string device = "cpu"; ///< "cpu", "cuda:0" or a GPU's UUID
    int threads = 1; ///< of the CPU
    bool counting = false; ///< the counting model instead of the one of the configuration (storm harness)
    int worker = 0; ///< its number: the counting model can be slower in one of them
    bool fastCpu = true; ///< as ModelOptions has it
};

/// A run as the trainer and the tasks see it: frozen file, configuration in force and how to make a learner for it.
struct RunSetup {
    RunPaths paths;
    RunFile file;
    RunConfig config; ///< in force: run.json and the overrides of the newest attempt
    ModelConfig modelConfig;
    ComputeOptions compute;
    c10::Device device = c10::Device(c10::kCPU);
    int ranks = 1; ///< workers that make one step together
    std::shared_ptr<GuardedFiles> files {}; ///< of a trainer: what it writes goes through it; null for who only reads

    std::int64_t windowsPerStep() const { return config.batchSize * config.gradAccum * ranks; }
};
/// Reads the run folder, finds the device, sets the number of threads of this process and thread.
Result<RunSetup> openRun(const RunPaths& paths, const ComputeOptions& compute);

/// The run as a trainer sees it; the error lists every setting that is wrong for it.
Result<RunSetup> openTrainerRun(const TrainerOptions& options);
/// Begins what a process that trains measures, in the file of its attempt and worker.
Result<TelemetryWriter> openTelemetry(const RunSetup& setup, const TrainerOptions& options);
ChunkLoader::Options loaderOptions(const RunSetup& setup, const Tokenizer& tokenizer);

/// The device of that name; NotFound lists what there is. A GPU must be found before the first use of libtorch (see
/// cudaBackend).
Result<c10::Device> findDevice(const std::string& name);
struct ComputeRules {
    bool deterministic = true;
    bool tf32 = false; ///< deterministic runs do without
    AttentionKernel attention = AttentionKernel::Auto;
};
/// Threads and kernels of this process, so that the same settings give the same bytes.
void setUpCompute(const ComputeOptions& compute, const ComputeRules& rules);

/// For who goes on from the newest checkpoint of a replica: without init_from where that checkpoint has all weights, so
/// that a run outlives what it started from.
Result<RunSetup> setupToGoOn(const RunSetup& setup, LedgerReader& reader, std::int32_t replica);

/// Fresh weights from the seed, or those of `init_from`. The same for every replica of a run.
Result<std::unique_ptr<Learner>> newLearner(const RunSetup& setup);
/// Every setting of training that is wrong for the data or the device, each with its field named; empty: none.
std::vector<std::string> trainingProblems(const RunSetup& setup);

} // namespace furrow
