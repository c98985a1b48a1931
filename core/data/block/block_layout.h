#pragma once

#include "core/base/hash.h"
#include "core/data/source/cache_magic.h"

#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

/// Sizes and helpers shared by reader and writer of prepared blocks. FORMAT.md is the description. Not for other
/// folders.
namespace furrow::layout {

static_assert(std::endian::native == std::endian::little, "the format is little-endian and read without conversion");

inline constexpr std::string_view kMagic = kBlockMagic;
inline constexpr std::string_view kEndMagic = "FURROWEN";
inline constexpr std::uint32_t kVersion = 3; ///< the newest; blocks of plain text are of version 1
inline constexpr std::uint32_t kFlagMasked = 1; ///< from version 2 on: sections say which tokens are learnt
inline constexpr std::uint64_t kHeaderBytes = 64;
inline constexpr std::uint64_t kKeyOffset = 32; ///< in the header, of the key
inline constexpr std::uint64_t kKeyBytes = 16;
inline constexpr std::uint64_t kTrailerBytes = 32;
constexpr std::uint64_t entryBytes(std::uint32_t version) { return (version == 1 ? 16 : version == 2 ? 18 : 19) * 8; }
inline constexpr std::uint64_t kShaBytes = 64; ///< as hex digits

inline constexpr std::uint64_t padded(std::uint64_t size) { return (size + 7) / 8 * 8; }

/// Bytes of a chunk section, or 0 when the counts cannot be true for any file.
inline constexpr std::uint64_t sectionBytes(std::uint64_t samples, std::uint64_t tokens, int tokenBytes, bool isMasked)
{
    constexpr std::uint64_t kMost = 1ull << 40;
    if (samples > kMost || tokens > kMost)
        return 0;
    return padded(tokens * static_cast<std::uint64_t>(tokenBytes)) + (isMasked ? padded((tokens + 7) / 8) : 0)
        + padded(samples * 4) + samples * 8 + samples * 8 + padded(samples * 4) + padded(samples);
}

template <typename T> void putValue(std::string& out, T value)
{
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// Reads values one after the other; the caller has checked the size.
class Cursor {
public:
    explicit Cursor(const char* data)
        : data_(data)
    {
    }
    template <typename T> T take()
    {
        T value;
        std::memcpy(&value, data_, sizeof value);
        data_ += sizeof value;
        return value;
    }
    const char* data() const { return data_; }
    void skip(std::uint64_t n) { data_ += n; }

private:
    const char* data_;
};

/// The bytes of 32 hex digits.
inline std::string keyBytes(std::string_view hex)
{
    std::string bytes;
    for (std::size_t at = 0; at + 2 <= hex.size(); at += 2) {
        std::uint8_t byte = 0;
        std::from_chars(hex.data() + at, hex.data() + at + 2, byte, 16);
        bytes.push_back(static_cast<char>(byte));
    }
    bytes.resize(kKeyBytes, '\0');
    return bytes;
}

/// A header with another key, and its checksum.
inline std::string headerWith(std::string header, std::string_view key)
{
    header.replace(kKeyOffset, kKeyBytes, key);
    header.resize(kHeaderBytes - 8);
    putValue(header, xxh3(header));
    return header;
}
/// The digest of a block is made of its header without the key: blocks of before had none.
inline std::string headerWithoutKey(std::string header)
{
    return headerWith(std::move(header), std::string(kKeyBytes, '\0'));
}

} // namespace furrow::layout
