// Mouse, wheel and keys of a chart.
#include "ui/charts/series_chart.h"

#include "ui/charts/chart_parts.h"
#include "ui/charts/chart_plot.h"

#include <cmath>

namespace furrow {
namespace {

constexpr double kClickReach = 12;

} // namespace

void SeriesChart::keyPressEvent(QKeyEvent* event)
{
    const auto range = shownRange();
    const double step = (range.end - range.begin) / 10;
    switch (event->key()) {
    case Qt::Key_F: fit(); return;
    case Qt::Key_L:
        options_.logY = !options_.logY;
        setOptions(options_);
        Q_EMIT optionsChanged();
        return;
    case Qt::Key_Backspace: link_.zoomBack(); return;
    case Qt::Key_Left:
        if (event->modifiers() & Qt::AltModifier)
            link_.zoomBack();
        else
            link_.setRange(ChartLink::Range { range.begin - step, range.end - step }, false);
        return;
    case Qt::Key_Right: link_.setRange(ChartLink::Range { range.begin + step, range.end + step }, false); return;
    case Qt::Key_Plus: link_.setRange(ChartLink::Range { range.begin + step, range.end - step }); return;
    case Qt::Key_Minus: link_.setRange(ChartLink::Range { range.begin - step, range.end + step }); return;
    default: QWidget::keyPressEvent(event);
    }
}

void SeriesChart::onPress(QMouseEvent* event)
{
    setFocus(Qt::MouseFocusReason);
    if (event->button() != Qt::LeftButton)
        return;
    drag_ = event->modifiers() & Qt::ShiftModifier ? Drag::Box : Drag::Pan;
    dragFrom_ = event->position();
    dragRange_ = shownRange();
    dragMoved_ = false;
}

void SeriesChart::onMove(QMouseEvent* event)
{
    const QPointF at = event->position();
    const QRectF area = plot_->axisRect()->rect();
    if (drag_ != Drag::None && (dragMoved_ || (at - dragFrom_).manhattanLength() > 4)) {
        const bool first = !dragMoved_;
        dragMoved_ = true;
        if (drag_ == Drag::Box) {
            crossHair_->setBox(QRectF(dragFrom_, at).normalized());
            plot_->update();
            return;
        }
        if (!options_.logX) {
            const double shift = (dragFrom_.x() - at.x()) / area.width() * (dragRange_.end - dragRange_.begin);
            link_.setRange(ChartLink::Range { dragRange_.begin + shift, dragRange_.end + shift }, first);
        }
        return;
    }
    const bool inside = area.contains(at);
    crossHair_->setShowsValues(inside);
    link_.setCursor(inside ? plot_->xAxis->pixelToCoord(at.x()) : NAN);
}

void SeriesChart::onRelease(QMouseEvent* event)
{
    const Drag drag = std::exchange(drag_, Drag::None);
    const QPointF at = event->position();
    if (drag == Drag::Box && dragMoved_) {
        crossHair_->setBox({});
        const QRectF box = QRectF(dragFrom_, at).normalized();
        values_ = QCPRange(plot_->yAxis->pixelToCoord(box.bottom()), plot_->yAxis->pixelToCoord(box.top()));
        link_.setRange(
            ChartLink::Range { plot_->xAxis->pixelToCoord(box.left()), plot_->xAxis->pixelToCoord(box.right()) });
        markDirty();
        return;
    }
    if (drag == Drag::None || dragMoved_)
        return;
    const double x = plot_->xAxis->pixelToCoord(at.x());
    double nearest = kClickReach * 4;
    int worker = -1;
    for (const auto& shape : curves_->shapes()) {
        const int w = shape.line.worker;
        const double value = curves_->valueAt(w, x);
        const double distance = std::isfinite(value) ? std::abs(plot_->yAxis->coordToPixel(value) - at.y()) : INFINITY;
        if (distance < nearest) {
            nearest = distance;
            worker = w;
        }
    }
    Q_EMIT pointClicked(worker, x);
}

void SeriesChart::onWheel(QWheelEvent* event)
{
    const double factor = std::pow(0.85, event->angleDelta().y() / 120.0);
    if (event->modifiers() & Qt::ShiftModifier) {
        const double at = plot_->yAxis->pixelToCoord(event->position().y());
        const QCPRange now = plot_->yAxis->range();
        setValueRange(QCPRange(at - (at - now.lower) * factor, at + (now.upper - at) * factor));
        return;
    }
    const double at = plot_->xAxis->pixelToCoord(event->position().x());
    const auto now = shownRange();
    link_.setRange(ChartLink::Range { at - (at - now.begin) * factor, at + (now.end - at) * factor });
    event->accept();
}

} // namespace furrow
