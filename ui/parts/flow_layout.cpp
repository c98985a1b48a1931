#include "ui/parts/flow_layout.h"

#include <QWidget>
#include <algorithm>

namespace furrow {

FlowLayout::~FlowLayout()
{
    for (QLayoutItem* item : items_)
        delete item;
}

QLayoutItem* FlowLayout::itemAt(int index) const
{
    return index >= 0 && index < count() ? items_[static_cast<std::size_t>(index)] : nullptr;
}

QLayoutItem* FlowLayout::takeAt(int index)
{
    QLayoutItem* item = itemAt(index);
    if (item != nullptr)
        items_.erase(items_.begin() + index);
    return item;
}

void FlowLayout::setGeometry(const QRect& area)
{
    QLayout::setGeometry(area);
    arrange(area, true);
}

QSize FlowLayout::sizeHint() const
{
    QSize all;
    for (const QLayoutItem* item : items_) {
        const QSize hint = item->sizeHint();
        all = QSize(
            all.width() + hint.width() + (all.isEmpty() ? 0 : spacing()), std::max(all.height(), hint.height()));
    }
    return all;
}

QSize FlowLayout::minimumSize() const
{
    QSize least;
    for (const QLayoutItem* item : items_)
        least = least.expandedTo(item->minimumSize());
    return least;
}

int FlowLayout::arrange(const QRect& area, bool place) const
{
    QPoint at = area.topLeft();
    int tall = 0; // of this row
    for (QLayoutItem* item : items_) {
        if (item->isEmpty())
            continue;
        const QSize size = item->sizeHint();
        if (at.x() > area.left() && at.x() + size.width() > area.right() + 1) {
            at = QPoint(area.left(), at.y() + tall + spacing());
            tall = 0;
        }
        if (place)
            item->setGeometry(QRect(at, QSize(std::min(size.width(), area.width()), size.height())));
        at.rx() += size.width() + spacing();
        tall = std::max(tall, size.height());
    }
    return at.y() + tall - area.top();
}

} // namespace furrow
