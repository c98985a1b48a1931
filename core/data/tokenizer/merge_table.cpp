#include "core/data/tokenizer/merge_table.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <queue>

namespace furrow {

namespace {

constexpr std::size_t kShort = 64; // up to here shifting arrays beats a heap

} // namespace

MergeTable::MergeTable(std::size_t expected) { resize(std::bit_width(expected * 2 + 16)); }

void MergeTable::resize(int bits)
{
    auto old = std::move(slots_);
    slots_.assign(std::size_t { 1 } << bits, Slot {});
    mask_ = slots_.size() - 1;
    shift_ = 64 - bits;
    count_ = 0;
    for (const auto& slot : old) {
        if (slot.key != kEmpty)
            add(static_cast<TokenId>(slot.key >> 32), static_cast<TokenId>(slot.key), slot.hit.rank, slot.hit.merged);
    }
}

void MergeTable::add(TokenId left, TokenId right, std::uint32_t rank, TokenId merged)
{
    if ((count_ + 1) * 2 > slots_.size())
        resize(65 - shift_);
    const auto key = keyOf(left, right);
    auto i = mix(key) >> shift_;
    while (slots_[i].key != kEmpty && slots_[i].key != key)
        i = (i + 1) & mask_;
    count_ += slots_[i].key == kEmpty;
    slots_[i] = { key, { rank, merged } };
}

std::size_t MergeTable::merge(TokenId* symbols, std::size_t count) const
{
    return count <= kShort ? mergeShort(symbols, count) : mergeLong(symbols, count);
}

std::size_t MergeTable::mergeShort(TokenId* symbols, std::size_t count) const
{
    if (count < 2)
        return count;
    std::uint32_t ranks[kShort];
    TokenId merged[kShort];
    const auto look = [&](std::size_t i) {
        const auto hit = find(symbols[i], symbols[i + 1]);
        ranks[i] = hit.rank;
        merged[i] = hit.merged;
    };
    for (std::size_t i = 0; i + 1 < count; ++i)
        look(i);
    while (count > 1) {
        std::size_t best = 0;
        std::uint32_t bestRank = ranks[0];
        for (std::size_t i = 1; i + 1 < count; ++i) {
            if (ranks[i] < bestRank) {
                bestRank = ranks[i];
                best = i;
            }
        }
        if (bestRank == kNoRank)
            break;
        symbols[best] = merged[best];
        const auto behind = count - best - 2;
        std::memmove(symbols + best + 1, symbols + best + 2, behind * sizeof *symbols);
        if (behind > 1) {
            std::memmove(ranks + best + 1, ranks + best + 2, (behind - 1) * sizeof *ranks);
            std::memmove(merged + best + 1, merged + best + 2, (behind - 1) * sizeof *merged);
        }
        --count;
        if (best > 0)
            look(best - 1);
        if (best + 1 < count)
            look(best);
    }
    return count;
}

// A linked list of symbols and a heap of candidate pairs; a candidate whose pair has changed since is skipped when it
// comes up.
std::size_t MergeTable::mergeLong(TokenId* symbols, std::size_t count) const
{
    constexpr std::uint32_t kEnd = UINT32_MAX;
    struct Link {
        std::uint32_t before;
        std::uint32_t after;
    };
    struct Candidate {
        std::uint64_t order; // rank, then position
        TokenId merged;
        bool operator>(const Candidate& other) const { return order > other.order; }
    };
    std::vector<Link> links(count);
    std::vector<Candidate> first;
    const auto candidate = [&](std::uint32_t left, std::uint32_t right) -> Candidate {
        const auto hit = find(symbols[left], symbols[right]);
        return { hit.rank == kNoRank ? UINT64_MAX : std::uint64_t { hit.rank } << 32 | left, hit.merged };
    };
    const auto size = static_cast<std::uint32_t>(count);
    for (std::uint32_t i = 0; i < size; ++i) {
        links[i] = { i == 0 ? kEnd : i - 1, i + 1 == size ? kEnd : i + 1 };
        if (i + 1 < size) {
            if (const auto c = candidate(i, i + 1); c.order != UINT64_MAX)
                first.push_back(c);
        }
    }
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> heap(std::greater<>(), std::move(first));
    while (!heap.empty()) {
        const auto top = heap.top();
        heap.pop();
        const auto left = static_cast<std::uint32_t>(top.order);
        const auto right = links[left].after;
        if (right == kEnd || links[left].before == left)
            continue; // last of the list, or merged away (its link points to itself)
        if (candidate(left, right).order != top.order)
            continue;
        symbols[left] = top.merged;
        links[left].after = links[right].after;
        if (links[right].after != kEnd)
            links[links[right].after].before = left;
        links[right].before = right;
        if (links[left].before != kEnd) {
            if (const auto c = candidate(links[left].before, left); c.order != UINT64_MAX)
                heap.push(c);
        }
        if (links[left].after != kEnd) {
            if (const auto c = candidate(left, links[left].after); c.order != UINT64_MAX)
                heap.push(c);
        }
    }
    std::size_t kept = 0;
    for (std::uint32_t i = 0; i != kEnd; i = links[i].after)
        symbols[kept++] = symbols[i];
    return kept;
}

} // namespace furrow
