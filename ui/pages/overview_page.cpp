#include "ui/pages/overview_page.h"

#include "core/run/status/telling_workers.h"
#include "ui/charts/series_chart.h"
#include "ui/models/column_kinds.h"
#include "ui/models/core_words.h"
#include "ui/models/run_words.h"
#include "ui/models/shown_status.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/pages/alert_list.h"
#include "ui/pages/epoch_head.h"
#include "ui/pages/epoch_meters.h"
#include "ui/parts/figure_row.h"
#include "ui/parts/page_parts.h"
#include "ui/pages/worker_card.h"

#include <QGridLayout>
#include <QPushButton>
#include <QTextBrowser>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

namespace furrow {

namespace {

constexpr int kCardColumns = 3;
constexpr int kChartHeight = 240; // at least
constexpr int kSampleHeight = 150;
constexpr std::size_t kStripPoints = 120;

} // namespace

OverviewPage::OverviewPage(Workbench& bench, QWidget* parent)
    : QWidget(parent)
    , bench_(bench)
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(14, 12, 14, 12);
    column->setSpacing(8);
    head_ = new EpochHead(this);
    connect(head_, &EpochHead::whyWanted, this, &OverviewPage::whyWanted);
    column->addWidget(head_);
    buildChart();
    column->addWidget(loss_, 1);
    figures_ = new FigureRow({ tr("Loss, last step"), tr("Eval loss"), tr("Tokens per second"), tr("Optimiser steps"),
        tr("Tokens"), tr("Active time"), tr("Newest checkpoint") });
    figures_->reserveName(1, tr("Eval loss, not the newest, step %1").arg(countText(100'000)));
    column->addWidget(figures_);
    column->addWidget(makeLine());
    meters_ = new EpochMeters(this);
    column->addWidget(meters_);
    open_ = makeLabel({}, TextTone::Secondary, TextSize::Small);
    open_->setWordWrap(true);
    column->addWidget(open_);
    leftOut_ = makeLabel({}, TextTone::Value, TextSize::Small);
    leftOut_->setWordWrap(true);
    leftOut_->hide();
    column->addWidget(leftOut_);
    privacy_ = makeLabel({}, TextTone::Value, TextSize::Small);
    privacy_->setWordWrap(true);
    privacy_->hide();
    column->addWidget(privacy_);
    column->addWidget(makeLine());
    alerts_ = new AlertList;
    column->addWidget(alerts_);
    cards_ = new QGridLayout;
    cards_->setSpacing(12);
    column->addLayout(cards_);
    reading_ = new FigureRow(
        { tr("Samples read"), tr("Blocks from the cache"), tr("Samples, all epochs"), tr("Uses of each sample"),
            tr("Text read"), tr("Padding"), tr("Feeder busy"), tr("Repeated text"), tr("Unknown characters") });
    column->addWidget(reading_);
    column->addWidget(buildSample());
    connect(&bench_.watcher(), &RunWatcher::statusRead, this, &OverviewPage::takeShown);
    connect(&bench_.watcher(), &RunWatcher::problemChanged, this, &OverviewPage::takeShown);
    connect(&bench_.replay(), &Replay::momentChanged, this, &OverviewPage::takeShown);
    connect(&bench_.cells(), &CellStore::reset, this, &OverviewPage::takeShown);
    connect(&bench_.watcher(), &RunWatcher::telemetryRead, this, &OverviewPage::takeTelemetry);
    connect(&bench_.watcher(), &RunWatcher::opened, this, &OverviewPage::clear);
    clear();
    takeShown();
    if (bench_.watcher().telemetry())
        takeTelemetry(bench_.watcher().telemetry());
}

// A glance at the whole curve; the charts page has its tools.
void OverviewPage::buildChart()
{
    loss_ = new SeriesChart(link_);
    loss_->setTitle(tr("Training loss"), lossUnit(Objective::NextToken));
    loss_->setEmptyText(tr("No steps recorded yet."));
    loss_->setMinimumHeight(kChartHeight);
    loss_->setFocusPolicy(Qt::NoFocus);
    loss_->setAttribute(Qt::WA_TransparentForMouseEvents); // the wheel scrolls the page
}

QWidget* OverviewPage::buildSample()
{
    sampleBox_ = new QWidget;
    auto* column = new QVBoxLayout(sampleBox_);
    column->setContentsMargins(0, 8, 0, 0);
    sampleTitle_ = makeLabel({}, TextTone::Value, TextSize::Body, true);
    column->addWidget(sampleTitle_);
    sample_ = new QTextBrowser;
    sample_->setFont(codeFont());
    sample_->setAccessibleName(tr("Newest text of the model"));
    sample_->setFixedHeight(kSampleHeight);
    column->addWidget(sample_);
    sampleBox_->hide();
    return sampleBox_;
}

bool OverviewPage::event(QEvent* event)
{
    if (event->type() == QEvent::ParentChange && parentWidget() != nullptr)
        parentWidget()->installEventFilter(this);
    if (event->type() == QEvent::LayoutRequest)
        fitChart(); // figures may have come or gone
    return QWidget::event(event);
}

bool OverviewPage::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == parentWidget() && event->type() == QEvent::Resize)
        fitChart();
    return QWidget::eventFilter(watched, event);
}

void OverviewPage::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    fitChart();
}

/// What is seen of the page before it is scrolled is the curve, the figures and the meters.
void OverviewPage::fitChart()
{
    if (parentWidget() == nullptr)
        return;
    const int others = meters_->geometry().bottom() + layout()->spacing() - loss_->height();
    loss_->setMinimumHeight(std::max(kChartHeight, parentWidget()->height() - others));
}

void OverviewPage::clear()
{
    head_->clear();
    open_->clear();
    leftOut_->hide();
    privacy_->hide();
    meters_->clear();
    sampleBox_->hide();
    figures_->clear();
    reading_->clear();
    alerts_->setAlerts({});
    loss_->setData({});
    for (const auto& [worker, card] : cardOf_)
        delete card;
    cardOf_.clear();
}

/// The present, or the moment that is replayed: all of the page is of the same time.
void OverviewPage::takeShown()
{
    const StatusPtr status = shownStatus(bench_);
    if (!status && !bench_.watcher().problem().empty())
        head_->setUnreadable();
    if (status)
        take(status);
}

void OverviewPage::take(const StatusPtr& status)
{
    loss_->setTitle(tr("Training loss"), lossUnit(status->file.config.objective));
    head_->setStatus(*status, bench_.claims().claims(), bench_.replay().moment(), activeStretches(bench_));
    meters_->setStatus(*status, shownUntrainedChunks(bench_, *status));
    const QStringList open = coreWords(status->keepsEpochOpen);
    const QString sentence
        = status->state == RunState::Finished ? tr("Left when the run ended: %1") : tr("The epoch stays open: %1");
    QStringList leftOut;
    for (const LeftOutPart& part : status->leftOut)
        leftOut.append(coreWords(part.what));
    leftOut_->setText(leftOut.join(QLatin1Char(' ')));
    leftOut_->setVisible(!status->leftOut.empty());
    privacy_->setText(status->privacy ? coreWords(inWords(*status->privacy)) : QString());
    privacy_->setVisible(status->privacy.has_value());
    open_->setText(open.isEmpty() ? QString() : sentence.arg(open.join(QStringLiteral(", "))));
    showFigures(*status);
    showReading(*status);
    std::vector<Alert> alerts = bench_.alerts().all();
    if (const auto moment = bench_.replay().moment())
        std::erase_if(alerts, [&moment](const Alert& alert) { return alert.wallNs > *moment; });
    alerts_->setAlerts(alerts);
    showWorkers(*status);
    auto lost = shownLost(bench_, *status);
    const auto evaluated = status->evaluation ? std::optional(status->evaluation->loss) : std::nullopt;
    if (lost == lost_ && evaluated == evaluated_)
        return;
    lost_ = std::move(lost);
    evaluated_ = evaluated;
    if (bench_.watcher().telemetry())
        showLosses();
}

void OverviewPage::showFigures(const RunStatus& status)
{
    const auto loss = [](double value) { return std::isfinite(value) ? fixedText(value, 3) : QStringLiteral("–"); };
    const QString mean = tr(
        "Mean of %n worker(s), of the loss of their newest step, weighted by the tokens trained; the curves are smoothed",
        nullptr, status.lossWorkers);
    const int gone = workersOfLostLoss(status.workers);
    figures_->setValue(0, lossText(status.loss, status.lossIsGone),
        status.lossIsGone ? lossIsGoneText()
            : gone > 0    ? mean + QLatin1Char(' ')
                + tr("The newest steps of %n of them are lost and are trained again", nullptr, gone)
                       : mean);
    const auto& evaluation = status.evaluation;
    figures_->setValue(1, evaluation ? loss(evaluation->loss) : QStringLiteral("–"),
        evaluation ? coreWords(ofWhat(*evaluation)) : tr("No weights have been evaluated on held-out text yet"));
    const QString step = evaluation ? countText(evaluation->step) : QString();
    figures_->setName(1,
        !evaluation                  ? tr("Eval loss")
            : evaluation->superseded ? tr("Eval loss, not the newest, step %1").arg(step)
            : evaluation->merged     ? tr("Eval loss, merged, step %1").arg(step)
                                     : tr("Eval loss, worker %1, step %2").arg(evaluation->replica).arg(step));
    const QString pace = keptPaceText(meanTokensPerSecond(status));
    if (isAnyAlive(status))
        figures_->setValue(2, fixedText(status.tokensPerSecond, 0),
            tr("Now, all workers together. Kept tokens per second of active time: %1").arg(pace));
    else
        figures_->setValue(
            2, QStringLiteral("–"), tr("No worker trains now. Kept tokens per second of active time: %1").arg(pace));
    figures_->setValue(3, countText(status.steps),
        tr("%1 A worker counts its own steps, including those whose work was lost").arg(trainedSoFarHelp()));
    figures_->setValue(4, countText(status.tokens), trainedSoFarHelp());
    figures_->setValue(5, durationText(status.activeSeconds), activeTimeHelp());
    const double age
        = static_cast<double>(bench_.replay().moment().value_or(nowOfRun(status)) - status.newestCheckpointWallNs)
        * 1e-9;
    figures_->setValue(
        6, status.newestCheckpointWallNs == 0 ? tr("none yet") : tr("%1 ago").arg(durationText(std::max(1.0, age))));
}

void OverviewPage::showReading(const RunStatus& status)
{
    if (!status.reading) {
        reading_->clear();
        return;
    }
    const Reading& reading = *status.reading;
    std::int64_t trained = 0;
    std::int64_t each = 0; // samples of one epoch, as far as its blocks are prepared
    for (const EpochRow& epoch : status.epochs) {
        trained += epoch.samplesTrained();
        each = std::max(each, epoch.rowsKnown.samples);
    }
    const auto share = [](auto part, auto whole) {
        return whole > 0 ? percentText(static_cast<double>(part) / static_cast<double>(whole)) : QStringLiteral("–");
    };
    const bool allCached = reading.samplesFetched == 0 && reading.blocksFromCache > 0;
    reading_->setValue(0, allCached ? tr("none, all cached") : countText(reading.samplesFetched),
        tr("From the sources, to make blocks; a block that lies prepared in the cache of the workspace is not read again"));
    reading_->setValue(1,
        tr("%1 of %2")
            .arg(countText(reading.blocksFromCache), countText(reading.blocksFromCache + reading.blocksPrepared)),
        tr("%1 blocks prepared, %2 found in the cache")
            .arg(countText(reading.blocksPrepared), countText(reading.blocksFromCache)));
    reading_->setValue(2, countText(trained),
        tr("Of all epochs: a sample counts once for each epoch it was trained in, in a chunk that is committed or was left out after a part of it was. Samples that were left out because their steps were not finite are not among them"));
    const double uses = static_cast<double>(trained) / static_cast<double>(std::max<std::int64_t>(1, each));
    reading_->setValue(3, each > 0 ? tr("%1 times").arg(fixedText(uses, 2)) : QStringLiteral("–"),
        tr("Samples trained, over all epochs, per sample to be trained; what is held out or left out is not counted"));
    const QString downloaded = reading.downloadedBytes > 0
        ? tr("; downloaded %1 in %n request(s)", nullptr, static_cast<int>(reading.downloadRequests))
              .arg(bytesText(reading.downloadedBytes))
        : QString();
    reading_->setValue(4, bytesText(reading.textBytes),
        tr("At %1 MB/s while a block is made").arg(fixedText(reading.megabytesPerSecond, 1)) + downloaded);
    reading_->setValue(5, share(reading.slots - reading.labels, reading.slots),
        tr("Places in training windows that hold no token to learn from"));
    reading_->setValue(6, percentText(reading.busyShare),
        tr("Share of time that the feeder spends making blocks; near 100 % the workers may wait for data"));
    const QString repeats = repeatsText(status);
    reading_->setName(7, repeats.isEmpty() ? tr("Repeated text") : tr("Repeats trained")); // others were left out
    reading_->setValue(7, percentText(reading.repeatedShare),
        QStringLiteral("%1 %2")
            .arg(repeats,
                tr("Share of the text prepared in this attempt that repeats text before it, anywhere in the data, and is trained all the same"))
            .trimmed());
    reading_->setValue(
        8, percentText(reading.unknownShare), tr("Tokens that stand for characters the vocabulary does not have"));
}

void OverviewPage::showWorkers(const RunStatus& status)
{
    for (const auto& [worker, card] : cardOf_) // one that joined later, or trained in another attempt
        card->setVisible(std::any_of(status.workers.begin(), status.workers.end(),
            [number = worker](const WorkerStatus& one) { return one.worker == number; }));
    for (const WorkerStatus& worker : status.workers) {
        WorkerCard*& card = cardOf_[worker.worker];
        if (card == nullptr) {
            card = new WorkerCard(worker.worker);
            placeCards();
            const auto place
                = cardOf_.find(worker.worker); // made later than the docks, reached before them all the same
            setTabOrder(
                place == cardOf_.begin() ? static_cast<QWidget*>(head_->whyButton()) : std::prev(place)->second, card);
            connect(card, &WorkerCard::chosen, this, [this](int chosen) {
                bench_.selection().clear();
                bench_.selection().setWorker(chosen);
            });
            connect(card, &WorkerCard::opened, this, &OverviewPage::workerOpened);
            if (bench_.watcher().telemetry())
                showLosses(*card, worker.worker);
        }
        card->setStatus(worker,
            status.state == RunState::Finished || status.state == RunState::Paused || status.state == RunState::Stopped
                || status.state == RunState::Stopping);
    }
}

/// By number, whichever worker was seen first.
void OverviewPage::placeCards()
{
    int at = 0;
    for (const auto& [worker, card] : cardOf_) {
        cards_->addWidget(card, at / kCardColumns, at % kCardColumns);
        ++at;
    }
}

void OverviewPage::showLosses()
{
    ChartData curves = chartDataOf(*bench_.watcher().telemetry(), Metric::Loss, XAxis::Tokens);
    curves.evalNow = shownEvaluation(shownStatus(bench_));
    if (lost_)
        dashLost(curves, *bench_.watcher().telemetry(), Metric::Loss, *lost_);
    loss_->setData(std::move(curves));
    for (const auto& [worker, card] : cardOf_)
        showLosses(*card, worker);
}

void OverviewPage::showLosses(WorkerCard& card, int worker)
{
    const auto losses = newestLosses(
        *bench_.watcher().telemetry(), worker, lost_.value_or(std::vector<LostTraining> {}), kStripPoints);
    card.setLosses({ losses.begin(), losses.end() });
}

void OverviewPage::takeTelemetry(const SnapshotPtr& snapshot)
{
    showLosses();
    const bool any = snapshot->samples && !snapshot->samples->empty();
    sampleBox_->setVisible(any);
    if (!any)
        return;
    const SamplePoint& newest = snapshot->samples->back();
    sampleTitle_->setText(tr("What the model writes after %1 steps").arg(countText(newest.record.step)));
    const QString text = QString::fromStdString(newest.record.prompt + newest.record.text);
    if (sample_->toPlainText() != text)
        sample_->setPlainText(text);
}

} // namespace furrow
