#pragma once

#include "core/libtorch/torch_check.h"
#include "core/libtorch/torch_pins.h"

#include <functional>
#include <string>

namespace furrow {

struct TorchInstallOptions {
    bool cuda = false; ///< CUDA's libraries too; without, the CPU half and what it cannot start without
    std::filesystem::path from; ///< a wheel, an archive of libtorch, or a folder of wheels; empty: pip's index

    // For tests, whose packages are small.
    std::vector<PinnedPackage> packages; ///< empty: those that requirements.lock pins
    std::function<Result<TorchFacts>(const std::filesystem::path& folder)> check = checkTorch;
};

/// How far an installation is. `total` 0: not known.
struct TorchInstallProgress {
    enum class Step { Download, Unpack };
    Step step = Step::Download;
    std::string file;
    std::uint64_t done = 0;
    std::uint64_t total = 0;
};

/// What an installation tells while it works; on the calling thread.
struct TorchInstallListener {
    std::function<void(const Message& sentence)> say; ///< what will be fetched and how much room it takes; waits
    std::function<void(const TorchInstallProgress&)> progress;
};

/// Fetches the pinned libtorch, or takes it from files, unpacks it below torchHome() and makes it what this person's
/// workers start with. What was there before stays in use until the new one is whole and was checked; a kill at any
/// time leaves at most unfinished files, which the next call takes up (downloads) or clears away. Busy: another one
/// works.
Result<TorchFacts> installTorch(const TorchInstallOptions& options, const TorchInstallListener& listener);

/// What Furrow itself unpacked or fetched goes; a libtorch that was only chosen stays where it is.
struct TorchRemoval {
    std::uint64_t bytes = 0; ///< of files that went
    std::filesystem::path left; ///< was in use and is not ours; empty: none
};
Result<TorchRemoval> removeTorch();

/// Whether a folder lies among what Furrow unpacked for this person.
bool isOurs(const std::filesystem::path& folder);

} // namespace furrow
