#pragma once

#include <QWidget>

namespace furrow {

/// What the looks of the worker lanes mean, in one line.
class LaneLegend : public QWidget {
    Q_OBJECT
public:
    explicit LaneLegend(QWidget* parent = nullptr);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return { 0, sizeHint().height() }; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;
};

} // namespace furrow
