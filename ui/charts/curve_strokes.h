#pragma once

#include <QLineF>
#include <QPolygonF>
#include <QVector>

namespace furrow {

// Fast drawing of curves on the raster engine.

/// Cuts a polyline into single strokes, by a dash pattern [px] if there is one. Strokes of two points are what the
/// engine draws fast at any width; a long wide path is not.
QVector<QLineF> strokes(const QPolygonF& points, const QVector<double>& dash);
/// Leaves out points that lie within a quarter of a pixel of the line between those that stay. x must ascend.
QPolygonF simplified(const QPolygonF& points);

} // namespace furrow
