#include "ui/pages/data_page.h"

#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/pages/chunk_rows.h"
#include "ui/pages/chunk_samples_view.h"
#include "ui/parts/fitted_columns.h"
#include "ui/parts/page_parts.h"
#include "ui/pages/worker_delegate.h"

#include <QHeaderView>
#include <QScopedValueRollback>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QTableView>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>

namespace furrow {

namespace {

constexpr int kRefreshMs = 500;
enum BlockColumn { kTrained = 4, kLeased, kLost, kPartly, kFree, kPending, kOut }; // of blockColumns()
constexpr int kTimesLost = 6; // of chunkColumns()

template <typename Row> const Row* currentRow(const QTableView* table, const TableModel<Row>& model)
{
    const auto* proxy = static_cast<const QSortFilterProxyModel*>(table->model());
    return model.rowAt(proxy->mapToSource(table->currentIndex()));
}

} // namespace

DataPage::DataPage(Workbench& bench, QWidget* parent)
    : QWidget(parent)
    , bench_(bench)
    , blocks_(blockColumns())
    , chunks_(chunkColumns())
    , blockTable_(makeTable(tr("Blocks")))
    , chunkTable_(makeTable(tr("Chunks of the block")))
    , samples_(new ChunkSamplesView(bench))
    , refreshTimer_(new QTimer(this))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    epoch_ = makeLabel({}, TextTone::Value, TextSize::Small, true);
    epoch_->setWordWrap(true); // else it is the least width of the page
    epoch_->setContentsMargins(12, 6, 12, 6);
    column->addWidget(epoch_);
    auto* tables = new QSplitter(Qt::Vertical);
    tables->setHandleWidth(1);
    tables->addWidget(blockTable_);
    tables->addWidget(chunkTable_);
    auto* splitter = new QSplitter(Qt::Horizontal, this);
    splitter->setHandleWidth(1);
    splitter->addWidget(tables);
    splitter->addWidget(samples_);
    splitter->setSizes({ 620, 380 });
    column->addWidget(splitter, 1);
    setSortedModel(blockTable_, &blocks_, 0);
    setSortedModel(chunkTable_, &chunks_, 0);
    new FittedColumns(*blockTable_, { kTrained, kLeased, kLost, kPartly, kFree, kPending, kOut });
    new FittedColumns(*chunkTable_, { kTimesLost });
    blockTable_->setSelectionMode(QAbstractItemView::SingleSelection);
    chunkTable_->setItemDelegate(new WorkerDelegate(chunkTable_));
    connect(blockTable_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this] {
        if (const BlockLine* line = currentRow(blockTable_, blocks_); line != nullptr && line->block != block_) {
            block_ = line->block;
            refreshChunks();
        }
    });
    connect(chunkTable_->selectionModel(), &QItemSelectionModel::selectionChanged, this, &DataPage::chooseChunks);
    refreshTimer_->setSingleShot(true);
    refreshTimer_->setInterval(kRefreshMs);
    connect(refreshTimer_, &QTimer::timeout, this, [this] {
        refreshBlocks();
        refreshChunks();
    });
    connect(&bench_.cells(), &CellStore::changed, this, [this] {
        if (!refreshTimer_->isActive())
            refreshTimer_->start();
    });
    connect(&bench_.cells(), &CellStore::reset, this, [this] {
        refreshBlocks();
        refreshChunks();
    });
    connect(&bench_.watcher(), &RunWatcher::statusRead, this, &DataPage::sayEpoch);
    connect(&bench_.selection(), &SelectionModel::changed, this, &DataPage::followSelection);
    refreshBlocks();
    followSelection();
}

/// Whose blocks these are. The oldest open epoch is shown by default, while another one may be in training.
void DataPage::sayEpoch()
{
    if (bench_.cells().cells().empty())
        return epoch_->clear();
    QString text = tr("Blocks and chunks of %1").arg(epochName(bench_.cells().epoch()).toLower());
    std::vector<std::int64_t> others;
    if (const StatusPtr& status = bench_.watcher().status(); status && !bench_.replay().moment())
        for (const EpochRow& epoch : status->epochs)
            if (!epoch.closedWallNs && epoch.epoch != bench_.cells().epoch())
                others.push_back(epoch.epoch);
    if (!others.empty())
        text += tr("; open too: %1 (the page Coverage shows another one)").arg(epochNames(others));
    epoch_->setText(text);
}

void DataPage::refreshBlocks()
{
    sayEpoch();
    blocks_.reset(blockLines(bench_.cells().cells()));
    if (block_ < 0 && !blocks_.rows().empty())
        blockTable_->selectRow(0);
    else
        showBlock();
}

void DataPage::refreshChunks()
{
    std::vector<ChunkCell> mine;
    for (const ChunkCell& cell : bench_.cells().cells()) {
        if (cell.block == block_)
            mine.push_back(cell);
    }
    const QScopedValueRollback<bool> nobodyChose(isMarking_, true);
    chunks_.reset(std::move(mine));
    markSelected();
}

/// What is marked is what is selected, or nothing: verbs act on the selection.
void DataPage::markSelected()
{
    const QScopedValueRollback<bool> nobodyChose(isMarking_, true);
    markChunks(*chunkTable_, chunks_, bench_.selection().selection().chunks);
}

void DataPage::followSelection()
{
    const std::vector<SelectedChunk>& selected = bench_.selection().selection().chunks;
    if (selected.empty() || selected.front().block == block_)
        return markSelected();
    block_ = selected.front().block;
    showBlock();
    refreshChunks();
}

/// The block whose chunks are listed is the one that is marked.
void DataPage::showBlock()
{
    const auto* proxy = static_cast<const QSortFilterProxyModel*>(blockTable_->model());
    const auto& rows = blocks_.rows();
    const auto found
        = std::find_if(rows.begin(), rows.end(), [this](const BlockLine& line) { return line.block == block_; });
    if (found == rows.end())
        return;
    const QModelIndex index = proxy->mapFromSource(blocks_.index(static_cast<int>(found - rows.begin()), 0));
    if (blockTable_->currentIndex().row() != index.row())
        blockTable_->setCurrentIndex(index);
}

void DataPage::chooseChunks()
{
    if (!isMarking_)
        bench_.selection().setChunks(markedChunks(*chunkTable_, chunks_));
}

} // namespace furrow
