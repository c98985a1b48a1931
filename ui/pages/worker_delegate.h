#pragma once

#include <QStyledItemDelegate>

namespace furrow {

/// Draws the marker of a worker, in its colour and shape, before the text of a cell that names one (WorkerRole).
class WorkerDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    explicit WorkerDelegate(QObject* parent = nullptr);
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

} // namespace furrow
