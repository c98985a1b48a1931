#pragma once

#include "core/base/closed_set.h"

namespace furrow {

/// The tokenizers that have a name (RunConfig::tokenizer); others are files.
enum class NamedTokenizer { Byte, Char, Gpt2 };
template <>
inline constexpr std::array kClosedNames<NamedTokenizer> {
    ClosedName { NamedTokenizer::Byte, "byte" },
    ClosedName { NamedTokenizer::Char, "char" },
    ClosedName { NamedTokenizer::Gpt2, "gpt2" },
};

} // namespace furrow
