#include "core/base/path.h"
#include "core/base/process.h"
#include "core/run/folder/memory_file.h"
#include "core/tracker/named_chunks.h"
#include "tests/ui/patience.h"
#include "tests/ui/run_story.h"
#include "ui/models/run_form.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/charts/coverage_map.h"
#include "ui/pages/coverage_page.h"
#include "ui/pages/log_page.h"
#include "ui/pages/new_run/checkpoint_picker.h"
#include "ui/parts/form_field.h"
#include "ui/pages/new_run/form_group.h"
#include "ui/pages/new_run/memory_view.h"
#include "ui/pages/new_run/new_run_page.h"
#include "ui/dialogs/quarantine_dialog.h"
#include "ui/shell/appearance.h"
#include "ui/shell/console.h"
#include "ui/shell/events_dock.h"
#include "ui/shell/inspector_dock.h"
#include "ui/shell/main_window.h"
#include "ui/shell/replay_bar.h"
#include "ui/shell/run_view.h"
#include "ui/widgets/lane_view.h"

#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QDockWidget>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QRegularExpression>
#include <QScrollBar>
#include <QSignalSpy>
#include <QStatusBar>
#include <QTabBar>
#include <QTableView>
#include <QToolBar>
#include <QToolButton>
#include <QTreeView>
#include <QtTest>
#include <algorithm>
#include <cmath>
#include <map>

using namespace furrow;
using namespace furrow::test;

namespace {

QWidget* named(QWidget* parent, const char* type, const QString& name)
{
    const auto all = parent->findChildren<QWidget*>();
    for (QWidget* widget : all) {
        if (widget->inherits(type) && widget->accessibleName() == name)
            return widget;
    }
    return nullptr;
}

} // namespace

class TestConsole : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { registerBridgeTypes(); }

    void watcherBringsStatusCellsClaimsEventsLogAndTelemetry()
    {
        const RunStory story({});
        RunWatcher watcher;
        const QSignalSpy status(&watcher, &RunWatcher::statusRead);
        const QSignalSpy cells(&watcher, &RunWatcher::cellsRead);
        const QSignalSpy claims(&watcher, &RunWatcher::claimsRead);
        const QSignalSpy log(&watcher, &RunWatcher::logRead);
        const QSignalSpy telemetry(&watcher, &RunWatcher::telemetryRead);
        watcher.open(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(
            !status.isEmpty() && !cells.isEmpty() && !claims.isEmpty() && !log.isEmpty() && !telemetry.isEmpty(),
            kPatienceMs);
        const auto first = cells.first().first().value<CellsPtr>();
        QVERIFY(first->reset);
        QCOMPARE(first->cells.size(), std::size_t(24));
        QCOMPARE(watcher.status()->file.config.name, std::string("story"));
    }

    void whatChangesInTheRunArrivesByItself()
    {
        RunStory story({});
        Workbench bench(story.workspace());
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(!bench.claims().claims().empty() && !bench.cells().cells().empty(), kPatienceMs);
        const auto committed = [&bench] {
            return std::count_if(bench.cells().cells().begin(), bench.cells().cells().end(),
                [](const ChunkCell& cell) { return cell.state == ChunkState::Committed; });
        };
        const auto before = committed();
        QVERIFY(story.trainOne(0, true));
        QTRY_VERIFY_WITH_TIMEOUT(committed() > before, kPatienceMs);
    }

    /// Only moves of the ledger were counted: a run of many steps a second showed "4 events/s".
    void thePaceCountsTheStepsThatAreRead()
    {
        RunStory::Size size;
        size.stepsPerChunk = 300;
        RunStory story(size);
        Workbench bench(story.workspace());
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().status() && bench.watcher().telemetry(), kPatienceMs);
        double fastest = 0;
        connect(&bench.watcher(), &RunWatcher::paceMeasured, &bench,
            [&fastest](double events, double) { fastest = std::max(fastest, events); });
        QTest::qWait(100);
        while (story.trainOne(0, true)) { }
        QTRY_VERIFY_WITH_TIMEOUT((story.makeAlive(), fastest > 100), kPatienceMs); // a heartbeat is an update too
    }

    void heldViewsStandStillAndTheStateGoesOn()
    {
        RunStory story({});
        Workbench bench(story.workspace());
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(!bench.cells().cells().empty(), kPatienceMs);
        bench.watcher().setHeld(true);
        QTest::qWait(400); // what was on its way arrives
        const QSignalSpy cells(&bench.watcher(), &RunWatcher::cellsRead);
        const QSignalSpy status(&bench.watcher(), &RunWatcher::statusRead);
        QVERIFY(story.trainOne(0, true));
        QTRY_VERIFY_WITH_TIMEOUT(status.count() >= 2, kPatienceMs);
        QCOMPARE(cells.count(), 0);
        bench.watcher().setHeld(false);
        QTRY_VERIFY_WITH_TIMEOUT(cells.count() > 0, kPatienceMs);
    }

    void aFolderThatIsNoRunSaysSo()
    {
        const QTemporaryDir folder;
        RunWatcher watcher;
        const QSignalSpy failed(&watcher, &RunWatcher::problemChanged);
        watcher.open(folder.path());
        QTRY_VERIFY_WITH_TIMEOUT(!failed.isEmpty(), kPatienceMs);
        QVERIFY(!failed.first().first().value<Message>().empty());
    }

    /// A backup of the run that was put back: header and figures were its own, workers, map, events and chart those of
    /// the folder that had been there.
    void twoRunsWereMixedWhereAnotherFolderWasPut()
    {
        RunStory story({});
        const std::filesystem::path folder = story.folder().toStdString();
        const auto backup = folder.parent_path() / "backup";
        std::filesystem::copy(folder, backup, std::filesystem::copy_options::recursive);
        QVERIFY(story.trainOne(0, true));
        Workbench bench(story.workspace());
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().tables() != nullptr && !bench.cells().cells().empty(), kPatienceMs);
        std::filesystem::rename(folder, folder.parent_path() / "away");
        std::filesystem::rename(backup, folder);
        const QSignalSpy opened(&bench.watcher(), &RunWatcher::opened);
        const QSignalSpy events(&bench.watcher(), &RunWatcher::eventsRead);
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().tables() != nullptr && !bench.cells().cells().empty(), kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(!events.isEmpty(), kPatienceMs);
        QCOMPARE(events.first().first().value<EventsPtr>()->front().seq, 1); // all of them, of this one
        QTest::qWait(1500);
        QCOMPARE(opened.count(), 1);
    }

    void scannerListsTheRunsOfAWorkspace()
    {
        const RunStory story({});
        WorkspaceScanner scanner;
        const QSignalSpy scanned(&scanner, &WorkspaceScanner::scanned);
        scanner.open(story.workspace(), {});
        QTRY_VERIFY_WITH_TIMEOUT(!scanned.isEmpty() && !scanner.lines()->empty(), kPatienceMs);
        const RunLine& line = scanner.lines()->front();
        QCOMPARE(line.name, QStringLiteral("story"));
        QVERIFY(!line.sparkline.empty());
        QVERIFY(line.problem.empty());
    }

    void windowShowsEveryPageOfARunInBothThemes()
    {
        const RunStory story({});
        Appearance appearance(false);
        Workbench bench(story.workspace());
        MainWindow window(bench, appearance, false);
        window.resize(1280, 800);
        window.show();
        bench.start({});
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().status() != nullptr && !bench.cells().cells().empty(), kPatienceMs);
        for (const ThemeKind theme : { ThemeKind::Dark, ThemeKind::Light }) {
            appearance.setTheme(theme);
            for (int page = 0; page < RunView::kPageCount; ++page) {
                window.runView().showPage(page);
                QTest::qWait(50);
                const QImage picture = window.grab().toImage();
                QVERIFY(!picture.isNull());
                QVERIFY(window.runView().page(page)->width() > 400);
            }
        }
        auto* runs = qobject_cast<QTreeView*>(named(&window, "QTreeView", QStringLiteral("Runs")));
        QVERIFY(runs != nullptr);
        QTRY_COMPARE(runs->model()->rowCount(), 1);
    }

    void theWindowOutgrewASmallScreen_data()
    {
        QTest::addColumn<Language>("language");
        for (const auto& one : kClosedNames<Language>)
            QTest::newRow(one.name.data()) << one.value;
    }

    /// A screen of 1280x720 pixels at 150 %. In Spanish the words of the inspector made the window 41 points wider.
    void theWindowOutgrewASmallScreen()
    {
        QFETCH(Language, language);
        constexpr QSize kScreen(853, 480);
        const RunStory story({});
        Appearance appearance(false);
        appearance.setLanguage(language);
        const auto back = qScopeGuard([&appearance] { appearance.setLanguage(Language::English); });
        Workbench bench(story.workspace());
        MainWindow window(bench, appearance, false);
        window.resize(kScreen);
        window.show();
        window.addDockWidget(Qt::RightDockWidgetArea,
            window.findChild<QDockWidget*>(QStringLiteral("dock.inspector"))); // as a person may want it
        bench.start({});
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(
            bench.watcher().status() && bench.watcher().telemetry() && !bench.cells().cells().empty(), kPatienceMs);
        bench.selection().setChunks(
            { { bench.cells().cells().front().id, 0, 0 } }); // with its buttons in the inspector
        for (int page = 0; page < RunView::kPageCount; ++page) {
            window.runView().showPage(page);
            const auto buttons = window.runView().page(page)->findChildren<QPushButton*>();
            for (QPushButton* button : buttons) // statistics and display of the charts
                button->setChecked(button->isCheckable());
            QTest::qWait(50);
            QCOMPARE(window.size(), kScreen);
        }
        const auto docks = window.findChildren<QDockWidget*>();
        for (QDockWidget* dock : docks) { // those below are closed at first in so small a window
            dock->show();
            dock->raise();
            QTest::qWait(20);
            QVERIFY2(window.size() == kScreen, qPrintable(dock->objectName()));
        }
        for (const auto perspective : { MainWindow::Perspective::Launch, MainWindow::Perspective::Compare }) {
            window.showPerspective(perspective);
            QTest::qWait(50);
            QCOMPARE(window.size(), kScreen);
        }
    }

    /// Another language put the panel below back to its first tab, and the form of a new run away.
    void anotherLanguageLostWhatWasInFront()
    {
        const RunStory story({});
        ConsoleOptions options;
        options.workspace = story.workspace();
        options.safeMode = true;
        options.size = { 1280, 900 };
        Console console(options);
        console.show();
        console.bench().showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(console.bench().watcher().status(), kPatienceMs);
        const auto events
            = [&console] { return console.window().findChild<QDockWidget*>(QStringLiteral("dock.events")); };
        const auto lanes
            = [&console] { return console.window().findChild<QDockWidget*>(QStringLiteral("dock.lanes")); };
        events()->raise();
        QTRY_VERIFY_WITH_TIMEOUT(!events()->visibleRegion().isEmpty(), kPatienceMs);
        const auto speak = [&console](const QString& language) {
            MainWindow* before = &console.window();
            for (QAction* action : before->findChild<QMenu*>(QStringLiteral("languages"))->actions())
                if (action->text().startsWith(language))
                    action->trigger();
            QTRY_VERIFY_WITH_TIMEOUT(&console.window() != before || language.isEmpty(), kPatienceMs);
        };
        const auto back = qScopeGuard([] { Appearance(false).setLanguage(Language::English); });
        speak(Appearance::languageName(Language::Spanish));
        QTRY_VERIFY_WITH_TIMEOUT(
            !events()->visibleRegion().isEmpty() && lanes()->visibleRegion().isEmpty(), kPatienceMs);
        console.window().showPerspective(MainWindow::Perspective::Launch);
        speak(Appearance::languageName(Language::English));
        QVERIFY(console.window().perspective() == MainWindow::Perspective::Launch);
        console.window().showPerspective(MainWindow::Perspective::Watch);
        QTRY_VERIFY_WITH_TIMEOUT(!events()->visibleRegion().isEmpty(), kPatienceMs);
    }

    /// The rows stayed in the language in which they had come, and the list went back to its first one.
    void anotherLanguageLeftTheEventsInTheOldOneAndWentToTheTop()
    {
        const RunStory story({});
        ConsoleOptions options;
        options.workspace = story.workspace();
        options.safeMode = true;
        options.size = { 1280, 900 };
        Console console(options);
        console.show();
        console.bench().showRun(story.folder());
        console.window().findChild<QDockWidget*>(QStringLiteral("dock.events"))->raise();
        const auto table = [&console] { return console.window().events().findChild<QTableView*>(); };
        const auto all = [&console] { return console.window().events().findChild<QCheckBox*>(); };
        const auto texts = [&table] {
            QStringList each;
            for (int row = 0; row < table()->model()->rowCount(); ++row)
                each.append(table()->model()->index(row, 4).data().toString());
            return each;
        };
        all()->setChecked(true);
        QTRY_VERIFY_WITH_TIMEOUT(table()->verticalScrollBar()->maximum() > 8, kPatienceMs);
        const QString english = chunkStateWord(ChunkState::Leased);
        const QStringList before = texts();
        QVERIFY(before.join(QLatin1Char('\n')).contains(english));
        table()->verticalScrollBar()->setValue(table()->verticalScrollBar()->maximum() / 2);
        const int top = table()->rowAt(0);
        QVERIFY(top > 0);
        MainWindow* window = &console.window();
        const auto back = qScopeGuard([] { Appearance(false).setLanguage(Language::English); });
        for (QAction* action : window->findChild<QMenu*>(QStringLiteral("languages"))->actions())
            if (action->text().startsWith(Appearance::languageName(Language::Spanish)))
                action->trigger();
        QTRY_VERIFY_WITH_TIMEOUT(&console.window() != window, kPatienceMs);
        const QString spanish = chunkStateWord(ChunkState::Leased);
        QVERIFY(spanish != english);
        const QStringList now = texts();
        QCOMPARE(now.size(), before.size());
        QVERIFY2(now.join(QLatin1Char('\n')).contains(spanish), qPrintable(now.join(QLatin1Char('\n'))));
        QVERIFY(all()->isChecked());
        QTRY_COMPARE_WITH_TIMEOUT(table()->rowAt(0), top, kPatienceMs);
    }

    /// In Spanish the toolbar does not fit 1280 pixels: its separators took the room that was left and stood there as
    /// grey blocks.
    void separatorsOfAToolbarThatDoesNotFitBecameBlocks()
    {
        const RunStory story({});
        Appearance appearance(false);
        appearance.setLanguage(Language::Spanish);
        const auto back = qScopeGuard([&appearance] { appearance.setLanguage(Language::English); });
        Workbench bench(story.workspace());
        MainWindow window(bench, appearance, false);
        window.show();
        bench.start({});
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().status().get() != nullptr, kPatienceMs);
        const auto* bar = window.findChild<QToolBar*>(QStringLiteral("toolbar.run"));
        for (int width = 1400; width > 860; width -= 12) { // few widths showed it
            window.resize(width, 700);
            QTest::qWait(20);
            for (QAction* action : bar->actions())
                if (action->isSeparator() && bar->widgetForAction(action)->isVisible())
                    QVERIFY2(bar->widgetForAction(action)->width() < 20,
                        qPrintable(QStringLiteral("%1 at %2").arg(bar->widgetForAction(action)->width()).arg(width)));
        }
    }

    /// At 1024 pixels the slider of the replay and the palette stood behind the chevron.
    void theSliderWasNotReachedOnASmallScreen()
    {
        const RunStory story({});
        Appearance appearance(false);
        Workbench bench(story.workspace());
        MainWindow window(bench, appearance, false);
        window.resize(1024, 640);
        window.show();
        bench.start({});
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().status().get() != nullptr, kPatienceMs);
        const auto* bar = window.findChild<QToolBar*>(QStringLiteral("toolbar.run"));
        const auto isOnBar = [bar](const QWidget* widget) {
            return widget->isVisible() && widget->mapTo(bar, QPoint(widget->width(), 0)).x() <= bar->width();
        };
        const auto buttonOf = [bar](const QString& text) {
            const auto actions = bar->actions();
            const auto found = std::find_if(actions.begin(), actions.end(),
                [&text](const QAction* one) { return one->text().remove(QLatin1Char('&')) == text; });
            return found == actions.end() ? nullptr : qobject_cast<QToolButton*>(bar->widgetForAction(*found));
        };
        QTRY_VERIFY(isOnBar(bar->findChild<ReplayBar*>()));
        QVERIFY(isOnBar(buttonOf(QStringLiteral("Command palette"))));
        const auto* stop = buttonOf(QStringLiteral("Stop"));
        QCOMPARE(stop->toolButtonStyle(), Qt::ToolButtonIconOnly);
        QVERIFY(!stop->toolTip().isEmpty());
        window.resize(1600, 800);
        QTRY_COMPARE(stop->toolButtonStyle(), Qt::ToolButtonTextBesideIcon);
    }

    /// Between its docks the page had 300 x 170 of 853 x 480 points.
    void inASmallWindowThePageWasASlitBetweenItsDocks()
    {
        const RunStory story({});
        Appearance appearance(false);
        Workbench bench(story.workspace());
        MainWindow window(bench, appearance, false);
        window.resize(853, 480);
        window.show();
        bench.start({});
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().status() && !bench.cells().cells().empty(), kPatienceMs);
        QTRY_VERIFY(window.runView().width() > 550);
        QVERIFY(window.runView().height() > 300);
        const auto* inspector = window.findChild<QDockWidget*>(QStringLiteral("dock.inspector"));
        QVERIFY(inspector->visibleRegion().isEmpty());
        bench.selection().setChunks({ { bench.cells().cells().front().id, 0, 0 } });
        QTRY_VERIFY(!inspector->visibleRegion().isEmpty());
    }

    void theStatusBarSaysHowManyPointsAPixelStandsFor()
    {
        RunStory::Size size;
        size.stepsPerChunk = 800;
        const RunStory story(size);
        Appearance appearance(false);
        Workbench bench(story.workspace());
        MainWindow window(bench, appearance, false);
        window.resize(1000, 700);
        window.show();
        bench.showRun(story.folder());
        const auto says = [&window] {
            const auto labels = window.statusBar()->findChildren<QLabel*>();
            return std::any_of(labels.begin(), labels.end(), [](const QLabel* label) {
                static const QRegularExpression words(
                    QStringLiteral("^Charts: 1 px = [0-9,]+ points, min and max kept$"));
                return label->isVisible() && words.match(label->text()).hasMatch()
                    && label->width() >= label->sizeHint().width();
            });
        };
        window.runView().showPage(RunView::Charts);
        QTRY_VERIFY_WITH_TIMEOUT(says(), kPatienceMs);
        window.runView().showPage(RunView::Coverage);
        QVERIFY(!says());
        window.runView().showPage(RunView::Charts);
        QVERIFY(says());
        window.showPerspective(MainWindow::Perspective::Launch);
        QVERIFY(!says());
    }

    void everyControlHasAnAccessibleName()
    {
        const RunStory story({});
        Appearance appearance(false);
        Workbench bench(story.workspace());
        MainWindow window(bench, appearance, false);
        window.show();
        window.showPerspective(MainWindow::Perspective::Launch);
        for (int page = 0; page < RunView::kPageCount; ++page)
            window.runView().showPage(page);
        const auto all = window.findChildren<QWidget*>();
        int controls = 0;
        for (const QWidget* widget : all) {
            const bool control = qobject_cast<const QLineEdit*>(widget) || qobject_cast<const QComboBox*>(widget)
                || qobject_cast<const QTableView*>(widget);
            const bool inner = widget->parentWidget() != nullptr
                && (qobject_cast<const QComboBox*>(widget->parentWidget())
                    || widget->objectName().startsWith(QLatin1String("qt_")));
            if (!control || inner)
                continue;
            ++controls;
            QVERIFY2(!widget->accessibleName().isEmpty(),
                qPrintable(QStringLiteral("%1 in %2")
                        .arg(QLatin1String(widget->metaObject()->className()),
                            QLatin1String(widget->parentWidget()->metaObject()->className()))));
        }
        QVERIFY2(controls > 10, qPrintable(QString::number(controls))); // the form of a new run alone has more
    }

    void lanesAreWalkedWithTheArrows()
    {
        LaneView lanes;
        auto two = std::make_shared<std::vector<Lane>>(2);
        for (int w = 0; w < 2; ++w) {
            (*two)[static_cast<std::size_t>(w)].worker = w;
            for (int i = 0; i < 3; ++i)
                (*two)[static_cast<std::size_t>(w)].claims.push_back(
                    { 10 * w + i + 1, QStringLiteral("B0 C%1").arg(i), 10.0 * i, 10.0 * i + 1, 10.0 * i + 9, false });
        }
        lanes.setLanes(two);
        lanes.setRange(0, 30, false);
        const QSignalSpy clicked(&lanes, &LaneView::chunkClicked);
        for (const Qt::Key key : { Qt::Key_Right, Qt::Key_Left, Qt::Key_Down, Qt::Key_Left })
            QTest::keyClick(&lanes, key);
        QCOMPARE(clicked.count(), 3);
        QCOMPARE(clicked[0].first().toLongLong(), 3); // the newest
        QCOMPARE(clicked[1].first().toLongLong(), 2);
        QCOMPARE(clicked[2].first().toLongLong(), 13); // the newest of the other lane
    }

    void theOverviewSaysWhatWasReadAndHowMuchOfItIsInTheWeights()
    {
        const RunStory story({});
        Reading reading;
        reading.samplesFetched = 1000;
        reading.textBytes = 2'000'000;
        reading.labels = 90;
        reading.slots = 100;
        good(publishReading(story.paths(), reading));
        Appearance appearance(false);
        Workbench bench(story.workspace());
        MainWindow window(bench, appearance, false);
        window.show();
        bench.showRun(story.folder());
        const auto figure = [&window](const QString& name) {
            const auto labels = window.runView().page(RunView::Overview)->findChildren<QLabel*>();
            for (const QLabel* label : labels) {
                if (label->accessibleName() == name)
                    return label->text();
            }
            return QString();
        };
        QTRY_COMPARE_WITH_TIMEOUT(figure(QStringLiteral("Samples read")), QStringLiteral("1,000"), kPatienceMs);
        QCOMPARE(figure(QStringLiteral("Padding")), QStringLiteral("10.0 %"));
        QVERIFY2(figure(QStringLiteral("Uses of each sample")).endsWith(QStringLiteral(" times")),
            qPrintable(figure(QStringLiteral("Uses of each sample")))); // it said 181.6 % of what was read
    }

    /// It said "times trained 3", "19 to be trained" of a committed chunk, and two numbers of tokens in one panel.
    void aChunkThatWasTrainedInPartsIsInTheWeightsOnce()
    {
        const RunStory story({ 2, 6, 1, 0, 8 });
        auto worker = good(WorkerLedger::open(story.paths().tracker(), "00112233aabbccdd"));
        (void)good(worker.start({ story.attempt(), 3, 3, "cpu", "CPU" }, 600));
        ChunkId chunk;
        int part = 0;
        for (const WindowRange range : { WindowRange { 0, 4 }, WindowRange { 4, 7 }, WindowRange { 7, 10 } }) {
            const Claim claim = std::get<Claim>(good(worker.claim()));
            chunk = claim.chunk;
            good(worker.begin(claim));
            ChunkOutcome outcome;
            outcome.done = { range };
            outcome.tokens = 100 * range.size();
            outcome.lossSum = 2.0 * static_cast<double>(outcome.tokens);
            outcome.firstStep = range.begin + 1;
            outcome.lastStep = range.end;
            good(worker.finish(claim, outcome, range.end < 10));
            CheckpointRecord record;
            record.replica = 3;
            record.folder = "3-" + std::to_string(++part);
            record.manifestSha256 = std::string(64, 'a');
            (void)good(worker.commit(record, std::vector<Part> { { claim.chunk, range, range.size() } }));
        }
        Workbench bench(story.workspace());
        InspectorDock inspector(bench);
        inspector.show();
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(
            bench.cells().find(chunk) != nullptr && bench.claims().claimsOf(chunk).size() == 3, kPatienceMs);
        bench.selection().setChunks({ { chunk, placeOf(chunk).block, placeOf(chunk).column } });
        const auto says = [&inspector](const QString& name) {
            const auto labels = inspector.findChildren<QLabel*>();
            return std::any_of(
                labels.begin(), labels.end(), [&](const QLabel* label) { return label->accessibleName() == name; });
        };
        QTRY_VERIFY_WITH_TIMEOUT(says(QStringLiteral("In weights: once, in 3 parts")), kPatienceMs);
        QVERIFY(says(QStringLiteral("Tokens learnt from: 1,000"))); // of all its parts
        QVERIFY(says(QStringLiteral("State: committed")));
        QVERIFY(says(QStringLiteral("Checkpoint: 3")));
    }

    void theSelectedChunksGoOnTheQuarantineListAndIntoANewRun()
    {
        const RunStory story({});
        Appearance appearance(false);
        Workbench bench(story.workspace());
        MainWindow window(bench, appearance, false);
        window.show();
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().status() != nullptr && !bench.cells().cells().empty(), kPatienceMs);
        const ChunkCell& cell = bench.cells().cells().front();
        bench.selection().setChunks({ { cell.id, cell.block, cell.column } });
        QPushButton* button = nullptr;
        const auto buttons = window.findChildren<QPushButton*>();
        for (QPushButton* candidate : buttons)
            button = candidate->text().startsWith(QLatin1String("Quarantine ")) ? candidate : button;
        QVERIFY(button != nullptr);
        button->click();
        auto* dialog = window.findChild<QuarantineDialog*>();
        QVERIFY(dialog != nullptr);
        QVERIFY(bench.quarantine().text().contains(QStringLiteral("chunk %1:%2\n").arg(cell.block).arg(cell.column)));
        const auto feet = dialog->findChildren<QPushButton*>();
        for (QPushButton* foot : feet) {
            if (foot->accessibleName().startsWith(QLatin1String("New run without")))
                foot->click();
        }
        QCOMPARE(QString::fromStdString(bench.form().config().exclude),
            bench.quarantine().fileOf(QStringLiteral("left-out")));
        QVERIFY(QFile::exists(bench.quarantine().fileOf(QStringLiteral("left-out"))));
    }

    /// The status advised to accept or retry, and nothing did either.
    void poisonedChunksAreTriedAgainFromTheInspectorAndAcceptedFromTheMap()
    {
        const RunStory story({});
        auto feeder = good(FeederLedger::open(story.paths().tracker()));
        for (int block = 0; block < 4; ++block)
            good(feeder.setFailed(block, "the page is damaged"));
        const auto poisoned = good(poisonedChunks(story.paths().tracker()));
        QVERIFY(poisoned.size() > 1);
        Appearance appearance(false);
        Workbench bench(story.workspace());
        MainWindow window(bench, appearance, false);
        window.show();
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(
            bench.watcher().status() != nullptr && bench.cells().find(poisoned.front().chunk) != nullptr, kPatienceMs);
        const ChunkPlace place = placeOf(poisoned.front().chunk);
        bench.selection().setChunks({ { poisoned.front().chunk, place.block, place.column } });
        QPushButton* retry = nullptr;
        const auto buttons = window.findChildren<QPushButton*>();
        for (QPushButton* candidate : buttons)
            retry = candidate->text() == QLatin1String("Try again") ? candidate : retry;
        QVERIFY(retry != nullptr && !retry->isHidden());
        const auto left = [&] { return good(poisonedChunks(story.paths().tracker())).size(); };
        retry->click();
        QTRY_COMPARE_WITH_TIMEOUT(left(), poisoned.size() - 1, kPatienceMs);
        bench.selection().clear();
        window.findChild<RunView*>()->showPage(RunView::Coverage);
        QAction* accept = nullptr;
        const auto offered = window.findChild<CoverageMap*>()->actions();
        for (QAction* action : offered)
            accept = action->text() == QStringLiteral("Accept poisoned chunks…") ? action : accept;
        QVERIFY(accept != nullptr);
        QTRY_VERIFY_WITH_TIMEOUT(accept->isEnabled(), kPatienceMs);
        accept->trigger();
        auto* box = window.findChild<QMessageBox*>();
        QVERIFY(box != nullptr);
        for (QAbstractButton* button : box->buttons())
            if (QString(button->text()).remove(QLatin1Char('&')) == QLatin1String("Accept"))
                button->click();
        QTRY_COMPARE_WITH_TIMEOUT(left(), std::size_t(0), kPatienceMs);
    }

    void aNewRunBeginsWithTheCheckpointThatIsChosen()
    {
        const RunStory story({});
        Workbench bench(story.workspace());
        bench.start({});
        QTRY_VERIFY_WITH_TIMEOUT(bench.scanner().lines() && !bench.scanner().lines()->empty(), kPatienceMs);
        CheckpointPicker picker(bench, nullptr);
        const QSignalSpy chosen(&picker, &CheckpointPicker::chosen);
        picker.show();
        auto* table = picker.findChild<QTableView*>();
        QTRY_VERIFY_WITH_TIMEOUT(table->model()->rowCount() > 0, kPatienceMs);
        QTest::keyClick(&picker, Qt::Key_Return);
        QCOMPARE(chosen.count(), 1);
        QCOMPARE(chosen.first().at(0).toString(), story.folder());
        QVERIFY(chosen.first().at(1).toString().startsWith(story.folder() + QStringLiteral("/checkpoints/")));
    }

    void aWrongValueIsShownBesideItsFieldAndItsFixMendsIt()
    {
        const QTemporaryDir folder;
        Appearance appearance(false);
        Workbench bench(folder.path());
        bench.form().setText(*findSetting("data"), QStringLiteral("/nowhere.txt"));
        NewRunPage page(bench);
        page.resize(1200, 900);
        page.show();
        bench.form().setText(*findSetting("heads"), QStringLiteral("3"));
        QTest::qWait(50);
        QPushButton* fix = nullptr;
        const auto buttons = page.findChildren<QPushButton*>();
        for (QPushButton* button : buttons) {
            if (button->isVisible() && button->text().startsWith(QLatin1String("Set to")))
                fix = button;
        }
        QVERIFY(fix != nullptr);
        QVERIFY(!bench.form().isReady());
        fix->click();
        QVERIFY(bench.form().problems().empty());
    }

    void aFieldSaysWhatItsZeroMeans()
    {
        UnitEdit field(QStringLiteral("steps"));
        field.setZeroMeaning(QStringLiteral("no limit"));
        field.resize(300, 28);
        field.show();
        const auto* unit = field.findChild<QLabel*>();
        field.setText(QStringLiteral("0"));
        QCOMPARE(unit->text(), QStringLiteral("no limit"));
        field.setText(QStringLiteral("20"));
        QCOMPARE(unit->text(), QStringLiteral("steps"));
        field.setText(QStringLiteral("0"));
        field.resize(60, 28); // no room
        QCOMPARE(unit->text(), QStringLiteral("steps"));
    }

    void theEndOfTheLogStaysInSightWhenThePageBecomesSmaller()
    {
        const QTemporaryDir folder;
        Workbench bench(folder.path());
        std::vector<LogLine> lines;
        for (int i = 0; i < 200; ++i)
            lines.push_back({ QStringLiteral("2026-03-13 18:42:10.123"), LogLevel::Info, QStringLiteral("worker-0"),
                QString::number(i) });
        bench.log().append(lines);
        LogPage page(bench);
        page.resize(700, 600);
        page.show();
        QTest::qWait(20);
        page.resize(700, 300);
        QTest::qWait(20);
        const auto* bar = page.findChild<QTableView*>()->verticalScrollBar();
        QCOMPARE(bar->value(), bar->maximum());
    }

    void theMemoryOfANewRunIsCorrectedByEarlierOnes()
    {
        const QTemporaryDir folder;
        Appearance appearance(false);
        Workbench bench(folder.path());
        const RunConfig& config = bench.form().config();
        const ModelConfig model = modelConfigOf(config, usualVocabulary(config));
        const StepPath path = stepPathOf(config, model, false);
        const auto workers = placeWorkers(config, {}, cpuCount());
        QVERIFY(workers.ok());
        const std::int64_t estimated = estimateMemory(config, model, path, workers.value().front().threads).total();
        const RunPaths earlier(pathFromUtf8(folder.path().toStdString()) / "runs" / "earlier");
        QVERIFY(
            publishMemory(earlier, 0, { { "CPU", path, toString(model.architecture) }, estimated, estimated * 3 / 2 })
                .ok());
        MemoryView view(bench);
        view.resize(400, 200);
        view.show();
        QString shown;
        for (const QLabel* label : view.findChildren<QLabel*>())
            shown += label->text() + QLatin1Char('\n');
        QVERIFY2(shown.contains(bytesText(static_cast<std::uint64_t>(estimated * 3 / 2))), qPrintable(shown));
        QVERIFY2(shown.contains(QStringLiteral("corrected by what 1 worker of earlier runs used")), qPrintable(shown));
    }

    /// Thirteen built-in presets and one's own were one list, told apart by a small word.
    void presetsOfAPersonWereLostAmongTheBuiltInOnes()
    {
        const Appearance english(false);
        const RunStory story({});
        Workbench bench(story.workspace());
        RunConfig own = findPreset("124m").value().config;
        own.batchSize = 7;
        QVERIFY(saveOwnPreset(story.workspace(), QStringLiteral("night queue"), own).ok());
        NewRunPage page(bench);
        auto* list = qobject_cast<QListWidget*>(named(&page, "QListWidget", QStringLiteral("Presets")));
        QVERIFY(list != nullptr);
        QCOMPARE(list->item(0)->text(), QStringLiteral("Built in"));
        QVERIFY(!list->item(0)->flags().testFlag(Qt::ItemIsEnabled));
        QCOMPARE(list->item(list->count() - 2)->text(), QStringLiteral("Yours"));
        QCOMPARE(list->item(list->count() - 1)->text(), QStringLiteral("night queue\nGPT-2 124M, 1 other setting"));
        list->setCurrentRow(list->count() - 3);
        QCOMPARE(bench.form().preset().name, std::string("hrm-100m"));
        QTest::keyClick(list, Qt::Key_Down); // over the heading
        QCOMPARE(bench.form().config().batchSize, 7);
    }

    /// Rows of the coverage map stood by block number alone, whatever a person was looking for.
    void theBlockWithTheHighestLossWasSomewhereInTheMap()
    {
        const RunStory story({});
        Workbench bench(story.workspace());
        bench.start({});
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().status() && !bench.cells().cells().empty(), kPatienceMs);
        std::map<std::int64_t, std::pair<double, int>> sums;
        for (const ChunkCell& cell : bench.cells().cells()) {
            if (cell.trainedWallNs != 0 && std::isfinite(cell.meanLoss)) {
                sums[cell.block].first += cell.meanLoss;
                ++sums[cell.block].second;
            }
        }
        QVERIFY(sums.size() > 1);
        const auto worst = std::max_element(sums.begin(), sums.end(), [](const auto& a, const auto& b) {
            return a.second.first / a.second.second < b.second.first / b.second.second;
        });
        CoveragePage page(bench);
        page.resize(900, 600);
        page.show();
        auto* rows = qobject_cast<QComboBox*>(named(&page, "QComboBox", QStringLiteral("Order of the rows")));
        QVERIFY(rows != nullptr);
        rows->setCurrentIndex(2);
        QTest::keyClick(page.findChild<CoverageMap*>(), Qt::Key_Right);
        QCOMPARE(bench.selection().selection().chunks.front().block, worst->first);
    }

    void searchShowsMatchingSettingsOnly()
    {
        const QTemporaryDir folder;
        Appearance appearance(false);
        Workbench bench(folder.path());
        NewRunPage page(bench);
        page.resize(1200, 900);
        page.show();
        auto* search = qobject_cast<QLineEdit*>(named(&page, "QLineEdit", QStringLiteral("Find a setting")));
        QVERIFY(search != nullptr);
        const auto shownFor = [&](const char* words) {
            search->setText(QLatin1String(words));
            int shown = 0;
            const auto groups = page.findChildren<FormGroup*>();
            for (const FormGroup* group : groups) {
                for (const FormField* field : group->fields())
                    shown += field->editor()->isVisibleTo(&page) ? 1 : 0;
            }
            return shown;
        };
        for (const char* words : { "beta1", "data_mode", "data-mode", "seq-len" }) // as the command names them too
            QVERIFY2(shownFor(words) >= 1 && shownFor(words) <= 3, words);
    }

    void dockStateSurvivesAndResets()
    {
        const QTemporaryDir folder;
        Appearance appearance(false);
        Workbench bench(folder.path());
        MainWindow window(bench, appearance, false);
        window.show();
        QSet<QString> names;
        const auto docks = window.findChildren<QDockWidget*>();
        for (const QDockWidget* dock : docks) {
            QVERIFY(!dock->objectName().isEmpty());
            QVERIFY(!names.contains(dock->objectName()));
            names.insert(dock->objectName());
        }
        QVERIFY(names.size() >= 5);
        window.showPerspective(MainWindow::Perspective::Launch);
        for (const QDockWidget* dock : docks)
            QVERIFY(!dock->isVisible());
        window.showPerspective(MainWindow::Perspective::Watch);
        QVERIFY(window.findChild<QDockWidget*>(QStringLiteral("dock.library"))->isVisible());
    }
};

QTEST_MAIN(TestConsole)
#include "tst_console.moc"
