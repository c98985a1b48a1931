#include "core/chat/template/text.h"

#include <unicode/ucasemap.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <memory>

namespace furrow::chat {

namespace {

bool isAscii(std::string_view text)
{
    return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

struct CloseCaseMap {
    void operator()(UCaseMap* map) const noexcept { ucasemap_close(map); }
};

using CaseMapping = std::int32_t(const UCaseMap*, char*, std::int32_t, const char*, std::int32_t, UErrorCode*);

std::string mapped(std::string_view text, CaseMapping* mapping)
{
    static const std::unique_ptr<UCaseMap, CloseCaseMap> map = [] {
        UErrorCode status = U_ZERO_ERROR;
        return std::unique_ptr<UCaseMap, CloseCaseMap>(ucasemap_open("", 0, &status)); // of no language, as Python
    }();
    std::string out(text.size() * 3 + 4, '\0'); // one code point becomes at most three
    UErrorCode status = U_ZERO_ERROR;
    const auto size = mapping(map.get(), out.data(), static_cast<std::int32_t>(out.size()), text.data(),
        static_cast<std::int32_t>(text.size()), &status);
    if (U_FAILURE(status))
        return std::string(text);
    out.resize(static_cast<std::size_t>(size));
    return out;
}

bool isAmong(char32_t c, std::string_view characters)
{
    for (std::size_t at = 0; at < characters.size();) {
        if (nextCodePoint(characters, at) == c)
            return true;
    }
    return false;
}

bool isStripped(char32_t c, const std::optional<std::string_view>& characters)
{
    return characters ? isAmong(c, *characters) : isPythonSpace(c);
}

std::string titleCase(std::string_view codePoint)
{
    std::size_t at = 0;
    const auto c = nextCodePoint(codePoint, at);
    const auto title = static_cast<char32_t>(u_totitle(static_cast<UChar32>(c)));
    if (title == c)
        return upperCase(codePoint) == codePoint ? std::string(codePoint) : upperCase(codePoint);
    std::string out;
    appendCodePoint(title, out);
    return out;
}

} // namespace

char32_t nextCodePoint(std::string_view text, std::size_t& at)
{
    auto place = static_cast<std::int64_t>(at);
    UChar32 c = 0;
    U8_NEXT_OR_FFFD(text.data(), place, static_cast<std::int64_t>(text.size()), c);
    at = static_cast<std::size_t>(place);
    return static_cast<char32_t>(c);
}

void appendCodePoint(char32_t c, std::string& out)
{
    char bytes[U8_MAX_LENGTH];
    std::int32_t size = 0;
    U8_APPEND_UNSAFE(bytes, size, static_cast<std::uint32_t>(c));
    out.append(bytes, static_cast<std::size_t>(size));
}

std::size_t lengthInCodePoints(std::string_view text)
{
    if (isAscii(text))
        return text.size();
    std::size_t count = 0;
    for (std::size_t at = 0; at < text.size(); ++count)
        (void)nextCodePoint(text, at);
    return count;
}

std::size_t byteOfCodePoint(std::string_view text, std::size_t index)
{
    std::size_t at = 0;
    for (; index > 0 && at < text.size(); --index)
        (void)nextCodePoint(text, at);
    return at;
}

bool isPythonSpace(char32_t c)
{
    if (c < 0x80)
        return (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x20);
    return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029
        || c == 0x202f || c == 0x205f || c == 0x3000;
}

std::string_view stripLeft(std::string_view text, std::optional<std::string_view> characters)
{
    while (!text.empty()) {
        std::size_t behind = 0;
        if (!isStripped(nextCodePoint(text, behind), characters))
            break;
        text.remove_prefix(behind);
    }
    return text;
}

std::string_view stripRight(std::string_view text, std::optional<std::string_view> characters)
{
    while (!text.empty()) {
        auto begin = text.size() - 1;
        while (begin > 0 && text.size() - begin < 4 && U8_IS_TRAIL(text[begin]))
            --begin;
        std::size_t behind = begin;
        if (!isStripped(nextCodePoint(text, behind), characters))
            break;
        text = text.substr(0, begin);
    }
    return text;
}

std::string upperCase(std::string_view text)
{
    if (!isAscii(text))
        return mapped(text, ucasemap_utf8ToUpper);
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), [](char c) { return c >= 'a' && c <= 'z' ? c - 32 : c; });
    return out;
}

std::string lowerCase(std::string_view text)
{
    if (!isAscii(text))
        return mapped(text, ucasemap_utf8ToLower);
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
    return out;
}

std::string capitalized(std::string_view text)
{
    const auto first = byteOfCodePoint(text, 1);
    return text.empty() ? std::string() : titleCase(text.substr(0, first)) + lowerCase(text.substr(first));
}

std::string titleOfWords(std::string_view text)
{
    std::string out;
    bool inWord = false;
    for (std::size_t at = 0; at < text.size();) {
        const auto begin = at;
        const auto c = nextCodePoint(text, at);
        const auto piece = text.substr(begin, at - begin);
        out += inWord ? lowerCase(piece) : titleCase(piece);
        inWord = u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_CASED);
    }
    return out;
}

} // namespace furrow::chat
