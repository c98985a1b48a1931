#pragma once

#include "core/train/cpu/gpt_step.h"

#include <algorithm>

namespace furrow::cpu {

/// Grows, never shrinks; contents are not kept.
inline float* sized(std::vector<float>& buffer, std::int64_t count)
{
    if (static_cast<std::int64_t>(buffer.size()) < count)
        buffer.resize(static_cast<std::size_t>(count));
    return buffer.data();
}

inline std::int64_t roundUp16(std::int64_t value) { return (value + 15) / 16 * 16; }

/// What backward needs of one layer.
struct GptStep::LayerState {
    std::vector<float> input, normed1, mean1, inverse1, qkv, logSums, mixed, middle, normed2, mean2, inverse2, up,
        active;
};

/// Buffers of one thread.
struct GptStep::Workspace {
    std::vector<LayerState> layers;
    std::vector<float> x, last, lastMean, lastInverse; // residual stream behind the last layer, its norm
    std::vector<float> logits;
    std::vector<float> branch; // what is added to the stream, or its gradient, where values are dropped
    std::vector<float> dx, dNormed, dWide, dMixed, dQkv;
    std::vector<float> keyColumns, valueColumns; // one head, packed
    std::vector<float> rows; // rows of one head packed where they cannot be used as they lie
    std::vector<float> outer; // scratch of weight gradients
    std::vector<float> scores, dScores;
};

/// Consecutive sequences one thread takes through the model at a time.
struct GptStep::Task {
    const std::int64_t* inputs = nullptr;
    const std::int64_t* labels = nullptr;
    const std::int64_t* places = nullptr;
    float* losses = nullptr;
    std::int64_t sequences = 0;
    std::int64_t firstSequence = 0; ///< of the batch
    std::int64_t length = 0;
    float* gradients = nullptr;
    float scale = 0;
    float dropout = 0; ///< probability; 0 in evaluation
    std::uint64_t dropoutSeed = 0;
    std::int64_t tokens() const { return sequences * length; }
    /// Of a token in its document.
    std::int64_t place(std::int64_t token) const { return places ? places[token] : token % length; }
    /// Tokens of its sequence before its document.
    std::int64_t hidden(std::int64_t token) const { return token % length - place(token); }
};

struct GptStep::Place {
    enum Kind : std::uint64_t { Embedding, Attention, AttentionOut, FeedForward } kind = Embedding;
    std::size_t layer = 0;
};

/// B of a product as rows that lie in memory: used directly where whole vectors fit, packed otherwise.
struct RowsOperand {
    const float* data = nullptr;
    std::int64_t stride = 0; ///< for GemmArguments::bStride
};
inline RowsOperand rowsOperand(const Kernels& kernels, const MatrixView& matrix, std::vector<float>& buffer)
{
    if (matrix.columns % 16 == 0)
        return { matrix.data, matrix.stride };
    kernels.float32.packRows(matrix, sized(buffer, kernels.float32.packedCount(matrix.rows, matrix.columns)));
    return { buffer.data(), 0 };
}

/// A score that no query looks at, with any factor in front.
inline constexpr float kHiddenScore = -1e30F;

/// Query rows that attention handles at a time, and rows of one product inside that block.
inline constexpr std::int64_t kQueryBlock = 64;
inline constexpr std::int64_t kQueryRows = 16;

} // namespace furrow::cpu
