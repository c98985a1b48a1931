#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace furrow {

/// The alphabet of byte-level vocabularies: '!'..'~', A1..AC and AE..FF stand for themselves, the other 68 bytes are
/// U+0100 + n in order.
char32_t byteToAlphabet(unsigned char byte);
/// The bytes a vocabulary entry stands for, or nothing when it has a character outside the alphabet.
std::optional<std::string> bytesOfAlphabet(std::string_view text);
/// The entry that stands for the bytes.
std::string alphabetOfBytes(std::string_view bytes);

} // namespace furrow
