#include "ui/pages/overflow.h"

#include "ui/theme/theme.h"

#include <QCoreApplication>
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

} // namespace furrow
