#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace furrow {

/// First index in [0, size) of an ascending column whose value is not below `value`.
template <typename Values, typename Value> std::size_t lowerBoundIn(const Values& values, std::size_t size, Value value)
{
    std::size_t low = 0;
    std::size_t high = size;
    while (low < high) {
        const auto middle = low + (high - low) / 2;
        if (values[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/// An append-only column in segments. A copy is a snapshot: it costs one pointer a segment and never changes, while
/// the original goes on appending behind it. Only the original may append. A snapshot may be read on another thread
/// when it was handed over with synchronisation. A full segment of equal values keeps one of them.
template <typename T> class Column {
public:
    static constexpr std::size_t kShift = 12;
    static constexpr std::size_t kSegment = std::size_t(1) << kShift;

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T operator[](std::size_t i) const
    {
        const Segment& s = segments_[i >> kShift];
        return s.values[i & s.mask];
    }
    T back() const { return (*this)[size_ - 1]; }
    /// Asks for the memory of a value that will be read soon.
    void prefetch(std::size_t i) const
    {
        const Segment& s = segments_[i >> kShift];
        __builtin_prefetch(&s.values[i & s.mask]);
    }

    void append(T value)
    {
        const auto at = size_ & (kSegment - 1);
        if (at == 0) {
            segments_.push_back({ nullptr, kSegment - 1 });
            tailCapacity_ = 0;
        }
        if (at == tailCapacity_)
            growTail(at);
        segments_.back().values[at] = value;
        ++size_;
        if (at == kSegment - 1)
            seal(segments_.back());
    }

    /// A snapshot of the first `count` values, count <= size().
    Column first(std::size_t count) const
    {
        Column head(*this);
        head.segments_.resize((count + kSegment - 1) >> kShift);
        head.size_ = count;
        return head;
    }

    /// First index in [0, size) whose value is not below `value`; the column must ascend.
    template <typename Value> std::size_t lowerBound(Value value) const { return lowerBoundIn(*this, size_, value); }

    /// Calls `take(value)` for each value of [begin, end): faster than asking for one after the other.
    template <typename Take> void forEach(std::size_t begin, std::size_t end, Take take) const
    {
        while (begin < end) {
            const Segment& s = segments_[begin >> kShift];
            const T* const values = s.values.get();
            const std::size_t stop = std::min(end, (begin | (kSegment - 1)) + 1);
            if (s.mask == 0) {
                for (; begin < stop; ++begin)
                    take(*values);
            } else {
                const T* const last = values + ((stop - 1) & (kSegment - 1));
                for (const T* v = values + (begin & (kSegment - 1)); v <= last; ++v)
                    take(*v);
                begin = stop;
            }
        }
    }

    std::size_t memoryBytes() const
    {
        std::size_t sum = 0;
        for (const auto& s : segments_)
            sum += (s.mask + 1) * sizeof(T) + sizeof(Segment);
        // The last one may be smaller than a segment.
        if (!segments_.empty() && segments_.back().mask != 0)
            sum -= (kSegment - tailCapacity_) * sizeof(T);
        return sum;
    }

    /// Calls `sink(bytes, count)` for each stored piece, in order; `isConstant` pieces hold one value.
    template <typename Sink> void forEachPiece(Sink sink) const
    {
        for (std::size_t k = 0; k < segments_.size(); ++k) {
            const auto count = std::min(kSegment, size_ - k * kSegment);
            const bool isConstant = segments_[k].mask == 0;
            sink(segments_[k].values.get(), isConstant ? 1 : count, count, isConstant);
        }
    }
    /// Appends a piece read from a cache. Only full segments may be constant; pieces come in order.
    void appendPiece(const T* values, std::size_t count, bool isConstant)
    {
        const std::size_t stored = isConstant ? 1 : count;
        std::shared_ptr<T[]> copy(new T[stored]);
        std::copy_n(values, stored, copy.get());
        segments_.push_back({ std::move(copy), isConstant ? 0 : kSegment - 1 });
        tailCapacity_ = isConstant ? kSegment : count;
        size_ += count;
    }

private:
    struct Segment {
        std::shared_ptr<T[]> values;
        std::size_t mask = kSegment - 1; ///< 0: one value stands for all
    };
    /// Doubles the room of the last segment. Snapshots keep the array they have.
    void growTail(std::size_t used)
    {
        tailCapacity_ = std::min(kSegment, std::max<std::size_t>(kFirstCapacity, used * 2));
        std::shared_ptr<T[]> larger(new T[tailCapacity_]);
        if (used > 0)
            std::copy_n(segments_.back().values.get(), used, larger.get());
        segments_.back().values = std::move(larger);
    }
    static void seal(Segment& segment)
    {
        const T* v = segment.values.get();
        for (std::size_t i = 1; i < kSegment; ++i) {
            // By bits, for NaN is not itself. NOLINTNEXTLINE(bugprone-suspicious-memory-comparison)
            if (std::memcmp(&v[i], &v[0], sizeof(T)) != 0)
                return;
        }
        std::shared_ptr<T[]> one(new T[1] { v[0] });
        segment = { std::move(one), 0 };
    }

    static constexpr std::size_t kFirstCapacity = 8;
    std::vector<Segment> segments_;
    std::size_t size_ = 0;
    std::size_t tailCapacity_ = 0; ///< values the last segment has room for
};

/// A duration in 16 bits: a float without sign and with 8 bits of fraction, 0.2 % at worst. Made for time splits.
class Duration16 {
public:
    Duration16() = default;
    explicit Duration16(float value)
    {
        if (!(value > 0))
            value = 0;
        std::uint32_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        bits_ = static_cast<std::uint16_t>((bits + 0x3fffu + ((bits >> 15) & 1u)) >> 15);
    }
    operator float() const
    {
        const std::uint32_t bits = static_cast<std::uint32_t>(bits_) << 15;
        float value = 0;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    }

private:
    std::uint16_t bits_ = 0;
};

} // namespace furrow
