#pragma once

#include "core/train/cpu/float32_words.inc.h"
#include "core/train/cpu/gemm_rounded.inc.h"

namespace {

/// The products of bfloat16 for processors with no faster unit for them (bfloat16Unit()): float32 numbers with the last
/// 16 bits rounded away. The same numbers but for the order of the sums, at the speed of float32.
struct RoundedWords {
    static constexpr const char* kName = "bf16, rounded";
    static constexpr std::int64_t kSteps = 1;
    static constexpr std::int64_t kGroup = 1;

    static Vec multiplyAdd(Vec a, Vec b, Vec sum) { return fma(a, b, sum); }

    /// To the nearest, ties to even. NaN stays NaN.
    static Vec rounded(Vec v)
    {
        const auto bits = reinterpret_cast<Words>(v);
        const auto isNumber = reinterpret_cast<Words>(v == v);
        const Words nearest = bits + 0x7fffU + ((bits >> 16) & 1U);
        return reinterpret_cast<Vec>(((nearest & isNumber) | ((bits | 0x400000U) & ~isNumber)) & 0xffff0000U);
    }

    static Vec rowWords(const MatrixView& matrix, std::int64_t word, std::int64_t column, std::int64_t count)
    {
        return rounded(Float32Words::rowWords(matrix, word, column, count));
    }

    /// `count` (at least 1) numbers in a row as a vector of words; those behind the vector are left out, zeros behind
    /// the last.
    static Vec inRow(const float* from, std::int64_t count)
    {
        return rounded(loadFirst(from, count < kLanes ? count : kLanes));
    }

    /// matrix has n rows and k columns.
    static void packColumns(const MatrixView& matrix, float* packed)
    {
        Float32Words::packColumns(matrix, packed);
        const std::int64_t count = packedCount<RoundedWords>(matrix.columns, matrix.rows);
        for (std::int64_t i = 0; i < count; i += kLanes)
            store(packed + i, rounded(load(packed + i)));
    }
};

} // namespace
