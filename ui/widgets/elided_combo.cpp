#include "ui/widgets/elided_combo.h"

#include "ui/widgets/plain_text.h"

#include <QHelpEvent>
#include <QStyleOptionComboBox>
#include <QStylePainter>

namespace furrow {

namespace {

constexpr int kEdge = 2; // the style leaves as much beside the words

} // namespace

/// The style counts neither the edge beside the words nor parts of a pixel: the longest entry would be cut.
QSize ElidedCombo::sizeHint() const { return QComboBox::sizeHint() + QSize(kEdge + 1, 0); }

QString ElidedCombo::shownText() const
{
    QStyleOptionComboBox option;
    initStyleOption(&option);
    const int room
        = style()->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, this).width() - kEdge;
    return fontMetrics().elidedText(option.currentText, Qt::ElideRight, room);
}

void ElidedCombo::paintEvent(QPaintEvent*)
{
    QStylePainter painter(this);
    QStyleOptionComboBox option;
    initStyleOption(&option);
    painter.drawComplexControl(QStyle::CC_ComboBox, option);
    option.currentText = shownText();
    painter.drawControl(QStyle::CE_ComboBoxLabel, option);
}

bool ElidedCombo::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip || shownText() == currentText())
        return QComboBox::event(event);
    const QString tip = toolTip();
    showTip(static_cast<QHelpEvent*>(event)->globalPos(),
        tip.isEmpty() ? currentText() : currentText() + QLatin1Char('\n') + tip, this);
    return true;
}

} // namespace furrow
