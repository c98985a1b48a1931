#pragma once

#include "core/base/scratch_folder.h"
#include "core/data/tokenizer/tokenizer.h"
#include "core/run/status/run_weights.h"
#include "core/train/checkpoint/checkpoint_torch.h"
#include "core/train/loop/run_setup_torch.h"
#include "core/train/tasks/tasks.h"

#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace furrow {

/// What stands for the folder of a checkpoint in a run that has none yet.
inline constexpr const char* kStartWeightsName = "start weights";

/// A run with the weights of one checkpoint, or a model of another program, ready for inference.
struct LoadedRun {
    RunSetup setup;
    std::shared_ptr<const Tokenizer> tokenizer;
    std::unique_ptr<Learner> learner;
    std::string checkpoint; ///< folder name, kStartWeightsName, or what a model without a run was read from
    std::optional<RunWeights>
        newest; ///< whose weights these are, when no checkpoint was named; nothing too for the start weights
    ReplicaState state;
    nlohmann::json place; ///< whether the checkpoint is the newest, and which epoch it has not all of; null: start
                          ///< weights, a model without a run
    std::shared_ptr<const ScratchFolder> scratch {}; ///< of a model without a run: what stands for its folder

    bool isRun() const { return !scratch; }
};
/// The run, its tokenizer and the wanted checkpoint, verified. A run that has trained nothing yet has its start
/// weights: those of init_from, or of its seed. In place of a run a Hugging Face folder or a GGUF: nothing is written
/// beside it.
Result<LoadedRun> loadRun(const TaskOptions& options);
/// The latter.
Result<LoadedRun> loadModelOfOthers(const TaskOptions& options);
/// The folder name of the weights that loadRun() takes now where no checkpoint is named.
Result<std::string> newestCheckpoint(const RunPaths& paths);
/// LoadedRun::newest for the result of a task, or null.
bool isOfStartWeights(const LoadedRun& run); ///< of a run that has no checkpoint yet
nlohmann::json weightsJson(const LoadedRun& run);

// The tasks, one file each where they are long.
Result<nlohmann::json> evalTask(const TaskOptions& options, const std::function<bool()>& stopRequested);
/// evalTask() of questions with a known answer.
Result<nlohmann::json> questionsTask(
    LoadedRun& run, const TaskOptions& options, const std::function<bool()>& stopRequested);
Result<nlohmann::json> sampleTask(
    const TaskOptions& options, const TaskOutput& output, const std::function<bool()>& stopRequested);
/// Makes the model of a run as a worker would, weights of init_from included, and forgets it.
Result<nlohmann::json> checkTask(const TaskOptions& options);
/// Whether the libtorch at hand computes right gradients; in half a second. Internal when not.
Result<nlohmann::json> torchTask();
Result<nlohmann::json> chatTask(
    const TaskOptions& options, const TaskOutput& output, const std::function<bool()>& stopRequested);
Result<nlohmann::json> exportTask(const TaskOptions& options);
Result<nlohmann::json> mergeTask(const TaskOptions& options);
/// Doubles the batch until memory or patience (options.seconds a step) ends, and measures each.
Result<nlohmann::json> fitTask(const TaskOptions& options, const std::function<bool()>& stopRequested);
Result<nlohmann::json> benchTask(const TaskOptions& options, const std::function<bool()>& stopRequested);
/// Writes and removes checkpoints of the size of a preset, in turns with the bare bytes.
Result<nlohmann::json> benchCheckpointTask(const TaskOptions& options, const std::function<bool()>& stopRequested);
Result<nlohmann::json> streamTask(
    const TaskOptions& options, const TaskOutput& output, const std::function<bool()>& stopRequested);

} // namespace furrow
