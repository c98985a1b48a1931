// What can be done with a run as a whole: merge, export, notes, archive, trash, queue, demonstration; and alerts.

#include "core/base/path.h"
#include "core/base/resources.h"
#include "core/workspace/trash.h"
#include "ui/models/core_words.h"
#include "ui/models/shown_name.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/pages/compare_page.h"
#include "ui/parts/ask_dialog.h"
#include "ui/dialogs/brain_dialog.h"
#include "ui/models/error_text.h"
#include "ui/dialogs/export_dialog.h"
#include "ui/dialogs/merge_dialog.h"
#include "ui/dialogs/notes_dialog.h"
#include "ui/parts/page_parts.h"
#include "ui/shell/actions.h"
#include "ui/shell/alerts_dialog.h"
#include "ui/shell/dock_room.h"
#include "ui/shell/library_dock.h"
#include "ui/shell/mnemonics.h"
#include "ui/shell/main_window.h"
#include "ui/shell/run_view.h"
#include "ui/theme/theme.h"
#include "ui/widgets/plain_text.h"

#include <QDockWidget>
#include <QLabel>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QTimer>
#include <algorithm>

namespace furrow {

namespace {

constexpr int kDrawnMs = 250;

} // namespace

void MainWindow::connectLibraryActions()
{
    connect(actions_->brain, &QAction::triggered, this, &MainWindow::showBrain);
    connect(actions_->editNotes, &QAction::triggered, this, &MainWindow::editNotes);
    connect(actions_->archive, &QAction::triggered, this, &MainWindow::setArchived);
    connect(actions_->moveToTrash, &QAction::triggered, this, &MainWindow::moveToTrash);
    connect(actions_->restoreFromTrash, &QAction::triggered, this, &MainWindow::restoreFromTrash);
    connect(actions_->dropRun, &QAction::triggered, this, [this] { bench_.dropRun(bench_.watcher().folder()); });
    connect(actions_->enqueue, &QAction::triggered, this,
        [this] { bench_.workspaceCommands().enqueue(bench_.watcher().folder()); });
    connect(actions_->queue, &QAction::triggered, this, [this] { room_->bring(*queueDock_); });
    connect(&bench_.workspaceCommands(), &WorkspaceCommands::failed, this,
        [this](const Message& message) { refuse(coreWords(message)); });
    connect(&bench_.workspaceCommands(), &WorkspaceCommands::changed, this, &MainWindow::dropRefusal);
    connect(&bench_.scanner(), &WorkspaceScanner::queueRead, this, &MainWindow::reviewRefusal);
    connect(&bench_.scanner(), &WorkspaceScanner::scanned, this, &MainWindow::showArchived);
}

const RunLine* MainWindow::shownLine() const
{
    const RunLines& lines = *bench_.scanner().lines();
    const auto found = std::find_if(
        lines.begin(), lines.end(), [this](const RunLine& line) { return line.folder == bench_.watcher().folder(); });
    return found == lines.end() ? nullptr : &*found;
}

void MainWindow::showArchived()
{
    const RunLine* line = shownLine();
    actions_->archive->setChecked(line != nullptr && line->notes.archived);
}

/// Of several runs that were selected.
void MainWindow::showRunsMenu(const QStringList& folders, const QPoint& globalPosition)
{
    const int count = static_cast<int>(folders.size());
    QMenu menu(this);
    menu.addAction(actions_->compare);
    menu.addSeparator();
    const QAction* tag
        = menu.addAction(theme().icon(QStringLiteral("tag")), tr("Add a tag to %n run(s)…", nullptr, count));
    const QAction* trash
        = menu.addAction(theme().icon(QStringLiteral("trash")), tr("Move %n run(s) to trash…", nullptr, count));
    giveMnemonics(menu);
    const QAction* chosen = menu.exec(globalPosition);
    if (chosen == actions_->compare)
        comparePage().choose(folders);
    else if (chosen == tag)
        addTag(folders);
    else if (chosen == trash)
        trashAll(folders);
}

void MainWindow::addTag(const QStringList& folders)
{
    const int count = static_cast<int>(folders.size());
    const std::string tag
        = askText(this, { tr("Add a tag"), tr("Tag"), tr("Add it to %n run(s)", nullptr, count) }).toStdString();
    if (tag.empty())
        return;
    for (const RunLine& line : *bench_.scanner().lines()) {
        const auto& tags = line.notes.tags;
        if (!folders.contains(line.folder) || std::find(tags.begin(), tags.end(), tag) != tags.end())
            continue;
        RunNotes notes = line.notes;
        notes.tags.push_back(tag);
        bench_.workspaceCommands().setNotes(line.folder, notes);
    }
}

/// All of them, or none where one of them cannot go.
void MainWindow::trashAll(const QStringList& folders)
{
    for (const QString& folder : folders) {
        const auto trashable
            = checkTrashable(pathFromUtf8(bench_.workspace().toStdString()), pathFromUtf8(folder.toStdString()));
        if (!trashable.ok()) {
            refuse(
                tr("%1: %2").arg(libraryName(*bench_.scanner().lines(), folder, folder), errorText(trashable.error())));
            return;
        }
    }
    const int count = static_cast<int>(folders.size());
    auto* box = makeBox(this, tr("Move to trash"), tr("Move %n run(s) to the trash of this workspace?", nullptr, count),
        tr("The folders with their checkpoints move to %1. Nothing is deleted; they can be restored.")
            .arg(bench_.workspace() + QStringLiteral("/trash")));
    QPushButton* move = box->addButton(tr("Move %n run(s) to trash", nullptr, count), QMessageBox::DestructiveRole);
    box->setDefaultButton(box->addButton(tr("Keep the runs"), QMessageBox::RejectRole));
    connect(box, &QMessageBox::buttonClicked, this, [this, move, folders](const QAbstractButton* pressed) {
        if (pressed != move)
            return;
        for (const QString& folder : folders) {
            bench_.dropRun(folder); // nobody reads a folder that moves
            bench_.workspaceCommands().moveToTrash(folder);
        }
    });
    box->open();
}

void MainWindow::showRunMenu(const QPoint& globalPosition)
{
    if (const QStringList folders = library_->selectedRuns(); folders.size() > 1)
        return showRunsMenu(folders, globalPosition);
    QMenu menu(this);
    menu.addActions({ actions_->resume, actions_->enqueue, actions_->cloneRun });
    menu.addSeparator();
    menu.addActions(
        { actions_->brain, actions_->editNotes, actions_->archive, actions_->moveToTrash, actions_->dropRun });
    menu.addSeparator();
    menu.addActions({ actions_->copyPath, actions_->openFolder });
    giveMnemonics(menu);
    menu.exec(globalPosition);
}

void MainWindow::showBrain()
{
    auto* dialog = new BrainDialog(bench_.watcher().folder(), bench_.scanner().lines(), this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &BrainDialog::openRunWanted, this, [this](const QString& folder) { bench_.showRun(folder); });
    dialog->open();
}

void MainWindow::merge()
{
    if (!bench_.watcher().tables())
        return;
    auto* dialog = new MergeDialog(bench_.watcher().folder(), *bench_.watcher().tables(), this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &MergeDialog::merged, this, [this] { bench_.watcher().refresh(); });
    dialog->open();
}

// The curves go into the report as they are shown; a page that is made only now needs a moment to draw them.
void MainWindow::exportRun()
{
    const int shown = runView_->currentPage();
    runView_->showPage(RunView::Charts);
    QTimer::singleShot(kDrawnMs, this, [this, shown] {
        const QImage curves = runView_->page(RunView::Charts)->grab().toImage();
        runView_->showPage(shown);
        auto* dialog = new ExportDialog(
            bench_.watcher().folder(), bench_.watcher().status(), bench_.watcher().tables(), curves, this);
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        dialog->open();
    });
}

void MainWindow::editNotes()
{
    const RunLine* line = shownLine();
    if (line == nullptr)
        return;
    const QString folder = line->folder;
    auto* dialog = new NotesDialog(line->name, line->notes, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this,
        [this, dialog, folder] { bench_.workspaceCommands().setNotes(folder, dialog->notes()); });
    dialog->open();
}

void MainWindow::setArchived(bool archived)
{
    const RunLine* line = shownLine();
    if (line == nullptr)
        return;
    RunNotes notes = line->notes;
    notes.archived = archived;
    bench_.workspaceCommands().setNotes(line->folder, notes);
}

void MainWindow::moveToTrash()
{
    const QString folder = bench_.watcher().folder();
    const auto trashable
        = checkTrashable(pathFromUtf8(bench_.workspace().toStdString()), pathFromUtf8(folder.toStdString()));
    if (!trashable.ok()) { // before anything is promised
        refuse(errorText(trashable.error()));
        return;
    }
    const QString name = shownName(bench_);
    auto* box = makeBox(this, tr("Move to trash"), tr("Move %1 to the trash of this workspace?").arg(name),
        tr("The folder with its checkpoints moves to %1. Nothing is deleted; it can be restored.")
            .arg(bench_.workspace() + QStringLiteral("/trash")));
    QPushButton* move = box->addButton(tr("Move to trash"), QMessageBox::DestructiveRole);
    box->setDefaultButton(box->addButton(tr("Keep the run"), QMessageBox::RejectRole));
    connect(box, &QMessageBox::buttonClicked, this, [this, move, folder, name](QAbstractButton* pressed) {
        if (pressed != move)
            return;
        bench_.dropRun(folder); // nobody reads a folder that moves
        auto* answer = new QObject(this);
        connect(&bench_.workspaceCommands(), &WorkspaceCommands::changed, answer, &QObject::deleteLater);
        connect(&bench_.workspaceCommands(), &WorkspaceCommands::failed, answer, [this, answer, folder] {
            bench_.showRun(folder); // it is where it was
            answer->deleteLater();
        });
        bench_.workspaceCommands().moveToTrash(folder);
        tell(tr("%1 moves to the trash. Run > Restore from trash brings it back.").arg(name));
    });
    box->open();
}

void MainWindow::restoreFromTrash()
{
    QStringList names;
    QStringList folders;
    const auto trash = pathFromUtf8(bench_.workspace().toStdString()) / "trash";
    for (const auto& path : trashedRuns(trash.parent_path())) {
        folders.append(QString::fromStdString(utf8Text(path)));
        names.append(QString::fromStdString(utf8Text(path.lexically_relative(trash))));
    }
    if (names.isEmpty()) {
        tell(tr("The trash of this workspace is empty."));
        return;
    }
    const int chosen
        = askChoice(this, { tr("Restore from trash"), tr("Run to restore"), tr("Restore the run") }, names);
    if (chosen < 0)
        return;
    tell({}); // that it moved to the trash is no news any more
    bench_.workspaceCommands().restore(folders[chosen]);
}

// A first run that needs neither data nor GPU nor decisions.
void MainWindow::startDemonstration()
{
    const auto preset = findPreset("char");
    const auto sample = resourcePath("sample/tinyshakespeare.txt");
    if (!preset.ok() || !sample.ok()) {
        tell(errorText(preset.ok() ? sample.error() : preset.error()), true);
        return;
    }
    NewRun request;
    request.config = preset.value().config;
    request.config.name = "demonstration";
    request.config.data = { utf8Text(sample.value()) };
    request.config.sampleSteps = 250;
    request.preset = preset.value().name;
    request.workspace = pathFromUtf8(bench_.workspace().toStdString());
    bench_.commands().launch(request);
}

void MainWindow::connectAlerts()
{
    const AlertWishes wishes = remember_ ? readAlertWishes() : AlertWishes {};
    notifier_.setWishes(wishes);
    bench_.alerts().setRules(wishes.rules);
    connect(&bench_.alerts(), &Alerts::raised, this, [this](const Alert& alert) {
        if (alert.kind == AlertKind::Finished)
            tell(alert.text);
        else
            warn(alert);
        notifier_.tell(alert, bench_.watcher().folder(), isActiveWindow());
    });
    connect(&notifier_, &Notifier::failed, this, [this](const QString& sentence) { tell(sentence, true); });
    connect(actions_->alerts, &QAction::triggered, this, &MainWindow::editAlerts);
}

void MainWindow::editAlerts()
{
    auto* dialog = new AlertsDialog(notifier_.wishes(), this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this, [this, dialog] {
        const AlertWishes wishes = dialog->wishes();
        notifier_.setWishes(wishes);
        bench_.alerts().setRules(wishes.rules);
        if (remember_)
            writeAlertWishes(wishes);
    });
    dialog->open();
}

} // namespace furrow
