#include "core/data/tokenizer/regex.h"

#include "core/base/sentence.h"
#include "core/data/tokenizer/pattern_answer.h"
#include "core/data/tokenizer/regex_unicode.h"
#include "core/data/tokenizer/unicode_classes.h"

#include <oniguruma.h>

#include <cstdio>
#include <mutex>

namespace furrow {

namespace {

struct FreeRegex {
    void operator()(regex_t* regex) const noexcept { onig_free(regex); }
};
struct FreeRegion {
    void operator()(OnigRegion* region) const noexcept { onig_region_free(region, 1); }
};
struct FreeParam {
    void operator()(OnigMatchParam* param) const noexcept { onig_free_match_param(param); }
};

constexpr std::size_t kMaxPatternBytes = 64u << 10;
constexpr unsigned long kRetriesInMatch = 10'000'000; // the reference's own limit
constexpr unsigned kMatchStackEntries = 4'000'000; // about 200 MiB; long texts under nested repeats need some of it
constexpr std::size_t kShownBytes = 200;

const OnigUChar* onigText(const char* p) { return reinterpret_cast<const OnigUChar*>(p); }

void startLibrary()
{
    static std::once_flag once;
    std::call_once(once, [] {
        OnigEncoding utf8 = ONIG_ENCODING_UTF8;
        onig_initialize(&utf8, 1);
        onig_set_warn_func(onig_null_warn);
        onig_set_verb_warn_func(onig_null_warn);
        onig_set_parse_depth_limit(500);
    });
}

std::string reasonOf(int code)
{
    OnigUChar why[ONIG_MAX_ERROR_MESSAGE_LEN] = {};
    const int size = onig_error_code_to_str(why, code);
    return { reinterpret_cast<const char*>(why), static_cast<std::size_t>(std::max(size, 0)) };
}

Error unknownCharacter(std::string_view pattern, char32_t c)
{
    char name[16];
    std::snprintf(name, sizeof name, "U+%04X", static_cast<unsigned>(c));
    return { ErrorCode::InvalidArgument,
        sentence(
            "The pattern %1 tells characters beside %2 apart, and Oniguruma %3 of this system does not know that one. Install Oniguruma 6.9.10 or later, or leave the text out.",
            { std::string(pattern.substr(0, kShownBytes)), name, onig_version() }) };
}

/// What one matching needs.
struct Matching {
    std::unique_ptr<OnigRegion, FreeRegion> region { onig_region_new() };
    std::unique_ptr<OnigMatchParam, FreeParam> param { onig_new_match_param() };

    explicit Matching(std::size_t textBytes)
    {
        onig_initialize_match_param(param.get());
        onig_set_retry_limit_in_match_of_match_param(param.get(), kRetriesInMatch);
        onig_set_retry_limit_in_search_of_match_param(
            param.get(), kRetriesInMatch + 100 * static_cast<unsigned long>(textBytes));
        onig_set_match_stack_limit_size_of_match_param(param.get(), kMatchStackEntries);
    }
};

/// A stretch of valid text, as this version of the library can read it.
struct Shown {
    std::string_view text; ///< as it is written
    std::string other; ///< when it is shown otherwise
    std::vector<std::size_t> original; ///< then: where each byte of `other`, and its end, stands in `text`

    std::string_view bytes() const { return original.empty() ? text : other; }
    std::size_t position(std::size_t at) const { return original.empty() ? at : original[at]; }
    /// From now on it differs; the first `size` bytes do not.
    void copy(std::string_view whole, std::size_t size)
    {
        if (!original.empty())
            return;
        other = whole.substr(0, size);
        for (std::size_t i = 0; i < size; ++i)
            original.push_back(i);
    }
    void add(char32_t c, std::size_t at)
    {
        appendUtf8(other, c);
        original.resize(other.size(), at);
    }
};

} // namespace

struct Regex::Code {
    std::unique_ptr<regex_t, FreeRegex> code;
    std::string pattern; ///< as it was written
    PatternCharacters characters;

    /// The valid text at the front; empty where the first byte is none.
    Result<Shown> validFrom(std::string_view text) const;
    Status matchesIn(const Shown& shown, std::size_t offset, Matching& matching,
        const std::function<void(std::size_t, std::size_t)>& match) const;
};

Result<Shown> Regex::Code::validFrom(std::string_view text) const
{
    Shown shown;
    const char* end = text.data() + text.size();
    std::size_t at = 0;
    while (at < text.size()) {
        const auto c = decodeChar(text.data() + at, end);
        if (c.codePoint == kInvalidByte)
            break;
        const auto known = knownCharacter(c.codePoint);
        if (known != c.codePoint) {
            if (!characters.treatsAlike(c.codePoint, known))
                return unknownCharacter(pattern, c.codePoint);
            shown.copy(text, at);
        }
        if (!shown.other.empty() || known != c.codePoint)
            shown.add(known, at);
        at += c.sizeBytes;
    }
    shown.text = text.substr(0, at);
    if (!shown.original.empty())
        shown.original.push_back(at);
    return shown;
}

Status Regex::Code::matchesIn(const Shown& shown, std::size_t offset, Matching& matching,
    const std::function<void(std::size_t, std::size_t)>& match) const
{
    const auto text = shown.bytes();
    const auto* begin = onigText(text.data());
    const auto* end = begin + text.size();
    std::size_t before = std::string_view::npos; // end of the last match
    for (std::size_t at = 0; at <= text.size();) {
        const int found = onig_search_with_param(
            code.get(), begin, end, begin + at, end, matching.region.get(), ONIG_OPTION_NONE, matching.param.get());
        if (found == ONIG_MISMATCH)
            break;
        if (found < 0)
            return noPatternAnswer(pattern, text.size(), reasonOf(found));
        const auto first = static_cast<std::size_t>(matching.region->beg[0]);
        const auto last = static_cast<std::size_t>(matching.region->end[0]);
        if (first > last || (before != std::string_view::npos && first < before))
            return noPatternAnswer(pattern, text.size(), sentence("it matches backwards"));
        if (first == last && last == before) {
            at += at < text.size() ? decodeChar(text.data() + at, text.data() + text.size()).sizeBytes : 1;
            continue;
        }
        at = before = last;
        match(offset + shown.position(first), offset + shown.position(last));
    }
    return {};
}

Result<std::shared_ptr<const Regex>> Regex::compile(const std::string& pattern)
{
    const auto refused = [&](const Message& why) {
        return Error { ErrorCode::InvalidArgument,
            sentence("the pattern %1 is not understood: %2", { pattern.substr(0, kShownBytes), why }) };
    };
    if (pattern.size() > kMaxPatternBytes)
        return refused(sentence("it is longer than 64 KiB"));
    startLibrary();
    if (const auto unproven = unprovenPart(pattern); !unproven.empty())
        return refused(sentence("%1 is not known to match as in the tokenizers library", { unproven }));
    const auto text = patternForThisVersion(pattern);
    const auto* begin = onigText(text.data());
    regex_t* made = nullptr;
    OnigErrorInfo info {};
    const int failed
        = onig_new(&made, begin, begin + text.size(), ONIG_OPTION_NONE, ONIG_ENCODING_UTF8, ONIG_SYNTAX_DEFAULT, &info);
    if (failed != ONIG_NORMAL) {
        OnigUChar why[ONIG_MAX_ERROR_MESSAGE_LEN] = {};
        const int size = onig_error_code_to_str(why, failed, &info);
        return refused(
            std::string_view(reinterpret_cast<const char*>(why), static_cast<std::size_t>(std::max(size, 0))));
    }
    return std::shared_ptr<const Regex>(new Regex(std::shared_ptr<const Code>(
        new Code { std::unique_ptr<regex_t, FreeRegex>(made), pattern, PatternCharacters(pattern) })));
}

Status Regex::forEachMatch(std::string_view text, const std::function<void(std::size_t, std::size_t)>& match) const
{
    Matching matching(text.size());
    for (std::size_t begin = 0; begin < text.size();) {
        FURROW_TRY_ASSIGN(const auto shown, code_->validFrom(text.substr(begin)));
        const auto size = shown.text.size();
        if (size > 0) {
            FURROW_TRY(code_->matchesIn(shown, begin, matching, match));
        }
        begin += size + 1; // behind the byte that is not valid
    }
    return {};
}

} // namespace furrow
