// How the window is built; what its actions do is in main_window_actions.cpp, main_window_verbs.cpp and
// main_window_runs.cpp.

#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/pages/coverage_page.h"
#include "ui/pages/log_page.h"
#include "ui/parts/overflow.h"
#include "ui/parts/page_parts.h"
#include "ui/parts/until_read.h"
#include "ui/pages/welcome_page.h"
#include "ui/shell/actions.h"
#include "ui/shell/appearance.h"
#include "ui/shell/audit_dock.h"
#include "ui/shell/dock_room.h"
#include "ui/shell/events_dock.h"
#include "ui/shell/gpu_dock.h"
#include "ui/shell/inspector_dock.h"
#include "ui/shell/lanes_dock.h"
#include "ui/shell/library_dock.h"
#include "ui/shell/main_window.h"
#include "ui/shell/queue_dock.h"
#include "ui/shell/replay_bar.h"
#include "ui/shell/run_view.h"
#include "ui/widgets/state_glyph.h"

#include <QComboBox>
#include <QDockWidget>
#include <QFileInfo>
#include <QMenu>
#include <QMenuBar>
#include <QPushButton>
#include <QStackedWidget>
#include <QStatusBar>
#include <QToolBar>
#include <QToolButton>
#include <QVBoxLayout>

namespace furrow {

namespace {

constexpr int kLeastBottom = 90; // two docks above each other and the page must fit into 480 points
constexpr int kLeastSide = 140;

/// A title bar of no height. That of a plain widget is -1, which leaves a folded dock less than nothing.
QWidget* noTitle()
{
    auto* bar = new QWidget;
    (new QVBoxLayout(bar))->setContentsMargins(0, 0, 0, 0);
    return bar;
}

} // namespace

void MainWindow::buildMenus()
{
    menuBar()->setNativeMenuBar(false);
    actions_->fill(menuBar());
    auto* corner = new QWidget(menuBar());
    auto* row = new QHBoxLayout(corner);
    row->setContentsMargins(0, 1, 8, 1);
    row->addWidget(makeLabel(tr("Perspective"), TextTone::Hint, TextSize::Small));
    coverButtons_ = new QHBoxLayout;
    row->insertLayout(0, coverButtons_);
    perspective_ = new QComboBox(corner);
    perspective_->setAccessibleName(tr("Perspective"));
    perspective_->setProperty("compact", true);
    fillPerspectives();
    row->addWidget(perspective_);
    menuBar()->setCornerWidget(corner);
    connect(perspective_, &QComboBox::activated, this, &MainWindow::choosePerspective);
    refreshLanguageMenus();
}

void MainWindow::refreshLanguageMenus()
{
    QMenu* view = actions_->menu(Actions::Menu::View);
    docksMenu_ = view->addMenu(tr("Docks"));
    QMenu* themes = view->addMenu(tr("Theme"));
    for (const auto& one : kClosedNames<ThemeKind>) {
        const ThemeKind theme = one.value;
        QAction* action = themes->addAction(Appearance::themeName(theme));
        action->setCheckable(true);
        action->setChecked(theme == appearance_.theme());
        connect(action, &QAction::triggered, this, [this, theme] { appearance_.setTheme(theme); });
        connect(&appearance_, &Appearance::themeChanged, action,
            [this, action, theme] { action->setChecked(theme == appearance_.theme()); });
    }
    QMenu* languages = view->addMenu(tr("Language"));
    for (const auto& one : kClosedNames<Language>) {
        const Language language = one.value;
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
    Actions::allow(*toolbar_->toggleViewAction(), false,
        tr("the toolbar always stays")); // the verbs must not be hidden by accident
    toolbar_->addAction(actions_->newRun);
    toolbar_->addAction(actions_->queue);
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
    toolbar_->addAction(actions_->replay);
    toolbar_->addWidget(new ReplayBar(bench_, actions_->live, actions_->replay, toolbar_));
    toolbar_->addSeparator();
    toolbar_->addAction(actions_->palette);
    QLabel* key
        = makeLabel(actions_->palette->shortcut().toString(QKeySequence::NativeText), TextTone::Hint, TextSize::Tiny);
    key->setContentsMargins(0, 0, 6, 0);
    toolbar_->addWidget(key);
    dressOverflow(*toolbar_);
    // A toolbar that does not fit has no words for what its glyphs and order say already; the rest goes into its
    // overflow.
    for (QAction* verb : { actions_->palette, actions_->replay })
        qobject_cast<QToolButton*>(toolbar_->widgetForAction(verb))->setToolButtonStyle(Qt::ToolButtonIconOnly);
    dropWordsWhereFull(*toolbar_);
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
    connect(welcome, &WelcomePage::demonstrationWanted, this, &MainWindow::startDemonstration);
    connect(welcome, &WelcomePage::openRunWanted, actions_->openRun, &QAction::trigger);
    connect(runView_, &RunView::resumeWanted, this, &MainWindow::resume);
    connect(runView_, &RunView::whyWanted, this, &MainWindow::showWhy);
    connect(runView_, &RunView::markFinishedWanted, actions_->markFinished, &QAction::trigger);
    connect(runView_, &RunView::cloneWanted, this, &MainWindow::clone);
    connect(runView_, &RunView::newRunFromWanted, this, [this](const QString& checkpoint) {
        clone();
        bench_.form().setText(*findSetting("init_from"), checkpoint);
    });
}

QDockWidget* MainWindow::addDock(const QString& name, const QString& title, QWidget* widget, Qt::DockWidgetArea area)
{
    auto* dock = new QDockWidget(title, this);
    dock->setObjectName(QStringLiteral("dock.") + name);
    widget->setMinimumHeight(area == Qt::BottomDockWidgetArea ? kLeastBottom : kLeastSide);
    dock->setWidget(widget);
    dock->setAccessibleName(title);
    dock->setFeatures(
        QDockWidget::DockWidgetClosable | QDockWidget::DockWidgetMovable | QDockWidget::DockWidgetFloatable);
    addDockWidget(area, dock);
    docks_.push_back(dock);
    actions_->addForeign(Actions::Menu::View, *docksMenu_, dock->toggleViewAction());
    return dock;
}

void MainWindow::buildDocks()
{
    library_ = new LibraryDock(bench_);
    QDockWidget* library = addDock(QStringLiteral("library"), tr("Library"), library_, Qt::LeftDockWidgetArea);
    const auto ofRun = [this](QWidget* view) { return new UntilRead(bench_.watcher(), view); };
    auto* inspectorWidget = new InspectorDock(bench_);
    QDockWidget* inspector
        = addDock(QStringLiteral("inspector"), tr("Inspector"), ofRun(inspectorWidget), Qt::RightDockWidgetArea);
    const auto bottomArea = Qt::BottomDockWidgetArea;
    QDockWidget* lanes = addDock(QStringLiteral("lanes"), tr("Worker lanes"), ofRun(new LanesDock(bench_)), bottomArea);
    events_ = new EventsDock(bench_);
    QDockWidget* events = addDock(QStringLiteral("events"), tr("Events and alerts"), ofRun(events_), bottomArea);
    QDockWidget* gpu = addDock(QStringLiteral("gpu"), tr("GPU history"), ofRun(new GpuDock(bench_)), bottomArea);
    QDockWidget* log = addDock(QStringLiteral("log"), tr("Log"), ofRun(new LogPage(bench_)), bottomArea);
    auto* queueWidget = new QueueDock(bench_);
    queueDock_ = addDock(QStringLiteral("queue"), tr("Queue"), queueWidget, Qt::BottomDockWidgetArea);
    auto* auditWidget = new AuditDock(bench_);
    audit_ = auditWidget;
    QDockWidget* audit
        = addDock(QStringLiteral("audit"), tr("Chunks twice or missing"), auditWidget, Qt::BottomDockWidgetArea);
    auditDock_ = audit;
    libraryDock_ = library;
    inspectorDock_ = inspector;
    connect(&bench_.selection(), &SelectionModel::changed, this, &MainWindow::raiseInspector);
    QDockWidget* const bottom[] = { lanes, gpu, events, log, audit, queueDock_ };
    for (std::size_t i = 1; i < std::size(bottom); ++i)
        tabifyDockWidget(bottom[i - 1], bottom[i]);
    lanes->raise();
    for (QDockWidget* dock : bottom)
        dock->setTitleBarWidget(noTitle()); // the tab says the title
    library->setMinimumWidth(200);
    inspector->setMinimumWidth(200);
    resizeDocks({ library, inspector }, { kLeftDockWidth, kRightDockWidth }, Qt::Horizontal);
    resizeDocks({ lanes }, { kLowerDockHeight }, Qt::Vertical);
    room_ = new DockRoom(*this, docks_, *actions_->foldDocks);
    addCoverButtons();
    connect(library_, &LibraryDock::newRunWanted, actions_->newRun, &QAction::trigger);
    connect(library_, &LibraryDock::menuWanted, this, &MainWindow::showRunMenu);
    connect(library_, &LibraryDock::tagWanted, actions_->editNotes, &QAction::trigger);
    connect(library_, &LibraryDock::demonstrationWanted, this, &MainWindow::startDemonstration);
    connect(queueWidget, &QueueDock::counted, this, [this](int open) {
        queueDock_->setWindowTitle(open > 0 ? tr("Queue %1").arg(countText(open)) : tr("Queue"));
        actions_->queue->setIconText(queueDock_->windowTitle());
    });
    connect(library_, &LibraryDock::runChosen, &bench_, &Workbench::showRun);
    connect(inspectorWidget, &InspectorDock::showInMapWanted, actions_->showInMap, &QAction::trigger);
    connect(inspectorWidget, &InspectorDock::showInChartWanted, actions_->showInChart, &QAction::trigger);
    connect(inspectorWidget, &InspectorDock::showInLogWanted, actions_->showInLog, &QAction::trigger);
    connect(inspectorWidget, &InspectorDock::retryWanted, actions_->retryChunks, &QAction::trigger);
    connect(inspectorWidget, &InspectorDock::acceptWanted, actions_->acceptChunks, &QAction::trigger);
    connect(inspectorWidget, &InspectorDock::quarantineWanted, actions_->quarantineChunks, &QAction::trigger);
    connect(events_, &EventsDock::alertsChanged, events, [events](int count) {
        events->setWindowTitle(count > 0 ? tr("Events and alerts %1").arg(countText(count)) : tr("Events and alerts"));
    });
    connect(
        auditWidget, &AuditDock::audited, this, [this](const AuditPtr& report) { bench_.alerts().takeAudit(*report); });
    connect(auditWidget, &AuditDock::reportSaved, this, &MainWindow::tellSaved);
    connect(auditWidget, &AuditDock::counted, audit, [this, audit](qint64 twice, qint64 missing) {
        audit->setWindowTitle(tr("Chunks twice or missing %1 · %2").arg(twice).arg(missing));
        if (auto* map = qobject_cast<CoveragePage*>(runView_->page(RunView::Coverage)))
            map->setAudit(twice, missing);
    });
    connect(auditWidget, &AuditDock::forgotten, audit, [this, audit] {
        audit->setWindowTitle(tr("Chunks twice or missing"));
        if (auto* map = qobject_cast<CoveragePage*>(runView_->page(RunView::Coverage)))
            map->setAudit(0, 0);
    });
}

/// In the corner of a narrow window, where the docks at the sides are closed until they are asked for.
void MainWindow::addCoverButtons()
{
    for (QDockWidget* dock : { libraryDock_, inspectorDock_ }) {
        auto* button = new QToolButton(menuBar()->cornerWidget());
        button->setDefaultAction(dock->toggleViewAction());
        button->setProperty("boxed", true);
        button->setAccessibleName(dock->windowTitle());
        button->hide();
        coverButtons_->addWidget(button);
        connect(room_, &DockRoom::narrowChanged, button, &QWidget::setVisible);
    }
    connect(room_, &DockRoom::narrowChanged, this, [this] { menuBar()->setCornerWidget(menuBar()->cornerWidget()); });
}

void MainWindow::buildStatusLine()
{
    QStatusBar* bar = statusBar();
    bar->setSizeGripEnabled(false);
    bar->setContentsMargins(8, 0, 8, 0);
    workspaceText_ = makeLabel({}, TextTone::Secondary, TextSize::Small);
    writerText_ = makeLabel({}, TextTone::Secondary, TextSize::Small);
    paceText_ = makeLabel({}, TextTone::Secondary, TextSize::Small);
    densityText_ = new ElidedLabel(TextTone::Secondary, TextSize::Small);
    densityText_->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred); // the note begins behind its last word
    noteText_ = new ElidedLabel(TextTone::Secondary, TextSize::Small); // a long sentence must not widen the window
    noteText_->setAlignment(Qt::AlignCenter);
    for (QLabel* text : { writerText_, paceText_, densityText_ })
        text->setContentsMargins(12, 0, 0, 0);
    bar->addWidget(workspaceText_);
    bar->addWidget(writerText_);
    bar->addWidget(paceText_);
    bar->addWidget(densityText_);
    auto* note = new QWidget; // one thing for the bar: a tip takes the place of both
    auto* noteRow = new QHBoxLayout(note);
    noteRow->setContentsMargins(0, 0, 0, 0);
    noteRow->addWidget(noteText_, 1);
    bar->addWidget(note, 1);
    noteRead_ = makeButton(tr("Mark as read"));
    noteRead_->setProperty("link", true);
    noteRead_->setAccessibleDescription(tr("Dismisses the warning"));
    noteRead_->hide();
    noteRow->addWidget(noteRead_);
    connect(noteRead_, &QPushButton::clicked, this, [this] { dropWarning(); });
    connect(&bench_.watcher(), &RunWatcher::opened, this, [this] { dropWarning(); }); // it was about another run
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
    const auto showDensity = [this] {
        densityText_->setVisible(centre_->currentWidget() == runView_ && runView_->currentPage() == RunView::Charts);
    };
    connect(centre_, &QStackedWidget::currentChanged, this, showDensity);
    connect(runView_, &RunView::pageShown, this, showDensity);
    showDensity();
    connect(runView_, &RunView::densityChanged, this, [this](const QString& density) {
        densityText_->setText(density.isEmpty() ? QString() : tr("Charts: %1").arg(density));
    });
}

} // namespace furrow
