#pragma once

#include "core/data/prepared_block.h"
#include "core/run/run_paths.h"

#include <string>
#include <vector>

namespace furrow {

/// One sample as it is trained, with where it came from.
struct SampleView {
    std::int64_t index = 0; ///< inside the chunk
    std::string file; ///< path or address of the hub
    std::int64_t row = 0; ///< inside the file, from 0
    std::uint64_t fingerprint = 0; ///< of the text: what a quarantine list names
    std::uint8_t flags = 0; ///< SampleFlag bits
    std::vector<std::uint32_t> tokens;
    std::string text; ///< decoded from the tokens
};

struct ChunkView {
    std::int64_t block = 0;
    std::int32_t column = 0;
    ChunkSummary summary;
    std::int64_t stored = 0; ///< samples the block holds; filtered and unreadable rows have none
    std::vector<SampleView> samples;
};

/// Which samples of a chunk are wanted.
struct ChunkPart {
    std::int64_t block = 0;
    std::int32_t column = 0;
    std::int64_t first = 0;
    std::int64_t count = INT64_MAX;
};

/// Brings samples of a chunk back to text. Reads the prepared block; one that is not in the cache now is prepared again
/// from the source. May be called while the run trains.
Result<ChunkView> viewChunk(const RunPaths& paths, const ChunkPart& part);

} // namespace furrow
