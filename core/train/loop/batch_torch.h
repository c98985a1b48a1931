#pragma once

#include "core/data/block/chunk_windows.h"
#include "core/tracker/types.h"
#include "core/train/model/model_torch.h"

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <vector>

namespace furrow {

/// Windows of one chunk, ready for the model. B windows, T tokens.
struct Batch {
    at::Tensor inputs_BT; ///< int64, on the device
    at::Tensor labels_BT; ///< int64, on the device; -1 is left out of the loss
    at::Tensor places_BT; ///< int64, on the device: see Model::forwardBackward; undefined where a window is one text
    at::Tensor answers_BT; ///< int64, on the device: ChunkWindows::answers(); undefined where no pairs are compared
    std::int64_t labels = 0; ///< that stand for text, learnt or not; counted on the host
    std::int64_t learnt = 0; ///< of these, what the loss counts; or the pairs
    WindowRange windows; ///< of the chunk
    std::int64_t epoch = 0;
    std::int64_t block = 0;
    std::int32_t column = 0;
};

/// Of a batch with `answers_BT`.
Model::PairRows pairRowsOf(const Batch& batch);

/// Copies windows into batches. On CUDA through pinned memory, without waiting. Not thread-safe.
class BatchMaker {
public:
    BatchMaker(c10::Device device, std::int64_t batchSize, std::int64_t seqLen)
        : device_(device)
        , batchSize_(batchSize)
        , seqLen_(seqLen)
    {
    }

    /// The micro-batches of windows `range`, at most batchSize windows each.
    std::vector<Batch> make(const ChunkWindows& windows, WindowRange range) const;

private:
    c10::Device device_;
    std::int64_t batchSize_;
    std::int64_t seqLen_;
};

} // namespace furrow
