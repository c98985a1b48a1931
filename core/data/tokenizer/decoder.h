#pragma once

#include "core/data/tokenizer/regex.h"

#include <string>
#include <variant>
#include <vector>

namespace furrow {

// How the tokenizers library makes a text of the texts of tokens, with the words of tokenizer.json.

struct ByteLevelDecoder { };
struct ReplaceDecoder {
    std::shared_ptr<const Regex> pattern; ///< or, without one, `from`
    std::string from;
    std::string to;
};
struct WordPieceDecoder {
    std::string prefix = "##";
    bool cleanup = true;
};
struct ByteFallbackDecoder { };
struct FuseDecoder { };
struct StripDecoder {
    std::string content; ///< one character
    std::size_t start = 0;
    std::size_t stop = 0;
};
struct MetaspaceDecoder {
    std::string replacement;
    bool dropsFirst = true; ///< in the first token
};
struct BpeSuffixDecoder {
    std::string suffix;
};
using DecoderStep = std::variant<ByteLevelDecoder, ReplaceDecoder, WordPieceDecoder, ByteFallbackDecoder, FuseDecoder,
    StripDecoder, MetaspaceDecoder, BpeSuffixDecoder>;

/// The text of the tokens. Bytes that are not UTF-8 stay as they are, where the tokenizers library writes U+FFFD.
/// Without steps the tokens are joined by spaces, as there.
std::string decodeTokens(const std::vector<DecoderStep>& steps, std::vector<std::string> tokens);

} // namespace furrow
