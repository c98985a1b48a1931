#include "core/train/cpu/gpt_step_state.h"

#include <cmath>
#include <cstring>

namespace furrow::cpu {

void GptStep::weightGradient(Workspace& work, const float* dy, std::int64_t n, const float* x, std::int64_t k,
    const Task& task, const DenseOffsets& offsets) const
{
    const std::int64_t m = task.tokens();
    float* scratch = sized(work.outer, dense_.outerScratch(k));
    dense_.outerProduct({ dy, m, n, n }, { x, m, k, k }, task.gradients + offsets.weight, k, scratch);
    if (offsets.bias != kAbsent)
        kernels_.addColumnSums({ dy, m, n, n }, task.gradients + offsets.bias);
}

const float* GptStep::branchGradient(Workspace& work, const Task& task, const Place& place) const
{
    if (task.dropout <= 0)
        return work.dx.data();
    const std::int64_t count = task.tokens() * shape_.width;
    float* branch = sized(work.branch, count);
    std::memcpy(branch, work.dx.data(), static_cast<std::size_t>(count) * sizeof(float));
    dropRows(task, place, branch);
    return branch;
}

void GptStep::backwardMlp(Workspace& work, const Task& task, std::size_t layer) const
{
    const std::int64_t m = task.tokens();
    const std::int64_t d = shape_.width;
    const std::int64_t f = shape_.ffWidth;
    const std::int64_t up = shape_.upWidth();
    const LayerOffsets& offsets = offsets_.layers[layer];
    LayerState& state = work.layers[layer];
    const float* dDown = branchGradient(work, task, { Place::FeedForward, layer });

    // The gradient of the active values lies behind that of `up`, so that SwiGLU need not be in place.
    float* dUp = sized(work.dWide, m * (up + f));
    float* dActive = shape_.swiglu ? dUp + m * up : dUp;
    product(dDown, m, d, packed_[layer].down.backward, f, dActive, nullptr, false);
    weightGradient(work, dDown, d, state.active.data(), f, task, offsets.down);
    if (shape_.swiglu)
        kernels_.swigluBackward(state.up.data(), dActive, dUp, m, f);
    else
        kernels_.geluBackward(state.up.data(), dActive, dUp, m * f);
    weightGradient(work, dUp, up, state.normed2.data(), d, task, offsets.up);
    product(dUp, m, up, packed_[layer].up.backward, d, sized(work.dNormed, m * d), nullptr, false);
}

void GptStep::backwardLayer(Workspace& work, const Task& task, std::size_t layer) const
{
    const std::int64_t m = task.tokens();
    const std::int64_t d = shape_.width;
    const LayerOffsets& offsets = offsets_.layers[layer];
    LayerState& state = work.layers[layer];
    float* dx = work.dx.data();
    const auto gradient = [&](std::int64_t offset) { return offset == kAbsent ? nullptr : task.gradients + offset; };

    backwardMlp(work, task, layer);
    kernels_.normBackward(normOf(state.middle.data(), offsets.norm2, state.mean2.data(), state.inverse2.data(), m),
        work.dNormed.data(), dx, gradient(offsets.norm2.weight), gradient(offsets.norm2.bias));

    const float* dOut = branchGradient(work, task, { Place::AttentionOut, layer });
    product(dOut, m, d, packed_[layer].out.backward, d, sized(work.dMixed, m * d), nullptr, false);
    weightGradient(work, dOut, d, state.mixed.data(), d, task, offsets.out);
    attentionBackward(work, task, layer);
    if (shape_.rope)
        rotate(work.dQkv.data(), task, -1.0F);
    weightGradient(work, work.dQkv.data(), shape_.qkvWidth(), state.normed1.data(), d, task, offsets.qkv);
    product(
        work.dQkv.data(), m, shape_.qkvWidth(), packed_[layer].qkv.backward, d, work.dNormed.data(), nullptr, false);
    kernels_.normBackward(normOf(state.input.data(), offsets.norm1, state.mean1.data(), state.inverse1.data(), m),
        work.dNormed.data(), dx, gradient(offsets.norm1.weight), gradient(offsets.norm1.bias));
}

void GptStep::attentionBackward(Workspace& work, const Task& task, std::size_t layer) const
{
    const LayerState& state = work.layers[layer];
    const std::int64_t t = task.length;
    const std::int64_t d = shape_.headWidth();
    const std::int64_t stride = shape_.qkvWidth();
    const std::int64_t group = shape_.heads / shape_.kvHeads;
    float* dQkv = sized(work.dQkv, task.tokens() * stride);
    std::memset(dQkv, 0, static_cast<std::size_t>(task.tokens() * stride) * sizeof(float));
    sized(work.keyColumns, kernels_.float32.packedCount(d, t));
    sized(work.valueColumns, kernels_.float32.packedCount(d, t));
    sized(work.scores, kQueryBlock * roundUp16(t));
    sized(work.dScores, kQueryBlock * roundUp16(t));
    for (std::int64_t sequence = 0; sequence < task.sequences; ++sequence) {
        for (std::int64_t head = 0; head < shape_.heads; ++head) {
            if (head % group == 0) {
                const float* key = state.qkv.data() + sequence * t * stride + (shape_.heads + head / group) * d;
                kernels_.float32.packColumns({ key, t, d, stride }, work.keyColumns.data());
                kernels_.float32.packColumns({ key + shape_.kvHeads * d, t, d, stride }, work.valueColumns.data());
            }
            headBackward(work, task, layer, head, sequence);
        }
    }
}

/// One head of one sequence: probabilities are computed once more, 64 query rows at a time.
void GptStep::headBackward(
    Workspace& work, const Task& task, std::size_t layer, std::int64_t head, std::int64_t sequence) const
{
    const LayerState& state = work.layers[layer];
    const std::uint64_t dropped = dropKey(task, { Place::Attention, layer }, sequence, head);
    const std::int64_t t = task.length;
    const std::int64_t begin = sequence * t;
    const std::int64_t d = shape_.headWidth();
    const std::int64_t stride = shape_.qkvWidth();
    const std::int64_t padded = roundUp16(t);
    const std::int64_t keyHead = shape_.heads + head / (shape_.heads / shape_.kvHeads);
    const float scale = 1.0F / std::sqrt(static_cast<float>(d));
    float* scores = work.scores.data();
    float* dScores = work.dScores.data();
    const float* key = state.qkv.data() + begin * stride + keyHead * d;
    const float* logSums = state.logSums.data() + (sequence * shape_.heads + head) * t;
    float* dKey = work.dQkv.data() + begin * stride + keyHead * d;
    for (std::int64_t block = 0; block < t; block += kQueryBlock) {
        const std::int64_t blockRows = std::min(kQueryBlock, t - block);
        const std::int64_t blockSeen = block + blockRows;
        for (std::int64_t row = 0; row < blockRows; row += kQueryRows) {
            const std::int64_t rows = std::min(kQueryRows, blockRows - row);
            const std::int64_t token = begin + block + row;
            const std::int64_t seen = block + row + rows;
            const float* query = state.qkv.data() + token * stride + head * d;
            const float* dOut = work.dMixed.data() + token * shape_.width + head * d;
            float* p = scores + row * padded;
            float* dp = dScores + row * padded;
            kernels_.float32.gemm(
                { query, stride, 1, work.keyColumns.data(), p, padded, nullptr, rows, t, d, 0, seen, false });
            kernels_.float32.gemm(
                { dOut, shape_.width, 1, work.valueColumns.data(), dp, padded, nullptr, rows, t, d, 0, seen, false });
            dropScores(task, dropped, block + row, rows, roundUp16(seen), dp);
            for (std::int64_t i = 0; i < rows; ++i) {
                const std::int64_t valid = block + row + i + 1;
                kernels_.softmaxAgainRow(p + i * padded, valid, roundUp16(blockSeen), scale, logSums[block + row + i]);
                for (std::int64_t j = valid; j < roundUp16(blockSeen); ++j)
                    dp[i * padded + j] = 0;
                const std::int64_t hidden = task.hidden(token + i);
                std::fill_n(p + i * padded, hidden, 0.0F);
                std::fill_n(dp + i * padded, hidden, 0.0F);
                kernels_.softmaxBackwardRow(p + i * padded, dp + i * padded, roundUp16(blockSeen), scale);
            }
            dropScores(task, dropped, block + row, rows, roundUp16(seen), p);
            float* dQuery = work.dQkv.data() + token * stride + head * d;
            const RowsOperand keys = rowsOperand(kernels_, { key, t, d, stride }, work.rows);
            kernels_.float32.gemm(
                { dp, padded, 1, keys.data, dQuery, stride, nullptr, rows, d, seen, t, 0, false, keys.stride });
        }
        const float* query = state.qkv.data() + (begin + block) * stride + head * d;
        const RowsOperand queries = rowsOperand(kernels_, { query, blockRows, d, stride }, work.rows);
        kernels_.float32.gemm({ dScores, 1, padded, queries.data, dKey, stride, nullptr, blockSeen, d, blockRows, 0, 0,
            true, queries.stride });
        const float* dOut = work.dMixed.data() + (begin + block) * shape_.width + head * d;
        const RowsOperand outputs = rowsOperand(kernels_, { dOut, blockRows, d, shape_.width }, work.rows);
        kernels_.float32.gemm({ scores, 1, padded, outputs.data, dKey + shape_.kvHeads * d, stride, nullptr, blockSeen,
            d, blockRows, 0, 0, true, outputs.stride });
    }
}

void GptStep::scatterEmbedding(Workspace& work, const Task& task) const
{
    const std::int64_t d = shape_.width;
    const float* dx = branchGradient(work, task, { Place::Embedding, 0 });
    for (std::int64_t i = 0; i < task.tokens(); ++i) {
        const float* row = dx + i * d;
        kernels_.add(task.gradients + offsets_.embedding + task.inputs[i] * d, row, d);
        if (offsets_.positions != kAbsent)
            kernels_.add(task.gradients + offsets_.positions + task.place(i) * d, row, d);
    }
}

} // namespace furrow::cpu
