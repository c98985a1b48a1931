// What the status line says: of verbs, what was refused and what alerts warn of, until it is read or is no longer so.

#include "core/base/clock.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/parts/page_parts.h"
#include "ui/shell/main_window.h"

#include <QLabel>
#include <QPushButton>
#include <QStatusBar>
#include <utility>

namespace furrow {

namespace {

constexpr auto kFollowsNs = static_cast<std::int64_t>(2e9);
constexpr auto kReadNs = static_cast<std::int64_t>(6e9);

} // namespace

void MainWindow::tell(const QString& sentence, bool bad)
{
    isRefusal_ = bad && !sentence.isEmpty();
    refusedOn_.reset();
    const bool covered = !sentence.isEmpty();
    saySentence(noteText_, covered ? sentence : warning_, covered ? bad : !warning_.isEmpty());
    noteText_->setToolTip(noteText_->text());
}

MainWindow::Standing MainWindow::standing() const
{
    const StatusPtr& status = bench_.watcher().status();
    Standing now { .queue = *bench_.scanner().queue() };
    if (status)
        now = { status->state, status->attempt, status->supervised, std::move(now.queue) };
    return now;
}

void MainWindow::refuse(const QString& sentence)
{
    statusBar()->clearMessage(); // the tip of the button that was pressed, which reads as if that were done
    tell(sentence, true);
    refusedOn_ = standing();
    refusedNs_ = systemClock().monotonicNs();
    bench_.watcher().refresh();
    bench_.scanner().refresh();
}

bool MainWindow::isRefusalFresh() const
{
    return isRefusal_ && refusedOn_ && systemClock().monotonicNs() - refusedNs_ < kReadNs;
}

void MainWindow::dropRefusal()
{
    if (isRefusal_)
        tell({});
}

/// What refused had looked at the disk, which may be ahead of what is shown: that is given the time to follow.
void MainWindow::reviewRefusal()
{
    if (!refusedOn_ || *refusedOn_ == standing())
        return;
    if (systemClock().monotonicNs() - refusedNs_ < kFollowsNs)
        refusedOn_ = standing();
    else
        dropRefusal();
}

void MainWindow::warn(const Alert& alert)
{
    if (!warning_.isEmpty() && alert.wallNs < warnedNs_) // it was found later and is of before
        return;
    warnedNs_ = alert.wallNs;
    warning_ = tr("%1: %2").arg(wallClockText(alert.wallNs), alert.text); // it stays, and may be of the past by then
    warnedOf_ = alert.kind;
    noteRead_->show();
    tell({});
}

void MainWindow::dropWarning()
{
    warning_.clear();
    noteRead_->hide();
    tell({});
}

/// That a run had ended is no news once a later attempt goes on, whoever began it: there is nothing to resume.
void MainWindow::reviewWarning()
{
    const StatusPtr& status = bench_.watcher().status();
    const TablesPtr& tables = bench_.watcher().tables();
    const bool isOfAnEnd = warnedOf_ == AlertKind::Interrupted || warnedOf_ == AlertKind::Failed;
    if (warning_.isEmpty() || !isOfAnEnd || !status || !isUnderWay(status->state) || !tables)
        return;
    if (!tables->attempts.empty() && tables->attempts.back().startedWallNs > warnedNs_)
        dropWarning();
}

} // namespace furrow
