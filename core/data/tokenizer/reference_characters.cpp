#include "core/data/tokenizer/reference_characters.h"

#include "core/data/tokenizer/unicode_classes.h"

#include <algorithm>
#include <iterator>

namespace furrow {

namespace {

struct CodePointRun {
    char32_t first;
    char32_t last;
};
struct ScriptRun {
    char32_t first;
    char32_t last;
    int script;
};
/// Every `step`-th code point from the first to the last becomes itself + `difference`, and `second`, if any, follows.
struct LowerRun {
    char32_t first;
    char32_t last;
    char32_t step;
    std::int32_t difference;
    char32_t second;
};

#include "core/data/tokenizer/reference_characters.inc"

template <typename Run, std::size_t kSize> const Run* runOf(const Run (&runs)[kSize], char32_t c)
{
    const auto* behind = std::upper_bound(
        std::begin(runs), std::end(runs), c, [](char32_t value, const Run& run) { return value < run.first; });
    return behind != std::begin(runs) && c <= behind[-1].last ? behind - 1 : nullptr;
}

} // namespace

bool isReferenceSpace(char32_t c) { return static_cast<CharClass>(codePointTable()[c] >> 5) == CharClass::Space; }

bool isReferenceWord(char32_t c)
{
    if (c < 0x80)
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    return runOf(kWord, c) != nullptr;
}

bool isReferencePunctuation(char32_t c) { return runOf(kPunctuation, c) != nullptr; }

bool isReferenceControl(char32_t c) { return runOf(kControls, c) != nullptr; }

bool isReferenceAccent(char32_t c) { return c >= 0x300 && runOf(kNonspacing, c) != nullptr; }

bool isReferenceCombining(char32_t c) { return c >= 0x300 && runOf(kCombining, c) != nullptr; }

int referenceScript(char32_t c)
{
    const auto* run = runOf(kScripts, c);
    return run != nullptr ? run->script : 0;
}

void appendLower(std::string& out, char32_t c)
{
    const auto* run = c == kInvalidByte ? nullptr : runOf(kLower, c);
    if (run == nullptr || (c - run->first) % run->step != 0)
        return appendUtf8(out, c);
    appendUtf8(out, static_cast<char32_t>(static_cast<std::int32_t>(c) + run->difference));
    if (run->second != 0)
        appendUtf8(out, run->second);
}

} // namespace furrow
