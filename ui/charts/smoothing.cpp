// Smoothing works on bins, not on points: its cost depends on what is seen, not on how long the run is. Each bin is the
// exact weighted mean of its points (from the pyramid), and a fixed share of the kernel's width, whatever the zoom and
// the size of the widget: the same data has the same smoothed value everywhere.
#include "ui/charts/smoothing.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace furrow {
namespace {

constexpr double kGaussianReach = 3; // widths on each side of a point that matter
constexpr double kEmaReach = 16; // beyond them a point weighs less than a millionth
constexpr double kBinsPerWidth = 16;
constexpr double kLogStep = 1.0 / 64; // octaves between the edges of a logarithmic axis
constexpr double kMostOctaves = 30;
constexpr int kMaxBins = 20000; // only a width far below a pixel needs more: it shows as no smoothing

struct Accumulated {
    double sum = 0;
    double weight = 0;
};

/// Exponential sums of bins 0..i, own bin included. Weights per unit of x, not per bin, hence "time-weighted".
std::vector<Accumulated> exponential(const std::vector<WeightedBin>& bins, double width, bool backward)
{
    std::vector<Accumulated> out(bins.size());
    Accumulated now;
    double distance = 0;
    double decay = 1;
    for (std::size_t k = 0; k < bins.size(); ++k) {
        const auto i = backward ? bins.size() - 1 - k : k;
        if (k > 0) {
            const auto before = backward ? i + 1 : i - 1;
            const double apart = std::abs(bins[i].x - bins[before].x);
            if (apart != distance) { // bins are even but for gaps
                distance = apart;
                decay = std::exp(-distance / width);
            }
            now.sum *= decay;
            now.weight *= decay;
        }
        now.sum += bins[i].sum;
        now.weight += bins[i].weight;
        out[i] = now;
    }
    return out;
}

/// Weights of a Gaussian by distance. On even bins there are few distances, and exp() is asked once for each.
class GaussianWeights {
public:
    GaussianWeights(const std::vector<WeightedBin>& all, double width)
        : width_(width)
    {
        const double step = all.size() > 1 ? all[1].x - all[0].x : 0;
        const double length = all.back().x - all.front().x;
        if (step > 0 && std::abs(step * static_cast<double>(all.size() - 1) - length) < step / 4)
            step_ = step;
        for (double d = 0; step_ > 0 && d <= width * kGaussianReach + step_; d += step_)
            even_.push_back(weight(d));
    }
    double operator()(double distance) const
    {
        const auto at = static_cast<std::size_t>(step_ > 0 ? std::abs(distance) / step_ + 0.5 : 0);
        return step_ > 0 && at < even_.size() ? even_[at] : weight(distance);
    }

private:
    double weight(double distance) const { return std::exp(-0.5 * distance * distance / (width_ * width_)); }

    double width_;
    double step_ = 0; // 0: the bins are not even
    std::vector<double> even_;
};

std::vector<SmoothPoint> symmetric(
    const std::vector<WeightedBin>& bins, const std::vector<WeightedBin>& all, const Smoothing& smoothing)
{
    std::vector<SmoothPoint> out;
    std::size_t low = 0;
    std::vector<double> window;
    const bool median = smoothing.kind == SmoothingKind::Median;
    const double reach = median ? smoothing.width / 2 : smoothing.width * kGaussianReach;
    const GaussianWeights weights(all, smoothing.width);
    for (const WeightedBin& bin : bins) {
        while (bins[low].x < bin.x - reach)
            ++low;
        double sum = 0;
        double weight = 0;
        window.clear();
        for (auto j = low; j < bins.size() && bins[j].x <= bin.x + reach; ++j) {
            if (median) {
                window.push_back(bins[j].mean());
                continue;
            }
            const double k = weights(bins[j].x - bin.x);
            sum += k * bins[j].sum;
            weight += k * bins[j].weight;
        }
        if (median) {
            const auto middle = window.begin() + static_cast<std::ptrdiff_t>(window.size() / 2);
            std::nth_element(window.begin(), middle, window.end());
            out.push_back({ bin.x, *middle });
        } else {
            out.push_back({ bin.x, sum / weight });
        }
    }
    return out;
}

} // namespace

std::vector<PixelColumn> pixelColumns(const Curve& curve, const ColumnEdges& edges, std::size_t limit)
{
    std::vector<PixelColumn> columns(edges.empty() ? 0 : edges.size() - 1);
    if (columns.empty())
        return columns;
    auto begin = std::min(limit, curve.lowerBound(edges[0]));
    std::size_t guess = 1;
    for (std::size_t c = 0; c < columns.size(); ++c) {
        const auto end = begin >= limit ? begin : std::min(limit, curve.lowerBoundNear(edges[c + 1], begin, guess));
        guess = end - begin;
        columns[c].begin = begin;
        columns[c].end = end;
        if (end > begin)
            columns[c].summary = curve.range(begin, end);
        begin = end;
    }
    return columns;
}

namespace {

/// Beside what is shown; 0: nothing more matters.
double reachOf(const Smoothing& smoothing)
{
    switch (smoothing.kind) {
    case SmoothingKind::None: return 0;
    case SmoothingKind::Ema:
    case SmoothingKind::ZeroPhaseEma: return smoothing.width * kEmaReach;
    default: return smoothing.width * kGaussianReach;
    }
}

} // namespace

std::vector<double> smoothingGrid(double begin, double end, int columns, const Smoothing& smoothing)
{
    const double reach = reachOf(smoothing);
    const double fine = smoothing.kind == SmoothingKind::None || smoothing.width <= 0
        ? (end - begin) / std::max(1, columns)
        : smoothing.width / kBinsPerWidth;
    double step = std::exp2(std::floor(std::log2(std::max(fine, 1e-300))));
    while ((end - begin + 2 * reach) / step > kMaxBins)
        step *= 2;
    const double first = std::floor((begin - reach) / step);
    const double last = std::ceil((end + reach) / step);
    std::vector<double> grid;
    if (!(last - first < 4.0 * kMaxBins))
        return grid;
    grid.reserve(static_cast<std::size_t>(last - first) + 1);
    for (double i = first; i <= last; ++i)
        grid.push_back(i * step);
    return grid;
}

std::vector<double> logSmoothingGrid(double begin, double end, double firstPoint, const Smoothing& smoothing)
{
    const double reach = reachOf(smoothing);
    const double high = std::max(end + reach, std::numeric_limits<double>::min());
    const double low = std::max({ begin - reach > 0 ? begin - reach : std::min(begin, firstPoint),
        high * std::exp2(-kMostOctaves), std::numeric_limits<double>::min() });
    std::vector<double> grid;
    const double last = std::ceil(std::log2(high) / kLogStep);
    for (double i = std::floor(std::log2(low) / kLogStep); i <= last; ++i)
        grid.push_back(std::exp2(i * kLogStep));
    return grid;
}

void addToBins(std::vector<WeightedBin>& bins, const std::vector<double>& grid, const Curve& curve,
    const Curve* weights, std::size_t limit)
{
    if (grid.size() < 2)
        return;
    bins.resize(grid.size() - 1);
    for (std::size_t i = 0; i + 1 < grid.size(); ++i)
        bins[i].x = (grid[i] + grid[i + 1]) / 2;
    const auto stop = std::min(limit, curve.size());
    // Only the bins that this curve touches.
    auto begin = std::min(stop, curve.lowerBound(grid.front()));
    if (begin >= stop)
        return;
    std::size_t guess = 1;
    auto bin = static_cast<std::size_t>(
        std::max<std::ptrdiff_t>(0, std::upper_bound(grid.begin(), grid.end(), curve.x(begin)) - grid.begin() - 1));
    for (; bin + 1 < grid.size() && begin < stop; ++bin) {
        const auto end = std::min(stop, curve.lowerBoundNear(grid[bin + 1], begin, guess));
        guess = end - begin;
        if (end == begin)
            continue;
        const Summary s = curve.range(begin, end);
        if (s.weight > 0) {
            double each = 1;
            if (weights && end <= weights->size()) {
                const double mean = weights->range(begin, end).mean();
                each = std::isfinite(mean) && mean > 0 ? mean : 1;
            }
            bins[bin].sum += each * s.sum;
            bins[bin].weight += each * s.weight;
        }
        begin = end;
    }
}

std::vector<SmoothPoint> smooth(const std::vector<WeightedBin>& all, const Smoothing& smoothing)
{
    std::vector<WeightedBin> bins;
    bins.reserve(all.size());
    for (const WeightedBin& bin : all) {
        if (bin.weight > 0)
            bins.push_back(bin);
    }
    std::vector<SmoothPoint> out;
    if (bins.empty())
        return out;
    if (smoothing.kind == SmoothingKind::Gaussian || smoothing.kind == SmoothingKind::Median)
        return symmetric(bins, all, smoothing);
    out.reserve(bins.size());
    if (smoothing.kind == SmoothingKind::None || smoothing.width <= 0) {
        for (const WeightedBin& bin : bins)
            out.push_back({ bin.x, bin.mean() });
        return out;
    }
    const auto forward = exponential(bins, smoothing.width, false);
    if (smoothing.kind == SmoothingKind::Ema) {
        for (std::size_t i = 0; i < bins.size(); ++i)
            out.push_back({ bins[i].x, forward[i].sum / forward[i].weight });
        return out;
    }
    const auto backward = exponential(bins, smoothing.width, true);
    for (std::size_t i = 0; i < bins.size(); ++i) {
        const double sum = forward[i].sum + backward[i].sum - bins[i].sum;
        out.push_back({ bins[i].x, sum / (forward[i].weight + backward[i].weight - bins[i].weight) });
    }
    return out;
}

std::vector<SmoothPoint> smooth(
    const std::vector<WeightedBin>& bins, const Smoothing& smoothing, const std::vector<ChartSpan>& gaps)
{
    std::vector<SmoothPoint> out;
    auto begin = bins.begin();
    const auto addUntil = [&](auto end) {
        const auto piece = smooth(std::vector<WeightedBin>(begin, end), smoothing);
        out.insert(out.end(), piece.begin(), piece.end());
        begin = end;
    };
    for (const ChartSpan& gap : gaps) {
        addUntil(std::lower_bound(
            begin, bins.end(), (gap.begin + gap.end) / 2, [](const WeightedBin& bin, double x) { return bin.x < x; }));
        if (!out.empty() && !std::isnan(out.back().y))
            out.push_back({ std::max(out.back().x, gap.begin), std::numeric_limits<double>::quiet_NaN() });
    }
    addUntil(bins.end());
    if (!out.empty() && std::isnan(out.back().y))
        out.pop_back();
    return out;
}

} // namespace furrow
