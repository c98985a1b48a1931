#include "ui/widgets/worker_mark.h"

#include <QFontMetricsF>
#include <QPaintEngine>
#include <QPainter>
#include <QPainterPath>
#include <QRegion>
#include <algorithm>
#include <cmath>
#include <numbers>

namespace furrow {
namespace {

QPolygonF star(QPointF at, double radius, double inner, int points)
{
    QPolygonF polygon;
    for (int i = 0; i < points * 2; ++i) {
        const double angle = -std::numbers::pi / 2 + i * std::numbers::pi / points;
        const double r = i % 2 == 0 ? radius : inner;
        polygon << at + QPointF(r * std::cos(angle), r * std::sin(angle));
    }
    return polygon;
}

double widestDigit(const QFontMetricsF& metrics)
{
    double widest = 0;
    for (char digit = '0'; digit <= '9'; ++digit)
        widest = std::max(widest, metrics.horizontalAdvance(QLatin1Char(digit)));
    return widest;
}

} // namespace

void drawWorkerMarker(QPainter& painter, QPointF at, int worker, double size)
{
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    const QColor color = theme().workerColor(worker);
    const double r = size / 2;
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    switch (Theme::workerMarker(worker)) {
    case Marker::Disc: painter.drawEllipse(at, r, r); break;
    case Marker::Square: painter.drawRect(QRectF(at.x() - r * 0.88, at.y() - r * 0.88, r * 1.76, r * 1.76)); break;
    case Marker::TriangleUp:
        painter.drawPolygon(QPolygonF { at + QPointF(0, -r), at + QPointF(r, r * 0.85), at + QPointF(-r, r * 0.85) });
        break;
    case Marker::TriangleDown:
        painter.drawPolygon(QPolygonF { at + QPointF(0, r), at + QPointF(r, -r * 0.85), at + QPointF(-r, -r * 0.85) });
        break;
    case Marker::Pentagon: painter.drawPolygon(star(at, r * 1.08, r * 1.08 * std::cos(std::numbers::pi / 5), 5)); break;
    case Marker::Star: painter.drawPolygon(star(at, r * 1.2, r * 0.5, 5)); break;
    case Marker::Plus: {
        const double w = r * 0.34;
        painter.drawRect(QRectF(at.x() - w, at.y() - r, 2 * w, 2 * r));
        painter.drawRect(QRectF(at.x() - r, at.y() - w, 2 * r, 2 * w));
        break;
    }
    case Marker::Ring:
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(color, 2));
        painter.drawEllipse(at, r - 1, r - 1);
        break;
    }
    painter.restore();
}

void drawWorkerLine(QPainter& painter, QPointF left, int worker, double length)
{
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    QPen pen(theme().workerColor(worker), 2, Qt::SolidLine, Qt::FlatCap);
    auto dash = Theme::workerDash(worker);
    if (!dash.isEmpty()) {
        for (double& part : dash)
            part /= 2; // Qt counts dashes in pen widths
        pen.setDashPattern(dash);
    }
    painter.setPen(pen);
    painter.drawLine(left, left + QPointF(length, 0));
    painter.restore();
}

void drawEvalDiamond(QPainter& painter, QPointF at, double size, bool isLost)
{
    const double r = size / 2;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(
        isLost ? QPen(theme().color(Token::Text1, 0.4), 1.4, Qt::DotLine) : QPen(theme().color(Token::Text1), 1.4));
    painter.setBrush(theme().color(Token::Inset));
    painter.drawPolygon(QPolygonF { at + QPointF(0, -r), at + QPointF(r, 0), at + QPointF(0, r), at + QPointF(-r, 0) });
    painter.restore();
}

void drawHatch(QPainter& painter, const QRectF& area, const QColor& color, double pitch, double width)
{
    if (area.isEmpty())
        return;
    painter.save();
    painter.setClipRect(area, Qt::IntersectClip);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(color, width));
    const double step = pitch * std::numbers::sqrt2;
    const double first = std::floor((area.left() + area.top()) / step) * step;
    QVector<QLineF> lines;
    for (double sum = first; sum < area.right() + area.bottom() + step; sum += step) {
        const double right = std::min(area.right(), sum - area.top()); // cut here: an SVG knows no clip
        const double left = std::max(area.left(), sum - area.bottom());
        if (left < right)
            lines << QLineF(right, sum - right, left, sum - left);
    }
    painter.drawLines(lines);
    painter.restore();
}

void coverOutside(QPainter& painter, const QRect& whole, const QRect& area, const QColor& ground)
{
    if (painter.paintEngine()->type() != QPaintEngine::SVG)
        return;
    for (const QRect& side : QRegion(whole) - area)
        painter.fillRect(side, ground);
}

double tabularWidth(const QFont& font, const QString& text)
{
    const QFontMetricsF metrics(font);
    const double digit = widestDigit(metrics);
    double width = 0;
    for (const QChar c : text)
        width += c.isDigit() ? digit : metrics.horizontalAdvance(c);
    return width;
}

double drawTabular(QPainter& painter, const QRectF& area, Qt::Alignment alignment, const QString& text)
{
    const QFontMetricsF metrics(painter.font());
    const double digit = widestDigit(metrics);
    const double width = tabularWidth(painter.font(), text);
    double x = area.left();
    if (alignment & Qt::AlignRight)
        x = area.right() - width;
    else if (alignment & Qt::AlignHCenter)
        x = area.center().x() - width / 2;
    double y = area.center().y() + (metrics.ascent() - metrics.descent()) / 2;
    if (alignment & Qt::AlignTop)
        y = area.top() + metrics.ascent();
    for (const QChar c : text) {
        const double own = metrics.horizontalAdvance(c);
        const double cell = c.isDigit() ? digit : own;
        painter.drawText(QPointF(x + (cell - own) / 2, y), QString(c));
        x += cell;
    }
    return width;
}

} // namespace furrow
