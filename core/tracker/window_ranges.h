#pragma once

#include "core/tracker/types.h"

#include <string_view>

namespace furrow {

/// Ascending, disjoint, not empty ranges of windows, touching ones joined.
using WindowRanges = std::vector<WindowRange>;

/// Sorted and joined, or nothing when a range is empty, negative or overlaps another.
std::optional<WindowRanges> normalized(WindowRanges ranges);
/// What is in `from` and not in `minus`. Both normalized.
WindowRanges subtract(const WindowRanges& from, const WindowRanges& minus);
/// What is in both. Both normalized.
WindowRanges intersect(const WindowRanges& a, const WindowRanges& b);
std::int64_t countWindows(const WindowRanges& ranges);
/// True when every window of `inner` is in `outer`. Both normalized.
bool contains(const WindowRanges& outer, const WindowRanges& inner);

/// What `ranges` have of an amount (tokens or samples) that the chunk has in `windows`: in proportion, and exact over a
/// whole tiling.
std::int64_t shareOf(const WindowRanges& ranges, std::int64_t amount, std::int64_t windows);

/// Tokens (labels) in `ranges` of a chunk that has `tokens` in `windows`.
/// @param windowTokens  of each window but the last, which has the rest; 0: not known (a run of before 0.2), then in
/// proportion
std::int64_t tokensIn(const WindowRanges& ranges, std::int64_t tokens, std::int64_t windows, std::int64_t windowTokens);

/// "0-20 30-40"; what the tracker stores.
std::string encodeRanges(const WindowRanges& ranges);
/// Reads encodeRanges' text; stops at the first character that does not belong.
WindowRanges decodeRanges(std::string_view text);
/// Whether encodeRanges wrote it: nothing in it does not belong, no range is empty.
bool isRangesText(std::string_view text);

} // namespace furrow
