#pragma once

#include "core/data/tokenizer/tokenizer.h"

#include <cstdint>
#include <map>
#include <string>

namespace furrow {

/// The files that say to transformers what a tokenizer is: name to text. byte and char vocabularies become a
/// tokenizer.json without merges; a tokenizer.json or sentencepiece model is passed on as it is; any other travels as
/// furrow_tokenizer.json, which only Furrow reads. A char vocabulary of a run of before turns a code point it does not
/// know into one end-of-text there, not one for each byte.
/// @param contextLength  longest text the model takes [tokens]
std::map<std::string, std::string> huggingFaceTokenizerFiles(const Tokenizer& tokenizer, std::int64_t contextLength);

} // namespace furrow
