#include "core/data/tokenizer/pre_tokenizer.h"

#include "core/data/tokenizer/byte_alphabet.h"
#include "core/data/tokenizer/reference_characters.h"
#include "core/data/tokenizer/splitters.h"

#include <algorithm>

namespace furrow {

namespace {

/// A stretch of one segment and whether the pattern matched it.
struct Span {
    std::size_t begin;
    std::size_t end;
    bool matched;
};

/// Adds what lies before a match, and the match.
void addMatch(std::vector<Span>& spans, std::size_t begin, std::size_t end)
{
    const auto before = spans.empty() ? 0 : spans.back().end;
    if (begin > before)
        spans.push_back({ before, begin, false });
    spans.push_back({ begin, end, true });
}

void addRest(std::vector<Span>& spans, std::size_t size)
{
    const auto before = spans.empty() ? 0 : spans.back().end;
    if (size > before)
        spans.push_back({ before, size, false });
}

template <typename Splitter> std::vector<Span> pieces(std::string_view text)
{
    const Splitter splitter;
    std::vector<Span> spans;
    const char* end = text.data() + text.size();
    for (const char* p = text.data(); p < end;) {
        const char* next = splitter.next(p, end);
        spans.push_back(
            { static_cast<std::size_t>(p - text.data()), static_cast<std::size_t>(next - text.data()), true });
        p = next;
    }
    return spans;
}

std::vector<Span> literalSpans(std::string_view text, std::string_view literal)
{
    std::vector<Span> spans;
    for (auto at = text.find(literal); !literal.empty() && at != std::string_view::npos;
        at = text.find(literal, at + literal.size()))
        addMatch(spans, at, at + literal.size());
    addRest(spans, text.size());
    return spans;
}

Result<std::vector<Span>> spansOf(const SplitStep& step, std::string_view text)
{
    switch (step.pattern) {
    case SplitPattern::Gpt2: return pieces<Gpt2Split>(text);
    case SplitPattern::Cl100k: return pieces<ModernSplit<3, false>>(text);
    case SplitPattern::Cl100kWholeTail: return pieces<ModernSplit<3, true>>(text);
    case SplitPattern::Qwen2: return pieces<ModernSplit<1, false>>(text);
    case SplitPattern::Literal: return literalSpans(text, step.literal);
    case SplitPattern::Regex: break;
    }
    std::vector<Span> spans;
    FURROW_TRY(
        step.regex->forEachMatch(text, [&](std::size_t begin, std::size_t end) { addMatch(spans, begin, end); }));
    addRest(spans, text.size());
    return spans;
}

/// Joins each match to its neighbour in the direction of the iteration, as the tokenizers library does.
std::vector<Span> joined(std::vector<Span> spans, SplitBehaviour behaviour)
{
    const bool backwards = behaviour == SplitBehaviour::MergedWithNext;
    if (backwards)
        std::reverse(spans.begin(), spans.end());
    std::vector<Span> out;
    bool before = false;
    for (const auto& span : spans) {
        const bool join = behaviour == SplitBehaviour::Contiguous ? span.matched == before : span.matched && !before;
        if (join && !out.empty())
            (backwards ? out.back().begin : out.back().end) = backwards ? span.begin : span.end;
        else
            out.push_back(span);
        before = span.matched;
    }
    if (backwards)
        std::reverse(out.begin(), out.end());
    return out;
}

void appendSpans(
    std::vector<Span> spans, SplitBehaviour behaviour, const TextSegment& segment, std::vector<TextSegment>& out)
{
    if (behaviour == SplitBehaviour::Removed)
        std::erase_if(spans, [](const Span& span) { return span.matched; });
    else if (behaviour != SplitBehaviour::Isolated)
        spans = joined(std::move(spans), behaviour);
    for (const auto& span : spans) {
        if (span.end > span.begin) // a pattern may match nothing: that cuts, and is no piece
            out.push_back(
                { segment.bytes.substr(span.begin, span.end - span.begin), segment.atStart && span.begin == 0 });
    }
}

Status apply(const ByteLevelStep& step, const TextSegment& segment, std::vector<TextSegment>& out, SegmentArena& arena)
{
    auto text = segment.bytes;
    if (step.addPrefixSpace && !text.starts_with(' '))
        text = arena.emplace_back(" " + std::string(text));
    const TextSegment whole { text, segment.atStart };
    const auto first = out.size();
    if (step.useRegex)
        appendSpans(pieces<Gpt2Split>(text), SplitBehaviour::Isolated, whole, out);
    else
        out.push_back(whole);
    for (auto i = first; step.writesAlphabet && i < out.size(); ++i)
        out[i].bytes = arena.emplace_back(alphabetOfBytes(out[i].bytes));
    return {};
}

Status apply(const SplitStep& step, const TextSegment& segment, std::vector<TextSegment>& out, SegmentArena&)
{
    FURROW_TRY_ASSIGN(auto found, spansOf(step, segment.bytes));
    auto& spans = found;
    if (step.invert) {
        for (auto& span : spans)
            span.matched = !span.matched;
    }
    appendSpans(std::move(spans), step.behaviour, segment, out);
    return {};
}

/// Each character that `matches` is a match of its own.
template <typename Matches> std::vector<Span> characterSpans(std::string_view text, Matches matches)
{
    const char* end = text.data() + text.size();
    std::vector<Span> spans;
    for (const char* p = text.data(); p < end;) {
        const auto c = decodeChar(p, end);
        const auto at = static_cast<std::size_t>(p - text.data());
        if (matches(c.codePoint))
            addMatch(spans, at, at + c.sizeBytes);
        p += c.sizeBytes;
    }
    addRest(spans, text.size());
    return spans;
}

Status apply(const DigitsStep& step, const TextSegment& segment, std::vector<TextSegment>& out, SegmentArena&)
{
    const auto* table = codePointTable();
    const auto isNumber = [table](char32_t c) { return static_cast<CharClass>(table[c] >> 5) == CharClass::Number; };
    appendSpans(characterSpans(segment.bytes, isNumber),
        step.individual ? SplitBehaviour::Isolated : SplitBehaviour::Contiguous, segment, out);
    return {};
}

Status apply(const WhitespaceStep&, const TextSegment& segment, std::vector<TextSegment>& out, SegmentArena&)
{
    enum class Kind { Word, Space, Other };
    const auto kindOf = [](char32_t c) {
        return isReferenceWord(c) ? Kind::Word : isReferenceSpace(c) ? Kind::Space : Kind::Other;
    };
    const char* end = segment.bytes.data() + segment.bytes.size();
    std::vector<Span> spans;
    auto before = Kind::Space;
    for (const char* p = segment.bytes.data(); p < end;) {
        const auto c = decodeChar(p, end);
        const auto at = static_cast<std::size_t>(p - segment.bytes.data());
        const auto kind = kindOf(c.codePoint);
        if (kind != before && kind != Kind::Space)
            spans.push_back({ at, at, true });
        if (kind != Kind::Space)
            spans.back().end = at + c.sizeBytes;
        before = kind;
        p += c.sizeBytes;
    }
    appendSpans(std::move(spans), SplitBehaviour::Isolated, segment, out);
    return {};
}

Status apply(const WhitespaceSplitStep&, const TextSegment& segment, std::vector<TextSegment>& out, SegmentArena&)
{
    appendSpans(characterSpans(segment.bytes, isReferenceSpace), SplitBehaviour::Removed, segment, out);
    return {};
}

Status apply(const PunctuationStep& step, const TextSegment& segment, std::vector<TextSegment>& out, SegmentArena&)
{
    appendSpans(characterSpans(segment.bytes, isReferencePunctuation), step.behaviour, segment, out);
    return {};
}

Status apply(const BertStep&, const TextSegment& segment, std::vector<TextSegment>& out, SegmentArena& arena)
{
    std::vector<TextSegment> words;
    (void)apply(WhitespaceSplitStep {}, segment, words, arena);
    for (const auto& word : words)
        (void)apply(PunctuationStep {}, word, out, arena);
    return {};
}

Status apply(const CharDelimiterStep& step, const TextSegment& segment, std::vector<TextSegment>& out, SegmentArena&)
{
    appendSpans(characterSpans(segment.bytes, [&](char32_t c) { return c == step.delimiter; }), SplitBehaviour::Removed,
        segment, out);
    return {};
}

Status apply(const FixedLengthStep& step, const TextSegment& segment, std::vector<TextSegment>& out, SegmentArena&)
{
    const char* end = segment.bytes.data() + segment.bytes.size();
    std::vector<Span> spans;
    std::size_t count = 0;
    for (const char* p = segment.bytes.data(); p < end;) {
        const auto at = static_cast<std::size_t>(p - segment.bytes.data());
        p += decodeChar(p, end).sizeBytes;
        if (count++ % step.length == 0)
            spans.push_back({ at, at, true });
        spans.back().end = static_cast<std::size_t>(p - segment.bytes.data());
    }
    appendSpans(std::move(spans), SplitBehaviour::Isolated, segment, out);
    return {};
}

/// Where another script begins. Characters of none before the first script are left out, as in the tokenizers library.
Status apply(const UnicodeScriptsStep&, const TextSegment& segment, std::vector<TextSegment>& out, SegmentArena&)
{
    const char* end = segment.bytes.data() + segment.bytes.size();
    std::vector<Span> spans;
    int before = 0;
    for (const char* p = segment.bytes.data(); p < end;) {
        const auto c = decodeChar(p, end);
        const auto at = static_cast<std::size_t>(p - segment.bytes.data());
        const int script = referenceScript(c.codePoint);
        if (script != 0 && script != before) {
            spans.push_back({ at, at, true });
            before = script;
        }
        p += c.sizeBytes;
        if (!spans.empty())
            spans.back().end = static_cast<std::size_t>(p - segment.bytes.data());
    }
    appendSpans(std::move(spans), SplitBehaviour::Isolated, segment, out);
    return {};
}

Status apply(const MetaspaceStep& step, const TextSegment& segment, std::vector<TextSegment>& out, SegmentArena& arena)
{
    auto& text = arena.emplace_back();
    for (const char c : segment.bytes) {
        if (c == ' ')
            text += step.replacement;
        else
            text += c;
    }
    const bool prepend
        = step.prepend == PrependScheme::Always || (step.prepend == PrependScheme::First && segment.atStart);
    if (prepend && !text.starts_with(step.replacement))
        text.insert(0, step.replacement);
    const TextSegment whole { text, segment.atStart };
    if (step.split)
        appendSpans(literalSpans(text, step.replacement), SplitBehaviour::MergedWithNext, whole, out);
    else
        out.push_back(whole);
    return {};
}

} // namespace

Status applyStep(const PreTokenizerStep& step, std::vector<TextSegment>& segments, SegmentArena& arena)
{
    std::vector<TextSegment> out;
    for (const auto& segment : segments) {
        if (segment.bytes.empty())
            continue;
        FURROW_TRY(std::visit([&](const auto& s) { return apply(s, segment, out, arena); }, step));
    }
    segments = std::move(out);
    return {};
}

SplitPattern knownPattern(std::string_view regex)
{
    constexpr std::string_view kGpt2 = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
    constexpr std::string_view kHead = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|)";
    constexpr std::string_view kTail = R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
    if (regex == kGpt2)
        return SplitPattern::Gpt2;
    if (regex.size() > kHead.size() + kTail.size() && regex.starts_with(kHead) && regex.ends_with(kTail)) {
        const auto digits = regex.substr(kHead.size(), regex.size() - kHead.size() - kTail.size());
        if (digits == R"(\p{N}{1,3})")
            return SplitPattern::Cl100k;
        if (digits == R"(\p{N})")
            return SplitPattern::Qwen2;
    }
    return SplitPattern::Regex;
}

} // namespace furrow
