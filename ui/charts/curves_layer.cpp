#include "ui/charts/curves_layer.h"

#include "ui/theme/theme.h"
#include "ui/widgets/worker_mark.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace furrow {
namespace {

constexpr double kFar = 1e6; // pixels: beyond, a coordinate is only "outside"

/// Cuts a polyline into single strokes, by a dash pattern [px] if there is one. Strokes of two points are what the
/// raster engine draws fast at any width; a long wide path is not.
QVector<QLineF> strokes(const QPolygonF& points, const QVector<double>& dash)
{
    QVector<QLineF> lines;
    lines.reserve(points.size());
    if (dash.isEmpty()) {
        for (int i = 1; i < points.size(); ++i)
            lines << QLineF(points[i - 1], points[i]);
        return lines;
    }
    int part = 0;
    double left = dash[0];
    for (int i = 1; i < points.size(); ++i) {
        QPointF from = points[i - 1];
        const QPointF to = points[i];
        double length = std::hypot(to.x() - from.x(), to.y() - from.y());
        if (length > 5000) { // mostly outside: not worth dashes
            lines << QLineF(from, to);
            continue;
        }
        while (length > 0) {
            const double used = std::min(left, length);
            const QPointF next = from + (to - from) * (used / length);
            if (part % 2 == 0)
                lines << QLineF(from, next);
            from = next;
            length -= used;
            left -= used;
            if (left <= 1e-9) {
                part = (part + 1) % static_cast<int>(dash.size());
                left = dash[part];
            }
        }
    }
    return lines;
}

/// Leaves out points that lie within a quarter of a pixel of the line between those that stay.
QPolygonF simplified(const QPolygonF& points)
{
    constexpr double kTolerance = 0.25;
    if (points.size() < 3)
        return points;
    QPolygonF out { points.first() };
    double lowest = -INFINITY; // slopes that still pass every skipped point
    double highest = INFINITY;
    for (int i = 1; i < points.size(); ++i) {
        const QPointF from = out.last();
        const double dx = points[i].x() - from.x();
        const double slope = dx > 0 ? (points[i].y() - from.y()) / dx : INFINITY;
        if (i > 1 && (dx <= 0 || slope < lowest || slope > highest)) {
            out << points[i - 1];
            lowest = -INFINITY;
            highest = INFINITY;
        }
        const double reach = points[i].x() - out.last().x();
        if (reach > 0) {
            const double rise = points[i].y() - out.last().y();
            lowest = std::max(lowest, (rise - kTolerance) / reach);
            highest = std::min(highest, (rise + kTolerance) / reach);
        }
    }
    out << points.last();
    return out;
}

/// Blends a premultiplied colour over a premultiplied pixel.
inline QRgb blended(QRgb over, QRgb under)
{
    const std::uint32_t keep = 255 - qAlpha(over);
    const std::uint32_t rb = ((under & 0xff00ffu) * keep + 0x800080u) >> 8 & 0xff00ffu;
    const std::uint32_t ag = ((under >> 8 & 0xff00ffu) * keep + 0x800080u) & 0xff00ff00u;
    return over + (rb | ag);
}

/// Vertical bars of one device pixel's width: much faster than lines of a painter when there are thousands.
void blendBar(QImage& image, int x, double top, double bottom, QRgb color)
{
    const int from = std::max(0, static_cast<int>(std::floor(top)));
    const int to = std::min(image.height() - 1, static_cast<int>(std::floor(bottom)));
    if (x < 0 || x >= image.width())
        return;
    const auto stride = image.bytesPerLine() / 4;
    auto* pixel = reinterpret_cast<QRgb*>(image.bits()) + from * stride + x;
    for (int y = from; y <= to; ++y, pixel += stride)
        *pixel = blended(color, *pixel);
}

bool overlaps(const Curve& curve, double begin, double end)
{
    return curve.size() > 0 && curve.x(0) <= end && curve.x(curve.size() - 1) >= begin;
}

double valueBefore(const std::vector<SmoothPoint>& points, double x, double tolerance)
{
    const auto after = std::upper_bound(points.begin(), points.end(), x, [](double v, const SmoothPoint& p) { return v < p.x; });
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
    notANumbers_ = 0;
    infinities_ = 0;
    for (const ChartLine& line : data_.lines) {
        const auto& bad = line.curve->nonFinite();
        for (std::size_t i = 0; i < bad.size(); ++i)
            ++(std::isnan(line.curve->y(bad[i])) ? notANumbers_ : infinities_);
    }
}

bool CurvesLayer::dataRange(double& begin, double& end) const
{
    bool found = false;
    for (const ChartLine& line : data_.lines) {
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

double CurvesLayer::smoothingWidth() const
{
    double begin = 0;
    double end = 0;
    if (options_.smoothing.width > 0 || !dataRange(begin, end))
        return options_.smoothing.width;
    return (end - begin) / 50;
}

void CurvesLayer::measure(double pixelRatio)
{
    pixelRatio_ = pixelRatio;
    const QCPRange range = mKeyAxis->range();
    const QRect area = mKeyAxis->axisRect()->rect();
    const int columns = std::max(1, static_cast<int>(area.width() * pixelRatio));
    edges_.resize(static_cast<std::size_t>(columns) + 1);
    for (int c = 0; c <= columns; ++c)
        edges_[static_cast<std::size_t>(c)] = mKeyAxis->pixelToCoord(area.left() + c / pixelRatio);
    edges_.back() = std::nextafter(std::max(edges_.back(), range.upper), INFINITY); // the last point belongs to the last pixel

    Smoothing smoothing = options_.smoothing;
    smoothing.width = smoothingWidth();
    if (options_.stacked)
        smoothing.kind = SmoothingKind::None;
    const auto grid = options_.logX ? edges_ : smoothingGrid(range.lower, range.upper, area.width() / 2, smoothing);
    shapes_.clear();
    mean_.clear();
    stack_.clear();
    std::vector<WeightedBin> all, own;
    std::vector<int> workers;
    for (std::size_t i = 0; i < data_.lines.size(); ++i) {
        const ChartLine& line = data_.lines[i];
        const auto limit = std::min(line.supersededFrom, line.curve->size());
        if (grid.size() < 2 || (!overlaps(*line.curve, edges_.front(), edges_.back()) && !overlaps(*line.curve, grid.front(), grid.back())))
            continue;
        Shape& shape = shapes_.emplace_back();
        shape.line = i;
        shape.columns = pixelColumns(*line.curve, edges_, limit);
        shape.visible = shape.columns.back().end - shape.columns.front().begin;
        if (limit < line.curve->size())
            shape.superseded = pixelColumns(*line.curve, edges_, line.curve->size());
        own.assign(own.size(), WeightedBin());
        addToBins(own, grid, *line.curve, line.weights.get(), limit);
        if (own.empty())
            continue;
        shape.smooth = smooth(own, smoothing);
        all.resize(own.size());
        if (workers.empty() || workers.back() != line.worker)
            workers.push_back(line.worker);
        for (std::size_t b = 0; b < own.size(); ++b) {
            all[b].x = own[b].x;
            all[b].sum += own[b].sum;
            all[b].weight += own[b].weight;
        }
    }
    if (options_.stacked)
        measureStack(workers);
    else if (options_.mean && workers.size() > 1)
        mean_ = smooth(all, smoothing);
}

/// Means of a pixel on top of each other; the extremes of a worker stand on what is below it.
void CurvesLayer::measureStack(const std::vector<int>& workers)
{
    const auto columns = edges_.size() - 1;
    std::vector<double> base(columns, 0);
    for (const int worker : workers) {
        std::vector<Summary> own(columns);
        for (const Shape& shape : shapes_) {
            for (std::size_t c = 0; c < columns && data_.lines[shape.line].worker == worker; ++c)
                own[c].add(shape.columns[c].summary);
        }
        Band band { worker, {}, {} };
        double last = NAN;
        for (std::size_t c = 0; c < columns; ++c) {
            const double before = base[c];
            if (!own[c].empty()) {
                last = own[c].mean(); // a pixel between two steps of a slow worker shows its last value
                band.extremes.push_back({ edges_[c], before + own[c].min, before + own[c].max });
            }
            if (std::isfinite(last))
                base[c] += last;
            if (base[c] > 0)
                band.top.push_back({ edges_[c], base[c] });
        }
        stack_.push_back(std::move(band));
    }
}

QCPRange CurvesLayer::suggestedValues() const
{
    std::vector<double> lows, highs;
    for (const Shape& shape : shapes_) {
        for (const PixelColumn& column : shape.columns) {
            if (column.summary.empty() || options_.stacked)
                continue;
            lows.push_back(column.summary.min);
            highs.push_back(column.summary.max);
        }
    }
    for (const Band& band : stack_) {
        for (const SmoothPoint& p : band.top)
            highs.push_back(p.y);
    }
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
    double value = NAN;
    for (const Shape& shape : shapes_) {
        if (data_.lines[shape.line].worker != worker)
            continue;
        const double here = valueBefore(shape.smooth, x, tolerance);
        if (std::isfinite(here))
            value = here;
    }
    return value;
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
    const auto columns = static_cast<std::size_t>(std::max(1, static_cast<int>(mKeyAxis->axisRect()->width() * pixelRatio_)));
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
            const bool vectors = painter->modes().testFlag(QCPPainter::pmVectorized);
            const QSize size = (QSizeF(clipRect().size()) * pixelRatio_).toSize();
            if (bars_.size() != size)
                bars_ = QImage(size, QImage::Format_ARGB32_Premultiplied);
            bars_.setDevicePixelRatio(pixelRatio_);
            bars_.fill(Qt::transparent);
            barsUsed_ = false;
            for (const Shape& shape : shapes_)
                drawRaw(p, shape, vectors);
            if (barsUsed_)
                p.drawImage(clipRect().topLeft(), bars_);
        }
        const Theme& t = theme();
        if (options_.smoothing.kind != SmoothingKind::None) {
            for (const Shape& shape : shapes_) {
                const int worker = data_.lines[shape.line].worker;
                drawSmooth(p, shape.smooth, t.workerColor(worker), Theme::workerDash(worker));
            }
        }
        drawSmooth(p, mean_, t.color(Token::Text1), {});
        drawOffScale(p);
    }
    drawMarks(p);
    drawExceptions(p);
    drawSeams(p);
    p.restore();
}

void CurvesLayer::drawSpans(QPainter& p) const
{
    const QRectF area = clipRect();
    for (const ChartSpan& gap : data_.gaps)
        drawHatch(p, QRectF(QPointF(px(gap.begin), area.top()), QPointF(px(gap.end), area.bottom())).intersected(area), theme().color(Token::Line), 7 / 1.41421356);
    for (const ChartSpan& span : highlights_) {
        double left = px(span.begin);
        double right = px(span.end);
        if (right - left < 3) {
            left = (left + right) / 2 - 1.5;
            right = left + 3;
        }
        p.fillRect(QRectF(QPointF(left, area.top()), QPointF(right, area.bottom())).intersected(area), theme().color(Token::Accent, 0.28));
    }
}

void CurvesLayer::drawPoints(QPainter& p, const Shape& shape, std::size_t begin, std::size_t end) const
{
    const Curve& curve = *data_.lines[shape.line].curve;
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

void CurvesLayer::drawRaw(QPainter& p, const Shape& shape, bool vectors)
{
    const ChartLine& line = data_.lines[shape.line];
    const Theme& t = theme();
    QColor color = t.workerColor(line.worker);
    if (options_.smoothing.kind != SmoothingKind::None)
        color.setAlphaF(shape.visible > shape.columns.size() * 2 ? 0.22f : 0.32f);
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
    if (shape.visible < shape.columns.size()) {
        // Fewer points than pixels: every one of them, and one neighbour on each side.
        const auto begin = shape.columns.front().begin;
        drawPoints(p, shape, begin > 0 ? begin - 1 : 0, std::min(limit, shape.columns.back().end + 1));
        return;
    }
    if (vectors)
        drawBars(p, shape, [&p](double x, double top, double bottom) { p.drawLine(QLineF(x, top, x, bottom)); });
    else
        drawBars(p, shape, [this, color = qPremultiply(color.rgba()), area = QRectF(clipRect())](double x, double top, double bottom) {
            blendBar(bars_, static_cast<int>((x - area.left()) * pixelRatio_), (top - area.top()) * pixelRatio_, (bottom - area.top()) * pixelRatio_, color);
            barsUsed_ = true;
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
        bar(x, top, bottom);
    }
}

void CurvesLayer::drawSmooth(QPainter& p, const std::vector<SmoothPoint>& points, const QColor& color, const QVector<double>& dash) const
{
    if (points.empty())
        return;
    // Cut at the sides by interpolation: far zooms have their neighbours far outside.
    const QRectF area = clipRect();
    const double left = area.left() - 10;
    const double right = area.right() + 10;
    const auto at = [&](const SmoothPoint& point) {
        return QPointF(std::clamp(px(point.x), -kFar, kFar), std::clamp(py(point.y), area.top() - 4000, area.bottom() + 4000));
    };
    const auto cut = [](const QPointF& a, const QPointF& b, double x) { return QPointF(x, a.y() + (b.y() - a.y()) * (x - a.x()) / (b.x() - a.x())); };
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
    const double ground = std::min(py(0), static_cast<double>(clipRect().bottom()));
    for (auto it = stack_.rbegin(); it != stack_.rend(); ++it) {
        if (it->top.size() < 2)
            continue;
        QPolygonF line;
        for (const SmoothPoint& point : it->top)
            line << QPointF(px(point.x), py(point.y));
        QPolygonF fill = line;
        fill << QPointF(line.last().x(), ground) << QPointF(line.first().x(), ground);
        const QColor color = theme().workerColor(it->worker);
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
        QVector<QLineF> bars;
        for (const auto& e : it->extremes)
            bars << QLineF(px(e.x), py(e.low), px(e.x), py(e.high));
        p.drawLines(bars);
    }
}

void CurvesLayer::drawMarks(QPainter& p) const
{
    const QRectF area = clipRect();
    for (const ChartEval& eval : data_.evals) {
        const QPointF at(px(eval.x), py(eval.y));
        if (std::isfinite(eval.y) && area.contains(at))
            drawEvalDiamond(p, at);
    }
}

/// A triangle at the edge for what is beyond it, with the true value; near ones share the triangle of the largest.
void CurvesLayer::drawOffScale(QPainter& p) const
{
    struct Off {
        double x;
        float value;
        int worker;
    };
    const QRectF area = clipRect();
    const Theme& t = theme();
    p.setFont(t.font(FontRole::Axis));
    for (const bool above : { true, false }) {
        std::vector<Off> found;
        for (const Shape& shape : shapes_) {
            for (std::size_t c = 0; c < shape.columns.size(); ++c) {
                const Summary& s = shape.columns[c].summary;
                if (!s.empty() && (above ? s.max > mValueAxis->range().upper : s.min < mValueAxis->range().lower))
                    found.push_back({ area.left() + static_cast<double>(c) / pixelRatio_, above ? s.max : s.min, data_.lines[shape.line].worker });
            }
        }
        std::sort(found.begin(), found.end(), [](const Off& a, const Off& b) { return a.x < b.x; });
        std::vector<Off> merged;
        for (const Off& off : found) {
            if (merged.empty() || off.x - merged.back().x > 14)
                merged.push_back(off);
            else if (above ? off.value > merged.back().value : off.value < merged.back().value)
                merged.back() = off;
        }
        const double edge = above ? area.top() + 1 : area.bottom() - 1;
        const double down = above ? 9 : -9;
        double textEnd = -INFINITY;
        for (const Off& off : merged) {
            p.setRenderHint(QPainter::Antialiasing, true);
            p.setPen(Qt::NoPen);
            p.setBrush(t.workerColor(off.worker));
            p.drawPolygon(QPolygonF { { off.x, edge }, { off.x + 5, edge + down }, { off.x - 5, edge + down } });
            const QString text = QCoreApplication::translate("CurvesLayer", "%1 off scale").arg(valueText(off.value));
            const double wide = QFontMetricsF(p.font()).horizontalAdvance(text);
            const double left = off.x + 10 + wide < area.right() ? off.x + 9 : off.x - 9 - wide;
            if (merged.size() > 12 || left < textEnd)
                continue;
            p.setPen(t.color(Token::Text2));
            p.drawText(QPointF(left, edge + (above ? 10 : -3)), text);
            textEnd = left + wide + 8;
        }
        p.setRenderHint(QPainter::Antialiasing, false);
    }
}

void CurvesLayer::drawExceptions(QPainter& p) const
{
    const QRectF area = clipRect();
    const Theme& t = theme();
    p.setFont(t.font(FontRole::Body, QFont::DemiBold));
    p.setPen(QPen(t.color(Token::Error), 1.6));
    p.setRenderHint(QPainter::Antialiasing, true);
    double lastCross = -INFINITY;
    double lastSign = -INFINITY;
    for (const Shape& shape : shapes_) {
        const Curve& curve = *data_.lines[shape.line].curve;
        const auto& bad = curve.nonFinite();
        for (auto i = bad.lowerBound(shape.columns.front().begin); i < bad.size() && bad[i] < shape.columns.back().end; ++i) {
            const double x = px(curve.x(bad[i]));
            const bool cross = std::isnan(curve.y(bad[i]));
            double& last = cross ? lastCross : lastSign;
            if (std::abs(x - last) < 10)
                continue;
            last = x;
            if (cross) {
                p.drawLine(QPointF(x - 4, area.bottom() - 9), QPointF(x + 4, area.bottom() - 1));
                p.drawLine(QPointF(x - 4, area.bottom() - 1), QPointF(x + 4, area.bottom() - 9));
            } else {
                p.drawText(QRectF(x - 10, area.top() - 2, 20, 16), Qt::AlignCenter, QStringLiteral("∞"));
            }
        }
    }
    p.setRenderHint(QPainter::Antialiasing, false);
}

void CurvesLayer::drawSeams(QPainter& p) const
{
    const QRectF area = clipRect();
    const Theme& t = theme();
    double tagEnd = -INFINITY;
    for (const ChartSeam& seam : data_.seams) {
        const double x = std::round(px(seam.x)) + 0.5;
        if (x < area.left() || x > area.right())
            continue;
        p.setPen(QPen(t.color(Token::Interrupted), 1));
        p.drawLines(strokes(QPolygonF { { x, area.top() }, { x, area.bottom() } }, { 4, 2 }));
        if (area.height() < 140)
            continue;
        const QFont bold = t.font(FontRole::Axis, QFont::DemiBold);
        const QFont plain = t.font(FontRole::Axis);
        const double titleWide = QFontMetricsF(bold).horizontalAdvance(seam.title);
        double wide = titleWide + 6 + QFontMetricsF(plain).horizontalAdvance(seam.text) + 16;
        const bool whole = std::max(x, tagEnd) + wide <= area.right();
        if (!whole)
            wide = titleWide + 16;
        const double left = x + wide <= area.right() ? x : x - wide;
        if (left < tagEnd)
            continue;
        tagEnd = left + wide + 4;
        const QRectF tag(left, area.top() + 0.5, wide, 18);
        p.setBrush(t.color(Token::InterruptedGround));
        p.setPen(QPen(t.color(Token::Interrupted), 1));
        p.drawRect(tag);
        p.setFont(bold);
        p.drawText(tag.adjusted(8, 0, 0, 0), Qt::AlignVCenter, seam.title);
        if (whole) {
            p.setFont(plain);
            p.setPen(t.color(Token::Text1));
            p.drawText(tag.adjusted(8 + titleWide + 6, 0, 0, 0), Qt::AlignVCenter, seam.text);
        }
    }
}

} // namespace furrow
