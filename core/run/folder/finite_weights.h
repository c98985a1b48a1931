#pragma once

#include "core/base/result.h"
#include "core/run/folder/checkpoint_manifest.h"
#include "core/run/folder/run_paths.h"

#include <filesystem>
#include <stop_token>
#include <string>

namespace furrow {

/// What reading a checkpoint once says of it.
struct WeightsVerdict {
    Status files; ///< verifyCheckpoint()
    /// Of its weights and the frozen ones: Corrupt says why nobody can read them, or names the first tensor that holds
    /// NaN or Inf, though all hashes fit.
    Status numbers;

    /// Every process of a run would refuse such weights, one after the other.
    const Status& trainable() const { return files.ok() ? numbers : files; }
};
WeightsVerdict readCheckpoint(const std::filesystem::path& checkpointFolder, const std::string& manifestSha256,
    const std::string& runId, FrozenVerdicts* known = nullptr, const std::stop_token& stop = {});

/// Whether training can go on from it. Cancelled once `stop` is requested, also inside a large file.
Status verifyTrainable(const std::filesystem::path& checkpointFolder, const std::string& manifestSha256,
    const std::string& runId, FrozenVerdicts* known = nullptr, const std::stop_token& stop = {});

/// What a person can do about newest weights that a resume refuses.
/// @param problem  of verifyTrainable()
Message waysPast(const RunPaths& paths, const Error& problem);

} // namespace furrow
