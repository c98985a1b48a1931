#include "ui/parts/overflow.h"

#include "ui/theme/theme.h"

#include <QAction>
#include <QCoreApplication>
#include <QDialog>
#include <QEvent>
#include <QScreen>
#include <QScrollArea>
#include <QScrollBar>
#include <QToolBar>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <vector>

namespace furrow {

namespace {

constexpr QSize kWindowFrame { 16, 48 }; // what a window manager may put around a window

class WordsOfButtons : public QObject {
public:
    explicit WordsOfButtons(QToolBar& bar)
        : QObject(&bar)
        , bar_(bar)
    {
        for (QAction* action : bar.actions())
            if (auto* button = qobject_cast<QToolButton*>(bar.widgetForAction(action)); button != nullptr
                && !action->icon().isNull() && button->toolButtonStyle() == Qt::ToolButtonTextBesideIcon)
                buttons_.push_back(button);
        bar.installEventFilter(this);
    }

    bool eventFilter(QObject*, QEvent* event) override
    {
        if (event->type() == QEvent::Resize || event->type() == QEvent::LayoutRequest)
            fit();
        return false;
    }

private:
    void fit()
    {
        const int needed = bar_.sizeHint().width();
        if (saved_ == 0 && needed > bar_.width()) {
            setStyle(Qt::ToolButtonIconOnly);
            saved_ = std::max(1, needed - bar_.sizeHint().width());
        } else if (saved_ > 0 && needed + saved_ <= bar_.width()) {
            setStyle(Qt::ToolButtonTextBesideIcon);
            saved_ = 0;
        }
    }

    void setStyle(Qt::ToolButtonStyle style)
    {
        for (QToolButton* button : buttons_)
            button->setToolButtonStyle(style);
    }

    QToolBar& bar_;
    std::vector<QToolButton*> buttons_;
    int saved_ = 0; ///< by leaving the words out [px]; 0: they are there
};

/// Gives a page that needs more room than before the room at once. Qt does so with a later event, and a machine that
/// has much to do painted its parts over each other meanwhile.
class RoomAtOnce : public QObject {
public:
    explicit RoomAtOnce(QScrollArea& room)
        : QObject(&room)
        , room_(room)
    {
        room.widget()->installEventFilter(this);
    }

    bool eventFilter(QObject* page, QEvent* event) override
    {
        if (page == room_.widget() && event->type() == QEvent::LayoutRequest) {
            QEvent request(QEvent::LayoutRequest);
            QCoreApplication::sendEvent(&room_, &request);
        }
        return false;
    }

private:
    QScrollArea& room_;
};

} // namespace

void dressOverflow(QToolBar& bar)
{
    auto* more = bar.findChild<QToolButton*>(QStringLiteral("qt_toolbar_ext_button"));
    if (more == nullptr)
        return;
    more->setIcon(theme().icon(QStringLiteral("chevron-down")));
    more->setToolTip(QCoreApplication::translate("Overflow", "More commands"));
    more->setAccessibleName(more->toolTip());
    for (QAction* action :
        bar.actions()) // else those that stay share the room of those that do not fit, and are painted in all of it
        if (action->isSeparator())
            bar.widgetForAction(action)->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Expanding);
}

void dropWordsWhereFull(QToolBar& bar) { new WordsOfButtons(bar); }

QScrollArea* makeRoomFor(QWidget* page)
{
    auto* room = new QScrollArea;
    room->setFrameShape(QFrame::NoFrame);
    room->setFocusPolicy(Qt::NoFocus); // the page has it
    room->setWidgetResizable(true);
    room->setWidget(page);
    new RoomAtOnce(*room);
    return room;
}

QSize roomOnScreen(const QWidget& window) { return window.screen()->availableSize() - kWindowFrame; }

void fitToScreen(QDialog& dialog)
{
    const QSize most = roomOnScreen(dialog);
    const QSize least = dialog.minimumSizeHint();
    if (dialog.layout() != nullptr && (least.width() > most.width() || least.height() > most.height())) {
        auto* inside = new QWidget;
        inside->setLayout(dialog.layout()); // takes it, and the widgets in it, from the dialog
        QScrollArea* room = makeRoomFor(inside);
        auto* outer = new QVBoxLayout(&dialog);
        outer->setContentsMargins(0, 0, 0, 0);
        outer->addWidget(room);
        inside->layout()->activate(); // letters and frames of its buttons came after it was last measured
        dialog.resize(dialog.size().expandedTo(
            inside->minimumSizeHint() + QSize(room->verticalScrollBar()->sizeHint().width(), 0)));
    }
    dialog.resize(dialog.size().boundedTo(most));
}

} // namespace furrow
