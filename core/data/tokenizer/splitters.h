#pragma once

// The split patterns of the common vocabularies, by hand: each has `next(p, end)`, the end of the piece that starts at
// p, for p < end. Together the pieces cover the text. A byte that is no valid UTF-8 counts as a symbol (class Other).

#include "core/data/tokenizer/unicode_classes.h"

#include <array>
#include <bit>
#include <cstring>

namespace furrow {

namespace split_detail {

inline constexpr std::uint8_t kHigh = 4; // first byte of something that is not ASCII

constexpr std::array<std::uint8_t, 256> makeAsciiClasses()
{
    std::array<std::uint8_t, 256> table {};
    for (int c = 0; c < 256; ++c) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        const bool space = c == ' ' || (c >= 9 && c <= 13);
        const auto kind = letter   ? CharClass::Letter
            : c >= '0' && c <= '9' ? CharClass::Number
            : space                ? CharClass::Space
                                   : CharClass::Other;
        table[static_cast<std::size_t>(c)] = c >= 0x80 ? kHigh : static_cast<std::uint8_t>(kind);
    }
    return table;
}
inline constexpr auto kAscii = makeAsciiClasses();

struct Peeked {
    CharClass kind;
    std::uint32_t sizeBytes;
};

} // namespace split_detail

/// What the hand-written patterns have in common.
class SplitBase {
protected:
    using Peeked = split_detail::Peeked;

    Peeked peek(const char* p, const char* end) const
    {
        const auto kind = split_detail::kAscii[static_cast<std::uint8_t>(*p)];
        if (kind != split_detail::kHigh) [[likely]]
            return { static_cast<CharClass>(kind), 1 };
        const auto c = decodeChar(p, end);
        return { static_cast<CharClass>(table_[c.codePoint] >> 5), c.sizeBytes };
    }

    /// Skips ASCII letters eight at a time: most words end in the first eight, without a branch for each letter.
    static const char* skipLetters(const char* p, const char* end)
    {
        constexpr std::uint64_t kOnes = 0x0101010101010101u;
        while (end - p >= 8) {
            std::uint64_t bytes;
            std::memcpy(&bytes, p, 8);
            const auto lower = (bytes | kOnes * 0x20) & kOnes * 0x7F;
            const auto fromA = lower + kOnes * (0x80 - 'a');
            const auto behindZ = lower + kOnes * (0x7F - 'z');
            const auto other = ~(fromA & ~behindZ & ~bytes) & kOnes * 0x80;
            if (other != 0)
                return p + std::countr_zero(other) / 8;
            p += 8;
        }
        return p;
    }

    /// End of the run of `kind` from p on.
    const char* run(CharClass kind, const char* p, const char* end) const
    {
        if (std::endian::native == std::endian::little && kind == CharClass::Letter)
            p = skipLetters(p, end);
        for (;;) {
            while (p < end && split_detail::kAscii[static_cast<std::uint8_t>(*p)] == static_cast<std::uint8_t>(kind))
                ++p;
            if (p >= end || static_cast<std::uint8_t>(*p) < 0x80) [[likely]]
                return p;
            const auto next = peek(p, end);
            if (next.kind != kind)
                return p;
            p += next.sizeBytes;
        }
    }

    struct Spaces {
        const char* end; ///< of the run
        const char* last; ///< start of its last code point
        const char* newline; ///< end of its last \r or \n, null when it has none
    };
    Spaces spaces(const char* p, const char* end) const
    {
        Spaces found { p, p, nullptr };
        while (found.end < end) {
            const auto next = peek(found.end, end);
            if (next.kind != CharClass::Space)
                break;
            found.last = found.end;
            found.end += next.sizeBytes;
            if (*found.last == '\n' || *found.last == '\r')
                found.newline = found.end;
        }
        return found;
    }

    /// `\s+(?!\S)|\s+`
    static const char* spacePiece(const char* p, const char* end, const Spaces& found)
    {
        return found.end == end || found.last == p ? found.end : found.last;
    }

    const std::uint8_t* table_ = codePointTable();
};

/// `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
class Gpt2Split : SplitBase {
public:
    const char* next(const char* p, const char* end) const
    {
        if (*p == '\'') {
            if (const int size = contraction(p, end))
                return p + size;
        }
        const char* first = *p == ' ' && p + 1 < end ? p + 1 : p;
        const auto head = peek(first, end);
        if (head.kind != CharClass::Space) [[likely]]
            return run(head.kind, first + head.sizeBytes, end);
        return spacePiece(p, end, spaces(p, end));
    }

private:
    static int contraction(const char* p, const char* end)
    {
        if (end - p < 2)
            return 0;
        const char a = p[1];
        if (a == 's' || a == 't' || a == 'm' || a == 'd')
            return 2;
        if (end - p < 3)
            return 0;
        const char b = p[2];
        return ((a == 'r' || a == 'v') && b == 'e') || (a == 'l' && b == 'l') ? 3 : 0;
    }
};

/// `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
/// ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
/// @tparam kDigits        3 for cl100k and Llama-3, 1 for Qwen2
/// @tparam kWholeTail     tiktoken's own cl100k: white space that ends the text is one piece, newlines or not
template <int kDigits, bool kWholeTail> class ModernSplit : SplitBase {
public:
    const char* next(const char* p, const char* end) const
    {
        if (*p == '\'') {
            if (const int size = contraction(p, end))
                return p + size;
        }
        const auto head = peek(p, end);
        const char* after = p + head.sizeBytes;
        if (head.kind == CharClass::Letter)
            return run(CharClass::Letter, after, end);
        if (head.kind == CharClass::Number)
            return numbers(after, end);
        const bool newline = *p == '\n' || *p == '\r';
        if (after < end && !newline) {
            const auto second = peek(after, end);
            if (second.kind == CharClass::Letter) [[likely]]
                return run(CharClass::Letter, after + second.sizeBytes, end);
            if (*p == ' ' && second.kind == CharClass::Other)
                return symbols(after, end);
        }
        if (head.kind == CharClass::Other)
            return symbols(p, end);
        const auto found = spaces(p, end);
        if (kWholeTail && found.end == end)
            return end;
        return found.newline ? found.newline : spacePiece(p, end, found);
    }

private:
    const char* numbers(const char* p, const char* end) const
    {
        for (int count = 1; count < kDigits && p < end; ++count) {
            const auto c = peek(p, end);
            if (c.kind != CharClass::Number)
                break;
            p += c.sizeBytes;
        }
        return p;
    }

    const char* symbols(const char* p, const char* end) const
    {
        p = run(CharClass::Other, p, end);
        while (p < end && (*p == '\n' || *p == '\r'))
            ++p;
        return p;
    }

    static int contraction(const char* p, const char* end)
    {
        if (end - p < 2)
            return 0;
        const char a = static_cast<char>(p[1] | 32);
        if (a == 's' || a == 't' || a == 'm' || a == 'd')
            return 2;
        if (end - p < 3)
            return 0;
        if (p[1] == '\xC5' && p[2] == '\xBF')
            return 3; // U+017F, the long s, is an s when case is ignored
        const char b = static_cast<char>(p[2] | 32);
        return ((a == 'r' || a == 'v') && b == 'e') || (a == 'l' && b == 'l') ? 3 : 0;
    }
};

} // namespace furrow
