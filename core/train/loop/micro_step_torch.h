#pragma once

#include "core/train/loop/batch_torch.h"
#include "core/train/model/model_torch.h"

#include <memory>

namespace furrow {

/// Forward and backward pass of one micro-batch after the other. On a GPU, where asked for, what the usual micro-batch
/// does is captured as one CUDA graph and replayed from then on: one launch in place of hundreds. Usual is what came
/// some times in a row; other shapes and scales (the rest of a chunk) run as ever. A graph whose first replay does not
/// give the numbers of an ordinary pass is thrown away. Not thread-safe.
class MicroStep {
public:
    /// @param wantsGraph  heeded on CUDA for a model that can be captured
    MicroStep(Model& model, bool wantsGraph);
    ~MicroStep();

    /// As Model::forwardBackward.
    at::Tensor run(const Batch& batch, double gradientScale);

private:
    struct Graph;
    Model& model_;
    std::unique_ptr<Graph> graph_; // null: ordinary passes only
};

} // namespace furrow
