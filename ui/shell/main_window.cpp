#include "ui/shell/main_window.h"

#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/pages/coverage_page.h"
#include "ui/pages/new_run/new_run_page.h"
#include "ui/pages/page_parts.h"
#include "ui/pages/welcome_page.h"
#include "ui/shell/actions.h"
#include "ui/shell/appearance.h"
#include "ui/shell/bottom_docks.h"
#include "ui/shell/inspector_dock.h"
#include "ui/shell/lanes_dock.h"
#include "ui/shell/library_dock.h"
#include "ui/shell/run_view.h"
#include "ui/widgets/state_glyph.h"

#include <QAbstractButton>
#include <QCloseEvent>
#include <QComboBox>
#include <QDockWidget>
#include <QFileInfo>
#include <QKeyEvent>
#include <QMenu>
#include <QMenuBar>
#include <QSettings>
#include <QStackedWidget>
#include <QStatusBar>
#include <QToolBar>
#include <QToolButton>

namespace furrow {

namespace {

constexpr int kStateVersion = 1; // of saved docks; another one is ignored
constexpr int kLibraryWidth = 250;
constexpr int kInspectorWidth = 308;
constexpr int kBottomHeight = 200;

QString geometryKey()
{
    return QStringLiteral("window/geometry");
}

QString stateKey()
{
    return QStringLiteral("window/state");
}

} // namespace

MainWindow::MainWindow(Workbench& bench, Appearance& appearance, bool remember, QWidget* parent)
    : QMainWindow(parent)
    , bench_(bench)
    , appearance_(appearance)
    , remember_(remember)
    , actions_(new Actions(this))
{
    setWindowTitle(QStringLiteral("Furrow"));
    setDockOptions(QMainWindow::AllowTabbedDocks | QMainWindow::AllowNestedDocks);
    setTabPosition(Qt::BottomDockWidgetArea, QTabWidget::North);
    setCorner(Qt::BottomLeftCorner, Qt::BottomDockWidgetArea);
    setCorner(Qt::BottomRightCorner, Qt::BottomDockWidgetArea);
    resize(1600, 1000);
    buildMenus();
    buildToolbar();
    buildCentre();
    buildDocks();
    buildStatusLine();
    connectActions();
    connectBench();
    connectCommands();
    factoryState_ = saveState(kStateVersion);
    if (remember_) {
        const QSettings settings;
        restoreGeometry(settings.value(geometryKey()).toByteArray());
        restoreState(settings.value(stateKey()).toByteArray(), kStateVersion);
    }
    showCentre();
    showState();
    setFocusPolicy(Qt::ClickFocus);
    setFocus(); // no control is pressed by the first Space
}

MainWindow::~MainWindow() = default;

void MainWindow::closeEvent(QCloseEvent* event)
{
    if (remember_) {
        QSettings settings;
        settings.setValue(geometryKey(), saveGeometry());
        settings.setValue(stateKey(), launching_ ? stateBeforeLaunch_ : saveState(kStateVersion));
    }
    QMainWindow::closeEvent(event);
}

// Space holds the views, except where it presses what has the focus.
bool MainWindow::event(QEvent* event)
{
    if (event->type() == QEvent::ShortcutOverride && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Space) {
        const QWidget* focus = focusWidget();
        if (qobject_cast<const QAbstractButton*>(focus) != nullptr || qobject_cast<const QComboBox*>(focus) != nullptr) {
            event->accept();
            return true;
        }
    }
    return QMainWindow::event(event);
}

void MainWindow::buildMenus()
{
    menuBar()->setNativeMenuBar(false);
    actions_->fill(menuBar());
    auto* corner = new QWidget(menuBar());
    auto* row = new QHBoxLayout(corner);
    row->setContentsMargins(0, 1, 8, 1);
    row->addWidget(makeLabel(tr("Perspective"), TextTone::Hint, TextSize::Small));
    perspective_ = new QComboBox(corner);
    perspective_->setAccessibleName(tr("Perspective"));
    perspective_->setProperty("compact", true);
    perspective_->addItems({ tr("Launch"), tr("Watch"), tr("Inspect data") });
    perspective_->setCurrentIndex(static_cast<int>(Perspective::Watch));
    row->addWidget(perspective_);
    menuBar()->setCornerWidget(corner);
    connect(perspective_, &QComboBox::activated, this, [this](int index) { showPerspective(static_cast<Perspective>(index)); });
    refreshLanguageMenus();
}

void MainWindow::refreshLanguageMenus()
{
    QMenu* view = actions_->menu(Actions::Menu::View);
    QMenu* themes = view->addMenu(tr("Theme"));
    for (const QString& theme : Appearance::themes()) {
        QAction* action = themes->addAction(Appearance::themeName(theme));
        action->setCheckable(true);
        action->setChecked(theme == appearance_.theme());
        connect(action, &QAction::triggered, this, [this, theme] { appearance_.setTheme(theme); });
        connect(&appearance_, &Appearance::themeChanged, action, [this, action, theme] { action->setChecked(theme == appearance_.theme()); });
    }
    QMenu* languages = view->addMenu(tr("Language"));
    for (const QString& language : Appearance::languages()) {
        QAction* action = languages->addAction(Appearance::languageName(language));
        action->setCheckable(true);
        action->setChecked(language == appearance_.language());
        connect(action, &QAction::triggered, this, [this, language] { appearance_.setLanguage(language); });
    }
    themes->setObjectName(QStringLiteral("themes"));
    languages->setObjectName(QStringLiteral("languages"));
}

void MainWindow::buildToolbar()
{
    toolbar_ = addToolBar(tr("Run"));
    toolbar_->setObjectName(QStringLiteral("toolbar.run"));
    toolbar_->setMovable(false);
    toolbar_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    toolbar_->setIconSize(QSize(16, 16));
    toolbar_->toggleViewAction()->setEnabled(false); // the verbs must not be hidden by accident
    toolbar_->addAction(actions_->newRun);
    toolbar_->addSeparator();
    auto* state = new QWidget(toolbar_);
    auto* row = new QHBoxLayout(state);
    row->setContentsMargins(8, 0, 12, 0);
    row->setSpacing(8);
    mark_ = new StateGlyph(state, 14);
    runName_ = makeLabel({}, TextTone::Value, TextSize::Body, true);
    stateWord_ = makeLabel({}, TextTone::Secondary);
    row->addWidget(mark_);
    row->addWidget(runName_);
    row->addWidget(stateWord_);
    toolbar_->addWidget(state);
    for (QAction* verb : { actions_->pause, actions_->stop, actions_->kill, actions_->resume })
        toolbar_->addAction(verb);
    toolbar_->addSeparator();
    toolbar_->addAction(actions_->live);
    auto* space = new QWidget(toolbar_);
    space->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    toolbar_->addWidget(space);
    toolbar_->addAction(actions_->palette);
}

void MainWindow::buildCentre()
{
    centre_ = new QStackedWidget(this);
    runView_ = new RunView(bench_);
    auto* welcome = new WelcomePage(bench_);
    welcome_ = welcome;
    centre_->addWidget(welcome_);
    centre_->addWidget(runView_);
    setCentralWidget(centre_);
    connect(welcome, &WelcomePage::newRunWanted, actions_->newRun, &QAction::trigger);
    connect(welcome, &WelcomePage::openRunWanted, actions_->openRun, &QAction::trigger);
    connect(runView_, &RunView::resumeWanted, this, &MainWindow::resume);
    connect(runView_, &RunView::whyWanted, this, &MainWindow::showWhy);
    connect(runView_, &RunView::cloneWanted, this, &MainWindow::clone);
}

QDockWidget* MainWindow::addDock(const QString& name, const QString& title, QWidget* widget, Qt::DockWidgetArea area)
{
    auto* dock = new QDockWidget(title, this);
    dock->setObjectName(QStringLiteral("dock.") + name);
    dock->setWidget(widget);
    dock->setAccessibleName(title);
    dock->setFeatures(QDockWidget::DockWidgetClosable | QDockWidget::DockWidgetMovable | QDockWidget::DockWidgetFloatable);
    addDockWidget(area, dock);
    docks_.push_back(dock);
    actions_->addForeign(Actions::Menu::View, dock->toggleViewAction());
    return dock;
}

void MainWindow::buildDocks()
{
    library_ = new LibraryDock(bench_);
    QDockWidget* library = addDock(QStringLiteral("library"), tr("Library"), library_, Qt::LeftDockWidgetArea);
    auto* inspectorWidget = new InspectorDock(bench_);
    QDockWidget* inspector = addDock(QStringLiteral("inspector"), tr("Inspector"), inspectorWidget, Qt::RightDockWidgetArea);
    QDockWidget* lanes = addDock(QStringLiteral("lanes"), tr("Worker lanes"), new LanesDock(bench_), Qt::BottomDockWidgetArea);
    events_ = new EventsDock(bench_);
    QDockWidget* events = addDock(QStringLiteral("events"), tr("Events and alerts"), events_, Qt::BottomDockWidgetArea);
    auto* auditWidget = new AuditDock(bench_);
    QDockWidget* audit = addDock(QStringLiteral("audit"), tr("Duplicates and holes"), auditWidget, Qt::BottomDockWidgetArea);
    tabifyDockWidget(lanes, events);
    tabifyDockWidget(events, audit);
    lanes->raise();
    for (QDockWidget* dock : { lanes, events, audit })
        dock->setTitleBarWidget(new QWidget(dock)); // the tab says the title
    library->setMinimumWidth(200);
    inspector->setMinimumWidth(200);
    resizeDocks({ library, inspector }, { kLibraryWidth, kInspectorWidth }, Qt::Horizontal);
    resizeDocks({ lanes }, { kBottomHeight }, Qt::Vertical);
    connect(library_, &LibraryDock::newRunWanted, actions_->newRun, &QAction::trigger);
    connect(library_, &LibraryDock::runChosen, &bench_, &Workbench::showRun);
    connect(inspectorWidget, &InspectorDock::showInMapWanted, actions_->showInMap, &QAction::trigger);
    connect(inspectorWidget, &InspectorDock::showSamplesWanted, actions_->showSamples, &QAction::trigger);
    connect(events_, &EventsDock::alertsChanged, events, [events](int count) {
        events->setWindowTitle(count > 0 ? tr("Events and alerts %1").arg(countText(count)) : tr("Events and alerts"));
    });
    connect(auditWidget, &AuditDock::counted, audit, [this, audit](qint64 twice, qint64 missing) {
        audit->setWindowTitle(tr("Duplicates and holes %1 · %2").arg(twice).arg(missing));
        if (auto* map = qobject_cast<CoveragePage*>(runView_->page(RunView::Coverage)))
            map->setAudit(twice, missing);
    });
}

void MainWindow::buildStatusLine()
{
    QStatusBar* bar = statusBar();
    bar->setSizeGripEnabled(false);
    bar->setContentsMargins(8, 0, 8, 0);
    workspaceText_ = makeLabel({}, TextTone::Secondary, TextSize::Small);
    writerText_ = makeLabel({}, TextTone::Secondary, TextSize::Small);
    paceText_ = makeLabel({}, TextTone::Secondary, TextSize::Small);
    noteText_ = makeLabel({}, TextTone::Secondary, TextSize::Small);
    noteText_->setAlignment(Qt::AlignCenter);
    noteText_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    bar->addWidget(workspaceText_);
    bar->addWidget(writerText_);
    bar->addWidget(paceText_);
    bar->addWidget(noteText_, 1);
    themeButton_ = new QToolButton(bar);
    themeButton_->setMenu(findChild<QMenu*>(QStringLiteral("themes")));
    themeButton_->setAccessibleName(tr("Theme"));
    languageButton_ = new QToolButton(bar);
    languageButton_->setMenu(findChild<QMenu*>(QStringLiteral("languages")));
    languageButton_->setAccessibleName(tr("Language"));
    languageButton_->setText(Appearance::languageName(appearance_.language()));
    for (QToolButton* button : { themeButton_, languageButton_ }) {
        button->setPopupMode(QToolButton::InstantPopup);
        button->setAutoRaise(true);
        button->setFont(scaledFont(TextSize::Small));
        bar->addPermanentWidget(button);
    }
    const auto showTheme = [this] { themeButton_->setText(Appearance::themeName(appearance_.theme())); };
    connect(&appearance_, &Appearance::themeChanged, this, showTheme);
    showTheme();
    const auto showWorkspace = [this] {
        workspaceText_->setText(QFileInfo(bench_.workspace()).fileName());
        workspaceText_->setToolTip(bench_.workspace());
    };
    connect(&bench_, &Workbench::workspaceOpened, this, showWorkspace);
    showWorkspace();
}

void MainWindow::connectBench()
{
    connect(&bench_.watcher(), &RunWatcher::statusRead, this, &MainWindow::takeStatus);
    connect(&bench_.watcher(), &RunWatcher::opened, this, [this] {
        showCentre();
        showState();
    });
    connect(&bench_.watcher(), &RunWatcher::paceMeasured, this, [this](double events, double lag) {
        paceText_->setText(tr("%1 events/s   Lag %2 ms").arg(fixedText(events, 0), fixedText(lag, 0)));
    });
    connect(&bench_.scanner(), &WorkspaceScanner::scanned, this, [this](const RunLinesPtr& lines) {
        // The first look shows the newest run, so that a console that is opened again is where it was.
        if (!lines->empty() && bench_.selection().selection().run.isEmpty() && !launching_)
            bench_.showRun(lines->front().folder);
        showCentre();
    });
}

void MainWindow::showDocks(bool shown)
{
    if (shown) {
        restoreState(stateBeforeLaunch_, kStateVersion);
        toolbar_->show();
        return;
    }
    stateBeforeLaunch_ = saveState(kStateVersion);
    for (QDockWidget* dock : docks_)
        dock->hide();
    toolbar_->hide();
}

void MainWindow::showPerspective(Perspective perspective)
{
    const bool launch = perspective == Perspective::Launch;
    if (launch != launching_) {
        launching_ = launch;
        if (launch)
            newRunPage();
        showDocks(!launch);
        showCentre();
    }
    if (perspective == Perspective::InspectData)
        runView_->showPage(RunView::Coverage);
    perspective_->setCurrentIndex(static_cast<int>(perspective));
}

NewRunPage& MainWindow::newRunPage()
{
    if (newRun_ == nullptr) {
        newRun_ = new NewRunPage(bench_);
        centre_->addWidget(newRun_);
        connect(newRun_, &NewRunPage::closed, this, [this] { showPerspective(Perspective::Watch); });
    }
    return *newRun_;
}

void MainWindow::showCentre()
{
    if (launching_)
        centre_->setCurrentWidget(newRun_);
    else if (bench_.selection().selection().run.isEmpty())
        centre_->setCurrentWidget(welcome_);
    else
        centre_->setCurrentWidget(runView_);
}

void MainWindow::resetLayout()
{
    restoreState(factoryState_, kStateVersion);
}

void MainWindow::takeStatus(const StatusPtr&)
{
    showState();
}

void MainWindow::showState()
{
    const StatusPtr& status = bench_.watcher().status();
    const bool any = !bench_.watcher().folder().isEmpty();
    mark_->setVisible(any);
    const RunState state = status ? status->state : RunState::Unknown;
    mark_->setGlyph(glyphOf(state));
    const QString folder = bench_.watcher().folder();
    const QString name = status && !status->file.config.name.empty() ? QString::fromStdString(status->file.config.name) : QFileInfo(folder).fileName();
    runName_->setText(any ? fontMetrics().elidedText(name, Qt::ElideMiddle, 220) : QString());
    runName_->setToolTip(folder);
    stateWord_->setText(status ? stateWord(state) : any ? tr("Reading…") : QString());
    setWindowTitle(any ? tr("%1 – Furrow").arg(name) : QStringLiteral("Furrow"));
    if (!status)
        writerText_->clear();
    else
        writerText_->setText(status->supervisorPid > 0 ? tr("Writer: supervisor, alive") : tr("Writer: none"));
    enableVerbs();
}

void MainWindow::enableVerbs()
{
    const StatusPtr& status = bench_.watcher().status();
    const RunState state = status ? status->state : RunState::Unknown;
    const bool running = state == RunState::Running;
    const bool paused = state == RunState::Paused && status->supervisorPid > 0; // else it was stopped, and a resume starts it
    const bool alive = status != nullptr && status->supervisorPid > 0;
    const bool known = status != nullptr && !busy_;
    actions_->pause->setText(paused ? tr("Continue") : tr("Pause"));
    actions_->pause->setIconText(actions_->pause->text());
    actions_->pause->setEnabled(known && (running || paused));
    actions_->stop->setEnabled(known && (running || paused));
    actions_->kill->setEnabled(known && alive);
    actions_->resume->setEnabled(known && !alive && !running);
    actions_->resume->setText(state == RunState::New ? tr("Start…") : tr("Resume…"));
    actions_->saveNow->setEnabled(known && running);
    for (QAction* action : { actions_->why, actions_->cloneRun })
        action->setEnabled(status != nullptr);
    for (QAction* action : { actions_->copyPath, actions_->openFolder })
        action->setEnabled(!bench_.watcher().folder().isEmpty());
}

} // namespace furrow
