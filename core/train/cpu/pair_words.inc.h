#pragma once

#include "core/train/cpu/gemm_rounded.inc.h"

namespace {

/// Numbers rounded to bfloat16, two steps of the contraction in a word.
template <std::int64_t Group> struct PairWords {
    static constexpr std::int64_t kSteps = 2;
    static constexpr std::int64_t kGroup = Group;

    /// 32 numbers one behind the other as 16 words.
    static Vec rounded(Vec first, Vec second) { return reinterpret_cast<Vec>(_mm512_cvtne2ps_pbh(second, first)); }

    static Vec rowWords(const MatrixView& matrix, std::int64_t word, std::int64_t column, std::int64_t count)
    {
        if (count <= 0)
            return zero();
        const float* from = matrix.data + 2 * word * matrix.stride + column;
        const Vec low = 2 * word < matrix.rows ? loadFirst(from, count) : zero();
        const Vec high = 2 * word + 1 < matrix.rows ? loadFirst(from + matrix.stride, count) : zero();
        const VecInt halves = _mm512_castps_si512(rounded(low, high));
        const VecInt interleave = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7,
            22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
        return _mm512_castsi512_ps(_mm512_permutexvar_epi16(interleave, halves));
    }

    /// `count` (at least 1) numbers in a row as a vector of words; those behind 32 are left out, zeros behind the last.
    static Vec inRow(const float* from, std::int64_t count)
    {
        const Vec first = loadFirst(from, count < kLanes ? count : kLanes);
        return rounded(first, count > kLanes ? loadFirst(from + kLanes, count - kLanes) : zero());
    }

    /// matrix has n rows and k columns.
    static void packColumns(const MatrixView& matrix, float* packed)
    {
        const std::int64_t k = matrix.columns;
        const std::int64_t words = wordsOf<PairWords>(k);
        alignas(64) float square[16 * 16];
        alignas(64) float turned[16 * 16];
        forPanels(words, matrix.rows, packed,
            [&](std::int64_t column, std::int64_t columns, std::int64_t width, float* panel) {
                for (std::int64_t word = 0; word < words; word += 16) {
                    for (std::int64_t j = 0; j < width; j += 16) {
                        for (std::int64_t row = 0; row < 16; ++row) {
                            const std::int64_t left = k - 2 * word;
                            const float* from = matrix.data + (column + j + row) * matrix.stride + 2 * word;
                            store(square + row * 16, j + row < columns ? inRow(from, left < 32 ? left : 32) : zero());
                        }
                        transposeSquare(square, 16, turned, 16);
                        for (std::int64_t i = 0; i < 16 && word + i < words; ++i)
                            store(panel + (word + i) * width + j, load(turned + i * 16));
                    }
                }
            });
    }
};

/// Pairs multiplied as vectors (AVX512-BF16), sums in float32.
struct VectorPairs : PairWords<1> {
    static constexpr const char* kName = "bf16, pairs";

    static Vec multiplyAdd(Vec a, Vec b, Vec sum)
    {
        return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
    }
};

} // namespace
