// What the actions of the window do; how it is built is in main_window.cpp.

#include "core/run/folder/automatic_packing.h"
#include "core/base/clock.h"
#include "core/base/path.h"
#include "core/run/audit/tracker_damage.h"
#include "core/run/folder/left_out_chunks.h"
#include "core/workspace/run_folders.h"
#include "ui/models/core_words.h"
#include "ui/models/shown_name.h"
#include "ui/models/shown_status.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/pages/charts_page.h"
#include "ui/pages/compare_page.h"
#include "ui/pages/config_page.h"
#include "ui/pages/coverage_page.h"
#include "ui/models/error_text.h"
#include "ui/pages/log_page.h"
#include "ui/pages/new_run/new_run_page.h"
#include "ui/parts/page_parts.h"
#include "ui/export/picture.h"
#include "ui/dialogs/quarantine_dialog.h"
#include "ui/dialogs/resume_dialog.h"
#include "ui/parts/save_file.h"
#include "ui/shell/actions.h"
#include "ui/shell/audit_dock.h"
#include "ui/shell/dock_room.h"
#include "ui/shell/events_dock.h"
#include "ui/shell/help_dialog.h"
#include "ui/shell/command_palette.h"
#include "ui/shell/library_dock.h"
#include "ui/shell/main_window.h"
#include "ui/shell/run_view.h"
#include "ui/widgets/plain_text.h"

#include <QClipboard>
#include <QDesktopServices>
#include <QFileDialog>
#include <QGuiApplication>
#include <QLabel>
#include <QMessageBox>
#include <QPushButton>
#include <QStackedWidget>
#include <QUrl>

#include <algorithm>

namespace furrow {

namespace {

constexpr auto kFollowsNs = static_cast<std::int64_t>(2e9);

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

bool isPoisoned(ChunkState state) { return state == ChunkState::Poisoned; }

} // namespace

void MainWindow::connectActions()
{
    connect(actions_->newRun, &QAction::triggered, this, [this] { showPerspective(Perspective::Launch); });
    connect(actions_->cloneRun, &QAction::triggered, this, &MainWindow::clone);
    connect(actions_->openRun, &QAction::triggered, this, &MainWindow::openRunFolder);
    connect(actions_->openWorkspace, &QAction::triggered, this, &MainWindow::openWorkspace);
    connect(actions_->savePicture, &QAction::triggered, this, &MainWindow::savePicture);
    connect(actions_->compare, &QAction::triggered, this, [this] { showPerspective(Perspective::Compare); });
    connect(actions_->savePage, &QAction::triggered, this, &MainWindow::savePage);
    connect(actions_->exportRun, &QAction::triggered, this, &MainWindow::exportRun);
    connect(actions_->quit, &QAction::triggered, this, &QWidget::close);
    connect(actions_->findRun, &QAction::triggered, this, &MainWindow::findRun);
    connect(actions_->findInPage, &QAction::triggered, this, &MainWindow::findInPage);
    connect(actions_->clearSelection, &QAction::triggered, &bench_.selection(), &SelectionModel::clear);
    connect(actions_->clearSelection, &QAction::triggered, room_, &DockRoom::uncover);
    connect(actions_->palette, &QAction::triggered, this, &MainWindow::openPalette);
    connect(actions_->shortcuts, &QAction::triggered, this, [this] { (new ShortcutSheet(*actions_, this))->open(); });
    const auto showHelp = [this](std::optional<HelpDialog::Topic> topic) { // one window, however often it is asked for
        auto* help = findChild<HelpDialog*>();
        if (help == nullptr)
            help = new HelpDialog(this);
        if (topic)
            help->showTopic(*topic);
        help->show();
        help->raise();
        help->activateWindow();
    };
    connect(actions_->help, &QAction::triggered, this, [showHelp] { showHelp(std::nullopt); });
    connect(actions_->words, &QAction::triggered, this, [showHelp] { showHelp(HelpDialog::Words); });
    connect(actions_->demonstration, &QAction::triggered, this, &MainWindow::startDemonstration);
    connect(actions_->about, &QAction::triggered, this, &MainWindow::showAbout);
    connect(actions_->copyPath, &QAction::triggered, this, [this] {
        QGuiApplication::clipboard()->setText(bench_.watcher().folder());
        tell(tr("The path of the run is on the clipboard."));
    });
    connect(actions_->openFolder, &QAction::triggered, this,
        [this] { QDesktopServices::openUrl(QUrl::fromLocalFile(bench_.watcher().folder())); });
    connectRunActions();
    connectViewActions();
    connectLibraryActions();
    connectAlerts();
}

void MainWindow::openPalette()
{
    const PaletteTargets targets { [this](const QString& folder) {
                                      bench_.showRun(folder);
                                      showPerspective(Perspective::Watch);
                                  },
        [this](const SelectedChunk& chunk) {
            showPerspective(Perspective::Watch);
            bench_.selection().setChunks({ chunk });
            actions_->showInMap->trigger();
        },
        [this](const std::string& key) {
            showPerspective(Perspective::Launch);
            newRunPage().showSetting(key);
        } };
    const auto search = [this, targets](const QString& words) { return paletteFindings(bench_, words, targets); };
    (new CommandPalette(*actions_, this, search))->open();
}

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
}

/// In the dock that shows what it finds.
void MainWindow::audit(AuditDepth depth)
{
    room_->bring(*auditDock_);
    audit_->begin(depth);
}

void MainWindow::connectViewActions()
{
    for (int i = 0; i < static_cast<int>(actions_->pages.size()); ++i)
        connect(actions_->pages[static_cast<std::size_t>(i)], &QAction::triggered, this,
            [this, i] { runView_->showPage(i); });
    connect(actions_->live, &QAction::toggled, this, [this](bool on) { bench_.watcher().setHeld(!on); });
    connect(&bench_.watcher(), &RunWatcher::heldChanged, actions_->live,
        [this](bool held) { actions_->live->setChecked(!held); });
    connect(&bench_.watcher(), &RunWatcher::opened, actions_->live, [this] { actions_->live->setChecked(true); });
    connect(actions_->savePerspective, &QAction::triggered, this, &MainWindow::savePerspective);
    connect(actions_->removePerspective, &QAction::triggered, this, &MainWindow::removePerspective);
    Actions::allow(*actions_->removePerspective, false, tr("no perspective of your own is shown"));
    connect(actions_->resetLayout, &QAction::triggered, this, &MainWindow::resetLayout);
    connect(actions_->fullScreen, &QAction::toggled, this, [this](bool on) { on ? showFullScreen() : showNormal(); });
    connect(actions_->showInMap, &QAction::triggered, this, [this] { runView_->showPage(RunView::Coverage); });
    connect(actions_->showSamples, &QAction::triggered, this, [this] { runView_->showPage(RunView::Data); });
    connect(actions_->quarantine, &QAction::triggered, this, &MainWindow::editQuarantine);
    connect(actions_->quarantineChunks, &QAction::triggered, this, [this] {
        bench_.quarantine().addChunks(
            bench_.selection().selection().chunks, tr("from the run %1").arg(shownName(bench_)));
        editQuarantine();
    });
    connect(actions_->retryChunks, &QAction::triggered, this,
        [this] { bench_.commands().retryChunks(bench_.watcher().folder(), selectedWhere(isPoisoned)); });
    connect(actions_->acceptChunks, &QAction::triggered, this, &MainWindow::acceptPoisoned);
    connect(actions_->excludeChunks, &QAction::triggered, this, &MainWindow::leaveChunksOut);
    connect(actions_->showInLog, &QAction::triggered, this, &MainWindow::showSelectionInLog);
    connect(actions_->saveChart, &QAction::triggered, this, &MainWindow::saveChart);
    connect(actions_->saveTable, &QAction::triggered, this, &MainWindow::saveTable);
    connect(actions_->showInChart, &QAction::triggered, this, [this] {
        runView_->showPage(RunView::Charts);
        qobject_cast<ChartsPage*>(runView_->page(RunView::Charts))->zoomToSelection();
    });
    const auto charts = [this] { return qobject_cast<ChartsPage*>(runView_->page(RunView::Charts)); };
    connect(actions_->fit, &QAction::triggered, this, [this, charts] {
        if (runView_->currentPage() == RunView::Charts && charts() != nullptr)
            charts()->fit();
        else if (auto* map = qobject_cast<CoveragePage*>(runView_->page(RunView::Coverage));
            map != nullptr && runView_->currentPage() == RunView::Coverage)
            map->fit();
    });
    connect(actions_->logY, &QAction::toggled, this, [this, charts](bool on) {
        runView_->showPage(RunView::Charts);
        charts()->setLogY(on);
    });
    connect(runView_, &RunView::logLossChanged, actions_->logY, &QAction::setChecked);
    connect(actions_->zoomBack, &QAction::triggered, this, [charts] {
        if (charts() != nullptr)
            charts()->zoomBack();
    });
    connect(runView_, &RunView::pageShown, this, [this](int page) {
        const bool zooms = page == RunView::Charts || page == RunView::Coverage;
        Actions::allow(*actions_->fit, zooms, tr("only on the pages Charts and Coverage"));
        Actions::allow(*actions_->zoomBack, page == RunView::Charts, tr("only on the page Charts"));
        if (auto* map = qobject_cast<CoveragePage*>(runView_->page(page)))
            map->setChunkActions({ actions_->showInChart, actions_->showInLog, actions_->showSamples,
                actions_->retryChunks, actions_->acceptChunks, actions_->excludeChunks, actions_->quarantineChunks });
    });
    Q_EMIT runView_->pageShown(runView_->currentPage());
    const auto enableChunk = [this] {
        const bool any = !bench_.selection().selection().chunks.empty();
        for (QAction* action : { actions_->showInChart, actions_->showInMap, actions_->showInLog, actions_->showSamples,
                 actions_->quarantineChunks })
            Actions::allow(*action, any, tr("no chunk is selected"));
    };
    connect(&bench_.selection(), &SelectionModel::changed, this, enableChunk);
    connect(&bench_.selection(), &SelectionModel::changed, this, &MainWindow::enableVerbs);
    enableChunk();
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
        tell(verb == RunVerb::RetryChunks ? tr("The poisoned chunks are tried again.") : QString());
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
    });
    connect(&commands, &RunCommands::planned, this, &MainWindow::offerResume);
}

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
    tell(sentence, true);
    refusedOn_ = standing();
    refusedNs_ = systemClock().monotonicNs();
    bench_.watcher().refresh();
    bench_.scanner().refresh();
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
    QString what
        = tr("They are trained neither in this epoch nor in later ones of this run, count as excluded, and audit "
             "and reports name them. That cannot be taken back.");
    const auto inPart = std::count_if(chosen.begin(), chosen.end(), [this](ChunkId chunk) {
        const ChunkCell* cell = bench_.cells().find(chunk);
        return cell != nullptr && cell->covered > 0;
    });
    if (inPart > 0)
        what = tr("%n of them are in the weights in part; that part stays, the rest is not trained.", nullptr,
                   static_cast<int>(inPart))
            + QLatin1Char(' ') + what;
    if (others > 0)
        what = tr("%n more selected chunk(s) are trained already, or in training, and stay.", nullptr, others)
            + QLatin1Char(' ') + what;
    auto* box = makeBox(this, tr("Leave chunks out of this run"),
        tr("Leave %n chunk(s) out of this run?", nullptr, static_cast<int>(chosen.size())), what);
    QPushButton* leaveOut = box->addButton(tr("Leave out"), QMessageBox::DestructiveRole);
    box->addButton(tr("Keep them"), QMessageBox::RejectRole);
    connect(leaveOut, &QPushButton::clicked, this,
        [this, folder, chosen] { bench_.commands().excludeChunks(folder, chosen); });
    box->open();
}

void MainWindow::acceptPoisoned()
{
    const QString folder = bench_.watcher().folder();
    const std::vector<ChunkId> chosen = selectedWhere(isPoisoned);
    const QString question = chosen.empty()
        ? tr("Accept that no poisoned chunk is trained?")
        : tr("Accept that %n poisoned chunk(s) are not trained?", nullptr, static_cast<int>(chosen.size()));
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

void MainWindow::editQuarantine()
{
    auto* dialog = new QuarantineDialog(bench_, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QuarantineDialog::newRunWanted, this, [this](const QString& file) {
        clone();
        bench_.form().setText(*findSetting("exclude"), file);
    });
    dialog->open();
}

void MainWindow::clone()
{
    const StatusPtr& status = bench_.watcher().status();
    if (!status)
        return;
    const auto preset = findPreset(status->file.preset);
    RunConfig config = configForAnother(status->file);
    config.name.clear();
    bench_.form().useConfig(config, preset.ok() ? preset.value() : presets().front());
    showPerspective(Perspective::Launch);
}

void MainWindow::openRunFolder()
{
    const QString folder = QFileDialog::getExistingDirectory(this, tr("Open run folder"), bench_.workspace());
    if (folder.isEmpty())
        return;
    const auto path = pathFromUtf8(folder.toStdString());
    std::error_code unknown;
    if (std::filesystem::exists(RunPaths(path).configFile(), unknown)) {
        bench_.addRun(folder);
        return;
    }
    const int runs = static_cast<int>(runFolders(path).size()); // lupdate does not read past a cast
    tell(runs > 0 ? tr("%1 is not a run, but it holds %n run(s): File > Open workspace shows them.", nullptr, runs)
                        .arg(folder)
                  : tr("%1 is not a run: it has no run.json. Choose the folder of one run.").arg(folder),
        true);
}

void MainWindow::openWorkspace()
{
    const QString folder = QFileDialog::getExistingDirectory(this, tr("Open workspace"), bench_.workspace());
    if (folder.isEmpty())
        return;
    std::error_code unknown;
    if (std::filesystem::exists(RunPaths(pathFromUtf8(folder.toStdString())).configFile(), unknown)) {
        tell(tr("%1 is a run, not a workspace: File > Open run folder shows it.").arg(folder), true);
        return;
    }
    bench_.openWorkspace(folder);
}

void MainWindow::savePicture()
{
    const QPixmap picture = grab();
    const QString file = askSaveFile(this, tr("Save picture of the window"), QStringLiteral("furrow.png"),
        tr("Pictures"), { QStringLiteral("png") });
    if (!file.isEmpty())
        tellSaved(picture.save(file), file);
}

void MainWindow::savePage()
{
    QWidget* page = isWhole() ? centre_->currentWidget() : runView_->page(runView_->currentPage());
    const QString file = askSaveFile(this, tr("Save page as picture"), QStringLiteral("furrow-page.png"),
        tr("Pictures"), { QStringLiteral("png"), QStringLiteral("svg"), QStringLiteral("pdf") });
    if (!file.isEmpty())
        tellSaved(savePagePicture(*page, file), file);
}

void MainWindow::saveChart()
{
    runView_->showPage(RunView::Charts);
    const QString file = askSaveFile(this, tr("Save loss chart as picture"), QStringLiteral("loss.png"), tr("Pictures"),
        { QStringLiteral("png"), QStringLiteral("svg"), QStringLiteral("pdf") });
    if (!file.isEmpty())
        tellSaved(qobject_cast<ChartsPage*>(runView_->page(RunView::Charts))->savePicture(file), file);
}

void MainWindow::saveTable()
{
    runView_->showPage(RunView::Charts);
    const QString file = askSaveFile(
        this, tr("Save loss chart as table"), QStringLiteral("loss.csv"), tr("Tables"), { QStringLiteral("csv") });
    if (!file.isEmpty())
        tellSaved(qobject_cast<ChartsPage*>(runView_->page(RunView::Charts))->saveTable(file), file);
}

void MainWindow::tellSaved(bool saved, const QString& file)
{
    tell(saved ? tr("Saved as %1.").arg(file) : tr("%1 could not be written.").arg(file), !saved);
}

// The log stands at the moment when the chunk was begun.
void MainWindow::showSelectionInLog()
{
    const auto& chunks = bench_.selection().selection().chunks;
    const std::vector<ClaimRow> claims
        = chunks.empty() ? std::vector<ClaimRow> {} : bench_.claims().claimsOf(chunks.front().id);
    runView_->showPage(RunView::Log);
    if (!claims.empty())
        qobject_cast<LogPage*>(runView_->page(RunView::Log))->showTime(claims.back().claimedWallNs);
}

void MainWindow::goToAttempt(int step)
{
    const StatusPtr& status = bench_.watcher().status();
    if (!status || status->attempt == 0)
        return;
    const std::int64_t now = bench_.selection().selection().attempt.value_or(status->attempt);
    const std::int64_t next = std::clamp<std::int64_t>(now + step, 1, status->attempt);
    bench_.selection().setAttempt(next);
    tell(tr("Attempt %1 of %2").arg(next).arg(status->attempt));
}

void MainWindow::findInPage()
{
    if (shown_ == Perspective::Launch)
        newRunPage().focusSearch();
    else if (shown_ == Perspective::Compare)
        comparePage().focusSearch();
    else if (auto* log = qobject_cast<LogPage*>(runView_->page(RunView::Log));
        log != nullptr && runView_->currentPage() == RunView::Log)
        log->focusSearch();
    else if (auto* config = qobject_cast<ConfigPage*>(runView_->page(RunView::Config));
        config != nullptr && runView_->currentPage() == RunView::Config)
        config->focusSearch();
    else
        findRun();
}

void MainWindow::findRun()
{
    if (!isWhole())
        room_->bring(*libraryDock_);
    library_->focusFilter();
}

void MainWindow::showAbout()
{
    auto* box = makeBox(this, tr("About Furrow"), tr("Furrow %1").arg(QStringLiteral(FURROW_VERSION)),
        tr("Trains every chunk of a data set exactly once per epoch, and can prove it.\nFree software under the GNU General Public License, version 3 or later."));
    box->addButton(tr("Close"), QMessageBox::RejectRole);
    box->open();
}

} // namespace furrow
