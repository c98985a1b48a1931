#pragma once

#include "core/base/result.h"
#include "core/config/worker_task.h"
#include "core/model/gguf/gguf_file.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace furrow {

/// What `furrow-worker --role task` was asked for: a plain value, filled from the command line. Each task reads its own
/// fields.
struct TaskOptions {
    WorkerTask task = WorkerTask::Eval;
    std::filesystem::path runFolder; ///< for most tasks also a model without a run: a Hugging Face folder or a GGUF
    std::string checkpoint; ///< folder name below checkpoints/; "": the newest weights of the run (weightsOf())
    std::string data; ///< eval, stream: a text file
    std::string tasks; ///< eval: a file of questions (readQuestions()) in place of a text
    std::int64_t fewShot = 0; ///< eval of questions: as AskOptions
    std::int64_t limit = 0;
    std::string until = "\n";
    std::string device = "cpu";
    int threads = 1;
    bool counting = false;

    // sample, chat
    std::string prompt; ///< "": a text of its own, from the token that stands between texts on
    std::string chat; ///< sample: one turn of a person, answered in the model's own chat format; "": the prompt counts
    bool jsonLines = false; ///< chat: what is said and answered are JSON lines (task_chat.cpp)
    bool special = false; ///< special tokens written in the prompt are those tokens; always without a run
    std::int64_t tokens = 200;
    double temperature = 0.8;
    std::int64_t topK = 0;
    double topP = 1.0;
    std::int64_t seed = 1337;

    // export
    ModelFormat format = ModelFormat::HuggingFace;
    GgufType type = GgufType::F16; ///< of a GGUF; one that isWritable()
    std::string out; ///< bench-checkpoint: a folder on the disk to measure

    // merge
    std::string checkpoints; ///< folder names joined by commas; "": the heads of all replicas, in the run itself
    std::string method; ///< average | diloco; "": as the run is configured
    std::int64_t attempt = 0; ///< of the supervisor that asks; 0: asked by a person

    // bench, fit, stream
    std::string preset = "char";
    std::string precision; ///< "": as the preset says
    std::int64_t batchSize = 0; ///< 0: as the preset says
    std::int64_t seqLen = 0;
    double clipPerSample = 0; ///< bench: clip each window by itself, and time that against plain steps; 0: not
    double noiseMultiplier = 0; ///< bench: with noise
    double seconds = 10; ///< bench: of measuring; fit: of a step, at most
    std::int64_t steps = 2000; ///< stream
    std::int64_t evalEvery = 250; ///< stream
};

/// What a task tells while it works: pieces of text (sample, chat) or JSON lines (stream), to be written as they are.
using TaskOutput = std::function<void(const std::string&)>;

/// Runs one task and gives its result. Catches what libtorch throws.
/// @param stopRequested  asked often; true ends the task with Cancelled
Result<nlohmann::json> runTask(
    const TaskOptions& options, const TaskOutput& output, const std::function<bool()>& stopRequested);

} // namespace furrow
