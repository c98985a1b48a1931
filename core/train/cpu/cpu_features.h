#pragma once

namespace furrow {

/// Instruction sets the hand-scheduled CPU step is built for, in rising order.
enum class CpuLevel { None, Avx2, Avx512 };

/// The best this processor and operating system offer; None on other architectures and compilers.
CpuLevel cpuLevel();
/// Whether an Avx512 processor also multiplies pairs of bfloat16 numbers (AVX512-BF16).
bool cpuHasBFloat16();
const char* toString(CpuLevel level); ///< "avx512"

} // namespace furrow
