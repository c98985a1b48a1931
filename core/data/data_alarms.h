#pragma once

#include "core/data/prepared_block.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

namespace furrow {

/// Watches how much of the text repeats text before it, over all blocks of a data set as they are prepared. Bounded:
/// beyond a million different samples only every second, fourth, ... one is followed, chosen by its fingerprint. Samples
/// under 16 tokens (headings, separators) are left aside. Not thread-safe.
/// Rule: an alarm, once, when more than a tenth of the tokens are repeats and at least 1,000 samples were followed. Another
/// epoch over the same data is no repeat: a block is added when it is prepared for the first time.
class RepetitionAlarm {
public:
    /// @return a sentence when the rule fires
    std::optional<std::string> add(const ChunkText& chunk);
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

/// Watches how many tokens stand for text that the vocabulary has no token for. Not thread-safe.
/// Rule: an alarm, once, when more than a hundredth of at least 10,000 tokens do.
class UnknownAlarm {
public:
    /// @param unknown  the id that stands for it; nothing: the tokenizer has none, and the share stays 0
    explicit UnknownAlarm(std::optional<std::uint32_t> unknown)
        : unknown_(unknown)
    {
    }
    /// @return a sentence when the rule fires
    std::optional<std::string> add(const ChunkText& chunk);
    /// 0..1
    double share() const { return tokens_ > 0 ? static_cast<double>(unknownTokens_) / static_cast<double>(tokens_) : 0; }

private:
    static constexpr std::int64_t kMinTokens = 10'000;
    static constexpr double kShare = 0.01;

    std::optional<std::uint32_t> unknown_;
    std::int64_t tokens_ = 0;
    std::int64_t unknownTokens_ = 0;
    bool fired_ = false;
};

/// Tells a training loss that is too good for text that the model sees for the first time: labels that are not shifted
/// (the model learns to copy its input), or evaluation text among the training text. Not thread-safe.
/// Rule: in the first epoch, the mean over the last 20,000 labels or more lies below a tenth of what zstd needs for the
/// chunk's own text, both in bits per byte. Measured on English, zstd needs 2.5 to 3 bits a byte, the best published
/// models 0.5 to 0.7 on text that they do not know, fine-tuned ones the same; a copying model falls below 0.05 within some
/// hundred steps. Data that is easy (tables, repeated lines) is easy for zstd too, so its floor is low. Later epochs may
/// remember, and are not judged.
class TooGoodLoss {
public:
    /// A chunk is about to be trained.
    /// @param text  of a part of it, some 100 KB are enough; @param tokens  of that text, with an end-of-text per sample
    void beginChunk(std::int64_t epoch, std::string_view text, std::int64_t tokens);
    /// @param lossSum  nats over `labels`
    /// @return a sentence when the rule fires: once until the loss has risen above the floor again
    std::optional<std::string> addStep(double lossSum, std::int64_t labels);

private:
    static constexpr double kMinLabels = 20'000;
    static constexpr double kShareOfZstd = 0.1;

    bool judged_ = false;
    double zstdBits_ = 0; ///< a byte of text
    double bytesPerLabel_ = 0;
    double labels_ = 0; ///< of the running mean
    double lossSum_ = 0;
    bool fired_ = false;
};

} // namespace furrow
