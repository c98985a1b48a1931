#include "ui/shell/main_window.h"

#include "core/run/folder/left_out_chunks.h"
#include "ui/models/shown_name.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/parts/ask_dialog.h"
#include "ui/pages/compare_page.h"
#include "ui/dialogs/merge_dialog.h"
#include "ui/pages/new_run/new_run_page.h"
#include "ui/parts/overflow.h"
#include "ui/shell/actions.h"
#include "ui/shell/appearance.h"
#include "ui/shell/dock_room.h"
#include "ui/shell/library_dock.h"
#include "ui/shell/mnemonics.h"
#include "ui/shell/run_view.h"
#include "ui/theme/theme.h"
#include "ui/widgets/state_glyph.h"

#include <QAbstractButton>
#include <QApplication>
#include <QCloseEvent>
#include <QComboBox>
#include <QDockWidget>
#include <QKeyEvent>
#include <QLabel>
#include <QSettings>
#include <QStackedWidget>
#include <QToolBar>
#include <algorithm>
#include <utility>

namespace furrow {

namespace {

constexpr int kBuiltInPerspectives = 4;

QString geometryKey() { return QStringLiteral("window/geometry"); }

QString stateKey() { return QStringLiteral("window/state"); }

/// Where Tab begins on a page that was opened: Qt gives the focus of what was hidden to whatever comes next.
void focusFirstOf(QWidget& page)
{
    for (QWidget* at = page.nextInFocusChain(); at != &page; at = at->nextInFocusChain()) {
        const bool isReached = page.isAncestorOf(at) && at->isVisible() && at->isEnabled();
        if (isReached && (at->focusPolicy() & Qt::TabFocus) != 0)
            return at->setFocus(Qt::OtherFocusReason);
    }
}

} // namespace

MainWindow::MainWindow(Workbench& bench, Appearance& appearance, bool remember, QWidget* parent)
    : QMainWindow(parent)
    , bench_(bench)
    , appearance_(appearance)
    , remember_(remember)
    , perspectives_(remember)
    , actions_(new Actions(this))
{
    setWindowTitle(QStringLiteral("Furrow"));
    setDockOptions(QMainWindow::AllowTabbedDocks | QMainWindow::AllowNestedDocks);
    setTabPosition(Qt::BottomDockWidgetArea, QTabWidget::North);
    setCorner(Qt::BottomLeftCorner, Qt::BottomDockWidgetArea);
    setCorner(Qt::BottomRightCorner, Qt::BottomDockWidgetArea);
    resize(1600, 1000);
    qApp->installEventFilter(new DialogPreparer(this));
    buildMenus();
    buildToolbar();
    buildCentre();
    buildDocks();
    buildStatusLine();
    for (QAction* action : actions())
        connect(action, &QAction::triggered, this, &MainWindow::dropRefusal); // before it says something itself
    connectActions();
    connectBench();
    connectCommands();
    factoryState_ = room_->state();
    if (remember_) {
        const QSettings settings;
        restoreGeometry(settings.value(geometryKey()).toByteArray());
        restoreDocks(settings.value(stateKey()).toByteArray());
    }
    showCentre();
    showState();
    setFocusPolicy(Qt::ClickFocus);
    setFocus(); // no control is pressed by the first Space
}

MainWindow::~MainWindow() = default;

// A minimised window is not hidden for Qt: what nobody sees would go on being read, computed and drawn.
void MainWindow::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::WindowStateChange)
        bench_.setResting(isMinimized());
    QMainWindow::changeEvent(event);
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    if (remember_) {
        QSettings settings;
        settings.setValue(geometryKey(), saveGeometry());
        settings.setValue(stateKey(), docks());
    }
    QMainWindow::closeEvent(event);
}

QByteArray MainWindow::docks() const { return isWhole() ? stateBeforeLaunch_ : room_->state(); }

void MainWindow::restoreDocks(const QByteArray& docks) { arranged_ = room_->restore(docks) || arranged_; }

// Space holds the views, except where it presses what has the focus.
bool MainWindow::event(QEvent* event)
{
    if (event->type() == QEvent::ShortcutOverride && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Space) {
        const QWidget* focus = focusWidget();
        if (qobject_cast<const QAbstractButton*>(focus) != nullptr
            || qobject_cast<const QComboBox*>(focus) != nullptr) {
            event->accept();
            return true;
        }
    }
    if (event->type() == QEvent::StatusTip && isRefusalFresh()) // it would be covered before it is read
        return true;
    return QMainWindow::event(event);
}

void MainWindow::connectBench()
{
    connect(&bench_.watcher(), &RunWatcher::statusRead, this, &MainWindow::takeStatus);
    connect(&bench_.watcher(), &RunWatcher::tablesRead, this, &MainWindow::reviewWarning);
    connect(&bench_.watcher(), &RunWatcher::opened, this, [this] {
        showCentre();
        showState();
        paceText_->clear();
        densityText_->clear();
    });
    connect(&bench_.watcher(), &RunWatcher::problemChanged, this, &MainWindow::showState);
    connect(&bench_.watcher(), &RunWatcher::paceMeasured, this, [this](double events, double lag) {
        paceText_->setText(tr("%1 events/s   Lag %2 ms").arg(fixedText(events, 0), fixedText(lag, 0)));
    });
    hadRun_ = !bench_.selection().selection().run.isEmpty();
    connect(&bench_.selection(), &SelectionModel::runChanged, this,
        [this](const QString& folder) { hadRun_ = hadRun_ || !folder.isEmpty(); });
    connect(&bench_, &Workbench::workspaceOpened, this, [this] { hadRun_ = false; });
    connect(&bench_.scanner(), &WorkspaceScanner::scanned, this, [this](const RunLinesPtr& lines) {
        // The first look shows the newest run, so that a console that is opened again is where it was. When the shown
        // one went (to the trash), no other one opens by itself.
        if (!lines->empty() && bench_.selection().selection().run.isEmpty() && !isWhole()
            && !std::exchange(hadRun_, true))
            bench_.showRun(lines->front().folder);
        showCentre();
        showState(); // a copy of the run may have come: then the name is another one
    });
}

void MainWindow::showDocks(bool shown)
{
    if (shown) {
        room_->restore(stateBeforeLaunch_);
        room_->setWatching(true);
        toolbar_->show();
        return;
    }
    stateBeforeLaunch_ = room_->state();
    room_->setWatching(false);
    for (QDockWidget* dock : docks_)
        dock->hide();
    toolbar_->hide();
}

void MainWindow::showPerspective(Perspective perspective)
{
    const bool wasWhole = isWhole();
    if (shown_ != perspective)
        tell({}); // it was about what is left
    shown_ = perspective;
    if (perspective == Perspective::Launch)
        newRunPage();
    if (perspective == Perspective::Compare)
        takeOverSelection();
    if (wasWhole != isWhole())
        showDocks(!isWhole());
    showCentre();
    if (isWhole())
        focusFirstOf(perspective == Perspective::Launch ? static_cast<QWidget&>(newRunPage()) : comparePage());
    else if (wasWhole)
        setFocus();
    if (perspective == Perspective::InspectData)
        runView_->showPage(RunView::Coverage);
    perspective_->setCurrentIndex(static_cast<int>(perspective));
    Actions::allow(*actions_->removePerspective, false, tr("no perspective of your own is shown"));
}

void MainWindow::fillPerspectives()
{
    perspective_->clear();
    perspective_->addItems({ tr("Launch"), tr("Watch"), tr("Inspect data"), tr("Compare") });
    for (const OwnPerspective& own : perspectives_.all())
        perspective_->addItem(own.name);
    perspective_->setCurrentIndex(static_cast<int>(Perspective::Watch));
}

void MainWindow::choosePerspective(int index)
{
    const int own = index - kBuiltInPerspectives;
    if (own < 0) {
        showPerspective(static_cast<Perspective>(index));
        return;
    }
    showPerspective(Perspective::Watch);
    const OwnPerspective& chosen = perspectives_.all()[static_cast<std::size_t>(own)];
    room_->restore(chosen.docks);
    runView_->showPage(std::clamp(chosen.page, 0, RunView::kPageCount - 1));
    perspective_->setCurrentIndex(index);
    actions_->removePerspective->setEnabled(true);
}

void MainWindow::savePerspective()
{
    const QString name
        = askText(this, { tr("Save perspective"), tr("Name of the perspective"), tr("Save perspective") });
    if (name.isEmpty())
        return;
    perspectives_.save({ name, room_->state(), runView_->currentPage() });
    fillPerspectives();
    perspective_->setCurrentText(name);
    actions_->removePerspective->setEnabled(true);
}

void MainWindow::removePerspective()
{
    perspectives_.remove(perspective_->currentText());
    fillPerspectives();
    Actions::allow(*actions_->removePerspective, false, tr("no perspective of your own is shown"));
}

NewRunPage& MainWindow::newRunPage()
{
    if (newRun_ == nullptr) {
        newRun_ = new NewRunPage(bench_);
        newRunRoom_ = makeRoomFor(newRun_);
        centre_->addWidget(newRunRoom_);
        connect(newRun_, &NewRunPage::closed, this, [this] { showPerspective(Perspective::Watch); });
    }
    return *newRun_;
}

/// Several runs that are selected in the library are the ones to compare; once, so that a later choice there stays.
void MainWindow::takeOverSelection()
{
    const QStringList before = std::exchange(compared_, library_->selectedRuns());
    ComparePage& page = comparePage();
    if (compared_.size() > 1 && compared_ != before)
        page.choose(compared_);
}

ComparePage& MainWindow::comparePage()
{
    if (compare_ == nullptr) {
        compare_ = new ComparePage(bench_);
        compareRoom_ = makeRoomFor(compare_);
        centre_->addWidget(compareRoom_);
        connect(compare_, &ComparePage::closed, this, [this] { showPerspective(Perspective::Watch); });
        connect(compare_, &ComparePage::openRunWanted, this, [this](const QString& folder) {
            bench_.showRun(folder);
            showPerspective(Perspective::Watch);
        });
    }
    return *compare_;
}

void MainWindow::showCentre()
{
    if (shown_ == Perspective::Launch)
        centre_->setCurrentWidget(newRunRoom_);
    else if (shown_ == Perspective::Compare)
        centre_->setCurrentWidget(compareRoom_);
    else if (bench_.selection().selection().run.isEmpty())
        centre_->setCurrentWidget(welcome_);
    else
        centre_->setCurrentWidget(runView_);
}

void MainWindow::resetLayout()
{
    room_->restore(factoryState_);
    room_->arrange();
}

void MainWindow::showEvent(QShowEvent* event)
{
    if (!std::exchange(arranged_, true))
        room_->arrange();
    else
        room_->setWatching(!isWhole()); // the lower docks stay as they were left
    QMainWindow::showEvent(event);
}

// Where it is behind the library, or away from a narrow window, it comes when there is something to say.
void MainWindow::raiseInspector()
{
    const Selection& selection = bench_.selection().selection();
    const bool isBehind = room_->isNarrow() || tabifiedDockWidgets(inspectorDock_).contains(libraryDock_);
    if ((!selection.chunks.empty() || selection.worker) && isBehind && !isWhole())
        room_->bring(*inspectorDock_);
}

void MainWindow::takeStatus(const StatusPtr&)
{
    showState();
    reviewRefusal();
    reviewWarning();
}

void MainWindow::showState()
{
    const StatusPtr& status = bench_.watcher().status();
    const bool any = !bench_.watcher().folder().isEmpty();
    mark_->setVisible(any);
    const bool isReadable = bench_.watcher().problem().empty();
    mark_->setGlyph(glyphOf(status && isReadable ? status->state : RunState::Unknown));
    const QString folder = bench_.watcher().folder();
    const QString name = shownName(bench_);
    runName_->setText(any ? fontMetrics().elidedText(name, Qt::ElideMiddle, 220) : QString());
    runName_->setToolTip(folder);
    stateWord_->setText(!isReadable ? tr("Cannot be read")
            : status                ? stateWord(*status)
            : any                   ? tr("Reading…")
                                    : QString());
    setWindowTitle(any ? tr("%1 – Furrow").arg(name) : QStringLiteral("Furrow"));
    if (!status || !isReadable)
        writerText_->clear();
    else
        writerText_->setText(status->supervisorStandsStill ? tr("Writer: supervisor, stands still")
                : status->supervised                       ? tr("Writer: supervisor, alive")
                                                           : tr("Writer: none"));
    enableVerbs();
}

void MainWindow::enableVerbs()
{
    const StatusPtr& status = bench_.watcher().status();
    const RunState state = status ? status->state : RunState::Unknown;
    const bool running = state == RunState::Running;
    const bool paused = isPause(state) && status->supervised; // else it was stopped, and a resume starts it
    const bool alive = status != nullptr && status->supervised;
    const bool readable = bench_.watcher().problem().empty();
    const bool known = status != nullptr && readable && !busy_;
    const QString pauseWord = paused ? tr("Continue") : tr("Pause");
    setWords(*actions_->pause, pauseWord);
    actions_->pause->setIconText(pauseWord);
    const QString pauseTip = paused ? tr("Let the workers continue") : tr("Pause at the end of the chunks in training");
    actions_->pause->setStatusTip(pauseTip);
    actions_->pause->setToolTip(pauseTip);
    actions_->pause->setIcon(theme().icon(paused ? QStringLiteral("play") : QStringLiteral("pause")));
    const QString whatFirst = !readable ? tr("the folder of the run cannot be read")
        : status == nullptr ? (bench_.watcher().isReading() ? tr("the run is being read") : tr("no run is shown"))
        : busy_             ? tr("another command is under way")
                            : QString();
    const auto allow = [&whatFirst](std::initializer_list<QAction*> actions, bool allowed, const QString& whyNot) {
        for (QAction* action : actions)
            Actions::allow(*action, allowed, whatFirst.isEmpty() ? whyNot : whatFirst);
    };
    const QString asleep = tr("the run is not being trained");
    const QString awake = tr("the run is being trained");
    allow({ actions_->pause, actions_->stop }, known && (running || paused), asleep);
    allow({ actions_->kill }, known && alive, asleep);
    allow({ actions_->resume, actions_->enqueue }, known && !alive && !running, awake);
    setWords(*actions_->resume, state == RunState::New ? tr("Start…") : tr("Resume…"));
    const bool ended = known && !alive
        && (state == RunState::Interrupted || state == RunState::Failed || state == RunState::Stopped);
    allow({ actions_->markFinished }, ended,
        alive || running             ? awake
            : state == RunState::New ? tr("the run was not started yet")
                                     : tr("the run is finished already"));
    const bool several = bench_.watcher().tables() && mergeableReplicas(*bench_.watcher().tables()).size() > 1;
    allow({ actions_->merge }, known && !alive && several,
        alive ? awake : tr("there are fewer than two replicas to merge"));
    allow({ actions_->saveNow, actions_->evaluateNow, actions_->stopAfterBlock, actions_->stopAfterEpoch },
        known && running, asleep);
    const bool poisoned = known && std::any_of(status->epochs.begin(), status->epochs.end(), [](const EpochRow& epoch) {
        return epoch.chunks[ChunkState::Poisoned] > 0;
    });
    allow({ actions_->retryChunks, actions_->acceptChunks }, poisoned, tr("no chunk is poisoned"));
    allow({ actions_->excludeChunks }, known && !selectedWhere(canBeLeftOut).empty(),
        tr("no chunk is selected that is not trained yet"));
    allow({ actions_->autoResume, actions_->exportRun, actions_->cloneRun, actions_->brain, actions_->editNotes,
              actions_->archive, actions_->audit, actions_->auditLedger },
        status != nullptr && readable, {});
    Actions::allow(*actions_->why, status != nullptr, whatFirst);
    actions_->autoResume->setChecked(bench_.autoResume().isWanted(bench_.watcher().folder()));
    const bool any = !bench_.watcher().folder().isEmpty();
    allow({ actions_->openFolder }, any && readable, {});
    allow({ actions_->moveToTrash }, any && readable && !alive, awake);
    Actions::allow(*actions_->copyPath, any, tr("no run is shown"));
    Actions::allow(*actions_->dropRun, bench_.isElsewhere(bench_.watcher().folder()),
        any ? tr("the run is in the workspace") : tr("no run is shown"));
    showArchived();
}

} // namespace furrow
