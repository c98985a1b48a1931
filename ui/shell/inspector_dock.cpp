#include "ui/shell/inspector_dock.h"

#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/pages/page_parts.h"
#include "ui/pages/worker_delegate.h"

#include <QGridLayout>
#include <QHeaderView>
#include <QPushButton>
#include <QTableView>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

namespace furrow {

namespace {

constexpr int kRefreshMs = 500;

} // namespace

InspectorDock::InspectorDock(Workbench& bench, QWidget* parent)
    : QWidget(parent)
    , bench_(bench)
    , claims_(claimColumns())
    , chunks_(chunkColumns())
    , title_(makeLabel({}, TextTone::Value, TextSize::Body, true))
    , rows_(new QGridLayout)
    , historyTitle_(makeLabel(tr("Trainings of this chunk"), TextTone::Secondary, TextSize::Small))
    , history_(makeTable(tr("Trainings of this chunk")))
    , chunkTable_(makeTable(tr("Selected chunks")))
    , buttons_(new QWidget(this))
    , timer_(new QTimer(this))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(12, 12, 12, 12);
    column->setSpacing(8);
    title_->setWordWrap(true);
    column->addWidget(title_);
    rows_->setVerticalSpacing(4);
    rows_->setHorizontalSpacing(12);
    rows_->setColumnStretch(1, 1);
    column->addLayout(rows_);
    column->addWidget(chunkTable_, 1);
    column->addWidget(historyTitle_);
    column->addWidget(history_, 1);
    auto* row = new QHBoxLayout(buttons_);
    row->setContentsMargins(0, 0, 0, 0);
    auto* map = makeButton(tr("Show in map"));
    auto* samples = makeButton(tr("Read samples"));
    row->addWidget(map);
    row->addWidget(samples);
    row->addStretch();
    column->addWidget(buttons_);
    column->addStretch();
    setSortedModel(history_, &claims_, 0);
    setSortedModel(chunkTable_, &chunks_, 4, Qt::DescendingOrder);
    history_->setItemDelegate(new WorkerDelegate(history_));
    chunkTable_->setItemDelegate(new WorkerDelegate(chunkTable_));
    connect(map, &QPushButton::clicked, this, &InspectorDock::showInMapWanted);
    connect(samples, &QPushButton::clicked, this, &InspectorDock::showSamplesWanted);
    timer_->setSingleShot(true);
    timer_->setInterval(kRefreshMs);
    connect(timer_, &QTimer::timeout, this, &InspectorDock::refresh);
    connect(&bench_.selection(), &SelectionModel::changed, this, &InspectorDock::refresh);
    connect(&bench_.cells(), &CellStore::changed, this, &InspectorDock::refreshSoon);
    connect(&bench_.watcher(), &RunWatcher::statusRead, this, &InspectorDock::refreshSoon);
    refresh();
}

void InspectorDock::refreshSoon()
{
    if (!timer_->isActive() && isVisible())
        timer_->start();
}

void InspectorDock::clearRows()
{
    while (QLayoutItem* item = rows_->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    nextRow_ = 0;
}

void InspectorDock::addRow(const QString& name, const QString& value, const QString& tip)
{
    const int row = nextRow_++; // not rowCount(): a grid never forgets rows
    rows_->addWidget(makeLabel(name, TextTone::Secondary, TextSize::Small), row, 0, Qt::AlignTop);
    QLabel* text = makeLabel(value, TextTone::Value, TextSize::Small);
    text->setAlignment(Qt::AlignRight);
    text->setWordWrap(true);
    text->setToolTip(tip);
    text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    text->setAccessibleName(QStringLiteral("%1: %2").arg(name, value));
    rows_->addWidget(text, row, 1);
}

void InspectorDock::refresh()
{
    const Selection& selection = bench_.selection().selection();
    clearRows();
    const bool oneChunk = selection.chunks.size() == 1;
    const bool many = selection.chunks.size() > 1;
    history_->setVisible(oneChunk);
    historyTitle_->setVisible(oneChunk);
    chunkTable_->setVisible(many);
    buttons_->setVisible(oneChunk || many);
    if (oneChunk)
        showChunk(selection.chunks.front().id);
    else if (many)
        showManyChunks();
    else if (selection.worker)
        showWorker(*selection.worker);
    else if (!selection.run.isEmpty() && bench_.watcher().status())
        showRun();
    else
        title_->setText(tr("Select a run, worker or chunk."));
}

void InspectorDock::showChunk(ChunkId chunk)
{
    const SelectedChunk& selected = bench_.selection().selection().chunks.front();
    title_->setText(chunkTitle(selected.block, selected.column));
    const ChunkCell* cell = bench_.cells().find(chunk);
    if (cell == nullptr) {
        addRow(tr("State"), tr("not of the shown epoch"));
        return;
    }
    const std::vector<ClaimRow> history = bench_.claims().claimsOf(chunk);
    addRow(tr("State"), chunkStateWord(cell->state));
    addRow(tr("Times trained"), countText(cell->timesTrained));
    if (cell->timesLost > 0)
        addRow(tr("Times lost"), countText(cell->timesLost));
    if (cell->worker >= 0)
        addRow(tr("Worker"), workerName(cell->worker));
    if (!history.empty()) {
        const ClaimRow& last = history.back();
        addRow(tr("Attempt"), tr("%1, claim %2").arg(last.attempt.value).arg(countText(last.claimId)));
        addRow(tr("Trained"), tr("%1 to %2").arg(wallTimeText(last.startedWallNs), wallTimeText(last.endedWallNs)));
        addRow(tr("Samples"), countText(last.samples));
        addRow(tr("Tokens"), countText(last.tokens));
        if (last.tokens > 0)
            addRow(tr("Mean loss"), fixedText(last.meanLoss, 3));
        if (last.peakGradientNorm > 0)
            addRow(tr("Gradient norm, peak"), fixedText(last.peakGradientNorm, 2));
        if (last.checkpoint != 0)
            addRow(tr("Checkpoint"), countText(last.checkpoint));
    }
    const bool first = claims_.rowCount() == 0;
    claims_.reset(history);
    if (first)
        history_->resizeColumnsToContents();
}

void InspectorDock::showManyChunks()
{
    const std::vector<SelectedChunk>& selected = bench_.selection().selection().chunks;
    std::vector<ChunkCell> cells;
    double sum = 0;
    int trained = 0;
    for (const SelectedChunk& chunk : selected) {
        const ChunkCell* cell = bench_.cells().find(chunk.id);
        if (cell == nullptr)
            continue;
        cells.push_back(*cell);
        if (std::isfinite(cell->meanLoss)) {
            sum += cell->meanLoss;
            ++trained;
        }
    }
    title_->setText(tr("%n chunk(s) selected", nullptr, static_cast<int>(selected.size())));
    if (trained > 0)
        addRow(tr("Mean loss"), fixedText(sum / trained, 3));
    const bool first = chunks_.rowCount() == 0;
    chunks_.reset(std::move(cells));
    if (first)
        chunkTable_->resizeColumnsToContents();
}

void InspectorDock::showWorker(int worker)
{
    title_->setText(tr("Worker %1").arg(worker));
    const StatusPtr& status = bench_.watcher().status();
    if (!status)
        return;
    const auto found = std::find_if(status->workers.begin(), status->workers.end(), [worker](const WorkerStatus& w) { return w.worker == worker; });
    if (found == status->workers.end())
        return;
    addRow(tr("Process"), found->alive ? QString::number(found->pid) : tr("not alive"));
    addRow(tr("Device"), QString::fromStdString(found->deviceName.empty() ? found->device : found->deviceName), QString::fromStdString(found->device));
    addRow(tr("Replica"), QString::number(found->replica));
    addRow(found->alive ? tr("Phase") : tr("Its end"), QString::fromStdString(found->alive ? found->phase : found->endCause));
    addRow(tr("Restarts"), countText(found->restarts));
    if (found->chunkBlock >= 0)
        addRow(tr("Chunk"), tr("%1, %2").arg(chunkShort(found->chunkBlock, found->chunkColumn), percentText(found->chunkFraction)));
    addRow(tr("Steps"), countText(found->step));
    addRow(tr("Tokens"), countText(found->tokens));
    if (found->step > 0)
        addRow(tr("Loss"), fixedText(found->loss, 3));
    addRow(tr("Speed"), rateText(found->tokensPerSecond));
    addRow(tr("Last progress"), agoText(found->secondsSinceProgress));
}

void InspectorDock::showRun()
{
    const RunStatus& status = *bench_.watcher().status();
    const RunFile& file = status.file;
    title_->setText(QString::fromStdString(file.config.name.empty() ? file.preset : file.config.name));
    addRow(tr("State"), stateWord(status.state));
    if (status.stopReason != StopReason::None)
        addRow(tr("Ended because"), stopReasonSentence(status.stopReason));
    addRow(tr("Run"), QString::fromStdString(file.runId), bench_.watcher().folder());
    addRow(tr("Made"), wallTimeText(file.createdWallNs));
    addRow(tr("Preset"), QString::fromStdString(file.preset));
    addRow(tr("Attempt"), countText(status.attempt));
    addRow(tr("Active time"), durationText(status.activeSeconds));
    addRow(tr("Steps"), countText(status.steps));
    addRow(tr("Tokens"), countText(status.tokens));
    addRow(tr("Checkpoints"), countText(status.checkpoints));
    addRow(tr("Newest checkpoint"), wallTimeText(status.newestCheckpointWallNs));
    if (status.evalLoss)
        addRow(tr("Eval loss"), fixedText(*status.evalLoss, 3));
    addRow(tr("Vocabulary"), countText(file.vocabularySize));
    const QString perBlock = countText(file.samplesPerBlock);
    addRow(tr("Samples per block"), file.samplesPerBlockReason.empty() ? perBlock : tr("%1, %2").arg(perBlock, QString::fromStdString(file.samplesPerBlockReason)));
}

} // namespace furrow
