#include "core/data/tokenizer/regex_unicode.h"

#include "core/data/tokenizer/unicode_classes.h"

#include <oniguruma.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <set>

namespace furrow {

namespace {

struct Newer {
    char32_t first;
    char32_t last;
    char32_t shownAs;
};
constexpr Newer kNewer[] = {
#include "core/data/tokenizer/newer_code_points.inc"
};
constexpr std::string_view kProven[] = {
#include "core/data/tokenizer/proven_properties.inc"
    // compared as [[:alnum:]] and so on, which ask the same tables
    "Alnum", "Alpha", "Blank", "Cntrl", "Digit", "Graph", "Lower", "Print", "Space", "Upper", "XDigit", "Word"
};

bool knowsUnicode16()
{
    static const bool knows = [] {
        std::array<int, 3> parts {};
        const std::string_view version = onig_version();
        const char* const end = version.data() + version.size();
        const char* at = version.data();
        for (auto& part : parts) {
            at = std::from_chars(at, end, part).ptr;
            at += at < end ? 1 : 0;
        }
        return parts >= std::array { 6, 9, 10 };
    }();
    return knows;
}

/// The library's own number of a property, the same for all its names; negative when it has none of that name.
int numberOf(std::string_view property)
{
    auto* begin = reinterpret_cast<OnigUChar*>(const_cast<char*>(property.data()));
    return ONIG_ENCODING_UTF8->property_name_to_ctype(ONIG_ENCODING_UTF8, begin, begin + property.size());
}

bool isProven(std::string_view property)
{
    static const std::set<int> proven = [] {
        std::set<int> numbers;
        for (const auto name : kProven)
            numbers.insert(numberOf(name));
        return numbers;
    }();
    const int number = numberOf(property);
    return number < 0 || proven.contains(number); // a name that the library does not know is its own error
}

/// A character of a pattern as it is read: itself, or what an escape stands for.
struct PatternUnit {
    char32_t codePoint = 0; ///< 0: no certain character
    const char* end = nullptr;
    bool isByte = false; ///< \xE4 or \344: a part of a character
    bool isReference = false; ///< \1, \k<name>
};

PatternUnit readEscape(const char* p, const char* end)
{
    PatternUnit unit { 0, p + decodeChar(p, end).sizeBytes, false, false };
    const bool braced = *p == 'x' && p + 1 < end && p[1] == '{';
    std::uint32_t value = 0;
    if (braced || *p == 'u') {
        const char* first = p + (braced ? 2 : 1);
        unit.end = std::from_chars(first, braced ? end : std::min(end, first + 4), value, 16).ptr;
        unit.codePoint = value;
        unit.isByte = braced && unit.end < end && *unit.end != '}'; // a list of several: not taken apart here
        unit.end += braced && unit.end < end ? 1 : 0;
    } else if (*p == 'x') {
        unit.end = std::from_chars(p + 1, std::min(end, p + 3), value, 16).ptr;
        unit.codePoint = value;
        unit.isByte = value >= 0x80;
    } else if (*p == 'o'
        || (*p >= '0' && *p <= '7' && end - p > 2 && p[1] >= '0' && p[1] <= '7' && p[2] >= '0' && p[2] <= '7')) {
        unit.isByte = true;
    } else {
        unit.isReference = (*p >= '1' && *p <= '9') || *p == 'k';
        unit.codePoint = static_cast<unsigned char>(*p) < 0x80 && !std::isalnum(static_cast<unsigned char>(*p))
            ? static_cast<char32_t>(*p)
            : 0;
    }
    return unit;
}

PatternUnit readUnit(const char* p, const char* end)
{
    const auto c = decodeChar(p, end);
    if (c.codePoint == '\\' && p + 1 < end)
        return readEscape(p + 1, end);
    return { c.codePoint, p + c.sizeBytes, c.codePoint == kInvalidByte, false };
}

} // namespace

char32_t knownCharacter(char32_t c)
{
    if (c < kNewer[0].first || knowsUnicode16())
        return c;
    const auto* behind = std::upper_bound(
        std::begin(kNewer), std::end(kNewer), c, [](char32_t value, const Newer& run) { return value < run.first; });
    return behind != std::begin(kNewer) && c <= behind[-1].last ? behind[-1].shownAs : c;
}

PatternCharacters::PatternCharacters(std::string_view pattern)
{
    const char* end = pattern.data() + pattern.size();
    for (const char* p = pattern.data(); p < end;) {
        const auto unit = readUnit(p, end);
        p = unit.end;
        opaque_ = opaque_ || unit.isByte || unit.isReference;
        auto last = unit.codePoint;
        if (end - p > 1 && *p == '-') { // in brackets a range; elsewhere taken for one
            const auto behind = readUnit(p + 1, end);
            last = behind.codePoint == 0 ? last : behind.codePoint;
        }
        if (unit.codePoint != 0 && last >= 0x80)
            named_.emplace_back(unit.codePoint, last);
    }
}

bool PatternCharacters::treatsAlike(char32_t a, char32_t b) const
{
    const auto holds = [](const auto& range, char32_t c) { return range.first <= c && c <= range.second; };
    return !opaque_ && std::all_of(named_.begin(), named_.end(), [&](const auto& range) {
        return holds(range, a) == holds(range, b);
    });
}

std::string patternForThisVersion(std::string_view pattern)
{
    constexpr std::string_view kPunct = "[:punct:]";
    constexpr std::string_view kOthers = "[:^punct:]";
    std::string out;
    int depth = 0;
    while (!pattern.empty()) {
        std::size_t size = 1;
        if (pattern[0] == '\\' && pattern.size() > 1) {
            size = 2;
        } else if (depth > 0 && (pattern.starts_with(kPunct) || pattern.starts_with(kOthers))) {
            const bool others = pattern.starts_with(kOthers);
            out += others ? "[^\\p{P}\\p{S}]" : "\\p{P}\\p{S}";
            pattern.remove_prefix(others ? kOthers.size() : kPunct.size());
            continue;
        } else if (pattern[0] == '[') {
            ++depth;
        } else if (pattern[0] == ']' && depth > 0) {
            --depth;
        }
        out += pattern.substr(0, size);
        pattern.remove_prefix(size);
    }
    return out;
}

std::string unprovenPart(std::string_view pattern)
{
    for (std::size_t at = 0; at + 1 < pattern.size(); ++at) {
        if (pattern.substr(at).starts_with("y{w}"))
            return "(?y{w})";
        if (pattern[at] != '\\')
            continue;
        const auto rest = pattern.substr(++at);
        if ((rest[0] != 'p' && rest[0] != 'P') || !rest.substr(1).starts_with('{'))
            continue;
        auto name = rest.substr(2, rest.find('}') - 2);
        if (name.starts_with('^'))
            name.remove_prefix(1);
        if (!isProven(name))
            return std::string(rest.substr(0, 2)) + std::string(name) + "}";
    }
    return "";
}

} // namespace furrow
