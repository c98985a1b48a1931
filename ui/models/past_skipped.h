#pragma once

#include "ui/models/past_parts.h"
#include "ui/models/past_sources.h"

#include <cstdint>
#include <map>
#include <vector>

namespace furrow {

/// What checkpoints had left out by a moment, as their steps were not finite.
class SkippedThen {
public:
    SkippedThen(std::int64_t wallNs, const LedgerTables* tables, const std::vector<Replay::Left>& left);
    /// All of which a checkpoint left out something, then or later.
    const std::vector<SkippedChunk>& chunks() const;
    /// Left out then.
    std::int64_t windowsOf(const SkippedChunk& chunk) const;
    std::int64_t windowsOf(ChunkId chunk) const; ///< the same; 0: none of it was

private:
    PartsThen parts_;
    SkippedChunks chunks_; ///< null: none is known
};

/// Tells samples of committed chunks that were left out from trained ones, as readStatus() does. The claims have those
/// that were trained, so what was left out is what the chunks have beside them. Of others countApart() tells.
void takeSkippedBack(RunStatus& status, std::int64_t wallNs, const PastSources& sources);

} // namespace furrow
