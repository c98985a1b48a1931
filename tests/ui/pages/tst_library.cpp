#include "tests/ui/run_story.h"
#include "ui/models/workbench.h"
#include "ui/shell/library_dock.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTreeView>

using namespace furrow;

namespace {

constexpr int kPatienceMs = 20000;

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
    return { { 1, 1'000'000'000, 2'000'000'000, StopReason::User, {}, 40 }, { 2, 3'000'000'000, {}, StopReason::None, {}, 2 } };
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
        QVERIFY(oldest.data(RunListModel::SubtitleRole).toString().contains(QStringLiteral("you stopped it")));
        model.reset({ lineOf(QStringLiteral("a"), 3), lineOf(QStringLiteral("b"), 0) });
        QCOMPARE(wanted.size(), 2); // one more attempt began
        model.setAttempts(QStringLiteral("a"), { { 1, 1, 2, StopReason::User, {}, 40 } });
        QCOMPARE(model.rowCount(model.index(0)), 1);
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
        QVERIFY(model.index(1, 0, model.index(0)).data(RunListModel::StepsTextRole).toString() == QLatin1String("40 steps"));
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
        const QModelIndex first = list->model()->index(list->model()->index(0, 0).data().toString() == QLatin1String("story") ? 0 : 1, 0);
        QVERIFY(list->isExpanded(first));
        QTRY_COMPARE_WITH_TIMEOUT(list->model()->rowCount(first), 1, kPatienceMs);
    }
};

QTEST_MAIN(TestLibrary)
#include "tst_library.moc"
