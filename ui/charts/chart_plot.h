#pragma once

#include "ui/charts/plot_include.h"

#include <QImage>
#include <functional>

namespace furrow {

/// The plot of a chart with one opaque picture instead of the paint buffers of the library: a frame is drawn when the
/// data or the range changed, and showing it is a copy. What moves with the mouse is drawn on that copy and costs no
/// frame.
class ChartPlot : public QCustomPlot {
    Q_OBJECT
public:
    explicit ChartPlot(QWidget* parent);

    /// Draws curves and axes as they are now. Shown at the next paint event.
    void drawFrame();
    /// Whether the newest frame fills the plot; false: it was resized since.
    bool hasFrame() const;
    const QImage& frame() const { return frame_; }
    /// Called with every copy that is shown.
    void setOverlay(std::function<void(QPainter&)> draw) { overlay_ = std::move(draw); }

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    QSize frameSize() const;

    QImage frame_;
    std::function<void(QPainter&)> overlay_;
};

} // namespace furrow
