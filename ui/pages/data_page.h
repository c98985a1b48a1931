#pragma once

#include "ui/models/run_tables.h"

#include <QWidget>

class QLabel;
class QTableView;
class QTimer;

namespace furrow {

class ChunkSamplesView;
class Workbench;

/// Blocks of the epoch, their chunks, and the samples of the selected chunk as they are trained.
class DataPage : public QWidget {
    Q_OBJECT
public:
    explicit DataPage(Workbench& bench, QWidget* parent = nullptr);

private:
    void sayEpoch();
    void refreshBlocks();
    void refreshChunks();
    void followSelection();
    void showBlock();
    void chooseChunks();
    void markSelected();

    Workbench& bench_;
    BlockModel blocks_;
    ChunkModel chunks_;
    QLabel* epoch_ = nullptr; // whose blocks these are
    QTableView* blockTable_;
    QTableView* chunkTable_;
    ChunkSamplesView* samples_;
    QTimer* refreshTimer_;
    std::int64_t block_ = -1; // whose chunks are listed
    bool isMarking_ = false; // rows are marked without a person
};

} // namespace furrow
