#pragma once

#include "core/base/hash.h"
#include "core/data/block/prepared_block.h"

#include <functional>

namespace furrow {

/// Bytes of one stored token id: two where every id of the vocabulary fits.
constexpr int tokenBytesOf(std::uint32_t vocabularySize) { return vocabularySize <= 65536 ? 2 : 4; }
/// Bytes that so many samples and tokens take in prepared blocks, without the fixed part of a block.
double estimatedBlockBytes(double samples, double tokens, std::uint32_t vocabularySize);

/// What a block says beyond what plain text needs. Without any of it the block is of version 1.
struct BlockExtras {
    bool isMasked = false; ///< which tokens are learnt
    bool countsLong = false; ///< how many samples are longer than a window
    bool countsDropped = false; ///< how many characters have no token
};

/// Writes a prepared block front to back (FORMAT.md). Not thread-safe.
class BlockWriter {
public:
    using Sink = std::function<Status(const void* data, std::size_t sizeBytes)>;

    /// @param key  32 hex digits, the name that the block is made for; "": none
    BlockWriter(Sink sink, std::uint32_t vocabularySize, std::uint32_t chunkCount, BlockExtras extras = {},
        std::string key = {});

    Status begin();
    Status addChunk(const ChunkText& text, const ChunkSummary& summary);
    /// @return the digest of the block
    Result<std::string> finish(const std::vector<RowIssue>& issues);

private:
    Status put(const void* data, std::size_t sizeBytes);

    Sink sink_;
    Sha256 content_;
    std::uint64_t offset_ = 0;
    std::uint32_t vocabularySize_;
    std::uint32_t chunkCount_;
    int tokenBytes_;
    BlockExtras extras_;
    std::string key_;
    std::uint32_t version_;
    std::vector<PreparedBlock::Entry> entries_;
};

} // namespace furrow
