#include "core/data/data_alarms.h"

#include "core/base/format.h"
#include "core/base/sentence.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>
#include <zstd.h>

namespace furrow {

namespace {

constexpr int kZstdLevel = 9; // about 30 MB/s
constexpr std::size_t kZstdBytes = 256 << 10;
constexpr double kMeanLabels = 50'000; ///< about so many labels back reaches the mean

} // namespace

bool isTooUnreadable(std::int64_t failed, std::int64_t rows, double allowedPercent)
{
    constexpr std::int64_t kFew = 10;
    return failed >= kFew && 100 * static_cast<double>(failed) > allowedPercent * static_cast<double>(rows);
}

std::optional<Message> RepetitionAlarm::add(const ChunkText& chunk)
{
    for (std::size_t i = 0; i < chunk.flags.size(); ++i) {
        const std::uint64_t tokens = chunk.offsets[i + 1] - chunk.offsets[i];
        if ((chunk.flags[i] & SampleLeftOut) != 0 || tokens < kMinTokens || !isFollowed(chunk.fingerprints[i]))
            continue;
        ++samples_;
        tokens_ += tokens * stride_; // stands for those that are not followed
        if (!seen_.insert(chunk.fingerprints[i]).second)
            repeated_ += tokens * stride_;
    }
    while (seen_.size() > kMostSamples) {
        stride_ *= 2;
        std::erase_if(seen_, [this](std::uint64_t fingerprint) { return !isFollowed(fingerprint); });
    }
    if (fired_ || samples_ < kMinSamples || share() <= kShare)
        return std::nullopt;
    fired_ = true;
    return sentence(
        "%1 % of the text prepared so far repeats text before it. The loss will look better than it is. Set duplicates to skip, or look for files that are in the data twice.",
        { Real(100 * share(), 0) });
}

std::optional<Message> UnknownAlarm::add(const ChunkText& chunk, std::int64_t dropped)
{
    tokens_ += std::ssize(chunk.tokens) + dropped;
    unknownTokens_ += dropped + (unknown_ ? std::count(chunk.tokens.begin(), chunk.tokens.end(), *unknown_) : 0);
    if (fired_ || tokens_ < kMinTokens || share() <= kShare)
        return std::nullopt;
    fired_ = true;
    return unknown_
        ? sentence(
              "%1 % of the tokens prepared so far stand for characters that the vocabulary does not have. Set encoding if the text is read wrongly, or take another tokenizer.",
              { Real(100 * share(), 1) })
        : sentence(
              "%1 % of the text prepared so far is characters that the tokenizer has no token for: they are dropped. Set encoding if the text is read wrongly, or take another tokenizer.",
              { Real(100 * share(), 1) });
}

TextMeasure measureText(std::string_view text, std::int64_t tokens)
{
    TextMeasure measured;
    measured.bytesPerLabel = static_cast<double>(text.size()) / static_cast<double>(std::max<std::int64_t>(1, tokens));
    text = text.substr(0, kZstdBytes);
    std::vector<char> packed(ZSTD_compressBound(text.size()));
    const std::size_t size = ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), kZstdLevel);
    if (!text.empty() && tokens > 0 && ZSTD_isError(size) == 0)
        measured.zstdBits = 8 * static_cast<double>(size) / static_cast<double>(text.size());
    return measured;
}

double ExpectedLoss::floor(double zstdBits, double bytesTrained) const
{
    constexpr double kShareOfZstd = 0.1; // for weights that know something already
    constexpr double kLeastMegabytes = 0.1;
    if (alarmShare <= 0)
        return 0;
    const double expected = afterMegabyte * zstdBits * std::pow(std::max(bytesTrained / 1e6, kLeastMegabytes), -fall);
    return fresh ? alarmShare * expected : kShareOfZstd * zstdBits;
}

void TooGoodLoss::beginChunk(std::int64_t epoch, std::string_view text, std::int64_t tokens)
{
    beginChunk(epoch, epoch == 0 ? measureText(text, tokens) : TextMeasure {});
}

void TooGoodLoss::beginChunk(std::int64_t epoch, const TextMeasure& measured)
{
    text_ = measured;
    judged_ = epoch == 0 && measured.zstdBits > 0;
}

std::optional<Message> TooGoodLoss::addStep(double lossSum, std::int64_t labels, std::int64_t tokensTrained)
{
    if (!judged_ || labels <= 0 || !std::isfinite(lossSum))
        return std::nullopt;
    const double keep = std::max(0.0, 1 - static_cast<double>(labels) / kMeanLabels);
    labels_ = keep * labels_ + static_cast<double>(labels);
    lossSum_ = keep * lossSum_ + lossSum;
    const double bits = lossSum_ / labels_ / std::numbers::ln2 / text_.bytesPerLabel;
    const double floor = expected_.floor(text_.zstdBits, static_cast<double>(tokensTrained) * text_.bytesPerLabel);
    if (labels_ < kMinLabels || bits >= floor) {
        fired_ = fired_ && bits < 2 * floor;
        return std::nullopt;
    }
    if (fired_)
        return std::nullopt;
    fired_ = true;
    return sentence(
        "The loss is %1 bits per byte in the first pass over the data, below anything that can be learnt from new text (zstd needs %2). Labels may not be shifted, or the data contains copies of itself.",
        { Real(bits, 3), Real(text_.zstdBits, 2) });
}

} // namespace furrow
