#include "core/data/tokenizer/json_steps.h"
#include "core/base/sentence.h"
#include "core/data/tokenizer/unicode_classes.h"

#include <algorithm>

namespace furrow {

namespace {

Result<SplitBehaviour> readBehaviour(const Json& step)
{
    constexpr std::pair<std::string_view, SplitBehaviour> kBehaviours[] = { { "Removed", SplitBehaviour::Removed },
        { "Isolated", SplitBehaviour::Isolated }, { "MergedWithPrevious", SplitBehaviour::MergedWithPrevious },
        { "MergedWithNext", SplitBehaviour::MergedWithNext }, { "Contiguous", SplitBehaviour::Contiguous } };
    const auto behaviour = textOr(step, "behavior", "");
    const auto* found = std::find_if(
        std::begin(kBehaviours), std::end(kBehaviours), [&](const auto& b) { return b.first == behaviour; });
    if (found == std::end(kBehaviours))
        return refused(sentence("the split behaviour \"%1\" is not known", { behaviour }));
    return found->second;
}

Result<PreTokenizerStep> readSplit(const Json& step)
{
    FURROW_TRY_ASSIGN(const auto behaviour, readBehaviour(step));
    const auto pattern = patternOf(step);
    if (!pattern)
        return refused(sentence("a Split has no pattern"));
    SplitStep split;
    split.behaviour = behaviour;
    split.invert = boolOr(step, "invert", false);
    split.pattern = pattern->isRegex ? knownPattern(pattern->text) : SplitPattern::Literal;
    split.literal = pattern->isRegex ? "" : pattern->text;
    if (split.pattern == SplitPattern::Regex) {
        FURROW_TRY_ASSIGN(auto regex, Regex::compile(pattern->text));
        split.regex = regex;
    }
    return PreTokenizerStep(std::move(split));
}

/// The one character that a member is to be.
std::optional<char32_t> characterOf(const Json& step, const char* key)
{
    const auto text = textOr(step, key, "");
    if (text.empty())
        return {};
    const auto c = decodeChar(text.data(), text.data() + text.size());
    return c.sizeBytes == text.size() && c.codePoint != kInvalidByte ? std::optional(c.codePoint) : std::nullopt;
}

PreTokenizerStep readMetaspace(const Json& step)
{
    MetaspaceStep metaspace;
    metaspace.replacement = textOr(step, "replacement", metaspace.replacement);
    const auto scheme = textOr(step, "prepend_scheme", boolOr(step, "add_prefix_space", true) ? "always" : "never");
    metaspace.prepend = scheme == "never" ? PrependScheme::Never
        : scheme == "first"               ? PrependScheme::First
                                          : PrependScheme::Always;
    metaspace.split = boolOr(step, "split", true);
    return metaspace;
}

Result<PreTokenizerStep> readFixedLength(const Json& step)
{
    const auto length = member(step, "length").is_null() ? std::uint64_t { 5 }
                                                         : numberOf(member(step, "length"), 1u << 30).value_or(0);
    if (length == 0)
        return refused(sentence("the length of FixedLength is not a number above 0"));
    return PreTokenizerStep(FixedLengthStep { length });
}

} // namespace

Result<PreTokenizerStep> readPreTokenizer(const Json& step)
{
    const auto type = textOr(step, "type", "");
    if (type == "ByteLevel")
        return PreTokenizerStep(
            ByteLevelStep { boolOr(step, "add_prefix_space", true), boolOr(step, "use_regex", true), true });
    if (type == "Digits")
        return PreTokenizerStep(DigitsStep { boolOr(step, "individual_digits", false) });
    if (type == "Metaspace")
        return readMetaspace(step);
    if (type == "Split")
        return readSplit(step);
    if (type == "Whitespace")
        return PreTokenizerStep(WhitespaceStep {});
    if (type == "WhitespaceSplit")
        return PreTokenizerStep(WhitespaceSplitStep {});
    if (type == "Punctuation") {
        if (member(step, "behavior").is_null())
            return PreTokenizerStep(PunctuationStep {});
        const auto behaviour = readBehaviour(step);
        return behaviour.ok() ? Result<PreTokenizerStep>(PunctuationStep { behaviour.value() }) : behaviour.error();
    }
    if (type == "BertPreTokenizer")
        return PreTokenizerStep(BertStep {});
    if (type == "CharDelimiterSplit" || type == "Delimiter") {
        const auto delimiter = characterOf(step, "delimiter");
        return delimiter ? Result<PreTokenizerStep>(CharDelimiterStep { *delimiter })
                         : refused(sentence("the delimiter of CharDelimiterSplit is not one character"));
    }
    if (type == "FixedLength")
        return readFixedLength(step);
    if (type == "UnicodeScripts")
        return PreTokenizerStep(UnicodeScriptsStep {});
    return refused(sentence(
        "the pre-tokenizer %1 is not supported; supported are ByteLevel, Split, Digits, Metaspace, Whitespace, WhitespaceSplit, Punctuation, BertPreTokenizer, CharDelimiterSplit, FixedLength, UnicodeScripts and Sequence",
        { type }));
}

} // namespace furrow
