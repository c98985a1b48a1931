#include "core/train/loop/batch_torch.h"

#include "core/train/meters/profile_range.h"

#include <torch/torch.h>

#include <algorithm>

namespace furrow {

Model::PairRows pairRowsOf(const Batch& batch)
{
    return { batch.inputs_BT, batch.labels_BT, batch.places_BT, batch.answers_BT, batch.learnt };
}

std::vector<Batch> BatchMaker::make(const ChunkWindows& windows, WindowRange range) const
{
    const ProfileRange profiled("batch");
    std::vector<Batch> batches;
    const auto options = torch::TensorOptions().dtype(torch::kInt64).pinned_memory(device_.is_cuda());
    for (std::int32_t begin = range.begin; begin < range.end;) {
        const auto n = static_cast<std::int32_t>(std::min<std::int64_t>(batchSize_, range.end - begin));
        Batch batch;
        batch.windows = { begin, begin + n };
        batch.inputs_BT = torch::empty({ n, seqLen_ }, options);
        batch.labels_BT = torch::empty({ n, seqLen_ }, options);
        windows.fill(begin, n, batch.inputs_BT.data_ptr<std::int64_t>(), batch.labels_BT.data_ptr<std::int64_t>());
        if (windows.masksDocuments()) {
            batch.places_BT = torch::empty({ n, seqLen_ }, options);
            windows.places(begin, n, batch.places_BT.data_ptr<std::int64_t>());
        }
        if (windows.holdsPairs()) {
            batch.answers_BT = torch::empty({ n, seqLen_ }, options);
            windows.answers(begin, n, batch.answers_BT.data_ptr<std::int64_t>());
        }
        for (std::int32_t w = begin; w < begin + n; ++w) {
            batch.labels += windows.labelCount(w);
            batch.learnt += windows.learntCount(w);
        }
        if (device_.is_cuda()) { // pinned blocks are kept by their allocator until the copy is done
            batch.inputs_BT = batch.inputs_BT.to(device_, true);
            batch.labels_BT = batch.labels_BT.to(device_, true);
            for (at::Tensor* tensor : { &batch.places_BT, &batch.answers_BT })
                if (tensor->defined())
                    *tensor = tensor->to(device_, true);
        }
        batches.push_back(std::move(batch));
        begin += n;
    }
    return batches;
}

} // namespace furrow
