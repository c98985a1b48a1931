#pragma once

#include "core/train/cpu/gemm.inc.h"

#include <cstdlib>

namespace {

/// Memory of one thread that grows and never shrinks. Not a std::vector: its functions, compiled here for one
/// instruction set, could be the ones that the linker keeps for the whole program.
class Scratch {
public:
    Scratch() = default;
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() { std::free(data_); }

    float* sized(std::int64_t count)
    {
        if (count > count_) {
            std::free(data_);
            data_ = static_cast<float*>(std::malloc(static_cast<std::size_t>(count) * sizeof(float)));
            if (!data_)
                std::abort(); // a few hundred kilobytes
            count_ = count;
        }
        return data_;
    }

private:
    float* data_ = nullptr;
    std::int64_t count_ = 0;
};

/// The product for words that hold rounded numbers. Rounds some rows of A at a time, few enough to stay in the second
/// cache.
template <class W> void gemmRounded(const GemmArguments& g)
{
    constexpr std::int64_t kRows = 64;
    const std::int64_t words = wordsOf<W>(g.k);
    const std::int64_t padded = (words + kLanes - 1) / kLanes * kLanes;
    thread_local Scratch memory;
    float* scratch = memory.sized(kRows * padded);
    for (std::int64_t row = 0; row < g.m; row += kRows) {
        GemmArguments part = g;
        part.m = g.m - row < kRows ? g.m - row : kRows;
        for (std::int64_t i = 0; i < part.m; ++i) {
            const float* from = g.a + (row + i) * g.rowStride;
            for (std::int64_t word = 0; word < words; word += kLanes)
                store(scratch + i * padded + word, W::inRow(from + word * W::kSteps, g.k - word * W::kSteps));
        }
        part.a = scratch;
        part.rowStride = padded;
        part.c = g.c + row * g.cStride;
        part.k = words;
        gemm<W>(part);
    }
}

} // namespace
