#pragma once

#include "ui/theme/theme.h"

#include <QPointF>

class QPainter;
class QRectF;

namespace furrow {

/// The filled marker of a worker (disc, square, triangle ...) in its colour, `size` px across, centred at `at`.
void drawWorkerMarker(QPainter& painter, QPointF at, int worker, double size = 9);
/// A 24 px sample of a worker's line: its dash in its colour, 2 px.
void drawWorkerLine(QPainter& painter, QPointF left, int worker, double length = 24);
/// Hollow diamond of evaluations, text 1 over the ground of plots; a faint one of weights that are lost.
void drawEvalDiamond(QPainter& painter, QPointF at, double size = 9, bool isLost = false);
/// Diagonal hatch of `pitch` px inside `area`, stable when the area moves by whole pixels.
void drawHatch(QPainter& painter, const QRectF& area, const QColor& color, double pitch = 5, double width = 1);
/// In an SVG, which knows no clip, puts the ground over what was drawn outside of `area`; elsewhere the clip did that.
void coverOutside(QPainter& painter, const QRect& whole, const QRect& area, const QColor& ground);
/// Text whose digits all have the width of the widest one, so that a live number does not wobble. @return its width
double drawTabular(QPainter& painter, const QRectF& area, Qt::Alignment alignment, const QString& text);
double tabularWidth(const QFont& font, const QString& text);

} // namespace furrow
