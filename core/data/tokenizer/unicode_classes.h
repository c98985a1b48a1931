#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace furrow {

/// Unicode general categories, version 16: the one of the reference tokenizers, whatever the libraries here know.
enum class Category : std::uint8_t {
    Cn,
    Lu,
    Ll,
    Lt,
    Lm,
    Lo,
    Mn,
    Mc,
    Me,
    Nd,
    Nl,
    No,
    Pc,
    Pd,
    Ps,
    Pe,
    Pi,
    Pf,
    Po,
    Sm,
    Sc,
    Sk,
    So,
    Zs,
    Zl,
    Zp,
    Cc,
    Cf,
    Co,
};
inline constexpr std::string_view kCategoryNames = "CnLuLlLtLmLoMnMcMeNdNlNoPcPdPsPePiPfPoSmScSkSoZsZlZpCcCfCo";

/// What the split patterns ask of a code point: \p{L}, \p{N}, \s, or none of them.
enum class CharClass : std::uint8_t { Letter, Number, Space, Other };

/// A byte that is no part of valid UTF-8 decodes to this; it has class Other.
inline constexpr char32_t kInvalidByte = 0x110000;

/// One byte for each code point up to and including kInvalidByte: category in the low five bits, class above them.
const std::uint8_t* codePointTable();

inline Category categoryOf(char32_t codePoint) { return static_cast<Category>(codePointTable()[codePoint] & 31); }

struct DecodedChar {
    char32_t codePoint;
    std::uint32_t sizeBytes;
};

/// Decodes the code point at p. p < end. A byte that starts no valid sequence is kInvalidByte of size 1.
inline DecodedChar decodeChar(const char* p, const char* end)
{
    const auto at = [p](int i) { return static_cast<std::uint8_t>(p[i]); };
    const auto trails = [&](int i) { return (at(i) & 0xC0) == 0x80; };
    const std::uint32_t a = at(0);
    const auto left = end - p;
    if (a < 0x80)
        return { a, 1 };
    if (a >= 0xC2 && a < 0xE0 && left > 1 && trails(1))
        return { (a & 31) << 6 | (at(1) & 63u), 2 };
    if ((a & 0xF0) == 0xE0 && left > 2 && trails(1) && trails(2)) {
        const std::uint32_t c = (a & 15) << 12 | (at(1) & 63u) << 6 | (at(2) & 63u);
        if (c >= 0x800 && (c < 0xD800 || c > 0xDFFF))
            return { c, 3 };
    }
    if (a >= 0xF0 && a < 0xF5 && left > 3 && trails(1) && trails(2) && trails(3)) {
        const std::uint32_t c = (a & 7) << 18 | (at(1) & 63u) << 12 | (at(2) & 63u) << 6 | (at(3) & 63u);
        if (c >= 0x10000 && c < 0x110000)
            return { c, 4 };
    }
    return { kInvalidByte, 1 };
}

/// Appends a valid code point as UTF-8.
template <typename String> void appendUtf8(String& out, char32_t c)
{
    const auto put = [&out](char32_t byte) { out.push_back(static_cast<char>(byte)); };
    if (c < 0x80) {
        put(c);
    } else if (c < 0x800) {
        put(0xC0 | c >> 6);
        put(0x80 | (c & 63));
    } else if (c < 0x10000) {
        put(0xE0 | c >> 12);
        put(0x80 | (c >> 6 & 63));
        put(0x80 | (c & 63));
    } else {
        put(0xF0 | c >> 18);
        put(0x80 | (c >> 12 & 63));
        put(0x80 | (c >> 6 & 63));
        put(0x80 | (c & 63));
    }
}

} // namespace furrow
