#pragma once

#include "core/base/result.h"
#include "core/tracker/types.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

namespace furrow {

/// The samples of some of the windows of a chunk, as the audit counts them: in proportion, where one ends in the middle
/// of a sample. @param windows  of the chunk
inline std::int64_t samplesOfWindows(std::int64_t some, std::int64_t samples, std::int64_t windows)
{
    const std::int64_t part = std::clamp<std::int64_t>(some, 0, std::max<std::int64_t>(0, windows));
    // A damaged tracker may have so many of both that their product does not fit.
    return windows > 0 ? samples / windows * part + samples % windows * part / windows : 0;
}

/// The samples of a chunk that the weights have of it: those that were left out by name take their share with them,
/// from a part as from the whole. The one rule behind every count of trained samples.
/// @param trained  windows in the weights @param skipped  windows that were left out by name @param windows  of it
inline std::int64_t samplesTrained(
    std::int64_t trained, std::int64_t skipped, std::int64_t samples, std::int64_t windows)
{
    return samplesOfWindows(trained + skipped, samples, windows) - samplesOfWindows(skipped, samples, windows);
}

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
    std::int64_t samplesOf(std::int64_t some) const { return samplesOfWindows(some, samples, windows); }
    /// Committed, and nothing of it is in the weights.
    bool isCommittedUntrained() const { return state == ChunkState::Committed && windowsSkipped() == windows; }
};
using SkippedChunks = std::shared_ptr<const std::vector<SkippedChunk>>; ///< ascending; never null

/// Of one chunk; 0: none of its windows was left out, or nothing is known (null).
std::int64_t windowsSkippedOf(const SkippedChunks& skipped, ChunkId chunk);

/// Looks at every part, but of a run that left nothing out and is at rest; a run that has nothing new is not looked at
/// again.
Result<SkippedChunks> skippedChunks(const std::filesystem::path& tracker);

} // namespace furrow
