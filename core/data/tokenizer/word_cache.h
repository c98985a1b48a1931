#pragma once

#include "core/data/tokenizer/tokenizer.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace furrow {

/// The ids of short pieces seen before: two-way buckets of one cache line, so a hit costs one line. Bounded (about
/// 2.5 MiB), one per thread. Not thread-safe.
class WordCache {
public:
    static constexpr std::size_t kMaxBytes = 15;

    /// A piece of 1..15 bytes as two words; the length is the last byte.
    struct Key {
        std::uint64_t low;
        std::uint64_t high;
    };
    /// @param readable  16 bytes may be read at p
    static Key keyOf(const char* p, std::size_t size, bool readable)
    {
        std::uint64_t words[2] = { 0, 0 };
        if (readable) [[likely]] {
            std::memcpy(words, p, 16);
            std::uint64_t masks[2];
            std::memcpy(masks, kMasks.data() + 16 - size, 16);
            words[0] &= masks[0];
            words[1] &= masks[1];
        } else {
            std::memcpy(words, p, size);
        }
        return { words[0], words[1] | std::uint64_t { size } << 56 };
    }

    /// Writes the ids to `out` (room for 15) and returns how many, or 0 when the piece is not known.
    std::size_t find(const Key& key, TokenId* out)
    {
        auto& bucket = buckets_[bucketOf(key)];
        for (auto& way : bucket.ways) {
            if (way.low == key.low && way.high == key.high) {
                std::memcpy(out, way.ids, sizeof way.ids);
                if (way.count > kInline) [[unlikely]]
                    std::memcpy(out + kInline, rest_[way.rest].ids, sizeof(Rest::ids));
                return way.count;
            }
        }
        return 0;
    }

    /// @param count  1..15
    void insert(const Key& key, const TokenId* ids, std::size_t count)
    {
        Way made { key.low, key.high, {}, static_cast<std::uint16_t>(count), 0 };
        std::memcpy(made.ids, ids, std::min(count, kInline) * sizeof *ids);
        if (count > kInline) {
            made.rest = static_cast<std::uint16_t>(nextRest_++ % kRests);
            auto& rest = rest_[made.rest];
            forget(rest.owner, made.rest);
            rest.owner = key;
            std::memcpy(rest.ids, ids + kInline, (count - kInline) * sizeof *ids);
        }
        auto& ways = buckets_[bucketOf(key)].ways;
        ways[1] = ways[0]; // the older one goes
        ways[0] = made;
    }

    WordCache()
        : buckets_(kBuckets)
        , rest_(kRests)
    {
    }

private:
    static constexpr int kBits = 14;
    static constexpr std::size_t kBuckets = std::size_t { 1 } << kBits;
    static constexpr std::size_t kRests = std::size_t { 1 } << 14;
    static constexpr std::size_t kInline = 3;

    struct Way {
        std::uint64_t low = 0;
        std::uint64_t high = 0; // 0 is no key: the length is never 0
        TokenId ids[kInline] = {};
        std::uint16_t count = 0;
        std::uint16_t rest = 0; // where ids beyond the first three are
    };
    struct alignas(64) Bucket {
        Way ways[2];
    };
    struct Rest {
        TokenId ids[kMaxBytes - kInline] = {};
        Key owner {};
    };

    /// 16 bytes read at 16 - n are n times FF, then 00.
    static constexpr std::array<std::uint8_t, 32> kMasks = [] {
        std::array<std::uint8_t, 32> made {};
        std::fill_n(made.begin(), 16, std::uint8_t { 0xFF });
        return made;
    }();

    static std::size_t bucketOf(const Key& key)
    {
        const auto mixed = (key.low ^ key.high * 0xD6E8FEB86659FD93u) * 0x9E3779B97F4A7C15u;
        return (mixed ^ mixed << 23) >> (64 - kBits);
    }
    /// The long entry that is about to be overwritten is no longer known.
    void forget(const Key& owner, std::uint16_t rest)
    {
        for (auto& way : buckets_[bucketOf(owner)].ways) {
            if (way.count > kInline && way.rest == rest && way.low == owner.low && way.high == owner.high)
                way = {};
        }
    }

    std::vector<Bucket> buckets_;
    std::vector<Rest> rest_;
    std::size_t nextRest_ = 0;
};

} // namespace furrow
