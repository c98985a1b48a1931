#include "core/telemetry/curve.h"

#include "core/base/check.h"
#include "core/telemetry/pace_meter.h"

namespace furrow {
namespace {

/// First index in [from, size) with at(i) >= value, searched outwards from from + guess.
template <typename At>
std::size_t searchNear(std::size_t size, double value, std::size_t from, std::size_t guess, At at)
{
    std::size_t low = from;
    std::size_t high = size;
    const std::size_t probe = guess < size - from ? from + guess : size;
    std::size_t step = 4;
    if (probe < size && at(probe) < value) {
        low = probe + 1;
        while (low + step < size && at(low + step) < value) {
            low += step + 1;
            step *= 2;
        }
        high = std::min(size, low + step);
    } else {
        high = probe;
        while (high > from + step && !(at(high - step) < value)) {
            high -= step;
            step *= 2;
        }
        low = high > from + step ? high - step : from;
    }
    while (low < high) {
        const auto middle = low + (high - low) / 2;
        if (at(middle) < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct PlainAxis {
    Column<double> values;
    std::size_t size() const { return values.size(); }
    double operator[](std::size_t i) const { return values[i]; }
    void prefetch(std::size_t i) const { values.prefetch(i); }
};

struct UnitAxis {
    ScaledAxis axis;
    std::size_t size() const { return axis.units.size(); }
    double operator[](std::size_t i) const { return axis.base + axis.scale * axis.units[i]; }
    void prefetch(std::size_t) const { } // a byte or two a value: it is there already
};

template <typename Axis, typename Values> class ColumnCurve final : public Curve {
public:
    ColumnCurve(Axis x, Values y)
        : x_(std::move(x))
        , y_(std::move(y))
        , size_(std::min(x_.size(), y_.values.size()))
    {
    }
    std::size_t size() const override { return size_; }
    double x(std::size_t i) const override { return x_[i]; }
    float y(std::size_t i) const override { return static_cast<float>(y_.values[i]); }
    std::size_t lowerBound(double value) const override { return lowerBoundIn(x_, size_, value); }
    std::size_t lowerBoundNear(double value, std::size_t from, std::size_t guess) const override
    {
        if (from >= size_)
            return size_;
        const auto found = searchNear(size_, value, from, guess, [this](std::size_t i) { return x_[i]; });
        const auto next = found + (found - from); // where the search after this one begins: its memory comes meanwhile
        if (next < size_) {
            x_.prefetch(next);
            y_.values.prefetch(next);
        }
        return found;
    }
    Summary range(std::size_t begin, std::size_t end) const override { return y_.range(begin, end); }
    double newest(std::size_t end) const override { return y_.newest(end); }
    const Column<std::uint32_t>& nonFinite() const override { return y_.nonFinite; }

private:
    Axis x_;
    Values y_;
    std::size_t size_;
};

template <typename Values> CurvePtr curveOver(ScaledAxis x, Values y)
{
    return std::make_shared<ColumnCurve<UnitAxis, Values>>(UnitAxis { std::move(x) }, std::move(y));
}

} // namespace

Summary PaceColumn::range(std::size_t begin, std::size_t end) const
{
    constexpr double kNothing = 1e-9; // alone, steps without a time show their own pace; beside others they vanish
    Summary joined = MetricColumn::range(begin, end);
    const std::size_t from = std::clamp(timedFrom, begin, end);
    const double took = share * seconds.range(StepSeconds { tokens.values, values }, from, end).sum;
    const bool isTimed = took > 0;
    joined.sum = isTimed ? share * tokens.range(from, end).sum : kNothing * joined.sum;
    joined.weight = isTimed ? took : kNothing * joined.weight;
    return joined;
}

double PaceColumn::newest(std::size_t end) const
{
    std::size_t begin = end - 1;
    for (std::size_t back = 2; begin > 0 && range(begin, end).weight < PaceMeter::kFadeSeconds; back *= 2)
        begin = end - std::min(end, back);
    return range(begin, end).mean();
}

CurvePtr makeCurve(ScaledAxis x, MetricColumn<float> y) { return curveOver(std::move(x), std::move(y)); }

CurvePtr makeCurve(ScaledAxis x, MetricColumn<Duration16> y) { return curveOver(std::move(x), std::move(y)); }

CurvePtr makeCurve(ScaledAxis x, PaceColumn y) { return curveOver(std::move(x), std::move(y)); }

CurvePtr makeCurve(const std::vector<double>& x, const std::vector<float>& y)
{
    FURROW_CHECK(x.size() == y.size(), "a curve needs as many x as y");
    PlainAxis axis;
    MetricColumn<float> values;
    for (std::size_t i = 0; i < x.size(); ++i) {
        axis.values.append(x[i]);
        values.append(y[i]);
    }
    return std::make_shared<ColumnCurve<PlainAxis, MetricColumn<float>>>(std::move(axis), std::move(values));
}

} // namespace furrow
