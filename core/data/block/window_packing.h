#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace furrow {

/// Where the samples of a chunk come to lie in its windows.
struct PackedSamples {
    std::vector<std::uint32_t> order; ///< which samples follow each other
    std::vector<std::int64_t> starts; ///< of each of these its first label, counted through all windows from 0
    std::int32_t windows = 0;
};

/// Samples end to end: only the last window has padding, and any sample may go on in the next window.
/// @param labels  of each sample, its end-of-text included
/// @param seed  of their order; absent: as they stand
PackedSamples packEndToEnd(
    std::span<const std::int64_t> labels, std::int64_t seqLen, std::optional<std::uint64_t> seed);

/// Samples whole, by best fit decreasing: the longest first, each into the window with the least room that is enough.
/// One that is longer than a window begins one, and others may follow in its last. How many windows there are depends
/// on the lengths alone.
/// @param seed  of which samples of one length share a window, and of the order of the windows; absent: as they stand
PackedSamples packBestFit(std::span<const std::int64_t> labels, std::int64_t seqLen, std::optional<std::uint64_t> seed);

/// Each sample begins a window of its own, or as many as it needs, and no other is in it.
PackedSamples packSingle(std::span<const std::int64_t> labels, std::int64_t seqLen, std::optional<std::uint64_t> seed);

} // namespace furrow
