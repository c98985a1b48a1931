// Compiled with the flags of this instruction set (see CMakeLists.txt) and reached only where the processor has it.
#include "core/train/cpu/kernels_table.inc.h"

namespace furrow::cpu {

const Products& productsAvx512BFloat16();

const Kernels& kernelsAvx512()
{
    static const Kernels table = [] {
        Kernels made = makeTable(CpuLevel::Avx512);
        if (cpuHasBFloat16())
            made.bfloat16 = productsAvx512BFloat16();
        return made;
    }();
    return table;
}

} // namespace furrow::cpu
