#include "core/run/supervise/merge_timer.h"

#include <algorithm>

namespace furrow {

namespace {
constexpr int kMergesPerEpoch = 10;
constexpr std::int64_t kLeastStepsBetweenMerges = 250; // of each worker; why: core/train/loop/README.md, Merges
constexpr std::int64_t kChunksBetweenMergesUnknownEnd = 100;
} // namespace

MergeTimer::MergeTimer(const RunConfig& config, int workers, std::int64_t tokensNow)
    : wanted_(workers > 1 && config.merge != MergeMethod::None)
    , mergeTokens_(config.mergeTokens)
    , leastTokens_(kLeastStepsBetweenMerges * workers * config.batchSize * config.gradAccum * config.seqLen)
    , lastTokens_(tokensNow)
{
}

std::int64_t MergeTimer::interval(std::int64_t tokensNow, const EpochRow& epoch) const
{
    if (mergeTokens_ > 0)
        return mergeTokens_;
    const auto done
        = epoch.chunks[ChunkState::Trained] + epoch.chunks[ChunkState::Committed] + (epoch.epoch * epoch.chunks.sum());
    if (done == 0)
        return 0;
    const double tokensPerChunk = static_cast<double>(tokensNow) / static_cast<double>(done);
    const auto chunks = epoch.blockCount ? std::max<std::int64_t>(epoch.chunks.sum() / kMergesPerEpoch, 1)
                                         : kChunksBetweenMergesUnknownEnd;
    return std::max(leastTokens_, static_cast<std::int64_t>(tokensPerChunk * static_cast<double>(chunks)));
}

bool MergeTimer::due(std::int64_t tokensNow, const EpochRow& epoch) const
{
    if (!wanted_)
        return false;
    const auto every = interval(tokensNow, epoch);
    return every > 0 && tokensNow - lastTokens_ >= every;
}

} // namespace furrow
