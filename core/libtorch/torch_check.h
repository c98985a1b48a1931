#pragma once

#include "core/base/process_answer.h"
#include "core/base/result.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace furrow {

/// Whether two versions are of one series: "2.11.0+cu130" and "2.11.1". libtorch keeps its types as they are within one
/// only: with 2.10 a program for 2.11 starts, trains, and crashes in data-parallel training. Two empty ones are not.
bool isSameSeries(std::string_view a, std::string_view b);

/// What the files of a libtorch say.
struct TorchFacts {
    std::filesystem::path folder;
    std::string version; ///< "2.11.0+cu130"; "" where no file says it
    bool hasCuda = false; ///< its CUDA half lies beside it
};

/// Whether furrow-trainer, which links libtorch, lies beside this program; else nothing can be checked or trained.
Status requireTrainer();

/// Looks at the files only. NotFound: it is no libtorch.
Result<TorchFacts> lookAtTorch(const std::filesystem::path& folder);

/// The same, and it fits furrow-trainer: it is of the series that this was built with, every symbol is there (also
/// those that are only needed later), and a tiny model's gradients are right. InvalidArgument says what does not fit,
/// Busy that the trial itself was killed or took too long. Takes a second, at most two minutes.
Result<TorchFacts> checkTorch(const std::filesystem::path& folder);

/// What furrow-trainer's answer says of a libtorch that it was started with.
Result<TorchFacts> judgeTrial(const TorchFacts& facts, const ProcessAnswer& answer);

} // namespace furrow
