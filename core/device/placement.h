#pragma once

#include "core/base/result.h"
#include "core/config/run_config.h"
#include "core/device/gpu.h"

#include <string>
#include <vector>

namespace furrow {

/// Where one worker runs.
struct WorkerPlacement {
    int worker = 0;
    std::string device; ///< "cpu" or the GPU's UUID
    std::string deviceName; ///< "CPU" or "NVIDIA H200"
    int threads = 1;
};

/// One placement for each worker, from `devices`, `workers` and `threads`. InvalidArgument names a GPU that is not
/// there and lists those that are.
/// @param cores  CPU cores of this machine
Result<std::vector<WorkerPlacement>> placeWorkers(const RunConfig& config, const std::vector<Gpu>& gpus, int cores);
/// The same on this machine as it is now. One whose GPUs cannot be asked has none.
Result<std::vector<WorkerPlacement>> placeWorkersHere(const RunConfig& config);
/// InvalidArgument when the devices that were found cannot compute as the settings want: half precision on a CPU.
Status canCompute(const RunConfig& config, const std::vector<WorkerPlacement>& placements);

} // namespace furrow
