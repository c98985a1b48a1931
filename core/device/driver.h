#pragma once

#include "core/base/result.h"

#include <string>

namespace furrow {

/// What the driver of NVIDIA says of itself.
struct GpuDriver {
    std::string version; ///< "580.82.07"; "" where it does not say
    int cuda = 0; ///< the newest CUDA that it can run, 1000 * major + 10 * minor; 0 where it does not say
};

/// NotFound with a sentence when there is no driver, or it does not start.
Result<GpuDriver> gpuDriver();

/// GPUs that are not NVIDIA's, and boards that need libraries of their own, told from files of the system.
struct OtherAccelerators {
    bool amd = false; ///< the kernel's driver for computing on AMD's GPUs (ROCm)
    bool jetson = false; ///< a board with NVIDIA's Tegra
};
OtherAccelerators otherAccelerators();

/// What becomes of training on this machine's GPUs with a libtorch made for a CUDA of this major version.
struct GpuOutlook {
    bool usable = false;
    Message words; ///< one sentence or two: what there is, and what works instead
};
GpuOutlook gpuOutlook(const Result<GpuDriver>& driver, const OtherAccelerators& others, int cudaMajor);

} // namespace furrow
