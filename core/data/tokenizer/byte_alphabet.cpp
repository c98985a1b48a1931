#include "core/data/tokenizer/byte_alphabet.h"

#include "core/data/tokenizer/unicode_classes.h"

#include <array>

namespace furrow {

namespace {

constexpr int kSize = 0x100 + 68;

struct Alphabet {
    std::array<char32_t, 256> ofByte {};
    std::array<int, kSize> toByte {};
};

constexpr Alphabet makeAlphabet()
{
    Alphabet made;
    for (auto& byte : made.toByte)
        byte = -1;
    char32_t next = 0x100;
    for (char32_t b = 0; b < 256; ++b) {
        const bool itself = (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
        made.ofByte[b] = itself ? b : next++;
        made.toByte[made.ofByte[b]] = static_cast<int>(b);
    }
    return made;
}
constexpr Alphabet kAlphabet = makeAlphabet();

} // namespace

char32_t byteToAlphabet(unsigned char byte) { return kAlphabet.ofByte[byte]; }

std::optional<std::string> bytesOfAlphabet(std::string_view text)
{
    std::string bytes;
    const char* end = text.data() + text.size();
    for (const char* p = text.data(); p < end;) {
        const auto c = decodeChar(p, end);
        p += c.sizeBytes;
        if (c.codePoint >= kSize || kAlphabet.toByte[c.codePoint] < 0)
            return {};
        bytes.push_back(static_cast<char>(kAlphabet.toByte[c.codePoint]));
    }
    return bytes;
}

std::string alphabetOfBytes(std::string_view bytes)
{
    std::string text;
    for (const char byte : bytes)
        appendUtf8(text, byteToAlphabet(static_cast<unsigned char>(byte)));
    return text;
}

} // namespace furrow
