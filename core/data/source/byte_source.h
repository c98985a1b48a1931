#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace furrow {

/// Bytes that can be read at any offset: a local file, or a file of the hub. Const methods are thread-safe.
class ByteSource {
public:
    virtual ~ByteSource() = default;
    virtual std::uint64_t sizeBytes() const = 0;
    /// Fills `into` completely or fails.
    virtual Status readAt(std::uint64_t offset, std::span<std::byte> into) const = 0;
};

/// A regular local file; anything else (folder, pipe, device) is refused.
Result<std::shared_ptr<const ByteSource>> openLocalSource(const std::filesystem::path& path);

/// Bytes from the first to the last, once. Not thread-safe.
class ByteStream {
public:
    virtual ~ByteStream() = default;
    /// Up to into.size() bytes; 0 only at a definite end.
    virtual Result<std::size_t> read(std::span<char> into) = 0;
    /// Steps over so many bytes; fewer only at a definite end. @return how many
    virtual Result<std::uint64_t> skip(std::uint64_t size);
};

std::unique_ptr<ByteStream> streamFrom(std::shared_ptr<const ByteSource> source, std::uint64_t offset);
/// The bytes [offset, offset + sizeBytes) of another source, which has them.
std::shared_ptr<const ByteSource> sliceOf(
    std::shared_ptr<const ByteSource> source, std::uint64_t offset, std::uint64_t sizeBytes);
/// Bytes in memory.
std::shared_ptr<const ByteSource> memorySource(std::string bytes);
/// Reads until `into` is full or the stream is at its end. @return how many bytes
Result<std::size_t> readFully(ByteStream& stream, std::span<char> into);

enum class Compression { None, Gzip, Zstd, Xz, Bzip2, Deflate }; ///< the last one inside zip archives only
inline constexpr Compression kCompressions[] = { Compression::None, Compression::Gzip, Compression::Zstd,
    Compression::Xz, Compression::Bzip2, Compression::Deflate };
std::string toString(Compression compression);

/// Expands all members, frames or streams of a file one after the other. A file that ends in the middle is Corrupt; one
/// that expands more than kMaxExpansion times, or that needs more than 128 MiB of memory, is InvalidArgument.
/// @param name  for messages
std::unique_ptr<ByteStream> expandedStream(
    std::unique_ptr<ByteStream> packed, Compression compression, const std::string& name);

inline constexpr std::uint64_t kMaxExpansion = 200;
/// Expansion is not judged before this many bytes have come out.
inline constexpr std::uint64_t kExpansionGrace = 64ull << 20;

} // namespace furrow
