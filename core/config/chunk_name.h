#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace furrow {

/// A chunk of the data set as people write it: "3:17" is chunk 17 of block 3, both from 0.
struct ChunkName {
    std::int64_t block = 0;
    std::int32_t column = 0;
    bool operator==(const ChunkName&) const = default;
    bool operator<(const ChunkName& other) const
    {
        return block != other.block ? block < other.block : column < other.column;
    }
};

/// Nothing when the text is not BLOCK:CHUNK.
std::optional<ChunkName> parseChunkName(std::string_view text);

} // namespace furrow
