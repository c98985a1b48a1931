#include "ui/pages/overview_page.h"

#include "core/base/clock.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/pages/epoch_meters.h"
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
constexpr int kWideFigures = 125; // characters; below it the figures stand in two rows
constexpr int kNarrowColumns = 4;
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
        if (stretch.worker != worker)
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
    column->addWidget(buildFigures());
    column->addWidget(makeLine());
    cards_ = new QGridLayout;
    cards_->setSpacing(12);
    column->addLayout(cards_);
    column->addWidget(buildSample());
    column->addStretch();
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
    row->addWidget(truth_, 1);
    auto* why = makeButton(tr("Why?"));
    why->setFlat(true);
    why->setProperty("link", true);
    connect(why, &QPushButton::clicked, this, &OverviewPage::whyWanted);
    row->addWidget(why);
    ends_ = makeLabel({}, TextTone::Secondary, TextSize::Small);
    row->addWidget(ends_);
    return head;
}

QWidget* OverviewPage::buildFigures()
{
    auto* box = new QWidget;
    auto* grid = new QGridLayout(box);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(20);
    grid->setVerticalSpacing(0);
    figureGrid_ = grid;
    const QStringList names { tr("Loss"), tr("Eval loss"), tr("Tokens per second"), tr("Optimiser steps"), tr("Tokens"), tr("Active time"), tr("Newest checkpoint") };
    for (int i = 0; i < names.size(); ++i) {
        figureNames_.push_back(makeLabel(names[i], TextTone::Hint, TextSize::Small));
        QLabel* value = makeLabel(QStringLiteral("–"), TextTone::Value, TextSize::Title, true);
        value->setMinimumWidth(84);
        figures_.push_back(value);
    }
    layOutFigures(static_cast<int>(names.size()));
    return box;
}

void OverviewPage::layOutFigures(int columns)
{
    if (columns == figureColumns_)
        return;
    if (figureColumns_ > 0)
        figureGrid_->setColumnStretch(figureColumns_, 0);
    figureColumns_ = columns;
    for (int i = 0; i < static_cast<int>(figures_.size()); ++i) {
        figureGrid_->addWidget(figureNames_[static_cast<std::size_t>(i)], i / columns * 2, i % columns);
        figureGrid_->addWidget(figures_[static_cast<std::size_t>(i)], i / columns * 2 + 1, i % columns);
    }
    figureGrid_->setColumnStretch(columns, 1);
}

void OverviewPage::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    layOutFigures(width() < kWideFigures * fontMetrics().averageCharWidth() ? kNarrowColumns : static_cast<int>(figures_.size()));
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
    sample_->setMinimumHeight(150);
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
    for (QLabel* figure : figures_)
        figure->setText(QStringLiteral("–"));
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
    showWorkers(*status);
}

void OverviewPage::showHead(const RunStatus& status)
{
    mark_->setGlyph(glyphOf(status.state));
    const QString epoch = status.epochs.empty() ? QString() : tr("Epoch %1").arg(status.epochs.back().epoch + 1);
    title_->setText(epoch.isEmpty() ? stateWord(status.state) : tr("%1, %2").arg(epoch, stateWord(status.state).toLower()));
    QStringList evidence;
    for (const Evidence& line : status.evidence)
        evidence.append(QString::fromStdString(line.text));
    const QString reason = stopReasonSentence(status.stopReason);
    truth_->setText(reason.isEmpty() ? evidence.join(QLatin1Char(' ')) : tr("Ended because %1. %2").arg(reason, evidence.join(QLatin1Char(' '))));
    truth_->setToolTip(evidence.join(QLatin1Char('\n')));
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
    figures_[0]->setText(loss(status.loss));
    figures_[1]->setText(status.evalLoss ? loss(*status.evalLoss) : QStringLiteral("–"));
    figures_[2]->setText(fixedText(status.tokensPerSecond, 0));
    figures_[3]->setText(countText(status.steps));
    figures_[4]->setText(countText(status.tokens));
    figures_[5]->setText(durationText(status.activeSeconds));
    const double age = static_cast<double>(systemClock().wallNs() - status.newestCheckpointWallNs) * 1e-9;
    figures_[6]->setText(status.newestCheckpointWallNs == 0 ? tr("none yet") : tr("%1 ago").arg(durationText(std::max(1.0, age))));
}

void OverviewPage::showWorkers(const RunStatus& status)
{
    for (const WorkerStatus& worker : status.workers) {
        WorkerCard*& card = cardOf_[worker.worker];
        if (card == nullptr) {
            card = new WorkerCard(worker.worker);
            const int at = static_cast<int>(cardOf_.size()) - 1;
            cards_->addWidget(card, at / kCardColumns, at % kCardColumns);
            connect(card, &WorkerCard::chosen, this, [this](int chosen) {
                bench_.selection().clear();
                bench_.selection().setWorker(chosen);
            });
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
