#pragma once

#include <QWidget>
#include <vector>

class QGridLayout;
class QLabel;

namespace furrow {

/// Names with a large value below each, in as many rows as the width needs. A value that changes never moves the others
/// while it has room.
class FigureRow : public QWidget {
    Q_OBJECT
public:
    explicit FigureRow(const QStringList& names, QWidget* parent = nullptr);
    /// @param tip  says more about the figure; "" leaves it
    void setValue(int figure, const QString& value, const QString& tip = {});
    void setName(int figure, const QString& name);
    /// The longest name that it may get: the rows do not move when it does.
    void reserveName(int figure, const QString& name);
    void clear(); ///< every value is a dash
    /// One figure beside none: a row that was wide must not keep its page so.
    QSize minimumSizeHint() const override { return { widthOf(1), QWidget::minimumSizeHint().height() }; }

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void layOut();
    int widthOf(int columns) const;

    QGridLayout* grid_;
    int columns_ = 0;
    struct Figure {
        QWidget* box;
        QLabel* name;
        QLabel* value;
    };
    std::vector<Figure> figures_;
};

} // namespace furrow
