#include "ui/shell/inspector_dock.h"

#include "core/run/folder/attempt_config.h"
#include "core/run/status/lost_causes.h"
#include "core/run/status/samples_left_out.h"
#include "ui/models/core_words.h"
#include "ui/models/run_words.h"
#include "ui/models/shown_name.h"
#include "ui/models/shown_status.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/pages/chunk_samples_view.h"
#include "ui/parts/flow_layout.h"
#include "ui/parts/marks.h"
#include "ui/parts/long_names.h"
#include "ui/parts/page_parts.h"
#include "ui/pages/worker_delegate.h"

#include <QGridLayout>
#include <QHeaderView>
#include <QPushButton>
#include <QScrollArea>
#include <QTableView>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

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
constexpr int kIdLetters = 8; // the whole id is in the tooltip

QString deviceText(const WorkerStatus& status)
{
    return QString::fromStdString(status.deviceName.empty() ? status.device : status.deviceName);
}

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

double medianLoss(const std::vector<ChunkCell>& cells)
{
    std::vector<float> losses;
    for (const ChunkCell& cell : cells) {
        if (cell.trainedWallNs != 0 && std::isfinite(cell.meanLoss))
            losses.push_back(cell.meanLoss);
    }
    if (losses.empty())
        return std::nan("");
    const auto middle = losses.begin() + static_cast<std::ptrdiff_t>(losses.size() / 2);
    std::nth_element(losses.begin(), middle, losses.end());
    return *middle;
}

/// What the trainings of one chunk that are not lost gave together: a chunk may be trained in parts, by several
/// workers.
struct Kept {
    int parts = 0;
    int saved = 0; ///< of them, that a checkpoint has
    LostCauses lost; ///< trainings, why their weights are gone
    std::int64_t samples = 0;
    std::int64_t tokens = 0;
    double lossSum = 0; ///< nats
    double peakGradientNorm = 0;
    std::int64_t beganNs = 0;
    std::int64_t endedNs = 0;
    std::int64_t checkpoint = 0; ///< newest
};

Kept keptOf(const std::vector<ClaimRow>& history)
{
    Kept kept;
    kept.lost = lostCauses(history);
    for (const ClaimRow& claim : history) {
        if (claim.outcome != ClaimEnd::Trained && claim.outcome != ClaimEnd::Committed)
            continue;
        ++kept.parts;
        kept.saved += claim.outcome == ClaimEnd::Committed ? 1 : 0;
        kept.samples += claim.samples;
        kept.tokens += claim.tokens;
        kept.lossSum += claim.tokens > 0 ? claim.meanLoss * static_cast<double>(claim.tokens) : 0;
        kept.peakGradientNorm = std::max(kept.peakGradientNorm, claim.peakGradientNorm);
        kept.beganNs = kept.beganNs == 0 ? claim.startedWallNs : std::min(kept.beganNs, claim.startedWallNs);
        kept.endedNs = std::max(kept.endedNs, claim.endedWallNs);
        kept.checkpoint = std::max(kept.checkpoint, claim.checkpoint);
    }
    return kept;
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
    connect(&bench_.selection(), &SelectionModel::changed, this, &InspectorDock::refresh);
    connect(&bench_.cells(), &CellStore::changed, this, &InspectorDock::refreshSoon);
    connect(&bench_.watcher(), &RunWatcher::statusRead, this, [this] {
        if (isVisible() && bench_.selection().selection().chunks.empty())
            refresh(); // the overview beside it shows the same figures
        else
            refreshSoon();
    });
    connect(&bench_.watcher(), &RunWatcher::tablesRead, this, &InspectorDock::refreshSoon);
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

std::optional<WorkerStatus> InspectorDock::statusOf(int worker) const
{
    const StatusPtr status = presentStatus(bench_);
    if (!status)
        return std::nullopt;
    const auto found = std::find_if(
        status->workers.begin(), status->workers.end(), [worker](const WorkerStatus& w) { return w.worker == worker; });
    return found == status->workers.end() ? std::nullopt : std::optional(*found);
}

/// Of a run that cannot be read: what it was.
QString InspectorDock::stateText() const
{
    const QString state = stateWord(*bench_.watcher().status());
    return bench_.watcher().problem().empty() ? state : tr("was %1").arg(state.toLower());
}

// As maps and curves show the worker, and the device it had last.
void InspectorDock::addWorkerRow(int worker)
{
    QString words = workerName(worker);
    if (const auto status = statusOf(worker))
        words = tr("%1, %2").arg(words, deviceText(*status));
    rows_.push_back({ tr("Worker"), words, words, worker });
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

bool InspectorDock::isAnyPoisoned() const
{
    const auto& chunks = bench_.selection().selection().chunks;
    return std::any_of(chunks.begin(), chunks.end(), [this](const SelectedChunk& chunk) {
        const ChunkCell* cell = bench_.cells().find(chunk.id);
        return cell != nullptr && cell->state == ChunkState::Poisoned;
    });
}

void InspectorDock::showChunk(ChunkId chunk)
{
    const SelectedChunk& selected = bench_.selection().selection().chunks.front();
    title_->setText(
        tr("%1, %2").arg(chunkTitle(selected.block, selected.column), epochName(placeOf(chunk).epoch).toLower()));
    const ChunkCell* cell = bench_.cells().find(
        chunk); // null where another epoch is shown: its trainings and its curve are told all the same
    const std::vector<ClaimRow> history = bench_.replay().claimsOf(chunk);
    addRow(tr("State"),
        cell != nullptr       ? chunkStateWord(*cell)
            : history.empty() ? tr("not in the epoch shown")
                              : tr("%1; not in the epoch shown").arg(outcomeWord(history.back().outcome)));
    if (cell != nullptr && cell->inherited != Inherited::Nothing)
        addRow(tr("Parent run"),
            cell->inherited == Inherited::Skipped ? tr("trained it; left out here")
                                                  : tr("trained it; trained again here"));
    const Kept kept = keptOf(history);
    const auto untrained = shownUntrained(bench_);
    const bool isUntrained = std::binary_search(untrained.begin(), untrained.end(), chunk);
    const auto leftOut = shownLeftOut(bench_);
    const auto found = leftOut.find(chunk);
    const TrainedPart part
        = cell == nullptr ? TrainedPart {} : trainedPart(*cell, found == leftOut.end() ? 0 : found->second);
    if (cell != nullptr && cell->covered > 0 && cell->covered < cell->windows)
        addRow(tr("In weights"), // and in checkpoints
            tr("%1 of %2 samples").arg(countText(part.samples), countText(part.samplesWanted)),
            tr("%1 of %2 windows; the rest is trained when it is claimed again.")
                .arg(countText(part.windows), countText(part.windowsWanted)));
    else
        addRow(tr("In weights"),
            kept.parts == 0 && cell != nullptr && cell->state == ChunkState::Excluded ? tr("no: it is left out")
                : isUntrained             ? tr("no: it is left out, none of its steps was finite")
                : kept.parts == 0         ? tr("not yet")
                : kept.saved == 0         ? tr("not in a checkpoint yet")
                : kept.saved < kept.parts ? tr("%1 of %2 parts, the others in no checkpoint yet")
                                                .arg(countText(kept.saved), countText(kept.parts))
                : kept.parts > 1 ? tr("once, in %1 parts").arg(countText(kept.parts))
                                 : tr("once"),
            tr("An interrupted chunk is continued from where it was: each part is in the weights once."));
    if (part.samplesLeftOut > 0 && !isUntrained)
        addRow(tr("Left out"),
            tr("%1 of %2 samples, their steps were not finite")
                .arg(countText(part.samplesLeftOut), countText(cell->samples)));
    if (kept.lost.sum() > 0)
        addRow(tr("Work lost"),
            tr("%1: %2").arg(tr("%n training(s), with their weights", nullptr, static_cast<int>(kept.lost.sum())),
                coreWords(inWords(kept.lost)).join(QStringLiteral(", "))));
    if (cell == nullptr ? !history.empty() : cell->worker >= 0)
        addWorkerRow(cell == nullptr ? history.back().worker : cell->worker);
    if (!history.empty()) {
        const ClaimRow& last = history.back();
        addRow(tr("Attempt"), tr("%1, claim %2").arg(last.attempt.value).arg(countText(last.claimId)));
    }
    if (kept.parts > 0) {
        addRow(tr("Trained"), tr("%1 to %2").arg(wallTimeText(kept.beganNs), wallTimeText(kept.endedNs)));
        addRow(tr("Samples"), countText(kept.samples));
        addRow(tr("Tokens learnt from"), countText(kept.tokens),
            tr("Tokens with nothing before them are read and not predicted, so there are fewer of these than the text has."));
        if (kept.tokens > 0) {
            const QString loss = fixedText(kept.lossSum / static_cast<double>(kept.tokens), 3);
            addRow(tr("Mean loss"),
                cell == nullptr ? loss // of another epoch than the one that is shown
                                : tr("%1, median of %2 %3")
                                      .arg(loss, epochName(bench_.cells().epoch()).toLower(),
                                          fixedText(medianLoss(bench_.cells().cells()), 3)));
        }
        if (kept.peakGradientNorm > 0)
            addRow(tr("Gradient norm, peak"), fixedText(kept.peakGradientNorm, 2));
        if (kept.checkpoint != 0)
            addRow(tr("Checkpoint"), countText(kept.checkpoint));
    }
    showLossInside(chunk);
    const bool first = claims_.rowCount() == 0;
    claims_.reset(history);
    if (first)
        history_->resizeColumnsToContents();
    historyTitle_->setVisible(
        history.size() > 1); // the rows above say all of a single one: its room is for the samples
    history_->setVisible(history.size() > 1);
}

// The steps of the newest training of the chunk, every one of them.
void InspectorDock::showLossInside(ChunkId chunk)
{
    const SnapshotPtr& snapshot = bench_.watcher().telemetry();
    const auto intervals = snapshot ? snapshot->intervalsOf(chunk.value) : std::vector<TelemetrySnapshot::Interval> {};
    const bool any = !intervals.empty() && intervals.back().end > intervals.back().begin;
    inside_->setVisible(any);
    if (!any)
        return;
    const auto& [stretch, begin, end] = intervals.back();
    ChartData shown;
    shown.axis = XAxis::WorkerStep;
    shown.lines.push_back(
        { snapshot->curve(stretch, Metric::Loss, shown.axis), nullptr, snapshot->stretches[stretch].worker });
    inside_->setTitle(tr("Loss inside the chunk"), tr("%n step(s)", nullptr, static_cast<int>(end - begin)));
    inside_->setCompact({});
    inside_->setData(std::move(shown));
    const double first = snapshot->xAt(stretch, begin, XAxis::WorkerStep);
    const double last = snapshot->xAt(stretch, end - 1, XAxis::WorkerStep);
    link_.setRange(ChartLink::Range { first - 0.5, last + 0.5 }, false);
    for (const EventPoint& event : snapshot->events ? *snapshot->events : std::vector<EventPoint> {}) {
        if (event.record.chunk == chunk.value && event.record.kind == EventRecord::Kind::Spike)
            mark_->show();
    }
}

void InspectorDock::showManyChunks()
{
    const std::vector<SelectedChunk>& selected = bench_.selection().selection().chunks;
    std::vector<ChunkCell> cells;
    double sum = 0;
    std::int64_t trained = 0; ///< tokens
    for (const SelectedChunk& chunk : selected) {
        const ChunkCell* cell = bench_.cells().find(chunk.id);
        if (cell == nullptr)
            continue;
        cells.push_back(*cell);
        if (std::isfinite(cell->meanLoss) && cell->tokens > 0) {
            sum += cell->meanLoss * static_cast<double>(cell->tokens);
            trained += cell->tokens;
        }
    }
    title_->setText(tr("%n chunk(s) selected", nullptr, static_cast<int>(selected.size())));
    if (trained > 0)
        addRow(tr("Mean loss"), fixedText(sum / static_cast<double>(trained), 3));
    const bool first = chunks_.rowCount() == 0;
    chunks_.reset(std::move(cells));
    if (first)
        chunkTable_->resizeColumnsToContents();
}

void InspectorDock::showWorker(int worker)
{
    title_->setText(tr("Worker %1").arg(worker));
    sayWhetherPresent();
    const auto found = statusOf(worker);
    if (!found)
        return;
    addRow(tr("Newest process"), tr("attempt %1").arg(bench_.watcher().status()->attempt),
        tr("Earlier ones of this worker are on the Workers page."));
    addRow(tr("Process"), found->alive ? QString::number(found->pid) : tr("not alive"));
    addRow(tr("Device"), deviceText(*found), QString::fromStdString(found->device));
    addRow(tr("Replica"), QString::number(found->replica));
    addRow(found->alive ? tr("Phase") : tr("Its end"),
        found->alive ? phaseWord(found->phase) : coreWords(found->endCause));
    addRow(tr("Restarts"), countText(found->restarts));
    if (found->chunkBlock >= 0)
        addRow(tr("Chunk"),
            tr("%1, %2").arg(chunkShort(found->chunkBlock, found->chunkColumn), percentText(found->chunkFraction)));
    addRow(tr("Steps"), countText(found->step));
    addRow(tr("Tokens"), countText(found->tokens));
    if (found->step > 0)
        addRow(tr("Loss"), lossText(found->loss, found->lossIsGone), found->lossIsGone ? lossIsGoneText() : QString());
    if (found->alive) { // what ended has no speed, and made its last progress before
        addRow(tr("Speed"), rateText(found->tokensPerSecond));
        addRow(tr("Last progress"), agoText(found->secondsSinceProgress));
    }
    if (found->memory)
        addRow(tr("Memory, peak"),
            tr("%1, %2 times the estimate")
                .arg(bytesText(static_cast<std::uint64_t>(found->memory->peakBytes)),
                    fixedText(found->memory->ratio(), 2)));
}

// What the supervisor says about the run and its workers is of the present; map, curves and lanes are not while a
// replay runs.
void InspectorDock::sayWhetherPresent()
{
    const auto moment = bench_.replay().moment();
    const RunWatcher& watcher = bench_.watcher();
    present_->setVisible(moment || !watcher.problem().empty());
    if (!watcher.problem().empty())
        present_->setText(tr("As last read, at %1: the folder of the run cannot be read now.")
                .arg(wallTimeText(watcher.lastReadNs())));
    else if (moment)
        present_->setText(tr("As it is now, not as it was at %1.").arg(wallTimeText(*moment)));
}

void InspectorDock::addChanges(std::optional<std::int64_t> onlyOf)
{
    const TablesPtr& tables = bench_.watcher().tables();
    if (!tables)
        return;
    const auto all = changesByAttempt(tables->attempts, bench_.watcher().status()->file.config);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const std::int64_t attempt = tables->attempts[i].id.value;
        if (onlyOf && *onlyOf != attempt)
            continue;
        for (const ConfigChange& change : all[i])
            addRow(tr("Changed by attempt %1").arg(attempt), changeText(change));
    }
}

void InspectorDock::showAttempt(const AttemptRow& attempt)
{
    const RunStatus& status = *bench_.watcher().status();
    title_->setText(tr("Attempt %1").arg(attempt.id.value));
    sayWhetherPresent();
    addRow(tr("Started"), wallTimeText(attempt.startedWallNs));
    if (attempt.endedWallNs)
        addRow(tr("Ended"), wallTimeText(*attempt.endedWallNs));
    else
        addRow(tr("State"), attempt.id.value == status.attempt ? stateText() : tr("no end was recorded"));
    if (attempt.endedWallNs && attempt.reason != StopReason::None)
        addRow(tr("Ended because"), endReasonSentence(attempt.reason, attempt.detail));
    addRow(tr("Supervisor"), tr("process %1").arg(attempt.supervisor.pid));
    if (!attempt.detail.empty())
        addRow(tr("Detail"), coreWords(attempt.detail));
    const auto before = rows_.size();
    addChanges(attempt.id.value);
    if (rows_.size() == before)
        addRow(tr("Settings"), tr("none changed"));
}

void InspectorDock::showRunOr(std::optional<std::int64_t> attempt)
{
    const TablesPtr& tables = bench_.watcher().tables();
    if (attempt && tables)
        for (const AttemptRow& row : tables->attempts)
            if (row.id.value == *attempt)
                return showAttempt(row);
    showRun();
}

void InspectorDock::showRun()
{
    const RunStatus& status = *bench_.watcher().status();
    const RunFile& file = status.file;
    title_->setText(breakable(shownName(bench_)));
    sayWhetherPresent();
    addRow(tr("State"), stateText());
    if (status.stopReason != StopReason::None && status.state != RunState::Interrupted) // the state says that already
        addRow(tr("Ended because"), endReasonSentence(status.stopReason, status.stopDetail));
    const QString id = QString::fromStdString(file.runId);
    addRow(tr("Run"), id.left(kIdLetters), id + QLatin1Char('\n') + bench_.watcher().folder());
    addRow(tr("Made"), wallTimeText(file.createdWallNs));
    addRow(tr("Preset"), QString::fromStdString(file.preset));
    addRow(tr("Attempt"), countText(status.attempt));
    addChanges({});
    addRow(tr("Active time"), durationText(status.activeSeconds), activeTimeHelp());
    addRow(tr("Steps"), countText(status.steps), trainedSoFarHelp());
    addRow(tr("Tokens"), countText(status.tokens), trainedSoFarHelp());
    addRow(tr("Checkpoints"), countText(status.checkpoints));
    addRow(tr("Newest checkpoint"), wallTimeText(status.newestCheckpointWallNs));
    if (status.evaluation)
        addRow(tr("Eval loss"),
            fixedText(status.evaluation->loss, 3) + QLatin1Char('\n') + coreWords(ofWhat(*status.evaluation)));
    if (status.answers)
        addRow(tr("Right answers"),
            percentText(status.answers->marks.share()) + QLatin1Char('\n') + coreWords(inWords(*status.answers)));
    if (const QString said = dataText(status); !said.isEmpty())
        addRow(tr("Data"), said);
    addRow(tr("Vocabulary"), countText(file.vocabularySize));
    const QString perBlock = countText(file.samplesPerBlock);
    addRow(tr("Samples per block"),
        file.samplesPerBlockReason.empty() ? perBlock
                                           : perBlock + QLatin1Char('\n') + coreWords(file.samplesPerBlockReason));
}

} // namespace furrow
