#include "core/data/block/chunk_windows.h"

#include "core/base/check.h"
#include "core/base/random.h"

#include <algorithm>

namespace furrow {

std::int32_t windowCount(std::int64_t tokens, std::int64_t samples, std::int64_t seqLen)
{
    return static_cast<std::int32_t>((tokens + samples + seqLen - 1) / seqLen);
}

ChunkWindows::ChunkWindows(
    const ChunkText& text, std::uint32_t endOfText, std::int64_t seqLen, const PackingOrder& order, DocumentMasks masks)
    : text_(text)
    , endOfText_(endOfText)
    , seqLen_(seqLen)
    , isMasked_(masks == DocumentMasks::On || (masks == DocumentMasks::Auto && !text.learnt.empty()))
{
    FURROW_CHECK(seqLen > 0, "a window needs at least one token");
    std::vector<std::uint32_t> trained;
    for (std::size_t i = 0; i < text.flags.size(); ++i)
        if ((text.flags[i] & SampleLeftOut) == 0)
            trained.push_back(static_cast<std::uint32_t>(i));
    samples_ = trained;
    if (order.shuffle) {
        const auto seed = mixSeed({ static_cast<std::uint64_t>(order.seed), static_cast<std::uint64_t>(order.epoch),
            static_cast<std::uint64_t>(order.block), static_cast<std::uint64_t>(order.column) });
        const auto places = permutation(static_cast<std::uint32_t>(trained.size()), seed);
        for (std::size_t i = 0; i < places.size(); ++i)
            samples_[i] = trained[places[i]];
    }
    std::int64_t at = 1; // the end-of-text before the first sample
    for (const auto sample : samples_) {
        starts_.push_back(at);
        at += static_cast<std::int64_t>(text.offsets[sample + 1] - text.offsets[sample]) + 1;
    }
    starts_.push_back(at);
    count_ = windowCount(
        at - 1 - static_cast<std::int64_t>(samples_.size()), static_cast<std::int64_t>(samples_.size()), seqLen);
}

void ChunkWindows::copy(std::int64_t from, std::int64_t n, std::int64_t pad, std::int64_t* into) const
{
    const std::int64_t end = from + n;
    std::int64_t at = from;
    if (at == 0 && at < end) {
        *into++ = endOfText_;
        ++at;
    }
    auto sample = static_cast<std::size_t>(std::upper_bound(starts_.begin(), starts_.end(), at) - starts_.begin());
    sample = sample == 0 ? 0 : sample - 1;
    for (; at < end && sample < samples_.size(); ++sample) {
        const std::int64_t begin = starts_[sample];
        const std::int64_t last = starts_[sample + 1] - 1; // its end-of-text
        const std::uint32_t* tokens = text_.tokens.data() + text_.offsets[samples_[sample]];
        const std::int64_t stop = std::min(end, last);
        for (; at < stop; ++at)
            *into++ = tokens[at - begin];
        if (at == last && at < end) {
            *into++ = endOfText_;
            ++at;
        }
    }
    for (; at < end; ++at)
        *into++ = pad;
}

void ChunkWindows::fill(int begin, int n, std::int64_t* inputs, std::int64_t* labels) const
{
    FURROW_CHECK(begin >= 0 && n >= 0 && begin + n <= count_, "windows outside their chunk");
    for (int w = begin; w < begin + n; ++w) {
        copy(w * seqLen_, seqLen_, endOfText_, inputs);
        copy(w * seqLen_ + 1, seqLen_, -1, labels);
        for (const auto& piece : text_.learnt.empty() ? std::vector<WindowPiece> {} : pieces(w))
            for (std::int64_t i = 0; i < piece.labels; ++i)
                if (!isLearnt(piece, i))
                    labels[piece.begin + i] = -1;
        inputs += seqLen_;
        labels += seqLen_;
    }
}

void ChunkWindows::places(int begin, int n, std::int64_t* into) const
{
    FURROW_CHECK(begin >= 0 && n >= 0 && begin + n <= count_, "windows outside their chunk");
    const std::int64_t lead = text_.learnt.empty() ? 1 : 0; // the end-of-text that a text begins with
    for (int w = begin; w < begin + n; ++w) {
        const std::int64_t first = w * seqLen_;
        auto next = std::upper_bound(starts_.begin(), starts_.end(), first + lead);
        std::int64_t place = 0;
        for (std::int64_t at = first; at < first + seqLen_; ++at) {
            if (next != starts_.end() && *next - lead == at) {
                place = 0;
                ++next;
            }
            *into++ = place++;
        }
    }
}

std::int64_t ChunkWindows::labelCount(int window) const
{
    const std::int64_t labels = starts_.back() - 1;
    return std::clamp<std::int64_t>(labels - window * seqLen_, 0, seqLen_);
}

bool ChunkWindows::isLearnt(const WindowPiece& piece, std::int64_t label) const
{
    const auto sample = static_cast<std::size_t>(piece.sample);
    const std::uint64_t token = text_.offsets[sample] + static_cast<std::uint64_t>(piece.firstToken + label);
    if (isMasked_ && token == text_.offsets[sample]) // nothing of its conversation stands before it
        return false;
    return token < text_.offsets[sample + 1] && text_.learnt[token] != 0;
}

std::int64_t ChunkWindows::learntCount(int window) const
{
    if (text_.learnt.empty())
        return labelCount(window);
    std::int64_t count = 0;
    for (const auto& piece : pieces(window))
        for (std::int64_t i = 0; i < piece.labels; ++i)
            count += isLearnt(piece, i) ? 1 : 0;
    return count;
}

std::vector<WindowPiece> ChunkWindows::pieces(int window) const
{
    std::vector<WindowPiece> found;
    const std::int64_t first = window * seqLen_ + 1; // stream position of the first label
    const std::int64_t end = first + labelCount(window);
    auto sample = static_cast<std::size_t>(std::upper_bound(starts_.begin(), starts_.end(), first) - starts_.begin());
    sample = sample == 0 ? 0 : sample - 1;
    for (; sample < samples_.size() && starts_[sample] < end; ++sample) {
        const std::int64_t begin = std::max(first, starts_[sample]);
        const std::int64_t stop = std::min(end, starts_[sample + 1]);
        if (begin < stop)
            found.push_back({ samples_[sample], begin - starts_[sample], begin - first, stop - begin });
    }
    return found;
}

} // namespace furrow
