// The dock and its rows; what it says of chunks, workers and runs is in inspector_dock_chunks.cpp and
// inspector_dock_runs.cpp.

#include "ui/shell/inspector_dock.h"

#include "ui/bridge/chunk_reader.h"
#include "ui/models/workbench.h"
#include "ui/pages/chunk_samples_view.h"
#include "ui/parts/flow_layout.h"
#include "ui/parts/marks.h"
#include "ui/parts/long_names.h"
#include "ui/parts/page_parts.h"
#include "ui/pages/worker_delegate.h"

#include <QGridLayout>
#include <QPushButton>
#include <QScrollArea>
#include <QTableView>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>

namespace furrow {

namespace {

constexpr int kRefreshMs = 500;
constexpr int kChartHeight = 120;
constexpr int kTableHeight = 130;
constexpr int kSamplesHeight = 220;
constexpr int kLossColumn = 2; // of the chunks
constexpr int kLongestWord
    = 36; // what is longer and cannot be wrapped is elided, or it would push the values out of the window
constexpr int kOneLine = 20; // letters of a value that is never broken, a number or a time

QWidget* valueOf(const QString& value, const QString& tip)
{
    const QStringList words = value.split(QLatin1Char(' '));
    const bool isUnbroken
        = std::any_of(words.begin(), words.end(), [](const QString& word) { return word.size() > kLongestWord; });
    QLabel* text = isUnbroken ? new ElidedLabel(TextTone::Value, TextSize::Small)
                              : makeLabel(value, TextTone::Value, TextSize::Small);
    text->setText(value);
    text->setAlignment(Qt::AlignRight);
    text->setWordWrap(!isUnbroken && value.size() > kOneLine);
    text->setToolTip(isUnbroken && tip.isEmpty() ? value : tip);
    text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return text;
}

/// Words behind the mark of the worker.
QWidget* workerValue(int worker, const QString& words)
{
    auto* value = new QWidget;
    auto* line = new QHBoxLayout(value);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(4);
    line->addStretch();
    line->addWidget(new WorkerMark(worker));
    auto* text = new ElidedLabel(TextTone::Value, TextSize::Small);
    text->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Preferred);
    text->setText(words);
    text->setToolTip(words);
    text->setAccessibleName(words);
    line->addWidget(text);
    return value;
}

} // namespace

InspectorDock::InspectorDock(Workbench& bench, QWidget* parent)
    : QWidget(parent)
    , bench_(bench)
    , claims_(claimColumns())
    , chunks_(chunkColumns())
    , title_(makeLabel({}, TextTone::Value, TextSize::Body, true))
    , mark_(makeLabel({}, TextTone::Error, TextSize::Small))
    , present_(makeLabel({}, TextTone::Secondary, TextSize::Small))
    , inside_(new SeriesChart(link_, this))
    , samples_(new ChunkSamplesView(bench, this))
    , chunkReader_(new ChunkReader(this))
    , grid_(new QGridLayout)
    , historyTitle_(makeLabel(tr("Trainings of this chunk"), TextTone::Secondary, TextSize::Small))
    , history_(makeTable(tr("Trainings of this chunk")))
    , chunkTable_(makeTable(tr("Selected chunks")))
    , buttons_(buildButtons())
    , timer_(new QTimer(this))
{
    auto* inside = new QWidget;
    auto* column = new QVBoxLayout(inside);
    column->setContentsMargins(12, 12, 12, 12);
    column->setSpacing(8);
    auto* head = new QHBoxLayout;
    title_->setWordWrap(true);
    head->addWidget(title_, 1);
    mark_->setText(tr("spike"));
    mark_->setProperty("tag", true);
    mark_->hide();
    head->addWidget(mark_);
    column->addLayout(head);
    present_->setWordWrap(true);
    column->addWidget(present_);
    chunkTable_->setFixedHeight(kTableHeight);
    column->addWidget(chunkTable_);
    grid_->setVerticalSpacing(4);
    grid_->setHorizontalSpacing(12);
    grid_->setColumnStretch(1, 1);
    column->addLayout(grid_);
    inside_->setFixedHeight(kChartHeight);
    ChartOptions options;
    options.smoothing.kind = SmoothingKind::None;
    options.mean = false;
    options.clipPercent = 0;
    inside_->setOptions(options);
    column->addWidget(inside_);
    column->addWidget(historyTitle_);
    history_->setFixedHeight(kTableHeight);
    column->addWidget(history_);
    samples_->layout()->setContentsMargins(0, 0, 0, 0);
    samples_->setHeading(tr("Samples"));
    samples_->setMinimumHeight(kSamplesHeight);
    column->addWidget(samples_, 1);
    column->addStretch();
    auto* scroll = new QScrollArea;
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setWidget(inside);
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->setSpacing(0);
    outer->addWidget(scroll, 1);
    buttons_->layout()->setContentsMargins(12, 8, 12, 12); // stay in sight
    outer->addWidget(buttons_);
    setSortedModel(history_, &claims_, 0);
    setSortedModel(chunkTable_, &chunks_, kLossColumn, Qt::DescendingOrder);
    history_->setItemDelegate(new WorkerDelegate(history_));
    chunkTable_->setItemDelegate(new WorkerDelegate(chunkTable_));
    timer_->setSingleShot(true);
    timer_->setInterval(kRefreshMs);
    connect(timer_, &QTimer::timeout, this, &InspectorDock::refresh);
    connect(&bench_.selection(), &SelectionModel::changed, this, [this] {
        for (QTableView* table : { history_, chunkTable_ }) // their rows are of something else now
            table->clearSelection();
        refresh();
    });
    connect(&bench_.cells(), &CellStore::changed, this, &InspectorDock::refreshSoon);
    connect(&bench_.watcher(), &RunWatcher::statusRead, this, [this] {
        if (isVisible() && bench_.selection().selection().chunks.empty())
            refresh(); // the overview beside it shows the same figures
        else
            refreshSoon();
    });
    connect(&bench_.watcher(), &RunWatcher::tablesRead, this, &InspectorDock::refreshSoon);
    connect(&bench_.watcher(), &RunWatcher::opened, this, [this] { elsewhere_ = {}; }); // ids are those of any run
    connect(&bench_.watcher(), &RunWatcher::eventsRead, this, [this] { // of whatever epoch
        if (elsewhere_.value != 0 && isVisible())
            readElsewhere(elsewhere_);
        else
            elsewhere_ = {};
    });
    connect(chunkReader_, &ChunkReader::cellRead, this, [this](const ChunkCell& cell) {
        if (cell.id != elsewhere_)
            return;
        elsewhereCell_ = cell;
        refresh();
    });
    connect(&bench_.watcher(), &RunWatcher::problemChanged, this, &InspectorDock::refreshSoon);
    connect(&bench_.replay(), &Replay::momentChanged, this, &InspectorDock::refreshSoon);
    refresh();
}

QWidget* InspectorDock::buildButtons()
{
    auto* box = new QWidget(this);
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(6);
    auto* shows = new FlowLayout; // the words of some languages do not fit beside each other
    shows->setSpacing(6);
    column->addLayout(shows);
    const std::pair<QPushButton*, void (InspectorDock::*)()> all[]
        = { { makeButton(tr("Show in chart"), QStringLiteral("chart")), &InspectorDock::showInChartWanted },
              { makeButton(tr("Show in map"), QStringLiteral("map")), &InspectorDock::showInMapWanted },
              { makeButton(tr("Show in log"), QStringLiteral("log")), &InspectorDock::showInLogWanted } };
    keeps_ = makeLabel(
        tr("Quarantine leaves chunks out of later runs; this run keeps and trains them. Chunks that are not trained yet can be left out of this run too (menu Data)."),
        TextTone::Secondary, TextSize::Small);
    keeps_->setWordWrap(true);
    for (const auto& [button, wanted] : all) {
        button->setProperty("compact", true);
        connect(button, &QPushButton::clicked, this, wanted);
        shows->addWidget(button);
    }
    retry_ = makeButton(tr("Try again"), QStringLiteral("resume"));
    accept_ = makeButton(tr("Accept as not trained…"), {});
    for (const auto& [button, wanted] :
        { std::pair(retry_, &InspectorDock::retryWanted), std::pair(accept_, &InspectorDock::acceptWanted) }) {
        button->setProperty("compact", true);
        connect(button, &QPushButton::clicked, this, wanted);
        shows->addWidget(button);
    }
    quarantine_ = makeButton({}, QStringLiteral("quarantine"));
    quarantine_->setProperty("compact", true);
    connect(quarantine_, &QPushButton::clicked, this, &InspectorDock::quarantineWanted);
    column->addWidget(keeps_);
    column->addWidget(quarantine_, 0, Qt::AlignLeft);
    return box;
}

/// It rests while nobody sees it.
void InspectorDock::showEvent(QShowEvent* event)
{
    refresh();
    QWidget::showEvent(event);
}

void InspectorDock::refreshSoon()
{
    if (!timer_->isActive() && isVisible())
        timer_->start();
}

void InspectorDock::addRow(const QString& name, const QString& value, const QString& tip)
{
    rows_.push_back({ name, value, tip });
}

// A status comes twice a second and mostly says the same. What is new stands there at once: Qt would show it with a
// later event, and a machine that has much to do painted the empty place meanwhile.
void InspectorDock::layRows()
{
    if (laid_ == rows_)
        return;
    laid_ = rows_;
    while (QLayoutItem* item = grid_->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    int place = 0; // not rowCount(): a grid never forgets rows
    for (const Row& row : laid_) {
        auto* name
            = new ElidedLabel(TextTone::Secondary, TextSize::Small); // a narrow dock cuts the name, never the value
        name->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Preferred);
        name->setText(row.name);
        name->setToolTip(row.name);
        grid_->addWidget(name, place, 0, Qt::AlignTop);
        name->show();
        QWidget* value = row.worker < 0 ? valueOf(row.value, row.tip) : workerValue(row.worker, row.value);
        value->setAccessibleName(QStringLiteral("%1: %2").arg(row.name, row.value));
        grid_->addWidget(value, place++, 1);
        value->show();
    }
    grid_->parentWidget()->layout()->activate();
}

void InspectorDock::refresh()
{
    rows_.clear();
    gather();
    layRows();
}

void InspectorDock::gather()
{
    const Selection& selection = bench_.selection().selection();
    const bool oneChunk = selection.chunks.size() == 1;
    const bool many = selection.chunks.size() > 1;
    history_->setVisible(oneChunk);
    historyTitle_->setVisible(oneChunk);
    chunkTable_->setVisible(many);
    inside_->setVisible(oneChunk);
    samples_->setVisible(oneChunk || many);
    mark_->hide();
    present_->hide();
    buttons_->setVisible(oneChunk || many);
    keeps_->setVisible(oneChunk || many);
    for (QPushButton* button : { retry_, accept_ })
        button->setVisible(isAnyPoisoned());
    quarantine_->setText(tr("Quarantine %n chunk(s)…", nullptr, static_cast<int>(selection.chunks.size())));
    quarantine_->setAccessibleName(quarantine_->text());
    if (oneChunk)
        showChunk(selection.chunks.front().id);
    else if (many)
        showManyChunks();
    else if (selection.worker)
        showWorker(*selection.worker);
    else if (!selection.run.isEmpty() && bench_.watcher().status())
        showRunOr(selection.attempt);
    else
        title_->setText(tr("Select a run, worker or chunk."));
}

} // namespace furrow
