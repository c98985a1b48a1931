#include "ui/charts/coverage_map.h"

#include "ui/charts/chart_data.h"
#include "ui/charts/coverage_measures.h"
#include "ui/theme/theme.h"

#include <QDateTime>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>
#include <cmath>

namespace furrow {

using namespace coverage;

namespace {

constexpr double kUsualHeight = 19;
constexpr double kLargestWidth = 34;
constexpr int kMaxColumns = 1'000'000;

std::int64_t nowWallNs()
{
    return QDateTime::currentMSecsSinceEpoch() * 1'000'000;
}

} // namespace

CoverageMap::CoverageMap(QWidget* parent)
    : QAbstractScrollArea(parent)
    , emptyText_(tr("No block is prepared yet."))
{
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    viewport()->setMouseTracking(true);
    setAccessibleName(tr("Coverage map"));
    palette_ = colors_.palette();
}

void CoverageMap::setCells(std::vector<ChunkCell> cells)
{
    cells_ = std::move(cells);
    kinds_.clear();
    selected_.clear();
    current_ = -1;
    buildGrid();
    recolour();
    if (fitted_)
        fit();
    updateScrollBars();
}

void CoverageMap::buildGrid()
{
    columns_ = 0;
    rowOfBlock_.clear();
    rowBlocks_.clear();
    for (const ChunkCell& cell : cells_)
        columns_ = std::max(columns_, std::min(cell.column + 1, kMaxColumns));
    for (const std::int64_t block : order_)
        rowOfBlock_.try_emplace(block, 0);
    const bool ordered = !order_.empty();
    std::vector<std::int64_t> blocks;
    std::int64_t last = -1;
    for (const ChunkCell& cell : cells_) {
        if (cell.block != last) {
            blocks.push_back(cell.block);
            last = cell.block;
        }
    }
    std::sort(blocks.begin(), blocks.end());
    blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
    if (ordered) {
        for (const std::int64_t block : order_) {
            if (std::binary_search(blocks.begin(), blocks.end(), block))
                rowBlocks_.push_back(block);
        }
        for (const std::int64_t block : blocks) {
            if (!rowOfBlock_.contains(block))
                rowBlocks_.push_back(block);
        }
    } else {
        rowBlocks_ = std::move(blocks);
    }
    rowOfBlock_.clear();
    for (std::size_t row = 0; row < rowBlocks_.size(); ++row)
        rowOfBlock_[rowBlocks_[row]] = static_cast<int>(row);
    grid_.assign(rowBlocks_.size() * static_cast<std::size_t>(columns_), -1);
    int row = 0;
    last = -1;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
        if (cells_[i].block != last) {
            last = cells_[i].block;
            row = rowOfBlock_[last];
        }
        if (cells_[i].column >= 0 && cells_[i].column < columns_)
            grid_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(cells_[i].column)] = static_cast<std::int32_t>(i);
    }
}

void CoverageMap::recolour(bool cellsChanged)
{
    colors_.recolour(cells_, nowWallNs(), cellsChanged);
    palette_ = colors_.palette();
    const int rows = static_cast<int>(rowBlocks_.size());
    if (image_.width() != columns_ || image_.height() != rows)
        image_ = columns_ > 0 && rows > 0 ? QImage(columns_, rows, QImage::Format_Indexed8) : QImage();
    if (!image_.isNull()) {
        image_.setColorTable(QVector<QRgb>(palette_.begin(), palette_.end()));
        const auto& entries = colors_.entries();
        for (int row = 0; row < rows; ++row) {
            uchar* line = image_.scanLine(row);
            const std::int32_t* cell = &grid_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_)];
            for (int c = 0; c < columns_; ++c)
                line[c] = cell[c] < 0 ? static_cast<uchar>(kNoCell) : entries[static_cast<std::size_t>(cell[c])];
        }
    }
    minimap_ = QImage();
    const auto& summary = colors_.summary();
    setAccessibleDescription(tr("%1 of %2 chunks committed, %3 lost, %4 poisoned")
                                 .arg(summary.kinds[static_cast<std::size_t>(CellKind::Committed)])
                                 .arg(summary.total)
                                 .arg(summary.kinds[static_cast<std::size_t>(CellKind::Lost)])
                                 .arg(summary.kinds[static_cast<std::size_t>(CellKind::Poisoned)]));
    viewport()->update();
    Q_EMIT summaryChanged();
}

void CoverageMap::updateCells(const std::vector<ChunkCell>& changed)
{
    bool known = true;
    for (const ChunkCell& cell : changed) {
        const auto row = rowOfBlock_.find(cell.block);
        std::int32_t index = -1;
        if (row != rowOfBlock_.end() && cell.column >= 0 && cell.column < columns_)
            index = grid_[static_cast<std::size_t>(row->second) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(cell.column)];
        if (index >= 0) {
            cells_[static_cast<std::size_t>(index)] = cell;
        } else {
            cells_.push_back(cell);
            known = false;
        }
    }
    if (!known)
        buildGrid();
    recolour();
    if (!known && fitted_)
        fit();
    updateScrollBars();
}

void CoverageMap::setLayer(MapLayer layer, RelativeTo relative)
{
    colors_.setLayer(layer, relative);
    recolour(false);
}

void CoverageMap::setBlockPlaces(std::unordered_map<std::int64_t, BlockPlace> places)
{
    colors_.setBlockPlaces(std::move(places));
    if (colors_.layer() == MapLayer::Block)
        recolour(false);
}

void CoverageMap::setReference(const std::vector<ChunkCell>& cells)
{
    colors_.setReference(cells);
    recolour(false);
}

void CoverageMap::setRowOrder(std::vector<std::int64_t> blocks)
{
    order_ = std::move(blocks);
    buildGrid();
    recolour();
}

void CoverageMap::setOpenBlocks(QSet<qint64> blocks)
{
    openBlocks_ = std::move(blocks);
    viewport()->update();
}

void CoverageMap::setProgress(const std::vector<std::pair<ChunkId, double>>& progress)
{
    progress_.clear();
    for (const auto& [chunk, share] : progress)
        progress_[chunk.value] = share;
    viewport()->update();
}

void CoverageMap::setKinds(std::vector<CellKind> kinds)
{
    kinds_ = std::move(kinds);
    viewport()->update();
}

void CoverageMap::setSelected(const std::vector<ChunkId>& chunks, ChunkId current)
{
    selected_.clear();
    current_ = -1;
    if (!chunks.empty() || current.value != 0) {
        std::vector<std::int64_t> wanted;
        for (const ChunkId chunk : chunks)
            wanted.push_back(chunk.value);
        std::sort(wanted.begin(), wanted.end());
        for (std::size_t i = 0; i < cells_.size(); ++i) {
            if (std::binary_search(wanted.begin(), wanted.end(), cells_[i].id.value))
                selected_.push_back(static_cast<std::int32_t>(i));
            if (cells_[i].id == current)
                current_ = static_cast<std::int32_t>(i);
        }
    }
    viewport()->update();
}

void CoverageMap::setEmptyText(const QString& sentence)
{
    emptyText_ = sentence;
    viewport()->update();
}

void CoverageMap::setMinimapVisible(bool visible)
{
    minimapVisible_ = visible;
    updateScrollBars();
    viewport()->update();
}

QRectF CoverageMap::fieldArea() const
{
    const double right = minimapVisible_ ? kMinimap : 8;
    return { kLabels, kHeader, std::max(1.0, viewport()->width() - kLabels - right), std::max(1.0, viewport()->height() - kHeader - 4) };
}

QRectF CoverageMap::minimapArea() const
{
    const double room = std::max(1.0, viewport()->height() - kHeader - 4);
    return { viewport()->width() - kMinimap + 10, kHeader, kMinimap - 20, std::min(room, kLargestMinimapRow * static_cast<double>(std::max<std::size_t>(1, rowBlocks_.size()))) };
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
    verticalScrollBar()->setRange(0, std::max(0, static_cast<int>(std::min(2e9, std::floor(height - area.height() + 1e-6)))));
    horizontalScrollBar()->setPageStep(static_cast<int>(area.width()));
    horizontalScrollBar()->setRange(0, std::max(0, static_cast<int>(std::min(2e9, std::floor(width - area.width() + 1e-6)))));
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
    const double rows = std::min(kUsualHeight, fieldArea().height() / std::max<double>(1, static_cast<double>(rowBlocks_.size())));
    cellWidth_ = std::clamp(whole * std::max(1.0, cellHeight_ / std::max(rows, 1e-9)), whole, std::max(whole, std::min(kLargestWidth, cellHeight_ * 1.8)));
}

void CoverageMap::scrollContentsBy(int, int)
{
    viewport()->update();
}

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
    const auto row = static_cast<std::int64_t>(std::floor((position.y() - area.top() + verticalScrollBar()->value()) / cellHeight_));
    const auto column = static_cast<std::int64_t>(std::floor((position.x() - area.left() + horizontalScrollBar()->value()) / cellWidth_));
    if (row < 0 || column < 0 || row >= static_cast<std::int64_t>(rowBlocks_.size()) || column >= columns_)
        return std::nullopt;
    return Place { static_cast<int>(row), static_cast<int>(column) };
}

std::ptrdiff_t CoverageMap::pick(QPointF position) const
{
    const auto place = placeAt(position);
    return place ? grid_[static_cast<std::size_t>(place->row) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(place->column)] : -1;
}

CellLook CoverageMap::lookOf(std::size_t cell) const
{
    CellLook look;
    const ChunkCell& c = cells_[cell];
    if (cell < kinds_.size()) {
        look.kind = kinds_[cell];
        return look;
    }
    look.kind = cellKindOf(c);
    look.worker = c.worker;
    look.value = QColor::fromRgb(palette_[colors_.entry(cell)]);
    look.redone = c.timesLost > 0 && (look.kind == CellKind::Trained || look.kind == CellKind::Committed);
    if (look.kind == CellKind::Leased) {
        const auto found = progress_.find(c.id.value);
        look.progress = found == progress_.end() ? 0 : found->second;
    }
    return look;
}

QString CoverageMap::describe(const ChunkCell& cell) const
{
    QStringList parts { tr("B%1 C%2").arg(cell.block).arg(cell.column) };
    if (std::isfinite(cell.meanLoss) && (cell.state == ChunkState::Trained || cell.state == ChunkState::Committed))
        parts << tr("mean loss %1").arg(valueText(cell.meanLoss));
    parts << cellWord(cellKindOf(cell));
    if (cell.inherited != Inherited::Nothing)
        parts << tr("trained by the parent run");
    if (cell.worker >= 0)
        parts << tr("worker %1").arg(cell.worker);
    if (cell.timesTrained > 1)
        parts << tr("trained %n times", nullptr, cell.timesTrained);
    return parts.join(QStringLiteral(", "));
}

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
    const auto cell = pick(event->position());
    Q_EMIT chunkHovered(cell < 0 ? ChunkId {} : cells_[static_cast<std::size_t>(cell)].id, cell < 0 ? QString() : describe(cells_[static_cast<std::size_t>(cell)]));
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
            Q_EMIT chunkClicked(cells_[static_cast<std::size_t>(cell)].id);
        }
        return;
    }
    brushing_ = false;
    const QRectF area = fieldArea().adjusted(0, 0, -0.01, -0.01);
    const auto inside = [&](QPointF p) {
        const QRectF field(area.topLeft(), QSizeF(std::min(area.width(), columns_ * cellWidth_ - horizontalScrollBar()->value() - 0.01),
                                               std::min(area.height(), static_cast<double>(rowBlocks_.size()) * cellHeight_ - verticalScrollBar()->value() - 0.01)));
        return placeAt({ std::clamp(p.x(), field.left(), field.right()), std::clamp(p.y(), field.top(), field.bottom()) });
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
            const auto index = grid_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(column)];
            if (index >= 0)
                chunks.push_back(cells_[static_cast<std::size_t>(index)].id);
        }
    }
    setSelected(chunks);
    Q_EMIT brushed(chunks, firstRow, lastRow, firstColumn, lastColumn);
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
        row = std::clamp(rowOfBlock_.at(cells_[static_cast<std::size_t>(current_)].block) + rows, 0, static_cast<int>(rowBlocks_.size()) - 1);
        column = std::clamp(cells_[static_cast<std::size_t>(current_)].column + columns, 0, columns_ - 1);
    }
    const auto cell = grid_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(column)];
    if (cell < 0)
        return;
    const ChunkId id = cells_[static_cast<std::size_t>(cell)].id;
    showChunk(id);
    Q_EMIT chunkClicked(id);
    Q_EMIT chunkHovered(id, describe(cells_[static_cast<std::size_t>(cell)]));
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
            QToolTip::showText(help->globalPos(), describe(cells_[static_cast<std::size_t>(cell)]), viewport());
        return true;
    }
    if (event->type() == QEvent::Leave)
        Q_EMIT chunkHovered({}, {});
    return QAbstractScrollArea::viewportEvent(event);
}

} // namespace furrow
