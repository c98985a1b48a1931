#pragma once

#include "core/data/source/byte_source.h"

#include <optional>

namespace furrow {

/// One entry of a tar archive.
struct TarEntry {
    enum class Kind { File, Folder, Link, Sparse, Other };
    Kind kind = Kind::Other;
    std::string name; ///< as it stands there: any bytes
    std::uint64_t begin = 0; ///< of its first header, with those that only lengthen its name
    std::uint64_t offset = 0; ///< of its data
    std::uint64_t sizeBytes = 0; ///< of its data as stored
};

/// Walks over the entries of a tar archive (v7, ustar, pax, GNU long names) in bounded memory. Not thread-safe.
/// Wrong headers and an archive that is cut off are Corrupt, with the place; an error of the stream is given back as it
/// is.
class TarReader {
public:
    /// @param begin  offset of the first byte of `stream` in the archive: the begin of an entry
    /// @param name  for messages
    TarReader(std::unique_ptr<ByteStream> stream, std::string name, std::uint64_t begin = 0);

    /// The next entry; nothing at the end of the archive. What was not read of the one before is stepped over.
    Result<std::optional<TarEntry>> next();
    /// Where what next() gave last begins: the entry, or the mark of the end. Another reader can go on there.
    std::uint64_t place() const { return begin_; }
    /// Data of the entry that next() gave last; 0 at its end.
    Result<std::size_t> read(std::span<char> into);

private:
    struct Extra; ///< what headers before that of the entry say of it

    Result<bool> readHeader(std::span<char> header);
    Status checkNothingFollows();
    Status fill(std::span<char> into);
    Status stepOver(std::uint64_t size);
    Status stepOverHoles(std::string_view header);
    Status readLongName(const TarEntry& entry, std::string& name);
    Status readPax(const TarEntry& entry, Extra& extra);
    Error cut() const;
    Error damaged(const Message& why) const;

    std::unique_ptr<ByteStream> stream_;
    std::string name_;
    std::uint64_t at_; ///< in the archive
    std::uint64_t begin_ = 0;
    std::uint64_t left_ = 0; ///< of the data of the entry
    std::uint64_t padding_ = 0; ///< behind it
    bool atEnd_ = false;
};

/// These 512 bytes are the header of a tar entry: their checksum is right.
bool isTarHeader(std::string_view block);

} // namespace furrow
