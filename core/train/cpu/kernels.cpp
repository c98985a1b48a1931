#include "core/train/cpu/kernels.h"

namespace furrow::cpu {

#if defined(FURROW_CPU_KERNELS)

const Kernels& kernelsAvx2();
const Kernels& kernelsAvx512();

const Kernels* kernels()
{
    switch (cpuLevel()) {
    case CpuLevel::Avx512: return &kernelsAvx512();
    case CpuLevel::Avx2: return &kernelsAvx2();
    case CpuLevel::None: break;
    }
    return nullptr;
}

#else

const Kernels* kernels() { return nullptr; }

#endif

} // namespace furrow::cpu
