#include "core/tracker/window_ranges.h"

#include <algorithm>
#include <charconv>

namespace furrow {

std::optional<WindowRanges> normalized(WindowRanges ranges)
{
    std::sort(
        ranges.begin(), ranges.end(), [](const WindowRange& a, const WindowRange& b) { return a.begin < b.begin; });
    WindowRanges joined;
    for (const WindowRange& range : ranges) {
        if (range.begin < 0 || range.end <= range.begin)
            return std::nullopt;
        if (!joined.empty() && range.begin < joined.back().end)
            return std::nullopt;
        if (!joined.empty() && range.begin == joined.back().end)
            joined.back().end = range.end;
        else
            joined.push_back(range);
    }
    return joined;
}

WindowRanges subtract(const WindowRanges& from, const WindowRanges& minus)
{
    WindowRanges rest;
    for (WindowRange range : from) {
        auto hole = std::partition_point(
            minus.begin(), minus.end(), [&range](const WindowRange& one) { return one.end <= range.begin; });
        for (; hole != minus.end() && hole->begin < range.end && range.begin < range.end; ++hole) {
            if (hole->begin > range.begin)
                rest.push_back({ range.begin, hole->begin });
            range.begin = hole->end;
        }
        if (range.begin < range.end)
            rest.push_back(range);
    }
    return rest;
}

WindowRanges intersect(const WindowRanges& a, const WindowRanges& b) { return subtract(a, subtract(a, b)); }

std::int64_t countWindows(const WindowRanges& ranges)
{
    std::int64_t count = 0;
    for (const WindowRange& range : ranges)
        count += range.size();
    return count;
}

bool contains(const WindowRanges& outer, const WindowRanges& inner) { return subtract(inner, outer).empty(); }

std::int64_t shareOf(const WindowRanges& ranges, std::int64_t amount, std::int64_t windows)
{
    if (windows <= 0)
        return 0;
    std::int64_t sum = 0;
    for (const WindowRange& range : ranges)
        sum += amount * range.end / windows - amount * range.begin / windows;
    return sum;
}

std::int64_t tokensIn(const WindowRanges& ranges, std::int64_t tokens, std::int64_t windows, std::int64_t windowTokens)
{
    if (windowTokens <= 0)
        return shareOf(ranges, tokens, windows);
    std::int64_t sum = 0;
    for (const WindowRange& range : ranges)
        sum += std::min(tokens, windowTokens * range.end) - std::min(tokens, windowTokens * range.begin);
    return sum;
}

std::string encodeRanges(const WindowRanges& ranges)
{
    std::string text;
    for (const WindowRange& range : ranges) {
        if (!text.empty())
            text += ' ';
        text += std::to_string(range.begin) + '-' + std::to_string(range.end);
    }
    return text;
}

namespace {

struct RangesReading {
    WindowRanges ranges;
    bool whole = false; ///< nothing was left
};

RangesReading readRanges(std::string_view text)
{
    RangesReading reading;
    const char* at = text.data();
    const char* end = at + text.size();
    while (at < end) {
        WindowRange range;
        const auto first = std::from_chars(at, end, range.begin);
        if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-')
            break;
        const auto past = std::from_chars(first.ptr + 1, end, range.end);
        if (past.ec != std::errc())
            break;
        reading.ranges.push_back(range);
        at = past.ptr;
        if (end - at > 1 && *at == ' ')
            ++at;
    }
    reading.whole = at == end;
    return reading;
}

} // namespace

WindowRanges decodeRanges(std::string_view text) { return readRanges(text).ranges; }

bool isRangesText(std::string_view text)
{
    const auto [ranges, whole] = readRanges(text);
    return whole && std::all_of(ranges.begin(), ranges.end(), [](const WindowRange& range) {
        return range.begin >= 0 && range.begin < range.end;
    });
}

} // namespace furrow
