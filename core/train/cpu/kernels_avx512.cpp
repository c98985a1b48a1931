// Compiled with the flags of this instruction set (see CMakeLists.txt) and reached only where the processor has it.
#include "core/train/cpu/kernels_table.inc.h"

#include <cstring>

namespace furrow::cpu {

const Products& productsAvx512Pairs();
const Products& productsAvx512Tiles();

namespace {

/// Whether both make the same product of numbers that bfloat16 holds.
bool agree(const Products& one, const Products& other)
{
    constexpr std::int64_t kRows = 37;
    constexpr std::int64_t kSteps = 70;
    constexpr std::int64_t kColumns = 50;
    float a[kRows * kSteps];
    float b[kSteps * kColumns];
    for (std::int64_t i = 0; i < kRows * kSteps; ++i)
        a[i] = static_cast<float>(i % 13 - 6);
    for (std::int64_t i = 0; i < kSteps * kColumns; ++i)
        b[i] = static_cast<float>(i % 11 - 5);
    // Whole numbers this small have exact sums, whatever their order.
    const auto product = [&](const Products& products, float* c) {
        alignas(64) float packed[96 * 64] = {};
        products.packRows({ b, kSteps, kColumns, kColumns }, packed);
        products.gemm({ a, kSteps, 1, packed, c, kColumns, nullptr, kRows, kColumns, kSteps, 0, 0, false });
    };
    float first[kRows * kColumns] = {};
    float second[kRows * kColumns] = {};
    product(one, first);
    product(other, second);
    return std::memcmp(first, second, sizeof(first)) == 0;
}

} // namespace

const Kernels& kernelsAvx512()
{
    static const Kernels table = [] {
        Kernels made = makeTable(CpuLevel::Avx512);
        const BFloat16Unit unit = bfloat16Unit();
        if (unit == BFloat16Unit::Pairs)
            made.bfloat16 = productsAvx512Pairs();
        // Compared first: these were never run on a processor that has them, only on tiles that a test plays.
        if (unit == BFloat16Unit::Tiles && agree(made.bfloat16, productsAvx512Tiles()))
            made.bfloat16 = productsAvx512Tiles();
        return made;
    }();
    return table;
}

} // namespace furrow::cpu
