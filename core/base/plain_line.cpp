#include "core/base/plain_line.h"

#include "core/base/terminal.h"
#include "core/base/utf8.h"

#include <utility>

namespace furrow {
namespace {

constexpr std::string_view kUnknown = "\xEF\xBF\xBD"; // U+FFFD

bool isControl(unsigned char byte) { return byte < 0x20 || byte == 0x7F; }

/// U+2400 to U+241F show the control characters, U+2421 shows DEL.
std::string pictureOf(unsigned char control)
{
    return std::string("\xE2\x90") + static_cast<char>(0x80 + (control == 0x7F ? 0x21 : control));
}

/// How many bytes at the start of valid text are a code point that a terminal obeys or that reorders a line: C1 (U+0080
/// to U+009F), U+061C, U+200E, U+200F, U+2028 to U+202E and U+2066 to U+2069. 0 for all others.
std::size_t unprintableAt(std::string_view text)
{
    const auto byteAt = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0; };
    if (byteAt(0) == 0xC2 && byteAt(1) >= 0x80 && byteAt(1) <= 0x9F)
        return 2;
    if (byteAt(0) == 0xD8 && byteAt(1) == 0x9C)
        return 2;
    const int last = byteAt(2);
    if (byteAt(0) == 0xE2 && byteAt(1) == 0x80 && (last == 0x8E || last == 0x8F || (last >= 0xA8 && last <= 0xAE)))
        return 3;
    return byteAt(0) == 0xE2 && byteAt(1) == 0x81 && last >= 0xA6 && last <= 0xA9 ? 3 : 0;
}

std::string shown(std::string_view text)
{
    const std::string valid = replaceInvalidUtf8(text).text;
    std::string result;
    result.reserve(valid.size());
    for (std::size_t i = 0; i < valid.size();) {
        const auto byte = static_cast<unsigned char>(valid[i]);
        if (isControl(byte)) {
            result += pictureOf(byte);
            ++i;
        } else if (const auto length = unprintableAt(std::string_view(valid).substr(i)); length > 0) {
            result += kUnknown;
            i += length;
        } else {
            result += valid[i++];
        }
    }
    return result;
}

} // namespace

std::string plainLine(std::string_view text, std::size_t maxBytes)
{
    return text.size() > maxBytes ? shown(cutAtCodePoint(text, maxBytes)) + "..." : shown(text);
}

std::string TerminalText::next(std::string_view piece)
{
    constexpr unsigned char kLead = 0xC2;
    std::string result;
    result.reserve(piece.size());
    for (const char c : piece) {
        const auto byte = static_cast<unsigned char>(c);
        if (lead_ && byte >= 0x80 && byte <= 0x9F) {
            lead_ = false;
            result += kUnknown;
            continue;
        }
        result += end();
        if (byte == kLead)
            lead_ = true;
        else if (isControl(byte) && c != '\n' && c != '\t')
            result += pictureOf(byte);
        else
            result += c;
    }
    return result;
}

std::string TerminalText::end() { return std::exchange(lead_, false) ? "\xC2" : ""; }

} // namespace furrow
