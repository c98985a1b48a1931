#pragma once

// Norms, activations, softmax, loss and AdamW, included once by each kernels_*.cpp.

#include "core/train/cpu/kernels.h"
#include "core/train/cpu/simd.h"

#include <cmath>

namespace {

using furrow::cpu::AdamArguments;
using furrow::cpu::MatrixView;
using furrow::cpu::NormArguments;

void normForward(const NormArguments& n, float* y)
{
    const auto width = static_cast<float>(n.width);
    for (std::int64_t row = 0; row < n.rows; ++row) {
        const float* x = n.x + row * n.width;
        float* out = y + row * n.width;
        Vec total = zero();
        if (!n.rms)
            for (std::int64_t j = 0; j < n.width; j += kLanes)
                total = total + load(x + j);
        const float mean = sum(total) / width;
        Vec squares = zero();
        for (std::int64_t j = 0; j < n.width; j += kLanes) {
            const Vec d = load(x + j) - splat(mean);
            squares = fma(d, d, squares);
        }
        const float inverse = 1.0F / std::sqrt(sum(squares) / width + n.epsilon);
        if (n.mean)
            n.mean[row] = mean;
        if (n.inverse)
            n.inverse[row] = inverse;
        for (std::int64_t j = 0; j < n.width; j += kLanes) {
            const Vec normed = (load(x + j) - splat(mean)) * splat(inverse) * load(n.gain + j);
            store(out + j, n.bias ? normed + load(n.bias + j) : normed);
        }
    }
}

void normBackward(const NormArguments& n, const float* dy, float* dx, float* dGain, float* dBias)
{
    const float share = 1.0F / static_cast<float>(n.width);
    for (std::int64_t row = 0; row < n.rows; ++row) {
        const float* x = n.x + row * n.width;
        const float* d = dy + row * n.width;
        float* out = dx + row * n.width;
        const Vec mean = splat(n.rms ? 0.0F : n.mean[row]);
        const Vec inverse = splat(n.inverse[row]);
        Vec plain = zero();
        Vec weighted = zero();
        for (std::int64_t j = 0; j < n.width; j += kLanes) {
            const Vec normed = (load(x + j) - mean) * inverse;
            const Vec grad = load(d + j);
            const Vec inner = grad * load(n.gain + j);
            plain = plain + inner;
            weighted = fma(inner, normed, weighted);
            store(dGain + j, fma(grad, normed, load(dGain + j)));
            if (dBias)
                store(dBias + j, load(dBias + j) + grad);
        }
        const Vec plainMean = splat(n.rms ? 0.0F : sum(plain) * share);
        const Vec weightedMean = splat(sum(weighted) * share);
        for (std::int64_t j = 0; j < n.width; j += kLanes) {
            const Vec normed = (load(x + j) - mean) * inverse;
            const Vec inner = load(d + j) * load(n.gain + j);
            store(out + j, fma(inverse, inner - plainMean - normed * weightedMean, load(out + j)));
        }
    }
}

constexpr float kGeluScale
    = 1.5957691216057308F; // 2 sqrt(2 / pi): gelu(u) = u * sigmoid(kGeluScale * (u + kGeluCube u^3))
constexpr float kGeluCube = 0.044715F;

inline Vec sigmoid(Vec x) { return reciprocal(splat(1.0F) + exponential(zero() - x)); }

void geluForward(const float* u, float* y, std::int64_t count)
{
    for (std::int64_t i = 0; i < count; i += kLanes) {
        const Vec v = load(u + i);
        const Vec cube = fma(v * v, splat(kGeluCube), splat(1.0F)) * v;
        store(y + i, v * sigmoid(cube * splat(kGeluScale)));
    }
}

void geluBackward(const float* u, const float* dy, float* du, std::int64_t count)
{
    for (std::int64_t i = 0; i < count; i += kLanes) {
        const Vec v = load(u + i);
        const Vec square = v * v;
        const Vec s = sigmoid(fma(square, splat(kGeluCube), splat(1.0F)) * v * splat(kGeluScale));
        const Vec inner = fma(square, splat(3 * kGeluCube), splat(1.0F)) * splat(kGeluScale);
        const Vec slope = fma(v * s * (splat(1.0F) - s), inner, s);
        store(du + i, load(dy + i) * slope);
    }
}

void swigluForward(const float* u, float* y, std::int64_t rows, std::int64_t width)
{
    for (std::int64_t row = 0; row < rows; ++row) {
        const float* gate = u + row * 2 * width;
        for (std::int64_t j = 0; j < width; j += kLanes) {
            const Vec g = load(gate + j);
            store(y + row * width + j, g * sigmoid(g) * load(gate + width + j));
        }
    }
}

void swigluBackward(const float* u, const float* dy, float* du, std::int64_t rows, std::int64_t width)
{
    for (std::int64_t row = 0; row < rows; ++row) {
        const float* gate = u + row * 2 * width;
        float* out = du + row * 2 * width;
        for (std::int64_t j = 0; j < width; j += kLanes) {
            const Vec g = load(gate + j);
            const Vec up = load(gate + width + j);
            const Vec grad = load(dy + row * width + j);
            const Vec s = sigmoid(g);
            store(out + j, grad * up * fma(g * s, splat(1.0F) - s, s));
            store(out + width + j, grad * g * s);
        }
    }
}

constexpr float kMinusInfinity = -__builtin_inff();

inline void zeroTail(float* row, std::int64_t from, std::int64_t padded)
{
    for (std::int64_t j = from; j < padded; j += kLanes)
        store(row + j, zero());
}

/// Largest of the first `valid` numbers.
inline float largestOf(const float* row, std::int64_t valid)
{
    Vec top = splat(kMinusInfinity);
    std::int64_t j = 0;
    for (; j + kLanes <= valid; j += kLanes)
        top = maximum(load(row + j), top);
    if (j < valid)
        top = maximum(firstLanes(valid - j, load(row + j), kMinusInfinity), top);
    return largest(top);
}

/// Row of e^(scale x - shift), exactly 0 from `valid` on; returns the sum.
inline float exponentials(float* row, std::int64_t valid, std::int64_t padded, float scale, float shift)
{
    Vec total = zero();
    std::int64_t j = 0;
    for (; j < valid; j += kLanes) {
        Vec e = exponential(fma(load(row + j), splat(scale), splat(-shift)));
        if (valid - j < kLanes)
            e = firstLanes(valid - j, e, 0.0F);
        store(row + j, e);
        total = total + e;
    }
    zeroTail(row, j, padded);
    return sum(total);
}

inline void scaleRow(float* row, std::int64_t valid, float factor)
{
    for (std::int64_t j = 0; j < valid; j += kLanes)
        store(row + j, load(row + j) * splat(factor));
}

float softmaxRow(float* row, std::int64_t valid, std::int64_t padded, float scale)
{
    const float top = largestOf(row, valid) * scale;
    const float total = exponentials(row, valid, padded, scale, top);
    scaleRow(row, valid, 1.0F / total);
    return top + std::log(total);
}

void softmaxAgainRow(float* row, std::int64_t valid, std::int64_t padded, float scale, float logSum)
{
    (void)exponentials(row, valid, padded, scale, logSum);
}

void softmaxBackwardRow(const float* probabilities, float* dProbabilities, std::int64_t padded, float scale)
{
    Vec total = zero();
    for (std::int64_t j = 0; j < padded; j += kLanes)
        total = fma(load(probabilities + j), load(dProbabilities + j), total);
    const Vec mean = splat(sum(total));
    for (std::int64_t j = 0; j < padded; j += kLanes)
        store(dProbabilities + j, load(probabilities + j) * (load(dProbabilities + j) - mean) * splat(scale));
}

float crossEntropyRow(float* logits, std::int64_t valid, std::int64_t padded, std::int64_t label, float scale)
{
    const float top = largestOf(logits, valid);
    const float wanted = logits[label];
    const float total = exponentials(logits, valid, padded, 1.0F, top);
    scaleRow(logits, valid, scale / total);
    logits[label] -= scale;
    return std::log(total) + top - wanted;
}

void drop(float probability, std::uint64_t key, std::uint32_t first, float* values, std::int64_t count)
{
    const auto threshold = static_cast<std::uint32_t>(static_cast<double>(probability) * 4294967296.0);
    const Vec scale = splat(1.0F / (1.0F - probability));
    Words number;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane)
        number[lane] = first + lane + static_cast<std::uint32_t>(key);
    for (std::int64_t i = 0; i < count; i += kLanes) {
        const Words drawn = scattered(scattered(number) ^ static_cast<std::uint32_t>(key >> 32));
        const auto kept = reinterpret_cast<Words>(drawn >= threshold);
        store(values + i, reinterpret_cast<Vec>(reinterpret_cast<Words>(load(values + i) * scale) & kept));
        number += static_cast<std::uint32_t>(kLanes);
    }
}

void addColumnSums(const MatrixView& matrix, float* sums)
{
    for (std::int64_t i = 0; i < matrix.rows; ++i) {
        const float* row = matrix.data + i * matrix.stride;
        std::int64_t j = 0;
        for (; j + kLanes <= matrix.columns; j += kLanes)
            store(sums + j, load(sums + j) + load(row + j));
        for (; j < matrix.columns; ++j)
            sums[j] += row[j];
    }
}

void add(float* into, const float* from, std::int64_t count)
{
    std::int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes)
        store(into + i, load(into + i) + load(from + i));
    for (; i < count; ++i)
        into[i] += from[i];
}

double squaredSum(const float* values, std::int64_t count)
{
    // Short float sums, gathered in double: as exact as a double sum for our purpose, and as fast as memory.
    constexpr std::int64_t kRun = 4096;
    double total = 0;
    for (std::int64_t begin = 0; begin < count; begin += kRun) {
        const std::int64_t end = begin + kRun < count ? begin + kRun : count;
        Vec partial = zero();
        std::int64_t i = begin;
        for (; i + kLanes <= end; i += kLanes)
            partial = fma(load(values + i), load(values + i), partial);
        float rest = sum(partial);
        for (; i < end; ++i)
            rest += values[i] * values[i];
        total += static_cast<double>(rest);
    }
    return total;
}

void adamW(const AdamArguments& a)
{
    std::int64_t i = 0;
    for (; i + kLanes <= a.count; i += kLanes) {
        const Vec g = load(a.gradients + i) * splat(a.gradientScale);
        const Vec oldMean = load(a.mean + i);
        const Vec m = fma(splat(1.0F - a.beta1), g - oldMean, oldMean);
        const Vec v = fma(splat(1.0F - a.beta2), g * g, load(a.square + i) * splat(a.beta2));
        store(a.mean + i, m);
        store(a.square + i, v);
        const Vec step = m / fma(squareRoot(v), splat(a.inverseRoot), splat(a.epsilon));
        store(a.weights + i, nfma(splat(a.rate), step, load(a.weights + i) * splat(a.keep)));
    }
    for (; i < a.count; ++i) {
        const float g = a.gradients[i] * a.gradientScale;
        const float m = a.mean[i] + (1.0F - a.beta1) * (g - a.mean[i]);
        const float v = a.square[i] * a.beta2 + (1.0F - a.beta2) * g * g;
        a.mean[i] = m;
        a.square[i] = v;
        a.weights[i] = a.weights[i] * a.keep - a.rate * m / (std::sqrt(v) * a.inverseRoot + a.epsilon);
    }
}

} // namespace
