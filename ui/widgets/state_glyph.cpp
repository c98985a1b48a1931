#include "ui/widgets/state_glyph.h"

#include "ui/theme/theme.h"

#include <QCoreApplication>
#include <QPainter>
#include <QPainterPath>
#include <cmath>
#include <numbers>

namespace furrow {
namespace {

// All shapes are drawn on a 14 x 14 grid.

void drawStopping(QPainter& p, const QColor& color)
{
    QPen dashed(color, 1.5, Qt::CustomDashLine, Qt::FlatCap);
    dashed.setDashPattern({ 1.6, 1.3 });
    p.setPen(dashed);
    p.setBrush(Qt::NoBrush);
    p.drawRect(QRectF(1.25, 1.25, 11.5, 11.5));
    p.fillRect(QRectF(4.4, 4.4, 5.2, 5.2), color);
}

void drawInterrupted(QPainter& p, const QColor& color)
{
    p.setBrush(Qt::NoBrush);
    p.setPen(QPen(color, 1.6, Qt::SolidLine, Qt::FlatCap));
    const QRectF ring(1.4, 1.4, 11.2, 11.2);
    p.drawArc(ring, 120 * 16, 120 * 16);
    p.drawArc(ring, -60 * 16, 120 * 16);
    p.setPen(QPen(color, 1.6, Qt::SolidLine, Qt::RoundCap, Qt::MiterJoin));
    p.drawPolyline(QPolygonF { { 8.3, 1.2 }, { 5.3, 6.6 }, { 8.7, 7.4 }, { 5.7, 12.8 } });
}

void drawFailed(QPainter& p, const QColor& color)
{
    QPainterPath shape;
    QPolygonF octagon;
    for (int i = 0; i < 8; ++i) {
        const double angle = (i + 0.5) * std::numbers::pi / 4;
        octagon << QPointF(7 + 6.6 * std::cos(angle), 7 + 6.6 * std::sin(angle));
    }
    shape.addPolygon(octagon);
    shape.closeSubpath();
    QPainterPath cross;
    cross.moveTo(4.9, 4.9);
    cross.lineTo(9.1, 9.1);
    cross.moveTo(9.1, 4.9);
    cross.lineTo(4.9, 9.1);
    QPainterPathStroker stroker(QPen(Qt::black, 1.6));
    p.setPen(Qt::NoPen);
    p.setBrush(color);
    p.drawPath(shape.subtracted(stroker.createStroke(cross)));
}

void drawRing(QPainter& p, const QColor& color, bool dashed)
{
    QPen pen(color, 1.4, Qt::SolidLine, Qt::FlatCap);
    if (dashed)
        pen.setDashPattern({ 1.5, 1.3 });
    p.setPen(pen);
    p.setBrush(Qt::NoBrush);
    p.drawEllipse(QPointF(7, 7), 5.7, 5.7);
    p.setPen(QPen(color, 1.5, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
}

} // namespace

void drawStateGlyph(QPainter& painter, const QRectF& area, Glyph glyph)
{
    const Theme& t = theme();
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.translate(area.topLeft());
    painter.scale(area.width() / 14, area.height() / 14);
    switch (glyph) {
    case Glyph::Running:
        painter.setPen(QPen(t.color(Token::Ok), 1, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
        painter.setBrush(t.color(Token::Ok));
        painter.drawPolygon(QPolygonF { { 3, 2 }, { 12, 7 }, { 3, 12 } });
        break;
    case Glyph::Paused:
        painter.fillRect(QRectF(3, 2, 3, 10), t.color(Token::Info));
        painter.fillRect(QRectF(8, 2, 3, 10), t.color(Token::Info));
        break;
    case Glyph::Stopped: painter.fillRect(QRectF(2.5, 2.5, 9, 9), t.color(Token::Info)); break;
    case Glyph::Stopping: drawStopping(painter, t.color(Token::Warn)); break;
    case Glyph::Interrupted: drawInterrupted(painter, t.color(Token::Interrupted)); break;
    case Glyph::Failed: drawFailed(painter, t.color(Token::Error)); break;
    case Glyph::Finished:
        drawRing(painter, t.color(Token::Text2), false);
        painter.drawPolyline(QPolygonF { { 4.4, 7.2 }, { 6.3, 9.1 }, { 9.7, 5.2 } });
        break;
    case Glyph::Queued:
        drawRing(painter, t.color(Token::Text3), true);
        painter.drawPolyline(QPolygonF { { 7, 4.2 }, { 7, 7.2 }, { 9, 8.4 } });
        break;
    case Glyph::Unknown:
        drawRing(painter, t.color(Token::Text3), false);
        QPainterPath mark;
        mark.moveTo(5.4, 5.8);
        mark.cubicTo(5.4, 3.4, 8.8, 3.6, 8.6, 5.7);
        mark.cubicTo(8.5, 7, 7, 6.9, 7, 8.2);
        painter.drawPath(mark);
        painter.drawPoint(QPointF(7, 10.2));
        break;
    }
    painter.restore();
}

QString glyphWord(Glyph glyph)
{
    static constexpr const char* kWords[] = {
        QT_TRANSLATE_NOOP("StateGlyph", "Running"),
        QT_TRANSLATE_NOOP("StateGlyph", "Paused"),
        QT_TRANSLATE_NOOP("StateGlyph", "Stopping"),
        QT_TRANSLATE_NOOP("StateGlyph", "Stopped"),
        QT_TRANSLATE_NOOP("StateGlyph", "Interrupted"),
        QT_TRANSLATE_NOOP("StateGlyph", "Failed"),
        QT_TRANSLATE_NOOP("StateGlyph", "Finished"),
        QT_TRANSLATE_NOOP("StateGlyph", "Queued"),
        QT_TRANSLATE_NOOP("StateGlyph", "Unknown"),
    };
    return QCoreApplication::translate("StateGlyph", kWords[static_cast<int>(glyph)]);
}

StateGlyph::StateGlyph(QWidget* parent, int side)
    : QWidget(parent)
    , side_(side)
{
    setFixedSize(side, side);
    setGlyph(Glyph::Unknown);
}

void StateGlyph::setGlyph(Glyph glyph)
{
    glyph_ = glyph;
    setAccessibleName(glyphWord(glyph));
    setToolTip(glyphWord(glyph));
    update();
}

void StateGlyph::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    drawStateGlyph(painter, rect(), glyph_);
}

} // namespace furrow
