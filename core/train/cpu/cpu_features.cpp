#include "core/train/cpu/cpu_features.h"

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace furrow {

namespace {

/// Linux gives the registers of AMX to a process that asks for them; other systems are not asked.
bool tilesGranted()
{
#if defined(__linux__) && defined(__x86_64__)
    constexpr int kRequestState = 0x1023; // ARCH_REQ_XCOMP_PERM
    constexpr int kTileData = 18;
    static const bool granted = syscall(SYS_arch_prctl, kRequestState, kTileData) == 0;
    return granted;
#else
    return false;
#endif
}

} // namespace

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

BFloat16Unit bfloat16Unit()
{
#if defined(__x86_64__) && defined(__GNUC__)
    if (cpuLevel() == CpuLevel::Avx512 && __builtin_cpu_supports("avx512bf16")) {
        if (__builtin_cpu_supports("amx-tile") && __builtin_cpu_supports("amx-bf16") && tilesGranted())
            return BFloat16Unit::Tiles;
        if (!__builtin_cpu_is("intel"))
            return BFloat16Unit::Pairs;
    }
#endif
    return BFloat16Unit::Rounded;
}

const char* toString(CpuLevel level)
{
    switch (level) {
    case CpuLevel::Avx2: return "avx2";
    case CpuLevel::Avx512: return "avx512";
    case CpuLevel::None: break;
    }
    return "none";
}

} // namespace furrow
