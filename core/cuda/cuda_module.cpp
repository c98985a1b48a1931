// furrow-cuda, a library of its own: a worker that trains on the CPU never loads libtorch's CUDA libraries (0.2 s of
// its start, 120 MB).

#include "core/cuda/cuda_backend_torch.h"

#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#ifdef USE_C10D_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif

namespace furrow {

namespace {

std::string uuidText(const cudaUUID_t& uuid)
{
    static constexpr char digits[] = "0123456789abcdef";
    std::string text = "GPU-";
    for (int i = 0; i < 16; ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            text += '-';
        const auto byte = static_cast<unsigned char>(uuid.bytes[i]);
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

class LibtorchGraph final : public CudaBackend::Graph {
public:
    void begin() override
    {
        graph_.capture_begin({ 0, 0 }, cudaStreamCaptureModeThreadLocal);
    } // other threads may use the device meanwhile
    void end() override { graph_.capture_end(); }
    void replay() override { graph_.replay(); }

private:
    at::cuda::CUDAGraph graph_;
};

class LibtorchCuda final : public CudaBackend {
public:
    std::vector<Gpu> gpus() const override
    {
        std::vector<Gpu> all;
        const auto count = c10::cuda::device_count(); // 0 without a driver
        for (c10::DeviceIndex index = 0; index < count; ++index) {
            const auto* properties = at::cuda::getDeviceProperties(index);
            all.push_back({ uuidText(properties->uuid), properties->name,
                static_cast<std::int64_t>(properties->totalGlobalMem) });
        }
        return all;
    }

    Memory memory(c10::DeviceIndex gpu) const override
    {
        const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(gpu);
        return { stats.allocated_bytes[0].current, stats.allocated_bytes[0].peak };
    }

    std::unique_ptr<Graph> newGraph() const override { return std::make_unique<LibtorchGraph>(); }

    c10::intrusive_ptr<c10d::Backend> nccl(
        [[maybe_unused]] const c10::intrusive_ptr<c10d::Store>& store, [[maybe_unused]] const Rank& rank) const override
    {
#ifdef USE_C10D_NCCL
        auto options = c10d::ProcessGroupNCCL::Options::create();
        options->timeout = rank.timeout;
        return c10::make_intrusive<c10d::ProcessGroupNCCL>(store, rank.rank, rank.ranks, options);
#else
        return {};
#endif
    }
};

} // namespace

} // namespace furrow

#ifdef _WIN32
#define FURROW_EXPORT __declspec(dllexport)
#else
#define FURROW_EXPORT __attribute__((visibility("default")))
#endif

extern "C" FURROW_EXPORT const furrow::CudaBackend* furrowCudaBackend()
{
    static const furrow::LibtorchCuda backend;
    return &backend;
}
