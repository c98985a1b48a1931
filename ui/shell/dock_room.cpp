// How this works: a dock that lies over the page is taken from the layout of the window and stays its child, so its
// title, its cross and its action are as before. Qt draws the tabs of docks in tab bars of its own; a new one is found
// when it is polished.

#include "ui/shell/dock_room.h"

#include "ui/parts/page_parts.h"

#include <QAction>
#include <QDockWidget>
#include <QMainWindow>
#include <QMouseEvent>
#include <QStyle>
#include <QTabBar>
#include <algorithm>
#include <utility>

namespace furrow {

namespace {

constexpr int kRoomForSides = 1100; // library, page and inspector beside each other
constexpr int kRoomForLower = 800; // a page and the docks below it
constexpr int kStateVersion = 1; // of saved docks; another one is ignored
constexpr int kFoldedVersion = 2; // the same, of folded ones
constexpr auto kDocked
    = QDockWidget::DockWidgetClosable | QDockWidget::DockWidgetMovable | QDockWidget::DockWidgetFloatable;

} // namespace

DockRoom::DockRoom(QMainWindow& window, std::vector<QDockWidget*> docks, QAction& fold)
    : QObject(&window)
    , window_(window)
    , docks_(std::move(docks))
    , fold_(fold)
{
    window_.installEventFilter(this);
    window_.centralWidget()->installEventFilter(this);
    for (QTabBar* tabs : window_.findChildren<QTabBar*>(Qt::FindDirectChildrenOnly))
        tabs->installEventFilter(this);
    connect(&fold_, &QAction::toggled, this, &DockRoom::applyFold);
    connect(&fold_, &QAction::triggered, this, [this] { foldedBySize_ = false; });
    connect(&window_, &QMainWindow::tabifiedDockWidgetActivated, this, [this](const QDockWidget* dock) {
        if (!pressed_ && isLower(*dock))
            fold_.setChecked(false);
    });
    for (QDockWidget* dock : docks_) {
        dock->installEventFilter(this);
        connect(dock->toggleViewAction(), &QAction::triggered, this, [this, dock](bool shown) {
            if (shown)
                bring(*dock);
        });
        connect(dock, &QDockWidget::dockLocationChanged, this, &DockRoom::applyFold);
        connect(dock, &QDockWidget::topLevelChanged, this, &DockRoom::applyFold);
    }
}

bool DockRoom::isLower(const QDockWidget& dock) const
{
    return !dock.isFloating()
        && window_.dockWidgetArea(const_cast<QDockWidget*>(&dock)) == Qt::BottomDockWidgetArea; // Qt only looks
}

void DockRoom::arrange()
{
    watching_ = true;
    low_ = window_.height() < kRoomForLower;
    foldedBySize_ = low_;
    fold_.setChecked(low_);
    takeSize();
}

void DockRoom::setWatching(bool watching)
{
    watching_ = watching;
    if (watching)
        takeSize();
}

void DockRoom::takeSize()
{
    setNarrow(window_.width() < kRoomForSides);
    const bool low = window_.height() < kRoomForLower;
    if (low == std::exchange(low_, low))
        return;
    if (low && !fold_.isChecked())
        foldedBySize_ = true;
    if (foldedBySize_)
        fold_.setChecked(low);
}

void DockRoom::setNarrow(bool narrow)
{
    if (narrow == narrow_)
        return;
    narrow_ = narrow;
    narrow ? layOver() : putBack();
    Q_EMIT narrowChanged(narrow);
}

void DockRoom::layOver()
{
    for (QDockWidget* dock : docks_) {
        const Qt::DockWidgetArea area = window_.dockWidgetArea(dock);
        const bool left = area == Qt::LeftDockWidgetArea;
        if (dock->isFloating() || (!left && area != Qt::RightDockWidgetArea))
            continue;
        const int usual = left ? kLeftDockWidth : kRightDockWidth;
        const int width = window_.isVisible() ? std::max(dock->width(), usual) : usual; // less where it was squeezed
        QFrame* edge = makeLine(Qt::Vertical);
        edge->setParent(dock);
        covers_.push_back({ dock, area, width, !dock->isHidden(), edge });
        window_.removeDockWidget(dock);
        dock->setFeatures(QDockWidget::DockWidgetClosable);
        dock->setAutoFillBackground(true);
    }
    place();
}

void DockRoom::putBack()
{
    for (const Cover& cover : std::exchange(covers_, {})) {
        delete cover.edge;
        cover.dock->setAutoFillBackground(false);
        cover.dock->setFeatures(kDocked);
        window_.addDockWidget(cover.area, cover.dock);
        cover.dock->setVisible(cover.wasShown);
        window_.resizeDocks({ cover.dock }, { cover.width }, Qt::Horizontal);
    }
}

void DockRoom::place()
{
    const QRect page = window_.centralWidget()->geometry();
    for (const Cover& cover : covers_) {
        const bool left = cover.area == Qt::LeftDockWidgetArea;
        const int width = std::min(left ? kLeftDockWidth : kRightDockWidth, page.width());
        cover.dock->setGeometry(left ? page.left() : page.right() + 1 - width, page.top(), width, page.height());
        cover.edge->setGeometry(left ? width - 1 : 0, 0, 1, page.height());
        cover.edge->show();
        cover.edge->raise();
        cover.dock->raise();
    }
}

void DockRoom::bring(QDockWidget& dock)
{
    dock.show();
    dock.raise();
    if (isLower(dock))
        fold_.setChecked(false);
}

void DockRoom::uncover()
{
    for (const Cover& cover : covers_) {
        if (cover.dock->isAncestorOf(window_.focusWidget()))
            window_.setFocus();
        cover.dock->hide();
    }
}

// What is folded is hidden, so that Tab does not lead into it.
void DockRoom::applyFold()
{
    const bool folded = fold_.isChecked();
    const auto lower = [this](const QDockWidget* dock) { return isLower(*dock); };
    const auto front = std::find_if(docks_.begin(), docks_.end(),
        [&lower](const QDockWidget* dock) { return lower(dock) && !dock->visibleRegion().isEmpty(); });
    if (folded && !folded_ && front != docks_.end()) // with their tabs
        lowerHeight_ = (*front)->geometry().bottom() - window_.centralWidget()->geometry().bottom()
            - window_.style()->pixelMetric(QStyle::PM_DockWidgetSeparatorExtent, nullptr, &window_);
    for (const QDockWidget* dock : docks_) {
        const bool away = folded && lower(dock);
        if (away && dock->isAncestorOf(window_.focusWidget()))
            window_.setFocus();
        dock->widget()->setVisible(!away);
    }
    const auto any = std::find_if(docks_.begin(), docks_.end(), lower);
    if (!folded && folded_ && any != docks_.end())
        window_.resizeDocks({ *any }, { lowerHeight_ }, Qt::Vertical);
    folded_ = folded;
}

QByteArray DockRoom::state()
{
    const std::vector<Cover> before = covers_;
    std::vector<bool> open;
    for (const Cover& cover : before)
        open.push_back(!cover.dock->isHidden());
    putBack();
    const QByteArray state = window_.saveState(fold_.isChecked() ? kFoldedVersion : kStateVersion);
    if (narrow_)
        layOver();
    for (std::size_t i = 0; i < covers_.size(); ++i) {
        covers_[i].width = before[i].width;
        covers_[i].dock->setVisible(open[i]);
    }
    return state;
}

bool DockRoom::restore(const QByteArray& state)
{
    setNarrow(false); // what lies over the page has no place of its own
    const bool folded = window_.restoreState(state, kFoldedVersion);
    const bool restored = folded || window_.restoreState(state, kStateVersion);
    if (restored)
        fold_.setChecked(folded);
    low_ = window_.height() < kRoomForLower;
    foldedBySize_ = folded && low_;
    if (watching_)
        takeSize();
    return restored;
}

// A tab moves when the docks are folded or not: under a pressed button Qt would take that for a dock being dragged
// away.
void DockRoom::takePress(const QTabBar& tabs, const QMouseEvent& event)
{
    if (event.button() != Qt::LeftButton)
        return;
    const QString title = tabs.tabText(tabs.tabAt(event.position().toPoint()));
    const bool any = std::any_of(docks_.begin(), docks_.end(),
        [&](const QDockWidget* dock) { return isLower(*dock) && dock->windowTitle() == title; });
    if (event.type() == QEvent::MouseButtonPress) {
        pressed_ = any && fold_.isChecked();
        unfoldedByPress_ = pressed_;
    } else if (event.type() == QEvent::MouseButtonRelease && std::exchange(pressed_, false)) {
        fold_.setChecked(false);
    } else if (event.type() == QEvent::MouseButtonDblClick && any && !unfoldedByPress_) {
        foldedBySize_ = false;
        fold_.toggle();
    }
}

bool DockRoom::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == &window_ && event->type() == QEvent::Resize && watching_)
        takeSize();
    if (watched == &window_ && event->type() == QEvent::ChildPolished) {
        QObject* child = static_cast<QChildEvent*>(event)->child();
        if (qobject_cast<QTabBar*>(child) != nullptr)
            child->installEventFilter(this);
    }
    const bool isPress = event->type() == QEvent::MouseButtonPress || event->type() == QEvent::MouseButtonRelease
        || event->type() == QEvent::MouseButtonDblClick;
    if (const auto* tabs = qobject_cast<const QTabBar*>(watched); tabs != nullptr && isPress)
        takePress(*tabs, static_cast<const QMouseEvent&>(*event));
    const bool moves = event->type() == QEvent::Resize || event->type() == QEvent::Move;
    const bool isCover
        = std::any_of(covers_.begin(), covers_.end(), [watched](const Cover& cover) { return cover.dock == watched; });
    if ((watched == window_.centralWidget() && moves) || (isCover && event->type() == QEvent::Show))
        place();
    return QObject::eventFilter(watched, event);
}

} // namespace furrow
