#include "core/data/tokenizer/regex_splitter.h"

#include "core/data/tokenizer/pattern_answer.h"
#include "core/data/tokenizer/unicode_classes.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

// PCRE2's property tables are of an older Unicode version than those of the reference tokenizers. Each \p{X} is
// therefore followed by the ranges that X has gained since, found once per property by comparing PCRE2 with our table.

namespace furrow {

namespace {

struct FreeCode {
    void operator()(pcre2_code* code) const noexcept { pcre2_code_free(code); }
};
struct FreeMatch {
    void operator()(pcre2_match_data* data) const noexcept { pcre2_match_data_free(data); }
};
struct FreeContext {
    void operator()(pcre2_match_context* context) const noexcept { pcre2_match_context_free(context); }
};
struct FreeStack {
    void operator()(pcre2_jit_stack* stack) const noexcept { pcre2_jit_stack_free(stack); }
};

constexpr std::uint32_t kOptions = PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C;
constexpr std::uint32_t kMatchLimit = 50'000'000;
constexpr std::uint32_t kHeapLimitKiB = 256 << 10;

std::string hexEscape(char32_t c)
{
    char text[16];
    std::snprintf(text, sizeof text, "\\x{%X}", static_cast<unsigned>(c));
    return text;
}

bool hasProperty(char32_t c, std::string_view name)
{
    const auto category = kCategoryNames.substr(static_cast<std::size_t>(categoryOf(c)) * 2, 2);
    return category.substr(0, name.size()) == name;
}

/// Ranges that have the property in our table and not in PCRE2's, as the inside of a bracket.
std::string missingRanges(const std::string& name)
{
    int error = 0;
    PCRE2_SIZE offset = 0;
    const auto pattern = "[^\\p{" + name + "}]+";
    const std::unique_ptr<pcre2_code, FreeCode> code(
        pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), PCRE2_UTF, &error, &offset, nullptr));
    if (!code)
        return "";
    const std::unique_ptr<pcre2_match_data, FreeMatch> data(pcre2_match_data_create(1, nullptr));
    std::string found;
    std::string text;
    const auto absent = [&](char32_t c) {
        text.clear();
        appendUtf8(text, c);
        return pcre2_match(code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0, PCRE2_NO_UTF_CHECK, data.get(), nullptr) > 0;
    };
    for (char32_t c = 0x80; c < 0x110000; ++c) {
        if (!hasProperty(c, name) || !absent(c))
            continue;
        const auto first = c;
        while (c + 1 < 0x110000 && hasProperty(c + 1, name) && absent(c + 1))
            ++c;
        found += hexEscape(first) + (c > first ? "-" + hexEscape(c) : "");
    }
    return found;
}

const std::string& missing(const std::string& name)
{
    static std::mutex mutex;
    static std::map<std::string, std::string> known; // guarded by mutex
    const std::lock_guard lock(mutex);
    const auto [at, isNew] = known.try_emplace(name);
    if (isNew)
        at->second = missingRanges(name);
    return at->second;
}

bool isGeneralCategory(std::string_view name)
{
    for (std::size_t i = 0; i < kCategoryNames.size(); i += 2) {
        if (!name.empty() && kCategoryNames.substr(i, name.size()) == name)
            return name.size() <= 2 && name != "Cn" && name != "C";
    }
    return false;
}

/// Reads the name of a property behind \p at `i` ("{L}" or "L"); moves `i` behind it.
std::string propertyName(const std::string& pattern, std::size_t& i)
{
    if (i < pattern.size() && pattern[i] == '{') {
        const auto close = pattern.find('}', i);
        if (close == std::string::npos)
            return "";
        const auto name = pattern.substr(i + 1, close - i - 1);
        i = close + 1;
        return name;
    }
    return i < pattern.size() ? std::string(1, pattern[i++]) : "";
}

/// The replacement of the escape at `i` (a backslash), which it moves behind it.
std::string rewriteEscape(const std::string& pattern, std::size_t& i, bool inBracket)
{
    const auto begin = i;
    const char kind = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    i += kind ? 2 : 1;
    if (kind == 's')
        return "\\p{White_Space}";
    if (kind == 'S')
        return "\\P{White_Space}";
    if (kind != 'p' && kind != 'P')
        return pattern.substr(begin, i - begin);
    const auto name = propertyName(pattern, i);
    const auto text = pattern.substr(begin, i - begin);
    if (!isGeneralCategory(name) || (inBracket && kind == 'P'))
        return text;
    const auto more = missing(name);
    if (more.empty())
        return text;
    if (inBracket)
        return text + more;
    return (kind == 'P' ? "[^\\p{" : "[\\p{") + name + "}" + more + "]";
}

} // namespace

std::string pcrePattern(const std::string& pattern)
{
    std::string out;
    bool inBracket = false;
    for (std::size_t i = 0; i < pattern.size();) {
        const char c = pattern[i];
        if (c == '\\') {
            out += rewriteEscape(pattern, i, inBracket);
            continue;
        }
        out += c;
        ++i;
        if (inBracket) {
            inBracket = c != ']';
        } else if (c == '[') {
            inBracket = true;
            for (const char literal : { '^', ']' }) {
                if (i < pattern.size() && pattern[i] == literal)
                    out += pattern[i++];
            }
        }
    }
    return out;
}

struct RegexSplitter::Code {
    std::unique_ptr<pcre2_code, FreeCode> code;
    std::string pattern; ///< as it was written
};

Result<std::shared_ptr<const RegexSplitter>> RegexSplitter::compile(const std::string& pattern)
{
    int error = 0;
    PCRE2_SIZE offset = 0;
    const auto text = pcrePattern(pattern);
    auto code = std::make_shared<Code>();
    code->pattern = pattern;
    code->code.reset(
        pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), kOptions, &error, &offset, nullptr));
    if (!code->code) {
        char message[200] = {};
        pcre2_get_error_message(error, reinterpret_cast<PCRE2_UCHAR*>(message), sizeof message);
        return Error { ErrorCode::InvalidArgument, "the split pattern " + pattern + " is not understood: " + message };
    }
    pcre2_jit_compile(code->code.get(), PCRE2_JIT_COMPLETE); // without it matching is slower, not different
    return std::shared_ptr<const RegexSplitter>(new RegexSplitter(std::move(code)));
}

namespace {

/// What one matching needs; the stack for compiled patterns is the thread's.
struct Matching {
    std::unique_ptr<pcre2_match_data, FreeMatch> data { pcre2_match_data_create(1, nullptr) };
    std::unique_ptr<pcre2_match_context, FreeContext> context { pcre2_match_context_create(nullptr) };

    Matching()
    {
        thread_local const std::unique_ptr<pcre2_jit_stack, FreeStack> stack(
            pcre2_jit_stack_create(32 << 10, 8 << 20, nullptr));
        pcre2_set_match_limit(context.get(), kMatchLimit);
        pcre2_set_heap_limit(context.get(), kHeapLimitKiB);
        pcre2_jit_stack_assign(context.get(), nullptr, stack.get());
    }

    /// Matches in valid text from `at` on. @return what pcre2_match does
    int next(const pcre2_code* code, std::string_view text, std::size_t at)
    {
        const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
        const auto match = [&](std::uint32_t options) {
            return pcre2_match(code, subject, text.size(), at, PCRE2_NO_UTF_CHECK | options, data.get(), context.get());
        };
        const int rc = match(0);
        return rc == PCRE2_ERROR_JIT_STACKLIMIT ? match(PCRE2_NO_JIT) : rc;
    }
};

std::size_t endOfValid(std::string_view text, std::size_t at)
{
    const char* end = text.data() + text.size();
    while (at < text.size()) {
        const auto c = decodeChar(text.data() + at, end);
        if (c.codePoint == kInvalidByte)
            break;
        at += c.sizeBytes;
    }
    return at;
}

} // namespace

Status RegexSplitter::forEachMatch(
    std::string_view text, const std::function<void(std::size_t, std::size_t)>& match) const
{
    Matching matching;
    for (std::size_t begin = 0; begin < text.size();) {
        const auto end = endOfValid(text, begin);
        const auto valid = text.substr(begin, end - begin);
        std::size_t at = 0;
        while (at < valid.size()) {
            const auto found = patternAnswer(matching.next(code_->code.get(), valid, at), code_->pattern, text.size());
            if (!found.ok())
                return found.error();
            if (!found.value())
                break;
            const auto* span = pcre2_get_ovector_pointer(matching.data.get());
            if (span[1] > span[0] && span[0] >= at) {
                match(begin + span[0], begin + span[1]);
                at = span[1];
            } else if (at = std::max(at, span[1]); at < valid.size()) {
                at += decodeChar(valid.data() + at, valid.data() + valid.size()).sizeBytes;
            }
        }
        begin = end + 1; // behind the byte that is not valid
    }
    return {};
}

} // namespace furrow
