#pragma once

#include "ui/charts/map_colors.h"

#include <QAbstractScrollArea>
#include <QImage>
#include <QSet>
#include <map>
#include <optional>

namespace furrow {

/// The field: one row a block, one column a chunk. Small cells come from one image with a byte a chunk, large ones from
/// the cell painter. Ctrl and wheel zooms, dragging brushes, arrows move the current chunk, Enter opens it.
class CoverageMap : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit CoverageMap(QWidget* parent = nullptr);

    /// All chunks of the epoch that is shown. Takes some 30 ns a chunk.
    void setCells(std::vector<ChunkCell> cells);
    /// New values of known chunks. Falls back to setCells' work when one is not known.
    void updateCells(const std::vector<ChunkCell>& changed);
    const std::vector<ChunkCell>& cells() const { return cells_; }
    void setLayer(MapLayer layer, RelativeTo relative = RelativeTo::Trend);
    void setBlockPlaces(std::unordered_map<std::int64_t, BlockPlace> places);
    void setReference(const std::vector<ChunkCell>& cells);
    /// Order of rows; empty: by block number. Blocks that are not named come last.
    void setRowOrder(std::vector<std::int64_t> blocks);
    /// Blocks whose chunks may be claimed now: accent bar at the row.
    void setOpenBlocks(QSet<qint64> blocks);
    /// How far leased chunks are, 0..1.
    /// When it is, for the ages of the chunks [ns since 1970]; absent: now.
    void setMoment(std::optional<std::int64_t> wallNs) { moment_ = wallNs; }
    void setProgress(const std::vector<std::pair<ChunkId, double>>& progress);
    /// Windows of chunks that were left out, as their steps were not finite: tips count them apart.
    void setLeftOut(std::map<ChunkId, std::int64_t> windows) { leftOut_ = std::move(windows); }
    /// Draw every chunk as one of the resume kinds instead of its state; empty: states. The cells have what checkpoints
    /// have of them then.
    void setKinds(std::vector<CellKind> kinds);
    void setSelected(const std::vector<ChunkId>& chunks, ChunkId current = {});
    void setEmptyText(const QString& sentence);
    void setMinimapVisible(bool visible);
    /// Whole field visible, as large as it can be.
    void fit();
    void zoom(double factor);
    void showChunk(ChunkId chunk);

    const MapColors& colors() const { return colors_; }
    /// Index into cells() of what is at a viewport position; -1: nothing. Constant time.
    std::ptrdiff_t pick(QPointF position) const;
    /// From one chunk to another as rows are read, both included, the first one first; the first one alone where the
    /// second one is not here.
    std::vector<ChunkId> stretch(ChunkId from, ChunkId to) const;
    /// "B53 C17, mean loss 4.58, committed, worker 1".
    QString describe(const ChunkCell& cell) const;
    /// Image of the whole field of at most `size`, poisoned before lost before leased before the rest.
    QImage overview(QSize size) const;
    double cellHeight() const { return cellHeight_; }
    /// Repaints into an image and gives milliseconds; for benchmarks.
    double paintNow(QImage& into);

Q_SIGNALS:
    void chunkClicked(furrow::ChunkId chunk, Qt::KeyboardModifiers with);
    void chunkActivated(furrow::ChunkId chunk); ///< double click or Enter
    void chunkHovered(furrow::ChunkId chunk, const QString& text); ///< id 0: none
    /// Chunks inside the rectangle that was dragged, in row order.
    void brushed(
        const std::vector<furrow::ChunkId>& chunks, int firstRow, int lastRow, int firstColumn, int lastColumn);
    void summaryChanged(); ///< counts, range or histogram of the legend

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;
    void changeEvent(QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool viewportEvent(QEvent* event) override;

private:
    void tellHovered(std::ptrdiff_t cell);
    struct Place {
        int row = 0;
        int column = 0;
    };
    void buildGrid();
    void fillImage(); ///< from kinds, where they are set, else from the colours of the layer
    void recolour(bool cellsChanged = true);
    void updateScrollBars();
    void fitWidth();
    QRectF fieldArea() const; ///< of the viewport, without labels and minimap
    QRectF minimapArea() const;
    QRectF cellArea(int row, int column) const;
    std::ptrdiff_t gridIndexOf(ChunkId chunk) const; ///< -1: it is not here
    std::optional<Place> placeAt(QPointF position) const;
    CellLook lookOf(std::size_t cell) const;
    void paint(QPainter& painter);
    void drawCells(QPainter& painter, const QRectF& area);
    void drawImage(QPainter& painter, const QRectF& area);
    void drawLabels(QPainter& painter, const QRectF& area) const;
    void drawSelection(QPainter& painter, const QRectF& area) const;
    void drawMinimap(QPainter& painter);
    QImage shrink(double firstRow, double rowsPerPixel, double firstColumn, double columnsPerPixel, QSize size) const;
    void moveCurrent(int rows, int columns);
    void scrollMinimap(double y);

    std::vector<ChunkCell> cells_;
    std::vector<CellKind> kinds_;
    std::vector<std::int64_t> rowBlocks_; ///< block of each row
    std::vector<std::int64_t> order_;
    std::unordered_map<std::int64_t, int> rowOfBlock_;
    std::vector<std::int32_t> grid_; ///< cell at row * columns + column; -1: none
    int columns_ = 0;
    QImage image_; ///< one byte a chunk
    MapColors colors_;
    std::vector<QRgb> palette_;
    std::unordered_map<std::int64_t, double> progress_;
    std::map<ChunkId, std::int64_t> leftOut_; ///< windows
    QSet<qint64> openBlocks_;
    std::vector<std::int32_t> selected_; ///< cells
    std::int32_t current_ = -1;
    std::int32_t hovered_ = -1; ///< cell; -1: none
    QImage minimap_;
    bool minimapVisible_ = true;
    bool fitted_ = true;
    double cellWidth_ = 34;
    double cellHeight_ = 19;
    QString emptyText_;
    std::optional<std::int64_t> moment_;
    std::optional<QPointF> brushFrom_;
    QPointF brushTo_;
    bool brushing_ = false;
    bool scrolling_ = false; ///< dragging in the minimap
};

} // namespace furrow
