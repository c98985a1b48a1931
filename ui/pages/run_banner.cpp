#include "ui/pages/run_banner.h"

#include "ui/models/core_words.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/widgets/banner.h"

#include <QCoreApplication>
#include <QPushButton>
#include <QVBoxLayout>

namespace furrow {

namespace {

/// What is known about the end, in one sentence: of the run, else of the worker that took it down.
QString causeSentence(const RunStatus& status)
{
    if (!status.stopDetail.empty())
        return coreWords(status.stopDetail);
    for (const WorkerStatus& worker : status.workers) {
        if (!worker.alive && !worker.endCause.empty())
            return QCoreApplication::translate("RunBanner", "%1: %2")
                .arg(workerName(worker.worker), coreWords(worker.endCause));
    }
    return {};
}

/// What a resume can begin from.
/// @param tables  null: not read yet
QString keptSentence(const RunStatus& status, const TablesPtr& tables)
{
    const auto shown = shownEpochs(status);
    if (status.newestCheckpointWallNs == 0 && tables && !tables->checkpoints.empty())
        return QCoreApplication::translate(
            "RunBanner", "No whole checkpoint is left: a resume starts from the beginning.");
    if (!shown || status.newestCheckpointWallNs == 0)
        return QCoreApplication::translate(
            "RunBanner", "No checkpoint has been written yet: a resume starts from the beginning.");
    const ChunkCounts& chunks = shown->together.chunks;
    return QCoreApplication::translate("RunBanner", "Checkpoints hold %1 of %2 chunks of %3; the newest is from %4.")
        .arg(countText(chunks[ChunkState::Committed]), countText(chunks.sum() - chunks[ChunkState::Excluded]),
            epochsName(*shown).toLower(), wallTimeText(status.newestCheckpointWallNs));
}

} // namespace

RunBanner::RunBanner(Workbench& bench, QWidget* parent)
    : QWidget(parent)
    , bench_(bench)
    , banner_(new Banner(BannerKind::Interrupted, this))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(banner_);
    QPushButton* why = banner_->addLink(tr("How do we know?"));
    QPushButton* resume = banner_->addButton(tr("Resume…"), true);
    QPushButton* inspect = banner_->addButton(tr("Inspect"));
    QPushButton* finished = banner_->addButton(tr("Mark finished"));
    finished->setToolTip(tr("Accept the run as it is. It can still be resumed later."));
    cancel_ = banner_->addButton(tr("Cancel automatic resume"));
    buttons_ = { why, resume, inspect, finished, cancel_ };
    connect(finished, &QPushButton::clicked, this, &RunBanner::markFinishedWanted);
    connect(cancel_, &QPushButton::clicked, this, [this] { bench_.autoResume().cancel(bench_.watcher().folder()); });
    connect(&bench_.autoResume(), &AutoResume::changed, this, &RunBanner::showPlan);
    connect(why, &QPushButton::clicked, this, &RunBanner::whyWanted);
    connect(resume, &QPushButton::clicked, this, &RunBanner::resumeWanted);
    connect(inspect, &QPushButton::clicked, this, &RunBanner::inspectWanted);
    connect(&bench_.watcher(), &RunWatcher::statusRead, this, &RunBanner::take);
    connect(&bench_.watcher(), &RunWatcher::opened, this, &QWidget::hide);
    connect(&bench_.watcher(), &RunWatcher::problemChanged, this, &RunBanner::takeProblem);
    hide();
    if (bench_.watcher().status())
        take(bench_.watcher().status());
    if (!bench_.watcher().problem().empty())
        takeProblem();
}

void RunBanner::takeProblem()
{
    const RunWatcher& watcher = bench_.watcher();
    if (watcher.problem().empty()) {
        watcher.status() ? take(watcher.status()) : hide();
        return;
    }
    sentence_.clear();
    banner_->setKind(BannerKind::Error);
    const QString why = coreWords(watcher.problem());
    if (!watcher.status())
        banner_->setMessage(tr("This run cannot be read"), why);
    else
        banner_->setMessage(tr("This run cannot be read any more"),
            tr("%1 What is shown is from %2, when it was last read. It continues by itself when the folder is back.")
                .arg(why, wallTimeText(watcher.lastReadNs())));
    for (QPushButton* button : buttons_)
        button->hide();
    show();
}

void RunBanner::take(const StatusPtr& status)
{
    if (!bench_.watcher().problem().empty())
        return;
    const bool interrupted = status->state == RunState::Interrupted;
    const bool failed = status->state == RunState::Failed;
    const bool away = !status->checkpointsAway.empty();
    const bool waits = status->dataWait && !status->dataWait->trainsOn;
    const Message ends = isAboutToEnd(*status);
    setVisible(interrupted || failed || away || waits || !ends.empty());
    if (!interrupted && !failed) {
        sentence_.clear();
        if (away)
            say(BannerKind::Error, tr("The checkpoints cannot be found"), status->checkpointsAway);
        else if (waits)
            say(BannerKind::Warn, tr("The run waits for its data"), status->dataWait->sentence);
        else if (!ends.empty())
            say(BannerKind::Info, tr("The run is about to stop"), ends);
        return;
    }
    banner_->setKind(interrupted ? BannerKind::Interrupted : BannerKind::Error);
    const QString cause = causeSentence(*status);
    const QString word = status->endedWallNs == 0
        ? stateWord(status->state)
        : tr("%1 at %2").arg(stateWord(status->state), wallTimeText(status->endedWallNs));
    sentence_ = cause.isEmpty() ? word : tr("%1: %2").arg(word, cause);
    kept_ = away ? coreWords(status->checkpointsAway) : keptSentence(*status, bench_.watcher().tables());
    for (QPushButton* button : buttons_)
        button->show();
    showPlan();
}

/// Of a run that is alive: there is nothing to press.
void RunBanner::say(BannerKind kind, const QString& title, const Message& what)
{
    banner_->setKind(kind);
    banner_->setMessage(title, coreWords(what));
    for (QPushButton* button : buttons_)
        button->hide();
}

void RunBanner::showPlan()
{
    if (!isVisibleTo(parentWidget()) || sentence_.isEmpty())
        return;
    const auto plan = bench_.autoResume().planOf(bench_.watcher().folder());
    cancel_->setVisible(plan.has_value());
    if (!plan)
        banner_->setMessage(sentence_, kept_);
    else
        banner_->setMessage(sentence_,
            tr("%1 Resumes by itself in %2 (%3 of %4).")
                .arg(kept_, durationText(plan->seconds))
                .arg(plan->number)
                .arg(AutoResume::kLimit));
}

} // namespace furrow
