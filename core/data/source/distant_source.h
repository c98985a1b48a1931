#pragma once

#include "core/data/source/byte_source.h"

#include <string_view>

namespace furrow {

/// A file of a server or of a store of objects, outside of the hub.
inline bool isWebPath(std::string_view path)
{
    return path.starts_with("https://") || path.starts_with("http://") || path.starts_with("s3://")
        || path.starts_with("gs://");
}
inline bool isHubPath(std::string_view path) { return path.starts_with("hf://"); }
/// Not on this disk.
inline bool isDistantPath(std::string_view path) { return isHubPath(path) || isWebPath(path); }

struct ByteRange {
    std::uint64_t offset = 0;
    std::uint64_t sizeBytes = 0;
    std::uint64_t end() const { return offset + sizeBytes; }
};

/// However large it is.
inline constexpr ByteRange kWholeFile { 0, UINT64_MAX };

enum class Need {
    Stretch, ///< what follows in the stretch is needed too
    Little, ///< what follows may be jumped over
};

/// A source that is far away: it fetches by pieces and keeps them. Const methods are thread-safe.
class DistantSource : public ByteSource {
public:
    /// As readAt, inside a stretch that is needed as a whole, sooner or later: a column of a row group. It is fetched
    /// by pieces that begin where it begins, and nothing beyond it.
    virtual Status readIn(const ByteRange& stretch, std::uint64_t offset, std::span<std::byte> into, Need need) const
        = 0;
    /// What was read of this part cannot be what the file holds: what was kept of it is fetched anew.
    /// @param page  in which that was found: all of the part, or some of it
    virtual void distrust(const ByteRange& part, const ByteRange& page) const = 0;
};

} // namespace furrow
