#pragma once

#include "core/train/cpu/gemm.inc.h"

#include <vector>

namespace {

/// The product for words that hold rounded numbers. Rounds some rows of A at a time, few enough to stay in the second cache.
template <class W> void gemmRounded(const GemmArguments& g)
{
    constexpr std::int64_t kRows = 64;
    const std::int64_t words = wordsOf<W>(g.k);
    const std::int64_t padded = (words + kLanes - 1) / kLanes * kLanes;
    thread_local std::vector<float> scratch;
    if (static_cast<std::int64_t>(scratch.size()) < kRows * padded)
        scratch.resize(static_cast<std::size_t>(kRows * padded));
    for (std::int64_t row = 0; row < g.m; row += kRows) {
        GemmArguments part = g;
        part.m = g.m - row < kRows ? g.m - row : kRows;
        for (std::int64_t i = 0; i < part.m; ++i) {
            const float* from = g.a + (row + i) * g.rowStride;
            for (std::int64_t word = 0; word < words; word += kLanes)
                store(scratch.data() + i * padded + word, W::inRow(from + word * W::kSteps, g.k - word * W::kSteps));
        }
        part.a = scratch.data();
        part.rowStride = padded;
        part.c = g.c + row * g.cStride;
        part.k = words;
        gemm<W>(part);
    }
}

} // namespace
