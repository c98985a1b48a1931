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
    /// Finite values of [begin, end), begin <= end <= size(), joined: whoever makes one value of points asks this.
    virtual Summary range(std::size_t begin, std::size_t end) const = 0;
    /// The value now, of the points before `end` > 0: the last one; of paces that of the last seconds.
    virtual double newest(std::size_t end) const = 0;
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
    Summary range(std::size_t begin, std::size_t end) const { return pyramid.range(values, begin, end); }
    double newest(std::size_t end) const { return static_cast<double>(static_cast<float>(values[end - 1])); }
    std::size_t memoryBytes() const { return values.memoryBytes() + pyramid.memoryBytes() + nonFinite.memoryBytes(); }
};

/// The time that each step took [s], by its tokens and its pace: values for a Pyramid that nobody has to keep. 0 of a
/// step without pace.
struct StepSeconds {
    const Column<float>& tokens;
    const Column<float>& perSecond;

    std::size_t size() const { return std::min(tokens.size(), perSecond.size()); }
    float operator[](std::size_t i) const
    {
        const float pace = perSecond[i];
        return pace > 0 ? tokens[i] / pace : 0;
    }
    template <typename Take> void forEach(std::size_t begin, std::size_t end, Take take) const
    {
        for (; begin < end; ++begin)
            take((*this)[begin]);
    }
};

/// Tokens per second of each step. Steps are joined as PaceMeter joins them: all their tokens over all the time they
/// took, for a mean of paces weighs a step that stood as a quick one. Their time is what the worker took since the step
/// before: a wait for data counts, and so does the copy for a checkpoint. A pause, an evaluation, a sample, a merge, a
/// wait until a checkpoint is committed and what lies between two processes belong to no step and do not count; nor
/// does the first step of a process, which warms it up.
struct PaceColumn : MetricColumn<float> {
    MetricColumn<float> tokens; ///< of each step
    Pyramid seconds; ///< over StepSeconds
    double share = 1; ///< of both that are this worker's own: a data-parallel group makes a step together
    std::size_t timedFrom = 0; ///< steps before it are no measure of the others

    Summary range(std::size_t begin, std::size_t end) const;
    double newest(std::size_t end) const; ///< of PaceMeter::kFadeSeconds at least, where there are so many
};

CurvePtr makeCurve(ScaledAxis x, MetricColumn<float> y);
CurvePtr makeCurve(ScaledAxis x, MetricColumn<Duration16> y);
CurvePtr makeCurve(ScaledAxis x, PaceColumn y);
/// From plain arrays of equal length; x must ascend.
CurvePtr makeCurve(const std::vector<double>& x, const std::vector<float>& y);

} // namespace furrow
