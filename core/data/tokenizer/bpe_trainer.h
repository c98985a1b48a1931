#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <memory>
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
/// 4 million distinct words the rarest are forgotten. Not thread-safe.
class BpeTrainer {
public:
    BpeTrainer();
    ~BpeTrainer();

    /// Counts the words of one sample.
    void add(std::string_view text);
    /// Learns from what was added. Call once.
    /// @return the text of a tokenizer.json, which loadTokenizerDefinition and the tokenizers library read
    Result<std::string> train(const BpeTrainingOptions& options, std::stop_token stop = {});

private:
    class WordCounter;
    std::unique_ptr<WordCounter> words_;
};

} // namespace furrow
