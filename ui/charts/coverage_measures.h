#pragma once

/// Measures of the coverage map in px, shared by its sources.
namespace furrow::coverage {

inline constexpr double kLabels = 58; // block numbers at the left
inline constexpr double kHeader = 24; // column numbers above
inline constexpr double kMinimap = 78; // at the right
inline constexpr double kLargestMinimapRow = 12; // a run of few blocks does not fill it

} // namespace furrow::coverage
