#pragma once

#include "core/base/result.h"
#include "core/tracker/types.h"

#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

namespace furrow {

/// What a ledger has of the samples of a chunk as their fingerprint (PreparedChunk::digest).
using ChunkDigest = std::pair<ChunkId, std::uint64_t>;

/// Of the chunks of blocks that were prepared once, but for those that are committed; by id.
Result<std::vector<ChunkDigest>> untrainedDigests(const std::filesystem::path& tracker);

} // namespace furrow
