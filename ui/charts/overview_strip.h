#pragma once

#include "ui/charts/chart_link.h"
#include "ui/charts/chart_data.h"

#include <QPixmap>
#include <QWidget>

namespace furrow {

/// 34 px below the charts: everything there is, with the visible range to be dragged or resized.
class OverviewStrip : public QWidget {
    Q_OBJECT
public:
    explicit OverviewStrip(ChartLink& link, QWidget* parent = nullptr);
    void setData(const ChartData& shown);
    QSize sizeHint() const override { return { 600, 34 }; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    QRectF area() const;
    double xOf(double value) const;
    double valueAt(double pixel) const;
    void drawCurve();
    ChartLink::Range shown() const;

    ChartLink& link_;
    ChartData data_;
    QPixmap curve_; ///< drawn once per data, size or theme
    enum class Drag { None, Move, Left, Right } drag_ = Drag::None;
    double dragFrom_ = 0;
    ChartLink::Range dragRange_;
};

} // namespace furrow
