#pragma once

#include "core/train/cpu/cpu_features.h"

#include <cstdint>

namespace furrow::cpu {

/// A matrix product C[m,n] (+)= A[m,k] B[k,n] (+ bias[n]) with B packed.
struct GemmArguments {
    const float* a = nullptr; ///< A[i][p] at a[i * rowStride + p * stepStride]
    std::int64_t rowStride = 0;
    std::int64_t stepStride = 1;
    const float* packed = nullptr; ///< from one of the pack functions, n columns wide; or plain rows, see bStride
    float* c = nullptr;
    std::int64_t cStride = 0;
    const float* bias = nullptr; ///< may be null
    std::int64_t m = 0;
    std::int64_t n = 0;
    std::int64_t k = 0;
    std::int64_t packedSteps
        = 0; ///< k that B was packed with, when only its first k steps are wanted; 0: k. Float32 only
    std::int64_t columnsWanted = 0; ///< panels that start behind this column are left out; 0: all. Float32 only
    bool accumulate = false;
    std::int64_t bStride
        = 0; ///< not 0: B is not packed, B[p][j] = packed[p * bStride + j]; n is a multiple of 16 then. Float32 only
};

/// A row-major float32 matrix in memory.
struct MatrixView {
    const float* data = nullptr;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t stride = 0;
};

struct NormArguments {
    const float* x = nullptr; ///< [rows, width]
    const float* gain = nullptr;
    const float* bias = nullptr; ///< may be null
    float* mean = nullptr; ///< [rows]; unused when rms
    float* inverse = nullptr; ///< [rows], 1 / deviation
    std::int64_t rows = 0;
    std::int64_t width = 0; ///< multiple of 16
    float epsilon = 1e-5F;
    bool rms = false;
};

struct AdamArguments {
    float* weights = nullptr;
    float* mean = nullptr;
    float* square = nullptr;
    const float* gradients = nullptr;
    std::int64_t count = 0;
    float gradientScale = 1;
    float rate = 0; ///< learning rate / (1 - beta1^t)
    float keep = 1; ///< 1 - learning rate * weight decay
    float beta1 = 0.9F;
    float beta2 = 0.99F;
    float epsilon = 1e-8F;
    float inverseRoot = 1; ///< 1 / sqrt(1 - beta2^t)
};

/// Matrix products that round what goes in to one number format; sums are always float32. The packed layout is the
/// format's own.
struct Products {
    const char* name = ""; ///< precision, and with what it is computed where there are several ways
    void (*gemm)(const GemmArguments&) = nullptr; ///< bfloat16 wants stepStride 1
    /// C[i][j] += sum over p of a[p][i] * b[p][j], for weight gradients; scratch holds outerScratch(b.columns) numbers.
    void (*outerProduct)(const MatrixView& a, const MatrixView& b, float* c, std::int64_t cStride, float* scratch)
        = nullptr;
    std::int64_t (*outerScratch)(std::int64_t columns) = nullptr;
    /// Floats that a packed [k, n] matrix takes.
    std::int64_t (*packedCount)(std::int64_t k, std::int64_t n) = nullptr;
    /// B[p][j] = matrix[p][j].
    void (*packRows)(const MatrixView&, float* packed) = nullptr;
    /// B[p][j] = matrix[j][p].
    void (*packColumns)(const MatrixView&, float* packed) = nullptr;
};

/// Loops written for one instruction set. Plain pointers, no allocation, no threads of their own, no exceptions.
struct Kernels {
    CpuLevel level = CpuLevel::None;

    Products float32;
    Products bfloat16; ///< by bfloat16Unit()

    void (*normForward)(const NormArguments&, float* y) = nullptr;
    /// dx += gradient through the norm; gradients of gain and bias are added to.
    void (*normBackward)(const NormArguments&, const float* dy, float* dx, float* dGain, float* dBias) = nullptr;
    void (*geluForward)(const float* u, float* y, std::int64_t count) = nullptr;
    /// du = dy * gelu'(u); may be in place of dy.
    void (*geluBackward)(const float* u, const float* dy, float* du, std::int64_t count) = nullptr;
    /// u [rows, 2 width] = (gate, up); y [rows, width] = silu(gate) * up
    void (*swigluForward)(const float* u, float* y, std::int64_t rows, std::int64_t width) = nullptr;
    void (*swigluBackward)(const float* u, const float* dy, float* du, std::int64_t rows, std::int64_t width) = nullptr;
    /// Softmax of scale * row[0 .. valid-1]; the rest up to `padded` (a multiple of 16) becomes 0. Returns log sum
    /// e^(scale x).
    float (*softmaxRow)(float* row, std::int64_t valid, std::int64_t padded, float scale) = nullptr;
    /// The same row once more when that number is known.
    void (*softmaxAgainRow)(float* row, std::int64_t valid, std::int64_t padded, float scale, float logSum) = nullptr;
    /// dScores = probabilities * (dProbabilities - their weighted sum) * scale, in place of dProbabilities.
    void (*softmaxBackwardRow)(const float* probabilities, float* dProbabilities, std::int64_t padded, float scale)
        = nullptr;
    /// Loss of one row of logits; the row becomes (softmax - one hot) * scale. Numbers from `valid` to `padded` become
    /// 0.
    float (*crossEntropyRow)(float* logits, std::int64_t valid, std::int64_t padded, std::int64_t label, float scale)
        = nullptr;
    /// values[i] becomes 0 or values[i] / (1 - probability), as the key draws for number `first` + i; count is a
    /// multiple of 16.
    void (*drop)(float probability, std::uint64_t key, std::uint32_t first, float* values, std::int64_t count)
        = nullptr;
    /// sums[j] += column sums
    void (*addColumnSums)(const MatrixView&, float* sums) = nullptr;
    void (*add)(float* into, const float* from, std::int64_t count) = nullptr;
    double (*squaredSum)(const float* values, std::int64_t count) = nullptr;
    void (*adamW)(const AdamArguments&) = nullptr;
};

/// The kernels for this processor, or null when there are none.
const Kernels* kernels();

} // namespace furrow::cpu
