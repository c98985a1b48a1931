#include "core/base/random.h"
#include "core/model/step_path.h"
#include "core/train/cpu/gpt_step_state.h"

#include <cmath>
#include <cstring>

// Forward half and the loss; gpt_step_backward.cpp has the way back.

namespace furrow::cpu {

GptStep::GptStep(const GptShape& shape, GptOffsets offsets, std::vector<float> rotary, const Kernels& kernels,
    const Products& dense, int threads)
    : shape_(shape)
    , offsets_(std::move(offsets))
    , rotary_(std::move(rotary))
    , kernels_(kernels)
    , dense_(dense)
    , pool_(sharedPool(std::max(1, threads)))
    , packed_(static_cast<std::size_t>(shape.layers))
    , threadGradients_(static_cast<std::size_t>(pool_->threads() - 1))
{
    for (int i = 0; i < pool_->threads(); ++i) {
        workspaces_.push_back(std::make_unique<Workspace>());
        workspaces_.back()->layers.resize(static_cast<std::size_t>(shape.layers));
    }
}

GptStep::~GptStep() = default;

void GptStep::pack(const float* matrix, std::int64_t rows, std::int64_t columns, PackedDense& into) const
{
    const MatrixView view { matrix, rows, columns, columns };
    dense_.packColumns(view, sized(into.forward, dense_.packedCount(columns, rows)));
    dense_.packRows(view, sized(into.backward, dense_.packedCount(rows, columns)));
}

void GptStep::setWeights(const float* weights)
{
    weights_ = weights;
    const std::int64_t d = shape_.width;
    pool_->run([&](int thread) {
        for (std::int64_t i = thread; i < shape_.layers; i += pool_->threads()) {
            const LayerOffsets& from = offsets_.layers[static_cast<std::size_t>(i)];
            PackedLayer& to = packed_[static_cast<std::size_t>(i)];
            pack(at(from.qkv.weight), shape_.qkvWidth(), d, to.qkv);
            pack(at(from.out.weight), d, d, to.out);
            pack(at(from.up.weight), shape_.upWidth(), d, to.up);
            pack(at(from.down.weight), d, shape_.ffWidth, to.down);
        }
        if (thread == pool_->threads() - 1)
            pack(at(offsets_.head), shape_.vocabulary, d, packedHead_);
    });
}

void GptStep::run(
    const TokenBatch& batch, float* losses, float* gradients, float gradientScale, std::uint64_t dropoutSeed)
{
    const int threads = pool_->threads();
    const std::int64_t together = std::max<std::int64_t>(1, kFastTokensPerTask / batch.length);
    pool_->run([&](int thread) {
        Workspace& work = *workspaces_[static_cast<std::size_t>(thread)];
        Task task;
        task.length = batch.length;
        task.scale = gradientScale;
        task.gradients = gradients;
        task.dropout = gradients ? shape_.dropout : 0.0F;
        task.dropoutSeed = dropoutSeed;
        if (gradients && thread > 0)
            task.gradients = sized(threadGradients_[static_cast<std::size_t>(thread - 1)], offsets_.count);
        const std::int64_t end = batch.rows * (thread + 1) / threads;
        for (std::int64_t row = batch.rows * thread / threads; row < end; row += together) {
            task.firstSequence = row;
            task.sequences = std::min(together, end - row);
            task.inputs = batch.inputs + row * batch.length;
            task.labels = batch.labels + row * batch.length;
            task.places = batch.places ? batch.places + row * batch.length : nullptr;
            task.losses = losses + row * batch.length;
            runRows(work, task);
        }
    });
    if (gradients && threads > 1) {
        pool_->run([&](int thread) {
            const std::int64_t begin = offsets_.count * thread / threads;
            const std::int64_t count = offsets_.count * (thread + 1) / threads - begin;
            for (std::vector<float>& other : threadGradients_) {
                kernels_.add(gradients + begin, other.data() + begin, count);
                std::memset(other.data() + begin, 0, static_cast<std::size_t>(count) * sizeof(float));
            }
        });
    }
}

void GptStep::runRows(Workspace& work, const Task& task)
{
    embed(work, task);
    for (std::size_t layer = 0; layer < packed_.size(); ++layer)
        forwardLayer(work, task, layer);
    lossAndHead(work, task);
    if (task.gradients) {
        for (std::size_t layer = packed_.size(); layer-- > 0;)
            backwardLayer(work, task, layer);
        scatterEmbedding(work, task);
    }
}

void GptStep::embed(Workspace& work, const Task& task) const
{
    const std::int64_t d = shape_.width;
    float* x = sized(work.x, task.tokens() * d);
    for (std::int64_t i = 0; i < task.tokens(); ++i) {
        std::memcpy(
            x + i * d, weights_ + offsets_.embedding + task.inputs[i] * d, static_cast<std::size_t>(d) * sizeof(float));
        if (offsets_.positions != kAbsent)
            kernels_.add(x + i * d, weights_ + offsets_.positions + task.place(i) * d, d);
    }
    dropRows(task, { Place::Embedding, 0 }, x);
}

std::uint64_t GptStep::dropKey(const Task& task, const Place& place, std::int64_t sequence, std::int64_t head) const
{
    return mixSeed({ task.dropoutSeed, place.kind, place.layer,
        static_cast<std::uint64_t>(task.firstSequence + sequence), static_cast<std::uint64_t>(head) });
}

void GptStep::dropRows(const Task& task, const Place& place, float* rows) const
{
    if (task.dropout <= 0)
        return;
    const std::int64_t count = task.length * shape_.width;
    for (std::int64_t sequence = 0; sequence < task.sequences; ++sequence)
        kernels_.drop(task.dropout, dropKey(task, place, sequence, 0), 0, rows + sequence * count, count);
}

void GptStep::addBranch(Workspace& work, const Task& task, const Place& place, const float* a, std::int64_t k,
    const PackedDense& packed, const float* bias) const
{
    const std::int64_t m = task.tokens();
    const std::int64_t d = shape_.width;
    if (task.dropout <= 0)
        return product(a, m, k, packed.forward, d, work.x.data(), bias, true);
    float* branch = sized(work.branch, m * d);
    product(a, m, k, packed.forward, d, branch, bias, false);
    dropRows(task, place, branch);
    kernels_.add(work.x.data(), branch, m * d);
}

NormArguments GptStep::normOf(
    const float* x, const DenseOffsets& offsets, float* mean, float* inverse, std::int64_t rows) const
{
    NormArguments norm;
    norm.x = x;
    norm.gain = at(offsets.weight);
    norm.bias = at(offsets.bias);
    norm.mean = mean;
    norm.inverse = inverse;
    norm.rows = rows;
    norm.width = shape_.width;
    norm.epsilon = shape_.epsilon;
    norm.rms = shape_.rms;
    return norm;
}

void GptStep::product(const float* a, std::int64_t rows, std::int64_t k, const std::vector<float>& packed,
    std::int64_t n, float* c, const float* bias, bool accumulate) const
{
    GemmArguments g;
    g.a = a;
    g.rowStride = k;
    g.packed = packed.data();
    g.c = c;
    g.cStride = n;
    g.bias = bias;
    g.m = rows;
    g.n = n;
    g.k = k;
    g.accumulate = accumulate;
    dense_.gemm(g);
}

void GptStep::forwardLayer(Workspace& work, const Task& task, std::size_t layer) const
{
    const std::int64_t m = task.tokens();
    const std::int64_t d = shape_.width;
    const LayerOffsets& offsets = offsets_.layers[layer];
    const PackedLayer& packed = packed_[layer];
    LayerState& state = work.layers[layer];
    float* x = work.x.data();
    const auto bytes = static_cast<std::size_t>(m * d) * sizeof(float);

    std::memcpy(sized(state.input, m * d), x, bytes);
    kernels_.normForward(
        normOf(x, offsets.norm1, sized(state.mean1, m), sized(state.inverse1, m), m), sized(state.normed1, m * d));
    product(state.normed1.data(), m, d, packed.qkv.forward, shape_.qkvWidth(), sized(state.qkv, m * shape_.qkvWidth()),
        at(offsets.qkv.bias), false);
    if (shape_.rope)
        rotate(state.qkv.data(), task, 1.0F);
    attentionForward(work, task, layer);
    addBranch(work, task, { Place::AttentionOut, layer }, state.mixed.data(), d, packed.out, at(offsets.out.bias));

    std::memcpy(sized(state.middle, m * d), x, bytes);
    kernels_.normForward(
        normOf(x, offsets.norm2, sized(state.mean2, m), sized(state.inverse2, m), m), sized(state.normed2, m * d));
    const std::int64_t up = shape_.upWidth();
    product(state.normed2.data(), m, d, packed.up.forward, up, sized(state.up, m * up), at(offsets.up.bias), false);
    float* active = sized(state.active, m * shape_.ffWidth);
    if (shape_.swiglu)
        kernels_.swigluForward(state.up.data(), active, m, shape_.ffWidth);
    else
        kernels_.geluForward(state.up.data(), active, m * shape_.ffWidth);
    addBranch(work, task, { Place::FeedForward, layer }, active, shape_.ffWidth, packed.down, at(offsets.down.bias));
}

void GptStep::rotate(float* qkv, const Task& task, float direction) const
{
    const std::int64_t half = shape_.headWidth() / 2;
    const std::int64_t context = static_cast<std::int64_t>(rotary_.size()) / (2 * half);
    const std::int64_t rotated = shape_.heads + shape_.kvHeads;
    for (std::int64_t i = 0; i < task.tokens(); ++i) {
        const float* cosines = rotary_.data() + task.place(i) * half;
        const float* sines = cosines + context * half;
        for (std::int64_t head = 0; head < rotated; ++head) {
            float* low = qkv + i * shape_.qkvWidth() + head * shape_.headWidth();
            float* high = low + half;
            for (std::int64_t j = 0; j < half; ++j) {
                const float a = low[j];
                const float b = high[j];
                const float s = sines[j] * direction;
                low[j] = a * cosines[j] - b * s;
                high[j] = b * cosines[j] + a * s;
            }
        }
    }
}

void GptStep::attentionForward(Workspace& work, const Task& task, std::size_t layer) const
{
    LayerState& state = work.layers[layer];
    const std::int64_t t = task.length;
    const std::int64_t d = shape_.headWidth();
    const std::int64_t stride = shape_.qkvWidth();
    const std::int64_t padded = roundUp16(t);
    const float scale = 1.0F / std::sqrt(static_cast<float>(d));
    float* mixed = sized(state.mixed, task.tokens() * shape_.width);
    float* keys = sized(work.keyColumns, kernels_.float32.packedCount(d, t));
    float* logSums = sized(state.logSums, task.tokens() * shape_.heads);
    RowsOperand values;
    float* scores = sized(work.scores, kQueryBlock * padded);
    const std::int64_t group = shape_.heads / shape_.kvHeads;
    for (std::int64_t sequence = 0; sequence < task.sequences; ++sequence) {
        const float* qkv = state.qkv.data() + sequence * t * stride;
        for (std::int64_t head = 0; head < shape_.heads; ++head) {
            if (head % group == 0) {
                const float* key = qkv + (shape_.heads + head / group) * d;
                kernels_.float32.packColumns({ key, t, d, stride }, keys);
                values = rowsOperand(kernels_, { key + shape_.kvHeads * d, t, d, stride }, work.rows);
            }
            const std::uint64_t dropped = dropKey(task, { Place::Attention, layer }, sequence, head);
            for (std::int64_t row = 0; row < t; row += kQueryRows) {
                const std::int64_t rows = std::min(kQueryRows, t - row);
                const std::int64_t seen = row + rows;
                GemmArguments score { qkv + row * stride + head * d, stride, 1, keys, scores, padded, nullptr, rows, t,
                    d, 0, seen, false };
                kernels_.float32.gemm(score);
                for (std::int64_t i = 0; i < rows; ++i) {
                    float* own = scores + i * padded;
                    const std::int64_t hidden = task.hidden(sequence * t + row + i);
                    std::fill_n(own, hidden, kHiddenScore);
                    logSums[(sequence * shape_.heads + head) * t + row + i]
                        = kernels_.softmaxRow(own, row + i + 1, roundUp16(seen), scale);
                    std::fill_n(own, hidden, 0.0F);
                }
                dropScores(task, dropped, row, rows, roundUp16(seen), scores);
                float* out = mixed + (sequence * t + row) * shape_.width + head * d;
                kernels_.float32.gemm({ scores, padded, 1, values.data, out, shape_.width, nullptr, rows, d, seen, t, 0,
                    false, values.stride });
            }
        }
    }
}

/// Drops attention's weights: `rows` rows from query `row` on, `seen` of them wide, one behind the other in `scores`.
void GptStep::dropScores(
    const Task& task, std::uint64_t key, std::int64_t row, std::int64_t rows, std::int64_t seen, float* scores) const
{
    if (task.dropout <= 0)
        return;
    const std::int64_t padded = roundUp16(task.length);
    for (std::int64_t i = 0; i < rows; ++i)
        kernels_.drop(task.dropout, key, static_cast<std::uint32_t>((row + i) * padded), scores + i * padded, seen);
}

void GptStep::lossAndHead(Workspace& work, const Task& task) const
{
    const std::int64_t m = task.tokens();
    const std::int64_t d = shape_.width;
    const std::int64_t padded = roundUp16(shape_.vocabulary);
    const std::int64_t piece = std::clamp(kFastLogitsPerPiece / padded, std::int64_t { 16 }, m);
    const NormArguments norm
        = normOf(work.x.data(), offsets_.norm, sized(work.lastMean, m), sized(work.lastInverse, m), m);
    const float* last = sized(work.last, m * d);
    kernels_.normForward(norm, work.last.data());
    float* logits = sized(work.logits, piece * padded);
    float* dLast = sized(work.dNormed, m * d);
    for (std::int64_t begin = 0; begin < m; begin += piece) {
        const std::int64_t rows = std::min(piece, m - begin);
        GemmArguments forward { last + begin * d, d, 1, packedHead_.forward.data(), logits, padded, nullptr, rows,
            shape_.vocabulary, d, 0, 0, false };
        dense_.gemm(forward);
        for (std::int64_t i = 0; i < rows; ++i) {
            const std::int64_t label = task.labels[begin + i];
            float* row = logits + i * padded;
            if (label < 0)
                std::memset(row, 0, static_cast<std::size_t>(padded) * sizeof(float));
            task.losses[begin + i]
                = label < 0 ? 0 : kernels_.crossEntropyRow(row, shape_.vocabulary, padded, label, task.scale);
        }
        if (!task.gradients)
            continue;
        dense_.gemm({ logits, padded, 1, packedHead_.backward.data(), dLast + begin * d, d, nullptr, rows, d,
            shape_.vocabulary, 0, 0, false });
        float* scratch = sized(work.outer, dense_.outerScratch(d));
        dense_.outerProduct({ logits, rows, shape_.vocabulary, padded }, { last + begin * d, rows, d, d },
            task.gradients + offsets_.head, d, scratch);
    }
    if (task.gradients) {
        float* dx = sized(work.dx, m * d);
        std::memset(dx, 0, static_cast<std::size_t>(m * d) * sizeof(float));
        float* dBias = offsets_.norm.bias == kAbsent ? nullptr : task.gradients + offsets_.norm.bias;
        kernels_.normBackward(norm, dLast, dx, task.gradients + offsets_.norm.weight, dBias);
    }
}

} // namespace furrow::cpu
