#include "core/train/loop/memory_meter_torch.h"

#include "core/base/clock.h"
#include "core/base/process.h"

#ifdef FURROW_HAS_CUDA
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDACachingAllocator.h>
#endif

namespace furrow {

std::int64_t deviceMemoryBytes([[maybe_unused]] c10::Device device)
{
#ifdef FURROW_HAS_CUDA
    if (device.is_cuda())
        return static_cast<std::int64_t>(at::cuda::getDeviceProperties(device.index())->totalGlobalMem);
#endif
    return static_cast<std::int64_t>(physicalMemoryBytes());
}

MemoryMeter::Reading MemoryMeter::read([[maybe_unused]] c10::Device device, bool asks)
{
#ifdef FURROW_HAS_CUDA
    if (device.is_cuda()) {
        const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(device.index());
        return { stats.allocated_bytes[0].current, stats.allocated_bytes[0].peak };
    }
#endif
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
