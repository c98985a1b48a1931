#include "core/tracker/types.h"

#include "core/base/check.h"
#include "core/base/sentence.h"

#include <numeric>

namespace furrow {

ChunkId chunkIdOf(const ChunkPlace& place)
{
    FURROW_CHECK(place.epoch >= 0 && place.epoch < kMaxEpochs, "epoch out of range");
    FURROW_CHECK(place.block >= 0 && place.block < kMaxBlocks, "block out of range");
    FURROW_CHECK(place.column >= 0 && place.column < kMaxChunksPerBlock, "column out of range");
    return { ((place.epoch + 1) * kMaxBlocks + place.block) * kMaxChunksPerBlock + place.column };
}

ChunkPlace placeOf(ChunkId chunk)
{
    const std::int64_t blocks = chunk.value / kMaxChunksPerBlock;
    return { blocks / kMaxBlocks - 1, blocks % kMaxBlocks,
        static_cast<std::int32_t>(chunk.value % kMaxChunksPerBlock) };
}

Message toString(ChunkId chunk)
{
    const ChunkPlace place = placeOf(chunk);
    return sentence("chunk %1 of block %2 (epoch %3)",
        { std::to_string(place.column), std::to_string(place.block), std::to_string(place.epoch + 1) });
}

std::string toString(StopReason reason)
{
    switch (reason) {
    case StopReason::None: return "none";
    case StopReason::EpochEnd: return "epoch";
    case StopReason::BlockEnd: return "block";
    case StopReason::Steps: return "steps";
    case StopReason::Tokens: return "tokens";
    case StopReason::Hours: return "hours";
    case StopReason::Epochs: return "epochs";
    case StopReason::User: return "user";
    case StopReason::Error: return "error";
    case StopReason::Interrupted: return "interrupted";
    case StopReason::Incomplete: return "incomplete";
    case StopReason::Privacy: return "privacy";
    }
    return "unknown";
}

Message inWords(StopReason reason)
{
    switch (reason) {
    case StopReason::None: return {};
    case StopReason::EpochEnd: return sentence("the end of the epoch was reached");
    case StopReason::BlockEnd: return sentence("the requested number of blocks is complete");
    case StopReason::Steps: return sentence("the requested number of steps was reached");
    case StopReason::Tokens: return sentence("the requested number of tokens was reached");
    case StopReason::Hours: return sentence("the requested hours are over");
    case StopReason::Epochs: return sentence("all requested epochs are trained");
    case StopReason::User: return sentence("a person stopped it");
    case StopReason::Error: return sentence("an error stopped it");
    case StopReason::Interrupted: return sentence("it was interrupted");
    case StopReason::Incomplete: return sentence("the rest of the data cannot be trained as it is");
    case StopReason::Privacy: return sentence("epsilon allows no unit to take part once more");
    }
    return {};
}

std::string toString(ChunkState state)
{
    constexpr const char* kNames[kChunkStateCount]
        = { "pending", "free", "leased", "trained", "committed", "excluded", "poisoned", "accepted" };
    const int index = static_cast<int>(state);
    return index >= 0 && index < kChunkStateCount ? kNames[index] : "unknown";
}

Term termOf(ChunkState state) { return { TermSet::ChunkState, toString(state) }; }

std::string toString(DesiredState state)
{
    switch (state) {
    case DesiredState::Run: return "run";
    case DesiredState::Pause: return "pause";
    case DesiredState::Stop: return "stop";
    case DesiredState::Kill: return "kill";
    }
    return "unknown";
}

std::int64_t ChunkCounts::sum() const
{
    return std::accumulate(std::begin(byState), std::end(byState), std::int64_t { 0 });
}

} // namespace furrow
