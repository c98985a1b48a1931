#pragma once

#include "core/model/step_path.h"

#include <cstdint>

namespace furrow {

/// Bytes that training takes on the device of one worker, at most.
struct MemoryEstimate {
    std::int64_t weights = 0; ///< with their copies for the products
    std::int64_t gradients = 0;
    std::int64_t optimizer = 0; ///< moments, and the averaged weights
    std::int64_t activations = 0;
    std::int64_t logits = 0;
    std::int64_t process = 0; ///< on a CPU: the program itself
    std::int64_t checkpoint = 0; ///< on a CPU: the copy that a checkpoint is written from
    std::int64_t total() const { return weights + gradients + optimizer + activations + logits + process + checkpoint; }
};

/// By counting what each operator keeps for backward; no term grows with the square of the window, as attention never
/// holds its scores. How near it comes to measured peaks is in tests/bench/README.md.
/// @param threads  CPU threads of the worker; each has its own gradients on the fast path
MemoryEstimate estimateMemory(const RunConfig& config, const ModelConfig& model, StepPath path, int threads);

} // namespace furrow
