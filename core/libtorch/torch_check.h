#pragma once

#include "core/base/result.h"

#include <filesystem>
#include <string>

namespace furrow {

/// The oldest libtorch that Furrow can be built with.
inline constexpr int kOldestTorch[] = { 2, 6 };

/// What the files of a libtorch say.
struct TorchFacts {
    std::filesystem::path folder;
    std::string version; ///< "2.11.0+cu130"; "" where no file says it
    bool hasCuda = false; ///< its CUDA half lies beside it
};

/// Whether furrow-trainer, which links libtorch, lies beside this program; else nothing can be checked or trained.
Status requireTrainer();

/// Looks at the files only. NotFound: it is no libtorch; InvalidArgument: older than 2.6.
Result<TorchFacts> lookAtTorch(const std::filesystem::path& folder);

/// The same, and furrow-trainer starts with it: every symbol that it needs is there (also those that are only needed
/// later), and a tiny model's gradients are right, which they are not where the layout of a type differs. Takes a
/// second, at most two minutes.
Result<TorchFacts> checkTorch(const std::filesystem::path& folder);

} // namespace furrow
