#pragma once

#include "core/data/block/chunk_windows.h"
#include "core/tracker/types.h"

#include <span>
#include <vector>

namespace furrow {

/// What the samples of one chunk cost as they are trained: adds up the losses of their labels, which may lie in several
/// windows. One thread.
class LossesBySample {
public:
    static constexpr std::size_t kHighest = 6;
    static constexpr std::size_t kLowest = 2;

    /// @param arePairs  of answers: the loss of a sample is one number, not a mean over labels
    explicit LossesBySample(const ChunkText& text, bool arePairs = false);

    /// @param losses  nats of each label of the windows, 0 where masked; windows x seqLen
    void add(const ChunkWindows& windows, WindowRange range, std::span<const float> losses);
    /// The samples with the kHighest highest and kLowest lowest means, highest first. Only those of which every label
    /// was seen: of a sample that began in windows which somebody else trained, the rest says little.
    std::vector<SampleLoss> extremes() const;

private:
    struct Sum {
        double loss = 0;
        std::int64_t missing = 0; ///< labels not seen yet
        std::int64_t learnt = 0; ///< labels that the loss counts
    };
    std::vector<Sum> samples_;
};

} // namespace furrow
