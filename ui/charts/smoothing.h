#pragma once

#include "core/telemetry/curve.h"

#include <functional>
#include <vector>

namespace furrow {

enum class SmoothingKind { None, Ema, ZeroPhaseEma, Gaussian, Median };

/// A stretch of x.
struct ChartSpan {
    double begin = 0;
    double end = 0;
};

/// How a curve is smoothed. The width is in units of x, so that it means the same at any zoom.
struct Smoothing {
    SmoothingKind kind = SmoothingKind::Ema;
    double width = 0; ///< 0: a fiftieth of what the chart shows when it fits everything
    bool operator==(const Smoothing&) const = default;
};

/// Extremes of the points that fall into one pixel column; count == 0: none.
struct PixelColumn {
    Summary summary;
    std::size_t begin = 0;
    std::size_t end = 0;
};

/// Edges of pixel columns in x, one more than columns, ascending.
using ColumnEdges = std::vector<double>;

/// Exact summaries of the first `limit` points of a curve per column: what is drawn is what is there.
std::vector<PixelColumn> pixelColumns(const Curve& curve, const ColumnEdges& edges, std::size_t limit);

/// Value of a curve over an interval of x: its points joined (Summary), and what that weighs.
struct WeightedBin {
    double x = 0;
    double sum = 0; ///< weight times value
    double weight = 0; ///< 0: nothing here
    double mean() const { return sum / weight; }
};
/// Bins for smoothing between begin and end plus what the kernel needs on both sides. Aligned to a fixed grid and as
/// wide as the kernel wants them, so that neither panning, zooming nor the size of a widget changes the curve.
/// @param columns  without smoothing: how many bins are wanted
std::vector<double> smoothingGrid(double begin, double end, int columns, const Smoothing& smoothing);
/// The same for a logarithmic axis. @param firstPoint  where the data begin
std::vector<double> logSmoothingGrid(double begin, double end, double firstPoint, const Smoothing& smoothing);
/// @param weights  tokens of each step; null: points count as the curve joins them
void addToBins(std::vector<WeightedBin>& bins, const std::vector<double>& grid, const Curve& curve,
    const Curve* weights, std::size_t limit);
/// Smooths non-empty bins in place of their means. Points without any value stay out.
struct SmoothPoint {
    double x = 0;
    double y = 0;
};
std::vector<SmoothPoint> smooth(const std::vector<WeightedBin>& bins, const Smoothing& smoothing);
/// The same where nothing is joined over gaps: each piece between them by itself, then a point that is not a number.
/// @param gaps  ascending
std::vector<SmoothPoint> smooth(
    const std::vector<WeightedBin>& bins, const Smoothing& smoothing, const std::vector<ChartSpan>& gaps);

} // namespace furrow
