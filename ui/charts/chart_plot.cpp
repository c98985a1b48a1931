#include "ui/charts/chart_plot.h"

namespace furrow {

ChartPlot::ChartPlot(QWidget* parent)
    : QCustomPlot(parent)
{
    mReplotting = true; // the library draws nothing by itself into buffers that nobody shows
}

QSize ChartPlot::frameSize() const { return (QSizeF(size()) * bufferDevicePixelRatio()).toSize(); }

bool ChartPlot::hasFrame() const { return frame_.size() == frameSize(); }

void ChartPlot::drawFrame()
{
    if (!hasFrame())
        frame_ = QImage(frameSize(), QImage::Format_RGB32);
    if (frame_.isNull())
        return;
    frame_.setDevicePixelRatio(bufferDevicePixelRatio());
    QCPPainter painter(&frame_);
    painter.fillRect(rect(), mBackgroundBrush);
    draw(&painter);
}

void ChartPlot::paintEvent(QPaintEvent* event)
{
    QCPPainter painter(this);
    const QPaintEngine::Type kind = painter.paintEngine()->type();
    if (kind == QPaintEngine::SVG || kind == QPaintEngine::Pdf) { // a page is saved with this plot in it
        painter.setMode(QCPPainter::pmVectorized);
        painter.fillRect(rect(), mBackgroundBrush);
        draw(&painter);
        return;
    }
    if (!hasFrame())
        painter.fillRect(event->rect(), mBackgroundBrush);
    painter.drawImage(0, 0, frame_);
    if (overlay_)
        overlay_(painter);
}

void ChartPlot::resizeEvent(QResizeEvent*) { setViewport(rect()); }

} // namespace furrow
