#include "core/workspace/compare_runs.h"
#include "core/tracker/run_event_texts.h"
#include "core/tracker/training_notes.h"
#include "tests/ui/patience.h"
#include "tests/ui/run_story.h"
#include "ui/models/workbench.h"
#include "ui/shell/inspector_dock.h"
#include "core/workspace/trash.h"
#include "ui/pages/compare_page.h"
#include "ui/shell/appearance.h"
#include "ui/shell/library_dock.h"
#include "ui/shell/main_window.h"

#include <QAbstractItemModelTester>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTimer>
#include <QTreeView>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

using namespace furrow;
using namespace furrow::test;

namespace {

RunLine lineOf(const QString& folder, std::int64_t attempts)
{
    RunLine line;
    line.folder = line.name = folder;
    line.state = RunState::Stopped;
    line.attempt = attempts;
    return line;
}

AttemptLines twoAttempts()
{
    return { { 1, 1'000'000'000, 2'000'000'000, StopReason::User, {}, 40, {} },
        { 2, 3'000'000'000, {}, StopReason::None, {}, 2, {} } };
}

/// Of the menu that is open; a question for a line that follows is answered with `answer`.
void chooseInMenu(int action, const QString& answer)
{
    QWidget* menu = QApplication::activePopupWidget();
    if (menu == nullptr)
        qFatal("no menu is open");
    QTimer::singleShot(200, menu->parentWidget(), [answer] {
        if (const QWidget* question = QApplication::activeModalWidget(); question != nullptr && !answer.isEmpty()) {
            auto* line = question->findChild<QLineEdit*>();
            line->setText(answer);
            QTest::keyClick(line, Qt::Key_Return);
        }
    });
    for (int i = 0; i <= action; ++i)
        QTest::keyClick(menu, Qt::Key_Down);
    QTest::keyClick(menu, Qt::Key_Return);
}

} // namespace

class TestLibrary : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { registerBridgeTypes(); }

    void attemptsAreAskedForWhenTheirRunIsOpenedAndNotBefore()
    {
        RunListModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
        QSignalSpy wanted(&model, &RunListModel::attemptsWanted);
        model.reset({ lineOf(QStringLiteral("a"), 2), lineOf(QStringLiteral("b"), 0) });
        QVERIFY(model.hasChildren(model.index(0)) && !model.hasChildren(model.index(1)));
        QVERIFY(wanted.isEmpty() || model.hasAttempts(QStringLiteral("a"))); // the tester fetches what a view would
        if (model.canFetchMore(model.index(0)))
            model.fetchMore(model.index(0));
        QCOMPARE(wanted.size(), 1);
        model.setAttempts(QStringLiteral("a"), twoAttempts());
        QCOMPARE(model.rowCount(model.index(0)), 2);
        const QModelIndex newest = model.index(0, 0, model.index(0));
        QCOMPARE(newest.data(RunListModel::AttemptRole).toInt(), 2);
        QCOMPARE(newest.parent(), model.index(0));
        QVERIFY(newest.data(RunListModel::SubtitleRole).toString().contains(QStringLiteral("stopped")));
        const QModelIndex oldest = model.index(1, 0, model.index(0));
        QVERIFY(oldest.data(Qt::AccessibleTextRole).toString().contains(QStringLiteral("40 steps")));
        QVERIFY(oldest.data(RunListModel::SubtitleRole).toString().contains(QStringLiteral("a person stopped it")));
        model.reset({ lineOf(QStringLiteral("a"), 3), lineOf(QStringLiteral("b"), 0) });
        QCOMPARE(wanted.size(), 2); // one more attempt began
        model.setAttempts(QStringLiteral("a"), { { 1, 1, 2, StopReason::User, {}, 40, {} } });
        QCOMPARE(model.rowCount(model.index(0)), 1);
    }

    void whatAResumeChangedWasNowhereToBeSeen()
    {
        const RunStory story({});
        auto supervisor = story.supervisor();
        good(supervisor.endAttempt(story.attempt(), StopReason::User, {}));
        (void)good(supervisor.beginAttempt(thisProcess(), R"({"workers":1})"));
        AttemptReader reader;
        QSignalSpy read(&reader, &AttemptReader::attemptsRead);
        reader.read(story.folder());
        QVERIFY(read.wait(kPatienceMs));
        const auto attempts = read.front().at(1).value<AttemptLinesPtr>();
        QCOMPARE(attempts->size(), std::size_t(2));
        QVERIFY(attempts->front().changes.empty());
        QVERIFY(attempts->front().steps > 0);
        QCOMPARE(attempts->back().steps, 0);
        RunListModel model;
        model.reset({ lineOf(story.folder(), 2) });
        model.fetchMore(model.index(0));
        model.setAttempts(story.folder(), *attempts);
        const QModelIndex newest = model.index(0, 0, model.index(0));
        QCOMPARE(newest.data(RunListModel::ChangesRole).toString(), QStringLiteral("Workers 2 → 1"));
        QVERIFY(newest.data(Qt::AccessibleTextRole).toString().endsWith(QStringLiteral("Workers 2 → 1")));
        QCOMPARE(model.index(1, 0, model.index(0)).data(RunListModel::ChangesRole).toString(), QString());
    }

    void aComparisonTookWhatWasFrozenForWhatWasInForce()
    {
        const RunStory story({});
        const RunStory other({}, QStringLiteral("other"), story.workspace());
        (void)good(story.supervisor().beginAttempt(thisProcess(), R"({"workers":1})"));
        const auto comparison = good(compareRuns({ story.paths().folder(), other.paths().folder() }));
        QCOMPARE(comparison.differences.size(), std::size_t(1));
        QVERIFY((comparison.differences.front().values == std::vector<std::string> { "2 → 1", "2" }));
    }

    /// "All settings are the same", and nothing else, of two runs of which one had gone on without a file.
    void aComparisonHidThatFilesWereLeftOutOfOneRun()
    {
        const RunStory story({});
        const RunStory other({}, QStringLiteral("other"), story.workspace());
        for (const RunStory* run : { &story, &other })
            (void)good(run->supervisor().beginAttempt(thisProcess(), "{\"bad_files\":\"leave_out\"}"));
        const auto caveats
            = [&] { return good(compareRuns({ story.paths().folder(), other.paths().folder() })).caveats; };
        QVERIFY(caveats().empty());
        good(noteRunEvent(other.paths().tracker(), Message(std::string(kLeftOutEvent) + "book09.txt changed.")));
        QCOMPARE(caveats().size(), std::size_t(1));
        QVERIFY2(caveats().front().find("other: left out: book09.txt changed.") != std::string::npos,
            caveats().front().c_str());
        good(noteRunEvent(story.paths().tracker(), Message(std::string(kLeftOutEvent) + "book09.txt changed.")));
        QVERIFY(caveats().empty()); // of both
    }

    /// 2.801 of the one and 0.481 of the other stood in one chart of nats per token.
    void aComparisonTookLossesPerPairForLossesPerToken()
    {
        const RunStory story({});
        const RunStory other({}, QStringLiteral("other"), story.workspace());
        auto file = good(readRunFile(other.paths()));
        file.config.objective = Objective::Dpo;
        good(writeRunFile(other.paths(), file));
        const auto comparison = good(compareRuns({ story.paths().folder(), other.paths().folder() }));
        QCOMPARE(comparison.caveats.size(), std::size_t(1));
        QVERIFY2(comparison.caveats.front().find("nats per token and nats per pair") != std::string::npos,
            comparison.caveats.front().c_str());
        QVERIFY(!comparison.alignments.front().problem.empty());
    }

    /// `furrowctl compare` said "0 tokens/s", as if it had been slow.
    void aComparisonGaveASpeedToARunThatTrainedNothing()
    {
        const RunStory story({});
        const RunStory other({ .trained = 0 }, QStringLiteral("other"), story.workspace());
        const auto comparison = good(compareRuns({ story.paths().folder(), other.paths().folder() }));
        QVERIFY(toJson(comparison)["runs"][1]["tokens_per_s"].is_null());
        const auto text = comparisonText(comparison);
        QVERIFY2(text.find("(- tokens/s, mean)") != std::string::npos, text.c_str());
    }

    /// Comparing, a run had the mean of what lives and of what a worker had said before it died.
    void theLastLossOfAWorkerThatWasGoneCountedOn()
    {
        const RunStory story({});
        const RunStory other({}, QStringLiteral("other"), story.workspace());
        const auto before = good(readStatus(story.paths()));
        QCOMPARE(before.lossWorkers, 2);
        for (const IncarnationRow& row : good(good(LedgerReader::open(story.paths().tracker())).incarnations()))
            if (row.worker == 1)
                (void)good(story.supervisor().revoke(row.id, "SIGKILL"));
        const auto comparison = good(compareRuns({ story.paths().folder(), other.paths().folder() }));
        const RunStatus& status = comparison.runs.front().status;
        QCOMPARE(status.lossWorkers, 1);
        QCOMPARE(status.loss, before.workers.front().loss);
    }

    /// "117 chunks of the first epoch in common" of two interrupted runs, whose checkpoints had 105 and 109.
    void aComparisonCountedLostChunksAsTrained()
    {
        const RunStory story({});
        const RunStory other({}, QStringLiteral("other"), story.workspace());
        const auto compared = [&] { return good(compareRuns({ story.paths().folder(), other.paths().folder() })); };
        const RunComparison before = compared();
        QCOMPARE(before.runs.front().chunksTrained, 9); // five in checkpoints, four with the workers that live
        QCOMPARE(before.runs.front().chunksLost, 0);
        QVERIFY(before.caveats.empty());
        for (const IncarnationRow& row : good(good(LedgerReader::open(story.paths().tracker())).incarnations()))
            if (row.worker == 1)
                (void)good(story.supervisor().revoke(row.id, "SIGKILL"));
        const RunComparison after = compared();
        QCOMPARE(after.runs.front().chunksTrained, 7);
        QCOMPARE(after.runs.front().chunksLost, 2);
        QCOMPARE(after.runs.back().chunksTrained, 9);
        QCOMPARE(after.alignments.front().common, 7);
        QCOMPARE(after.caveats.size(), std::size_t(1));
        QVERIFY2(after.caveats.front().find("no weights have any more: 2.") != std::string::npos,
            after.caveats.front().c_str());
        QCOMPARE(toJson(after)["runs"][0]["chunks_lost"].get<int>(), 2);
    }

    /// A process that is gone holds what it trained until the next attempt frees it.
    void aComparisonCountedWhatProcessesThatWereGoneHeld()
    {
        std::vector<ChunkCell> cells(3);
        for (int column = 0; column < 3; ++column) {
            ChunkCell& cell = cells[static_cast<std::size_t>(column)];
            cell.id = chunkIdOf({ 0, 0, column });
            cell.state = column == 0 ? ChunkState::Committed : ChunkState::Trained;
            cell.trainedWallNs = 1;
            cell.meanLoss = 2;
        }
        RunStatus status;
        status.goneHolds = { cells[1] };
        QCOMPARE(takeOutLost(cells, status), 1);
        QVERIFY(std::isfinite(cells[0].meanLoss) && std::isnan(cells[1].meanLoss) && std::isfinite(cells[2].meanLoss));
    }

    void theInspectorShowsTheChosenAttempt()
    {
        const RunStory story({});
        auto supervisor = story.supervisor();
        good(supervisor.endAttempt(story.attempt(), StopReason::User, {}));
        (void)good(supervisor.beginAttempt(thisProcess(), R"({"workers":1})"));
        Workbench bench(story.workspace());
        InspectorDock inspector(bench);
        inspector.show();
        bench.showRun(story.folder());
        const auto says = [&inspector](const QString& text) {
            const auto labels = inspector.findChildren<QLabel*>();
            return std::any_of(labels.begin(), labels.end(),
                [&text](const QLabel* label) { return label->text() == text && label->isVisible(); });
        };
        QTRY_VERIFY_WITH_TIMEOUT(says(QStringLiteral("Workers 2 → 1")), kPatienceMs); // also of the run
        bench.selection().setAttempt(1);
        QTRY_VERIFY(says(QStringLiteral("Attempt 1")) && says(QStringLiteral("none changed")));
        bench.selection().setAttempt(2);
        QTRY_VERIFY(says(QStringLiteral("Attempt 2")) && says(QStringLiteral("Workers 2 → 1")));
    }

    /// The dock is this narrow in a window of 1280 pixels at 150 %.
    void aNarrowInspectorCutItsFiguresOff()
    {
        const RunStory story({});
        Workbench bench(story.workspace());
        InspectorDock inspector(bench);
        inspector.resize(200, 600);
        inspector.show();
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(
            bench.watcher().status() && inspector.findChildren<QLabel*>().size() > 20, kPatienceMs);
        QTest::qWait(50); // laid out
        QCOMPARE(inspector.width(), 200);
        const auto labels = inspector.findChildren<QLabel*>();
        for (const QLabel* label : labels)
            if (label->isVisible())
                QVERIFY2(label->mapTo(&inspector, QPoint(label->width(), 0)).x() <= inspector.width(),
                    qPrintable(label->text()));
    }

    void aTagIsAddedFromTheRowOfTags()
    {
        const RunStory story({});
        Workbench bench(story.workspace());
        LibraryDock dock(bench);
        dock.resize(250, 500);
        dock.show();
        bench.start({});
        const auto buttonOf = [&dock](const QString& text) {
            const auto all = dock.findChildren<QPushButton*>();
            const auto found = std::find_if(
                all.begin(), all.end(), [&text](const QPushButton* button) { return button->text() == text; });
            return found == all.end() ? nullptr : *found;
        };
        QPushButton* add = buttonOf(QStringLiteral("Add tag…"));
        QTRY_VERIFY_WITH_TIMEOUT(add->isVisible() && !add->isEnabled(), kPatienceMs); // of which run?
        bench.showRun(story.folder());
        QTRY_VERIFY(add->isEnabled());
        QSignalSpy wanted(&dock, &LibraryDock::tagWanted);
        add->click();
        QCOMPARE(wanted.count(), 1);
        RunNotes notes;
        notes.tags = { "one", "two", "three" };
        bench.workspaceCommands().setNotes(story.folder(), notes);
        bench.scanner().refresh();
        QTRY_VERIFY_WITH_TIMEOUT(buttonOf(QStringLiteral("#three")) != nullptr, kPatienceMs);
        QVERIFY(!add->isVisible()); // the row is full
        notes.tags = { "two" };
        bench.workspaceCommands().setNotes(story.folder(), notes);
        bench.scanner().refresh();
        QTRY_VERIFY_WITH_TIMEOUT(buttonOf(QStringLiteral("#one")) == nullptr && add->isVisible(), kPatienceMs);
        QVERIFY(add->x() > buttonOf(QStringLiteral("#two"))->x());
        QVERIFY(dock.width() < 4 * add->minimumSizeHint().width()); // four buttons never stood there at once
    }

    void tabWasCaughtBeforeALibraryWithoutRuns()
    {
        QTemporaryDir workspace;
        Workbench bench(workspace.path());
        QWidget window;
        auto* column = new QVBoxLayout(&window);
        auto* before = new QPushButton(QStringLiteral("before"));
        column->addWidget(before);
        column->addWidget(new LibraryDock(bench));
        window.show();
        window.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&window)); // else nothing has the focus
        before->setFocus();
        QTest::keyClick(before, Qt::Key_Tab);
        QVERIFY(QApplication::focusWidget() != nullptr && QApplication::focusWidget() != before);
    }

    void theAttemptThatGoesOnCountsWithItsRun()
    {
        RunListModel model;
        RunLine line = lineOf(QStringLiteral("a"), 2);
        line.state = RunState::Running;
        line.steps = 50;
        model.reset({ line });
        model.fetchMore(model.index(0));
        model.setAttempts(QStringLiteral("a"), twoAttempts());
        const QModelIndex newest = model.index(0, 0, model.index(0));
        QCOMPARE(newest.data(RunListModel::StepsTextRole).toString(), QStringLiteral("2 steps"));
        QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
        line.steps = 60;
        model.reset({ line });
        QCOMPARE(newest.data(RunListModel::StepsTextRole).toString(), QStringLiteral("12 steps"));
        QCOMPARE(changed.size(), 2); // the run and its newest attempt
        QVERIFY(model.index(1, 0, model.index(0)).data(RunListModel::StepsTextRole).toString()
            == QLatin1String("40 steps"));
    }

    void anAttemptIsReachedByKeyboardAndSelected()
    {
        const RunStory story({});
        Workbench bench(story.workspace());
        LibraryDock dock(bench);
        connect(&dock, &LibraryDock::runChosen, &bench, &Workbench::showRun);
        dock.resize(260, 500);
        dock.show();
        bench.start({});
        auto* list = dock.findChild<QTreeView*>();
        QTRY_COMPARE_WITH_TIMEOUT(list->model()->rowCount(), 1, kPatienceMs);
        const QModelIndex run = list->model()->index(0, 0);
        list->setFocus();
        list->setCurrentIndex(run);
        QTest::keyClick(list, Qt::Key_Right);
        QTRY_COMPARE_WITH_TIMEOUT(list->model()->rowCount(run), 1, kPatienceMs);
        QTest::keyClick(list, Qt::Key_Down);
        QCOMPARE(list->currentIndex().parent(), run);
        QCOMPARE(bench.selection().selection().run, story.folder());
        QCOMPARE(bench.selection().selection().attempt.value_or(0), 1);
        QVERIFY(list->currentIndex().data(RunListModel::StepsTextRole).toString() != QLatin1String("0 steps"));
        QTest::keyClick(list, Qt::Key_Left);
        QTest::keyClick(list, Qt::Key_Left);
        QVERIFY(!list->isExpanded(run));
    }

    void anOpenRunStaysOpenWhenAnotherOneIsMade()
    {
        const RunStory story({});
        Workbench bench(story.workspace());
        LibraryDock dock(bench);
        dock.show();
        bench.start({});
        auto* list = dock.findChild<QTreeView*>();
        QTRY_COMPARE_WITH_TIMEOUT(list->model()->rowCount(), 1, kPatienceMs);
        list->expand(list->model()->index(0, 0));
        QTRY_COMPARE_WITH_TIMEOUT(list->model()->rowCount(list->model()->index(0, 0)), 1, kPatienceMs);
        const RunStory other({}, QStringLiteral("other"), story.workspace());
        bench.scanner().refresh();
        QTRY_COMPARE_WITH_TIMEOUT(list->model()->rowCount(), 2, kPatienceMs);
        const QModelIndex first
            = list->model()->index(list->model()->index(0, 0).data().toString() == QLatin1String("story") ? 0 : 1, 0);
        QVERIFY(list->isExpanded(first));
        QTRY_COMPARE_WITH_TIMEOUT(list->model()->rowCount(first), 1, kPatienceMs);
    }

    /// The first run that was found took the place of the one that a person watched, and lay above the edge of the
    /// list.
    void runsWereTaggedAndTrashedOneByOne()
    {
        const QTemporaryDir workspace;
        std::vector<std::unique_ptr<RunStory>> stories;
        for (const char* name : { "first", "second", "third" }) {
            stories.push_back(std::make_unique<RunStory>(RunStory::Size {}, QLatin1String(name), workspace.path()));
            good(stories.back()->supervisor().endAttempt(stories.back()->attempt(), StopReason::User, {}));
        }
        Appearance appearance(false);
        Workbench bench(workspace.path());
        MainWindow window(bench, appearance, false);
        window.resize(1280, 900);
        window.show();
        bench.start({});
        auto* dock = window.findChild<LibraryDock*>();
        auto* list = dock->findChild<QTreeView*>();
        QTRY_COMPARE_WITH_TIMEOUT(list->model()->rowCount(), 3, kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(list->currentIndex().isValid(), kPatienceMs);
        const QString watched = bench.selection().selection().run;
        const int first = list->currentIndex().row();
        const QModelIndex other = list->model()->index((first + 1) % 3, 0);
        QTest::mouseClick(list->viewport(), Qt::LeftButton, Qt::ControlModifier, list->visualRect(other).center());
        QCOMPARE(dock->selectedRuns().size(), 2);
        QCOMPARE(bench.selection().selection().run, watched); // choosing it for something is not watching it
        const QStringList chosen = dock->selectedRuns();
        QCOMPARE(chosen.size(), 2);

        QTimer::singleShot(200, dock, [] { chooseInMenu(1, QStringLiteral("kept")); });
        dock->menuWanted(window.mapToGlobal(QPoint(100, 200)));
        const auto tagged = [&bench] {
            return std::count_if(bench.scanner().lines()->begin(), bench.scanner().lines()->end(),
                [](const RunLine& line) { return line.notes.tags == std::vector<std::string> { "kept" }; });
        };
        QTRY_COMPARE_WITH_TIMEOUT(tagged(), 2, kPatienceMs);
        QCOMPARE(dock->selectedRuns(), chosen);

        QTimer::singleShot(200, dock, [] { chooseInMenu(2, {}); });
        dock->menuWanted(window.mapToGlobal(QPoint(100, 200)));
        QMessageBox* box = nullptr;
        QTRY_VERIFY_WITH_TIMEOUT((box = window.findChild<QMessageBox*>()) != nullptr, kPatienceMs);
        const auto buttons = box->buttons();
        const auto move = std::find_if(buttons.begin(), buttons.end(),
            [](const QAbstractButton* button) { return button->text().contains(QLatin1Char('2')); });
        QVERIFY(move != buttons.end());
        (*move)->click();
        QTRY_COMPARE_WITH_TIMEOUT(bench.scanner().lines()->size(), std::size_t(1), kPatienceMs);
        QCOMPARE(trashedRuns(workspace.path().toStdString()).size(), std::size_t(2));
    }

    /// Runs selected in the library had to be selected once more, and their menu did not lead there.
    void selectedRunsWereNotTakenOverIntoTheComparison()
    {
        const RunStory first({}, QStringLiteral("first"));
        const RunStory second({}, QStringLiteral("second"), first.workspace());
        const RunStory third({}, QStringLiteral("third"), first.workspace());
        Appearance appearance(false);
        Workbench bench(first.workspace());
        MainWindow window(bench, appearance, false);
        window.resize(1280, 900);
        window.show();
        bench.start({});
        auto* dock = window.findChild<LibraryDock*>();
        auto* list = dock->findChild<QTreeView*>();
        QTRY_COMPARE_WITH_TIMEOUT(list->model()->rowCount(), 3, kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(list->currentIndex().isValid(), kPatienceMs);
        const auto compared = [&window] {
            const auto tables = window.comparePage().findChildren<QTableView*>();
            const auto runs = std::find_if(tables.begin(), tables.end(), [](const QTableView* table) {
                return table->accessibleName() == QStringLiteral("Runs with figures and settings");
            });
            return runs == tables.end() ? -1 : static_cast<int>((*runs)->selectionModel()->selectedRows().size());
        };
        const int watched = list->currentIndex().row();
        list->selectionModel()->select(
            list->model()->index((watched + 1) % 3, 0), QItemSelectionModel::Select | QItemSelectionModel::Rows);
        QCOMPARE(dock->selectedRuns().size(), 2);
        window.showPerspective(MainWindow::Perspective::Compare);
        QCOMPARE(compared(), 2);
        QStringList all;
        for (const RunLine& line : *bench.scanner().lines())
            all.append(line.folder);
        window.comparePage().choose(all);
        window.showPerspective(MainWindow::Perspective::Watch);
        window.showPerspective(MainWindow::Perspective::Compare);
        QCOMPARE(compared(), 3); // what was chosen there stays
        window.showPerspective(MainWindow::Perspective::Watch);
        QTimer::singleShot(200, dock, [] { chooseInMenu(0, {}); });
        dock->menuWanted(window.mapToGlobal(QPoint(100, 200)));
        QVERIFY(window.comparePage().isVisible());
        QCOMPARE(compared(), 2);
    }

    void typingInTheFilterLeftTheWatchedRun()
    {
        const RunStory story({});
        const RunStory other({}, QStringLiteral("other"), story.workspace());
        Workbench bench(story.workspace());
        LibraryDock dock(bench);
        connect(&dock, &LibraryDock::runChosen, &bench, &Workbench::showRun);
        dock.show();
        bench.start({});
        const auto* list = dock.findChild<QTreeView*>();
        QTRY_COMPARE_WITH_TIMEOUT(list->model()->rowCount(), 2, kPatienceMs);
        bench.showRun(story.folder());
        const auto marked = [list] { return list->currentIndex().data().toString(); };
        QCOMPARE(marked(), QStringLiteral("story"));
        auto* line = dock.findChild<QLineEdit*>();
        QTest::keyClicks(line, QStringLiteral("other"));
        QCOMPARE(list->model()->rowCount(), 1);
        QCOMPARE(bench.watcher().folder(), story.folder());
        QCOMPARE(marked(), QString());
        bench.scanner().refresh();
        QTRY_COMPARE_WITH_TIMEOUT(list->model()->rowCount(), 1, kPatienceMs);
        line->clear();
        QCOMPARE(marked(), QStringLiteral("story"));
        QCOMPARE(bench.watcher().folder(), story.folder());
    }
};

QTEST_MAIN(TestLibrary)
#include "tst_library.moc"
