#include "ui/shell/run_tree.h"

#include "ui/shell/run_delegate.h"

#include <QPainter>

namespace furrow {

namespace {

constexpr int kIndentation = 16;

} // namespace

RunTree::RunTree(QWidget* parent)
    : QTreeView(parent)
{
    setFrameShape(QFrame::NoFrame);
    setHeaderHidden(true);
    setIndentation(kIndentation);
    setExpandsOnDoubleClick(false);
    setMouseTracking(true);
    setItemDelegate(new RunDelegate(this));
}

// Qt makes the first row the current one when a list without one gets the focus, which here would open that run.
void RunTree::focusInEvent(QFocusEvent* event)
{
    if (currentIndex().isValid())
        QTreeView::focusInEvent(event);
    else
        QWidget::focusInEvent(event);
}

// The ground of the row goes to the left edge; the arrow stands beside the run, not beside the name of its group.
void RunTree::drawBranches(QPainter* painter, const QRect& rect, const QModelIndex& index) const
{
    const QRect body = rect.adjusted(0, RunDelegate::headHeight(index), 0, 0);
    if (selectionModel()->isSelected(index))
        painter->fillRect(body, palette().color(QPalette::Highlight));
    QTreeView::drawBranches(painter, body, index);
}

} // namespace furrow
