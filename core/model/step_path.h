#pragma once

#include "core/model/model_config.h"

#include <cstdint>
#include <string>

namespace furrow {

/// Which hand the step is computed by; it decides what is kept for backward.
enum class StepPath {
    Gpu, ///< libtorch on a GPU: its allocator's peak, without the context of the driver
    CpuOperators, ///< libtorch on a CPU: the whole process
    CpuFast, ///< the hand-written step (core/train/cpu): the whole process
};

std::string toString(StepPath path); ///< "gpu" "cpu operators" "cpu fast"

/// How libtorch's operators go through the logits of a micro-batch (core/train/model/layers).
struct LogitParts {
    std::int64_t piece; ///< logits that are held in float32 at a time
    std::int64_t group; ///< logits whose gradients are kept for one product, a piece at least
    std::int64_t padTo; ///< rows of logits are filled up to a multiple of this
};
inline constexpr LogitParts kCpuLogits { std::int64_t { 1 } << 25, 0, 1 };
/// Each product adds to the gradient of the whole head, so there should be few; tensor cores want rows that begin at a
/// multiple of 16 bytes.
inline constexpr LogitParts kGpuLogits { std::int64_t { 1 } << 25, std::int64_t { 1 } << 28, 64 };
/// Gradients of logits that a pass with clipping by sample keeps, in float32; more are made a second time.
inline constexpr std::int64_t kMostLogitsKept = std::int64_t { 1 } << 26;
/// Tokens, in whole windows, that a thread of the hand-written step takes through the model at a time, enough for
/// efficient products and few enough to stay near the cache; and logits it holds.
inline constexpr std::int64_t kFastTokensPerTask = 256;
inline constexpr std::int64_t kFastLogitsPerPiece = std::int64_t { 1 } << 22;

/// Whether the hand-written step can train this model; a processor without its kernels cannot all the same.
bool fitsFastStep(const ModelConfig& model, bool recompute);
/// Which path a worker on a CPU with AVX2 takes, or one on a GPU.
StepPath stepPathOf(const RunConfig& config, const ModelConfig& model, bool gpu);

} // namespace furrow
