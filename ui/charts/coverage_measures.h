#pragma once

/// Measures of the coverage map in px, shared by its two sources.
namespace furrow::coverage {

inline constexpr double kLabels = 58; // block numbers at the left
inline constexpr double kHeader = 24; // column numbers above
inline constexpr double kMinimap = 78; // at the right

} // namespace furrow::coverage
