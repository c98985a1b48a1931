#pragma once

#include "core/telemetry/pyramid.h"
#include "core/telemetry/steady_column.h"

#include <memory>
#include <vector>

namespace furrow {

/// Points (x ascending, y any) that never change, with exact extremes of any index range. Thread-safe.
class Curve {
public:
    virtual ~Curve() = default;
    virtual std::size_t size() const = 0;
    virtual double x(std::size_t i) const = 0;
    virtual float y(std::size_t i) const = 0;
    /// First index with x(i) >= value; size() when there is none.
    virtual std::size_t lowerBound(double value) const = 0;
    /// The same when the answer is not before `from` and probably near from + guess: some probes instead of twenty.
    virtual std::size_t lowerBoundNear(double value, std::size_t from, std::size_t guess) const = 0;
    /// Finite values of [begin, end), begin <= end <= size().
    virtual Summary range(std::size_t begin, std::size_t end) const = 0;
    /// Indices of values that are NaN or infinite, ascending.
    virtual const Column<std::uint32_t>& nonFinite() const = 0;
};

using CurvePtr = std::shared_ptr<const Curve>;

/// x(i) = base + scale * units[i]: every x axis of a stretch is such a view of one integer column.
struct ScaledAxis {
    SteadyColumn units;
    double base = 0;
    double scale = 1;
};

/// A column with its extremes and its exceptions, as the store keeps it.
template <typename T> struct MetricColumn {
    Column<T> values;
    Pyramid pyramid;
    Column<std::uint32_t> nonFinite;

    void append(float value)
    {
        const T stored { value };
        const auto kept = static_cast<float>(stored);
        if (!std::isfinite(kept))
            nonFinite.append(static_cast<std::uint32_t>(values.size()));
        values.append(stored);
        pyramid.append(kept);
    }
    /// The first `count` values. The pyramid may know more: it is only asked about ranges of what is there.
    MetricColumn first(std::size_t count) const
    {
        return { values.first(count), pyramid, nonFinite.first(nonFinite.lowerBound(count)) };
    }
    std::size_t memoryBytes() const { return values.memoryBytes() + pyramid.memoryBytes() + nonFinite.memoryBytes(); }
};

CurvePtr makeCurve(ScaledAxis x, MetricColumn<float> y);
CurvePtr makeCurve(ScaledAxis x, MetricColumn<Duration16> y);
/// From plain arrays of equal length; x must ascend.
CurvePtr makeCurve(const std::vector<double>& x, const std::vector<float>& y);

} // namespace furrow
