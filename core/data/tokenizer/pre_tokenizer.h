#pragma once

#include "core/data/tokenizer/regex.h"

#include <deque>
#include <variant>
#include <vector>

namespace furrow {

/// A part of the text on its way to the model.
struct TextSegment {
    std::string_view bytes;
    bool atStart = false; ///< begins where the whole text begins
};

/// Owns the bytes of segments that differ from the text. Lives for one call of encode.
using SegmentArena = std::deque<std::string>;

// The steps that tokenizer.json may name, with its own words for their settings.

struct ByteLevelStep {
    bool addPrefixSpace = true;
    bool useRegex = true; ///< splits by the GPT-2 pattern
    bool writesAlphabet
        = false; ///< bytes become letters of the byte alphabet; a byte-level model takes them as they are
};
enum class SplitBehaviour { Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous };
/// Patterns with a hand-written splitter; Regex and Literal are all others.
enum class SplitPattern { Gpt2, Cl100k, Cl100kWholeTail, Qwen2, Regex, Literal };
struct SplitStep {
    SplitPattern pattern = SplitPattern::Regex;
    std::shared_ptr<const Regex> regex; ///< for Regex
    std::string literal; ///< for Literal
    SplitBehaviour behaviour = SplitBehaviour::Isolated;
    bool invert = false;
};
struct DigitsStep {
    bool individual = false;
};
enum class PrependScheme { Always, First, Never };
struct MetaspaceStep {
    std::string replacement = "\xE2\x96\x81";
    PrependScheme prepend = PrependScheme::Always;
    bool split = true;
};
struct WhitespaceStep { }; ///< words, and runs of what is neither word nor space
struct WhitespaceSplitStep { };
struct PunctuationStep {
    SplitBehaviour behaviour = SplitBehaviour::Isolated;
};
struct BertStep { }; ///< at white space and punctuation
struct CharDelimiterStep {
    char32_t delimiter = 0;
};
struct FixedLengthStep {
    std::size_t length = 5; ///< [code points], > 0
};
struct UnicodeScriptsStep { };
using PreTokenizerStep = std::variant<ByteLevelStep, SplitStep, DigitsStep, MetaspaceStep, WhitespaceStep,
    WhitespaceSplitStep, PunctuationStep, BertStep, CharDelimiterStep, FixedLengthStep, UnicodeScriptsStep>;

/// Replaces the segments by what the step makes of them. An error: a pattern takes too many steps on a segment.
Status applyStep(const PreTokenizerStep& step, std::vector<TextSegment>& segments, SegmentArena& arena);

/// The pattern of o200k, which runs as a regular expression.
inline constexpr std::string_view kO200kPattern
    = R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
      R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
      R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

/// The hand-written pattern that a regular expression stands for, or Regex.
SplitPattern knownPattern(std::string_view regex);

} // namespace furrow
