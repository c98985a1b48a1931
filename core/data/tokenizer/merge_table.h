#pragma once

#include "core/data/tokenizer/tokenizer.h"

namespace furrow {

/// The merges of a byte-pair vocabulary and the merging itself: again and again the pair of lowest rank, leftmost
/// first. Read-only use is thread-safe.
class MergeTable {
public:
    static constexpr std::uint32_t kNoRank = UINT32_MAX;
    struct Hit {
        std::uint32_t rank = kNoRank;
        TokenId merged = 0;
    };

    explicit MergeTable(std::size_t expected = 0);
    /// The last one wins when a pair comes twice.
    void add(TokenId left, TokenId right, std::uint32_t rank, TokenId merged);

    Hit find(TokenId left, TokenId right) const
    {
        const auto key = keyOf(left, right);
        for (auto i = mix(key) >> shift_;; i = (i + 1) & mask_) {
            const auto& slot = slots_[i];
            if (slot.key == key)
                return slot.hit;
            if (slot.key == kEmpty)
                return {};
        }
    }

    /// Merges the symbols of one piece in place. @return how many are left. O(n log n) for any n below 2^32.
    std::size_t merge(TokenId* symbols, std::size_t count) const;

private:
    static constexpr std::uint64_t kEmpty = UINT64_MAX;
    struct Slot {
        std::uint64_t key = kEmpty;
        Hit hit;
    };

    static std::uint64_t keyOf(TokenId left, TokenId right) { return std::uint64_t { left } << 32 | right; }
    static std::uint64_t mix(std::uint64_t key)
    {
        key *= 0x9E3779B97F4A7C15u;
        return (key ^ key >> 32) * 0xD6E8FEB86659FD93u;
    }
    std::size_t mergeShort(TokenId* symbols, std::size_t count) const;
    std::size_t mergeLong(TokenId* symbols, std::size_t count) const;
    void resize(int bits);

    std::vector<Slot> slots_;
    std::size_t count_ = 0;
    std::size_t mask_ = 0;
    int shift_ = 0;
};

} // namespace furrow
