#pragma once

#include "core/data/tokenizer/json_access.h"
#include "core/data/tokenizer/pipeline_tokenizer.h"

#include <functional>
#include <set>
#include <string>

// The parts of a tokenizer.json. Each reads one and refuses by name what it does not know.

namespace furrow {

/// The elements of a "Sequence" under `key`, or the element itself: the format nests them at will.
Status flatten(const Json& step, const char* key, std::vector<const Json*>& out);

/// The pattern of a Split or a Replace: {"String": ..} or {"Regex": ..}.
struct JsonPattern {
    std::string text;
    bool isRegex = false; ///< also of the empty string, which matches at every place
};
std::optional<JsonPattern> patternOf(const Json& step);

Result<NormalizerStep> readNormalizer(const Json& step);
Result<PreTokenizerStep> readPreTokenizer(const Json& step);
Result<DecoderStep> readDecoder(const Json& step);
/// Texts of the added tokens that are special.
using SpecialTexts = std::set<std::string, std::less<>>;
/// @param special  no text becomes one of them, though they stand in the vocabulary
/// @param entries  gets the texts of the vocabulary, as they are written, and their ids
Result<std::shared_ptr<PieceModel>> readModel(
    const Json& model, bool byteLevel, const SpecialTexts& special, std::string& settings, BytesMap& entries);

} // namespace furrow
