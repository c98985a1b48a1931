#pragma once

#include <QLayout>
#include <vector>

namespace furrow {

/// Places widgets in a row and goes on in the next one where the width ends, so that the widest of them, not their sum,
/// is the least width.
class FlowLayout : public QLayout {
public:
    FlowLayout() = default;
    ~FlowLayout() override;
    void addItem(QLayoutItem* item) override { items_.push_back(item); }
    int count() const override { return static_cast<int>(items_.size()); }
    QLayoutItem* itemAt(int index) const override;
    QLayoutItem* takeAt(int index) override;
    Qt::Orientations expandingDirections() const override { return {}; }
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override { return arrange(QRect(0, 0, width, 0), false); }
    void setGeometry(const QRect& area) override;
    QSize sizeHint() const override;
    QSize minimumSize() const override;

private:
    /// @return the height that is needed; nothing is moved unless `place`
    int arrange(const QRect& area, bool place) const;

    std::vector<QLayoutItem*> items_; // owned
};

} // namespace furrow
