// What the actions of the window do, but for the verbs of a run (main_window_verbs.cpp) and what is done with a run as
// a whole (main_window_runs.cpp); how it is built is in main_window_build.cpp.

#include "core/run/folder/automatic_packing.h"
#include "core/base/path.h"
#include "core/workspace/run_folders.h"
#include "ui/models/shown_name.h"
#include "ui/models/workbench.h"
#include "ui/pages/charts_page.h"
#include "ui/pages/compare_page.h"
#include "ui/pages/config_page.h"
#include "ui/pages/coverage_page.h"
#include "ui/pages/log_page.h"
#include "ui/pages/new_run/new_run_page.h"
#include "ui/parts/page_parts.h"
#include "ui/export/picture.h"
#include "ui/dialogs/quarantine_dialog.h"
#include "ui/parts/save_file.h"
#include "ui/shell/actions.h"
#include "ui/shell/dock_room.h"
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
#include <QMessageBox>
#include <QStackedWidget>
#include <QUrl>

#include <algorithm>

namespace furrow {

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
