#include "ui/charts/coverage_map.h"

#include "ui/charts/coverage_measures.h"
#include "ui/theme/theme.h"
#include "ui/widgets/worker_mark.h"

#include <QElapsedTimer>
#include <QPainter>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

namespace furrow {

using namespace coverage;

void CoverageMap::paintEvent(QPaintEvent*)
{
    QPainter painter(viewport());
    paint(painter);
}

double CoverageMap::paintNow(QImage& into)
{
    QElapsedTimer timer;
    timer.start();
    QPainter painter(&into);
    paint(painter);
    painter.end();
    return static_cast<double>(timer.nsecsElapsed()) / 1e6;
}

void CoverageMap::paint(QPainter& p)
{
    const Theme& t = theme();
    p.fillRect(viewport()->rect(), t.color(Token::Panel));
    if (cells_.empty()) {
        p.setFont(t.font(FontRole::Body));
        p.setPen(t.color(Token::Text2));
        p.drawText(QRectF(0, 0, viewport()->width(), viewport()->height() * 0.66), Qt::AlignCenter, emptyText_);
        return;
    }
    const QRectF area = fieldArea();
    p.save();
    p.setClipRect(area);
    if (std::min(cellWidth_, cellHeight_) >= kMarkedCell)
        drawCells(p, area);
    else
        drawImage(p, area);
    drawSelection(p, area);
    p.restore();
    coverOutside(p, viewport()->rect(), area.toAlignedRect(), t.color(Token::Panel));
    drawLabels(p, area);
    if (minimapVisible_)
        drawMinimap(p);
    if (hasFocus()) {
        p.setPen(QPen(t.color(Token::Accent), 1));
        p.setBrush(Qt::NoBrush);
        p.drawRect(QRectF(viewport()->rect()).adjusted(0.5, 0.5, -0.5, -0.5));
    }
}

void CoverageMap::drawCells(QPainter& p, const QRectF& area)
{
    const int firstRow = std::max(0, static_cast<int>(verticalScrollBar()->value() / cellHeight_));
    const int lastRow = std::min(static_cast<int>(rowBlocks_.size()) - 1,
        static_cast<int>((verticalScrollBar()->value() + area.height()) / cellHeight_));
    const int firstColumn = std::max(0, static_cast<int>(horizontalScrollBar()->value() / cellWidth_));
    const int lastColumn
        = std::min(columns_ - 1, static_cast<int>((horizontalScrollBar()->value() + area.width()) / cellWidth_));
    for (int row = firstRow; row <= lastRow; ++row) {
        for (int column = firstColumn; column <= lastColumn; ++column) {
            const auto cell = grid_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_)
                + static_cast<std::size_t>(column)];
            if (cell >= 0)
                drawChunkCell(p, cellArea(row, column), lookOf(static_cast<std::size_t>(cell)));
        }
    }
}

void CoverageMap::drawImage(QPainter& p, const QRectF& area)
{
    const double rows = std::min(static_cast<double>(rowBlocks_.size()) - verticalScrollBar()->value() / cellHeight_,
        area.height() / cellHeight_);
    const double columns = std::min(columns_ - horizontalScrollBar()->value() / cellWidth_, area.width() / cellWidth_);
    const QRectF target(area.left(), area.top(), columns * cellWidth_, rows * cellHeight_);
    if (cellWidth_ < 1 || cellHeight_ < 1) {
        const QSize size(std::max(1, static_cast<int>(std::ceil(target.width()))),
            std::max(1, static_cast<int>(std::ceil(target.height()))));
        p.drawImage(area.topLeft(),
            shrink(verticalScrollBar()->value() / cellHeight_, 1 / cellHeight_,
                horizontalScrollBar()->value() / cellWidth_, 1 / cellWidth_, size));
        return;
    }
    p.setRenderHint(QPainter::SmoothPixmapTransform, false);
    p.drawImage(target, image_,
        QRectF(horizontalScrollBar()->value() / cellWidth_, verticalScrollBar()->value() / cellHeight_, columns, rows));
}

/// Several chunks a pixel: the one that matters most shows. One pass over the visible bytes.
QImage CoverageMap::shrink(
    double firstRow, double rowsPerPixel, double firstColumn, double columnsPerPixel, QSize size) const
{
    QImage out(size, QImage::Format_Indexed8);
    out.setColorTable(image_.colorTable());
    out.fill(kNoCell);
    std::vector<std::pair<int, int>> spans(static_cast<std::size_t>(size.width()));
    for (int x = 0; x < size.width(); ++x) {
        const int begin = std::clamp(static_cast<int>(firstColumn + x * columnsPerPixel), 0, columns_ - 1);
        const int end = std::clamp(static_cast<int>(firstColumn + (x + 1) * columnsPerPixel), begin + 1, columns_);
        spans[static_cast<std::size_t>(x)] = { begin, end };
    }
    std::vector<uchar> best(static_cast<std::size_t>(columns_));
    const int rows = static_cast<int>(rowBlocks_.size());
    for (int y = 0; y < size.height(); ++y) {
        const int begin = std::clamp(static_cast<int>(firstRow + y * rowsPerPixel), 0, rows - 1);
        const int end = std::clamp(static_cast<int>(firstRow + (y + 1) * rowsPerPixel), begin + 1, rows);
        std::copy_n(image_.constScanLine(begin), columns_, best.data());
        for (int row = begin + 1; row < end; ++row) {
            const uchar* line = image_.constScanLine(row);
            uchar* kept = best.data();
            for (int c = 0; c < columns_; ++c)
                kept[c] = std::max(kept[c], line[c]);
        }
        uchar* target = out.scanLine(y);
        for (int x = 0; x < size.width(); ++x) {
            const auto [from, to] = spans[static_cast<std::size_t>(x)];
            uchar shown = best[static_cast<std::size_t>(from)];
            for (int c = from + 1; c < to; ++c)
                shown = std::max(shown, best[static_cast<std::size_t>(c)]);
            target[x] = shown;
        }
    }
    return out;
}

void CoverageMap::drawLabels(QPainter& p, const QRectF& area) const
{
    const Theme& t = theme();
    p.setFont(t.font(FontRole::Axis));
    p.setPen(t.color(Token::Text3));
    p.drawText(QRectF(0, 0, kLabels - 18, kHeader), Qt::AlignVCenter | Qt::AlignRight, tr("block"));
    const double widest = tabularWidth(p.font(), QString::number(columns_)) + 14;
    int step = 1;
    for (int next = 2; step * cellWidth_ < widest && step < columns_; next = next == 2 ? 5 : next == 5 ? 10 : next * 2)
        step = next;
    for (int column = 0; column < columns_; column += step) {
        const QRectF cell = cellArea(0, column);
        if (cell.left() >= area.left() - 1 && cell.left() + widest <= area.right() + 20)
            drawTabular(p, QRectF(cell.left(), 0, std::max(cell.width(), 1.0), kHeader),
                cellWidth_ >= 18 ? Qt::AlignHCenter : Qt::AlignLeft, QString::number(column));
    }
    const double line = QFontMetricsF(p.font()).height();
    int rowStep = 1;
    while (rowStep * cellHeight_ < line - 1)
        rowStep *= rowStep % 3 == 2 ? 5 : 2;
    const int rows = static_cast<int>(rowBlocks_.size());
    const int first = std::max(0, static_cast<int>(verticalScrollBar()->value() / cellHeight_));
    const int last = std::min(rows - 1, static_cast<int>((verticalScrollBar()->value() + area.height()) / cellHeight_));
    const int currentRow = current_ >= 0 ? rowOfBlock_.at(cells_[static_cast<std::size_t>(current_)].block) : -1;
    for (int row = first - first % rowStep; row <= last; row += rowStep) {
        const QRectF cell = cellArea(row, 0);
        if (cell.top() < area.top() - 2 || cell.top() + line > viewport()->height() + 4)
            continue;
        p.setFont(t.font(FontRole::Axis, row == currentRow ? QFont::DemiBold : QFont::Normal));
        p.setPen(t.color(row == currentRow ? Token::Text1 : Token::Text3));
        const double height = std::max(cell.height(), cellHeight_ >= line - 1 ? cell.height() : line);
        drawTabular(p, QRectF(0, cell.top(), kLabels - 18, height), Qt::AlignRight,
            QString::number(rowBlocks_[static_cast<std::size_t>(row)]));
    }
    if (cellHeight_ < 2)
        return;
    for (int row = first; row <= last; ++row) {
        if (openBlocks_.contains(rowBlocks_[static_cast<std::size_t>(row)])) {
            const QRectF cell = cellArea(row, 0);
            p.fillRect(QRectF(kLabels - 7, cell.top(), 3, cell.height()), t.color(Token::Accent));
        }
    }
}

void CoverageMap::drawSelection(QPainter& p, const QRectF&) const
{
    const auto place = [this](std::int32_t cell) {
        const ChunkCell& c = cells_[static_cast<std::size_t>(cell)];
        return cellArea(rowOfBlock_.at(c.block), c.column);
    };
    if (std::min(cellWidth_, cellHeight_) >= 4) {
        for (const std::int32_t cell : selected_)
            drawCellSelection(p, place(cell), cell == current_);
        if (current_ >= 0)
            drawCellSelection(p, place(current_), true);
    }
    if (!brushing_ || !brushFrom_)
        return;
    const QRectF box = QRectF(*brushFrom_, brushTo_).normalized();
    p.setBrush(Qt::NoBrush);
    p.setPen(QPen(theme().color(Token::Inset), 3));
    p.drawRect(box);
    QPen dashed(theme().color(Token::Accent), 1.5);
    dashed.setDashPattern({ 4, 2.5 });
    p.setPen(dashed);
    p.drawRect(box);
}

QImage CoverageMap::overview(QSize size) const
{
    if (image_.isNull())
        return {};
    return shrink(0, static_cast<double>(rowBlocks_.size()) / size.height(), 0,
        static_cast<double>(columns_) / size.width(), size);
}

void CoverageMap::drawMinimap(QPainter& p)
{
    const Theme& t = theme();
    const QRectF area = minimapArea();
    const double ratio = viewport()->devicePixelRatioF();
    const QSize size(
        std::max(1, static_cast<int>(area.width() * ratio)), std::max(1, static_cast<int>(area.height() * ratio)));
    if (minimap_.size() != size)
        minimap_ = overview(size);
    p.fillRect(QRectF(area.left() - 11, 0, 1, viewport()->height()), t.color(Token::Line));
    p.setFont(t.font(FontRole::Axis));
    p.setPen(t.color(Token::Text3));
    p.drawText(QRectF(area.left(), 0, area.width() + 8, kHeader), Qt::AlignVCenter,
        tr("%n blocks", nullptr, static_cast<int>(rowBlocks_.size())));
    p.drawImage(area, minimap_);
    p.setPen(QPen(t.color(Token::Line), 1));
    p.setBrush(Qt::NoBrush);
    p.drawRect(area.adjusted(-0.5, -0.5, 0.5, 0.5));
    const double all = cellHeight_ * static_cast<double>(rowBlocks_.size());
    const double top = area.top() + area.height() * verticalScrollBar()->value() / all;
    const double height = std::min(1.0, fieldArea().height() / all) * area.height();
    p.setPen(QPen(t.color(Token::Text1), 1.5));
    p.drawRect(QRectF(area.left() - 1, top, area.width() + 2, height));
}

} // namespace furrow
