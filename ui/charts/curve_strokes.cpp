#include "ui/charts/curve_strokes.h"

#include <algorithm>
#include <cmath>

namespace furrow {

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

} // namespace furrow
