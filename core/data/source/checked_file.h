#pragma once

#include "core/data/source/byte_source.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace furrow {

// A file that can be read from any place and knows each time whether it still holds what was written: the bytes, then
// the XXH3 of each piece of them, then a trailer. For texts in the cache that are too large to be hashed at each use.

inline constexpr std::size_t kCheckedPieceBytes = 1 << 20; ///< the last piece may be shorter

/// What stands behind the bytes.
/// @param sums  XXH3 of each piece
std::string checkedTrailer(std::span<const std::uint64_t> sums, std::uint64_t sizeBytes);

/// The bytes without what stands behind them. Corrupt: it is damaged, by its trailer at once, else by the piece when
/// that is read. Thread-safe.
Result<std::shared_ptr<const ByteSource>> openChecked(const std::filesystem::path& path);
/// Reads all of it.
Status verifyChecked(const std::filesystem::path& path);
/// Whether it holds the bytes of the stream, to the end.
Result<bool> holdsAllOf(const std::filesystem::path& path, ByteStream& stream);

} // namespace furrow
