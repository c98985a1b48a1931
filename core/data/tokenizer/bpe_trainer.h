#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

namespace furrow {

struct BpeTrainingOptions {
    /// All ids: 256 bytes, the merges, end-of-text. 258..1,000,000.
    std::uint32_t vocabularySize = 8192;
    /// Pairs seen fewer times are not merged; the vocabulary may then stay smaller than asked.
    std::uint64_t minCount = 2;
};

/// Learns a byte-level BPE with the GPT-2 split pattern: ids 0..255 are the bytes in GPT-2's order, then the merges,
/// the last id is <|endoftext|>. The same text in any order of samples gives the same result. Memory is bounded: beyond
/// 4 million distinct words the rarest are forgotten.
/// @param nextText  called until it returns false; gives one sample
/// @return the text of a tokenizer.json, which loadTokenizerDefinition and the tokenizers library read
Result<std::string> trainByteLevelBpe(const std::function<bool(std::string_view&)>& nextText,
    const BpeTrainingOptions& options, std::stop_token stop = {});

} // namespace furrow
