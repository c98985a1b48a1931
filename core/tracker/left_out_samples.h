#pragma once

#include "core/base/result.h"
#include "core/tracker/types.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

namespace furrow {

/// A chunk with windows that were left out by name, because their steps were not finite: checkpoints count them as
/// done, and they are in no weights.
struct SkippedChunk {
    struct Windows {
        CheckpointId checkpoint; ///< that left them out
        std::int64_t count = 0;
        bool isAlive = true; ///< false: it does not survive, and they are to be trained again
    };
    ChunkId chunk;
    ChunkState state = ChunkState::Pending;
    std::int64_t windows = 0; ///< of the chunk, at least 1
    std::int64_t samples = 0; ///< to be trained, of the chunk
    std::vector<Windows> skipped; ///< by checkpoint

    /// Windows that are left out now.
    std::int64_t windowsSkipped() const;
    /// The samples of some of its windows, in proportion, as the audit counts them.
    std::int64_t samplesOf(std::int64_t some) const { return samples * some / windows; }
    /// Committed, and nothing of it is in the weights.
    bool isCommittedUntrained() const { return state == ChunkState::Committed && windowsSkipped() == windows; }
};
using SkippedChunks = std::shared_ptr<const std::vector<SkippedChunk>>; ///< ascending; never null

/// Looks at every part, but of a run that left nothing out and is at rest; a run that has nothing new is not looked at
/// again.
Result<SkippedChunks> skippedChunks(const std::filesystem::path& tracker);

} // namespace furrow
