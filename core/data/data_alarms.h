#pragma once

#include "core/base/message.h"
#include "core/data/block/prepared_block.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

namespace furrow {

/// Watches how much of the text repeats text before it, over all blocks of a data set as they are prepared. Bounded:
/// beyond a million different samples only every second, fourth, ... one is followed, chosen by its fingerprint.
/// Samples under 16 tokens (headings, separators) are left aside. Not thread-safe. Rule: an alarm, once, when more than
/// a tenth of the tokens are repeats and at least 1,000 samples were followed. Another epoch over the same data is no
/// repeat: a block is added when it is prepared for the first time.
class RepetitionAlarm {
public:
    /// @return a sentence when the rule fires
    std::optional<Message> add(const ChunkText& chunk);
    /// Share of the followed tokens that are repeats, 0..1.
    double share() const { return tokens_ > 0 ? static_cast<double>(repeated_) / static_cast<double>(tokens_) : 0; }

private:
    static constexpr std::uint64_t kMinTokens = 16;
    static constexpr std::size_t kMostSamples = 1 << 20;
    static constexpr std::int64_t kMinSamples = 1000;
    static constexpr double kShare = 0.1;

    bool isFollowed(std::uint64_t fingerprint) const { return (fingerprint & (stride_ - 1)) == 0; }

    std::unordered_set<std::uint64_t> seen_;
    std::uint64_t stride_ = 1; ///< a power of two: fingerprints that it divides are followed
    std::uint64_t tokens_ = 0;
    std::uint64_t repeated_ = 0;
    std::int64_t samples_ = 0;
    bool fired_ = false;
};

/// Whether so much of the data cannot be read that training on the rest would be training on rubbish: more than the
/// setting max_unreadable_percent allows, and at least ten rows, for fewer say nothing about the data.
bool isTooUnreadable(std::int64_t failed, std::int64_t rows, double allowedPercent);

/// Watches how much text the vocabulary has no token for: tokens that stand for such, and characters that are dropped,
/// each of which counts as a token. Not thread-safe.
/// Rule: an alarm, once, when these are more than a hundredth of at least 10,000 tokens.
class UnknownAlarm {
public:
    /// @param unknown  the id that stands for it; nothing: the tokenizer has none
    explicit UnknownAlarm(std::optional<std::uint32_t> unknown)
        : unknown_(unknown)
    {
    }
    /// @return a sentence when the rule fires
    /// @param dropped  ChunkSummary::dropped
    std::optional<Message> add(const ChunkText& chunk, std::int64_t dropped);
    /// 0..1
    double share() const
    {
        return tokens_ > 0 ? static_cast<double>(unknownTokens_) / static_cast<double>(tokens_) : 0;
    }
    std::int64_t tokens() const { return tokens_; } ///< that were looked at

private:
    static constexpr std::int64_t kMinTokens = 10'000;
    static constexpr double kShare = 0.01;

    std::optional<std::uint32_t> unknown_;
    std::int64_t tokens_ = 0;
    std::int64_t unknownTokens_ = 0;
    bool fired_ = false;
};

/// How hard a text is to foretell without having learnt anything.
struct TextMeasure {
    double zstdBits = 0; ///< that zstd needs for a byte of it; 0: not known
    double bytesPerLabel = 0;
};
/// @param text  of a part of a chunk, some 100 KB are enough; @param tokens  of that text, with an end-of-text per
/// sample
TextMeasure measureText(std::string_view text, std::int64_t tokens);

/// The loss that is expected of text that is trained for the first time, in bits per byte: so vocabularies can be
/// compared. Defaults are of fresh weights, learnt from 22 runs of our presets on seven texts
/// (tests/core/data/loss_curves.jsonl; tests/bench/README.md).
struct ExpectedLoss {
    double afterMegabyte = 0.9; ///< of what zstd needs for the text
    double fall = 0.12; ///< megabytes trained to the power of minus this
    double alarmShare = 0.4; ///< an alarm is raised below this share of it; 0: never
    /// Weights that have learnt elsewhere already: nothing is known of what they need, so the alarm is raised below a
    /// tenth of what zstd needs. The best published models need 0.5 to 0.7 bits for a byte of English that they do not
    /// know, zstd 2.5 to 3; a model that copies falls below 0.05.
    bool fresh = true;

    /// Bits a byte below which a loss is too good. @param bytesTrained  of text, by these weights so far
    double floor(double zstdBits, double bytesTrained) const;
};

/// Tells a training loss that is too good for text that the model sees for the first time: labels that are not shifted
/// (the model learns to copy its input), or text that comes again within an epoch. Not thread-safe.
/// Rule: in the first epoch, the mean over the last 20,000 labels or more lies below ExpectedLoss::floor(). Data that
/// is easy (tables, repeated lines) is easy for zstd too, so its floor is low. Later epochs may remember, and are not
/// judged.
class TooGoodLoss {
public:
    explicit TooGoodLoss(const ExpectedLoss& expected = {})
        : expected_(expected)
    {
    }
    /// A chunk is about to be trained.
    /// @param text  of a part of it, some 100 KB are enough; @param tokens  of that text, with an end-of-text per
    /// sample
    void beginChunk(std::int64_t epoch, std::string_view text, std::int64_t tokens);
    /// The same of a text that was measured before.
    void beginChunk(std::int64_t epoch, const TextMeasure& measured);
    /// @param lossSum  nats over `labels`; @param tokensTrained  by these weights, this step among them
    /// @return a sentence when the rule fires: once until the loss has risen above the floor again
    std::optional<Message> addStep(double lossSum, std::int64_t labels, std::int64_t tokensTrained);

private:
    static constexpr double kMinLabels = 20'000;

    ExpectedLoss expected_;
    bool judged_ = false;
    TextMeasure text_; ///< of the chunk
    double labels_ = 0; ///< of the running mean
    double lossSum_ = 0;
    bool fired_ = false;
};

} // namespace furrow
