#pragma once

// Register-blocked matrix product. B lies in panels of up to three vectors: panel j starts at packed + j * k, and holds
// for each step of the contraction its columns side by side, padded with zeros. What a step is, the class W says
// (float32_words.inc.h, rounded_words.inc.h, pair_words.inc.h): a word of 32 bits holds W::kSteps numbers, and words
// come in groups of W::kGroup, zeros behind the last.

#include "core/train/cpu/kernels.h"
#include "core/train/cpu/simd.h"

namespace {

using furrow::cpu::GemmArguments;
using furrow::cpu::MatrixView;

#if defined(__AVX512F__)
constexpr int kTileRows = 8;
#else
constexpr int kTileRows = 4;
#endif

/// Vectors in the next panel when `rest` columns are left.
inline int panelVectors(std::int64_t rest)
{
    const std::int64_t vectors = (rest + kLanes - 1) / kLanes;
    if (vectors == 4)
        return 2;
    return vectors > 3 ? 3 : static_cast<int>(vectors);
}

/// One row of a tile of the result, `vectors` wide, of which `columns` numbers are wanted.
template <int Vectors>
inline void finishRow(const GemmArguments& g, const Vec* sums, float* row, const float* bias, std::int64_t columns)
{
    if (columns == Vectors * kLanes) {
        for (int j = 0; j < Vectors; ++j) {
            Vec v = sums[j];
            if (bias)
                v = v + load(bias + j * kLanes);
            if (g.accumulate)
                v = v + load(row + j * kLanes);
            store(row + j * kLanes, v);
        }
        return;
    }
    float edge[Vectors * kLanes];
    for (int j = 0; j < Vectors; ++j)
        store(edge + j * kLanes, sums[j]);
    for (std::int64_t j = 0; j < columns; ++j)
        row[j] = edge[j] + (bias ? bias[j] : 0.0F) + (g.accumulate ? row[j] : 0.0F);
}

template <class W, int Rows, int Vectors>
inline void tile(
    const GemmArguments& g, const float* a, const float* panel, float* c, const float* bias, std::int64_t columns)
{
    // Results are often not in the near cache; asked for now they arrive while the products run.
    for (int i = 0; i < Rows; ++i)
        for (std::int64_t j = 0; j < columns; j += 16)
            __builtin_prefetch(c + i * g.cStride + j, 1);
    Vec acc[Rows][Vectors];
    for (int i = 0; i < Rows; ++i)
        for (int j = 0; j < Vectors; ++j)
            acc[i][j] = zero();
    const std::int64_t step = g.bStride ? g.bStride : Vectors * kLanes;
    const float* b = panel;
    for (std::int64_t p = 0; p < g.k; ++p) {
        Vec bv[Vectors];
        for (int j = 0; j < Vectors; ++j)
            bv[j] = load(b + j * kLanes);
        const float* at = a + p * g.stepStride;
        for (int i = 0; i < Rows; ++i) {
            const Vec av = splat(at[i * g.rowStride]);
            for (int j = 0; j < Vectors; ++j)
                acc[i][j] = W::multiplyAdd(av, bv[j], acc[i][j]);
        }
        b += step;
    }
    for (int i = 0; i < Rows; ++i)
        finishRow<Vectors>(g, acc[i], c + i * g.cStride, bias, columns);
}

template <class W, int Vectors>
inline void panelRows(const GemmArguments& g, const float* panel, std::int64_t column, std::int64_t columns)
{
    const float* bias = g.bias ? g.bias + column : nullptr;
    if constexpr (W::kGroup > 1) {
        W::template panelRows<Vectors>(g, panel, g.c + column, bias, columns);
    } else {
        std::int64_t i = 0;
        for (; i + kTileRows <= g.m; i += kTileRows)
            tile<W, kTileRows, Vectors>(g, g.a + i * g.rowStride, panel, g.c + i * g.cStride + column, bias, columns);
        for (; i + 2 <= g.m; i += 2)
            tile<W, 2, Vectors>(g, g.a + i * g.rowStride, panel, g.c + i * g.cStride + column, bias, columns);
        for (; i < g.m; ++i)
            tile<W, 1, Vectors>(g, g.a + i * g.rowStride, panel, g.c + i * g.cStride + column, bias, columns);
    }
}

/// All sizes and strides in words.
template <class W> void gemm(const GemmArguments& g)
{
    const std::int64_t packedSteps = g.packedSteps ? g.packedSteps : g.k;
    const std::int64_t end = g.columnsWanted ? g.columnsWanted : g.n;
    for (std::int64_t column = 0; column < end;) {
        const int vectors = panelVectors(g.n - column);
        const std::int64_t width = vectors * kLanes;
        const std::int64_t columns = width < g.n - column ? width : g.n - column;
        const float* panel = g.bStride ? g.packed + column : g.packed + column * packedSteps;
        if (vectors == 3)
            panelRows<W, 3>(g, panel, column, columns);
        else if (vectors == 2)
            panelRows<W, 2>(g, panel, column, columns);
        else
            panelRows<W, 1>(g, panel, column, columns);
        column += width;
    }
}

template <class W> std::int64_t wordsOf(std::int64_t steps)
{
    constexpr std::int64_t kTogether = W::kSteps * W::kGroup;
    return (steps + kTogether - 1) / kTogether * W::kGroup;
}

template <class W> std::int64_t packedCount(std::int64_t k, std::int64_t n)
{
    return wordsOf<W>(k) * ((n + kLanes - 1) / kLanes * kLanes);
}

/// Calls fill(first column, real columns, padded width, start of the panel) for each panel of k words.
template <class Fill> inline void forPanels(std::int64_t k, std::int64_t n, float* packed, const Fill& fill)
{
    for (std::int64_t column = 0; column < n;) {
        const std::int64_t width = panelVectors(n - column) * kLanes;
        fill(column, width < n - column ? width : n - column, width, packed + column * k);
        column += width;
    }
}

/// Words `word` of the columns from `column` on; zeros behind the matrix.
template <class W> inline Vec wordsAt(const MatrixView& matrix, std::int64_t word, std::int64_t column)
{
    const std::int64_t left = matrix.columns - column;
    return W::rowWords(matrix, word, column, left < kLanes ? left : kLanes);
}

template <class W> void packRows(const MatrixView& matrix, float* packed)
{
    const std::int64_t words = wordsOf<W>(matrix.rows);
    forPanels(words, matrix.columns, packed, [&](std::int64_t column, std::int64_t, std::int64_t width, float* panel) {
        for (std::int64_t word = 0; word < words; ++word)
            for (std::int64_t j = 0; j < width; j += kLanes)
                store(panel + word * width + j, wordsAt<W>(matrix, word, column + j));
    });
}

constexpr std::int64_t kOuterWords
    = 128; // of the contraction at a time, so that a panel of B stays in the nearest cache
constexpr std::int64_t kOuterRows = 32; // rows of C at a time, so that A does too

template <class W> std::int64_t outerScratch(std::int64_t columns)
{
    return kOuterWords * kOuterRows + packedCount<W>(kOuterWords * W::kSteps, columns);
}

/// The columns of A that make up rows of C, side by side for each word.
template <class W> inline void gatherColumns(const MatrixView& a, float* into)
{
    for (std::int64_t word = 0; word < wordsOf<W>(a.rows); ++word)
        for (std::int64_t i = 0; i < a.columns; i += kLanes)
            store(into + word * kOuterRows + i, wordsAt<W>(a, word, i));
}

/// The same, but the words of each column one behind the other.
template <class W> inline void gatherRows(const MatrixView& a, float* into)
{
    alignas(64) float square[kLanes * kLanes];
    for (std::int64_t i = 0; i < a.columns; i += kLanes) {
        for (std::int64_t word = 0; word < wordsOf<W>(a.rows); word += kLanes) {
            for (std::int64_t j = 0; j < kLanes; ++j)
                store(square + j * kLanes, wordsAt<W>(a, word + j, i));
            transposeSquare(square, kLanes, into + i * kOuterWords + word, kOuterWords);
        }
    }
}

template <class W>
void outerProduct(const MatrixView& a, const MatrixView& b, float* c, std::int64_t cStride, float* scratch)
{
    constexpr std::int64_t kMostSteps = kOuterWords * W::kSteps;
    float* columns = scratch + kOuterWords * kOuterRows;
    for (std::int64_t step = 0; step < a.rows; step += kMostSteps) {
        const std::int64_t steps = a.rows - step < kMostSteps ? a.rows - step : kMostSteps;
        packRows<W>({ b.data + step * b.stride, steps, b.columns, b.stride }, columns);
        for (std::int64_t row = 0; row < a.columns; row += kOuterRows) {
            const std::int64_t rows = a.columns - row < kOuterRows ? a.columns - row : kOuterRows;
            const MatrixView part { a.data + step * a.stride + row, steps, rows, a.stride };
            GemmArguments g;
            g.a = scratch;
            if constexpr (W::kGroup > 1) {
                gatherRows<W>(part, scratch);
                g.rowStride = kOuterWords;
            } else {
                gatherColumns<W>(part, scratch);
                g.rowStride = 1;
                g.stepStride = kOuterRows;
            }
            g.packed = columns;
            g.c = c + row * cStride;
            g.cStride = cStride;
            g.m = rows;
            g.n = b.columns;
            g.k = wordsOf<W>(steps);
            g.accumulate = true;
            gemm<W>(g);
        }
    }
}

/// @param product  gemm<W>, behind what brings A into words
template <class W> furrow::cpu::Products makeProducts(void (*product)(const GemmArguments&))
{
    return { W::kName, product, outerProduct<W>, outerScratch<W>, packedCount<W>, packRows<W>, W::packColumns };
}

} // namespace
