// The products by tiles on tiles of our own, for processors without AMX. Compiled with the flags of AVX512-BF16, which
// the rounding needs.
#include "core/train/cpu/tile_words.inc.h"

#include <cstdlib>
#include <cstring>

namespace {

/// What the instructions of AMX do, as Intel's manual has it, to eight tiles of 16 rows of 16 words.
struct SoftwareTiles {
    using Tile = std::uint32_t[16][16];
    static inline thread_local Tile tiles[8];
    static inline thread_local bool configured = false;

    static void configure() { configured = true; }
    static void release() { configured = false; }

    template <int Number> static Tile& tile()
    {
        if (!configured)
            std::abort(); // the processor would raise an invalid instruction
        return tiles[Number];
    }

    template <int Number> static void zero() { std::memset(tile<Number>(), 0, sizeof(Tile)); }

    template <int Number> static void load(const float* words, std::int64_t stride)
    {
        for (int row = 0; row < 16; ++row)
            std::memcpy(tile<Number>()[row], words + row * stride, 64);
    }

    template <int Number> static void save(float* numbers, std::int64_t stride)
    {
        for (int row = 0; row < 16; ++row)
            std::memcpy(numbers + row * stride, tile<Number>()[row], 64);
    }

    static float fromBits(std::uint32_t bits)
    {
        float number;
        std::memcpy(&number, &bits, sizeof(number));
        return number;
    }

    template <int Sum, int A, int B> static void multiply()
    {
        for (int row = 0; row < 16; ++row) {
            for (int column = 0; column < 16; ++column) {
                float sum = fromBits(tile<Sum>()[row][column]);
                for (int word = 0; word < 16; ++word) {
                    const std::uint32_t a = tile<A>()[row][word];
                    const std::uint32_t b = tile<B>()[word][column];
                    sum += fromBits(a << 16) * fromBits(b << 16);
                    sum += fromBits(a & 0xffff0000U) * fromBits(b & 0xffff0000U);
                }
                std::memcpy(&tile<Sum>()[row][column], &sum, sizeof(sum));
            }
        }
    }
};

} // namespace

namespace furrow::cpu {

const Products& productsSoftwareTiles()
{
    static const Products products = makeTileProducts<SoftwareTiles>();
    return products;
}

} // namespace furrow::cpu
