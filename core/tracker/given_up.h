#pragma once

#include "core/base/sentence.h"
#include "core/tracker/types.h"

#include <span>

namespace furrow {

/// Why a training left the weights when the run went back to an older checkpoint; else the cause is what is wrong with
/// the checkpoint that had it.
inline constexpr SentenceText kLeftByGoingBack("left out: the run went back to %1");

/// A chunk of which a checkpoint had what was trained last, and does not survive (LedgerReader::givenUpByCheckpoints).
struct GivenUpChunk {
    ChunkId chunk;
    bool wentBack
        = false; ///< the run went back to an older one; else that checkpoint was damaged, gone or left out of a merge
};

/// @param all  as LedgerReader::givenUpByCheckpoints() gave them; null: the chunk is none of them
const GivenUpChunk* findGivenUp(std::span<const GivenUpChunk> all, ChunkId chunk);

} // namespace furrow
