#include "ui/pages/overview_page.h"

#include "core/base/clock.h"
#include "ui/charts/series_chart.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/pages/alert_list.h"
#include "ui/pages/epoch_meters.h"
#include "ui/pages/figure_row.h"
#include "ui/pages/page_parts.h"
#include "ui/pages/worker_card.h"
#include "ui/widgets/state_glyph.h"

#include <QDateTime>
#include <QGridLayout>
#include <QPushButton>
#include <QScrollArea>
#include <QTextBrowser>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

namespace furrow {

namespace {

constexpr int kCardColumns = 3;
constexpr int kChartHeight = 180;
constexpr int kSampleHeight = 150;
constexpr std::size_t kPaceClaims = 40; // finished chunks that an estimate looks back at
constexpr std::size_t kLeastPaceClaims = 8;
constexpr int kStripPoints = 120;

/// Seconds between two finished chunks, of the newest ones; and of their slower and faster half.
struct Pace {
    double seconds = 0;
    double fast = 0;
    double slow = 0;
};

std::optional<Pace> chunkPace(const std::vector<ClaimRow>& claims)
{
    std::vector<std::int64_t> ends;
    for (auto claim = claims.rbegin(); claim != claims.rend() && ends.size() < kPaceClaims; ++claim) {
        if (claim->attempt != claims.back().attempt)
            break; // the time between two attempts says nothing about the pace
        if (claim->endedWallNs != 0 && (claim->outcome == "trained" || claim->outcome == "committed"))
            ends.push_back(claim->endedWallNs);
    }
    if (ends.size() < kLeastPaceClaims)
        return std::nullopt;
    std::sort(ends.begin(), ends.end());
    const std::size_t half = ends.size() / 2;
    const auto mean = [&ends](std::size_t begin, std::size_t end) { return static_cast<double>(ends[end] - ends[begin]) * 1e-9 / static_cast<double>(end - begin); };
    const double first = mean(0, half);
    const double second = mean(half, ends.size() - 1);
    return Pace { mean(0, ends.size() - 1), std::min(first, second), std::max(first, second) };
}

QVector<double> newestLosses(const TelemetrySnapshot& snapshot, int worker)
{
    QVector<double> losses;
    for (const Stretch& stretch : snapshot.stretches) {
        if (stretch.worker != worker || stretch.rank > 0)
            continue;
        const std::size_t perPoint = std::max<std::size_t>(1, stretch.size() / kStripPoints);
        for (std::size_t begin = 0; begin + perPoint <= stretch.size(); begin += perPoint)
            losses.append(stretch.loss.pyramid.range(stretch.loss.values, begin, begin + perPoint).mean());
    }
    return losses.size() > kStripPoints ? losses.mid(losses.size() - kStripPoints) : losses;
}

QString clockText(double secondsFromNow)
{
    const QDateTime when = QDateTime::currentDateTime().addSecs(static_cast<qint64>(secondsFromNow));
    return wallTimeText(when.toMSecsSinceEpoch() * 1'000'000).left(16);
}

} // namespace

OverviewPage::OverviewPage(Workbench& bench, QWidget* parent)
    : QWidget(parent)
    , bench_(bench)
{
    auto* inside = new QWidget;
    auto* column = new QVBoxLayout(inside);
    column->setContentsMargins(14, 12, 14, 12);
    column->setSpacing(8);
    column->addWidget(buildHead());
    meters_ = new EpochMeters(inside);
    column->addWidget(meters_);
    open_ = makeLabel({}, TextTone::Secondary, TextSize::Small);
    open_->setWordWrap(true);
    column->addWidget(open_);
    column->addWidget(makeLine());
    figures_ = new FigureRow({ tr("Loss"), tr("Eval loss"), tr("Tokens per second"), tr("Optimiser steps"), tr("Tokens"), tr("Active time"), tr("Newest checkpoint") });
    column->addWidget(figures_);
    column->addWidget(makeLine());
    alerts_ = new AlertList;
    column->addWidget(alerts_);
    cards_ = new QGridLayout;
    cards_->setSpacing(12);
    column->addLayout(cards_);
    reading_ = new FigureRow({ tr("Samples read"), tr("Blocks from the cache"), tr("Samples in weights"), tr("Of what was read"), tr("Text read"), tr("Padding"), tr("Feeder busy"), tr("Repeated text") });
    column->addWidget(reading_);
    buildChart();
    column->addWidget(loss_, 1);
    column->addWidget(buildSample());
    auto* scroll = new QScrollArea(this);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setWidget(inside);
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->addWidget(scroll);
    connect(&bench_.watcher(), &RunWatcher::statusRead, this, &OverviewPage::take);
    connect(&bench_.watcher(), &RunWatcher::telemetryRead, this, &OverviewPage::takeTelemetry);
    connect(&bench_.watcher(), &RunWatcher::opened, this, &OverviewPage::clear);
    clear();
    if (bench_.watcher().status())
        take(bench_.watcher().status());
    if (bench_.watcher().telemetry())
        takeTelemetry(bench_.watcher().telemetry());
}

QWidget* OverviewPage::buildHead()
{
    auto* head = new QWidget;
    auto* row = new QHBoxLayout(head);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(8);
    mark_ = new StateGlyph(head, 18);
    row->addWidget(mark_);
    title_ = makeLabel({}, TextTone::Value, TextSize::Title, true);
    row->addWidget(title_);
    truth_ = new ElidedLabel(TextTone::Secondary, TextSize::Small);
    truth_->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred); // the link stands behind its last word
    row->addWidget(truth_);
    why_ = makeButton(tr("Why?"));
    why_->setFlat(true);
    why_->setProperty("link", true);
    connect(why_, &QPushButton::clicked, this, &OverviewPage::whyWanted);
    row->addWidget(why_);
    row->addStretch();
    ends_ = makeLabel({}, TextTone::Secondary, TextSize::Small);
    row->addWidget(ends_);
    return head;
}

// A glance at the whole curve; the charts page has its tools.
void OverviewPage::buildChart()
{
    loss_ = new SeriesChart(link_);
    loss_->setTitle(tr("Training loss"), tr("nats per token"));
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

void OverviewPage::clear()
{
    title_->setText(tr("Reading the run…"));
    truth_->clear();
    ends_->clear();
    open_->clear();
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

void OverviewPage::take(const StatusPtr& status)
{
    showHead(*status);
    meters_->setStatus(*status);
    QStringList open;
    for (const std::string& sentence : status->keepsEpochOpen)
        open.append(QString::fromStdString(sentence));
    open_->setText(open.isEmpty() ? QString() : tr("The epoch stays open: %1").arg(open.join(QStringLiteral(", "))));
    showFigures(*status);
    showReading(*status);
    alerts_->setAlerts(bench_.alerts().all());
    showWorkers(*status);
}

void OverviewPage::showHead(const RunStatus& status)
{
    mark_->setGlyph(glyphOf(status.state));
    const QString epoch = status.epochs.empty() ? QString() : tr("Epoch %1").arg(status.epochs.back().epoch + 1);
    title_->setText(epoch.isEmpty() ? stateWord(status) : tr("%1, %2").arg(epoch, stateWord(status).toLower()));
    const QString evidence = evidenceText(status, QStringLiteral(" "));
    const QString reason = status.state == RunState::Interrupted ? QString() : stopReasonSentence(status.stopReason); // the state says that already
    truth_->setText(reason.isEmpty() ? evidence : tr("Ended because %1. %2").arg(reason, evidence));
    truth_->setToolTip(evidenceText(status, QStringLiteral("\n")));
    ends_->setText(endEstimate(status));
}

QString OverviewPage::endEstimate(const RunStatus& status) const
{
    if (status.state != RunState::Running || status.epochs.empty() || !status.epochs.back().blockCount)
        return {};
    const ChunkCounts& chunks = status.epochs.back().chunks;
    const std::int64_t left = chunks[ChunkState::Pending] + chunks[ChunkState::Free] + chunks[ChunkState::Leased];
    const std::optional<Pace> pace = chunkPace(bench_.claims().claims());
    if (!pace || left == 0)
        return {};
    const auto n = static_cast<double>(left);
    return tr("Epoch ends about %1, likely %2 to %3").arg(clockText(n * pace->seconds), clockText(n * pace->fast), clockText(n * pace->slow));
}

void OverviewPage::showFigures(const RunStatus& status)
{
    const auto loss = [](double value) { return std::isfinite(value) ? fixedText(value, 3) : QStringLiteral("–"); };
    figures_->setValue(0, loss(status.loss));
    figures_->setValue(1, status.evalLoss ? loss(*status.evalLoss) : QStringLiteral("–"));
    figures_->setValue(2, fixedText(status.tokensPerSecond, 0));
    figures_->setValue(3, countText(status.steps));
    figures_->setValue(4, countText(status.tokens));
    figures_->setValue(5, durationText(status.activeSeconds));
    const double age = static_cast<double>(systemClock().wallNs() - status.newestCheckpointWallNs) * 1e-9;
    figures_->setValue(6, status.newestCheckpointWallNs == 0 ? tr("none yet") : tr("%1 ago").arg(durationText(std::max(1.0, age))));
}

void OverviewPage::showReading(const RunStatus& status)
{
    if (!status.reading)
        return;
    const Reading& reading = *status.reading;
    std::int64_t trained = 0;
    for (const EpochRow& epoch : status.epochs)
        trained += epoch.rowsCommitted.samples;
    const auto share = [](auto part, auto whole) { return whole > 0 ? percentText(static_cast<double>(part) / static_cast<double>(whole)) : QStringLiteral("–"); };
    const bool allCached = reading.samplesFetched == 0 && reading.blocksFromCache > 0;
    reading_->setValue(0, allCached ? tr("none, all cached") : countText(reading.samplesFetched), tr("From the sources, to make blocks; a block that lies prepared in the cache of the workspace is not read again"));
    reading_->setValue(1, tr("%1 of %2").arg(countText(reading.blocksFromCache), countText(reading.blocksFromCache + reading.blocksPrepared)), tr("%1 blocks prepared, %2 found in the cache").arg(countText(reading.blocksPrepared), countText(reading.blocksFromCache)));
    reading_->setValue(2, countText(trained), tr("Of all epochs: a sample counts once for each epoch it was trained in"));
    reading_->setValue(3, share(trained, reading.samplesFetched), tr("Samples in weights for each sample read; above 100 % when prepared blocks are trained in several epochs"));
    const QString downloaded = reading.downloadedBytes > 0 ? tr("; downloaded %1 in %n request(s)", nullptr, static_cast<int>(reading.downloadRequests)).arg(bytesText(reading.downloadedBytes)) : QString();
    reading_->setValue(4, bytesText(reading.textBytes), tr("At %1 MB/s while a block is made").arg(fixedText(reading.megabytesPerSecond, 1)) + downloaded);
    reading_->setValue(5, share(reading.slots - reading.labels, reading.slots), tr("Places in training windows that hold no token to learn from"));
    reading_->setValue(6, percentText(reading.busyShare), tr("Share of its time that the feeder makes blocks; near 100 % the workers may wait for data"));
    reading_->setValue(7, percentText(reading.repeatedShare), tr("Samples whose text was there before in their block"));
}

void OverviewPage::showWorkers(const RunStatus& status)
{
    for (const WorkerStatus& worker : status.workers) {
        WorkerCard*& card = cardOf_[worker.worker];
        if (card == nullptr) {
            card = new WorkerCard(worker.worker);
            const int at = static_cast<int>(cardOf_.size()) - 1;
            cards_->addWidget(card, at / kCardColumns, at % kCardColumns);
            const auto place = cardOf_.find(worker.worker); // made later than the docks, reached before them all the same
            setTabOrder(place == cardOf_.begin() ? static_cast<QWidget*>(why_) : std::prev(place)->second, card);
            connect(card, &WorkerCard::chosen, this, [this](int chosen) {
                bench_.selection().clear();
                bench_.selection().setWorker(chosen);
            });
            connect(card, &WorkerCard::opened, this, &OverviewPage::workerOpened);
            if (bench_.watcher().telemetry())
                card->setLosses(newestLosses(*bench_.watcher().telemetry(), worker.worker));
        }
        card->setStatus(worker, status.state == RunState::Finished || status.state == RunState::Paused || status.state == RunState::Stopped);
    }
}

void OverviewPage::takeTelemetry(const SnapshotPtr& snapshot)
{
    for (const auto& [worker, card] : cardOf_)
        card->setLosses(newestLosses(*snapshot, worker));
    loss_->setData(chartDataOf(*snapshot, Metric::Loss, XAxis::Tokens));
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
