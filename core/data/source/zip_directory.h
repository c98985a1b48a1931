#pragma once

#include "core/data/source/byte_source.h"

#include <functional>
#include <string_view>
#include <vector>

namespace furrow {

/// One file of a zip archive.
struct ZipEntry {
    std::string name; ///< as it stands there: any bytes
    std::uint64_t offset = 0; ///< of its data
    std::uint64_t packedBytes = 0;
    std::uint64_t sizeBytes = 0; ///< expanded
    std::uint32_t crc32 = 0; ///< of the expanded data
    std::uint16_t method = 0; ///< 0: stored, 8: deflate, ...
    bool encrypted = false;
    bool link = false;
};

/// The files that the central directory lists (also zip64), in its order, without folders. The data of a file must lie
/// where the directory says, under the same name, and that of no two may overlap: else the archive is Corrupt.
/// @param isWanted  by its name; what is not wanted is left out and not looked at
/// @param name  for messages
Result<std::vector<ZipEntry>> readZipDirectory(
    const ByteSource& source, const std::string& name, const std::function<bool(std::string_view)>& isWanted);

/// How many bytes stand before the zip archive that a file ends with, as in one that unpacks itself; 0: none, or it
/// ends as none.
Result<std::uint64_t> bytesBeforeZip(const ByteSource& source);

} // namespace furrow
