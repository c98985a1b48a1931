// Compiled with the flags of this instruction set (see CMakeLists.txt) and reached only where the processor has it.
#include "core/train/cpu/kernels_table.inc.h"

namespace furrow::cpu {

const Kernels& kernelsAvx2()
{
    static const Kernels table = makeTable(CpuLevel::Avx2);
    return table;
}

} // namespace furrow::cpu
