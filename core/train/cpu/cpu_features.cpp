#include "core/train/cpu/cpu_features.h"

namespace furrow {

CpuLevel cpuLevel()
{
#if defined(__x86_64__) && defined(__GNUC__)
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
        && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    if (avx512)
        return CpuLevel::Avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return CpuLevel::Avx2;
#endif
    return CpuLevel::None;
}

bool cpuHasBFloat16()
{
#if defined(__x86_64__) && defined(__GNUC__)
    return cpuLevel() == CpuLevel::Avx512 && __builtin_cpu_supports("avx512bf16");
#else
    return false;
#endif
}

const char* toString(CpuLevel level)
{
    switch (level) {
    case CpuLevel::Avx2:
        return "avx2";
    case CpuLevel::Avx512:
        return "avx512";
    case CpuLevel::None:
        break;
    }
    return "none";
}

} // namespace furrow
