#include "ui/pages/compare_page.h"

#include "ui/charts/coverage_map.h"
#include "ui/charts/lost_steps.h"
#include "ui/charts/map_legend.h"
#include "ui/models/column_kinds.h"
#include "ui/models/core_words.h"
#include "ui/models/setting_words.h"
#include "ui/models/shown_name.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/parts/long_names.h"
#include "ui/parts/overflow.h"
#include "ui/parts/page_parts.h"
#include "ui/widgets/box_rows.h"
#include "ui/widgets/elided_combo.h"

#include <QComboBox>
#include <QHeaderView>
#include <QLineEdit>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QSplitter>
#include <QStandardItemModel>
#include <QTabWidget>
#include <QTableView>
#include <QTime>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

namespace furrow {

namespace {

constexpr std::size_t kMostSpeeds = 20'000; // values behind a box
constexpr int kMostRuns = 8;
constexpr int kAgainMs = 3000;
constexpr int kMadeColumn = 11;
constexpr int kLeastChunks = 300; // of the map with its legend

QTableView* plainTable(const QString& name)
{
    QTableView* table = makeTable(name);
    table->setModel(new QStandardItemModel(table));
    table->horizontalHeader()->setStretchLastSection(false);
    return table;
}

/// @param numbersFrom  the columns from this one on are aligned at the right
void fill(QTableView& table, const QStringList& head, const std::vector<QStringList>& rows, int numbersFrom)
{
    auto& model = *static_cast<QStandardItemModel*>(table.model());
    model.clear();
    model.setHorizontalHeaderLabels(head);
    for (int column = numbersFrom; column < model.columnCount(); ++column)
        model.horizontalHeaderItem(column)->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    for (const QStringList& texts : rows) {
        QList<QStandardItem*> items;
        for (const QString& text : texts) {
            auto* item = new QStandardItem(text);
            item->setToolTip(text);
            item->setTextAlignment((items.size() < numbersFrom ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
            items.append(item);
        }
        model.appendRow(items);
    }
    fitColumns(table);
}

std::vector<float> speedsOf(const TelemetrySnapshot& snapshot)
{
    std::size_t all = 0;
    for (const Stretch& stretch : snapshot.stretches)
        all += stretch.size();
    const std::size_t step = std::max<std::size_t>(1, all / kMostSpeeds);
    std::vector<float> speeds;
    for (const Stretch& stretch : snapshot.stretches) {
        for (std::size_t i = 0; i < stretch.size(); i += step)
            speeds.push_back(stretch.tokensPerSecond.values[i]);
    }
    return speeds;
}

/// Of the losses of all of them, as far as it is one.
QString unitOf(const std::vector<ComparedRun>& runs)
{
    QStringList units;
    for (const ComparedRun& run : runs)
        if (const QString unit = lossUnit(run.status.file.config.objective); !units.contains(unit))
            units.append(unit);
    return units.size() == 1 ? units.front()
                             : ComparePage::tr("units differ: %1").arg(units.join(QStringLiteral(", ")));
}

constexpr int kDecimals = 4; // runs that are compared are near to each other

} // namespace

ComparePage::ComparePage(Workbench& bench, QWidget* parent)
    : QWidget(parent)
    , bench_(bench)
    , model_(libraryColumns())
    , summary_(plainTable(tr("Summary")))
    , settings_(plainTable(tr("Settings that differ")))
{
    auto* splitter = new QSplitter(Qt::Vertical, this);
    splitter->setHandleWidth(1);
    splitter->addWidget(buildRuns());
    tabs_ = new QTabWidget;
    tabs_->setDocumentMode(true);
    tabs_->addTab(buildCurves(), tr("Curves"));
    tabs_->addTab(buildChunks(), tr("By chunk"));
    tabs_->addTab(settings_, tr("Settings that differ"));
    tabs_->addTab(summary_, tr("Summary"));
    splitter->addWidget(tabs_);
    splitter->setSizes({ 320, 480 });
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(splitter);
    again_ = new QTimer(this);
    again_->setSingleShot(true);
    again_->setInterval(kAgainMs);
    connect(again_, &QTimer::timeout, this, [this] {
        if (isVisible() && result_)
            comparer_.compare(comparedFolders());
        else if (result_)
            again_->start();
    });
    connect(&comparer_, &RunComparer::compared, this, &ComparePage::take);
    connect(&bench_.scanner(), &WorkspaceScanner::scanned, this, &ComparePage::takeRuns);
    compare();
    takeRuns(bench_.scanner().lines());
}

QWidget* ComparePage::buildRuns()
{
    auto* box = new QWidget;
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(12, 8, 12, 0);
    auto* row = new QHBoxLayout;
    row->addWidget(makeLabel(tr("Compare runs"), TextTone::Value, TextSize::Title, true));
    search_ = makeSearch(tr("Filter runs"));
    search_->setFixedWidth(240);
    row->addWidget(search_);
    sentence_ = new ElidedLabel(TextTone::Secondary, TextSize::Small);
    row->addWidget(sentence_, 1);
    pin_ = makeButton(tr("Pin as baseline"), QStringLiteral("pin"));
    row->addWidget(pin_);
    auto* back = makeButton(tr("Back to the runs"));
    connect(back, &QPushButton::clicked, this, &ComparePage::closed);
    row->addWidget(back);
    column->addLayout(row);
    caveats_ = makeLabel({}, TextTone::Error, TextSize::Small);
    caveats_->setWordWrap(true);
    caveats_->hide();
    column->addWidget(caveats_);
    runs_ = makeTable(tr("Runs with figures and settings"));
    runs_->setMinimumHeight(kLeastTable);
    runs_->horizontalHeader()->setStretchLastSection(false);
    filter_.setSourceModel(&model_);
    setSortedModel(runs_, &filter_, kMadeColumn, Qt::DescendingOrder);
    column->addWidget(runs_, 1);
    connect(search_, &QLineEdit::textChanged, &filter_, &LibraryTableFilter::setWords);
    connect(runs_->selectionModel(), &QItemSelectionModel::selectionChanged, this, &ComparePage::takeChoice);
    connect(runs_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &ComparePage::enablePin);
    connect(runs_, &QTableView::activated, this, [this](const QModelIndex& index) {
        if (const RunLine* line = model_.rowAt(filter_.mapToSource(index)))
            Q_EMIT openRunWanted(line->folder);
    });
    connect(pin_, &QPushButton::clicked, this, &ComparePage::pinBaseline);
    return box;
}

QWidget* ComparePage::buildCurves()
{
    auto* box = new QWidget;
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    auto* row = new QHBoxLayout;
    row->setContentsMargins(12, 6, 12, 0);
    axis_ = new ElidedCombo;
    axis_->setAccessibleName(tr("Horizontal axis"));
    const std::pair<QString, XAxis> axes[]
        = { { tr("Tokens trained, all workers"), XAxis::Tokens }, { tr("Steps of each worker"), XAxis::WorkerStep },
              { tr("Samples trained, all workers"), XAxis::Samples }, { tr("Active time"), XAxis::ActiveTime } };
    for (const auto& [name, axis] : axes)
        axis_->addItem(tr("x: %1").arg(name), static_cast<int>(axis));
    row->addWidget(axis_);
    row->addStretch();
    column->addLayout(row);
    chart_ = new SeriesChart(link_);
    chart_->setTitle(tr("Training loss"), lossUnit(Objective::NextToken));
    column->addWidget(chart_, 1);
    speed_ = new BoxRows;
    speed_->setAccessibleName(tr("Speed of single steps"));
    auto* below = new QVBoxLayout;
    below->setContentsMargins(12, 4, 12, 8);
    below->addWidget(
        makeLabel(tr("Speed of single steps of one worker each, in tokens per second: smallest, quartiles, largest"),
            TextTone::Secondary, TextSize::Small));
    below->addWidget(speed_);
    column->addLayout(below);
    connect(axis_, &QComboBox::currentIndexChanged, this, [this] {
        link_.setRange(std::nullopt, false);
        showCurves();
    });
    return box;
}

QWidget* ComparePage::buildChunks()
{
    auto* box = new QWidget;
    box->setMinimumHeight(kLeastChunks); // the legend's own follows a width it has only when shown: the tabs would move
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* row = new QHBoxLayout;
    row->setContentsMargins(12, 6, 12, 6);
    other_ = new ElidedCombo;
    other_->setAccessibleName(tr("Run compared with the baseline"));
    other_->setMinimumWidth(180);
    row->addWidget(other_);
    row->addSpacing(8);
    aligned_ = new ElidedLabel(TextTone::Secondary, TextSize::Small);
    row->addWidget(aligned_, 1);
    column->addLayout(row);
    map_ = new CoverageMap;
    map_->setFrameShape(QFrame::NoFrame);
    map_->setAccessibleName(tr("Difference of the loss of each chunk"));
    column->addWidget(map_, 1);
    column->addWidget(makeLine());
    legend_ = new MapLegend(*map_, box);
    column->addWidget(legend_);
    connect(other_, &QComboBox::currentIndexChanged, this, &ComparePage::showChunks);
    return box;
}

void ComparePage::takeRuns(const RunLinesPtr& lines)
{
    const QStringList before = chosen_;
    const bool first = model_.rowCount() == 0;
    const bool sameRuns = std::equal(lines->begin(), lines->end(), model_.rows().begin(), model_.rows().end(),
        [](const RunLine& a, const RunLine& b) { return a.folder == b.folder; });
    const bool isAnyChanged = std::any_of(lines->begin(), lines->end(), [this](const RunLine& line) {
        return chosen_.contains(line.folder)
            && std::find(model_.rows().begin(), model_.rows().end(), line) == model_.rows().end();
    });
    {
        const QScopedValueRollback<bool> nobodyChose(isRefilling_, true);
        const QString current = pinnable();
        model_.reset(*lines);
        filter_.reindex();
        if (!sameRuns) {
            selectAgain(before);
            const auto found = std::find_if(
                lines->begin(), lines->end(), [&current](const RunLine& line) { return line.folder == current; });
            runs_->selectionModel()->setCurrentIndex(found == lines->end()
                    ? QModelIndex()
                    : filter_.mapFromSource(model_.index(static_cast<int>(found - lines->begin()), 0)),
                QItemSelectionModel::NoUpdate);
        }
    }
    if (first)
        fitColumns(*runs_);
    takeChoice();
    if (isAnyChanged && result_ && !again_->isActive()) // a run that rested goes on
        again_->start();
}

/// The rows of these runs, wherever they are now.
void ComparePage::selectAgain(const QStringList& folders)
{
    QItemSelection rows;
    for (int row = 0; row < filter_.rowCount(); ++row)
        if (const RunLine* line = model_.rowAt(filter_.mapToSource(filter_.index(row, 0)));
            folders.contains(line->folder))
            rows.select(filter_.index(row, 0), filter_.index(row, 0));
    runs_->selectionModel()->select(rows, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
}

void ComparePage::choose(const QStringList& folders)
{
    search_->clear(); // what is filtered out cannot be selected
    {
        const QScopedValueRollback<bool> onlyAllTogether(isRefilling_, true);
        selectAgain(folders);
    }
    enablePin();
    if (chosen_ == folders)
        return;
    chosen_ = folders;
    compare();
}

/// The runs in the order in which a person chose them: the table gives them in its own, which changes with the losses
/// it is sorted by, and with it the baseline would.
void ComparePage::takeChoice()
{
    if (isRefilling_)
        return;
    QStringList selected;
    const QModelIndexList rows = runs_->selectionModel()->selectedRows();
    for (const QModelIndex& index : rows)
        if (const RunLine* line = model_.rowAt(filter_.mapToSource(index)))
            selected.append(line->folder);
    QStringList chosen = chosen_;
    chosen.removeIf([&selected](const QString& folder) { return !selected.contains(folder); });
    for (const QString& folder : selected)
        if (!chosen.contains(folder))
            chosen.append(folder);
    enablePin();
    if (chosen == chosen_)
        return;
    chosen_ = chosen;
    compare();
}

QStringList ComparePage::comparedFolders() const
{
    QStringList folders = chosen_;
    if (folders.removeOne(baseline_))
        folders.prepend(baseline_);
    return folders;
}

/// Of several the one that was chosen last: the keyboard may be at a row that is not chosen.
QString ComparePage::pinnable() const
{
    const RunLine* line = model_.rowAt(filter_.mapToSource(runs_->currentIndex()));
    if (line != nullptr && chosen_.contains(line->folder))
        return line->folder;
    return chosen_.size() == 1 ? chosen_.front() : QString();
}

void ComparePage::enablePin() { pin_->setEnabled(!pinnable().isEmpty()); }

void ComparePage::compare()
{
    const QStringList folders = comparedFolders();
    const int count = static_cast<int>(folders.size()); // lupdate does not read past a cast
    if (count < 2) {
        clearResult(tr("Select two to eight runs (Ctrl and click, or Ctrl and Space); the first one is the baseline."));
        return;
    }
    if (count > kMostRuns) {
        clearResult(tr("%n runs are selected; at most eight can be compared.", nullptr, count));
        return;
    }
    clearResult(tr("Reading %n run(s)…", nullptr, count)); // what is there is of another choice
    comparer_.compare(folders);
}

/// What was compared before is not what is selected now.
void ComparePage::clearResult(const QString& sentence)
{
    comparer_.cancel();
    again_->stop();
    result_.reset();
    sentence_->setText(sentence);
    caveats_->hide();
    chart_->setEmptyText(sentence);
    chart_->setData({});
    speed_->setRows({});
    other_->clear();
    aligned_->clear();
    map_->setEmptyText(sentence);
    map_->setCells({});
    for (QTableView* table : { summary_, settings_ })
        static_cast<QStandardItemModel*>(table->model())->clear();
}

void ComparePage::pinBaseline()
{
    const QString folder = pinnable();
    if (folder.isEmpty())
        return;
    baseline_ = folder;
    compare();
}

void ComparePage::take(const ComparedRunsPtr& result)
{
    if (!result->problem.empty()) {
        clearResult(coreWords(result->problem));
        return;
    }
    result_ = result;
    const auto& runs = result_->comparison.runs;
    const QString baseline = tr("Baseline: %1").arg(nameOf(runs.front()));
    const bool isAnyTrained
        = std::any_of(runs.begin(), runs.end(), [](const ComparedRun& run) { return run.status.supervised; });
    sentence_->setText(isAnyTrained
            ? tr("%1. As of %2").arg(baseline, QTime::currentTime().toString(QStringLiteral("HH:mm:ss")))
            : baseline);
    caveats_->setText(coreWords(result_->comparison.caveats).join(QLatin1Char('\n')));
    caveats_->setVisible(!result_->comparison.caveats.empty());
    const QSignalBlocker block(other_);
    const int chosen = std::max(0, other_->currentIndex());
    other_->clear();
    for (std::size_t i = 1; i < runs.size(); ++i)
        other_->addItem(nameOf(runs[i]), static_cast<int>(i));
    other_->setCurrentIndex(chosen < other_->count() ? chosen : 0);
    if (isAnyTrained)
        again_->start();
    showCurves();
    showSummary();
    showSettings();
    showChunks();
}

QString ComparePage::nameOf(const ComparedRun& run) const
{
    return libraryName(*bench_.scanner().lines(), QString::fromStdString(run.folder), QString::fromStdString(run.name));
}

void ComparePage::showCurves()
{
    if (!result_)
        return;
    const auto axis = static_cast<XAxis>(axis_->currentData().toInt());
    ChartData all;
    all.axis = axis;
    std::vector<BoxRow> boxes;
    for (std::size_t i = 0; i < result_->curves.size(); ++i) {
        const int number = static_cast<int>(i);
        const QString name = nameOf(result_->comparison.runs[i]);
        ChartData one = chartDataOf(*result_->curves[i], Metric::Loss, axis);
        dashLost(one, *result_->curves[i], Metric::Loss, result_->lost[i]);
        for (ChartLine& line : one.lines) {
            line.member = std::exchange(line.worker, number); // a run has one colour, whoever trained
            all.lines.push_back(std::move(line));
        }
        all.names.push_back(name);
        BoxRow box;
        box.name = name;
        box.worker = number;
        if (makeBox(speedsOf(*result_->curves[i]), box))
            boxes.push_back(box);
    }
    chart_->setTitle(tr("Training loss"), unitOf(result_->comparison.runs));
    chart_->setData(std::move(all));
    speed_->setRows(std::move(boxes));
}

void ComparePage::showSummary()
{
    std::vector<QStringList> rows;
    for (const ComparedRun& run : result_->comparison.runs) {
        const RunStatus& status = run.status;
        const QString last = lossText(status.loss, status.lossIsGone, kDecimals);
        const QString loss
            = status.lossWorkers > 0 ? tr("%1, mean of %n worker(s)", nullptr, status.lossWorkers).arg(last) : last;
        const QString evaluation = status.evaluation
            ? QStringLiteral("%1, %2").arg(
                  fixedText(status.evaluation->loss, kDecimals), coreWords(ofWhat(*status.evaluation)))
            : QStringLiteral("–");
        const auto living = std::count_if(
            status.workers.begin(), status.workers.end(), [](const WorkerStatus& worker) { return worker.alive; });
        const QString all = countText(std::ssize(status.workers));
        const QString workers = isAnyAlive(status) ? tr("%1 of %2 alive").arg(countText(living), all) : all;
        const int chunks = static_cast<int>(run.chunksTrained); // lupdate does not read past a cast
        const QString overChunks = chunks > 0
            ? tr("%1, mean of %Ln chunk(s)", nullptr, chunks).arg(fixedText(run.meanLoss, kDecimals))
            : QStringLiteral("–");
        rows.push_back({ nameOf(run), stateWord(status), workers, loss, evaluation, overChunks, countText(status.steps),
            countText(status.tokens), durationText(status.activeSeconds), keptPaceText(run.meanTokensPerSecond),
            countText(status.attempt) });
    }
    fill(*summary_,
        { tr("Run"), tr("State"), tr("Workers"), tr("Loss, last step"), tr("Eval loss"), tr("Loss of the first epoch"),
            tr("Steps"), tr("Tokens"), tr("Active time"), tr("Kept tokens per active second"), tr("Attempts") },
        rows, 2);
}

void ComparePage::showSettings()
{
    QStringList head { tr("Setting") };
    for (const ComparedRun& run : result_->comparison.runs)
        head.append(nameOf(run));
    std::vector<QStringList> rows;
    for (const ConfigDifference& difference : result_->comparison.differences) {
        QStringList row { settingLabel(*difference.setting) };
        for (const std::string& value : difference.values)
            row.append(value.empty() ? tr("not set") : QString::fromStdString(value));
        rows.push_back(row);
    }
    if (rows.empty())
        rows.push_back({ tr("All settings are the same.") });
    fill(*settings_, head, rows, static_cast<int>(head.size()));
}

void ComparePage::showChunks()
{
    if (!result_ || other_->currentIndex() < 0)
        return;
    const auto at = static_cast<std::size_t>(other_->currentData().toInt());
    const ChunkAlignment& alignment = result_->comparison.alignments[at - 1];
    if (!alignment.problem.empty()) {
        aligned_->setText(tr("Not comparable chunk by chunk: %1.").arg(coreWords(alignment.problem)));
        map_->setEmptyText(tr("Not comparable chunk by chunk."));
        map_->setCells({});
        return;
    }
    if (alignment.common == 0)
        aligned_->setText(tr("No chunk of the first epoch was trained by both yet."));
    else if (alignment.common == 1)
        aligned_->setText(tr("1 chunk of the first epoch in common, difference %1 nats.")
                .arg(fixedText(alignment.meanDifference, kDecimals)));
    else
        aligned_->setText(
            tr("%1 chunks of the first epoch in common, mean difference %2 nats, %3 better than the baseline.")
                .arg(countText(alignment.common), fixedText(alignment.meanDifference, kDecimals),
                    countText(alignment.better)));
    legend_->setObjective(result_->comparison.runs.front().status.file.config.objective);
    map_->setReference(result_->cells.front());
    map_->setCells(result_->cells[at]);
    map_->setLayer(MapLayer::DeltaLoss);
}

void ComparePage::focusSearch()
{
    search_->setFocus();
    search_->selectAll();
}

} // namespace furrow
