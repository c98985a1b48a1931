#include "core/base/clock.h"
#include "core/base/hash.h"
#include "core/base/sentence.h"
#include "core/run/folder/checkpoint_manifest.h"
#include "core/tracker/sqlite/database.h"
#include "tests/ui/patience.h"
#include "tests/ui/run_story.h"
#include "ui/bridge/checkpoint_verifier.h"
#include "ui/models/run_tables.h"
#include "ui/models/table_model.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/pages/worker_delegate.h"
#include "ui/pages/workers_page.h"
#include "ui/parts/fitted_columns.h"
#include "ui/parts/page_parts.h"
#include "ui/shell/appearance.h"
#include "ui/shell/main_window.h"
#include "ui/shell/run_view.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QHeaderView>
#include <QHelpEvent>
#include <QPushButton>
#include <QSignalSpy>
#include <QStandardItemModel>
#include <QTableView>
#include <QToolTip>
#include <memory>

using namespace furrow;
using namespace furrow::test;

namespace {

void write(const std::filesystem::path& file, const std::string& text)
{
    std::ofstream(file, std::ios::binary) << text;
}

/// A checkpoint folder with one file, as a worker leaves it, and the row that the tracker has of it.
SupervisorLedger::CheckpointRow wholeCheckpoint(const RunPaths& paths, std::int64_t id, std::uint64_t sizeBytes = 3)
{
    SupervisorLedger::CheckpointRow row;
    row.id = { id };
    row.record.folder = "whole-" + std::to_string(id);
    const auto folder = paths.checkpointFolder(row.record.folder);
    std::filesystem::create_directories(folder);
    write(folder / "weights", "abc");
    CheckpointManifest manifest;
    manifest.runId = good(readRunFile(paths)).runId;
    manifest.files = { { "weights", sizeBytes, good(sha256File(folder / "weights")) } };
    const std::string text = toJsonText(manifest);
    write(folder / "manifest.json", text);
    row.record.manifestSha256 = sha256Hex(text);
    return row;
}

/// Number of the column with this title; -1: none.
int columnOf(const QAbstractItemModel& model, const QString& title)
{
    for (int column = 0; column < model.columnCount(); ++column)
        if (model.headerData(column, Qt::Horizontal).toString() == title)
            return column;
    return -1;
}

QStringList verdictsOf(const QTableView& table)
{
    const QAbstractItemModel& model = *table.model();
    QStringList verdicts;
    for (int row = 0; row < model.rowCount(); ++row)
        verdicts.append(model.index(row, columnOf(model, QStringLiteral("Verified"))).data().toString());
    return verdicts;
}

SupervisorLedger::CheckpointRow evaluated(std::int64_t id, double evalLoss)
{
    SupervisorLedger::CheckpointRow row;
    row.id = { id };
    row.surviving = true;
    row.record.evalLoss = evalLoss;
    return row;
}

template <typename Widget> Widget* named(const QWidget& parent, const QString& name)
{
    const auto all = parent.findChildren<Widget*>();
    const auto found = std::find_if(
        all.begin(), all.end(), [&name](const Widget* widget) { return widget->accessibleName() == name; });
    return found == all.end() ? nullptr : *found;
}

} // namespace

class TestWorkersPage : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { registerBridgeTypes(); }

    void aCheckpointIsVerifiedOnlyWhenEveryFileIsAsItWasWritten()
    {
        const RunStory story({});
        const auto whole = wholeCheckpoint(story.paths(), 71);
        const auto changed = wholeCheckpoint(story.paths(), 72);
        write(story.paths().checkpointFolder(changed.record.folder) / "weights", "abd");
        CheckpointVerifier verifier;
        QVERIFY(verifier.verdictOf(whole.id) == nullptr);
        verifier.start(story.folder(), { whole, changed });
        QVERIFY(verifier.isChecking(whole.id) && !verifier.isChecking(changed.id));
        QTRY_VERIFY_WITH_TIMEOUT(!verifier.isBusy(), kPatienceMs);
        QCOMPARE(verifier.done(), 2);
        QVERIFY(verifier.verdictOf(whole.id)->problem.empty());
        QVERIFY(verifier.verdictOf(changed.id)->problem.find("SHA-256 of weights differs") != std::string::npos);
    }

    void whatIsStoppedHasNoVerdict()
    {
        const RunStory story({});
        const auto row = wholeCheckpoint(story.paths(), 71);
        CheckpointVerifier verifier;
        verifier.start(story.folder(), { row });
        verifier.stop();
        QVERIFY(!verifier.isBusy());
        QTest::qWait(100);
        QVERIFY(verifier.verdictOf(row.id) == nullptr);
    }

    /// The file has a hole of 64 GiB: reading it takes minutes.
    void closingTheConsoleWaitedForTheWholeFileBeingVerified()
    {
        const RunStory story({});
        constexpr std::uint64_t kHole = std::uint64_t(64) << 30;
        const auto row = wholeCheckpoint(story.paths(), 71, kHole);
        std::filesystem::resize_file(story.paths().checkpointFolder(row.record.folder) / "weights", kHole);
        QElapsedTimer sinceStop;
        {
            CheckpointVerifier verifier;
            verifier.start(story.folder(), { row });
            QTest::qWait(200); // inside the file
            QVERIFY(verifier.isBusy());
            sinceStop.start();
        }
        QVERIFY2(sinceStop.elapsed() < kPatienceMs / 4, qPrintable(QString::number(sinceStop.elapsed())));
    }

    void tablesOfLowWindowsShowedNoRow()
    {
        const RunStory story({});
        Workbench bench(story.workspace());
        bench.showRun(story.folder());
        WorkersPage page(bench);
        page.resize(page.minimumSizeHint());
        page.show();
        for (const QString& name : { QStringLiteral("Worker processes"), QStringLiteral("Checkpoints") }) {
            auto* table = named<QTableView>(page, name);
            QTRY_VERIFY_WITH_TIMEOUT(table->model()->rowCount() > 0, kPatienceMs);
            QVERIFY2(table->viewport()->height() >= table->rowHeight(0), qPrintable(name));
        }
    }

    void theProcessOfAMergeHadNoName()
    {
        IncarnationRow merge;
        merge.worker = kNoWorker;
        TableModel<IncarnationRow> model(incarnationColumns());
        model.reset({ merge });
        QCOMPARE(model.index(0, columnOf(model, QStringLiteral("Worker"))).data().toString(), QStringLiteral("merge"));
    }

    void theBestCheckpointWasOnlyASentenceAboveTheList()
    {
        auto removed = evaluated(1, 1.0);
        removed.removed = true;
        auto best = evaluated(2, 1.5);
        best.pinned = true;
        auto newest = evaluated(3, 1.7);
        newest.head = true;
        const CheckpointVerifier verifier;
        CheckpointModel model(checkpointColumns(verifier));
        model.reset(checkpointLines({ removed, best, newest }));
        const int column = columnOf(model, QStringLiteral("Mark"));
        QStringList marks;
        for (int row = 0; row < model.rowCount(); ++row)
            marks.append(model.index(row, column).data().toString());
        QCOMPARE(marks,
            QStringList({ QStringLiteral("removed"), QStringLiteral("best, pinned"), QStringLiteral("most trained") }));
        QVERIFY(model.index(1, column).data(Qt::DecorationRole).isValid());
        QVERIFY(!model.index(2, column).data(Qt::DecorationRole).isValid());
    }

    /// In a replay the ages of checkpoints were those of now: "3 s" of one that was an hour old at that moment, or not
    /// there yet.
    void agesInAReplayWereThoseOfNow()
    {
        constexpr std::int64_t kSecond = 1'000'000'000;
        auto row = evaluated(1, 1.5);
        row.wallNs = 100 * kSecond;
        std::optional<std::int64_t> moment = 130 * kSecond;
        CheckpointModel model(checkpointColumns([&moment] { return moment; }));
        model.reset(checkpointLines({ row }));
        const auto age = [&model] { return model.index(0, columnOf(model, QStringLiteral("Age"))).data().toString(); };
        QCOMPARE(age(), durationText(30));
        moment = 99 * kSecond;
        QCOMPARE(age(), QStringLiteral("saved later"));
        const RunStory story({});
        Workbench bench(story.workspace());
        bench.showRun(story.folder());
        WorkersPage page(bench);
        page.show();
        auto* table = named<QTableView>(page, QStringLiteral("Checkpoints"));
        QTRY_VERIFY_WITH_TIMEOUT(table->model()->rowCount() > 0 && bench.replay().end() > 0, kPatienceMs);
        bench.replay().setMoment(bench.replay().begin());
        const auto first = table->model()->index(0, columnOf(*table->model(), QStringLiteral("Age")));
        QTRY_COMPARE_WITH_TIMEOUT(first.data().toString(), QStringLiteral("saved later"), kPatienceMs);
    }

    /// So wide is what is seen of the page in a window of 853 pixels (1280 at 150 %), between library and inspector.
    void theVerdictLayBeyondTheEdgeOfSmallWindows()
    {
        constexpr int kSeen = 440;
        const RunStory story({});
        Workbench bench(story.workspace());
        bench.showRun(story.folder());
        WorkersPage page(bench);
        page.show();
        auto* table = named<QTableView>(page, QStringLiteral("Checkpoints"));
        QTRY_VERIFY_WITH_TIMEOUT(table->model()->rowCount() > 1, kPatienceMs);
        for (const char* title : { "Checkpoint", "Mark", "Verified" }) {
            const int column = columnOf(*table->model(), QLatin1String(title));
            const int end
                = table->viewport()
                      ->mapTo(&page, QPoint(table->columnViewportPosition(column) + table->columnWidth(column), 0))
                      .x();
            QVERIFY2(end <= kSeen, qPrintable(QStringLiteral("%1 ends at %2").arg(QLatin1String(title)).arg(end)));
        }
    }

    /// The page is this wide in a window of 1280 pixels, between library and inspector.
    void whatACheckpointIsChosenByWasOutOfSightInSmallWindows()
    {
        const RunStory story({});
        Workbench bench(story.workspace());
        bench.showRun(story.folder());
        WorkersPage page(bench);
        page.resize(720, 500);
        page.show();
        auto* table = named<QTableView>(page, QStringLiteral("Checkpoints"));
        QTRY_VERIFY_WITH_TIMEOUT(table->model()->rowCount() > 1, kPatienceMs);
        for (const char* title : { "Mark", "Eval loss", "Age", "Size", "Verified" }) {
            const int column = columnOf(*table->model(), QLatin1String(title));
            QVERIFY2(column >= 0, title);
            QVERIFY2(table->columnViewportPosition(column) + table->columnWidth(column) <= table->viewport()->width(),
                title);
        }
    }

    /// In a window of 1440 pixels the figures of a large run lay behind the right edge of the tables.
    void theTablesOfWorkersAndDataWereCutAt1440()
    {
        const RunStory story({ .trained = 12 });
        auto supervisor = story.supervisor();
        const auto all = good(good(LedgerReader::open(story.paths().tracker())).incarnations());
        (void)good(supervisor.revoke(all.front().id,
            sentence("the loss was not a number in 3 steps of 4, so that nothing of it can be kept"),
            systemClock().wallNs()));
        auto db = good(Database::open(story.paths().tracker(), Database::Options {}));
        db.run("UPDATE incarnation SET device_name='NVIDIA H100 80GB HBM3', pid=4194303, step=12345678, "
               "tokens=987654321012, tokens_per_second=654321");
        db.run("UPDATE checkpoint SET step=12345678, tokens=987654321012, size_bytes=123456789012");
        good(db.takeStatus());
        Workbench bench(story.workspace());
        Appearance appearance(false);
        MainWindow window(bench, appearance, false);
        window.resize(1440, 900);
        window.show();
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().status() && bench.watcher().tables(), kPatienceMs);
        for (const auto& [page, count] : { std::pair(RunView::Workers, 2), std::pair(RunView::Data, 2) }) {
            window.runView().showPage(page);
            QTest::qWait(100);
            int seen = 0;
            for (auto* table : window.runView().page(page)->findChildren<QTableView*>()) {
                if (!table->isVisible() || table->model()->rowCount() == 0)
                    continue;
                ++seen;
                const QHeaderView& head = *table->horizontalHeader();
                QVERIFY2(head.length() <= table->viewport()->width(),
                    qPrintable(QStringLiteral("%1: %2 of %3")
                            .arg(table->accessibleName())
                            .arg(head.length())
                            .arg(table->viewport()->width())));
                for (int column = 0; column < table->model()->columnCount(); ++column) {
                    const auto side = table->model()->headerData(column, Qt::Horizontal, Qt::TextAlignmentRole);
                    const bool isNumber = side.value<Qt::Alignment>().testFlag(Qt::AlignRight);
                    const int wanted = static_cast<const QAbstractItemView*>(table)->sizeHintForColumn(column);
                    QVERIFY2(!isNumber || table->isColumnHidden(column) || table->columnWidth(column) >= wanted,
                        qPrintable(
                            table->accessibleName() + table->model()->headerData(column, Qt::Horizontal).toString()));
                }
            }
            QVERIFY2(seen >= count, qPrintable(QString::number(seen)));
        }
    }

    /// "work…" stood in every row of a narrow table: what tells workers apart is at the end of their names.
    void theNumbersOfWorkersWereCutOff()
    {
        QStandardItemModel model(2, 2);
        model.setHorizontalHeaderLabels({ QStringLiteral("W"), QStringLiteral("Why") });
        for (int row = 0; row < 2; ++row) {
            const int worker = 10 + 8 * row; // with one marker and one colour
            model.setData(model.index(row, 0), workerName(worker), Qt::DisplayRole);
            model.setData(model.index(row, 0), worker, WorkerRole);
            model.setData(model.index(row, 1), QString(200, QLatin1Char('x')), Qt::DisplayRole);
        }
        QTableView table;
        table.setModel(&model);
        table.setItemDelegate(new WorkerDelegate(&table));
        table.setFrameShape(QFrame::NoFrame);
        table.setWordWrap(false); // as the tables of the console
        table.setFocusPolicy(Qt::NoFocus); // no frame around one of the cells
        table.verticalHeader()->hide();
        new FittedColumns(table);
        const int whole = static_cast<const QAbstractItemView&>(table).sizeHintForColumn(0);
        table.resize(whole + 80, 200);
        table.show();
        QTRY_VERIFY_WITH_TIMEOUT(table.columnWidth(1) < 200, kPatienceMs);
        QCOMPARE(table.columnWidth(0), whole);
        table.setColumnWidth(0, whole - 20); // by hand
        const QImage picture = table.viewport()->grab().toImage();
        const auto cellOf = [&](int row) { return picture.copy(table.visualRect(model.index(row, 0))); };
        QVERIFY(cellOf(0) != cellOf(1));
    }

    /// In a narrow window every heading was cut in its first word, "Att…" beside an "Own optimiser steps" that had room
    /// to give; and what was cut for the mark of the sorted column had no tip.
    void headingsWereCutInTheirFirstWord()
    {
        QStandardItemModel model(1, 2);
        model.setHorizontalHeaderLabels(
            { QStringLiteral("Quarantined"), QStringLiteral("Own optimiser steps of this process") });
        for (int column = 0; column < 2; ++column)
            model.setData(model.index(0, column), 1, Qt::DisplayRole);
        const std::unique_ptr<QTableView> table(makeTable(QStringLiteral("narrow")));
        table->setModel(&model);
        new FittedColumns(*table);
        const QHeaderView& head = *table->horizontalHeader();
        const int whole = head.sectionSizeHint(0);
        const int firstWord = head.fontMetrics().horizontalAdvance(QStringLiteral("Own…")) + 40;
        table->resize(whole + firstWord, 200);
        table->show();
        QTRY_VERIFY_WITH_TIMEOUT(table->columnWidth(1) < head.sectionSizeHint(1), kPatienceMs);
        QCOMPARE(table->columnWidth(0), whole);
        const QPoint middle(head.sectionViewportPosition(1) + table->columnWidth(1) / 2, head.height() / 2);
        QHelpEvent hover(QEvent::ToolTip, middle, head.viewport()->mapToGlobal(middle));
        QApplication::sendEvent(head.viewport(), &hover);
        QVERIFY(QToolTip::text().contains(QStringLiteral("Own optimiser steps of this process")));
    }

    /// "Atte… Pro… Dev…" beside a column that was as wide as the one long sentence in it.
    void headingsWereCutBesideAColumnThatWasMostlyEmpty()
    {
        QStandardItemModel model(3, 3);
        model.setHorizontalHeaderLabels(
            { QStringLiteral("Attempt"), QStringLiteral("Why it ended"), QStringLiteral("Own tokens") });
        for (int row = 0; row < 3; ++row) {
            model.setData(model.index(row, 0), 1, Qt::DisplayRole);
            model.setData(model.index(row, 1), row == 0 ? QString(200, QLatin1Char('x')) : QStringLiteral("stopped"),
                Qt::DisplayRole);
            model.setData(model.index(row, 2), 1, Qt::DisplayRole);
        }
        const std::unique_ptr<QTableView> table(makeTable(QStringLiteral("processes")));
        table->setModel(&model);
        new FittedColumns(*table);
        const QHeaderView& head = *table->horizontalHeader();
        table->resize(head.sectionSizeHint(0) + head.sectionSizeHint(2) + 200, 200);
        table->show();
        QTRY_VERIFY_WITH_TIMEOUT(table->columnWidth(1) < 320, kPatienceMs);
        for (const int column : { 0, 2 })
            QCOMPARE(table->columnWidth(column), head.sectionSizeHint(column));
    }

    /// The checkpoints of a story have rows but no files.
    void thePageSaysWhatWasCheckedAndWhatWasNot()
    {
        const RunStory story({});
        Workbench bench(story.workspace());
        bench.showRun(story.folder());
        WorkersPage page(bench);
        page.resize(1000, 700);
        page.show();
        auto* table = named<QTableView>(page, QStringLiteral("Checkpoints"));
        QVERIFY(table != nullptr);
        QTRY_VERIFY_WITH_TIMEOUT(table->model()->rowCount() > 1, kPatienceMs);
        QCOMPARE(verdictsOf(*table).removeDuplicates(), table->model()->rowCount() - 1);
        QCOMPARE(verdictsOf(*table).front(), QStringLiteral("not checked yet"));
        const auto buttons = page.findChildren<QPushButton*>();
        const auto verify = std::find_if(buttons.begin(), buttons.end(),
            [](const QPushButton* button) { return button->text() == QLatin1String("Verify all"); });
        QVERIFY(verify != buttons.end() && (*verify)->isEnabled());
        (*verify)->click();
        QTRY_VERIFY_WITH_TIMEOUT(!verdictsOf(*table).contains(QStringLiteral("not checked yet"))
                && (*verify)->text() == QLatin1String("Verify all"),
            kPatienceMs);
        QCOMPARE(verdictsOf(*table).front(), QStringLiteral("cannot be read"));
    }
};

QTEST_MAIN(TestWorkersPage)
#include "tst_workers_page.moc"
