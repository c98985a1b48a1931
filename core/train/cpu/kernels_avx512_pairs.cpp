// Compiled with the flags of this instruction set (see CMakeLists.txt) and reached only where the processor has it.
#include "core/train/cpu/pair_words.inc.h"

namespace furrow::cpu {

const Products& productsAvx512Pairs()
{
    static const Products products = makeProducts<VectorPairs>(gemmRounded<VectorPairs>);
    return products;
}

} // namespace furrow::cpu
