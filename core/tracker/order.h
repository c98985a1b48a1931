#pragma once

#include "core/config/chunk_name.h"
#include "core/tracker/types.h"

namespace furrow {

/// What the claim order of a run depends on, beside the place of a chunk. Fixed when the run is made.
struct OrderRule {
    std::uint64_t seed = 0;
    std::int64_t windowBlocks = 4; ///< blocks whose chunks are mixed; below 1 counts as 1
    bool linear = false; ///< source order in every epoch
    std::optional<ChunkName> start {}; ///< the chunk that epoch 0 begins with; none: wherever the order begins
};

/// Everything that lies before the start of epoch 0 has this place in the claim order, or a later one.
inline constexpr std::int64_t kBeforeStart = std::int64_t { 1 } << 61;

/// Place of a chunk in the claim order of its epoch: lower is earlier, equal ones go by chunk id. A pure function, so
/// it does not matter who trains or how often a run was resumed. The blocks of an epoch form groups, whose chunks are
/// shuffled: only a group and the next one need to be prepared at a time, whatever the size of the data. Epoch 0 takes
/// the blocks in source order, later epochs in a permutation of all blocks. With a `start`, epoch 0 has three parts:
/// that chunk, what lies behind it in the source (its groups are counted from there), what lies before it.
/// @param blocks  of the data set when their number is proven, else 0: then the order is that of epoch 0
/// @return in [0, 2^62)
std::int64_t claimOrder(const OrderRule& rule, const ChunkPlace& place, std::int64_t blocks);

/// How well an epoch mixes the data: mean distance in the source of two chunks that follow each other in the claim
/// order, as a share of what a permutation of all chunks would give. 1: as well as that, or better by chance; about
/// 1 - 1/windowBlocks for large data; near 0 for source order. Counted over the order itself, of at most 65,536 chunks;
/// some milliseconds.
/// @return in [0, 1]
double mixingScore(const OrderRule& rule, std::int64_t epoch, std::int64_t blocks, std::int64_t chunksPerBlock);

} // namespace furrow
