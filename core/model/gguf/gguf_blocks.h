#pragma once

#include "core/model/gguf/gguf_file.h"

#include <cstddef>
#include <span>

namespace furrow {

// Numbers of tensors as their files hold them, by the published formulas of ggml (ggml-quants.c; quants.py of the gguf
// package says the same). Both are pure and work on whole blocks.

/// Stored numbers as float32, exactly as the reference does.
/// @param numbers  of `from`: sizeBytes / blockBytes * blockNumbers
void readBlocks(GgufType type, std::span<const std::byte> from, std::span<float> numbers);

/// Whether writeBlocks knows a type: all but q6_k.
bool isWritable(GgufType type);
/// Rounds and packs numbers. @return false: one of them, or the scale of a block, is not finite in this type
bool writeBlocks(GgufType type, std::span<const float> numbers, std::span<std::byte> to);

} // namespace furrow
