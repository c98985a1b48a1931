#pragma once

#include "core/base/result.h"
#include "core/run/folder/checkpoint_manifest.h"

#include <filesystem>
#include <string>

namespace furrow {

/// What reading a checkpoint once says of it.
struct WeightsVerdict {
    Status files; ///< verifyCheckpoint()
    Status numbers; ///< of its weights: Corrupt names the first tensor that holds NaN or Inf, though all hashes fit

    /// Every process of a run would refuse weights with such numbers, one after the other.
    const Status& trainable() const { return files.ok() ? numbers : files; }
};
WeightsVerdict readCheckpoint(const std::filesystem::path& checkpointFolder, const std::string& manifestSha256,
    const std::string& runId, FrozenVerdicts* known = nullptr);

/// Whether training can go on from it.
Status verifyTrainable(const std::filesystem::path& checkpointFolder, const std::string& manifestSha256,
    const std::string& runId, FrozenVerdicts* known = nullptr);

} // namespace furrow
