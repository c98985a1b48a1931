#pragma once

#include "ui/bridge/block_reader.h"
#include "ui/bridge/epoch_reader.h"
#include "ui/models/run_tables.h"
#include "ui/models/selection_model.h"

#include <QWidget>

class QAction;
class QComboBox;
class QLabel;
class QPushButton;
class QStackedWidget;
class QTableView;
class QTimer;

namespace furrow {

class CoverageMap;
class MapLegend;
class NumberField;
class Workbench;

/// Every chunk of an epoch: as a map with layers and a legend, and as a table.
class CoveragePage : public QWidget {
    Q_OBJECT
public:
    explicit CoveragePage(Workbench& bench, QWidget* parent = nullptr);
    void fit();
    void setAudit(qint64 twice, qint64 missing);
    /// What the context menu of the map offers for the selected chunks.
    void setChunkActions(const QList<QAction*>& actions);

private:
    void buildBar();
    QWidget* buildWorst();
    void buildMap();
    void buildTable();
    void connectBench();
    void takeStatus(const StatusPtr& status);
    void takeCells();
    void offerEpochs(const RunStatus& status);
    void showEpoch();
    void readBlocks();
    void takeBlocks(const PreparedBlocksPtr& prepared);
    void refreshTable();
    void applyLayer();
    void applyLayerNow();
    void followSelection();
    void chooseRows();
    void selectWorst();
    void chooseClicked(ChunkId chunk, Qt::KeyboardModifiers with);
    void sayBrushed(const std::vector<SelectedChunk>& chunks);
    void orderRows();
    SelectedChunk named(ChunkId chunk) const;

    Workbench& bench_;
    ChunkModel model_;
    EpochReader reference_;
    BlockReader blocks_;
    QComboBox* layer_ = nullptr;
    QComboBox* relative_ = nullptr;
    QAction* relativeShown_ = nullptr;
    QComboBox* epoch_ = nullptr;
    QComboBox* rows_ = nullptr;
    QPushButton* tableButton_ = nullptr;
    NumberField* worst_ = nullptr;
    QStackedWidget* stack_ = nullptr;
    bool isMarking_ = false; // rows of the table are marked without a person
    CoverageMap* map_ = nullptr;
    ChunkId anchor_; ///< where a stretch that is selected with Shift begins
    MapLegend* legend_ = nullptr;
    QTableView* table_ = nullptr;
    QLabel* hover_ = nullptr;
    QTimer* tableTimer_ = nullptr;
    QStringList epochWords_; ///< what the choice of epochs offers
};

} // namespace furrow
