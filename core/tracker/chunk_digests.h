#pragma once

#include "core/base/message.h"
#include "core/base/result.h"
#include "core/tracker/types.h"

#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

namespace furrow {

/// What a ledger has of the samples of a chunk as their fingerprint (PreparedChunk::digest).
using ChunkDigest = std::pair<ChunkId, std::uint64_t>;

/// Of the chunks of blocks that were prepared once, but for those that are committed; by id.
Result<std::vector<ChunkDigest>> untrainedDigests(const std::filesystem::path& tracker);

/// For a repair of a tracker that nobody else writes: what was proven to be right. One transaction, with an event.
/// @param cause  of the event
Status storeDigests(const std::filesystem::path& tracker, std::span<const ChunkDigest> digests, const Message& cause);

} // namespace furrow
