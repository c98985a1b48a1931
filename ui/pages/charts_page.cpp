#include "ui/pages/charts_page.h"

#include "ui/charts/overview_strip.h"
#include "ui/models/core_words.h"
#include "ui/models/shown_status.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/pages/chart_settings.h"
#include "ui/pages/chart_statistics.h"
#include "ui/pages/epoch_head.h"
#include "ui/pages/epoch_meters.h"
#include "ui/parts/page_parts.h"
#include "ui/parts/save_file.h"
#include "ui/pages/small_charts.h"
#include "ui/widgets/elided_combo.h"

#include <QComboBox>
#include <QPushButton>
#include <QSplitter>
#include <QVBoxLayout>
#include <set>
#include <utility>

namespace furrow {

namespace {

constexpr int kLeastCombo = 110;
constexpr int kWordyBar = 560; // of the page; below it the buttons of the bar are their icons alone
constexpr int kLeastCharts = 300; // below the meters
constexpr double kSameInstant = 60; // [s] a worker that ended longer ago trained nothing then

double samplesPerEpoch(const StatusPtr& status)
{
    if (!status || status->epochs.empty())
        return 0;
    const EpochRow& epoch = status->epochs.front(); // a newer one may not have all its chunks yet
    const bool known = epoch.blockCount && epoch.preparedBlocks >= *epoch.blockCount;
    return known ? static_cast<double>(epoch.rowsKnown.samples) : 0;
}

/// Where attempts begin: the first point of each in the wanted axis, with what ended the one before.
std::vector<ChartSeam> seamsOf(const TelemetrySnapshot& snapshot, XAxis axis, double perEpoch, const TablesPtr& tables)
{
    std::map<std::int64_t, double> begins;
    for (std::size_t i = 0; i < snapshot.stretches.size(); ++i) {
        const Stretch& stretch = snapshot.stretches[i];
        if (stretch.size() == 0)
            continue;
        const double x = snapshot.xAt(i, 0, axis, perEpoch);
        const auto [known, isNew] = begins.try_emplace(stretch.attempt, x);
        known->second = isNew ? x : std::min(known->second, x);
    }
    std::vector<ChartSeam> seams;
    for (const auto& [attempt, x] : begins) {
        if (attempt <= 1)
            continue;
        ChartSeam seam { x, QCoreApplication::translate("ChartsPage", "Attempt %1").arg(attempt), {} };
        for (const AttemptRow& row : tables ? tables->attempts : std::vector<AttemptRow> {}) {
            if (row.id.value == attempt - 1)
                seam.text = QCoreApplication::translate("ChartsPage", "after attempt %1: %2")
                                .arg(row.id.value)
                                .arg(row.detail.empty() ? stopReasonSentence(row.reason) : coreWords(row.detail));
        }
        seams.push_back(seam);
    }
    return seams;
}

SnapshotPtr snapshotOf(const TelemetrySnapshot& all, std::int64_t attempt)
{
    auto one = std::make_shared<TelemetrySnapshot>(all);
    std::erase_if(one->stretches, [attempt](const Stretch& stretch) { return stretch.attempt != attempt; });
    auto evals = all.evals ? *all.evals : std::vector<EvalPoint>();
    std::erase_if(evals, [attempt](const EvalPoint& eval) { return eval.attempt != attempt; });
    one->evals = std::make_shared<const std::vector<EvalPoint>>(std::move(evals));
    return one;
}

} // namespace

ChartsPage::ChartsPage(Workbench& bench, QWidget* parent)
    : QWidget(parent)
    , bench_(bench)
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    buildEpoch();
    buildBar();
    buildCharts();
    connect(&bench_.watcher(), &RunWatcher::telemetryRead, this, &ChartsPage::take);
    connect(&bench_.watcher(), &RunWatcher::opened, this, [this] {
        snapshot_.reset();
        absent_.assign(kNotOfAllRuns.begin(), kNotOfAllRuns.end());
        showSmall();
        link_.setRange(std::nullopt, false);
        loss_->setData({});
        small_->clearData();
        strip_->setData({});
        head_->clear();
        meters_->clear();
    });
    connect(&bench_.watcher(), &RunWatcher::statusRead, this, &ChartsPage::takeShown);
    connect(&bench_.watcher(), &RunWatcher::problemChanged, this, &ChartsPage::takeShown);
    connect(&bench_.replay(), &Replay::momentChanged, this, &ChartsPage::takeShown);
    connect(&bench_.cells(), &CellStore::reset, this, &ChartsPage::takeShown);
    connect(&bench_.selection(), &SelectionModel::changed, this, &ChartsPage::showSelection);
    connect(&link_, &ChartLink::followingChanged, this, [this](bool live) { backToLive_->setVisible(!live); });
    connect(loss_, &SeriesChart::pointClicked, this, &ChartsPage::choosePoint);
    connect(loss_, &SeriesChart::replotted, this, &ChartsPage::showDrawn);
    connectSettings();
    applyOptions();
    takeShown();
    if (bench_.watcher().telemetry())
        take(bench_.watcher().telemetry());
}

// How far the epoch is, above its curves.
void ChartsPage::buildEpoch()
{
    epoch_ = new QWidget(this);
    auto* column = new QVBoxLayout(epoch_);
    column->setContentsMargins(14, 6, 14, 6);
    column->setSpacing(4);
    head_ = new EpochHead;
    connect(head_, &EpochHead::whyWanted, this, &ChartsPage::whyWanted);
    head_->clear();
    column->addWidget(head_);
    meters_ = new EpochMeters;
    meters_->clear();
    column->addWidget(meters_);
    layout()->addWidget(epoch_);
    epochLine_ = makeLine();
    layout()->addWidget(epochLine_);
}

// A low page is for its curves; the overview has the meters too.
void ChartsPage::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    const bool fits = height() >= epoch_->sizeHint().height() + kLeastCharts;
    epoch_->setVisible(fits);
    epochLine_->setVisible(fits);
    const bool wordy = width() >= kWordyBar; // else their words take the room of the choices'
    for (QPushButton* button : { figures_, display_ })
        button->setText(wordy ? button->accessibleName() : QString());
}

void ChartsPage::takeShown()
{
    const StatusPtr status = shownStatus(bench_);
    if (!status && !bench_.watcher().problem().empty())
        head_->setUnreadable();
    if (status)
        takeStatus(status);
}

void ChartsPage::takeStatus(const StatusPtr& status)
{
    loss_->setTitle(tr("Training loss"), lossUnit(status->file.config.objective));
    head_->setStatus(*status, bench_.claims().claims(), bench_.replay().moment(), activeStretches(bench_));
    meters_->setStatus(*status, shownUntrainedChunks(bench_, *status));
    showEmptyText();
    auto lost = shownLost(bench_, *status);
    const auto evaluated = status->evaluation ? std::optional(status->evaluation->loss) : std::nullopt;
    if (lost == lost_ && evaluated == evaluated_)
        return;
    lost_ = std::move(lost);
    evaluated_ = evaluated;
    redraw();
}

void ChartsPage::buildBar()
{
    auto* row = new QHBoxLayout;
    row->setContentsMargins(14, 6, 14, 6);
    row->setSpacing(8);
    axis_ = new ElidedCombo(this);
    axis_->setAccessibleName(tr("Horizontal axis"));
    const std::pair<QString, XAxis> axes[] = { { tr("Tokens trained, all workers"), XAxis::Tokens },
        { tr("Steps made, all workers"), XAxis::GlobalStep }, { tr("Steps of each worker"), XAxis::WorkerStep },
        { tr("Samples trained, all workers"), XAxis::Samples }, { tr("Epochs, by samples trained"), XAxis::Epoch },
        { tr("Time of day"), XAxis::WallTime }, { tr("Active time"), XAxis::ActiveTime } };
    for (const auto& [name, axis] : axes)
        axis_->addItem(tr("x: %1").arg(name), static_cast<int>(axis));
    axis_->setToolTip(tr(
        "Tokens, samples, epochs and steps of all workers count all that was trained: what was lost with its weights and trained again is in them twice."));
    row->addWidget(axis_);
    smoothing_ = new ElidedCombo(this);
    smoothing_->setAccessibleName(tr("Smoothing"));
    const std::pair<QString, SmoothingKind> kinds[] = { { tr("EMA"), SmoothingKind::Ema },
        { tr("EMA, both ways"), SmoothingKind::ZeroPhaseEma }, { tr("Gaussian"), SmoothingKind::Gaussian },
        { tr("Median"), SmoothingKind::Median }, { tr("none"), SmoothingKind::None } };
    for (const auto& [name, kind] : kinds)
        smoothing_->addItem(tr("Smooth: %1").arg(name), static_cast<int>(kind));
    row->addWidget(smoothing_);
    backToLive_ = makeButton(tr("Back to live"), QStringLiteral("live"));
    backToLive_->hide();
    row->addWidget(backToLive_);
    for (QComboBox* combo : { axis_, smoothing_ }) { // as wide as its words, narrower where the page is
        combo->setSizeAdjustPolicy(QComboBox::AdjustToContents);
        combo->setMinimumWidth(kLeastCombo);
    }
    row->addStretch();
    figures_ = makeButton(tr("Statistics"), QStringLiteral("table"));
    figures_->setToolTip(tr("Extremes and means of what is visible, for each worker"));
    display_ = makeButton(tr("Display"), QStringLiteral("settings"));
    display_->setToolTip(tr("Smoothing width, scales, numeric ranges and which charts there are"));
    for (QPushButton* button : { figures_, display_ }) {
        button->setCheckable(true);
        button->setAccessibleName(button->text());
        row->addWidget(button);
    }
    static_cast<QVBoxLayout*>(layout())->addLayout(row);
    layout()->addWidget(makeLine());
    connect(axis_, &QComboBox::currentIndexChanged, this, [this] {
        link_.setRange(std::nullopt, false);
        followAxis();
        applyOptions();
        redraw();
    });
    connect(smoothing_, &QComboBox::currentIndexChanged, this, &ChartsPage::applyOptions);
    connect(backToLive_, &QPushButton::clicked, this, &ChartsPage::fit);
}

void ChartsPage::buildCharts()
{
    settings_ = new ChartSettings(this); // before the charts: Tab goes from its button into it
    settings_->hide();
    loss_ = new SeriesChart(link_);
    loss_->setTitle(tr("Training loss"), lossUnit(Objective::NextToken));
    small_ = new SmallCharts(link_);
    auto* splitter = new QSplitter(Qt::Vertical, this);
    splitter->setHandleWidth(1);
    splitter->addWidget(loss_);
    splitter->addWidget(small_);
    splitter->setStretchFactor(0, 3);
    splitter->setStretchFactor(1, 1);
    splitter->setSizes({ 420, 150 });
    strip_ = new OverviewStrip(link_);
    strip_->setAccessibleName(tr("Visible range"));
    statistics_ = new ChartStatistics;
    statistics_->hide();
    auto* column = new QVBoxLayout;
    column->setSpacing(0);
    column->addWidget(splitter, 1);
    column->addWidget(makeLine());
    column->addWidget(strip_);
    column->addWidget(statistics_);
    auto* row = new QHBoxLayout;
    row->setSpacing(0);
    row->addLayout(column, 1);
    row->addWidget(settings_);
    static_cast<QVBoxLayout*>(layout())->addLayout(row, 1);
}

void ChartsPage::connectSettings()
{
    connect(settings_, &ChartSettings::changed, this, [this] {
        applyOptions();
        redraw();
    });
    connect(settings_, &ChartSettings::logLossChanged, this, &ChartsPage::logLossChanged);
    connect(settings_, &ChartSettings::rangeWanted, this,
        [this](double begin, double end) { link_.setRange(ChartLink::Range { begin, end }); });
    connect(&link_, &ChartLink::rangeChanged, this, [this] { settings_->setVisibleRange(link_.range()); });
    connect(display_, &QPushButton::toggled, settings_, &QWidget::setVisible);
    connect(figures_, &QPushButton::toggled, this, [this](bool on) {
        statistics_->setVisible(on);
        showDrawn();
    });
    followAxis();
}

XAxis ChartsPage::axis() const { return static_cast<XAxis>(axis_->currentData().toInt()); }

void ChartsPage::followAxis() { settings_->setAxis(axis(), axisUnit(axis())); }

void ChartsPage::showDrawn()
{
    Q_EMIT densityChanged(loss_->densityText());
    if (statistics_->isVisible())
        statistics_->setChart(*loss_);
}

void ChartsPage::take(const SnapshotPtr& snapshot)
{
    snapshot_ = snapshot;
    redraw();
}

void ChartsPage::redraw()
{
    if (!snapshot_)
        return;
    attempt_ = bench_.selection().selection().attempt;
    const double perEpoch = samplesPerEpoch(bench_.watcher().status());
    const std::vector<ChartSeam> seams = seamsOf(*snapshot_, axis(), perEpoch, bench_.watcher().tables());
    const auto shown = [this, &seams](Metric metric) {
        ChartData curves = shownData(metric);
        curves.seams = seams;
        return curves;
    };
    ChartData loss = shown(Metric::Loss);
    if (!attempt_) // of one attempt the last that it has
        loss.evalNow = shownEvaluation(shownStatus(bench_));
    strip_->setData(loss);
    loss_->setData(std::move(loss));
    const ChartData answers = answersDataOf(*snapshot_, axis(), perEpoch,
        [this](const ChartEval& eval) { return lost_ && isOfLost(eval, *snapshot_, *lost_); });
    const StatusPtr status = shownStatus(bench_);
    const bool isStated = !status || !status->privacy || status->privacy->notStated.empty();
    const ChartData privacy = isStated ? privacyDataOf(*snapshot_, axis(), perEpoch) : ChartData {};
    small_->setPrivacyText(isStated ? QString() : coreWords(status->privacy->notStated));
    std::vector<SmallChart> absent;
    for (const auto& [chart, points] : { std::pair(SmallChart::Answers, &answers), { SmallChart::Privacy, &privacy } })
        if (points->lines.empty() && points->evals.empty() && (chart != SmallChart::Privacy || isStated))
            absent.push_back(chart);
    if (std::ranges::none_of(snapshot_->stretches, &Stretch::hasPairs))
        absent.insert(absent.end(), { SmallChart::Margin, SmallChart::Preferred });
    if (std::exchange(absent_, absent) != absent)
        showSmall();
    small_->setData(shown, driftDataOf(*snapshot_, axis(), perEpoch), answers, privacy);
    showSelection();
}

void ChartsPage::showEmptyText()
{
    const StatusPtr status = shownStatus(bench_);
    QString text = tr("No steps recorded yet.");
    if (status && !status->workers.empty() && status->workers.front().alive)
        text = tr("No steps recorded yet. Worker %1: %2.")
                   .arg(status->workers.front().worker)
                   .arg(phaseWord(status->workers.front().phase));
    loss_->setEmptyText(text);
    small_->setEmptyText(text);
}

// A selected chunk is shaded where it was trained.
std::vector<ChartSpan> ChartsPage::selectedSpans() const
{
    std::vector<ChartSpan> spans;
    if (snapshot_) {
        const double perEpoch = samplesPerEpoch(bench_.watcher().status());
        for (const SelectedChunk& chunk : bench_.selection().selection().chunks) {
            for (const auto& interval : snapshot_->intervalsOf(chunk.id.value)) {
                if (interval.end > interval.begin)
                    spans.push_back({ snapshot_->xAt(interval.stretch, interval.begin, axis(), perEpoch),
                        snapshot_->xAt(interval.stretch, interval.end - 1, axis(), perEpoch) });
            }
        }
    }
    return spans;
}

void ChartsPage::showSelection()
{
    const std::vector<ChartSpan> spans = selectedSpans();
    loss_->setHighlights(spans);
    small_->setHighlights(spans);
    if (attempt_ != bench_.selection().selection().attempt) // [ and ] choose whose curves are shown
        redraw();
}

void ChartsPage::zoomToSelection()
{
    const std::vector<ChartSpan> spans = selectedSpans();
    if (spans.empty())
        return;
    constexpr double kAround = 4; // lengths of the chunk on both sides
    const double length = std::max(spans.back().end - spans.back().begin, 1e-9);
    link_.setRange(ChartLink::Range { spans.back().begin - kAround * length, spans.back().end + kAround * length });
}

/// All attempts, or the one that is selected.
ChartData ChartsPage::shownData(Metric metric) const
{
    const double perEpoch = samplesPerEpoch(bench_.watcher().status());
    const SnapshotPtr snapshot = attempt_ ? snapshotOf(*snapshot_, *attempt_) : snapshot_;
    ChartData shown = chartDataOf(*snapshot, metric, axis(), perEpoch);
    if (lost_)
        dashLost(shown, *snapshot, metric, *lost_);
    for (ChartLine& line : shown.lines)
        if (attempt_) // its own curve is what is asked for
            line.lostFrom = std::exchange(line.supersededFrom, line.curve->size());
    return shown;
}

// A click on a point selects the chunk that was trained there, and those that the other workers trained at that
// instant.
void ChartsPage::choosePoint(int worker, double x)
{
    if (!snapshot_)
        return;
    const double perEpoch = samplesPerEpoch(bench_.watcher().status());
    for (std::size_t i = snapshot_->stretches.size(); i-- > 0;) {
        const Stretch& stretch = snapshot_->stretches[i];
        if (stretch.worker != worker || stretch.size() == 0)
            continue;
        const CurvePtr curve = snapshot_->curve(i, Metric::Loss, axis(), perEpoch);
        const std::size_t at = curve->lowerBound(x);
        if (at >= curve->size() || x < curve->x(0))
            continue;
        selectInstant(worker, snapshot_->stretches[i].wallAt(at));
        return;
    }
}

void ChartsPage::selectInstant(int worker, double wall)
{
    std::vector<SelectedChunk> chunks;
    std::set<int> workers;
    for (const Stretch& stretch : snapshot_->stretches)
        workers.insert(stretch.worker);
    for (const int each : workers) {
        TelemetrySnapshot::Interval at;
        if (!snapshot_->find(each, wall, at) || snapshot_->stretches[at.stretch].wallEnd() + kSameInstant < wall)
            continue;
        const ChunkCell* cell = bench_.cells().find({ snapshot_->chunkAt(at.stretch, at.begin) });
        if (cell == nullptr)
            continue;
        const SelectedChunk chunk { cell->id, cell->block, cell->column };
        chunks.insert(each == worker ? chunks.begin() : chunks.end(), chunk); // the clicked one is the current one
    }
    bench_.selection().setChunks(std::move(chunks));
}

void ChartsPage::applyOptions()
{
    const ChartWishes& wishes = settings_->wishes();
    ChartOptions options;
    options.smoothing.kind = static_cast<SmoothingKind>(smoothing_->currentData().toInt());
    options.smoothing.width = wishes.smoothingWidth;
    options.raw = wishes.raw;
    options.mean = wishes.mean;
    options.logX = wishes.logX;
    small_->setOptions(options);
    showSmall();
    options.logY = wishes.logLoss;
    options.perplexity = wishes.perplexity;
    if (wishes.allPoints)
        options.clipPercent = 0;
    loss_->setOptions(options);
    loss_->setValueLimits(wishes.lossFrom, wishes.lossTo);
}

void ChartsPage::showSmall()
{
    std::vector<SmallChart> shown = settings_->wishes().small;
    for (const SmallChart chart : kNotOfAllRuns) {
        const bool has = std::ranges::find(absent_, chart) == absent_.end();
        settings_->offer(chart, has);
        if (!has)
            std::erase(shown, chart);
    }
    small_->setShown(shown);
}

void ChartsPage::fit()
{
    link_.setRange(std::nullopt);
    loss_->fit();
}

void ChartsPage::zoomBack() { link_.zoomBack(); }

void ChartsPage::setLogY(bool on) { settings_->setLogLoss(on); }

bool ChartsPage::savePicture(const QString& file) { return loss_->save(file); }

bool ChartsPage::saveTable(const QString& name) { return writeWhole(name, loss_->csv().toUtf8()); }

} // namespace furrow
