#pragma once

#include <QStyledItemDelegate>

namespace furrow {

/// Draws a run of the library: glyph, name, subtitle, sparkline, loss; above the first run of a group the group's name.
class RunDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    explicit RunDelegate(QObject* parent = nullptr);
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

} // namespace furrow
