#pragma once

#include "core/libtorch/torch_check.h"

#include <vector>

namespace furrow {

/// A libtorch that was looked at, and why it cannot be used, or that it can.
struct TorchCandidate {
    std::filesystem::path folder;
    std::string from; ///< "the active environment", "python3", ...: where it was found, for people
    Result<TorchFacts> checked;
};

/// What lies in or below a folder that a person names: a libtorch, site-packages or a whole environment. Empty: none.
std::filesystem::path torchBelow(const std::filesystem::path& folder);

/// Looks in the active environment (VIRTUAL_ENV, CONDA_PREFIX), in the python3 of PATH and where libtorch is unpacked
/// by custom, and checks each with checkTorch(); the first one that fits ends the search. Takes seconds.
std::vector<TorchCandidate> searchTorch();

} // namespace furrow
