// Lists that marked one thing while the console acted on another one. Each test is named after what went wrong.
#include "tests/ui/patience.h"
#include "tests/ui/run_story.h"
#include "ui/charts/coverage_map.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/pages/compare_page.h"
#include "ui/pages/coverage_page.h"
#include "ui/pages/data_page.h"
#include "ui/pages/workers_page.h"
#include "ui/shell/actions.h"
#include "ui/shell/appearance.h"
#include "ui/shell/audit_dock.h"
#include "ui/shell/events_dock.h"
#include "ui/shell/main_window.h"

#include <QCheckBox>
#include <QMessageBox>
#include <QPushButton>
#include <QTableView>

using namespace furrow;
using namespace furrow::test;

namespace {

QTableView* tableOf(const QWidget& parent, const char* name)
{
    const auto tables = parent.findChildren<QTableView*>();
    const auto found = std::find_if(tables.begin(), tables.end(),
        [name](const QTableView* table) { return table->accessibleName() == QString::fromLatin1(name); });
    return found == tables.end() ? nullptr : *found;
}

/// The row that has this text in a column; invalid: none has.
QModelIndex rowOf(const QTableView& table, const QString& text, int column = 0)
{
    for (int row = 0; row < table.model()->rowCount(); ++row)
        if (table.model()->index(row, column).data().toString() == text)
            return table.model()->index(row, column);
    return {};
}

/// As a person does.
void click(QTableView& table, const QModelIndex& index)
{
    QVERIFY(index.isValid());
    table.scrollTo(index);
    QTest::mouseClick(table.viewport(), Qt::LeftButton, {}, table.visualRect(index).center());
}

QStringList marked(const QTableView& table)
{
    QStringList names;
    const QModelIndexList rows = table.selectionModel()->selectedRows();
    for (const QModelIndex& index : rows)
        names.append(index.data().toString());
    return names;
}

QStringList selected(Workbench& bench)
{
    QStringList names;
    for (const SelectedChunk& chunk : bench.selection().selection().chunks)
        names.append(chunkShort(placeOf(chunk.id).block, placeOf(chunk.id).column));
    return names;
}

SelectedChunk chunkAt(std::int64_t epoch, std::int64_t block, int column)
{
    return { chunkIdOf({ epoch, block, column }), block, column };
}

void showCells(Workbench& bench, const RunStory& story)
{
    bench.showRun(story.folder());
    QTRY_VERIFY_WITH_TIMEOUT(
        bench.watcher().status() && bench.watcher().tables() && !bench.cells().cells().empty(), kPatienceMs);
}

} // namespace

class TestMarkedAndMeant : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { registerBridgeTypes(); }

    /// The rows of another block came into the list and the mark stayed, so that a click there chose nothing: a chunk
    /// that nobody saw marked was left out of the run for ever.
    void theMarkedChunkWasNotTheSelectedOne()
    {
        const RunStory story({ .blocks = 3, .workers = 1, .trained = 0 });
        Workbench bench(story.workspace());
        showCells(bench, story);
        DataPage page(bench);
        page.resize(1000, 700);
        page.show();
        QTableView& blocks = *tableOf(page, "Blocks");
        QTableView& chunks = *tableOf(page, "Chunks of the block");
        click(blocks, rowOf(blocks, QStringLiteral("B0")));
        click(chunks, rowOf(chunks, QStringLiteral("B0 C4")));
        QCOMPARE(selected(bench), QStringList { QStringLiteral("B0 C4") });
        click(blocks, rowOf(blocks, QStringLiteral("B1")));
        QVERIFY(rowOf(chunks, QStringLiteral("B1 C4")).isValid());
        QCOMPARE(marked(chunks), QStringList());
        click(chunks, rowOf(chunks, QStringLiteral("B1 C4")));
        QCOMPARE(selected(bench), QStringList { QStringLiteral("B1 C4") });
        QCOMPARE(marked(chunks), QStringList { QStringLiteral("B1 C4") });
        click(blocks, rowOf(blocks, QStringLiteral("B0")));
        QCOMPARE(marked(chunks), QStringList());
        click(blocks, rowOf(blocks, QStringLiteral("B1")));
        QCOMPARE(marked(chunks), QStringList { QStringLiteral("B1 C4") }); // it is selected still
        bench.selection().clear();
        QCOMPARE(marked(chunks), QStringList());
        click(chunks, rowOf(chunks, QStringLiteral("B1 C4")));
        QCOMPARE(selected(bench), QStringList { QStringLiteral("B1 C4") });
    }

    /// Several rows were marked and one of them was selected.
    void ofSeveralMarkedChunksOneWasSelected()
    {
        const RunStory story({ .blocks = 3, .workers = 1, .trained = 0 });
        Workbench bench(story.workspace());
        showCells(bench, story);
        DataPage page(bench);
        page.resize(1000, 700);
        page.show();
        QTableView& chunks = *tableOf(page, "Chunks of the block");
        click(chunks, rowOf(chunks, QStringLiteral("B0 C2")));
        const QModelIndex last = rowOf(chunks, QStringLiteral("B0 C4"));
        QTest::mouseClick(chunks.viewport(), Qt::LeftButton, Qt::ShiftModifier, chunks.visualRect(last).center());
        QStringList all = selected(bench);
        QCOMPARE(all.front(), QStringLiteral("B0 C4")); // whose samples are read
        all.sort();
        QCOMPARE(all, QStringList({ QStringLiteral("B0 C2"), QStringLiteral("B0 C3"), QStringLiteral("B0 C4") }));
        bench.selection().setChunks({ chunkAt(0, 0, 1), chunkAt(0, 0, 5) });
        QCOMPARE(marked(chunks), QStringList({ QStringLiteral("B0 C1"), QStringLiteral("B0 C5") }));
        QCOMPARE(selected(bench), QStringList({ QStringLiteral("B0 C1"), QStringLiteral("B0 C5") }));
    }

    /// A click with Ctrl chose one chunk anew, as any click did.
    void aClickWithCtrlInTheMapForgotWhatWasSelected()
    {
        const RunStory story({ .blocks = 3, .workers = 1, .trained = 0 });
        Workbench bench(story.workspace());
        showCells(bench, story);
        CoveragePage page(bench);
        auto* map = page.findChild<CoverageMap*>();
        const auto clickOn = [map](std::int64_t block, int column, Qt::KeyboardModifiers with) {
            Q_EMIT map->chunkClicked(chunkIdOf({ 0, block, column }), with);
        };
        clickOn(0, 4, Qt::NoModifier);
        clickOn(0, 2, Qt::ControlModifier);
        QCOMPARE(selected(bench), QStringList({ QStringLiteral("B0 C2"), QStringLiteral("B0 C4") }));
        clickOn(0, 4, Qt::ControlModifier);
        QCOMPARE(selected(bench), QStringList { QStringLiteral("B0 C2") });
        clickOn(0, 5, Qt::NoModifier);
        clickOn(1, 1, Qt::ShiftModifier);
        QCOMPARE(selected(bench),
            QStringList({ QStringLiteral("B1 C1"), QStringLiteral("B1 C0"), QStringLiteral("B0 C5") }));
        clickOn(0, 4, Qt::ShiftModifier); // from where the stretch began
        QCOMPARE(selected(bench), QStringList({ QStringLiteral("B0 C4"), QStringLiteral("B0 C5") }));
        clickOn(2, 0, Qt::NoModifier);
        QCOMPARE(selected(bench), QStringList { QStringLiteral("B2 C0") });
    }

    /// Each epoch has as many chunks as the one before, so its rows came in the place of theirs.
    void theMarkWasOfTheSameChunkOfAnotherEpoch()
    {
        RunStory story({ .blocks = 2, .columns = 3, .workers = 1, .trained = 0 });
        story.openSecondEpoch(5);
        Workbench bench(story.workspace());
        showCells(bench, story);
        bench.watcher().setEpoch(1);
        QTRY_VERIFY_WITH_TIMEOUT(bench.cells().epoch() == 1 && bench.cells().cells().size() == 6, kPatienceMs);
        DataPage page(bench);
        page.resize(1000, 700);
        page.show();
        QTableView& chunks = *tableOf(page, "Chunks of the block");
        click(chunks, rowOf(chunks, QStringLiteral("B0 C1")));
        QCOMPARE(placeOf(bench.selection().selection().chunks.front().id).epoch, 1);
        bench.watcher().setEpoch(0);
        QTRY_VERIFY_WITH_TIMEOUT(bench.cells().epoch() == 0 && bench.cells().cells().size() == 6, kPatienceMs);
        QTRY_COMPARE_WITH_TIMEOUT(marked(chunks), QStringList(), kPatienceMs);
        click(chunks, rowOf(chunks, QStringLiteral("B0 C1")));
        QCOMPARE(placeOf(bench.selection().selection().chunks.front().id).epoch, 0);
    }

    /// What was chosen in the map or elsewhere left the row of the chunk before it marked.
    void theTableOfTheMapMarkedAChunkThatWasNotSelected()
    {
        const RunStory story({ .blocks = 3, .workers = 1, .trained = 0 });
        Workbench bench(story.workspace());
        showCells(bench, story);
        CoveragePage page(bench);
        page.resize(1000, 700);
        page.show();
        const auto buttons = page.findChildren<QPushButton*>();
        for (QPushButton* button : buttons)
            if (button->text() == QStringLiteral("Table"))
                button->click();
        QTableView& chunks = *tableOf(page, "Chunks of the epoch");
        click(chunks, rowOf(chunks, QStringLiteral("B0 C3")));
        QCOMPARE(selected(bench), QStringList { QStringLiteral("B0 C3") });
        bench.selection().setChunks({ chunkAt(0, 1, 2) });
        QCOMPARE(marked(chunks), QStringList { QStringLiteral("B1 C2") });
        click(chunks, rowOf(chunks, QStringLiteral("B0 C3")));
        QCOMPARE(selected(bench), QStringList { QStringLiteral("B0 C3") });
    }

    /// Its row was marked still while another chunk was selected, and a click on it chose nothing.
    void anEventThatWasMarkedCouldNotBeChosenAgain()
    {
        const QTemporaryDir folder;
        Workbench bench(folder.path());
        EventsDock dock(bench);
        dock.resize(900, 400);
        dock.setVisible(true);
        EventLine line;
        line.wallNs = 1;
        line.weight = EventWeight::Warning;
        line.chunk = chunkAt(0, 2, 7).id;
        line.chunkName = QStringLiteral("B2 C7");
        bench.events().append({ line });
        QTableView& events = *dock.findChild<QTableView*>();
        constexpr int kChunk = 3;
        click(events, rowOf(events, line.chunkName, kChunk));
        QCOMPARE(selected(bench), QStringList { QStringLiteral("B2 C7") });
        bench.selection().setChunks({ chunkAt(0, 1, 1) });
        QCOMPARE(events.selectionModel()->selectedRows().size(), 0);
        click(events, rowOf(events, line.chunkName, kChunk));
        QCOMPARE(selected(bench), QStringList { QStringLiteral("B2 C7") });
    }

    /// The view marks the neighbour of a row that goes, and the dock took that for a choice.
    void theNeighbourOfAnEventThatWentWasChosen()
    {
        const QTemporaryDir folder;
        Workbench bench(folder.path());
        EventsDock dock(bench);
        dock.resize(900, 400);
        dock.setVisible(true);
        dock.findChild<QCheckBox*>()->setChecked(true);
        std::vector<EventLine> lines(2);
        lines[0].weight = EventWeight::Routine;
        lines[1].weight = EventWeight::Warning;
        for (std::size_t i = 0; i < lines.size(); ++i) {
            lines[i].wallNs = static_cast<std::int64_t>(i) + 1;
            lines[i].chunk = chunkAt(0, static_cast<std::int64_t>(i), 7).id;
        }
        bench.events().append(lines);
        QTableView& events = *dock.findChild<QTableView*>();
        QCOMPARE(events.model()->rowCount(), 2);
        click(events, events.model()->index(0, 4));
        QCOMPARE(selected(bench), QStringList { QStringLiteral("B0 C7") });
        dock.findChild<QCheckBox*>()->setChecked(false);
        QCOMPARE(events.model()->rowCount(), 1);
        QCOMPARE(selected(bench), QStringList { QStringLiteral("B0 C7") });
        QCOMPARE(events.selectionModel()->selectedRows().size(), 0);
    }

    void aProcessThatWasMarkedCouldNotBeChosenAgain()
    {
        const RunStory story({});
        Workbench bench(story.workspace());
        showCells(bench, story);
        WorkersPage page(bench);
        page.resize(1200, 700);
        page.show();
        QTableView& processes = *tableOf(page, "Worker processes");
        click(processes, rowOf(processes, workerName(0)));
        QVERIFY(bench.selection().selection().worker == 0);
        bench.selection().setWorker(1);
        QCOMPARE(marked(processes), QStringList());
        click(processes, rowOf(processes, workerName(0)));
        QVERIFY(bench.selection().selection().worker == 0);
    }

    /// A check marks its first finding; a click there chose nothing.
    void aFindingThatACheckHadMarkedCouldNotBeChosen()
    {
        const RunStory story({});
        auto feeder = good(FeederLedger::open(story.paths().tracker()));
        good(feeder.setFailed(3, "the page is damaged"));
        Workbench bench(story.workspace());
        showCells(bench, story);
        AuditDock dock(bench);
        dock.resize(1200, 400);
        dock.setVisible(true);
        QTableView& findings = *tableOf(dock, "Chunks twice or missing");
        QTRY_VERIFY_WITH_TIMEOUT(findings.currentIndex().isValid(), kPatienceMs);
        QVERIFY(QTest::qWaitForWindowActive(&dock));
        findings.setFocus();
        for (int row = 0; row < findings.model()->rowCount(); ++row) { // as a check leaves it
            findings.selectionModel()->setCurrentIndex(findings.model()->index(row, 0), QItemSelectionModel::NoUpdate);
            bench.selection().clear();
            click(findings, findings.model()->index(row, 0));
            if (!selected(bench).isEmpty())
                return;
        }
        QFAIL("no finding could be chosen");
    }

    /// It said how many, and the one that was selected stood in another list than the one that was looked at.
    void theQuestionDidNotNameTheChunksThatGo()
    {
        const RunStory story({ .blocks = 3, .columns = 12, .workers = 1, .trained = 0 });
        good(good(FeederLedger::open(story.paths().tracker())).setFailed(2, "the page is damaged"));
        Workbench bench(story.workspace());
        Appearance appearance(false);
        MainWindow window(bench, appearance, false);
        window.show();
        showCells(bench, story);
        const auto asked = [&window](QAction* action) {
            action->trigger();
            auto* box = window.findChild<QMessageBox*>();
            const QString text = box == nullptr ? QString() : box->text();
            delete box;
            return text;
        };
        auto* actions = window.findChild<Actions*>();
        bench.selection().setChunks({ chunkAt(0, 1, 7) });
        QTRY_VERIFY_WITH_TIMEOUT(actions->excludeChunks->isEnabled(), kPatienceMs);
        QCOMPARE(asked(actions->excludeChunks), QStringLiteral("Leave B1 C7 out of this run?"));
        std::vector<SelectedChunk> many;
        for (int column = 11; column > 1; --column)
            many.push_back(chunkAt(0, 1, column));
        bench.selection().setChunks(many);
        const QString text = asked(actions->excludeChunks);
        QVERIFY2(text.endsWith(QStringLiteral("B1 C2, B1 C3, B1 C4, B1 C5, B1 C6, B1 C7, B1 C8, B1 C9 and 2 more")),
            qPrintable(text));
        bench.selection().setChunks({ chunkAt(0, 2, 3) });
        QTRY_VERIFY_WITH_TIMEOUT(actions->acceptChunks->isEnabled(), kPatienceMs);
        QCOMPARE(asked(actions->acceptChunks), QStringLiteral("Accept that B2 C3 is not trained?"));
        bench.selection().setChunks({ chunkAt(0, 2, 3), chunkAt(0, 2, 4) });
        QVERIFY(asked(actions->acceptChunks).endsWith(QStringLiteral("B2 C3, B2 C4")));
    }

    /// The keyboard was at a run that nobody had chosen to compare, and that one became the baseline.
    void aRunThatWasNotComparedBecameTheBaseline()
    {
        const RunStory first({ .trained = 9 }, QStringLiteral("first"));
        const RunStory second({ .trained = 5 }, QStringLiteral("second"), first.workspace());
        const RunStory third({ .trained = 3 }, QStringLiteral("third"), first.workspace());
        Workbench bench(first.workspace());
        bench.start({});
        ComparePage page(bench);
        QTableView& runs = *tableOf(page, "Runs with figures and settings");
        QTRY_COMPARE_WITH_TIMEOUT(runs.model()->rowCount(), 3, kPatienceMs);
        QPushButton* pin = nullptr;
        const auto buttons = page.findChildren<QPushButton*>();
        for (QPushButton* button : buttons)
            pin = button->text() == QStringLiteral("Pin as baseline") ? button : pin;
        QVERIFY(pin != nullptr);
        page.choose({ first.folder(), second.folder() });
        const auto at = [&runs](const QString& name) {
            for (int column = 0; column < runs.model()->columnCount(); ++column)
                if (const QModelIndex index = rowOf(runs, name, column); index.isValid())
                    return index;
            return QModelIndex();
        };
        QVERIFY(at(QStringLiteral("third")).isValid());
        runs.selectionModel()->setCurrentIndex(at(QStringLiteral("third")), QItemSelectionModel::NoUpdate);
        QVERIFY(!pin->isEnabled());
        runs.selectionModel()->setCurrentIndex(at(QStringLiteral("second")), QItemSelectionModel::NoUpdate);
        QVERIFY(pin->isEnabled());
    }
};

QTEST_MAIN(TestMarkedAndMeant)
#include "tst_marked_and_meant.moc"
