#include "ui/charts/curves_layer.h"

#include "ui/charts/curve_strokes.h"
#include "ui/theme/theme.h"
#include "ui/widgets/worker_mark.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace furrow {
namespace {

constexpr int kMarkRoom = 6; // pixels that a mark may reach beyond the edge
constexpr double kMeanPoints = 2; // of each worker within the width that the mean is smoothed by
constexpr double kDot = 2; // radius of a point that is a whole curve [pixels]
constexpr double kFar = 1e6; // pixels: beyond, a coordinate is only "outside"

bool overlaps(const Curve& curve, double begin, double end)
{
    return curve.size() > 0 && curve.x(0) <= end && curve.x(curve.size() - 1) >= begin;
}

/// What a curve fills of the picture: a short stretch is as dense as a long one.
std::size_t columnsFromFirstToLast(const std::vector<PixelColumn>& columns)
{
    const auto isFilled = [](const PixelColumn& column) { return column.end > column.begin; };
    const auto first = std::find_if(columns.begin(), columns.end(), isFilled);
    const auto last = std::find_if(columns.rbegin(), columns.rend(), isFilled).base();
    return first < last ? static_cast<std::size_t>(last - first) : 0;
}

double valueBefore(const std::vector<SmoothPoint>& points, double x, double tolerance)
{
    const auto after
        = std::upper_bound(points.begin(), points.end(), x, [](double v, const SmoothPoint& p) { return v < p.x; });
    if (after == points.begin())
        return points.empty() || points.front().x - x > tolerance ? NAN : points.front().y;
    const auto& before = *std::prev(after);
    return after == points.end() && x - before.x > tolerance ? NAN : before.y;
}

} // namespace

CurvesLayer::CurvesLayer(QCPAxis* keyAxis, QCPAxis* valueAxis)
    : QCPAbstractPlottable(keyAxis, valueAxis)
{
    setSelectable(QCP::stNone);
}

void CurvesLayer::setData(ChartData data)
{
    data_ = std::move(data);
    measured_ = false;
    notANumbers_ = 0;
    infinities_ = 0;
    for (const ChartLine& line : data_.lines) {
        const auto& bad = line.curve->nonFinite();
        for (std::size_t i = 0; i < bad.size(); ++i)
            ++(std::isnan(line.curve->y(bad[i])) ? notANumbers_ : infinities_);
    }
}

void CurvesLayer::setOptions(const ChartOptions& options)
{
    options_ = options;
    measured_ = false;
}

bool CurvesLayer::dataRange(double& begin, double& end) const { return rangeOf(data_.lines, begin, end); }

bool CurvesLayer::rangeOf(Lines lines, double& begin, double& end)
{
    bool found = false;
    for (const ChartLine& line : lines) {
        if (line.curve->size() == 0)
            continue;
        const double first = line.curve->x(0);
        const double last = line.curve->x(line.curve->size() - 1);
        begin = found ? std::min(begin, first) : first;
        end = found ? std::max(end, last) : last;
        found = true;
    }
    return found;
}

double CurvesLayer::smoothingWidth(Lines lines) const
{
    double begin = 0;
    double end = 0;
    if (options_.smoothing.width > 0 || !rangeOf(lines, begin, end))
        return options_.smoothing.width;
    return (end - begin) / 50;
}

/// Of the mean: a run of few steps has points so far apart that it would swing from one worker to the other.
double CurvesLayer::meanWidth(Lines lines, double width) const
{
    double begin = 0;
    double end = 0;
    if (options_.smoothing.width > 0 || !rangeOf(lines, begin, end))
        return width;
    double apart = 0;
    for (const ChartLine& line : lines) {
        if (const std::size_t size = line.curve->size(); size > 1)
            apart = std::max(apart, (line.curve->x(size - 1) - line.curve->x(0)) / static_cast<double>(size - 1));
    }
    return std::max(width, std::min(kMeanPoints * apart, (end - begin) / 10));
}

void CurvesLayer::measure(double pixelRatio)
{
    pixelRatio_ = pixelRatio;
    const QCPRange range = mKeyAxis->range();
    const QRect area = mKeyAxis->axisRect()->rect();
    const int columns = std::max(1, static_cast<int>(area.width() * pixelRatio));
    ColumnEdges edges(static_cast<std::size_t>(columns) + 1);
    for (int c = 0; c <= columns; ++c)
        edges[static_cast<std::size_t>(c)] = mKeyAxis->pixelToCoord(area.left() + c / pixelRatio);
    edges.back()
        = std::nextafter(std::max(edges.back(), range.upper), INFINITY); // the last point belongs to the last pixel
    if (measured_ && edges == edges_)
        return;
    measured_ = true;
    edges_ = std::move(edges);

    shapes_.clear();
    mean_.clear();
    total_.clear();
    runMeans_.clear();
    stack_.clear();
    if (!data_.names.empty())
        measureRuns();
    else if (auto mean = measureLines(data_.lines); options_.mean && !options_.stacked)
        mean_ = std::move(mean);
    if (options_.stacked)
        measureStack();
}

/// Each run by itself, as its own chart measures it: a short one beside a long one has the values that it has alone.
void CurvesLayer::measureRuns()
{
    const Lines lines(data_.lines);
    for (std::size_t begin = 0, end = 0; begin < lines.size(); begin = end) {
        const int run = lines[begin].worker;
        while (end < lines.size() && lines[end].worker == run)
            ++end;
        if (auto mean = measureLines(lines.subspan(begin, end - begin)); !mean.empty())
            runMeans_[run] = std::move(mean);
    }
}

/// Shapes of the lines of one run. Returns the mean over its workers; empty: there is only one.
std::vector<SmoothPoint> CurvesLayer::measureLines(Lines lines)
{
    Smoothing smoothing = options_.smoothing;
    smoothing.width = smoothingWidth(lines);
    QCPRange range = mKeyAxis->range();
    double firstPoint = range.lower;
    double lastPoint = range.upper;
    (void)rangeOf(lines, firstPoint, lastPoint);
    const double from = std::max(range.lower, firstPoint);
    const double to = std::min(range.upper, lastPoint);
    if (firstPoint < lastPoint && from < to)
        range = { from, to }; // no bins for where there are no data
    const auto grid = options_.logX
        ? logSmoothingGrid(range.lower, range.upper, firstPoint, smoothing)
        : smoothingGrid(range.lower, range.upper, mKeyAxis->axisRect()->width() / 2, smoothing);
    std::vector<WeightedBin> all, own;
    std::set<int> workers;
    for (const ChartLine& line : lines) {
        const auto limit = std::min(line.supersededFrom, line.curve->size());
        if (grid.size() < 2
            || (!overlaps(*line.curve, edges_.front(), edges_.back())
                && !overlaps(*line.curve, grid.front(), grid.back())))
            continue;
        Shape& shape = shapes_.emplace_back();
        shape.line = line;
        shape.columns = pixelColumns(*line.curve, edges_, limit);
        shape.visible = shape.columns.back().end - shape.columns.front().begin;
        shape.wide = columnsFromFirstToLast(shape.columns);
        if (limit < line.curve->size())
            shape.superseded = pixelColumns(*line.curve, edges_, line.curve->size());
        own.assign(own.size(), WeightedBin());
        addToBins(own, grid, *line.curve, line.weights.get(), limit);
        if (own.empty())
            continue;
        shape.smooth = smooth(own, smoothing);
        all.resize(own.size());
        workers.insert(data_.names.empty() ? line.worker : line.member);
        for (std::size_t b = 0; b < own.size(); ++b) {
            all[b].x = own[b].x;
            all[b].sum += own[b].sum;
            all[b].weight += own[b].weight;
        }
    }
    if (workers.size() < 2)
        return {};
    smoothing.width = meanWidth(lines, smoothing.width);
    return smooth(all, smoothing, unknownSpans(data_, lines));
}

/// Where a worker made steps that survive. The last one reaches as far as its others did, but into no later attempt.
std::vector<ChartSpan> CurvesLayer::trainedSpans(int worker) const
{
    std::vector<ChartSpan> spans;
    for (const Shape& shape : shapes_) {
        if (shape.line.worker != worker)
            continue;
        const Curve& curve = *shape.line.curve;
        const auto limit = std::min(shape.line.supersededFrom, curve.size());
        if (limit == 0)
            continue;
        const auto steps = limit - 1;
        const double begin = curve.x(0);
        const double last = curve.x(steps);
        double end = steps > 0 ? last + (last - begin) / static_cast<double>(steps) : last;
        for (const ChartSeam& seam : data_.seams)
            if (seam.x > last)
                end = std::min(end, seam.x);
        spans.push_back({ begin, end });
    }
    return spans;
}

/// What the stretches of a worker have in each pixel.
std::vector<CurvesLayer::StackedColumn> CurvesLayer::stackedColumns(int worker) const
{
    std::vector<StackedColumn> own(edges_.size() - 1);
    for (const Shape& shape : shapes_) {
        for (std::size_t c = 0; c < own.size() && shape.line.worker == worker; ++c) {
            if (shape.columns[c].summary.empty())
                continue;
            own[c].points.add(shape.columns[c].summary);
            own[c].value = options_.smoothing.kind == SmoothingKind::None
                ? own[c].points.mean()
                : valueBefore(shape.smooth, edges_[c + 1], INFINITY);
        }
    }
    return own;
}

/// Values of a pixel on top of each other; the extremes of a worker stand on what is below it.
void CurvesLayer::measureStack()
{
    std::set<int> workers;
    for (const Shape& shape : shapes_)
        workers.insert(shape.line.worker);
    const auto columns = edges_.size() - 1;
    std::vector<double> tops(columns, NAN); // of the bands so far
    for (const int worker : workers) {
        const std::vector<StackedColumn> own = stackedColumns(worker);
        const std::vector<ChartSpan> trained = trainedSpans(worker);
        const auto trains = [&](std::size_t c) {
            return std::any_of(trained.begin(), trained.end(),
                [&](const ChartSpan& span) { return span.begin < edges_[c + 1] && span.end > edges_[c]; });
        };
        Band band { worker, {}, {} };
        double last = NAN;
        for (std::size_t c = 0; c < columns; ++c) {
            const double before = std::isfinite(tops[c]) ? tops[c] : 0;
            const bool wasThere = std::isfinite(last);
            if (const Summary& points = own[c].points; !points.empty()) {
                last = own[c].value; // a pixel between two steps of a slow worker shows its last value
                band.extremes.push_back({ edges_[c], before + points.min, before + points.max });
            } else if (!trains(c)) {
                last = NAN; // it ended: what others do later is not on top of it
            }
            if (!std::isfinite(last))
                continue;
            if (!wasThere)
                band.tops.emplace_back();
            tops[c] = before + last;
            band.tops.back().push_back({ edges_[c], tops[c] });
        }
        stack_.push_back(std::move(band));
    }
    for (std::size_t c = 0; c < columns; ++c)
        if (std::isfinite(tops[c]))
            total_.push_back({ edges_[c], tops[c] });
}

/// As drawRaw() dashes them.
std::vector<double> CurvesLayer::lostValues() const
{
    std::vector<double> values;
    for (const Shape& shape : shapes_) {
        const auto limit = std::min(shape.line.supersededFrom, shape.line.curve->size());
        for (const PixelColumn& column : shape.superseded)
            if (column.end > limit && !column.summary.empty())
                values.push_back(column.summary.mean());
    }
    return values;
}

QCPRange CurvesLayer::suggestedValues() const
{
    std::vector<double> lows, highs;
    std::vector<double> lost = options_.stacked ? std::vector<double>() : lostValues();
    for (const Shape& shape : shapes_) {
        for (const PixelColumn& column : shape.columns) {
            if (column.summary.empty() || options_.stacked)
                continue;
            lows.push_back(column.summary.min);
            highs.push_back(column.summary.max);
        }
    }
    for (const Band& band : stack_) {
        for (const auto& top : band.tops) {
            for (const SmoothPoint& p : top)
                highs.push_back(p.y);
        }
    }
    if (highs.empty() && !lost.empty())
        lows = highs = lost;
    if (highs.empty())
        return { 0, 1 };
    if (lows.empty())
        lows.push_back(0);
    const auto quantile = [](std::vector<double>& v, double q) {
        const auto at = v.begin() + static_cast<std::ptrdiff_t>(q * static_cast<double>(v.size() - 1));
        std::nth_element(v.begin(), at, v.end());
        return *at;
    };
    const double clip = options_.clipPercent / 100;
    double low = quantile(lows, clip);
    double high = quantile(highs, 1 - clip);
    if (!lost.empty()) { // judged by themselves: few among many would be clipped away
        low = std::min(low, quantile(lost, clip));
        high = std::max(high, quantile(lost, 1 - clip));
    }
    for (const ChartEval& eval : data_.evals) {
        if (eval.x >= edges_.front() && eval.x <= edges_.back() && std::isfinite(eval.y)) {
            low = std::min(low, eval.y);
            high = std::max(high, std::min(eval.y, high + (high - low)));
        }
    }
    if (options_.fromZero || options_.stacked)
        low = std::min(low, 0.0);
    if (options_.logY)
        return { std::max(low, 1e-12) * 0.9, std::max(high, 1e-12) * 1.1 };
    const double room = high > low ? (high - low) * 0.06 : std::max(1e-9, std::abs(high) * 0.05);
    return { low == 0 ? 0 : low - room, high + room };
}

std::size_t CurvesLayer::pointsPerPixel() const
{
    std::size_t most = 1;
    for (const Shape& shape : shapes_) {
        for (const PixelColumn& column : shape.columns)
            most = std::max(most, column.end - column.begin);
    }
    return most;
}

double CurvesLayer::valueAt(int worker, double x) const
{
    const double tolerance = edges_.size() < 2 ? 0 : (edges_.back() - edges_.front()) / 200;
    if (const auto* mean = meanOfRun(worker))
        return valueBefore(*mean, x, tolerance);
    double value = NAN;
    for (const Shape& shape : shapes_) {
        if (shape.line.worker != worker)
            continue;
        if (const double here = valueBefore(shape.smooth, x, tolerance); std::isfinite(here))
            value = here;
    }
    return value;
}

const std::vector<SmoothPoint>* CurvesLayer::meanOfRun(int run) const
{
    const auto found = runMeans_.find(run);
    return found == runMeans_.end() ? nullptr : &found->second;
}

double CurvesLayer::meanAt(double x) const
{
    return valueBefore(mean_, x, edges_.size() < 2 ? 0 : (edges_.back() - edges_.front()) / 200);
}

QCPRange CurvesLayer::getKeyRange(bool& found, QCP::SignDomain) const
{
    double begin = 0;
    double end = 1;
    found = dataRange(begin, end);
    return { begin, end };
}

QCPRange CurvesLayer::getValueRange(bool& found, QCP::SignDomain, const QCPRange&) const
{
    found = !shapes_.empty();
    return suggestedValues();
}

double CurvesLayer::py(double y) const
{
    if (options_.logY && y <= 0)
        return kFar;
    return std::clamp(mValueAxis->coordToPixel(y), -kFar, kFar);
}

void CurvesLayer::draw(QCPPainter* painter)
{
    // A replot that nobody measured (the plot resized itself, or another range): catch up.
    const auto columns
        = static_cast<std::size_t>(std::max(1, static_cast<int>(mKeyAxis->axisRect()->width() * pixelRatio_)));
    if (edges_.size() != columns + 1)
        measure(pixelRatio_);
    QPainter& p = *painter;
    p.save();
    p.setRenderHint(QPainter::Antialiasing, false);
    drawSpans(p);
    if (options_.stacked) {
        drawStack(p);
    } else {
        if (options_.raw || options_.smoothing.kind == SmoothingKind::None) {
            auto* picture = dynamic_cast<QImage*>(painter->device());
            const QRectF area = QRectF(clipRect());
            bars_.clear(picture
                    ? QRectF(area.topLeft() * pixelRatio_, area.size() * pixelRatio_).toRect() & picture->rect()
                    : QRect());
            for (const Shape& shape : shapes_)
                drawRaw(p, shape, picture);
            if (picture)
                bars_.paintOn(*picture);
        }
        const Theme& t = theme();
        if (options_.smoothing.kind != SmoothingKind::None) {
            for (const Shape& shape : shapes_) {
                const int worker = shape.line.worker;
                if (meanOfRun(worker) == nullptr)
                    drawSmooth(p, shape.smooth, t.workerColor(worker), Theme::workerDash(worker));
            }
            for (const auto& [run, mean] : runMeans_)
                drawSmooth(p, mean, t.workerColor(run), Theme::workerDash(run));
        }
        drawSmooth(p, mean_, t.color(Token::Text1), {});
    }
    EdgeRoom top(true);
    EdgeRoom bottom(false);
    drawSeams(p, top);
    if (!options_.stacked) {
        drawOffScale(p, true, top);
        drawOffScale(p, false, bottom);
    }
    drawExceptions(p, top, bottom);
    coverOutside(p, parentPlot()->rect(), clipRect(), theme().color(Token::Inset));
    p.setClipRect(clipRect().adjusted(-kMarkRoom, -kMarkRoom, kMarkRoom, kMarkRoom)); // one at the edge is drawn whole
    drawMarks(p);
    p.restore();
}

void CurvesLayer::drawPoints(QPainter& p, const Shape& shape, std::size_t begin, std::size_t end) const
{
    const Curve& curve = *shape.line.curve;
    QPolygonF points;
    p.setRenderHint(QPainter::Antialiasing, true);
    for (auto i = begin; i < end; ++i) {
        const float y = curve.y(i);
        if (!std::isfinite(y)) {
            p.drawPolyline(points);
            points.clear();
            continue;
        }
        points << QPointF(std::clamp(px(curve.x(i)), -kFar, kFar), py(y));
    }
    p.drawPolyline(points);
    p.setRenderHint(QPainter::Antialiasing, false);
}

void CurvesLayer::drawRaw(QPainter& p, const Shape& shape, QImage* picture)
{
    const ChartLine& line = shape.line;
    const Theme& t = theme();
    QColor color = t.workerColor(line.worker);
    if (options_.smoothing.kind != SmoothingKind::None)
        color.setAlphaF(shape.visible > shape.wide * 2 ? 0.22f : 0.32f);
    const auto limit = std::min(line.supersededFrom, line.curve->size());
    if (!shape.superseded.empty()) {
        // Redone later: dashed, in a colour that says "not in the weights".
        QPolygonF points;
        for (std::size_t c = 0; c < shape.superseded.size(); ++c) {
            const PixelColumn& column = shape.superseded[c];
            if (column.end > limit && !column.summary.empty())
                points << QPointF(clipRect().left() + static_cast<double>(c) / pixelRatio_, py(column.summary.mean()));
        }
        p.setPen(QPen(t.color(Token::Text3), 1));
        p.drawLines(strokes(points, { 3, 3 }));
    }
    p.setPen(QPen(color, 1));
    if (limit == 1 && shape.visible == 1) { // one pixel would hardly be seen
        p.setBrush(color);
        if (const float y = line.curve->y(0); std::isfinite(y))
            p.drawEllipse(QPointF(px(line.curve->x(0)), py(y)), kDot, kDot);
        p.setBrush(Qt::NoBrush);
        return;
    }
    if (shape.visible < shape.wide) {
        // Fewer points than pixels: every one of them, and one neighbour on each side.
        const auto begin = shape.columns.front().begin;
        drawPoints(p, shape, begin > 0 ? begin - 1 : 0, std::min(limit, shape.columns.back().end + 1));
        return;
    }
    if (picture == nullptr) // vectors
        drawBars(p, shape,
            [&p](std::size_t, double x, double top, double bottom) { p.drawLine(QLineF(x, top, x, bottom)); });
    else
        drawBars(p, shape,
            [this, color = qPremultiply(color.rgba())](std::size_t column, double, double top, double bottom) {
                bars_.add(column, top * pixelRatio_, bottom * pixelRatio_, color);
            });
}

/// From minimum to maximum in each column; neighbours that do not touch are joined.
template <typename Bar> void CurvesLayer::drawBars(QPainter& p, const Shape& shape, Bar bar)
{
    const double left = clipRect().left() + 0.5 / pixelRatio_;
    double before = NAN;
    double beforeLow = 0;
    double beforeX = 0;
    for (std::size_t c = 0; c < shape.columns.size(); ++c) {
        const Summary& s = shape.columns[c].summary;
        if (s.empty())
            continue;
        const double x = left + static_cast<double>(c) / pixelRatio_;
        double top = py(s.max);
        double bottom = py(s.min);
        if (std::isfinite(before)) {
            if (x - beforeX > 1.5 / pixelRatio_)
                p.drawLine(QLineF(beforeX, (before + beforeLow) / 2, x, (top + bottom) / 2));
            else if (top > beforeLow)
                top = beforeLow;
            else if (bottom < before)
                bottom = before;
        }
        before = py(s.max);
        beforeLow = py(s.min);
        beforeX = x;
        bar(c, x, top, bottom);
    }
}

/// In pieces, where points that are not numbers part them.
void CurvesLayer::drawSmooth(
    QPainter& p, std::span<const SmoothPoint> points, const QColor& color, const QVector<double>& dash) const
{
    for (auto begin = points.begin(); begin != points.end();) {
        const auto end = std::find_if(begin, points.end(), [](const SmoothPoint& at) { return std::isnan(at.y); });
        drawPiece(p, { begin, end }, color, dash);
        begin = end == points.end() ? end : end + 1;
    }
}

void CurvesLayer::drawPiece(
    QPainter& p, std::span<const SmoothPoint> points, const QColor& color, const QVector<double>& dash) const
{
    // Cut at the sides by interpolation: far zooms have their neighbours far outside.
    const QRectF area = clipRect();
    const double left = area.left() - 10;
    const double right = area.right() + 10;
    const auto at = [&](const SmoothPoint& point) {
        return QPointF(
            std::clamp(px(point.x), -kFar, kFar), std::clamp(py(point.y), area.top() - 4000, area.bottom() + 4000));
    };
    const auto cut = [](const QPointF& a, const QPointF& b, double x) {
        return QPointF(x, a.y() + (b.y() - a.y()) * (x - a.x()) / (b.x() - a.x()));
    };
    QPolygonF line;
    QPointF before;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const QPointF here = at(points[i]);
        if (i > 0 && before.x() < left && here.x() > left)
            line << cut(before, here, left);
        if (here.x() >= left && here.x() <= right)
            line << here;
        if (i > 0 && before.x() < right && here.x() > right) {
            line << cut(before, here, right);
            break;
        }
        before = here;
    }
    if (line.isEmpty())
        return;
    p.setRenderHint(QPainter::Antialiasing, true);
    p.setPen(QPen(color, 2, Qt::SolidLine, dash.isEmpty() ? Qt::SquareCap : Qt::FlatCap));
    if (line.size() == 1)
        p.drawPoint(line.first());
    else
        p.drawLines(strokes(simplified(line), dash));
    p.setRenderHint(QPainter::Antialiasing, false);
}

void CurvesLayer::drawStack(QPainter& p) const
{
    for (auto band = stack_.rbegin(); band != stack_.rend(); ++band) {
        const QColor color = theme().workerColor(band->worker);
        for (const auto& top : band->tops)
            drawBand(p, top, color);
        QVector<QLineF> bars;
        for (const auto& e : band->extremes)
            bars << QLineF(px(e.x), py(e.low), px(e.x), py(e.high));
        QColor faint = color; // noise that fills the band would hide its mean
        faint.setAlphaF(0.32f);
        p.setPen(QPen(faint, 1));
        p.drawLines(bars);
    }
}

void CurvesLayer::drawBand(QPainter& p, const std::vector<SmoothPoint>& top, const QColor& color) const
{
    if (top.size() < 2)
        return;
    const double ground = std::min(py(0), static_cast<double>(clipRect().bottom()));
    QPolygonF line;
    for (const SmoothPoint& point : top)
        line << QPointF(px(point.x), py(point.y));
    QPolygonF fill = line;
    fill << QPointF(line.last().x(), ground) << QPointF(line.first().x(), ground);
    // The ground first: bands lie on top of each other, their tints must not add up.
    p.setPen(Qt::NoPen);
    p.setBrush(theme().color(Token::Inset));
    p.drawPolygon(fill);
    QColor tint = color;
    tint.setAlphaF(0.16f);
    p.setBrush(tint);
    p.drawPolygon(fill);
    p.setBrush(Qt::NoBrush);
    p.setRenderHint(QPainter::Antialiasing, true);
    p.setPen(QPen(color, 1));
    p.drawLines(strokes(line, {}));
    p.setRenderHint(QPainter::Antialiasing, false);
}

} // namespace furrow
