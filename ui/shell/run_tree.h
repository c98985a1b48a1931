#pragma once

#include <QTreeView>

namespace furrow {

/// The list of the library: runs, and below one that is opened its attempts. Right opens, Left closes, as the arrow
/// does.
class RunTree : public QTreeView {
    Q_OBJECT
public:
    explicit RunTree(QWidget* parent = nullptr);

protected:
    void focusInEvent(QFocusEvent* event) override;
    void drawBranches(QPainter* painter, const QRect& rect, const QModelIndex& index) const override;
};

} // namespace furrow
