#pragma once

#include "core/base/closed_set.h"

#include <string>
#include <vector>

namespace furrow {

// What furrow-worker is asked for. Programs that start it do not link libtorch, so its words stand here.

/// Whether it trains a run, or does one task (--role).
enum class WorkerRole { Trainer, Task };
template <>
inline constexpr std::array kClosedNames<WorkerRole> {
    ClosedName { WorkerRole::Trainer, "trainer" },
    ClosedName { WorkerRole::Task, "task" },
};

/// Which one (--task).
enum class WorkerTask { Check, Eval, Sample, Chat, Export, Merge, Bench, BenchCheckpoint, Fit, Stream, Torch };
template <>
inline constexpr std::array kClosedNames<WorkerTask> {
    ClosedName { WorkerTask::Check, "check" },
    ClosedName { WorkerTask::Eval, "eval" },
    ClosedName { WorkerTask::Sample, "sample" },
    ClosedName { WorkerTask::Chat, "chat" },
    ClosedName { WorkerTask::Export, "export" },
    ClosedName { WorkerTask::Merge, "merge" },
    ClosedName { WorkerTask::Bench, "bench" },
    ClosedName { WorkerTask::BenchCheckpoint, "bench-checkpoint" },
    ClosedName { WorkerTask::Fit, "fit" },
    ClosedName { WorkerTask::Stream, "stream" },
    ClosedName { WorkerTask::Torch, "torch" },
};

/// What the export of a model writes: a Hugging Face folder, or a file for llama.cpp.
enum class ModelFormat { HuggingFace, Gguf };
template <>
inline constexpr std::array kClosedNames<ModelFormat> {
    ClosedName { ModelFormat::HuggingFace, "huggingface" },
    ClosedName { ModelFormat::Gguf, "gguf" },
};

/// The arguments of a worker that does this task.
inline std::vector<std::string> taskArguments(WorkerTask task, const std::vector<std::string>& others)
{
    std::vector<std::string> all { "--role", toString(WorkerRole::Task), "--task", toString(task) };
    all.insert(all.end(), others.begin(), others.end());
    return all;
}

} // namespace furrow
