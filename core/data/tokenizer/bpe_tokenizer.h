#pragma once

#include "core/data/tokenizer/added_tokens.h"
#include "core/data/tokenizer/bpe_model.h"
#include "core/data/tokenizer/normalizer.h"
#include "core/data/tokenizer/pre_tokenizer.h"

namespace furrow {

/// Everything a byte-pair tokenizer is made of, read from one of the file formats.
struct BpeSpec {
    BpeModel model;
    std::vector<NormalizerStep> normalizer;
    std::vector<PreTokenizerStep> preTokenizer;
    std::vector<AddedToken> addedTokens;
    /// Decoding of vocabularies that are not byte-level: what stands for a space, and whether one leading space was
    /// put there by the encoder.
    std::string spaceText;
    bool stripLeadingSpace = false;

    std::string definition;
    std::string settings; ///< the parts of the definition, beside vocabulary and merges, that decide ids: for the hash
};

/// @return the tokenizer, or why the parts do not fit together
Result<std::shared_ptr<const Tokenizer>> makeBpeTokenizer(BpeSpec spec, const std::string& name);

/// Reads the text of a tokenizer.json; model types other than BPE and unknown steps are refused by name.
Result<BpeSpec> readTokenizerJson(std::string_view text);

/// Reads lines "base64 rank". The split pattern and special tokens follow from the number of ranks: GPT-2 / p50k,
/// cl100k, o200k, Qwen.
Result<BpeSpec> readTiktokenRanks(std::string_view text);

} // namespace furrow
