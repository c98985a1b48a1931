#pragma once

#include "core/base/result.h"

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace furrow {

/// What needs libtorch's CUDA libraries by name; all other code speaks to GPUs through libtorch's dispatch. Functions
/// throw c10::Error.
class CudaBackend {
public:
    struct Gpu {
        std::string uuid; ///< "GPU-..." as NVML writes it
        std::string name; ///< "NVIDIA H100 80GB HBM3"
        std::int64_t memoryBytes = 0;
    };
    /// Of libtorch's allocator, in bytes.
    struct Memory {
        std::int64_t allocated = 0;
        std::int64_t peak = 0; ///< since the process began
    };
    /// What the calling thread gives its current stream between begin and end is recorded instead of done; replay does
    /// it. end also throws, and ends the recording, when something in between could not be recorded.
    class Graph {
    public:
        virtual ~Graph() = default;
        virtual void begin() = 0;
        virtual void end() = 0;
        virtual void replay() = 0;
    };
    struct Rank {
        int rank = 0;
        int ranks = 1;
        std::chrono::milliseconds timeout { 0 }; ///< then NCCL's watchdog ends the process
    };

    virtual ~CudaBackend() = default;
    /// Those that this process may use, by libtorch's index; empty without a driver.
    virtual std::vector<Gpu> gpus() const = 0;
    virtual Memory memory(c10::DeviceIndex gpu) const = 0;
    virtual std::unique_ptr<Graph> newGraph() const = 0;
    /// Ranks that sum tensors of GPUs; null where libtorch comes without NCCL (Windows).
    virtual c10::intrusive_ptr<c10d::Backend> nccl(const c10::intrusive_ptr<c10d::Store>& store, const Rank& rank) const
        = 0;
};

/// Loads furrow-cuda beside this program on the first call, which must come before anything asks libtorch for CUDA:
/// libtorch remembers that there is none. NotFound where it was not built or its libraries are missing. Any thread.
Result<const CudaBackend*> cudaBackend();

} // namespace furrow
