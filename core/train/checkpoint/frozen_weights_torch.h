#pragma once

#include "core/base/file_system.h"
#include "core/run/folder/checkpoint_manifest.h"
#include "core/run/folder/run_paths.h"
#include "core/train/model/parameters_torch.h"

namespace furrow {

/// Keeps the weights that training leaves alone in checkpoints/frozen, named by their hash: once for the run, whoever
/// of its workers comes first. Afterwards the file is whole and durable, and checkpoints may name it. It is written
/// elsewhere first, under a name that is noted as one of a checkpoint is (checkpoint_notes.h). A file that is there is
/// read and never replaced: one with other bytes is moved to checkpoints/unknown.
/// @param tensors  in the order of the model, not empty. May throw c10::Error
Result<CheckpointManifest::Frozen> storeFrozen(
    const RunPaths& paths, const std::string& runId, const NamedTensors& tensors, FileSystem& files = realFileSystem());

} // namespace furrow
