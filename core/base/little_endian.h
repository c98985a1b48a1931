#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace furrow {

// Whole numbers as files have them, whatever the byte order of the machine.

template <typename Number> void appendLittleEndian(std::string& to, Number number)
{
    for (std::size_t i = 0; i < sizeof(Number); ++i)
        to += static_cast<char>((number >> (8 * i)) & 0xFFU);
}

/// @param at  the caller has checked that the bytes are there
template <typename Number> Number littleEndianAt(std::string_view bytes, std::size_t at)
{
    Number number = 0;
    for (std::size_t i = 0; i < sizeof(Number); ++i)
        number |= static_cast<Number>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
    return number;
}

} // namespace furrow
