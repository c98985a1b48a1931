#pragma once

#include "core/data/source/byte_source.h"

#include <optional>

namespace furrow {

/// One message of Arrow's IPC format.
struct ArrowFrame {
    enum class Kind { Schema, Dictionary, Batch, Other };
    Kind kind = Kind::Other;
    std::uint64_t rows = 0; ///< of a batch
    std::uint64_t bodyBytes = 0;
    std::string metadata; ///< a flatbuffer
};

/// Walks over the messages of an Arrow stream without looking into bodies, so that a row is found without reading those
/// before it. An Arrow file (Feather 2) holds a stream behind its first 8 bytes. Needs no Arrow library. Not
/// thread-safe. Wrong messages and an end in the middle are Corrupt.
class ArrowFrames {
public:
    /// @param name  for messages
    /// @param endIsMarked  the stream must say where it ends (in files); else it may also just end
    ArrowFrames(std::unique_ptr<ByteStream> stream, std::string name, bool endIsMarked);

    /// The next message; nothing at the end. A body that was not read is stepped over.
    Result<std::optional<ArrowFrame>> next();
    /// The whole body of the message that next() gave last, at most once. @param into  has its size
    Status readBody(std::span<char> into);

private:
    Error cut() const;
    Error damaged(const Message& why) const;

    std::unique_ptr<ByteStream> stream_;
    std::string name_;
    bool endIsMarked_;
    std::uint64_t at_ = 0; ///< in the stream
    std::uint64_t body_ = 0; ///< bytes of it that were not read
    bool atEnd_ = false;
};

} // namespace furrow
