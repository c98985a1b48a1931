#pragma once

#include "core/train/cpu/gemm.inc.h"

namespace {

/// Products of float32 numbers as they are.
struct Float32Words {
    static constexpr const char* kName = "fp32";
    static constexpr std::int64_t kSteps = 1;
    static constexpr std::int64_t kGroup = 1;

    static Vec multiplyAdd(Vec a, Vec b, Vec sum) { return fma(a, b, sum); }

    static Vec rowWords(const MatrixView& matrix, std::int64_t word, std::int64_t column, std::int64_t count)
    {
        if (count <= 0)
            return zero();
        const float* from = matrix.data + word * matrix.stride + column;
        return count == kLanes ? load(from) : loadFirst(from, count);
    }

    /// matrix has n rows and k columns.
    static void packColumns(const MatrixView& matrix, float* packed)
    {
        const std::int64_t k = matrix.columns;
        forPanels(
            k, matrix.rows, packed, [&](std::int64_t column, std::int64_t columns, std::int64_t width, float* panel) {
                std::int64_t p = 0;
                for (; p + kLanes <= k; p += kLanes) {
                    std::int64_t j = 0;
                    for (; j + kLanes <= columns; j += kLanes)
                        transposeSquare(matrix.data + (column + j) * matrix.stride + p, matrix.stride,
                            panel + p * width + j, width);
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
};

} // namespace
