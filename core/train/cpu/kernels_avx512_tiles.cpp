// Compiled with the flags of this instruction set (see CMakeLists.txt) and reached only where the processor has it.
#include "core/train/cpu/tile_words.inc.h"

namespace {

/// The processor's own tiles.
struct AmxTiles {
    /// All eight of 16 rows of 64 bytes; the layout is the instruction's.
    static void configure()
    {
        struct Shape {
            std::uint8_t palette = 1;
            std::uint8_t startRow = 0;
            std::uint8_t unused[14] = {};
            std::uint16_t rowBytes[16] = { 64, 64, 64, 64, 64, 64, 64, 64 };
            std::uint8_t rows[16] = { 16, 16, 16, 16, 16, 16, 16, 16 };
        };
        alignas(64) static constexpr Shape kShape;
        static_assert(sizeof(Shape) == 64);
        _tile_loadconfig(&kShape);
    }

    static void release() { _tile_release(); }
    // The compiler wants numbers of tiles that it can read in the text, so these go around its macros.
    template <int Tile> static void zero() { asm volatile("tilezero %%tmm%c0" ::"i"(Tile)); }
    template <int Tile> static void load(const float* words, std::int64_t stride)
    {
        asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(words), "r"(stride * 4), "i"(Tile) : "memory");
    }
    template <int Sum, int A, int B> static void multiply()
    {
        asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(Sum), "i"(A), "i"(B));
    }
    template <int Tile> static void save(float* numbers, std::int64_t stride)
    {
        asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(numbers), "r"(stride * 4), "i"(Tile) : "memory");
    }
};

} // namespace

namespace furrow::cpu {

const Products& productsAvx512Tiles()
{
    static const Products products = makeTileProducts<AmxTiles>();
    return products;
}

} // namespace furrow::cpu
