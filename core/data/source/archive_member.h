#pragma once

#include "core/data/source/byte_source.h"

#include <optional>

namespace furrow {

/// Where a file lies inside an archive (zip, tar). Frozen with the run.
struct ArchiveMember {
    std::string archive; ///< path of the archive
    std::uint64_t archiveBytes = 0;
    Compression archivePacking
        = Compression::None; ///< of the archive as a whole (.tar.gz); offsets are those of what comes out
    std::uint64_t offset = 0;
    std::uint64_t packedBytes = 0;
    Compression packing = Compression::None; ///< of this file inside the archive (zip)
    std::uint64_t sizeBytes = 0; ///< when it is unpacked
    std::optional<std::uint32_t> crc32; ///< of what comes out, where the archive tells it (zip)

    /// Its bytes stand in the expanded archive as they are, and nothing is to be checked.
    bool isStoredPlain() const { return packing == Compression::None && !crc32; }
    bool operator==(const ArchiveMember&) const = default;
};

/// The file as it was before it was packed, from its beginning. Another size or checksum than the archive promises is
/// Corrupt.
/// @param archive  as stored; already expanded when `member.archivePacking` is None
/// @param name  for messages
std::unique_ptr<ByteStream> memberStream(
    const std::shared_ptr<const ByteSource>& archive, const ArchiveMember& member, const std::string& name);
/// The same out of the expanded archive from byte `at` on, which is not behind the file.
std::unique_ptr<ByteStream> memberStream(
    std::unique_ptr<ByteStream> expanded, std::uint64_t at, const ArchiveMember& member, const std::string& name);

} // namespace furrow
