#pragma once

// Register-blocked matrix product, included once by each kernels_*.cpp. B lies in panels of up to three vectors: panel j starts at
// packed + j * k, and holds for each step of the contraction its columns side by side, padded with zeros.

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

template <int Rows, int Vectors>
inline void tile(const GemmArguments& g, const float* a, const float* panel, float* c, const float* bias, std::int64_t columns)
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
                acc[i][j] = fma(av, bv[j], acc[i][j]);
        }
        b += step;
    }
    const bool whole = columns == Vectors * kLanes;
    for (int i = 0; i < Rows; ++i) {
        float* row = c + i * g.cStride;
        if (whole) {
            for (int j = 0; j < Vectors; ++j) {
                Vec v = acc[i][j];
                if (bias)
                    v = v + load(bias + j * kLanes);
                if (g.accumulate)
                    v = v + load(row + j * kLanes);
                store(row + j * kLanes, v);
            }
            continue;
        }
        float edge[Vectors * kLanes];
        for (int j = 0; j < Vectors; ++j)
            store(edge + j * kLanes, acc[i][j]);
        for (std::int64_t j = 0; j < columns; ++j)
            row[j] = edge[j] + (bias ? bias[j] : 0.0F) + (g.accumulate ? row[j] : 0.0F);
    }
}

template <int Vectors>
inline void panelRows(const GemmArguments& g, const float* panel, std::int64_t column, std::int64_t columns)
{
    const float* bias = g.bias ? g.bias + column : nullptr;
    std::int64_t i = 0;
    for (; i + kTileRows <= g.m; i += kTileRows)
        tile<kTileRows, Vectors>(g, g.a + i * g.rowStride, panel, g.c + i * g.cStride + column, bias, columns);
    for (; i + 2 <= g.m; i += 2)
        tile<2, Vectors>(g, g.a + i * g.rowStride, panel, g.c + i * g.cStride + column, bias, columns);
    for (; i < g.m; ++i)
        tile<1, Vectors>(g, g.a + i * g.rowStride, panel, g.c + i * g.cStride + column, bias, columns);
}

void gemm(const GemmArguments& g)
{
    const std::int64_t packedSteps = g.packedSteps ? g.packedSteps : g.k;
    const std::int64_t end = g.columnsWanted ? g.columnsWanted : g.n;
    for (std::int64_t column = 0; column < end;) {
        const int vectors = panelVectors(g.n - column);
        const std::int64_t width = vectors * kLanes;
        const std::int64_t columns = width < g.n - column ? width : g.n - column;
        const float* panel = g.bStride ? g.packed + column : g.packed + column * packedSteps;
        if (vectors == 3)
            panelRows<3>(g, panel, column, columns);
        else if (vectors == 2)
            panelRows<2>(g, panel, column, columns);
        else
            panelRows<1>(g, panel, column, columns);
        column += width;
    }
}

std::int64_t packedCount(std::int64_t k, std::int64_t n)
{
    return k * ((n + kLanes - 1) / kLanes * kLanes);
}

/// Calls fill(first column, real columns, padded width, start of the panel) for each panel.
template <class Fill> inline void forPanels(std::int64_t k, std::int64_t n, float* packed, const Fill& fill)
{
    for (std::int64_t column = 0; column < n;) {
        const std::int64_t width = panelVectors(n - column) * kLanes;
        fill(column, width < n - column ? width : n - column, width, packed + column * k);
        column += width;
    }
}

void packRows(const MatrixView& matrix, float* packed)
{
    forPanels(matrix.rows, matrix.columns, packed, [&](std::int64_t column, std::int64_t columns, std::int64_t width, float* panel) {
        for (std::int64_t p = 0; p < matrix.rows; ++p) {
            float* into = panel + p * width;
            const float* from = matrix.data + p * matrix.stride + column;
            std::int64_t j = 0;
            for (; j + kLanes <= columns; j += kLanes)
                store(into + j, load(from + j));
            for (; j < columns; ++j)
                into[j] = from[j];
            for (; j < width; ++j)
                into[j] = 0;
        }
    });
}

/// matrix has n rows and k columns.
void packColumns(const MatrixView& matrix, float* packed)
{
    const std::int64_t k = matrix.columns;
    forPanels(k, matrix.rows, packed, [&](std::int64_t column, std::int64_t columns, std::int64_t width, float* panel) {
        std::int64_t p = 0;
        for (; p + kLanes <= k; p += kLanes) {
            std::int64_t j = 0;
            for (; j + kLanes <= columns; j += kLanes)
                transposeSquare(matrix.data + (column + j) * matrix.stride + p, matrix.stride, panel + p * width + j, width);
            for (; j < columns; ++j)
                for (std::int64_t q = p; q < p + kLanes; ++q)
                    panel[q * width + j] = matrix.data[(column + j) * matrix.stride + q];
        }
        for (; p < k; ++p)
            for (std::int64_t j = 0; j < columns; ++j)
                panel[p * width + j] = matrix.data[(column + j) * matrix.stride + p];
        for (std::int64_t j = columns; j < width; ++j)
            for (p = 0; p < k; ++p)
                panel[p * width + j] = 0;
    });
}

constexpr std::int64_t kOuterSteps = 128; // of the contraction at a time, so that a panel of B stays in the nearest cache
constexpr std::int64_t kOuterRows = 32; // rows of C at a time, so that A does too

std::int64_t outerScratch(std::int64_t columns)
{
    return kOuterSteps * (kOuterRows + packedCount(1, columns));
}

/// The rows of A that make up `rows` rows of C, side by side for each step.
inline void gatherColumns(const float* a, std::int64_t aStride, std::int64_t steps, std::int64_t rows, float* into)
{
    for (std::int64_t p = 0; p < steps; ++p) {
        const float* from = a + p * aStride;
        float* to = into + p * kOuterRows;
        std::int64_t i = 0;
        for (; i + kLanes <= rows; i += kLanes)
            store(to + i, load(from + i));
        for (; i < rows; ++i)
            to[i] = from[i];
    }
}

void outerProduct(const MatrixView& a, const MatrixView& b, float* c, std::int64_t cStride, float* scratch)
{
    float* columns = scratch + kOuterSteps * kOuterRows;
    for (std::int64_t step = 0; step < a.rows; step += kOuterSteps) {
        const std::int64_t steps = a.rows - step < kOuterSteps ? a.rows - step : kOuterSteps;
        packRows({ b.data + step * b.stride, steps, b.columns, b.stride }, columns);
        for (std::int64_t row = 0; row < a.columns; row += kOuterRows) {
            const std::int64_t rows = a.columns - row < kOuterRows ? a.columns - row : kOuterRows;
            gatherColumns(a.data + step * a.stride + row, a.stride, steps, rows, scratch);
            GemmArguments g;
            g.a = scratch;
            g.rowStride = 1;
            g.stepStride = kOuterRows;
            g.packed = columns;
            g.c = c + row * cStride;
            g.cStride = cStride;
            g.m = rows;
            g.n = b.columns;
            g.k = steps;
            g.accumulate = true;
            gemm(g);
        }
    }
}

} // namespace
