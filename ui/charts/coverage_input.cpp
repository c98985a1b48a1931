// Mouse, wheel and keys of the coverage map.
#include "ui/charts/coverage_map.h"

#include "ui/charts/coverage_measures.h"
#include "ui/widgets/plain_text.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>
#include <cmath>

namespace furrow {

using namespace coverage;

void CoverageMap::scrollMinimap(double y)
{
    const QRectF area = minimapArea();
    const double all = cellHeight_ * static_cast<double>(rowBlocks_.size());
    verticalScrollBar()->setValue(static_cast<int>((y - area.top()) / area.height() * all - fieldArea().height() / 2));
}

void CoverageMap::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton)
        return;
    scrolling_ = minimapVisible_ && minimapArea().adjusted(-8, 0, 8, 0).contains(event->position());
    if (scrolling_)
        scrollMinimap(event->position().y());
    else
        brushFrom_ = brushTo_ = event->position();
    brushing_ = false;
}

void CoverageMap::mouseMoveEvent(QMouseEvent* event)
{
    if (scrolling_) {
        scrollMinimap(event->position().y());
        return;
    }
    if (brushFrom_) {
        brushTo_ = event->position();
        brushing_ = brushing_ || (brushTo_ - *brushFrom_).manhattanLength() > 5;
        viewport()->update();
        return;
    }
    tellHovered(pick(event->position()));
}

/// @param cell  below 0: none
void CoverageMap::tellHovered(std::ptrdiff_t cell)
{
    hovered_ = static_cast<std::int32_t>(cell);
    Q_EMIT chunkHovered(cell < 0 ? ChunkId {} : cells_[static_cast<std::size_t>(cell)].id,
        cell < 0 ? QString() : describe(cells_[static_cast<std::size_t>(cell)]));
}

void CoverageMap::mouseReleaseEvent(QMouseEvent* event)
{
    scrolling_ = false;
    if (!brushFrom_)
        return;
    const QPointF from = *brushFrom_;
    brushFrom_.reset();
    const auto cell = pick(event->position());
    if (!brushing_) {
        if (cell >= 0) {
            setSelected({ cells_[static_cast<std::size_t>(cell)].id }, cells_[static_cast<std::size_t>(cell)].id);
            Q_EMIT chunkClicked(cells_[static_cast<std::size_t>(cell)].id, event->modifiers());
        }
        return;
    }
    brushing_ = false;
    const QRectF area = fieldArea().adjusted(0, 0, -0.01, -0.01);
    const auto inside = [&](QPointF p) {
        const QRectF field(area.topLeft(),
            QSizeF(std::min(area.width(), columns_ * cellWidth_ - horizontalScrollBar()->value() - 0.01),
                std::min(area.height(),
                    static_cast<double>(rowBlocks_.size()) * cellHeight_ - verticalScrollBar()->value() - 0.01)));
        return placeAt(
            { std::clamp(p.x(), field.left(), field.right()), std::clamp(p.y(), field.top(), field.bottom()) });
    };
    const auto a = inside(from);
    const auto b = inside(event->position());
    viewport()->update();
    if (!a || !b)
        return;
    std::vector<ChunkId> chunks;
    const auto [firstRow, lastRow] = std::minmax(a->row, b->row);
    const auto [firstColumn, lastColumn] = std::minmax(a->column, b->column);
    for (int row = firstRow; row <= lastRow; ++row) {
        for (int column = firstColumn; column <= lastColumn; ++column) {
            const auto index = grid_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_)
                + static_cast<std::size_t>(column)];
            if (index >= 0)
                chunks.push_back(cells_[static_cast<std::size_t>(index)].id);
        }
    }
    setSelected(chunks);
    Q_EMIT brushed(chunks, firstRow, lastRow, firstColumn, lastColumn);
}

std::ptrdiff_t CoverageMap::gridIndexOf(ChunkId chunk) const
{
    const ChunkPlace place = placeOf(chunk);
    const auto row = rowOfBlock_.find(place.block);
    if (row == rowOfBlock_.end() || place.column >= columns_)
        return -1;
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(row->second) * columns_ + place.column;
    const auto cell = grid_[static_cast<std::size_t>(at)];
    return cell >= 0 && cells_[static_cast<std::size_t>(cell)].id == chunk ? at : -1;
}

std::vector<ChunkId> CoverageMap::stretch(ChunkId from, ChunkId to) const
{
    const std::ptrdiff_t begin = gridIndexOf(from);
    const std::ptrdiff_t end = gridIndexOf(to);
    if (begin < 0 || end < 0)
        return { from };
    std::vector<ChunkId> chunks;
    const std::ptrdiff_t step = begin <= end ? 1 : -1;
    for (std::ptrdiff_t at = begin; at != end + step; at += step)
        if (const auto cell = grid_[static_cast<std::size_t>(at)]; cell >= 0)
            chunks.push_back(cells_[static_cast<std::size_t>(cell)].id);
    return chunks;
}

void CoverageMap::mouseDoubleClickEvent(QMouseEvent* event)
{
    const auto cell = pick(event->position());
    if (cell >= 0)
        Q_EMIT chunkActivated(cells_[static_cast<std::size_t>(cell)].id);
}

void CoverageMap::wheelEvent(QWheelEvent* event)
{
    if (event->modifiers() & Qt::ControlModifier) {
        zoom(std::pow(1.2, event->angleDelta().y() / 120.0));
        event->accept();
        return;
    }
    QAbstractScrollArea::wheelEvent(event);
}

void CoverageMap::showChunk(ChunkId chunk)
{
    const ChunkPlace place = placeOf(chunk);
    const auto row = rowOfBlock_.find(place.block);
    if (row == rowOfBlock_.end())
        return;
    const double y = row->second * cellHeight_;
    const double page = fieldArea().height();
    if (y < verticalScrollBar()->value() || y + cellHeight_ > verticalScrollBar()->value() + page)
        verticalScrollBar()->setValue(static_cast<int>(y - page / 2));
    setSelected({ chunk }, chunk);
}

void CoverageMap::moveCurrent(int rows, int columns)
{
    if (cells_.empty())
        return;
    int row = std::max(0, static_cast<int>(verticalScrollBar()->value() / cellHeight_));
    int column = 0;
    if (current_ >= 0) {
        row = std::clamp(rowOfBlock_.at(cells_[static_cast<std::size_t>(current_)].block) + rows, 0,
            static_cast<int>(rowBlocks_.size()) - 1);
        column = std::clamp(cells_[static_cast<std::size_t>(current_)].column + columns, 0, columns_ - 1);
    }
    const auto cell
        = grid_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(column)];
    if (cell < 0)
        return;
    const ChunkId id = cells_[static_cast<std::size_t>(cell)].id;
    showChunk(id);
    Q_EMIT chunkClicked(id, Qt::NoModifier);
    tellHovered(cell);
}

void CoverageMap::keyPressEvent(QKeyEvent* event)
{
    switch (event->key()) {
    case Qt::Key_Left: moveCurrent(0, -1); return;
    case Qt::Key_Right: moveCurrent(0, 1); return;
    case Qt::Key_Up: moveCurrent(-1, 0); return;
    case Qt::Key_Down: moveCurrent(1, 0); return;
    case Qt::Key_F: fit(); return;
    case Qt::Key_Plus: zoom(1.25); return;
    case Qt::Key_Minus: zoom(0.8); return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (current_ >= 0)
            Q_EMIT chunkActivated(cells_[static_cast<std::size_t>(current_)].id);
        return;
    default: QAbstractScrollArea::keyPressEvent(event);
    }
}

bool CoverageMap::viewportEvent(QEvent* event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const auto cell = pick(help->pos());
        if (cell < 0)
            QToolTip::hideText();
        else
            showTip(help->globalPos(), describe(cells_[static_cast<std::size_t>(cell)]), viewport());
        return true;
    }
    if (event->type() == QEvent::Leave)
        tellHovered(-1);
    return QAbstractScrollArea::viewportEvent(event);
}

} // namespace furrow
