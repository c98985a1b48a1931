#pragma once

#include "core/data/tokenizer/tokenizer.h"

namespace furrow {

/// Reads what a character tokenizer's definition() wrote: JSON {"furrow_tokenizer": "char", "version": 1,
/// "fallback": "bytes" | "unknown" | "end_of_text", "code_points": [..]}.
Result<std::shared_ptr<const Tokenizer>> readCharTokenizer(std::string_view definition);
/// Whether the text looks like such a definition.
bool isCharDefinition(std::string_view definition);

/// Reads the bytes of a sentencepiece .model.
Result<std::shared_ptr<const Tokenizer>> readSentencepiece(std::string_view model, const std::string& name);

} // namespace furrow
