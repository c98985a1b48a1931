#pragma once

#include <QStyledItemDelegate>

namespace furrow {

/// Draws a run of the library: glyph, name, subtitle, sparkline, loss; above the first run of a group the group's name.
/// An attempt: number, steps, when and why it ended.
class RunDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    explicit RunDelegate(QObject* parent = nullptr);
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    /// Height of the name of the group above a row; 0: none stands there.
    static int headHeight(const QModelIndex& index);

private:
    void paintRun(
        QPainter& painter, const QStyleOptionViewItem& option, const QRect& row, const QModelIndex& index) const;
    void paintAttempt(
        QPainter& painter, const QStyleOptionViewItem& option, const QRect& row, const QModelIndex& index) const;
};

} // namespace furrow
