#include "core/train/meters/memory_meter_torch.h"

#include "core/base/clock.h"
#include "core/base/process.h"
#include "core/cuda/cuda_backend_torch.h"

namespace furrow {

std::string deviceName(c10::Device device)
{
    return device.is_cuda() ? cudaBackend().value()->gpus().at(static_cast<std::size_t>(device.index())).name : "CPU";
}

std::int64_t deviceMemoryBytes(c10::Device device)
{
    if (device.is_cuda())
        return cudaBackend().value()->gpus().at(static_cast<std::size_t>(device.index())).memoryBytes;
    return static_cast<std::int64_t>(physicalMemoryBytes());
}

MemoryMeter::Reading MemoryMeter::read(c10::Device device, bool asks)
{
    if (device.is_cuda()) {
        const auto memory = cudaBackend().value()->memory(device.index());
        return { memory.allocated, memory.peak };
    }
    constexpr std::int64_t kEveryNs = 500'000'000;
    const std::int64_t now = systemClock().monotonicNs();
    if (asks || last_.bytes == 0 || now - readNs_ >= kEveryNs) {
        const ProcessMemory memory = processMemory();
        last_ = { memory.residentBytes, memory.peakBytes };
        readNs_ = now;
    }
    return last_;
}

} // namespace furrow
