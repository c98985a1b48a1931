// Compiled with the flags of this instruction set (see CMakeLists.txt) and reached only where the processor has it.
#include "core/train/cpu/bfloat16_words.inc.h"

namespace furrow::cpu {

const Products& productsAvx512BFloat16()
{
    static const Products products = makeProducts<BFloat16Words>(gemmRounded<BFloat16Words>);
    return products;
}

} // namespace furrow::cpu
