#pragma once

#include "core/data/tokenizer/added_tokens.h"
#include "core/data/tokenizer/decoder.h"
#include "core/data/tokenizer/normalizer.h"
#include "core/data/tokenizer/piece_model.h"
#include "core/data/tokenizer/pre_tokenizer.h"

namespace furrow {

/// Everything a tokenizer of the tokenizers library is made of, read from one of the file formats.
struct TokenizerSpec {
    std::shared_ptr<PieceModel> model;
    bool byteLevel = false; ///< the model takes bytes, and those of its tokens are the text
    std::vector<NormalizerStep> normalizer;
    std::vector<PreTokenizerStep> preTokenizer;
    std::vector<AddedToken> addedTokens;
    std::vector<DecoderStep> decoder; ///< when it is not byte-level

    std::string definition;
    std::string settings; ///< the parts of the definition, beside the vocabulary, that decide ids: for the hash
};

/// @return the tokenizer, or why the parts do not fit together
Result<std::shared_ptr<const Tokenizer>> makePipelineTokenizer(TokenizerSpec spec, const std::string& name);

/// Reads the text of a tokenizer.json; what is not known to give the ids of the tokenizers library is refused by name.
Result<TokenizerSpec> readTokenizerJson(std::string_view text);

/// Reads lines "base64 rank". The split pattern and special tokens follow from the number of ranks: GPT-2 / p50k,
/// cl100k, o200k, Qwen.
Result<TokenizerSpec> readTiktokenRanks(std::string_view text);

} // namespace furrow
