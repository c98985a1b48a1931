#include "ui/pages/worker_delegate.h"

#include "ui/models/table_model.h"
#include "ui/theme/theme.h"
#include "ui/widgets/worker_mark.h"

#include <QPainter>

namespace furrow {

namespace {

constexpr int kMarkWidth = 16;

} // namespace

WorkerDelegate::WorkerDelegate(QObject* parent)
    : QStyledItemDelegate(parent)
{
}

QSize WorkerDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    QSize size = QStyledItemDelegate::sizeHint(option, index);
    if (index.data(WorkerRole).isValid())
        size.rwidth() += kMarkWidth;
    return size;
}

void WorkerDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    const QVariant worker = index.data(WorkerRole);
    if (!worker.isValid()) {
        QStyledItemDelegate::paint(painter, option, index);
        return;
    }
    if (option.state.testFlag(QStyle::State_Selected))
        painter->fillRect(option.rect, option.palette.color(QPalette::Highlight));
    else
        painter->fillRect(QRect(option.rect.left(), option.rect.bottom(), kMarkWidth, 1),
            theme().color(Token::Line)); // as the style draws it below the rest
    QStyleOptionViewItem text = option;
    text.rect.adjust(kMarkWidth, 0, 0, 0);
    text.textElideMode = Qt::ElideLeft; // the number is at the end
    QStyledItemDelegate::paint(painter, text, index);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    drawWorkerMarker(*painter, QPointF(option.rect.left() + 8 + kMarkWidth / 2.0 - 2, option.rect.center().y() + 0.5),
        worker.toInt());
    painter->restore();
}

} // namespace furrow
