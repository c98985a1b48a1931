#pragma once

#include "core/data/block/block_writer.h"
#include "core/data/plan/chunk_collector.h"
#include "core/data/plan/sample_encoder.h"

#include <functional>

namespace furrow {

struct BlockContent {
    std::string digest;
    std::vector<ChunkSummary> chunks;
    std::uint64_t sourceBytes = 0;
};

/// Makes one prepared block: rows are read ahead by one chunk on a second thread while this one tokenises.
/// @param key  of the block in the cache; "": it is not kept
/// @param collector  only used by this call until it returns
/// @param goOn  asked between chunks, may be empty; false is Cancelled
Result<BlockContent> prepareBlock(const PlannedBlock& block, ChunkCollector& collector, const SampleEncoder& encoder,
    const std::string& key, const BlockWriter::Sink& sink, const std::function<bool()>& goOn);

/// Tokenises the samples of a chunk, large ones on two threads; fills tokens, what is learnt of them, offsets and
/// summary. An error names the sample that has no certain ids; one that is left out of training anyway then has no
/// tokens, nor has a conversation that cannot be written.
Status encodeChunk(RawChunk& chunk, const SampleEncoder& encoder);

} // namespace furrow
