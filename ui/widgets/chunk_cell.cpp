#include "ui/widgets/chunk_cell.h"

#include "ui/theme/theme.h"
#include "ui/widgets/worker_mark.h"

#include <QCoreApplication>
#include <QPainter>
#include <algorithm>

namespace furrow {
namespace {

void outline(QPainter& p, const QRectF& area, const QColor& color, double width, Qt::PenStyle style = Qt::SolidLine)
{
    p.setBrush(Qt::NoBrush);
    QPen pen(color, width, style);
    pen.setJoinStyle(Qt::MiterJoin);
    p.setPen(pen);
    const double half = width / 2;
    p.drawRect(area.adjusted(half, half, -half, -half));
}

void drawValue(QPainter& p, const QRectF& area, const CellLook& look)
{
    const Theme& t = theme();
    p.fillRect(area, look.value);
    p.fillRect(QRectF(area.left(), area.bottom() - 1, area.width(), 1), t.color(Token::Text1, 0.5));
    if (look.kind == CellKind::Trained) {
        // 6 px notch in the ground with 5 px of text 1 inside, at the upper right corner.
        p.fillRect(QRectF(area.right() - 6, area.top(), 6, 6), t.color(Token::Inset));
        p.fillRect(QRectF(area.right() - 5, area.top(), 5, 5), t.color(Token::Text1));
    }
}

void drawLeased(QPainter& p, const QRectF& area, const CellLook& look)
{
    const Theme& t = theme();
    QColor color = t.workerColor(look.worker);
    p.fillRect(area, t.color(Token::Inset));
    QColor fill = color;
    fill.setAlphaF(0.45f);
    p.fillRect(
        QRectF(area.left(), area.top(), area.width() * std::clamp(look.progress, 0.0, 1.0), area.height()), fill);
    outline(p, area, color, 2);
}

/// The part that checkpoints have, from the left.
void drawKeptPart(QPainter& p, const QRectF& area, double share)
{
    p.fillRect(QRectF(area.left(), area.top(), area.width() * std::clamp(share, 0.0, 1.0), area.height()),
        theme().color(Token::Kept));
}

QColor halfWay(const QColor& a, const QColor& b)
{
    return QColor((a.red() + b.red()) / 2, (a.green() + b.green()) / 2, (a.blue() + b.blue()) / 2);
}

void drawPoisoned(QPainter& p, const QRectF& area)
{
    const Theme& t = theme();
    p.fillRect(area, t.color(Token::ErrorGround));
    outline(p, area, t.color(Token::Error), 1.6);
    p.setRenderHint(QPainter::Antialiasing);
    p.setPen(QPen(t.color(Token::Error), 1.6));
    const double r = std::min(area.width(), area.height()) * 0.28;
    const QPointF c = area.center();
    p.drawLine(c + QPointF(-r, -r), c + QPointF(r, r));
    p.drawLine(c + QPointF(-r, r), c + QPointF(r, -r));
}

} // namespace

void drawChunkCell(QPainter& painter, const QRectF& area, const CellLook& look)
{
    if (std::min(area.width(), area.height()) < kMarkedCell) {
        painter.fillRect(area, plainCellColor(look));
        return;
    }
    const Theme& t = theme();
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing, false);
    switch (look.kind) {
    case CellKind::Free: outline(painter, area, t.color(Token::Line), 1); break;
    case CellKind::Leased: drawLeased(painter, area, look); break;
    case CellKind::Trained:
    case CellKind::Committed: drawValue(painter, area, look); break;
    case CellKind::Lost:
        painter.fillRect(area, t.color(Token::InterruptedGround));
        drawKeptPart(painter, area, look.progress);
        drawHatch(painter, area, t.color(Token::Interrupted), 5 / 1.41421356, 1.2);
        outline(painter, area, t.color(Token::Interrupted), 1);
        break;
    case CellKind::Excluded:
        painter.fillRect(area, t.color(Token::Window));
        outline(painter, area, t.color(Token::Edge), 1);
        painter.fillRect(QRectF(area.left() + area.width() * 0.25, area.center().y() - 1, area.width() * 0.5, 2),
            t.color(Token::Text3));
        break;
    case CellKind::Poisoned: drawPoisoned(painter, area); break;
    case CellKind::Kept:
        painter.fillRect(area, t.color(Token::Kept));
        painter.fillRect(QRectF(area.left(), area.bottom() - 1, area.width(), 1), t.color(Token::Text1, 0.5));
        break;
    case CellKind::Redo:
        painter.fillRect(area, t.color(Token::Selection));
        drawKeptPart(painter, area, look.progress);
        outline(painter, area, t.color(Token::Accent), 1);
        painter.fillRect(QRectF(area.center().x() - 2, area.center().y() - 2, 4, 4), t.color(Token::Accent));
        break;
    case CellKind::Partly:
        drawKeptPart(painter, area, look.progress);
        outline(painter, area, t.color(Token::Edge), 1);
        break;
    case CellKind::Orphaned:
        painter.fillRect(area, t.color(Token::Inset));
        outline(painter, area, t.color(Token::Text2), 1, Qt::DashLine);
        break;
    }
    if (look.redone) {
        painter.fillRect(QRectF(area.left(), area.bottom() - 4, 6, 4), t.color(Token::Inset));
        painter.fillRect(QRectF(area.left(), area.bottom() - 3, 5, 3), t.color(Token::Text1));
    }
    painter.restore();
}

QColor plainCellColor(const CellLook& look)
{
    const Theme& t = theme();
    switch (look.kind) {
    case CellKind::Free: return t.color(Token::Inset);
    case CellKind::Leased: return t.workerColor(look.worker);
    case CellKind::Trained:
    case CellKind::Committed: return look.value;
    case CellKind::Lost: return t.color(Token::Interrupted);
    case CellKind::Excluded: return t.color(Token::Line2);
    case CellKind::Poisoned: return t.color(Token::Error);
    case CellKind::Kept: return t.color(Token::Kept);
    case CellKind::Redo: return t.color(Token::Accent);
    case CellKind::Partly: return halfWay(t.color(Token::Inset), t.color(Token::Kept));
    case CellKind::Orphaned: break;
    }
    return t.color(Token::Text2);
}

QString cellWord(CellKind kind)
{
    static constexpr const char* kWords[] = {
        QT_TRANSLATE_NOOP("ChunkCell", "free"),
        QT_TRANSLATE_NOOP("ChunkCell", "leased"),
        QT_TRANSLATE_NOOP("ChunkCell", "trained"),
        QT_TRANSLATE_NOOP("ChunkCell", "committed"),
        QT_TRANSLATE_NOOP("ChunkCell", "work lost"),
        QT_TRANSLATE_NOOP("ChunkCell", "excluded"),
        QT_TRANSLATE_NOOP("ChunkCell", "poisoned"),
        QT_TRANSLATE_NOOP("ChunkCell", "kept"),
        QT_TRANSLATE_NOOP("ChunkCell", "to be redone"),
        QT_TRANSLATE_NOOP("ChunkCell", "orphaned claim"),
        QT_TRANSLATE_NOOP("ChunkCell", "partly trained"),
    };
    return QCoreApplication::translate("ChunkCell", kWords[static_cast<int>(kind)]);
}

void drawCellSelection(QPainter& painter, const QRectF& area, bool current)
{
    const double width = current ? 2 : 1;
    outline(painter, area, theme().color(Token::Text1), width);
    outline(painter, area.adjusted(width, width, -width, -width), theme().color(Token::Inset), 1);
}

} // namespace furrow
