#include "ui/charts/coverage_map.h"

#include "core/run/status/samples_left_out.h"
#include "ui/charts/chart_data.h"
#include "ui/charts/coverage_measures.h"
#include "ui/theme/theme.h"

#include <QDateTime>
#include <algorithm>
#include <cmath>

namespace furrow {

using namespace coverage;

namespace {

constexpr int kMaxColumns = 1'000'000;

std::int64_t nowWallNs() { return QDateTime::currentMSecsSinceEpoch() * 1'000'000; }

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
    current_ = hovered_ = -1;
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
            grid_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_)
                + static_cast<std::size_t>(cells_[i].column)]
                = static_cast<std::int32_t>(i);
    }
}

void CoverageMap::recolour(bool cellsChanged)
{
    colors_.recolour(cells_, moment_.value_or(nowWallNs()), cellsChanged);
    palette_ = colors_.palette();
    fillImage();
    const auto& summary = colors_.summary();
    setAccessibleDescription(tr("%1 of %2 chunks committed, %3 lost, %4 poisoned")
            .arg(summary.kinds[static_cast<std::size_t>(CellKind::Committed)])
            .arg(summary.total)
            .arg(summary.kinds[static_cast<std::size_t>(CellKind::Lost)])
            .arg(summary.kinds[static_cast<std::size_t>(CellKind::Poisoned)]));
    viewport()->update();
    Q_EMIT summaryChanged();
}

void CoverageMap::fillImage()
{
    minimap_ = QImage();
    const int rows = static_cast<int>(rowBlocks_.size());
    if (image_.width() != columns_ || image_.height() != rows)
        image_ = columns_ > 0 && rows > 0 ? QImage(columns_, rows, QImage::Format_Indexed8) : QImage();
    if (image_.isNull())
        return;
    image_.setColorTable(QVector<QRgb>(palette_.begin(), palette_.end()));
    std::vector<std::uint8_t> ofKinds;
    for (const CellKind kind : kinds_)
        ofKinds.push_back(entryOf(kind));
    const auto& entries = ofKinds.size() == cells_.size() ? ofKinds : colors_.entries();
    for (int row = 0; row < rows; ++row) {
        uchar* line = image_.scanLine(row);
        const std::int32_t* cell = &grid_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_)];
        for (int c = 0; c < columns_; ++c)
            line[c] = cell[c] < 0 ? static_cast<uchar>(kNoCell) : entries[static_cast<std::size_t>(cell[c])];
    }
}

void CoverageMap::updateCells(const std::vector<ChunkCell>& changed)
{
    bool known = true;
    for (const ChunkCell& cell : changed) {
        const auto row = rowOfBlock_.find(cell.block);
        std::int32_t index = -1;
        if (row != rowOfBlock_.end() && cell.column >= 0 && cell.column < columns_)
            index = grid_[static_cast<std::size_t>(row->second) * static_cast<std::size_t>(columns_)
                + static_cast<std::size_t>(cell.column)];
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
    if (hovered_ >= 0)
        tellHovered(hovered_); // what is said of it was so before
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
    if (blocks == order_) // cells that change do so far more often than their order
        return;
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
    fillImage();
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

CellLook CoverageMap::lookOf(std::size_t cell) const
{
    CellLook look;
    const ChunkCell& c = cells_[cell];
    const bool isOfResume = cell < kinds_.size();
    look.kind = isOfResume ? kinds_[cell] : cellKindOf(c);
    const bool isInPart = look.kind == CellKind::Partly || look.kind == CellKind::Lost || look.kind == CellKind::Redo;
    if (isInPart && c.windows > 0)
        look.progress = static_cast<double>(c.covered) / c.windows;
    if (isOfResume)
        return look;
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
    if (!isLeftToParent(cell)) // said below, and nobody left it out by name
        parts << cellWord(cellKindOf(cell));
    const auto found = leftOut_.find(cell.id);
    const TrainedPart part = trainedPart(cell, found == leftOut_.end() ? 0 : found->second);
    const bool isUntrained = cell.state == ChunkState::Committed && cell.windows > 0 && part.windowsWanted == 0;
    if (isUntrained)
        parts << tr("left out, none of its steps was finite");
    if (cell.covered > 0 && cell.covered < cell.windows)
        parts << tr("%1 of %2 samples in checkpoints").arg(part.samples).arg(part.samplesWanted);
    if (part.samplesLeftOut > 0 && !isUntrained)
        parts << tr("samples left out, their steps were not finite: %1").arg(part.samplesLeftOut);
    if (cell.inherited != Inherited::Nothing)
        parts << tr("trained by the parent run");
    if (cell.worker >= 0)
        parts << tr("worker %1").arg(cell.worker);
    if (cell.timesTrained > 1)
        parts << tr("%n training(s), parts and lost ones included", nullptr, cell.timesTrained);
    return parts.join(QStringLiteral(", "));
}

} // namespace furrow
