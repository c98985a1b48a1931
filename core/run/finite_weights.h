#pragma once

#include "core/base/result.h"
#include "core/run/checkpoint_manifest.h"

#include <filesystem>
#include <string>

namespace furrow {

/// verifyCheckpoint(), and then whether the weights can be trained on: Corrupt also names the first tensor that holds
/// NaN or Inf, though all hashes fit. Every process of a run would refuse such weights, one after the other. Reads the
/// weights a second time.
Status verifyTrainable(const std::filesystem::path& checkpointFolder, const std::string& manifestSha256,
    const std::string& runId, FrozenVerdicts* known = nullptr);

} // namespace furrow
