#include "core/data/source/json_events.h"

#include "core/data/tokenizer/unicode_classes.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace furrow {

int jsonHexUnit(std::string_view text, std::size_t at)
{
    if (at + 4 > text.size())
        return -1;
    int unit = 0;
    for (const char c : text.substr(at, 4)) {
        const char lower = static_cast<char>(c | 0x20);
        const int digit = c >= '0' && c <= '9' ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

namespace {

bool isDigit(std::string_view text, std::size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '9'; }

/// The code point of an escape whose \u is behind `at`; both halves of a surrogate pair together.
bool readUnicodeEscape(std::string_view text, std::size_t& at, std::string* out)
{
    const int unit = jsonHexUnit(text, at);
    at += 4;
    char32_t point = static_cast<char32_t>(unit);
    if (unit >= 0xD800 && unit <= 0xDFFF) {
        const bool pair = unit < 0xDC00 && text.substr(std::min(at, text.size()), 2) == "\\u";
        const int low = pair ? jsonHexUnit(text, at + 2) : -1;
        if (low < 0xDC00 || low > 0xDFFF)
            return false;
        at += 6;
        point = 0x10000 + ((static_cast<char32_t>(unit) - 0xD800) << 10) + (static_cast<char32_t>(low) - 0xDC00);
    }
    if (unit >= 0 && out != nullptr)
        appendUtf8(*out, point);
    return unit >= 0;
}

bool readEscape(std::string_view text, std::size_t& at, std::string* out)
{
    if (at >= text.size())
        return false;
    const char c = text[at++];
    if (c == 'u')
        return readUnicodeEscape(text, at, out);
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const auto which = kNames.find(c);
    if (which != std::string_view::npos && out != nullptr)
        out->push_back(kMeanings[which]);
    return which != std::string_view::npos;
}

bool skipWord(std::string_view text, std::size_t& at, std::string_view word)
{
    if (text.substr(at, word.size()) != word)
        return false;
    at += word.size();
    return true;
}

void skipDigits(std::string_view text, std::size_t& at)
{
    while (isDigit(text, at))
        ++at;
}

} // namespace

bool readJsonString(std::string_view text, std::size_t& at, std::string* out)
{
    for (;;) {
        const auto begin = at;
        while (at < text.size() && text[at] != '"' && text[at] != '\\' && static_cast<unsigned char>(text[at]) >= 0x20)
            ++at;
        if (at == text.size() || static_cast<unsigned char>(text[at]) < 0x20)
            return false;
        if (out != nullptr)
            out->append(text.substr(begin, at - begin));
        if (text[at++] == '"')
            return true;
        if (!readEscape(text, at, out))
            return false;
    }
}

bool skipJsonScalar(std::string_view text, std::size_t& at, JsonGrammar grammar)
{
    if (skipWord(text, at, "null") || skipWord(text, at, "true") || skipWord(text, at, "false"))
        return true;
    if (grammar == JsonGrammar::Python
        && (skipWord(text, at, "NaN") || skipWord(text, at, "Infinity") || skipWord(text, at, "-Infinity")))
        return true;
    const auto begin = at;
    if (at < text.size() && text[at] == '-')
        ++at;
    if (!isDigit(text, at))
        return false;
    if (text[at++] != '0')
        skipDigits(text, at);
    if (at < text.size() && text[at] == '.' && isDigit(text, at + 1))
        skipDigits(text, ++at);
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        const bool sign = at + 1 < text.size() && (text[at + 1] == '+' || text[at + 1] == '-');
        if (!isDigit(text, at + (sign ? 2 : 1)))
            return false;
        skipDigits(text, at += sign ? 2 : 1);
    }
    const auto number = text.substr(begin, at - begin);
    return grammar == JsonGrammar::Python || std::isfinite(std::strtod(std::string(number).c_str(), nullptr));
}

} // namespace furrow
