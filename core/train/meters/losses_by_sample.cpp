#include "core/train/meters/losses_by_sample.h"

#include <algorithm>
#include <numeric>

namespace furrow {

LossesBySample::LossesBySample(const ChunkText& text, bool arePairs)
{
    samples_.reserve(static_cast<std::size_t>(text.count()));
    for (std::size_t i = 0; i + 1 < text.offsets.size(); ++i) {
        const auto first = static_cast<std::ptrdiff_t>(text.offsets[i]);
        const auto behind = static_cast<std::ptrdiff_t>(text.offsets[i + 1]);
        const std::int64_t labels = behind - first + 1; // its end-of-text is one
        const auto learnt = arePairs ? 1
            : text.learnt.empty()    ? labels
                                     : std::count(text.learnt.begin() + first, text.learnt.begin() + behind, 1);
        samples_.push_back({ 0, labels, learnt });
    }
}

void LossesBySample::add(const ChunkWindows& windows, WindowRange range, std::span<const float> losses)
{
    const auto length = losses.size() / static_cast<std::size_t>(std::max(1, range.size()));
    for (std::int32_t w = range.begin; w < range.end; ++w) {
        const auto row = losses.subspan(static_cast<std::size_t>(w - range.begin) * length, length);
        for (const WindowPiece& piece : windows.pieces(w)) {
            const auto labels
                = row.subspan(static_cast<std::size_t>(piece.begin), static_cast<std::size_t>(piece.labels));
            Sum& sample = samples_[static_cast<std::size_t>(piece.sample)];
            sample.loss = std::accumulate(labels.begin(), labels.end(), sample.loss);
            sample.missing -= piece.labels;
        }
    }
}

std::vector<SampleLoss> LossesBySample::extremes() const
{
    std::vector<SampleLoss> all;
    for (std::size_t i = 0; i < samples_.size(); ++i)
        if (samples_[i].missing == 0 && samples_[i].learnt > 0)
            all.push_back({ static_cast<std::int64_t>(i), samples_[i].loss / static_cast<double>(samples_[i].learnt) });
    std::stable_sort(all.begin(), all.end(), [](const SampleLoss& a, const SampleLoss& b) { return a.loss > b.loss; });
    if (all.size() > kHighest + kLowest)
        all.erase(all.begin() + kHighest, all.end() - kLowest);
    return all;
}

} // namespace furrow
