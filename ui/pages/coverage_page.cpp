#include "ui/pages/coverage_page.h"

#include "core/run/status/feeder_words.h"
#include "ui/charts/coverage_map.h"
#include "ui/charts/map_legend.h"
#include "ui/models/shown_status.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/parts/overflow.h"
#include "ui/parts/number_field.h"
#include "ui/parts/page_parts.h"
#include "ui/pages/chunk_rows.h"
#include "ui/pages/worker_delegate.h"
#include "ui/widgets/elided_combo.h"

#include <QAction>
#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QStackedWidget>
#include <QTableView>
#include <QTimer>
#include <QToolBar>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace furrow {

namespace {

constexpr int kTableRefreshMs = 500;
constexpr int kLeastMap = 120; // where the window is lower the page scrolls
constexpr std::size_t kMostSelected = 5000; // more than a person reads

enum class RowOrder { Number, FirstTrained, HighestLoss };

/// Blocks in the order of when their first chunk was trained, or of their mean loss; those without either come last.
std::vector<std::int64_t> orderedBlocks(const std::vector<ChunkCell>& cells, RowOrder order)
{
    struct Block {
        std::int64_t firstNs = std::numeric_limits<std::int64_t>::max();
        double sum = 0;
        double tokens = 0; ///< as blockLines()
        double loss() const { return tokens == 0 ? -std::numeric_limits<double>::infinity() : sum / tokens; }
    };
    std::map<std::int64_t, Block> blocks;
    for (const ChunkCell& cell : cells) {
        Block& block = blocks[cell.block];
        if (cell.trainedWallNs == 0 || !std::isfinite(cell.meanLoss))
            continue;
        block.firstNs = std::min(block.firstNs, cell.trainedWallNs);
        block.sum += cell.meanLoss * static_cast<double>(cell.tokens);
        block.tokens += static_cast<double>(cell.tokens);
    }
    std::vector<std::int64_t> numbers;
    for (const auto& [number, block] : blocks)
        numbers.push_back(number);
    std::stable_sort(numbers.begin(), numbers.end(), [&](std::int64_t a, std::int64_t b) {
        return order == RowOrder::FirstTrained ? blocks[a].firstNs < blocks[b].firstNs
                                               : blocks[a].loss() > blocks[b].loss();
    });
    return numbers;
}

} // namespace

CoveragePage::CoveragePage(Workbench& bench, QWidget* parent)
    : QWidget(parent)
    , bench_(bench)
    , model_(chunkColumns())
    , tableTimer_(new QTimer(this))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    buildBar();
    stack_ = new QStackedWidget(this);
    buildMap();
    buildTable();
    column->addWidget(stack_, 1);
    column->addWidget(hover_);
    column->addWidget(makeLine());
    column->addWidget(legend_);
    tableTimer_->setSingleShot(true);
    tableTimer_->setInterval(kTableRefreshMs);
    connectBench();
    applyLayer();
    takeCells();
    followSelection();
}

// One thing of three parts: a toolbar that has no room for all of them has none for any.
QWidget* CoveragePage::buildWorst()
{
    auto* box = new QWidget;
    auto* row = new QHBoxLayout(box);
    row->setContentsMargins(10, 0, 0, 0);
    row->setSpacing(6);
    row->addWidget(makeLabel(tr("Worst"), TextTone::Secondary, TextSize::Small));
    worst_ = new NumberField(tr("Share of the worst chunks"), { .least = 0.1, .most = 100 }, 0.5, tr("%"));
    worst_->setFixedWidth(64);
    auto* select = makeButton(tr("Select"));
    const QString tip = tr("Select the chunks with the largest values of this layer");
    select->setToolTip(tip);
    connect(select, &QPushButton::clicked, this, &CoveragePage::selectWorst);
    connect(worst_, &NumberField::valueChanged, select, [this, select, tip] {
        select->setEnabled(worst_->value().has_value());
        select->setToolTip(select->isEnabled() ? tip : worst_->problem());
    });
    row->addWidget(worst_);
    row->addWidget(select);
    return box;
}

void CoveragePage::buildBar()
{
    auto* bar = new QToolBar(this); // what does not fit goes into its overflow
    bar->setMovable(false);
    layer_ = new ElidedCombo(bar);
    layer_->setAccessibleName(tr("Layer"));
    const std::pair<QString, MapLayer> layers[] = { { tr("Loss"), MapLayer::Loss },
        { tr("Change of loss"), MapLayer::DeltaLoss }, { tr("State"), MapLayer::State },
        { tr("Worker"), MapLayer::Worker }, { tr("Attempt"), MapLayer::Attempt }, { tr("Age"), MapLayer::Age },
        { tr("Trainings"), MapLayer::TimesTrained }, { tr("Block"), MapLayer::Block },
        { tr("Parent run"), MapLayer::Parent } };
    for (const auto& [name, layer] : layers)
        layer_->addItem(tr("Layer: %1").arg(name), static_cast<int>(layer));
    bar->addWidget(layer_);
    relative_ = new ElidedCombo(bar);
    relative_->setAccessibleName(tr("Relative to"));
    relative_->addItem(tr("Relative to: trend"), static_cast<int>(RelativeTo::Trend));
    relative_->addItem(tr("Relative to: nothing"), static_cast<int>(RelativeTo::Nothing));
    relativeShown_ = bar->addWidget(relative_);
    epoch_ = new ElidedCombo(bar);
    epoch_->setAccessibleName(tr("Epoch"));
    bar->addWidget(epoch_);
    rows_ = new ElidedCombo(bar);
    rows_->setAccessibleName(tr("Order of the rows"));
    const std::pair<QString, RowOrder> orders[] = { { tr("block number"), RowOrder::Number },
        { tr("first trained"), RowOrder::FirstTrained }, { tr("highest loss"), RowOrder::HighestLoss } };
    for (const auto& [name, order] : orders)
        rows_->addItem(tr("Rows: %1").arg(name), static_cast<int>(order));
    for (QComboBox* combo : { layer_, relative_, epoch_, rows_ }) { // long entries must not push the others out
        combo->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
        combo->setMinimumContentsLength(combo == epoch_ ? 12 : combo == layer_ ? 9 : 14);
    }
    auto* fitButton = makeButton({}, QStringLiteral("fit"));
    fitButton->setAccessibleName(tr("Fit"));
    fitButton->setToolTip(tr("Fit: show the whole field"));
    bar->addWidget(fitButton);
    tableButton_ = makeButton(tr("Table"), QStringLiteral("table"));
    tableButton_->setCheckable(true);
    bar->addWidget(tableButton_);
    bar->addWidget(rows_);
    bar->addWidget(buildWorst());
    dressOverflow(*bar);
    layout()->addWidget(bar);
    hover_ = new ElidedLabel(TextTone::Secondary, TextSize::Small);
    hover_->setContentsMargins(12, 2, 12, 2);
    connect(layer_, &QComboBox::currentIndexChanged, this, &CoveragePage::applyLayer);
    connect(relative_, &QComboBox::currentIndexChanged, this, &CoveragePage::applyLayer);
    connect(rows_, &QComboBox::currentIndexChanged, this, &CoveragePage::orderRows);
    connect(fitButton, &QPushButton::clicked, this, &CoveragePage::fit);
    connect(tableButton_, &QPushButton::toggled, this, [this](bool on) {
        stack_->setCurrentWidget(on ? static_cast<QWidget*>(table_) : map_);
        refreshTable();
    });
    connect(epoch_, &QComboBox::activated, this, [this](int index) {
        const std::int64_t wanted = epoch_->itemData(index).toLongLong();
        const StatusPtr& status = bench_.watcher().status();
        const auto shown = status ? shownEpochs(*status) : std::nullopt;
        const bool followed = shown && shown->first == wanted && !bench_.replay().moment();
        bench_.watcher().setEpoch(followed ? std::nullopt : std::optional(wanted));
    });
}

void CoveragePage::buildMap()
{
    map_ = new CoverageMap(stack_);
    map_->setFrameShape(QFrame::NoFrame);
    map_->setAccessibleName(tr("Coverage map"));
    map_->setMinimumHeight(kLeastMap);
    map_->setEmptyText(tr("No block is prepared yet."));
    legend_ = new MapLegend(*map_, this);
    stack_->addWidget(map_);
    connect(map_, &CoverageMap::chunkClicked, this, &CoveragePage::chooseClicked);
    connect(map_, &CoverageMap::chunkHovered, this, [this](ChunkId, const QString& text) { hover_->setText(text); });
    connect(map_, &CoverageMap::brushed, this, [this](const std::vector<ChunkId>& brushed) {
        std::vector<SelectedChunk> chunks;
        for (const ChunkId chunk : brushed)
            chunks.push_back(named(chunk));
        sayBrushed(chunks);
        bench_.selection().setChunks(std::move(chunks));
    });
}

/// As in lists: with Ctrl a chunk is added or taken out, with Shift all from the one clicked before to it are selected.
void CoveragePage::chooseClicked(ChunkId chunk, Qt::KeyboardModifiers with)
{
    std::vector<SelectedChunk> chosen = bench_.selection().selection().chunks;
    const auto has
        = [&chosen](ChunkId one) { return std::ranges::find(chosen, one, &SelectedChunk::id) != chosen.end(); };
    const bool isStretch = with.testFlag(Qt::ShiftModifier) && !chosen.empty();
    const ChunkId from = !isStretch ? chunk : has(anchor_) ? anchor_ : chosen.front().id;
    if (!isStretch && with.testFlag(Qt::ControlModifier)) {
        if (std::erase_if(chosen, [chunk](const SelectedChunk& one) { return one.id == chunk; }) == 0)
            chosen.insert(chosen.begin(), named(chunk));
    } else {
        chosen.clear();
        for (const ChunkId each : map_->stretch(chunk, from)) // the one that was clicked is the current one
            chosen.push_back(named(each));
    }
    anchor_ = from;
    bench_.selection().setChunks(std::move(chosen));
    followSelection(); // the map marked the one that was clicked
}

void CoveragePage::sayBrushed(const std::vector<SelectedChunk>& chunks)
{
    if (chunks.empty())
        return;
    const auto [firstBlock, lastBlock] = std::minmax_element(
        chunks.begin(), chunks.end(), [](const auto& a, const auto& b) { return a.block < b.block; });
    const auto [firstColumn, lastColumn] = std::minmax_element(
        chunks.begin(), chunks.end(), [](const auto& a, const auto& b) { return a.column < b.column; });
    const QString count = tr("%n chunk(s)", nullptr, static_cast<int>(chunks.size()));
    hover_->setText(tr("%1, blocks %2 to %3, columns %4 to %5")
            .arg(count, countText(firstBlock->block), countText(lastBlock->block))
            .arg(firstColumn->column)
            .arg(lastColumn->column));
}

void CoveragePage::orderRows()
{
    const auto order = static_cast<RowOrder>(rows_->currentData().toInt());
    map_->setRowOrder(
        order == RowOrder::Number ? std::vector<std::int64_t> {} : orderedBlocks(bench_.cells().cells(), order));
}

void CoveragePage::buildTable()
{
    table_ = makeTable(tr("Chunks of the epoch"));
    table_->setItemDelegate(new WorkerDelegate(table_));
    setSortedModel(table_, &model_, 0);
    stack_->addWidget(table_);
    connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this, &CoveragePage::chooseRows);
}

void CoveragePage::connectBench()
{
    connect(tableTimer_, &QTimer::timeout, this, &CoveragePage::refreshTable);
    connect(&bench_.cells(), &CellStore::reset, this, &CoveragePage::takeCells);
    connect(&bench_.cells(), &CellStore::changed, this, [this](const CellsPtr& changed) {
        map_->updateCells(changed->cells);
        if (!tableTimer_->isActive())
            tableTimer_->start();
    });
    connect(&bench_.watcher(), &RunWatcher::statusRead, this, &CoveragePage::takeStatus);
    connect(&bench_.watcher(), &RunWatcher::opened, this, [this] {
        epochWords_.clear();
        epoch_->clear();
    });
    connect(&blocks_, &BlockReader::blocksRead, this, &CoveragePage::takeBlocks);
    connect(&bench_.selection(), &SelectionModel::changed, this, &CoveragePage::followSelection);
    connect(&reference_, &EpochReader::cellsRead, this, [this](const CellsPtr& before) {
        map_->setReference(before->cells);
        hover_->setText(before->cells.empty() ? tr("There is no epoch before this one.") : QString());
        applyLayerNow();
    });
}

SelectedChunk CoveragePage::named(ChunkId chunk) const
{
    const ChunkCell* cell = bench_.cells().find(chunk);
    return cell == nullptr ? SelectedChunk { chunk, 0, 0 } : SelectedChunk { chunk, cell->block, cell->column };
}

void CoveragePage::takeStatus(const StatusPtr& status)
{
    std::vector<std::pair<ChunkId, double>> progress;
    QSet<qint64> open;
    qint64 newest = -1;
    for (const ChunkCell& cell : bench_.cells().cells()) {
        if (cell.state == ChunkState::Free && cell.block != std::exchange(newest, cell.block))
            open.insert(cell.block);
        if (cell.state != ChunkState::Leased)
            continue;
        for (const WorkerStatus& worker : bench_.replay().moment() ? std::vector<WorkerStatus> {}
                                                                   : status->workers) { // how far they were is not kept
            if (worker.chunkBlock == cell.block && worker.chunkColumn == cell.column)
                progress.emplace_back(cell.id, worker.chunkFraction);
        }
    }
    map_->setProgress(progress);
    map_->setLeftOut(shownLeftOut(bench_));
    map_->setOpenBlocks(std::move(open));
    if (static_cast<MapLayer>(layer_->currentData().toInt()) == MapLayer::Block)
        readBlocks();
    legend_->setObjective(status->file.config.objective);
    offerEpochs(*status);
}

void CoveragePage::offerEpochs(const RunStatus& status)
{
    QStringList words;
    const auto moment = bench_.replay().moment();
    const auto isThere = [&moment](const EpochRow& epoch) { return !moment || epoch.openedWallNs <= *moment; };
    const std::vector<std::int64_t> openThen
        = moment ? bench_.replay().openEpochsAt(*moment) : std::vector<std::int64_t> {};
    const auto isOpen = [&](const EpochRow& epoch) {
        return !moment ? !epoch.closedWallNs
                       : epoch.closedWallNs.value_or(*moment + 1) > *moment // else it is shown for want of an open one
                && std::find(openThen.begin(), openThen.end(), epoch.epoch) != openThen.end();
    };
    for (const EpochRow& epoch : status.epochs) // those behind one that has not begun have not begun either
        if (isThere(epoch))
            words.append(isOpen(epoch) ? tr("%1, open").arg(epochName(epoch.epoch)) : epochName(epoch.epoch));
    if (words != epochWords_) {
        epochWords_ = words;
        epoch_->clear();
        for (int i = 0; i < words.size(); ++i)
            epoch_->addItem(words[i], static_cast<qlonglong>(status.epochs[static_cast<std::size_t>(i)].epoch));
    }
    showEpoch();
    std::vector<std::pair<std::int64_t, std::int64_t>> others;
    for (const EpochRow& epoch : moment ? std::vector<EpochRow> {} : status.epochs) // what was to come then is not kept
        if (!epoch.closedWallNs && epoch.epoch != bench_.cells().epoch())
            others.emplace_back(epoch.epoch,
                epoch.chunks.sum() - epoch.chunks[ChunkState::Committed] - epoch.chunks[ChunkState::Excluded]
                    - epoch.chunks[ChunkState::Accepted]);
    legend_->setOpenToo(std::move(others));
}

/// The choice says what the map shows, whoever chose it: a person, the run that went on, or a window made anew.
void CoveragePage::showEpoch()
{
    epoch_->setCurrentIndex(epoch_->findData(static_cast<qlonglong>(bench_.cells().epoch())));
}

void CoveragePage::takeCells()
{
    map_->setMoment(bench_.replay().moment());
    map_->setCells(bench_.cells().cells());
    if (bench_.watcher().status()) // progress, open blocks and places are of the moment too
        takeStatus(bench_.watcher().status());
    orderRows();
    refreshTable();
}

void CoveragePage::readBlocks()
{
    if (const auto moment = bench_.replay().moment()) {
        std::unordered_map<std::int64_t, BlockPlace> places;
        for (const auto& [block, isPrepared] : bench_.replay().blocksAt(*moment))
            places[block] = isPrepared ? BlockPlace::Prepared : BlockPlace::Evicted;
        map_->setBlockPlaces(std::move(places)); // what was being fetched then is not kept
        return;
    }
    std::int64_t count = 0;
    for (const ChunkCell& cell : bench_.cells().cells())
        count = std::max(count, cell.block + 1);
    blocks_.read(bench_.watcher().folder(), count);
}

// The ledger forgets the file of a block that left the cache; that it was there is known from what was trained of it.
void CoveragePage::takeBlocks(const PreparedBlocksPtr& prepared)
{
    if (bench_.replay().moment())
        return; // asked before the past was shown
    std::unordered_map<std::int64_t, BlockPlace> places;
    for (const ChunkCell& cell : bench_.cells().cells()) {
        if (cell.timesTrained > 0)
            places[cell.block] = BlockPlace::Evicted;
    }
    for (const std::int64_t block : *prepared)
        places[block] = BlockPlace::Prepared;
    const StatusPtr& status = bench_.watcher().status();
    const bool isRead = status && status->supervised && status->reading;
    if (const auto block = isRead ? blockInPreparation(status->reading->doing) : std::nullopt;
        block && !prepared->contains(*block))
        places[*block] = BlockPlace::Fetching;
    map_->setBlockPlaces(std::move(places));
}

void CoveragePage::refreshTable()
{
    if (stack_->currentWidget() != table_)
        return;
    const bool first = model_.rowCount() == 0;
    const QScopedValueRollback<bool> nobodyChose(isMarking_, true);
    model_.reset(bench_.cells().cells());
    markChunks(*table_, model_, bench_.selection().selection().chunks);
    if (first)
        table_->resizeColumnsToContents();
}

void CoveragePage::applyLayer()
{
    if (static_cast<MapLayer>(layer_->currentData().toInt()) == MapLayer::DeltaLoss)
        reference_.read(bench_.watcher().folder(), bench_.cells().epoch() - 1);
    applyLayerNow();
}

void CoveragePage::applyLayerNow()
{
    const auto layer = static_cast<MapLayer>(layer_->currentData().toInt());
    relativeShown_->setVisible(layer == MapLayer::Loss);
    if (layer == MapLayer::Block)
        readBlocks();
    map_->setLayer(layer, static_cast<RelativeTo>(relative_->currentData().toInt()));
}

void CoveragePage::followSelection()
{
    std::vector<ChunkId> chunks;
    for (const SelectedChunk& chunk : bench_.selection().selection().chunks)
        chunks.push_back(chunk.id);
    map_->setSelected(chunks, chunks.empty() ? ChunkId {} : chunks.front());
    if (stack_->currentWidget() != table_)
        return;
    const QScopedValueRollback<bool> nobodyChose(isMarking_, true);
    markChunks(*table_, model_, bench_.selection().selection().chunks);
}

void CoveragePage::chooseRows()
{
    if (!isMarking_)
        bench_.selection().setChunks(markedChunks(*table_, model_));
}

void CoveragePage::selectWorst()
{
    std::vector<std::pair<double, std::size_t>> values;
    const std::vector<ChunkCell>& cells = bench_.cells().cells();
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const double value = map_->colors().valueOf(cells[i]);
        if (std::isfinite(value))
            values.emplace_back(value, i);
    }
    const auto wanted
        = static_cast<std::size_t>(std::ceil(static_cast<double>(values.size()) * *worst_->value() / 100));
    const std::size_t count = std::min({ wanted, values.size(), kMostSelected });
    std::partial_sort(
        values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count), values.end(), std::greater<>());
    std::vector<SelectedChunk> chunks;
    for (std::size_t i = 0; i < count; ++i) {
        const ChunkCell& cell = cells[values[i].second];
        chunks.push_back({ cell.id, cell.block, cell.column });
    }
    legend_->setMark(count == 0 ? std::nullopt : std::optional(values[count - 1].first));
    bench_.selection().setChunks(std::move(chunks));
}

void CoveragePage::fit() { map_->fit(); }

void CoveragePage::setAudit(qint64 twice, qint64 missing) { legend_->setAudit(twice, missing); }

void CoveragePage::setChunkActions(const QList<QAction*>& actions)
{
    map_->setContextMenuPolicy(Qt::ActionsContextMenu);
    map_->addActions(actions);
}

} // namespace furrow
