#include "core/data/block/chunk_windows.h"

#include "core/base/check.h"
#include "core/base/random.h"
#include "core/data/block/window_packing.h"

#include <algorithm>
#include <optional>

namespace furrow {

namespace {

/// The samples that are trained, as they stand in the text.
std::vector<std::uint32_t> trainedSamples(const ChunkText& text)
{
    std::vector<std::uint32_t> trained;
    for (std::size_t i = 0; i < text.flags.size(); ++i)
        if ((text.flags[i] & SampleLeftOut) == 0)
            trained.push_back(static_cast<std::uint32_t>(i));
    return trained;
}

bool isMasked(const WindowRules& rules, bool isConversation)
{
    return rules.pairs || rules.masks == DocumentMasks::On || (rules.masks == DocumentMasks::Auto && isConversation);
}

/// @param order  null: in source order
PackedSamples pack(const ChunkText& text, const std::vector<std::uint32_t>& trained, const WindowRules& rules,
    const PackingOrder* order)
{
    FURROW_CHECK(rules.seqLen > 0, "a window needs at least one token");
    std::vector<std::int64_t> labels;
    for (const auto sample : trained)
        labels.push_back(static_cast<std::int64_t>(text.offsets[sample + 1] - text.offsets[sample]) + 1);
    std::optional<std::uint64_t> seed;
    if (order != nullptr && order->shuffle)
        seed = mixSeed({ static_cast<std::uint64_t>(order->seed), static_cast<std::uint64_t>(order->epoch),
            static_cast<std::uint64_t>(order->block), static_cast<std::uint64_t>(order->column) });
    switch (packingOf(rules, !text.learnt.empty())) {
    case Packing::BestFit: return packBestFit(labels, rules.seqLen, seed);
    case Packing::Single: return packSingle(labels, rules.seqLen, seed);
    case Packing::Auto: // packingOf() never gives it
    case Packing::EndToEnd: break;
    }
    return packEndToEnd(labels, rules.seqLen, seed);
}

} // namespace

WindowRules windowRules(const RunConfig& config)
{
    const bool isHrm = config.architecture == Architecture::Hrm;
    return { config.seqLen, isHrm ? DocumentMasks::Off : config.documentMasks, config.packing,
        config.objective == Objective::Dpo };
}

std::int64_t pairMiddle(const ChunkText& text, std::size_t sample)
{
    const auto begin = text.learnt.begin() + static_cast<std::ptrdiff_t>(text.offsets[sample]);
    const auto end = text.learnt.begin() + static_cast<std::ptrdiff_t>(text.offsets[sample + 1]);
    return std::find(std::find(begin, end, 1), end, 0) - begin;
}

Packing packingOf(const WindowRules& rules, bool isConversation)
{
    if (rules.packing != Packing::Auto)
        return rules.packing;
    return rules.pairs || (isConversation && isMasked(rules, true)) ? Packing::BestFit : Packing::EndToEnd;
}

std::int32_t windowCount(const ChunkText& text, const WindowRules& rules)
{
    return pack(text, trainedSamples(text), rules, nullptr).windows;
}

std::int32_t windowCount(std::int64_t tokens, std::int64_t samples, std::int64_t seqLen)
{
    return static_cast<std::int32_t>((tokens + samples + seqLen - 1) / seqLen);
}

ChunkWindows::ChunkWindows(
    const ChunkText& text, std::uint32_t endOfText, const WindowRules& rules, const PackingOrder& order)
    : text_(text)
    , endOfText_(endOfText)
    , seqLen_(rules.seqLen)
    , isMasked_(isMasked(rules, !text.learnt.empty()))
    , pairs_(rules.pairs && !text.learnt.empty())
{
    const auto trained = trainedSamples(text);
    auto packed = pack(text, trained, rules, &order);
    for (const auto place : packed.order)
        samples_.push_back(trained[place]);
    starts_ = std::move(packed.starts);
    for (auto& start : starts_)
        ++start; // the end-of-text before the first sample is no label
    count_ = packed.windows;
}

std::int64_t ChunkWindows::labelsOf(std::size_t place) const
{
    const std::size_t sample = samples_[place];
    return static_cast<std::int64_t>(text_.offsets[sample + 1] - text_.offsets[sample]) + 1;
}

std::size_t ChunkWindows::firstAt(std::int64_t position) const
{
    const auto behind
        = static_cast<std::size_t>(std::upper_bound(starts_.begin(), starts_.end(), position) - starts_.begin());
    return behind > 0 && starts_[behind - 1] + labelsOf(behind - 1) > position ? behind - 1 : behind;
}

void ChunkWindows::copy(std::int64_t from, std::int64_t n, std::int64_t pad, std::int64_t* into) const
{
    const std::int64_t end = from + n;
    std::fill(into, into + n, pad);
    if (from == 0)
        into[0] = endOfText_;
    for (std::size_t place = firstAt(from); place < samples_.size() && starts_[place] < end; ++place) {
        const std::int64_t begin = starts_[place];
        const std::int64_t last = begin + labelsOf(place) - 1; // its end-of-text
        const std::uint32_t* tokens = text_.tokens.data() + text_.offsets[samples_[place]];
        for (std::int64_t at = std::max(from, begin); at < std::min(end, last); ++at)
            into[at - from] = tokens[at - begin];
        if (last >= from && last < end)
            into[last - from] = endOfText_;
    }
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
    const auto endOf = [&](std::size_t sample) { return starts_[sample] + labelsOf(sample) - lead; };
    const auto middleOf = [&](std::size_t sample) { return starts_[sample] + pairMiddle(text_, samples_[sample]); };
    for (int w = begin; w < begin + n; ++w) {
        const std::int64_t first = w * seqLen_;
        auto next = static_cast<std::size_t>(
            std::upper_bound(starts_.begin(), starts_.end(), first + lead) - starts_.begin());
        std::int64_t place = 0;
        std::int64_t middle = pairs_ && next > 0 ? middleOf(next - 1) : -1;
        for (std::int64_t at = first; at < first + seqLen_; ++at) {
            const bool begins = next < starts_.size() && starts_[next] - lead == at;
            if (begins || (next > 0 && endOf(next - 1) == at) || at == middle) // padding behind it reads nothing either
                place = 0;
            if (begins && pairs_)
                middle = middleOf(next);
            next += begins ? 1 : 0;
            *into++ = place++;
        }
    }
}

template <typename Each> void ChunkWindows::eachPiece(int window, Each each) const
{
    const std::int64_t first = window * seqLen_ + 1; // stream position of the first label
    const std::int64_t end = first + seqLen_;
    for (std::size_t place = firstAt(first); place < samples_.size() && starts_[place] < end; ++place) {
        const std::int64_t begin = std::max(first, starts_[place]);
        const std::int64_t stop = std::min(end, starts_[place] + labelsOf(place));
        each(WindowPiece { samples_[place], begin - starts_[place], begin - first, stop - begin });
    }
}

std::int64_t ChunkWindows::labelCount(int window) const
{
    std::int64_t count = 0;
    eachPiece(window, [&count](const WindowPiece& piece) { count += piece.labels; });
    return count;
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
    const auto all = pieces(window);
    if (pairs_)
        return std::ssize(all);
    std::int64_t count = 0;
    for (const auto& piece : all)
        for (std::int64_t i = 0; i < piece.labels; ++i)
            count += isLearnt(piece, i) ? 1 : 0;
    return count;
}

void ChunkWindows::answers(int begin, int n, std::int64_t* into) const
{
    FURROW_CHECK(begin >= 0 && n >= 0 && begin + n <= count_, "windows outside their chunk");
    std::fill(into, into + n * seqLen_, -1);
    std::int64_t pair = 0;
    for (int w = begin; w < begin + n; ++w, into += seqLen_)
        for (const auto& piece : pieces(w)) {
            const std::int64_t middle = pairMiddle(text_, static_cast<std::size_t>(piece.sample));
            for (std::int64_t i = 0; i < piece.labels; ++i)
                if (isLearnt(piece, i))
                    into[piece.begin + i] = 2 * pair + (piece.firstToken + i >= middle ? 1 : 0);
            ++pair;
        }
}

std::vector<WindowPiece> ChunkWindows::pieces(int window) const
{
    std::vector<WindowPiece> found;
    eachPiece(window, [&found](const WindowPiece& piece) { found.push_back(piece); });
    return found;
}

} // namespace furrow
