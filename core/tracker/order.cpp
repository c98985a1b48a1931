#include "core/tracker/order_group.h"

#include "core/base/random.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace furrow {

namespace {

constexpr int kGroupBits
    = 34; ///< inside a group: two of a thousand chunks tie once in 30,000 groups, and a tie is harmless

/// Of one part of an epoch, which begins with block `from`.
std::int64_t orderInPart(const OrderRule& rule, const ChunkPlace& place, std::int64_t blocks, std::int64_t from)
{
    if (rule.linear)
        return place.block * kMaxChunksPerBlock + place.column;
    const auto epoch = static_cast<std::uint64_t>(place.epoch);
    std::int64_t window = std::max<std::int64_t>(1, rule.windowBlocks);
    std::int64_t position = place.block - from;
    if (place.epoch > 0 && place.block < blocks) {
        position = static_cast<std::int64_t>(permuted(static_cast<std::uint64_t>(place.block),
            static_cast<std::uint64_t>(blocks), mixSeed({ rule.seed, epoch })));
        const std::int64_t groups = (blocks + window - 1) / window;
        window = (blocks + groups - 1) / groups; // equal groups: a last one of a single block would not be mixed
    }
    const std::uint64_t hash = mixSeed(
        { rule.seed, epoch, static_cast<std::uint64_t>(place.block), static_cast<std::uint64_t>(place.column) });
    return (position / window << kGroupBits) | static_cast<std::int64_t>(hash >> (64 - kGroupBits));
}

} // namespace

std::int64_t groupOf(const OrderRule& rule, std::int64_t claimOrder)
{
    return rule.linear ? claimOrder / kMaxChunksPerBlock : claimOrder >> kGroupBits;
}

std::int64_t claimOrder(const OrderRule& rule, const ChunkPlace& place, std::int64_t blocks)
{
    if (!rule.start || place.epoch > 0)
        return orderInPart(rule, place, blocks, 0);
    const ChunkName here { place.block, place.column };
    if (here == *rule.start)
        return 0;
    const bool isBehind = std::pair(here.block, here.column) > std::pair(rule.start->block, rule.start->column);
    return isBehind ? orderInPart(rule, place, blocks, rule.start->block)
                    : kBeforeStart + orderInPart(rule, place, blocks, 0);
}

double mixingScore(const OrderRule& rule, std::int64_t epoch, std::int64_t blocks, std::int64_t chunksPerBlock)
{
    constexpr std::int64_t kMost = 1 << 16;
    blocks = std::min(blocks, kMost);
    chunksPerBlock = std::clamp<std::int64_t>(
        chunksPerBlock, 1, std::max<std::int64_t>(1, kMost / std::max<std::int64_t>(1, blocks)));
    struct Placed {
        std::int64_t order;
        std::int64_t source;
    };
    std::vector<Placed> chunks;
    for (std::int64_t b = 0; b < blocks; ++b)
        for (std::int64_t c = 0; c < chunksPerBlock; ++c)
            chunks.push_back(
                { claimOrder(rule, { epoch, b, static_cast<std::int32_t>(c) }, blocks), b * chunksPerBlock + c });
    if (chunks.size() < 2)
        return 1;
    std::sort(chunks.begin(), chunks.end(),
        [](const Placed& a, const Placed& b) { return std::pair(a.order, a.source) < std::pair(b.order, b.source); });
    double sum = 0;
    for (std::size_t i = 1; i < chunks.size(); ++i)
        sum += std::abs(static_cast<double>(chunks[i].source - chunks[i - 1].source));
    const double expected = (static_cast<double>(chunks.size()) + 1) / 3; // of two different places drawn at random
    return std::min(1.0, sum / static_cast<double>(chunks.size() - 1) / expected);
}

} // namespace furrow
