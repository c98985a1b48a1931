#pragma once

#include "core/tracker/types.h"

namespace furrow {

/// What the claim order of a run depends on, beside the place of a chunk. Fixed when the run is made.
struct OrderRule {
    std::uint64_t seed = 0;
    std::int64_t windowBlocks = 4; ///< blocks whose chunks are mixed in epoch 0; below 1 counts as 1
    bool linear = false; ///< source order in every epoch
};

/// Place of a chunk in the claim order of its epoch: lower is earlier, equal ones go by chunk id. A pure function, so it
/// does not matter when a block becomes known, who trains, or how often a run was resumed. Epoch 0 goes through the
/// source in groups of `windowBlocks` blocks with the chunks of a group shuffled; later epochs shuffle everything.
/// @return in [0, 2^62)
std::int64_t claimOrder(const OrderRule& rule, const ChunkPlace& place);

} // namespace furrow
