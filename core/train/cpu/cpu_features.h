#pragma once

namespace furrow {

/// Instruction sets the hand-scheduled CPU step is built for, in rising order.
enum class CpuLevel { None, Avx2, Avx512 };

/// The best this processor and operating system offer; None on other architectures and compilers.
CpuLevel cpuLevel();

/// With what bfloat16 numbers are multiplied. Rounded: as float32 numbers; Pairs: AVX512-BF16; Tiles: AMX-BF16.
enum class BFloat16Unit { Rounded, Pairs, Tiles };

/// The fastest this processor and operating system offer. On Intel's processors pairs take twice the time of rounded
/// float32 numbers, so they are not used there.
BFloat16Unit bfloat16Unit();

const char* toString(CpuLevel level); ///< "avx512"

} // namespace furrow
