#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <string>

namespace furrow {

/// "CPU" or the name of the GPU.
std::string deviceName(c10::Device device);
/// All memory of a device, of the machine for a CPU; 0: not known.
std::int64_t deviceMemoryBytes(c10::Device device);

/// Memory that training takes: allocated by this process on a GPU, resident on a CPU. Cheap enough for every step: the
/// CPU's figure is read from the system at most twice a second. Not thread-safe.
class MemoryMeter {
public:
    struct Reading {
        std::int64_t bytes = 0;
        std::int64_t peakBytes = 0; ///< since the process began
    };
    /// @param now  ask the system in any case
    Reading read(c10::Device device, bool now = false);

private:
    Reading last_;
    std::int64_t readNs_ = 0;
};

} // namespace furrow
