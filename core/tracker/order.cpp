#include "core/tracker/order.h"

#include "core/base/random.h"

#include <algorithm>

namespace furrow {

std::int64_t claimOrder(const OrderRule& rule, const ChunkPlace& place)
{
    if (rule.linear)
        return place.block * kMaxChunksPerBlock + place.column;
    const std::uint64_t hash = mixSeed({ rule.seed, static_cast<std::uint64_t>(place.epoch),
        static_cast<std::uint64_t>(place.block), static_cast<std::uint64_t>(place.column) });
    if (place.epoch > 0)
        return static_cast<std::int64_t>(hash >> 2);
    // 34 bits inside the group: two of a thousand chunks tie once in 30,000 groups, and a tie is harmless.
    const std::int64_t group = place.block / std::max<std::int64_t>(1, rule.windowBlocks);
    return (group << 34) | static_cast<std::int64_t>(hash >> 30);
}

} // namespace furrow
