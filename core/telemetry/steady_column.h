#pragma once

#include "core/telemetry/column.h"

#include <limits>

namespace furrow {

/// A column of whole numbers that ascend about evenly: steps, times, counts. A full segment keeps a straight line and
/// how far each value is off it, in as few bytes as the farthest needs; every value comes back as it was. Copies as
/// Column does.
class SteadyColumn {
public:
    static constexpr std::size_t kSegment = Column<std::uint32_t>::kSegment;

    struct Segment {
        std::uint32_t first = 0;
        std::uint32_t width = 0; ///< bytes of each difference: 0 (all are on the line), 1, 2 or 4
        std::uint64_t slope = 0; ///< of the line, in 2^-20
        std::shared_ptr<const char[]> off;

        std::uint32_t line(std::size_t i) const { return first + static_cast<std::uint32_t>(slope * i >> 20); }
        std::uint32_t operator[](std::size_t i) const
        {
            switch (width) {
            case 0: return line(i);
            case 1: return line(i) + static_cast<std::uint32_t>(difference<std::int8_t>(i));
            case 2: return line(i) + static_cast<std::uint32_t>(difference<std::int16_t>(i));
            default: return line(i) + static_cast<std::uint32_t>(difference<std::int32_t>(i));
            }
        }

    private:
        template <typename Width> Width difference(std::size_t i) const
        {
            Width value;
            std::memcpy(&value, off.get() + i * sizeof value, sizeof value);
            return value;
        }
    };

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    std::uint32_t operator[](std::size_t i) const
    {
        const std::size_t k = i >> Column<std::uint32_t>::kShift;
        const std::size_t inside = i & (kSegment - 1);
        return k < full_.size() ? full_[k][inside] : tail_[inside];
    }
    std::uint32_t back() const { return (*this)[size_ - 1]; }

    void append(std::uint32_t value)
    {
        tail_.append(value);
        ++size_;
        if (tail_.size() == kSegment) {
            full_.push_back(packed(tail_));
            tail_ = {};
        }
    }

    /// A snapshot of the first `count` values, count <= size().
    SteadyColumn first(std::size_t count) const
    {
        SteadyColumn head(*this);
        head.size_ = count;
        head.full_.resize(std::min(full_.size(), (count + kSegment - 1) / kSegment));
        head.tail_ = tail_.first(count > full_.size() * kSegment ? count - full_.size() * kSegment : 0);
        return head;
    }

    /// First index in [0, size) whose value is not below `value`; the column must ascend.
    template <typename Value> std::size_t lowerBound(Value value) const { return lowerBoundIn(*this, size_, value); }

    std::size_t memoryBytes() const
    {
        std::size_t sum = tail_.memoryBytes();
        for (const Segment& segment : full_)
            sum += sizeof segment + segment.width * kSegment;
        return sum;
    }

    // For a cache: full segments and what is behind them.
    const std::vector<Segment>& full() const { return full_; }
    const Column<std::uint32_t>& tail() const { return tail_; }
    static SteadyColumn restored(std::vector<Segment> full, Column<std::uint32_t> tail)
    {
        SteadyColumn column;
        column.size_ = full.size() * kSegment + tail.size();
        column.full_ = std::move(full);
        column.tail_ = std::move(tail);
        return column;
    }

private:
    static Segment packed(const Column<std::uint32_t>& values)
    {
        Segment segment;
        segment.first = values[0];
        segment.slope = (static_cast<std::uint64_t>(values.back() - values[0]) << 20) / (kSegment - 1);
        std::vector<std::int32_t> off(kSegment);
        for (std::size_t i = 0; i < kSegment; ++i)
            off[i] = static_cast<std::int32_t>(values[i] - segment.line(i));
        const auto [least, most] = std::minmax_element(off.begin(), off.end());
        const auto fits = [low = *least, high = *most](auto width) {
            return low >= std::numeric_limits<decltype(width)>::min()
                && high <= std::numeric_limits<decltype(width)>::max();
        };
        if (*least == 0 && *most == 0)
            return segment;
        if (fits(std::int8_t {}))
            store<std::int8_t>(segment, off);
        else if (fits(std::int16_t {}))
            store<std::int16_t>(segment, off);
        else
            store<std::int32_t>(segment, off);
        return segment;
    }
    template <typename Width> static void store(Segment& segment, const std::vector<std::int32_t>& off)
    {
        std::shared_ptr<char[]> bytes(new char[kSegment * sizeof(Width)]);
        for (std::size_t i = 0; i < kSegment; ++i) {
            const auto value = static_cast<Width>(off[i]);
            std::memcpy(bytes.get() + i * sizeof value, &value, sizeof value);
        }
        segment.width = sizeof(Width);
        segment.off = std::move(bytes);
    }

    std::vector<Segment> full_;
    Column<std::uint32_t> tail_; ///< fewer than a segment
    std::size_t size_ = 0;
};

} // namespace furrow
