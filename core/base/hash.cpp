#include "core/base/hash.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/sentence.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <vector>

namespace furrow {

std::string sha256Hex(std::string_view bytes)
{
    Sha256 hash;
    hash.update(bytes);
    return hash.hex();
}

Result<std::string> sha256File(const std::filesystem::path& path, const std::stop_token& stop,
    const std::function<void(std::string_view)>& onBytes)
{
    FURROW_TRY_ASSIGN(auto file, RandomAccessFile::open(path));
    constexpr std::uint64_t kPieceBytes = 1 << 20;
    std::vector<std::byte> piece(std::min(kPieceBytes, file.sizeBytes()));
    Sha256 hash;
    for (std::uint64_t offset = 0; offset < file.sizeBytes();) {
        if (stop.stop_requested())
            return Error { ErrorCode::Cancelled, sentence("Reading %1 was stopped.", { utf8Text(path) }) };
        const auto part = std::span(piece).first(std::min<std::uint64_t>(piece.size(), file.sizeBytes() - offset));
        FURROW_TRY(file.readAt(offset, part));
        hash.update(part.data(), part.size());
        offset += part.size();
        if (onBytes)
            onBytes({ reinterpret_cast<const char*>(part.data()), part.size() });
    }
    return hash.hex();
}

std::uint64_t xxh3(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::uint64_t xxh3(std::string_view bytes, std::uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

} // namespace furrow
