#pragma once

#include <QColor>
#include <QRectF>
#include <QString>

class QPainter;

namespace furrow {

/// Looks of a chunk; more than states, because the resume map shows what will happen to it.
enum class CellKind { Free, Leased, Trained, Committed, Lost, Excluded, Poisoned, Kept, Redo, Orphaned, Partly };
inline constexpr std::size_t kCellKinds = 11;

/// Everything the painter needs to know about one chunk.
struct CellLook {
    CellKind kind = CellKind::Free;
    QColor value; ///< fill of trained and committed cells
    int worker = -1; ///< of a leased cell
    double progress = 0; ///< of a leased cell, 0..1; 0: claimed ahead. Of a partly trained one what is in checkpoints,
                         ///< of one that is trained again what stays there
    bool redone = false; ///< trained again after a crash
};

/// Below this side in px cells are plain colours without marks.
inline constexpr double kMarkedCell = 8;

/// The one painter of chunks: map, legend, inspector, dialogs.
void drawChunkCell(QPainter& painter, const QRectF& area, const CellLook& look);
/// The single colour of a cell too small for marks.
QColor plainCellColor(const CellLook& look);
/// "committed", "work lost" ...
QString cellWord(CellKind kind);
/// Frame of a selected cell; the current one is stronger.
void drawCellSelection(QPainter& painter, const QRectF& area, bool current);

} // namespace furrow
