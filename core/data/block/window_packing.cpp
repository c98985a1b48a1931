#include "core/data/block/window_packing.h"

#include "core/base/random.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace furrow {

namespace {

/// One window, or those of a sample that is longer than one.
struct Bin {
    std::int32_t windows = 1;
    std::int64_t room = 0; ///< left at the end
    std::vector<std::uint32_t> samples;
    std::vector<std::int64_t> places; ///< of each, from the beginning of the bin
};

std::vector<std::uint32_t> numbers(std::size_t count, std::optional<std::uint64_t> seed)
{
    if (seed)
        return permutation(static_cast<std::uint32_t>(count), *seed);
    std::vector<std::uint32_t> all(count);
    std::iota(all.begin(), all.end(), 0u);
    return all;
}

std::vector<Bin> fillBins(
    std::span<const std::int64_t> labels, std::int64_t seqLen, const std::vector<std::uint32_t>& longestFirst)
{
    std::vector<Bin> bins;
    std::multimap<std::int64_t, std::size_t> rooms; // room -> bin
    for (const std::uint32_t sample : longestFirst) {
        const std::int64_t size = labels[sample];
        auto found = rooms.lower_bound(size);
        std::size_t at = bins.size();
        if (found != rooms.end()) {
            at = found->second;
            rooms.erase(found);
        } else {
            const auto windows = static_cast<std::int32_t>((size + seqLen - 1) / seqLen);
            bins.push_back({ windows, windows * seqLen, {}, {} });
        }
        Bin& bin = bins[at];
        bin.samples.push_back(sample);
        bin.places.push_back(bin.windows * seqLen - bin.room);
        bin.room -= size;
        if (bin.room > 0)
            rooms.emplace(bin.room, at);
    }
    return bins;
}

} // namespace

PackedSamples packEndToEnd(std::span<const std::int64_t> labels, std::int64_t seqLen, std::optional<std::uint64_t> seed)
{
    PackedSamples packed { numbers(labels.size(), seed), {}, 0 };
    std::int64_t at = 0;
    for (const std::uint32_t sample : packed.order) {
        packed.starts.push_back(at);
        at += labels[sample];
    }
    packed.windows = static_cast<std::int32_t>((at + seqLen - 1) / seqLen);
    return packed;
}

PackedSamples packSingle(std::span<const std::int64_t> labels, std::int64_t seqLen, std::optional<std::uint64_t> seed)
{
    PackedSamples packed { numbers(labels.size(), seed), {}, 0 };
    for (const std::uint32_t sample : packed.order) {
        packed.starts.push_back(packed.windows * seqLen);
        packed.windows += static_cast<std::int32_t>((labels[sample] + seqLen - 1) / seqLen);
    }
    return packed;
}

PackedSamples packBestFit(std::span<const std::int64_t> labels, std::int64_t seqLen, std::optional<std::uint64_t> seed)
{
    auto samples = numbers(labels.size(), seed);
    std::stable_sort(
        samples.begin(), samples.end(), [labels](std::uint32_t a, std::uint32_t b) { return labels[a] > labels[b]; });
    const auto bins = fillBins(labels, seqLen, samples);
    const auto firstOf
        = [&bins](std::uint32_t bin) { return *std::min_element(bins[bin].samples.begin(), bins[bin].samples.end()); };
    auto order = numbers(bins.size(), seed);
    if (!seed)
        std::sort(order.begin(), order.end(), [&](auto a, auto b) { return firstOf(a) < firstOf(b); });
    PackedSamples packed;
    for (const std::uint32_t number : order) {
        const Bin& bin = bins[number];
        for (std::size_t i = 0; i < bin.samples.size(); ++i) {
            packed.order.push_back(bin.samples[i]);
            packed.starts.push_back(packed.windows * seqLen + bin.places[i]);
        }
        packed.windows += bin.windows;
    }
    return packed;
}

} // namespace furrow
