#include "core/base/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace furrow {
namespace {

struct Piece {
    std::size_t length; ///< >= 1
    bool valid;
};

/// Second bytes allowed after a lead byte; the rest are always 0x80..0xBF.
struct Lead {
    std::size_t length;
    unsigned char low;
    unsigned char high;
};

Lead leadOf(unsigned char byte)
{
    if (byte >= 0xC2 && byte <= 0xDF)
        return { 2, 0x80, 0xBF };
    if (byte == 0xE0)
        return { 3, 0xA0, 0xBF };
    if (byte == 0xED)
        return { 3, 0x80, 0x9F };
    if (byte >= 0xE1 && byte <= 0xEF)
        return { 3, 0x80, 0xBF };
    if (byte == 0xF0)
        return { 4, 0x90, 0xBF };
    if (byte >= 0xF1 && byte <= 0xF3)
        return { 4, 0x80, 0xBF };
    if (byte == 0xF4)
        return { 4, 0x80, 0x8F };
    return { 1, 0, 0 };
}

/// The code point, or the maximal ill-formed piece, at the start of non-empty text.
Piece pieceAt(std::string_view text)
{
    const auto byteAt = [&](std::size_t index) { return static_cast<unsigned char>(text[index]); };
    if (byteAt(0) < 0x80)
        return { 1, true };
    const Lead lead = leadOf(byteAt(0));
    if (lead.length == 1)
        return { 1, false };
    for (std::size_t index = 1; index < lead.length; ++index) {
        const unsigned char low = index == 1 ? lead.low : 0x80;
        const unsigned char high = index == 1 ? lead.high : 0xBF;
        if (index >= text.size() || byteAt(index) < low || byteAt(index) > high)
            return { index, false };
    }
    return { lead.length, true };
}

/// Length of the ASCII run at the start, eight bytes at a time.
std::size_t asciiRun(std::string_view text)
{
    std::size_t length = 0;
    while (text.size() - length >= 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data() + length, 8);
        if (word & 0x8080808080808080)
            break;
        length += 8;
    }
    while (length < text.size() && static_cast<unsigned char>(text[length]) < 0x80)
        ++length;
    return length;
}

/// Length of the valid beginning.
std::size_t validRun(std::string_view text)
{
    std::size_t length = asciiRun(text);
    while (length < text.size()) {
        const Piece piece = pieceAt(text.substr(length));
        if (!piece.valid)
            return length;
        length += piece.length;
        length += asciiRun(text.substr(length));
    }
    return length;
}

} // namespace

bool isValidUtf8(std::string_view text) { return validRun(text) == text.size(); }

RepairedText replaceInvalidUtf8(std::string_view text)
{
    RepairedText repaired;
    repaired.text.reserve(text.size());
    while (!text.empty()) {
        const std::size_t valid = validRun(text);
        repaired.text.append(text.substr(0, valid));
        text.remove_prefix(valid);
        if (text.empty())
            break;
        repaired.text += "\xEF\xBF\xBD";
        ++repaired.replaced;
        text.remove_prefix(pieceAt(text).length);
    }
    return repaired;
}

std::size_t countCodePoints(std::string_view text)
{
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
}

std::string_view cutAtCodePoint(std::string_view text, std::size_t maxBytes)
{
    if (text.size() <= maxBytes)
        return text;
    std::size_t length = maxBytes;
    while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80)
        --length;
    return text.substr(0, length);
}

} // namespace furrow
