#pragma once

#include "core/model/gguf/gguf_file.h"

#include <cstdint>
#include <map>
#include <string>

namespace furrow {

/// The files that say to transformers, and here, what the tokenizer of a GGUF is: tokenizer.json or tokenizer.model,
/// and tokenizer_config.json with the special tokens and the chat template. InvalidArgument names what is not known:
/// the kind of vocabulary, or the pre-tokenizer.
Result<std::map<std::string, std::string>> ggufTokenizerFiles(const GgufFile& file);

/// The way back: metadata for llama.cpp out of such files, chat template included. InvalidArgument: a tokenizer that
/// llama.cpp has no form for.
/// @param rows  of the embedding: ids that the tokenizer does not have are padded
/// @param bos, eos  ids to name where the files do not; -1: none
Result<nlohmann::json> ggufTokenizerMetadata(
    const std::map<std::string, std::string>& files, std::int64_t rows, std::int64_t bos, std::int64_t eos);

} // namespace furrow
