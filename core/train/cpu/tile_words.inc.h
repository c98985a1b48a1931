#pragma once

#include "core/train/cpu/pair_words.inc.h"

namespace {

/// Pairs multiplied as tiles of 16 rows of 16 words (AMX): a tile of A times a tile of B is added to 16 x 16 sums in
/// float32. A and B have the layout of the vectors' products, with the contraction filled up to whole tiles.
/// @tparam Tiles  the eight tile registers: configure(), release(), zero<tile>(), load<tile>(words, stride in words),
/// multiply<sum, a, b>(),
///                save<tile>(numbers, stride in numbers)
template <class Tiles> struct TilePairs : PairWords<16> {
    static constexpr const char* kName = "bf16, tiles";
    static constexpr int kSide = 16; // rows, and words in a row, of a tile
    static constexpr int kWidth = 2 * kSide; // of the square of sums that is worked on: four tiles

    /// Sums 0 to 3 of RowTiles x ColumnTiles tiles; A is in tiles 4 and 5, B in 6 and 7.
    template <int RowTiles, int ColumnTiles>
    static void square(
        const float* a, std::int64_t aStride, const float* b, std::int64_t bStride, std::int64_t words, float* sums)
    {
        Tiles::template zero<0>();
        Tiles::template zero<1>();
        Tiles::template zero<2>();
        Tiles::template zero<3>();
        for (std::int64_t word = 0; word < words; word += kSide) {
            Tiles::template load<4>(a + word, aStride);
            Tiles::template load<6>(b + word * bStride, bStride);
            Tiles::template multiply<0, 4, 6>();
            if constexpr (ColumnTiles == 2) {
                Tiles::template load<7>(b + word * bStride + kSide, bStride);
                Tiles::template multiply<1, 4, 7>();
            }
            if constexpr (RowTiles == 2) {
                Tiles::template load<5>(a + kSide * aStride + word, aStride);
                Tiles::template multiply<2, 5, 6>();
            }
            if constexpr (RowTiles == 2 && ColumnTiles == 2)
                Tiles::template multiply<3, 5, 7>();
        }
        Tiles::template save<0>(sums, kWidth);
        Tiles::template save<1>(sums + kSide, kWidth);
        Tiles::template save<2>(sums + kSide * kWidth, kWidth);
        Tiles::template save<3>(sums + kSide * kWidth + kSide, kWidth);
    }

    template <int ColumnTiles>
    static void columns(const GemmArguments& g, const float* panel, std::int64_t panelWidth, float* c,
        const float* bias, std::int64_t wanted)
    {
        alignas(64) float sums[kWidth * kWidth];
        for (std::int64_t row = 0; row < g.m; row += kWidth) {
            const std::int64_t rows = g.m - row < kWidth ? g.m - row : kWidth;
            const float* a = g.a + row * g.rowStride;
            if (rows > kSide)
                square<2, ColumnTiles>(a, g.rowStride, panel, panelWidth, g.k, sums);
            else
                square<1, ColumnTiles>(a, g.rowStride, panel, panelWidth, g.k, sums);
            for (std::int64_t i = 0; i < rows; ++i) {
                Vec line[ColumnTiles];
                for (int j = 0; j < ColumnTiles; ++j)
                    line[j] = load(sums + i * kWidth + j * kLanes);
                finishRow<ColumnTiles>(g, line, c + (row + i) * g.cStride, bias, wanted);
            }
        }
    }

    /// Rows of A behind m, up to the next multiple of 16, are read too; whatever they hold, nothing of it is stored.
    template <int Vectors>
    static void panelRows(const GemmArguments& g, const float* panel, float* c, const float* bias, std::int64_t wanted)
    {
        constexpr std::int64_t kPanelWidth = Vectors * kLanes;
        columns<Vectors == 1 ? 1 : 2>(g, panel, kPanelWidth, c, bias, wanted < kWidth ? wanted : kWidth);
        if constexpr (Vectors == 3)
            columns<1>(g, panel + kWidth, kPanelWidth, c + kWidth, bias ? bias + kWidth : nullptr, wanted - kWidth);
    }
};

template <class Tiles> furrow::cpu::Products makeTileProducts()
{
    using Pairs = TilePairs<Tiles>;
    furrow::cpu::Products products = makeProducts<Pairs>(nullptr);
    products.gemm = [](const GemmArguments& g) {
        Tiles::configure();
        gemmRounded<Pairs>(g);
        Tiles::release();
    };
    products.outerProduct
        = [](const MatrixView& a, const MatrixView& b, float* c, std::int64_t cStride, float* scratch) {
              Tiles::configure();
              outerProduct<Pairs>(a, b, c, cStride, scratch);
              Tiles::release();
          };
    return products;
}

} // namespace
