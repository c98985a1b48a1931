#include "ui/pages/overflow.h"

#include "ui/theme/theme.h"

#include <QCoreApplication>
#include <QScrollArea>
#include <QToolBar>
#include <QToolButton>

namespace furrow {

void dressOverflow(QToolBar& bar)
{
    auto* more = bar.findChild<QToolButton*>(QStringLiteral("qt_toolbar_ext_button"));
    if (more == nullptr)
        return;
    more->setIcon(theme().icon(QStringLiteral("chevron-down")));
    more->setToolTip(QCoreApplication::translate("Overflow", "More commands"));
    more->setAccessibleName(more->toolTip());
}

QScrollArea* makeRoomFor(QWidget* page)
{
    auto* room = new QScrollArea;
    room->setFrameShape(QFrame::NoFrame);
    room->setFocusPolicy(Qt::NoFocus); // the page has it
    room->setWidgetResizable(true);
    room->setWidget(page);
    return room;
}

} // namespace furrow
