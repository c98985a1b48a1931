#pragma once

#include "core/telemetry/column.h"

#include <cmath>
#include <limits>

namespace furrow {

/// What a run of values holds, joined to one: their mean is `sum` over `weight`, and Summaries that are added keep it
/// so. Only finite values count; min > max: there were none.
struct Summary {
    float min = std::numeric_limits<float>::infinity();
    float max = -std::numeric_limits<float>::infinity();
    double sum = 0;
    std::uint64_t count = 0;
    /// `count`; of paces the time that the steps took [s], and `sum` is their tokens then (PaceColumn).
    double weight = 0;

    bool empty() const { return count == 0; }
    double mean() const { return weight > 0 ? sum / weight : std::numeric_limits<double>::quiet_NaN(); }
    void add(float value)
    {
        if (!std::isfinite(value))
            return;
        min = std::min(min, value);
        max = std::max(max, value);
        sum += value;
        weight += 1;
        ++count;
    }
    void add(const Summary& other)
    {
        min = std::min(min, other.min);
        max = std::max(max, other.max);
        sum += other.sum;
        weight += other.weight;
        count += other.count;
    }
};

/// Exact minimum, maximum and mean of any index range of a column in some tens of steps: nodes over 32, 1024, 32768 ...
/// values. Copying it is a snapshot, as with Column.
class Pyramid {
public:
    static constexpr std::size_t kFan = 32;
    static constexpr int kLevels = 5;

    void append(float value)
    {
        open_[0].add(value);
        if (++size_ % kFan == 0)
            close(0);
    }
    std::size_t size() const { return size_; }
    std::size_t memoryBytes() const
    {
        std::size_t sum = 0;
        for (const auto& level : levels_)
            sum += level.memoryBytes();
        return sum;
    }

    /// Summary of values [begin, end) of `column`, which must be what was appended here (or longer).
    template <typename Values> Summary range(const Values& column, std::size_t begin, std::size_t end) const
    {
        Summary sum;
        std::size_t low = begin;
        std::size_t high = end;
        for (int level = 0;; ++level) {
            const auto innerLow = (low + kFan - 1) / kFan;
            const auto innerHigh = level < kLevels ? std::min(high / kFan, levels_[level].size()) : 0;
            if (innerLow >= innerHigh) {
                addItems(sum, column, level, low, high);
                return sum;
            }
            addItems(sum, column, level, low, innerLow * kFan);
            addItems(sum, column, level, innerHigh * kFan, high);
            low = innerLow;
            high = innerHigh;
        }
    }

    /// Rebuilds the open nodes after the levels were read from a cache.
    template <typename Values> void resume(const Values& column)
    {
        size_ = 0;
        for (auto& open : open_)
            open = {};
        size_ = column.size();
        for (int level = 0; level < kLevels; ++level) {
            const auto items = level == 0 ? size_ : levels_[level - 1].size();
            addItems(open_[level], column, level, items - items % kFan, items);
        }
    }
    struct Node {
        float min = 0;
        float max = 0;
        float sum = 0;
        std::uint32_t count = 0;
    };
    Column<Node>& level(int i) { return levels_[i]; }
    const Column<Node>& level(int i) const { return levels_[i]; }

private:
    template <typename Values>
    void addItems(Summary& sum, const Values& column, int level, std::size_t low, std::size_t high) const
    {
        if (level == 0)
            column.forEach(low, high, [&sum](auto value) { sum.add(static_cast<float>(value)); });
        else
            levels_[level - 1].forEach(low, high, [&sum](const Node& n) {
                sum.add(Summary { n.min, n.max, n.sum, n.count, static_cast<double>(n.count) });
            });
    }
    void close(int level)
    {
        if (level >= kLevels)
            return;
        const Summary done = open_[level];
        open_[level] = {};
        levels_[level].append(
            { done.min, done.max, static_cast<float>(done.sum), static_cast<std::uint32_t>(done.count) });
        if (level + 1 < kLevels) {
            open_[level + 1].add(done);
            if (levels_[level].size() % kFan == 0)
                close(level + 1);
        }
    }

    Column<Node> levels_[kLevels];
    Summary open_[kLevels];
    std::size_t size_ = 0;
};

} // namespace furrow
