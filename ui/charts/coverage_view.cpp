// Where the cells of the coverage map are: zoom, scroll bars, places.
#include "ui/charts/coverage_map.h"

#include "ui/charts/coverage_measures.h"

#include <QEvent>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

namespace furrow {

using namespace coverage;

namespace {

constexpr double kUsualHeight = 19;
constexpr double kLargestWidth = 34;

} // namespace

QRectF CoverageMap::fieldArea() const
{
    const double right = minimapVisible_ ? kMinimap : 8;
    return { kLabels, kHeader, std::max(1.0, viewport()->width() - kLabels - right),
        std::max(1.0, viewport()->height() - kHeader - 4) };
}

QRectF CoverageMap::minimapArea() const
{
    const double room = std::max(1.0, viewport()->height() - kHeader - 4);
    return { viewport()->width() - kMinimap + 10, kHeader, kMinimap - 20,
        std::min(room, kLargestMinimapRow * static_cast<double>(std::max<std::size_t>(1, rowBlocks_.size()))) };
}

void CoverageMap::fit()
{
    const QRectF area = fieldArea();
    fitted_ = true;
    cellWidth_ = std::min(kLargestWidth, area.width() / std::max(1, columns_));
    cellHeight_ = std::min(kUsualHeight, area.height() / std::max<double>(1, static_cast<double>(rowBlocks_.size())));
    if (cellHeight_ >= kMarkedCell)
        cellHeight_ = std::floor(cellHeight_);
    updateScrollBars();
    viewport()->update();
}

void CoverageMap::zoom(double factor)
{
    fitted_ = false;
    const double before = cellHeight_;
    cellHeight_ = std::clamp(cellHeight_ * factor, 0.01, 40.0);
    // A zoomed-in cell is a cell: whole pixels keep the gaps even.
    if (cellHeight_ >= kMarkedCell)
        cellHeight_ = factor > 1 ? std::ceil(cellHeight_) : std::floor(cellHeight_);
    fitWidth();
    const double top = verticalScrollBar()->value() * cellHeight_ / before;
    updateScrollBars();
    verticalScrollBar()->setValue(static_cast<int>(top));
    viewport()->update();
}

void CoverageMap::updateScrollBars()
{
    const QRectF area = fieldArea();
    const double height = cellHeight_ * static_cast<double>(rowBlocks_.size());
    const double width = cellWidth_ * columns_;
    verticalScrollBar()->setPageStep(static_cast<int>(area.height()));
    verticalScrollBar()->setSingleStep(std::max(1, static_cast<int>(cellHeight_ * 3)));
    verticalScrollBar()->setRange(
        0, std::max(0, static_cast<int>(std::min(2e9, std::floor(height - area.height() + 1e-6)))));
    horizontalScrollBar()->setPageStep(static_cast<int>(area.width()));
    horizontalScrollBar()->setRange(
        0, std::max(0, static_cast<int>(std::min(2e9, std::floor(width - area.width() + 1e-6)))));
}

void CoverageMap::resizeEvent(QResizeEvent* event)
{
    QAbstractScrollArea::resizeEvent(event);
    minimap_ = QImage();
    if (fitted_)
        fit();
    fitWidth();
    updateScrollBars();
}

/// All columns are visible; where they are narrow, zooming rows widens them too.
void CoverageMap::fitWidth()
{
    const double whole = std::min(kLargestWidth, fieldArea().width() / std::max(1, columns_));
    const double rows
        = std::min(kUsualHeight, fieldArea().height() / std::max<double>(1, static_cast<double>(rowBlocks_.size())));
    cellWidth_ = std::clamp(whole * std::max(1.0, cellHeight_ / std::max(rows, 1e-9)), whole,
        std::max(whole, std::min(kLargestWidth, cellHeight_ * 1.8)));
}

void CoverageMap::scrollContentsBy(int, int) { viewport()->update(); }

void CoverageMap::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange) {
        palette_ = colors_.palette();
        if (!image_.isNull())
            image_.setColorTable(QVector<QRgb>(palette_.begin(), palette_.end()));
        minimap_ = QImage();
        viewport()->update();
    }
    QAbstractScrollArea::changeEvent(event);
}

QRectF CoverageMap::cellArea(int row, int column) const
{
    const QRectF area = fieldArea();
    const double x = std::round(area.left() + column * cellWidth_ - horizontalScrollBar()->value());
    const double right = std::round(area.left() + (column + 1) * cellWidth_ - horizontalScrollBar()->value());
    const double y = std::round(area.top() + row * cellHeight_ - verticalScrollBar()->value());
    const double bottom = std::round(area.top() + (row + 1) * cellHeight_ - verticalScrollBar()->value());
    return { x, y, std::max(1.0, right - x - 1), std::max(1.0, bottom - y - 1) };
}

std::optional<CoverageMap::Place> CoverageMap::placeAt(QPointF position) const
{
    const QRectF area = fieldArea();
    if (!area.contains(position))
        return std::nullopt;
    const auto row = static_cast<std::int64_t>(
        std::floor((position.y() - area.top() + verticalScrollBar()->value()) / cellHeight_));
    const auto column = static_cast<std::int64_t>(
        std::floor((position.x() - area.left() + horizontalScrollBar()->value()) / cellWidth_));
    if (row < 0 || column < 0 || row >= static_cast<std::int64_t>(rowBlocks_.size()) || column >= columns_)
        return std::nullopt;
    return Place { static_cast<int>(row), static_cast<int>(column) };
}

std::ptrdiff_t CoverageMap::pick(QPointF position) const
{
    const auto place = placeAt(position);
    return place ? grid_[static_cast<std::size_t>(place->row) * static_cast<std::size_t>(columns_)
                       + static_cast<std::size_t>(place->column)]
                 : -1;
}

} // namespace furrow
