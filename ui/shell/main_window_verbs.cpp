// What a person has a run do, and its chunks: what is asked before, and what is said behind.

#include "core/base/denied.h"
#include "core/run/audit/tracker_damage.h"
#include "core/run/folder/left_out_chunks.h"
#include "ui/dialogs/resume_dialog.h"
#include "ui/models/core_words.h"
#include "ui/models/error_text.h"
#include "ui/models/shown_name.h"
#include "ui/models/shown_status.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/parts/page_parts.h"
#include "ui/shell/actions.h"
#include "ui/shell/audit_dock.h"
#include "ui/shell/dock_room.h"
#include "ui/shell/events_dock.h"
#include "ui/shell/main_window.h"
#include "ui/shell/run_view.h"
#include "ui/widgets/plain_text.h"

#include <QMessageBox>
#include <QPushButton>
#include <algorithm>

namespace furrow {

namespace {

/// What a kill at this moment costs.
QString killLoses(const RunStatus& status)
{
    std::int64_t atRisk = 0;
    for (const EpochRow& epoch : status.epochs)
        atRisk += epoch.chunks[ChunkState::Trained] + epoch.chunks[ChunkState::Leased];
    const int count = static_cast<int>(atRisk); // lupdate does not read past a cast
    return atRisk == 0
        ? MainWindow::tr("Every chunk that was begun is in a checkpoint.")
        : MainWindow::tr(
              "%n chunk(s) are not in a checkpoint now; a resume trains them again. Stop would save them first.",
              nullptr, count);
}

/// A question about chunks, and which they are: what is selected may be out of sight.
QString namely(const QString& question, const std::vector<ChunkId>& chunks)
{
    return question + QStringLiteral("\n\n") + chunkNames(chunks);
}

bool isPoisoned(ChunkState state) { return state == ChunkState::Poisoned; }

} // namespace

void MainWindow::connectRunActions()
{
    connect(actions_->pause, &QAction::triggered, this, [this] {
        const bool paused = bench_.watcher().status() && isPause(bench_.watcher().status()->state);
        if (paused)
            bench_.commands().continueRun(bench_.watcher().folder());
        else
            bench_.commands().pause(bench_.watcher().folder());
    });
    connect(actions_->stop, &QAction::triggered, this, [this] { bench_.commands().stop(bench_.watcher().folder()); });
    connect(actions_->kill, &QAction::triggered, this, &MainWindow::kill);
    connect(actions_->resume, &QAction::triggered, this, &MainWindow::resume);
    connect(
        actions_->saveNow, &QAction::triggered, this, [this] { bench_.commands().save(bench_.watcher().folder()); });
    connect(actions_->evaluateNow, &QAction::triggered, this,
        [this] { bench_.commands().evaluate(bench_.watcher().folder()); });
    connect(actions_->stopAfterBlock, &QAction::triggered, this,
        [this] { bench_.commands().stopAfter(bench_.watcher().folder(), EndOf::Block); });
    connect(actions_->stopAfterEpoch, &QAction::triggered, this,
        [this] { bench_.commands().stopAfter(bench_.watcher().folder(), EndOf::Epoch); });
    connect(actions_->why, &QAction::triggered, this, &MainWindow::showWhy);
    connect(actions_->audit, &QAction::triggered, this, [this] { audit(AuditDepth::Files); });
    connect(actions_->auditLedger, &QAction::triggered, this, [this] { audit(AuditDepth::Quick); });
    connect(actions_->merge, &QAction::triggered, this, &MainWindow::merge);
    connect(actions_->markFinished, &QAction::triggered, this,
        [this] { bench_.commands().markFinished(bench_.watcher().folder()); });
    connect(actions_->autoResume, &QAction::triggered, this,
        [this](bool wanted) { bench_.autoResume().setWanted(bench_.watcher().folder(), wanted); });
    connect(&bench_.autoResume(), &AutoResume::wantedChanged, this, &MainWindow::enableVerbs);
    connect(actions_->previousAttempt, &QAction::triggered, this, [this] { goToAttempt(-1); });
    connect(actions_->nextAttempt, &QAction::triggered, this, [this] { goToAttempt(1); });
    connect(actions_->nextAlert, &QAction::triggered, this, [this] { events_->goTo(1); });
    connect(actions_->previousAlert, &QAction::triggered, this, [this] { events_->goTo(-1); });
    connect(actions_->retryChunks, &QAction::triggered, this, &MainWindow::retryPoisoned);
    connect(actions_->acceptChunks, &QAction::triggered, this, &MainWindow::acceptPoisoned);
    connect(actions_->excludeChunks, &QAction::triggered, this, &MainWindow::leaveChunksOut);
}

void MainWindow::connectCommands()
{
    RunCommands& commands = bench_.commands();
    connect(&commands, &RunCommands::begun, this, [this](RunVerb verb) {
        busy_ = true;
        enableVerbs();
        switch (verb) {
        case RunVerb::Pause: tell(tr("Pausing at the end of the chunks in training…")); break;
        case RunVerb::Stop: tell(tr("Stopping after a checkpoint…")); break;
        case RunVerb::Kill: tell(tr("Killing…")); break;
        case RunVerb::Save: tell(tr("Saving a checkpoint…")); break;
        case RunVerb::Evaluate: tell(tr("Evaluating at the next step…")); break;
        case RunVerb::StopAfterBlock: tell(tr("The run stops when the next block is complete.")); break;
        case RunVerb::StopAfterEpoch: tell(tr("The run stops at the end of this epoch.")); break;
        case RunVerb::Plan: tell(tr("Looking at what a resume would do…")); break;
        case RunVerb::TakeForward: tell(tr("Taking the tracker forward…")); break;
        case RunVerb::Start:
        case RunVerb::Continue: tell(tr("Starting…")); break;
        case RunVerb::Create:
        case RunVerb::Make: tell(tr("Creating the run…")); break;
        case RunVerb::RetryChunks:
        case RunVerb::AcceptChunks:
        case RunVerb::ExcludeChunks:
        case RunVerb::MarkFinished:
        case RunVerb::Pin: dropRefusal(); break;
        }
    });
    connect(&commands, &RunCommands::done, this, [this](RunVerb verb, const QString& folder) {
        busy_ = false;
        tell(verb != RunVerb::RetryChunks ? QString()
                : retried_.isEmpty()      ? tr("The poisoned chunks are tried again.")
                                          : tr("Tried again: %1.").arg(retried_));
        enableVerbs();
        if (verb == RunVerb::Create) { // the run exists: watch it from its first moment
            bench_.showRun(folder);
            showPerspective(Perspective::Watch);
            runView_->showPage(RunView::Overview);
            busy_ = true; // its start is on its way
        }
        if (verb == RunVerb::TakeForward && folder == bench_.watcher().folder())
            resume(); // the next question is what a resume would do now
        if (verb == RunVerb::Make) {
            bench_.workspaceCommands().enqueue(folder);
            showPerspective(Perspective::Watch);
            actions_->queue->trigger();
        }
    });
    connect(&commands, &RunCommands::failed, this, [this](RunVerb, const QString&, const Error& error) {
        busy_ = false;
        enableVerbs();
        refuse(errorText(error));
        if (isForRights(error.message)) // who can help is said at the end of it, which the status line has no room for
            makeBox(this, tr("Not allowed"), tr("You do not have the right to do this"), coreWords(error.message))
                ->open();
    });
    connect(&commands, &RunCommands::planned, this, &MainWindow::offerResume);
}

/// In the dock that shows what it finds.
void MainWindow::audit(AuditDepth depth)
{
    room_->bring(*auditDock_);
    audit_->begin(depth);
}

void MainWindow::resume()
{
    const StatusPtr& status = bench_.watcher().status();
    if (status)
        bench_.commands().plan(bench_.watcher().folder());
}

void MainWindow::offerResume(const QString& folder, const PlanPtr& plan, const RunConfig& config)
{
    busy_ = false;
    tell({});
    enableVerbs();
    if (folder != bench_.watcher().folder() || !bench_.watcher().status())
        return;
    if (plan->refusal) {
        makeBox(this, tr("Resume %1").arg(shownName(bench_)), tr("This run cannot be resumed as it is"),
            coreWords(plan->refusal->message))
            ->open();
        return;
    }
    if (!plan->olderTracker.empty()) {
        offerTakingForward(folder, *plan);
        return;
    }
    auto* dialog = new ResumeDialog(folder, shownName(bench_), bench_.watcher().status()->attempt, plan, config, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setStatus(*bench_.watcher().status());
    dialog->setAutoResume(bench_.autoResume().isWanted(folder));
    connect(dialog, &QDialog::finished, this, [this, folder](int result) {
        if (result == ResumeDialog::kLookAgain)
            bench_.commands().plan(folder);
    });
    connect(dialog, &QDialog::accepted, this, [this, dialog, folder] {
        bench_.autoResume().setWanted(folder, dialog->isAutoResume());
        bench_.autoResume().cancel(folder); // a person does it now
        if (warnedOf_ == AlertKind::Interrupted || warnedOf_ == AlertKind::Failed) // and knows that it had ended
            dropWarning();
        bench_.commands().start(
            folder, dialog->wanted(), { dialog->goBackTo(), dialog->acceptsLoss(), dialog->rate() });
    });
    dialog->open();
}

/// An older copy of the tracker would train again what the checkpoints prove, so nothing is resumed before it knows
/// them.
void MainWindow::offerTakingForward(const QString& folder, const ResumePlan& plan)
{
    const StatusPtr status = bench_.watcher().status();
    const QString costs = status ? coreWords(costsOfRepair(status->file)) : QString();
    auto* box = makeBox(this, tr("Resume %1").arg(shownName(bench_)), tr("The tracker is older than the weights"),
        tr("%1 Take it forward from the manifests? The file as it is now is kept beside it.")
                .arg(coreWords(plan.olderTracker))
            + (costs.isEmpty() ? QString() : QStringLiteral("\n\n") + costs));
    QPushButton* forward = box->addButton(tr("Take the tracker forward"), QMessageBox::AcceptRole);
    box->addButton(tr("Cancel"), QMessageBox::RejectRole);
    box->setDefaultButton(forward);
    connect(forward, &QPushButton::clicked, this, [this, folder] { bench_.commands().takeForward(folder); });
    box->open();
}

void MainWindow::kill()
{
    const StatusPtr status = bench_.watcher().status();
    if (!status)
        return;
    auto* box = makeBox(
        this, tr("Kill %1").arg(shownName(bench_)), tr("End all processes of this run now?"), killLoses(*status));
    QPushButton* kill = box->addButton(tr("Kill now"), QMessageBox::DestructiveRole);
    QPushButton* stop = box->addButton(tr("Stop after a checkpoint"), QMessageBox::AcceptRole);
    box->addButton(tr("Keep training"), QMessageBox::RejectRole);
    box->setDefaultButton(stop);
    const QString folder = bench_.watcher().folder();
    connect(&bench_.watcher(), &RunWatcher::statusRead, box,
        [this, box, kill, stop, folder](const StatusPtr& now) { // the run goes on below the question
            if (bench_.watcher().folder() != folder)
                return;
            const bool alive = now->supervised;
            box->setInformativeText(alive ? killLoses(*now) : tr("The run has ended in the meantime."));
            kill->setEnabled(alive);
            stop->setEnabled(alive);
        });
    connect(box, &QMessageBox::buttonClicked, this, [this, box, kill, stop, folder](QAbstractButton* pressed) {
        if (pressed == kill)
            bench_.commands().kill(folder);
        else if (pressed == stop)
            bench_.commands().stop(folder);
        box->close();
    });
    box->open();
}

std::vector<ChunkId> MainWindow::selectedWhere(bool (*isMeant)(ChunkState)) const
{
    std::vector<ChunkId> chosen;
    for (const SelectedChunk& chunk : bench_.selection().selection().chunks) {
        const ChunkCell* cell = bench_.cells().find(chunk.id);
        if (cell != nullptr && isMeant(cell->state))
            chosen.push_back(chunk.id);
    }
    return chosen;
}

void MainWindow::leaveChunksOut()
{
    const QString folder = bench_.watcher().folder();
    const std::vector<ChunkId> chosen = selectedWhere(canBeLeftOut);
    const auto others = static_cast<int>(bench_.selection().selection().chunks.size() - chosen.size());
    const bool isOne = chosen.size() == 1;
    QString what = isOne
        ? tr("This chunk will be trained in no epoch that is open now nor in later ones of this run. It counts as "
             "excluded, and audit and reports name it. That cannot be taken back.")
        : tr("These chunks will be trained in no epoch that is open now nor in later ones of this run. They count as "
             "excluded, and audit and reports name them. That cannot be taken back.");
    const auto inPart = std::count_if(chosen.begin(), chosen.end(), [this](ChunkId chunk) {
        const ChunkCell* cell = bench_.cells().find(chunk);
        return cell != nullptr && cell->covered > 0;
    });
    if (inPart > 0)
        what += QLatin1Char(' ')
            + (isOne ? tr("It is in the weights in part; that part stays, the rest is not trained.")
                     : tr("%n of them are in the weights in part; that part stays, the rest is not trained.", nullptr,
                           static_cast<int>(inPart)));
    if (others > 0)
        what += QStringLiteral("\n\n")
            + tr("%n other selected chunk(s) stay, trained already or in training.", nullptr, others);
    auto* box = makeBox(this, tr("Leave chunks out of this run"),
        isOne ? tr("Leave %1 out of this run?").arg(chunkNames(chosen))
              : namely(tr("Leave %n chunk(s) out of this run?", nullptr, static_cast<int>(chosen.size())), chosen),
        what);
    QPushButton* leaveOut = box->addButton(tr("Leave out"), QMessageBox::DestructiveRole);
    box->addButton(tr("Keep them"), QMessageBox::RejectRole);
    connect(leaveOut, &QPushButton::clicked, this,
        [this, folder, chosen] { bench_.commands().excludeChunks(folder, chosen); });
    box->open();
}

void MainWindow::retryPoisoned()
{
    const std::vector<ChunkId> chosen = selectedWhere(isPoisoned);
    retried_ = chunkNames(chosen);
    bench_.commands().retryChunks(bench_.watcher().folder(), chosen);
}

void MainWindow::acceptPoisoned()
{
    const QString folder = bench_.watcher().folder();
    const std::vector<ChunkId> chosen = selectedWhere(isPoisoned);
    const int count = static_cast<int>(chosen.size()); // lupdate does not read past a cast
    const QString question = chosen.empty() ? tr("Accept that no poisoned chunk is trained?")
        : count == 1                        ? tr("Accept that %1 is not trained?").arg(chunkNames(chosen))
                     : namely(tr("Accept that %n poisoned chunk(s) are not trained?", nullptr, count), chosen);
    auto* box = makeBox(this, tr("Accept poisoned chunks"), question,
        tr("The epoch can end without them; audit and reports go on naming them."));
    QPushButton* accept = box->addButton(tr("Accept"), QMessageBox::AcceptRole);
    box->addButton(tr("Leave them poisoned"), QMessageBox::RejectRole);
    connect(accept, &QPushButton::clicked, this,
        [this, folder, chosen] { bench_.commands().acceptChunks(folder, chosen); });
    box->open();
}

void MainWindow::showWhy()
{
    const StatusPtr status = bench_.replay().moment() ? bench_.watcher().status() : shownStatus(bench_);
    if (!status)
        return;
    const QString evidence = evidenceText(*status, QStringLiteral("\n"));
    auto* box
        = makeBox(this, tr("Why this state?"), tr("%1 is %2").arg(shownName(bench_), stateWord(*status).toLower()),
            evidence.isEmpty() ? tr("Nothing has been recorded yet.") : evidence);
    box->setTextInteractionFlags(Qt::TextSelectableByMouse);
    box->addButton(tr("Close"), QMessageBox::RejectRole);
    box->open();
}

} // namespace furrow
