#pragma once

#include "core/base/hash.h"
#include "core/data/prepared_block.h"

#include <functional>

namespace furrow {

/// Writes a prepared block front to back (FORMAT.md). Not thread-safe.
class BlockWriter {
public:
    using Sink = std::function<Status(const void* data, std::size_t sizeBytes)>;

    BlockWriter(Sink sink, std::uint32_t vocabularySize, std::uint32_t chunkCount);

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
    std::vector<PreparedBlock::Entry> entries_;
};

} // namespace furrow
