#pragma once

#include "core/train/cpu/kernels.h"
#include "core/train/cpu/thread_pool.h"

#include <memory>
#include <vector>

namespace furrow::cpu {

/// The shape of a GPT as the hand-scheduled step knows it. No experts.
struct GptShape {
    std::int64_t layers = 0;
    std::int64_t heads = 0;
    std::int64_t kvHeads = 0;
    std::int64_t width = 0; ///< multiple of 16
    std::int64_t ffWidth = 0; ///< multiple of 16
    std::int64_t vocabulary = 0;
    bool rope = false;
    bool rms = false;
    bool swiglu = false;
    float epsilon = 1e-5F;
    float dropout = 0; ///< probability

    std::int64_t headWidth() const { return width / heads; }
    std::int64_t qkvWidth() const { return width + 2 * kvHeads * headWidth(); }
    std::int64_t upWidth() const { return swiglu ? 2 * ffWidth : ffWidth; }
};

inline constexpr std::int64_t kAbsent = -1;

/// Where parameters lie in the flat weights and gradients; kAbsent for what the model does not have.
struct DenseOffsets {
    std::int64_t weight = kAbsent;
    std::int64_t bias = kAbsent;
};
struct LayerOffsets {
    DenseOffsets norm1, qkv, out, norm2, up, down;
};
struct GptOffsets {
    std::int64_t embedding = kAbsent;
    std::int64_t positions = kAbsent;
    std::vector<LayerOffsets> layers;
    DenseOffsets norm;
    std::int64_t head = kAbsent; ///< the embedding's when tied
    std::int64_t count = 0;
};

/// A batch of token rows; labels < 0 are left out of the loss. All tokens lie inside the vocabulary. Where a row holds
/// several documents, places are those of its tokens in their own; a token reads nothing from before its document.
struct TokenBatch {
    const std::int64_t* inputs = nullptr;
    const std::int64_t* labels = nullptr;
    const std::int64_t* places = nullptr; ///< null: each row is one document
    std::int64_t rows = 0;
    std::int64_t length = 0;
};

/// Forward and backward of a GPT, written out by hand. Each thread takes whole sequences through all layers and back
/// with its own gradients; they meet once at the end. Weights are packed for the matrix products once per optimiser
/// step. Everything is float32 but what goes into products with weights, which `dense` may round. The same number of
/// threads gives the same bytes. Not thread-safe.
class GptStep {
public:
    /// @param rotary  cosines then sines, [2, context, headWidth / 2]; empty without rotary positions
    /// @param dense   products with weights; those of attention are always `kernels.float32`
    GptStep(const GptShape& shape, GptOffsets offsets, std::vector<float> rotary, const Kernels& kernels,
        const Products& dense, int threads);
    ~GptStep();

    /// To be called when the weights changed.
    void setWeights(const float* weights);
    /// @param losses         of each label, 0 where it is left out; rows x length
    /// @param gradients      added to; null: losses only, without dropout
    /// @param gradientScale  factor of the gradients of the summed loss
    /// @param dropoutSeed    the same seed drops the same values, with any number of threads
    void run(const TokenBatch& batch, float* losses, float* gradients, float gradientScale, std::uint64_t dropoutSeed);

private:
    struct PackedDense {
        std::vector<float> forward; // B = W^T
        std::vector<float> backward; // B = W
    };
    struct PackedLayer {
        PackedDense qkv, out, up, down;
    };
    struct LayerState;
    struct Workspace;
    struct Task;
    /// Where values are dropped, and in which layer.
    struct Place;

    void pack(const float* matrix, std::int64_t rows, std::int64_t columns, PackedDense& into) const;
    void runRows(Workspace& work, const Task& task);
    void embed(Workspace& work, const Task& task) const;
    void forwardLayer(Workspace& work, const Task& task, std::size_t layer) const;
    void attentionForward(Workspace& work, const Task& task, std::size_t layer) const;
    void lossAndHead(Workspace& work, const Task& task) const;
    void backwardLayer(Workspace& work, const Task& task, std::size_t layer) const;
    void backwardMlp(Workspace& work, const Task& task, std::size_t layer) const;
    void attentionBackward(Workspace& work, const Task& task, std::size_t layer) const;
    void headBackward(
        Workspace& work, const Task& task, std::size_t layer, std::int64_t head, std::int64_t sequence) const;
    void scatterEmbedding(Workspace& work, const Task& task) const;
    void rotate(float* qkv, const Task& task, float direction) const;
    std::uint64_t dropKey(const Task& task, const Place& place, std::int64_t sequence, std::int64_t head) const;
    void dropScores(const Task& task, std::uint64_t key, std::int64_t row, std::int64_t rows, std::int64_t seen,
        float* scores) const;
    void dropRows(const Task& task, const Place& place, float* rows) const;
    /// The residual stream x += dropped(a times the packed weight + bias)
    void addBranch(Workspace& work, const Task& task, const Place& place, const float* a, std::int64_t k,
        const PackedDense& packed, const float* bias) const;
    /// The gradient that enters such a branch: that of the stream, or a copy where values were dropped.
    const float* branchGradient(Workspace& work, const Task& task, const Place& place) const;
    void product(const float* a, std::int64_t rows, std::int64_t k, const std::vector<float>& packed, std::int64_t n,
        float* c, const float* bias, bool accumulate) const;
    /// gradient[n, k] += dy[rows, n]^T x[rows, k]; bias[n] += column sums of dy
    void weightGradient(Workspace& work, const float* dy, std::int64_t n, const float* x, std::int64_t k,
        const Task& task, const DenseOffsets& offsets) const;
    const float* at(std::int64_t offset) const { return offset == kAbsent ? nullptr : weights_ + offset; }
    NormArguments normOf(
        const float* x, const DenseOffsets& offsets, float* mean, float* inverse, std::int64_t rows) const;

    // set in the constructor, then constant
    GptShape shape_;
    GptOffsets offsets_;
    std::vector<float> rotary_;
    const Kernels& kernels_;
    const Products& dense_;
    std::shared_ptr<ThreadPool> pool_;

    const float* weights_ = nullptr;
    std::vector<PackedLayer> packed_;
    PackedDense packedHead_;
    std::vector<std::unique_ptr<Workspace>> workspaces_;
    std::vector<std::vector<float>> threadGradients_; // of threads 1 and up
};

} // namespace furrow::cpu
