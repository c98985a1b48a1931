#include "ui/widgets/lane_legend.h"

#include "ui/theme/theme.h"
#include "ui/widgets/worker_mark.h"

#include <QEvent>
#include <QPainter>
#include <cmath>

namespace furrow {

namespace {

constexpr double kSwatch = 14;
constexpr double kGap = 16; // between two entries
constexpr double kInside = 6; // between swatch and word

enum class Part { Wait, Train, Commit, Lost, NoProcess };
constexpr Part kParts[] = { Part::Wait, Part::Train, Part::Commit, Part::Lost, Part::NoProcess };

QString wordOf(Part part)
{
    switch (part) {
    case Part::Wait: return LaneLegend::tr("wait");
    case Part::Train: return LaneLegend::tr("train");
    case Part::Commit: return LaneLegend::tr("commit");
    case Part::Lost: return LaneLegend::tr("work lost");
    case Part::NoProcess: break;
    }
    return LaneLegend::tr("no process");
}

double widthOf(Part part, const QFontMetricsF& metrics)
{
    return (part == Part::Commit ? 3 : kSwatch) + kInside + metrics.horizontalAdvance(wordOf(part));
}

// As LaneView draws it, in the grey that stands for any worker.
void drawPart(QPainter& p, Part part, const QRectF& area)
{
    const Theme& t = theme();
    p.setBrush(Qt::NoBrush);
    const QRectF frame = area.adjusted(0.5, 0.5, -0.5, -0.5);
    switch (part) {
    case Part::Wait:
        p.setPen(QPen(t.color(Token::Line2), 1));
        p.drawRect(frame);
        break;
    case Part::Train:
        p.fillRect(area, t.color(Token::Text2, 0.3));
        p.fillRect(QRectF(area.left(), area.top(), area.width(), 2), t.color(Token::Text2));
        break;
    case Part::Commit:
        p.fillRect(QRectF(area.left(), area.top() - 2, 3, area.height() + 4), t.color(Token::Text1));
        break;
    case Part::Lost:
        p.fillRect(area, t.color(Token::InterruptedGround));
        drawHatch(p, area, t.color(Token::Interrupted), 4, 1.2);
        p.setPen(QPen(t.color(Token::Interrupted), 1));
        p.drawRect(frame);
        break;
    case Part::NoProcess:
        for (double x = area.left(); x < area.right(); x += 4)
            p.fillRect(QRectF(x, area.top(), 1, area.height()), t.color(Token::Line2));
        break;
    }
}

} // namespace

LaneLegend::LaneLegend(QWidget* parent)
    : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    QStringList words;
    for (const Part part : kParts)
        words.append(wordOf(part));
    setAccessibleName(words.join(QStringLiteral(", ")));
}

QSize LaneLegend::sizeHint() const
{
    const QFontMetricsF metrics(theme().font(FontRole::Axis));
    double width = 0;
    for (const Part part : kParts)
        width += widthOf(part, metrics) + kGap;
    return { static_cast<int>(std::ceil(width)), 20 };
}

void LaneLegend::paintEvent(QPaintEvent*)
{
    QPainter p(this);
    p.setFont(theme().font(FontRole::Axis));
    const QFontMetricsF metrics(p.font());
    double x = 0;
    for (const Part part : kParts) {
        const double swatch = part == Part::Commit ? 3 : kSwatch;
        const double wide = widthOf(part, metrics);
        if (x + wide > width() + 1)
            break; // a whole entry or none
        drawPart(p, part, QRectF(x, height() / 2.0 - 5, swatch, 10));
        p.setPen(theme().color(Token::Text2));
        p.drawText(QRectF(x + swatch + kInside, 0, wide, height()), Qt::AlignVCenter, wordOf(part));
        x += wide + kGap;
    }
}

void LaneLegend::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange)
        updateGeometry();
    QWidget::changeEvent(event);
}

} // namespace furrow
