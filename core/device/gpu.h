#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace furrow {

/// One GPU as the driver's management library (NVML) sees it, identified by UUID: numbers change with
/// CUDA_VISIBLE_DEVICES.
struct Gpu {
    std::string uuid; ///< "GPU-5b1e..."
    std::string name; ///< "NVIDIA H200"
    int index = 0; ///< in PCI bus order
    std::uint64_t memoryTotalBytes = 0;
    std::uint64_t memoryFreeBytes = 0;
    int utilisationPercent = -1; ///< -1 here and below: the driver does not say
    double powerWatts = -1;
    int temperatureC = -1;
};

/// Access to NVML, loaded at run time: the program also works where no driver is installed. Not thread-safe.
class GpuMonitor {
public:
    /// NotFound with a sentence when there is no driver.
    static Result<GpuMonitor> open();
    GpuMonitor(GpuMonitor&&) noexcept;
    ~GpuMonitor();

    /// Everything about every GPU now. A GPU that does not answer is left out.
    std::vector<Gpu> read() const;

private:
    struct Nvml;
    explicit GpuMonitor(std::unique_ptr<Nvml> nvml);
    std::unique_ptr<Nvml> nvml_;
};

} // namespace furrow
