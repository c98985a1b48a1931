// What the console said of another time, another choice or another process than the one it was of. Each test is named
// after what went wrong.
#include "core/base/file_lock.h"
#include "core/base/process.h"
#include "core/base/sentence.h"
#include "core/run/start/worker_check.h"
#include "core/run/status/feeder_words.h"
#include "core/run/status/tracker_config.h"
#include "core/tracker/sqlite/database.h"
#include "core/tracker/worker_ends.h"
#include "core/workspace/queue_runner.h"
#include "tests/ui/patience.h"
#include "tests/ui/run_story.h"
#include "ui/bridge/workspace_scanner.h"
#include "ui/models/core_words.h"
#include "ui/models/kept_trainings.h"
#include "ui/models/library_table.h"
#include "ui/models/run_tables.h"
#include "ui/models/setting_words.h"
#include "ui/models/workbench.h"
#include "ui/pages/alert_list.h"
#include "ui/pages/charts_page.h"
#include "ui/pages/compare_page.h"
#include "ui/dialogs/export_dialog.h"
#include "ui/pages/log_page.h"
#include "ui/pages/new_run/new_run_page.h"
#include "ui/pages/overview_page.h"
#include "ui/pages/run_banner.h"
#include "ui/charts/chart_parts.h"
#include "ui/charts/coverage_map.h"
#include "ui/charts/map_legend.h"
#include "ui/charts/series_chart.h"
#include "ui/models/words.h"
#include "ui/shell/appearance.h"
#include "ui/shell/audit_dock.h"
#include "ui/shell/events_dock.h"
#include "ui/shell/inspector_dock.h"
#include "ui/shell/lanes_dock.h"
#include "ui/shell/main_window.h"
#include "ui/shell/mnemonics.h"
#include "ui/shell/queue_dock.h"
#include "ui/shell/queue_tree.h"
#include "ui/shell/run_view.h"
#include "ui/widgets/lane_view.h"

#include <QAction>
#include <QCheckBox>
#include <QDockWidget>
#include <QLabel>
#include <QPlainTextEdit>
#include <QProcess>
#include <QPushButton>
#include <QRadioButton>
#include <QScopeGuard>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTableView>
#include <QTextBrowser>

using namespace furrow;
using namespace furrow::test;

namespace {

bool says(const QWidget& parent, const QString& part)
{
    const auto labels = parent.findChildren<QLabel*>();
    return std::any_of(labels.begin(), labels.end(),
        [&](const QLabel* label) { return label->isVisibleTo(&parent) && label->text().contains(part); });
}

QTableView* tableOf(const QWidget& parent, const char* name)
{
    const auto tables = parent.findChildren<QTableView*>();
    const auto found = std::find_if(tables.begin(), tables.end(),
        [name](const QTableView* table) { return table->accessibleName() == QString::fromLatin1(name); });
    return found == tables.end() ? nullptr : *found;
}

void show(Workbench& bench, const RunStory& story)
{
    bench.showRun(story.folder());
    QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().status() && bench.watcher().tables(), kPatienceMs);
}

/// What alerts of this kind said.
QStringList textsOf(const QSignalSpy& raised, AlertKind kind)
{
    QStringList texts;
    for (const auto& one : raised)
        if (const auto alert = one.front().value<Alert>(); alert.kind == kind)
            texts.append(alert.text);
    return texts;
}

/// A process that does nothing, in the place of a worker of the story; ended with this.
class OtherProcess {
public:
    OtherProcess(const RunStory& story, int worker)
        : process_(good(ChildProcess::start("/bin/sleep", sleeping())))
    {
        auto db = good(Database::open(story.paths().tracker(), Database::Options {}));
        db.run(
            "UPDATE incarnation SET pid=?, start_time=? WHERE worker=?", identity().pid, identity().startTime, worker);
        good(db.takeStatus());
    }
    const ProcessIdentity& identity() const { return process_.identity(); }

private:
    static ProcessOptions sleeping()
    {
        ProcessOptions options;
        options.arguments = { "300" };
        return options;
    }
    ChildProcess process_;
};

void choose(QTableView& table, const QStringList& names)
{
    table.selectionModel()->clearSelection();
    for (const QString& name : names) // one after the other, as a person does
        for (int row = 0; row < table.model()->rowCount(); ++row)
            if (table.model()->index(row, 0).data().toString() == name)
                table.selectionModel()->select(
                    table.model()->index(row, 0), QItemSelectionModel::Select | QItemSelectionModel::Rows);
}

constexpr const char* kRunId = "00112233aabbccdd"; // of a RunStory

/// A worker of a story that trains what a test tells it to, with telemetry of the same time.
class TestWorker {
public:
    TestWorker(const RunStory& story, int worker)
        : story_(story)
        , ledger_(good(WorkerLedger::open(story.paths().tracker(), kRunId)))
        , worker_(worker)
    {
        (void)good(ledger_.start({ story.attempt(), worker, worker, "cpu", "CPU" }, 600));
        encodeLine(TelemetryHeader { kRunId, 1, worker, bootId(), systemClock().wallNs(), systemClock().monotonicNs() },
            lines_);
    }
    Claim begin()
    {
        const Claim claim = std::get<Claim>(good(ledger_.claim()));
        good(ledger_.begin(claim));
        return claim;
    }
    /// Steps of one window with 100 tokens each.
    void step(const Claim& claim, int count)
    {
        for (int i = 0; i < count; ++i) {
            StepRecord record;
            record.monotonicNs = systemClock().monotonicNs();
            record.step = ++step_;
            record.block = claim.block;
            record.chunk = claim.chunk.value;
            record.tokens = step_ * 100;
            record.stepTokens = 100;
            record.loss = 2;
            encodeLine(TelemetryRecord(record), lines_);
        }
        std::ofstream(story_.paths().telemetryFile(1, worker_)) << lines_;
    }
    /// It ends with the windows of the steps that were made last.
    void finish(const Claim& claim, const WindowRange& windows, bool partly)
    {
        ChunkOutcome outcome;
        outcome.done = { windows };
        outcome.tokens = 100 * windows.size();
        outcome.lossSum = 2.0 * static_cast<double>(outcome.tokens);
        outcome.firstStep = step_ - windows.size() + 1;
        outcome.lastStep = step_;
        good(ledger_.finish(claim, outcome, partly));
    }
    void commit(const Claim& claim, const WindowRange& windows)
    {
        CheckpointRecord record;
        record.replica = worker_;
        record.folder = std::to_string(worker_) + "-" + std::to_string(step_);
        record.manifestSha256 = std::string(64, 'a');
        record.step = step_;
        (void)good(ledger_.commit(record, std::vector<Part> { { claim.chunk, windows, windows.size() } }));
    }

private:
    const RunStory& story_;
    WorkerLedger ledger_;
    int worker_;
    std::int64_t step_ = 0;
    std::string lines_;
};

} // namespace

class TestToldAsItIs : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { registerBridgeTypes(); }

    void alertsOfLaterWereShownInAReplay()
    {
        const RunStory story({});
        good(story.supervisor().endAttempt(story.attempt(), StopReason::Error, "a disk was full"));
        Workbench bench(story.workspace());
        OverviewPage overview(bench);
        EventsDock events(bench);
        LogPage log(bench);
        show(bench, story);
        auto* list = overview.findChild<AlertList*>();
        auto* told = tableOf(events, "Events and alerts");
        auto* lines = tableOf(log, "Log");
        const auto isAlertTold = [told] {
            for (int row = 0; row < told->model()->rowCount(); ++row)
                if (told->model()->index(row, 4).data().toString().contains(QStringLiteral("Attempt 1 failed")))
                    return true;
            return false;
        };
        QTRY_VERIFY_WITH_TIMEOUT(list->isVisibleTo(&overview) && isAlertTold() && lines->model()->rowCount() > 0
                && bench.replay().end() > bench.replay().begin(),
            kPatienceMs);
        const QSignalSpy counted(&events, &EventsDock::alertsChanged);
        bench.replay().setMoment(bench.replay().begin());
        QTRY_VERIFY_WITH_TIMEOUT(!list->isVisibleTo(&overview) && !isAlertTold(), kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(!counted.isEmpty() && counted.last().first().toInt() == 0, kPatienceMs);
        bench.replay().setMoment(std::nullopt);
        QTRY_VERIFY_WITH_TIMEOUT(list->isVisibleTo(&overview) && isAlertTold(), kPatienceMs);
    }

    void theLogOfAReplayHadLinesOfLater()
    {
        LogFilter filter;
        LogModel log(logColumns());
        const std::int64_t now = systemClock().wallNs();
        constexpr std::int64_t kMinute = 60'000'000'000;
        log.reset({ { logTime(now - kMinute), LogLevel::Info, QStringLiteral("feeder"), QStringLiteral("before") },
            { logTime(now + kMinute), LogLevel::Info, QStringLiteral("feeder"), QStringLiteral("later") } });
        filter.setSourceModel(&log);
        QCOMPARE(filter.rowCount(), 2);
        filter.setMoment(now);
        QCOMPARE(filter.rowCount(), 1);
        QCOMPARE(filter.index(0, 3).data().toString(), QStringLiteral("before"));
        filter.setMoment(std::nullopt);
        QCOMPARE(filter.rowCount(), 2);
    }

    void theLineBelowCompareWasOfAnEarlierChoice()
    {
        const RunStory first({ .trained = 9 }, QStringLiteral("first"));
        const RunStory second({ .trained = 5 }, QStringLiteral("second"), first.workspace());
        const RunStory third({ .trained = 3 }, QStringLiteral("third"), first.workspace());
        Workbench bench(first.workspace());
        bench.start({});
        ComparePage page(bench);
        QTableView* runs = tableOf(page, "Runs with figures and settings");
        QTRY_COMPARE_WITH_TIMEOUT(runs->model()->rowCount(), 3, kPatienceMs);
        choose(*runs, { QStringLiteral("third"), QStringLiteral("first") });
        QTRY_VERIFY_WITH_TIMEOUT(says(page, QStringLiteral("Baseline: third")), kPatienceMs);
        QTableView* summary = tableOf(page, "Summary");
        QCOMPARE(summary->model()->rowCount(), 2);
        choose(*runs, { QStringLiteral("second"), QStringLiteral("first") });
        QVERIFY(says(page, QStringLiteral("Reading 2 run")) && !says(page, QStringLiteral("Baseline")));
        QCOMPARE(summary->model()->rowCount(), 0); // nothing of the choice before stands below it
        QTRY_VERIFY_WITH_TIMEOUT(says(page, QStringLiteral("Baseline: second")), kPatienceMs);
        choose(*runs, { QStringLiteral("second") });
        QVERIFY(says(page, QStringLiteral("Select two to eight runs")) && !says(page, QStringLiteral("Baseline")));
    }

    /// The legend of the curves had the value of the worker that came last.
    void theNumberOfAComparedRunWasThatOfOneOfItsWorkers()
    {
        const RunStory first({ .trained = 9 }, QStringLiteral("first"));
        const RunStory second({ .workers = 1, .trained = 5 }, QStringLiteral("second"), first.workspace());
        Workbench bench(first.workspace());
        bench.start({});
        ComparePage page(bench);
        page.resize(1280, 760);
        page.show();
        QTableView* runs = tableOf(page, "Runs with figures and settings");
        QTRY_COMPARE_WITH_TIMEOUT(runs->model()->rowCount(), 2, kPatienceMs);
        choose(*runs, { QStringLiteral("first"), QStringLiteral("second") });
        const auto valueOf = [&page](const QString& name) {
            for (const ChartTitle* title : page.findChildren<ChartTitle*>())
                for (const ChartTitle::Entry& entry : title->entries())
                    if (entry.name == name)
                        return entry.value;
            return QString();
        };
        QTRY_VERIFY_WITH_TIMEOUT(!valueOf(QStringLiteral("first")).isEmpty(), kPatienceMs);
        QVERIFY2(valueOf(QStringLiteral("first")).endsWith(QStringLiteral(", mean of 2 workers")),
            qPrintable(valueOf(QStringLiteral("first"))));
        QTRY_VERIFY_WITH_TIMEOUT(!valueOf(QStringLiteral("second")).isEmpty(), kPatienceMs);
        QVERIFY(!valueOf(QStringLiteral("second")).contains(QStringLiteral("mean")));
    }

    void theLossesOfPairsWereSaidToBePerToken()
    {
        const RunStory story({});
        auto file = good(readRunFile(story.paths()));
        file.config.objective = Objective::Dpo;
        good(writeRunFile(story.paths(), file));
        Workbench bench(story.workspace());
        OverviewPage page(bench);
        show(bench, story);
        const auto isSaid = [&page](const QString& unit) {
            const auto titles = page.findChildren<ChartTitle*>();
            return std::ranges::any_of(
                titles, [&unit](const ChartTitle* title) { return title->unit().contains(unit); });
        };
        QTRY_VERIFY_WITH_TIMEOUT(isSaid(QStringLiteral("nats per pair")), kPatienceMs);
        QVERIFY(!isSaid(QStringLiteral("nats per token")));
        CoverageMap map;
        MapLegend legend(map);
        legend.setObjective(Objective::Dpo);
        map.setCells({});
        map.setLayer(MapLayer::Loss);
        QVERIFY2(
            legend.accessibleName().endsWith(QStringLiteral("nats per pair")), qPrintable(legend.accessibleName()));
    }

    /// A click where the next tab had been landed in the table above.
    void theTabsOfACompareJumpedWhenChunksWereShown()
    {
        const RunStory first({ .trained = 9 }, QStringLiteral("first"));
        const RunStory second({ .trained = 5 }, QStringLiteral("second"), first.workspace());
        Workbench bench(first.workspace());
        bench.start({});
        ComparePage page(bench);
        page.resize(1340, 620);
        page.show();
        QTableView* runs = tableOf(page, "Runs with figures and settings");
        QTRY_COMPARE_WITH_TIMEOUT(runs->model()->rowCount(), 2, kPatienceMs);
        choose(*runs, { QStringLiteral("first"), QStringLiteral("second") });
        QTRY_VERIFY_WITH_TIMEOUT(says(page, QStringLiteral("Baseline: first")), kPatienceMs);
        auto* tabs = page.findChild<QTabWidget*>();
        const auto top = [&] {
            QCoreApplication::sendPostedEvents();
            QCoreApplication::processEvents();
            return tabs->mapTo(&page, QPoint()).y();
        };
        const int before = top();
        for (int tab = 0; tab < tabs->count(); ++tab) {
            tabs->setCurrentIndex(tab);
            QCOMPARE(top(), before);
        }
    }

    void theQueueSaidFinishedOfARunThatTrainedAgain()
    {
        QueueTree tree;
        QueueView queue;
        queue.entries = { { 1, "/runs/qa", "qa", "cpu", QueueState::Ended, "finished" } };
        tree.setQueue(queue);
        QCOMPARE(tree.topLevelItem(0)->child(0)->text(1), QStringLiteral("left the queue: finished"));
    }

    /// "Nothing is waiting.", and why nothing began stood in queue.log alone.
    void aQueueThatNobodyCanRunSaidThatNothingWaits()
    {
        const RunStory story({});
        const std::filesystem::path workspace(story.workspace().toStdString());
        auto file = good(WorkspaceFile::open(workspace));
        good(file.enqueue(story.folder().toStdString(), "story", "cpu"));
        Workbench bench(story.workspace());
        bench.start({});
        QueueDock dock(bench);
        QTRY_VERIFY_WITH_TIMEOUT(says(dock, QStringLiteral("No process runs the queue")), kPatienceMs);
        std::filesystem::create_directory(queueLock(workspace));
        bench.scanner().refresh();
        QTRY_VERIFY_WITH_TIMEOUT(says(dock, QStringLiteral("queue.lock")), kPatienceMs);
    }

    /// Sorting by a figure that changes, or a run that is new, gave the rows another order, and its first was the
    /// baseline.
    void theBaselineOfACompareChangedWithTheOrderOfTheTable()
    {
        const RunStory first({ .trained = 9 }, QStringLiteral("first"));
        const RunStory second({ .trained = 5 }, QStringLiteral("second"), first.workspace());
        Workbench bench(first.workspace());
        bench.start({});
        ComparePage page(bench);
        QTableView* runs = tableOf(page, "Runs with figures and settings");
        QTRY_COMPARE_WITH_TIMEOUT(runs->model()->rowCount(), 2, kPatienceMs);
        for (const auto order : { Qt::AscendingOrder, Qt::DescendingOrder }) {
            runs->sortByColumn(0, order);
            choose(*runs, { QStringLiteral("second"), QStringLiteral("first") });
            QTRY_VERIFY_WITH_TIMEOUT(says(page, QStringLiteral("Baseline: second")), kPatienceMs);
        }
        runs->sortByColumn(0, Qt::AscendingOrder);
        const RunStory third({ .trained = 3 }, QStringLiteral("a third"), first.workspace());
        bench.scanner().refresh();
        QTRY_COMPARE_WITH_TIMEOUT(runs->model()->rowCount(), 3, kPatienceMs);
        QVERIFY(says(page, QStringLiteral("Baseline: second")));
        QCOMPARE(runs->selectionModel()->selectedRows().size(), 2);
    }

    /// A run that was resumed elsewhere went on in the table above, and stood still in the comparison below.
    void aRunThatWentOnStoodStillInTheComparison()
    {
        const RunStory first({ .trained = 9 }, QStringLiteral("first"));
        RunStory second({ .trained = 5 }, QStringLiteral("second"), first.workspace());
        Workbench bench(first.workspace());
        bench.start({});
        ComparePage page(bench);
        page.resize(1280, 760);
        page.show();
        QTableView* runs = tableOf(page, "Runs with figures and settings");
        QTRY_COMPARE_WITH_TIMEOUT(runs->model()->rowCount(), 2, kPatienceMs);
        choose(*runs, { QStringLiteral("first"), QStringLiteral("second") });
        const auto all = [&page] {
            QStringList texts;
            const QAbstractItemModel& model = *tableOf(page, "Summary")->model();
            for (int column = 0; column < model.columnCount(); ++column)
                texts.append(model.index(1, column).data().toString());
            return texts;
        };
        QTRY_VERIFY_WITH_TIMEOUT(says(page, QStringLiteral("Baseline: first")), kPatienceMs);
        const QStringList before = all();
        for (int i = 0; i < 3; ++i)
            QVERIFY(second.trainOne(0, true));
        bench.scanner().refresh();
        QTRY_VERIFY_WITH_TIMEOUT(all() != before, kPatienceMs);
    }

    void theEpochsThatAResumeAskedForWereNotInTheTableOfRuns()
    {
        const RunStory story({});
        auto supervisor = story.supervisor();
        good(supervisor.endAttempt(story.attempt(), StopReason::User, {}));
        (void)good(supervisor.beginAttempt(thisProcess(), R"({"epochs": 7})"));
        const RunLine line = readRunLine(story.paths().folder(), false);
        QString text;
        const auto columns = libraryColumns();
        for (const auto& column : columns)
            if (column.title() == settingLabel(*findSetting("epochs")))
                text = column.text(line);
        QVERIFY2(text.endsWith(QStringLiteral(" → 7")), qPrintable(text));
    }

    /// The programs of the build lie beside each other: this test starts itself once more where no worker is.
    void aLaunchWithoutAWorkerMadeARun()
    {
        if (workerVersion().ok()) {
            const QTemporaryDir alone;
            const QString copy = alone.filePath(QStringLiteral("alone"));
            QVERIFY(QFile::copy(QCoreApplication::applicationFilePath(), copy));
            QProcess program;
            program.setProcessChannelMode(QProcess::MergedChannels);
            program.start(copy, { QString::fromLatin1(QTest::currentTestFunction()) });
            QVERIFY(program.waitForFinished(kPatienceMs));
            QVERIFY2(
                program.exitStatus() == QProcess::NormalExit && program.exitCode() == 0, program.readAll().constData());
            return;
        }
        const QTemporaryDir folder;
        const QString text = folder.filePath(QStringLiteral("text.txt"));
        QFile file(text);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(QByteArray("a field and a furrow\n").repeated(2000));
        file.close();
        Workbench bench(folder.path());
        NewRunPage page(bench);
        page.setSource(text);
        page.show();
        QTRY_VERIFY_WITH_TIMEOUT(says(page, QStringLiteral("Training is not possible here")), kPatienceMs);
        const auto buttons = page.findChildren<QPushButton*>();
        const auto launch = std::find_if(buttons.begin(), buttons.end(),
            [](const QPushButton* button) { return button->text() == QStringLiteral("Launch"); });
        QVERIFY(launch != buttons.end() && !(*launch)->isEnabled());
        NewRun request;
        request.config = good(findPreset("char")).config;
        request.config.data = { text.toStdString() };
        request.workspace = folder.path().toStdString();
        const QSignalSpy failed(&bench.commands(), &RunCommands::failed);
        bench.commands().launch(request); // whoever asks: the menu, a shortcut
        QTRY_VERIFY_WITH_TIMEOUT(!failed.isEmpty(), kPatienceMs);
        QVERIFY(!QFile::exists(folder.filePath(QStringLiteral("runs"))));
    }

    void theExportOfOneReplicaDidNotSayThatItIsOne()
    {
        const RunStory story({ .trained = 12 }); // two replicas with checkpoints of their own
        Workbench bench(story.workspace());
        show(bench, story);
        ExportDialog dialog(story.folder(), bench.watcher().status(), bench.watcher().tables(), {}, nullptr);
        dialog.show();
        QVERIFY(!says(dialog, QStringLiteral("own weights")));
        for (auto* kind : dialog.findChildren<QRadioButton*>())
            if (kind->text().contains(QStringLiteral("Hugging Face")))
                kind->click();
        QVERIFY2(says(dialog, QStringLiteral("own weights")) && says(dialog, QStringLiteral("Merge replicas")),
            "the dialog does not say whose weights are exported");
    }

    void aCopyOfARunFolderCouldNotBeToldFromTheRun()
    {
        const RunStory story({});
        const auto copy = story.paths().folder().parent_path() / "copy-of-it";
        std::filesystem::copy(story.paths().folder(), copy, std::filesystem::copy_options::recursive);
        const RunStory other({}, QStringLiteral("other"), story.workspace());
        Workbench bench(story.workspace());
        bench.start({});
        QTRY_COMPARE_WITH_TIMEOUT(bench.scanner().lines()->size(), std::size_t(3), kPatienceMs);
        QStringList names;
        QStringList twins;
        for (const RunLine& line : *bench.scanner().lines()) {
            names.append(line.name);
            if (!line.twin.isEmpty())
                twins.append(line.twin);
        }
        QVERIFY2(names.contains(QStringLiteral("story (copy-of-it)")) && names.contains(QStringLiteral("other")),
            qPrintable(names.join(QLatin1Char('|'))));
        QCOMPARE(names.removeDuplicates(), 0);
        QCOMPARE(twins.size(), 2);
    }

    void aWorkerThatStoodStillHadItsSpeedOfBefore()
    {
        RunStory story({});
        story.makeAlive();
        const OtherProcess worker(story, 1);
        const auto tokensPerSecond = [&story] { return good(readStatus(story.paths())).tokensPerSecond; };
        QCOMPARE(tokensPerSecond(), 16'000.0);
        QVERIFY(freezeProcess(worker.identity(), true));
        QTRY_VERIFY_WITH_TIMEOUT(standsStill(worker.identity()), kPatienceMs);
        const RunStatus status = good(readStatus(story.paths()));
        QCOMPARE(status.tokensPerSecond, 8000.0);
        QVERIFY(status.workers[1].phase == WorkerPhase::StandsStill);
        QVERIFY(status.workers[1].alive);
        auto ledger = good(LedgerReader::open(story.paths().tracker()));
        const auto rows = processesNow(good(ledger.incarnations()), &status);
        QCOMPARE(rows[1].tokensPerSecond, 0.0);
        QCOMPARE(rows[0].tokensPerSecond, 8000.0);
    }

    void aProcessThatWasGoneTrainedOnInTheTable()
    {
        const RunStory story({});
        {
            const OtherProcess worker(story, 1);
        }
        const RunStatus status = good(readStatus(story.paths()));
        auto ledger = good(LedgerReader::open(story.paths().tracker()));
        const auto rows = processesNow(good(ledger.incarnations()), &status);
        QVERIFY(rows[0].live && !rows[1].live);
        const auto columns = incarnationColumns();
        const auto why = std::find_if(columns.begin(), columns.end(),
            [](const auto& column) { return column.title() == QStringLiteral("Phase, or why it ended"); });
        QVERIFY(why != columns.end());
        QVERIFY2(why->text(rows[1]).contains(QStringLiteral("not alive")), qPrintable(why->text(rows[1])));
    }

    /// The status said "1 of 2 workers alive" for the seconds in which the other one waited to be started again.
    void aWorkerThatWaitedToStartAgainWasOnlyMissing()
    {
        const RunStory story({});
        const auto lock = good(FileLock::tryLock(story.paths().supervisorLock()));
        const Message told = sentence("Worker %1 is started again at %2.", { "1", WallTime(60'000'000'000) });
        const auto isSaid = [&] {
            const auto evidence = good(readStatus(story.paths())).evidence;
            return std::find(evidence.begin(), evidence.end(), told) != evidence.end();
        };
        good(story.supervisor().heartbeat(thisProcess(), true, told));
        QVERIFY(!isSaid()); // told before it was there again
        {
            const OtherProcess worker(story, 1);
        }
        QVERIFY(isSaid());
        good(story.supervisor().heartbeat(thisProcess()));
        QVERIFY(!isSaid());
    }

    /// Overview and inspector had the loss of whichever replica saved last: it changed with no evaluation, and the
    /// legend beside it had the one that was measured last.
    void theEvalLossChangedWithoutAnEvaluation()
    {
        const RunStory story({ .blocks = 5, .trained = 19 });
        const auto now = systemClock().wallNs() + 60'000'000'000;
        good(publishEvaluation(story.paths(), { 1, false, 1, 2.25, now }, realFileSystem()));
        good(publishEvaluation(story.paths(), { 0, false, 1, 2.75, now + 1 }, realFileSystem()));
        for (const int replica : { 0, 1 }) { // one of them has the newest weights
            auto db = good(Database::open(story.paths().tracker(), Database::Options {}));
            db.run("UPDATE checkpoint SET tokens=?, eval_loss=NULL WHERE replica=?", 1'000'000, replica);
            db.run("UPDATE checkpoint SET tokens=?, eval_loss=NULL WHERE replica<>?", 1'000, replica);
            good(db.takeStatus());
            QCOMPARE(good(readStatus(story.paths())).evaluation.value().loss, 2.75);
        }
        Workbench bench(story.workspace());
        show(bench, story);
        ChartsPage page(bench);
        page.resize(1200, 700);
        page.show();
        const auto evalOf = [&page] {
            for (const ChartTitle* title : page.findChildren<ChartTitle*>())
                for (const ChartTitle::Entry& entry : title->entries())
                    if (entry.worker == -2)
                        return entry.value;
            return QString();
        };
        QTRY_COMPARE_WITH_TIMEOUT(evalOf(), QStringLiteral("2.750"), kPatienceMs);
    }

    /// The "run median" of a chunk was that of the epoch that the map showed.
    void theMedianOfAnEpochWasCalledThatOfTheRun()
    {
        const RunStory story({});
        Workbench bench(story.workspace());
        show(bench, story);
        QTRY_VERIFY_WITH_TIMEOUT(!bench.cells().cells().empty() && !bench.claims().claims().empty(), kPatienceMs);
        InspectorDock dock(bench);
        static_cast<QWidget&>(dock).show();
        const ChunkCell* trained = bench.cells().find(bench.claims().claims().front().chunk);
        QVERIFY(trained != nullptr);
        bench.selection().setChunks({ { trained->id, trained->block, trained->column } });
        const auto labels = dock.findChildren<QLabel*>();
        QVERIFY(std::any_of(labels.begin(), labels.end(),
            [](const QLabel* label) { return label->text().contains(QStringLiteral(", median of epoch 1 ")); }));
    }

    /// No command matched "audit": the proof was behind a button of the export.
    void theProofCouldNotBeFound()
    {
        const RunStory story({});
        Workbench bench(story.workspace());
        Appearance appearance(false);
        MainWindow window(bench, appearance, false);
        window.resize(1280, 800);
        window.show();
        show(bench, story);
        const auto actions = window.findChildren<QAction*>();
        for (const QString& name : { QStringLiteral("Audit the run"), QStringLiteral("Audit the ledger alone") }) {
            const auto audit = std::find_if(actions.begin(), actions.end(),
                [&name](const QAction* action) { return withoutMnemonic(action->text()) == name; });
            QVERIFY2(audit != actions.end(), qPrintable(name));
            QTRY_VERIFY_WITH_TIMEOUT((*audit)->isEnabled(), kPatienceMs);
            auto* dock = window.findChild<AuditDock*>();
            QVERIFY(dock != nullptr);
            QSignalSpy audited(dock, &AuditDock::audited);
            (*audit)->trigger();
            QTRY_VERIFY_WITH_TIMEOUT(!audited.isEmpty(), kPatienceMs);
            QVERIFY(dock->isVisible());
            QCOMPARE(
                audited.last().front().value<AuditPtr>()->inspectedWeights(), name.endsWith(QStringLiteral("run")));
        }
        const auto buttons = window.findChild<AuditDock*>()->findChildren<QPushButton*>();
        const auto read = std::find_if(buttons.begin(), buttons.end(),
            [](const QPushButton* button) { return withoutMnemonic(button->text()) == QStringLiteral("Show report"); });
        QVERIFY(read != buttons.end());
        (*read)->click();
        const auto* text = window.findChild<AuditDock*>()->findChild<QTextBrowser*>();
        QVERIFY(text != nullptr && text->toPlainText().contains(QStringLiteral("Chunks expected")));
    }

    /// "Loss, last step 2.636" stood beside 12,552 steps: it was of step 42,150, whose weights were thrown away.
    void theLossOfLostStepsStoodBesideTheStepsThatWereKept()
    {
        const RunStory story({ .trained = 12 });
        Workbench bench(story.workspace());
        OverviewPage page(bench);
        show(bench, story);
        QVERIFY(!good(readStatus(story.paths())).lossIsGone);
        QTRY_VERIFY_WITH_TIMEOUT(says(page, QStringLiteral("Loss, last step")), kPatienceMs);
        QVERIFY(!says(page, QStringLiteral("(lost)")));
        auto supervisor = story.supervisor();
        for (const IncarnationRow& row : good(good(LedgerReader::open(story.paths().tracker())).incarnations()))
            (void)good(supervisor.revoke(row.id, "the disk is full"));
        good(supervisor.endAttempt(story.attempt(), StopReason::Error, "the disk is full"));
        const RunStatus status = good(readStatus(story.paths()));
        QCOMPARE(status.lossWorkers, 2);
        QVERIFY(status.lossIsGone && status.workers.front().lossIsGone);
        QTRY_VERIFY_WITH_TIMEOUT(says(page, lossText(status.loss, true)), kPatienceMs);
        QVERIFY(says(page, QStringLiteral("(lost)")));
        QVERIFY(says(page, lossText(status.workers.front().loss, true))); // on its card
        const RunLine line = readRunLine(story.paths().folder(), false);
        QCOMPARE(libraryColumns()[2].text(line), lossText(status.loss, true));
        const RunStory other({}, QStringLiteral("other"), story.workspace());
        bench.start({});
        ComparePage compare(bench);
        QTableView* runs = tableOf(compare, "Runs with figures and settings");
        QTRY_COMPARE_WITH_TIMEOUT(runs->model()->rowCount(), 2, kPatienceMs);
        choose(*runs, { QStringLiteral("story"), QStringLiteral("other") });
        const QTableView* summary = tableOf(compare, "Summary");
        const auto cell = [summary](int column) { return summary->model()->index(0, column).data().toString(); };
        QTRY_VERIFY_WITH_TIMEOUT(cell(3).contains(QStringLiteral("(lost)")), kPatienceMs);
        QVERIFY2(cell(4).contains(coreWords(ofWhat(*status.evaluation))), qPrintable(cell(4)));
    }

    /// After a kill the loss of the run was that of the one worker whose last steps a checkpoint has: it had been the
    /// mean of both, and jumped without a step.
    void afterAKillTheLossOfTheRunWasThatOfOneWorker()
    {
        RunStory story({ .trained = 12 });
        QVERIFY(story.trainOne(0, true));
        const RunStatus before = good(readStatus(story.paths()));
        QCOMPARE(before.lossWorkers, 2);
        auto supervisor = story.supervisor();
        for (const IncarnationRow& row : good(good(LedgerReader::open(story.paths().tracker())).incarnations()))
            (void)good(supervisor.revoke(row.id, "stopped"));
        good(supervisor.endAttempt(story.attempt(), StopReason::User, {}));
        const RunStatus status = good(readStatus(story.paths()));
        QVERIFY(!status.workers[0].lossIsGone && status.workers[1].lossIsGone);
        QVERIFY(!status.lossIsGone);
        QCOMPARE(status.lossWorkers, 2);
        QCOMPARE(status.loss, before.loss);
        Workbench bench(story.workspace());
        OverviewPage page(bench);
        show(bench, story);
        const auto saysPartly = [&page] {
            const auto widgets = page.findChildren<QWidget*>();
            return std::any_of(widgets.begin(), widgets.end(), [](const QWidget* one) {
                return one->toolTip().contains(QStringLiteral("newest steps of 1 of them"));
            });
        };
        QTRY_VERIFY_WITH_TIMEOUT(saysPartly(), kPatienceMs);
    }

    /// "Running", and when the epoch ends, for 13 minutes in which the file of the data was away.
    void aRunThatWaitedForItsDataWasRunning()
    {
        RunStory story({ .blocks = 2, .columns = 3, .workers = 1, .trained = 3 });
        good(story.supervisor().setStoppingRules(stoppingRules(good(readRunFile(story.paths())).config)));
        story.makeAlive();
        const auto lock = good(FileLock::tryLock(story.paths().supervisorLock()));
        auto feeder = good(FeederLedger::open(story.paths().tracker()));
        const std::int64_t since = systemClock().wallNs() - 60'000'000'000;
        const auto wait = [&](const Message& why) {
            good(feeder.heartbeat(thisProcess(),
                sentence(kTryingAgainSince, { sentence(kWaitingForData, { why }), WallTime(since), Real(4, 0) })));
        };
        Workbench bench(story.workspace());
        QSignalSpy raised(&bench.alerts(), &Alerts::raised);
        OverviewPage page(bench);
        RunBanner banner(bench);
        banner.resize(1280, 60); // beside its buttons there is room for words
        show(bench, story);
        QTRY_VERIFY_WITH_TIMEOUT(says(page, QStringLiteral("Epoch 1, running")), kPatienceMs);
        QVERIFY(!bench.watcher().status()->dataWait && banner.isHidden());
        wait("/disk/big.txt is not there");
        QTRY_VERIFY_WITH_TIMEOUT(says(page, QStringLiteral("running: waiting for its data")), kPatienceMs);
        QVERIFY(!banner.isHidden() && says(banner, QStringLiteral("The run waits for its data")));
        QVERIFY(says(banner, QStringLiteral("/disk/big.txt is not there. Next try in 4 s.")));
        QCOMPARE(textsOf(raised, AlertKind::DataAway),
            QStringList { QStringLiteral("The run waits for its data: /disk/big.txt is not there") });
        good(feeder.heartbeat(thisProcess(), sentence(kPreparingBlock, { "1" })));
        QTRY_VERIFY_WITH_TIMEOUT(!says(page, QStringLiteral("waiting for its data")) && banner.isHidden(), kPatienceMs);
    }

    /// The command line named the files that a run goes on without; the console said "Finished, 100 %".
    void filesThatAreLeftOutWereNamedOnTheCommandLineOnly()
    {
        RunStory story({});
        RunFile file = good(readRunFile(story.paths()));
        file.config.badFiles = BadFiles::LeaveOut;
        good(writeRunFile(story.paths(), file));
        good(good(FeederLedger::open(story.paths().tracker())).noteLeftOut("/data/b.txt was removed."));
        Workbench bench(story.workspace());
        QSignalSpy known(&bench.alerts(), &Alerts::known); // of before somebody looked
        OverviewPage page(bench);
        InspectorDock inspector(bench);
        inspector.show();
        show(bench, story);
        const QString name = QStringLiteral("/data/b.txt was removed");
        QTRY_VERIFY_WITH_TIMEOUT(says(page, name) && says(inspector, name), kPatienceMs);
        const QStringList told = textsOf(known, AlertKind::LeftOut);
        QVERIFY(told.size() == 1 && told.front().contains(name));
    }

    /// The console said "Running" and when the epoch ends, while its supervisor stood still.
    void aRunWhoseSupervisorStoodStillWasRunning()
    {
        RunStory story({ .trained = 12 });
        const OtherProcess supervisor(story, -7); // of nobody
        good(story.supervisor().heartbeat(supervisor.identity()));
        const auto lock = good(FileLock::tryLock(story.paths().supervisorLock()));
        Workbench bench(story.workspace());
        OverviewPage page(bench);
        show(bench, story);
        QVERIFY(!bench.watcher().status()->hindrance);
        QTRY_VERIFY_WITH_TIMEOUT(says(page, QStringLiteral("Epoch 1, running")), kPatienceMs);
        QVERIFY(freezeProcess(supervisor.identity(), true));
        const QString said = QStringLiteral("running: the supervisor stands still");
        QTRY_VERIFY_WITH_TIMEOUT(says(page, said), kPatienceMs);
        const RunStatus status = good(readStatus(story.paths()));
        QVERIFY(status.supervisorStandsStill);
        QCOMPARE(status.evidence.front(), status.hindrance->sentence);
        const RunLine line = readRunLine(story.paths().folder(), false);
        QVERIFY2(
            runSubtitle(line).contains(QStringLiteral("the supervisor stands still")), qPrintable(runSubtitle(line)));
        QVERIFY(freezeProcess(supervisor.identity(), false));
        QTRY_VERIFY_WITH_TIMEOUT(!says(page, said), kPatienceMs);
    }

    /// Replay and lanes went ten hours into the future, and the newest checkpoint was always "1 s ago".
    void timesOfAClockThatHadBeenMovedWereShown()
    {
        RunStory story({ .trained = 12 });
        const auto before = good(readStatus(story.paths())).newestCheckpointWallNs;
        {
            auto db = good(Database::open(story.paths().tracker(), Database::Options {}));
            constexpr std::int64_t kAhead = 36'000'000'000'000;
            db.run(
                "UPDATE claim SET claimed_wall=claimed_wall+?1, started_wall=started_wall+?1, ended_wall=ended_wall+?1"
                " WHERE id>4 AND ended_wall<>0",
                kAhead);
            db.run("UPDATE event SET wall=wall+? WHERE incarnation<>0", kAhead);
            db.run("UPDATE checkpoint SET wall=wall+?", kAhead);
            good(db.takeStatus());
        }
        const std::int64_t now = systemClock().wallNs();
        QVERIFY(good(readStatus(story.paths())).newestCheckpointWallNs <= before);
        Workbench bench(story.workspace());
        show(bench, story);
        QTRY_COMPARE_WITH_TIMEOUT(bench.claims().claims().size(), std::size_t(14), kPatienceMs);
        for (const ClaimRow& claim : bench.claims().claims())
            QVERIFY(claim.claimedWallNs <= now && claim.startedWallNs <= now && claim.endedWallNs <= now
                && (claim.endedWallNs == 0 || claim.claimedWallNs <= claim.endedWallNs));
        QTRY_VERIFY_WITH_TIMEOUT(bench.replay().end() > 0, kPatienceMs);
        const auto begin = bench.replay().begin();
        const auto end = bench.replay().end();
        QVERIFY2(begin <= end && end <= now, qPrintable(QStringLiteral("%1 %2 %3").arg(begin).arg(end).arg(now)));
        for (const auto& row : bench.watcher().tables()->checkpoints)
            QVERIFY(row.wallNs <= now);
    }

    /// Each status made the rows anew, and Qt shows what is new with a later event: for seconds, on a machine with much
    /// to do, only the name of the run stood there.
    void theInspectorWasEmptyBetweenTwoLooks()
    {
        const RunStory story({ .trained = 12 });
        Workbench bench(story.workspace());
        InspectorDock inspector(bench);
        inspector.show();
        show(bench, story);
        QTRY_VERIFY_WITH_TIMEOUT(says(inspector, QStringLiteral("Newest checkpoint")), kPatienceMs);
        const auto before = inspector.findChildren<QLabel*>();
        const StatusPtr status = bench.watcher().status();
        Q_EMIT bench.watcher().statusRead(status);
        QCOMPARE(inspector.findChildren<QLabel*>(), before); // it says the same
        bench.selection().setWorker(1);
        QVERIFY(says(inspector, QStringLiteral("Restarts"))); // without an event
        QVERIFY(!says(inspector, QStringLiteral("Newest checkpoint")));
    }

    /// For seconds, on a machine with much to do: figures, curves and lanes of one run under the name of another, and
    /// "No steps recorded yet." of a run with thousands.
    void theRunOfBeforeStoodUnderTheNameOfTheNextOne()
    {
        const RunStory story({ .trained = 12 });
        const RunStory other({ .trained = 12 }, QStringLiteral("other"), story.workspace());
        Appearance appearance(false);
        Workbench bench(story.workspace());
        MainWindow window(bench, appearance, false);
        window.resize(1440, 900);
        window.show();
        show(bench, story);
        const QStringList docks { QStringLiteral("dock.inspector"), QStringLiteral("dock.lanes"),
            QStringLiteral("dock.events"), QStringLiteral("dock.log"), QStringLiteral("dock.gpu") };
        QList<QWidget*> views { window.findChild<RunView*>() };
        for (const QString& dock : docks)
            views.append(window.findChild<QDockWidget*>(dock)->widget());
        const auto shown = [&views] { // of a run, by what shows it; the tabs are of none
            QStringList names;
            for (const QWidget* view : views)
                for (const QWidget* part : view->findChildren<QWidget*>())
                    if (part->isVisibleTo(view)
                        && (qobject_cast<const SeriesChart*>(part) != nullptr
                            || qobject_cast<const LaneView*>(part) != nullptr
                            || qobject_cast<const QAbstractItemView*>(part) != nullptr
                            || (qobject_cast<const QLabel*>(part) != nullptr
                                && static_cast<const QLabel*>(part)->text() != QStringLiteral("Reading…"))))
                        names.append(QString::fromLatin1(part->metaObject()->className()));
            return names;
        };
        const auto reading = [&views] {
            return std::count_if(views.begin(), views.end(),
                [](const QWidget* view) { return says(*view, QStringLiteral("Reading…")); });
        };
        for (int page = 0; page < RunView::kPageCount; ++page) {
            window.findChild<RunView*>()->showPage(page);
            QVERIFY(!shown().isEmpty());
            QCOMPARE(reading(), 0);
            bool wasWhole = false;
            const auto whole = connect(&bench.watcher(), &RunWatcher::readingChanged, &window, [&](bool isReading) {
                if (isReading)
                    return;
                wasWhole = reading() == 0 && says(*views[1], QStringLiteral("Newest checkpoint"))
                    && !says(*views[2], QStringLiteral("No chunk was claimed yet"));
            });
            bench.showRun(page % 2 == 0 ? other.folder() : story.folder());
            QVERIFY2(shown().isEmpty(), qPrintable(shown().join(QLatin1Char(' '))));
            QCOMPARE(reading(), views.size());
            QTRY_VERIFY_WITH_TIMEOUT(!bench.watcher().isReading(), kPatienceMs);
            QVERIFY2(wasWhole, "a part of the first snapshot came later");
            disconnect(whole);
        }
    }

    /// The lanes took an end within 15 seconds of that of the attempt for one in order, and an earlier one for a death.
    void aDeathBesideTheEndOfTheAttemptWasNone()
    {
        RunStory story({ .workers = 2, .trained = 6 });
        auto supervisor = story.supervisor();
        const auto living = good(good(LedgerReader::open(story.paths().tracker())).incarnations());
        const std::int64_t now = systemClock().wallNs();
        (void)good(supervisor.revoke(living.front().id, sentence("SIGKILL, sender unknown"), now - 1'000'000'000));
        (void)good(supervisor.revoke(living.back().id, sentence(kWorkerStopped), now - 60'000'000'000));
        good(supervisor.endAttempt(story.attempt(), StopReason::User, sentence("after a checkpoint")));
        Workbench bench(story.workspace());
        LanesDock lanes(bench);
        lanes.show();
        show(bench, story);
        const auto* view = lanes.findChild<LaneView*>();
        QTRY_VERIFY_WITH_TIMEOUT(
            view->accessibleDescription().contains(QStringLiteral("SIGKILL, sender unknown")), kPatienceMs);
        QVERIFY2(!view->accessibleDescription().contains(QStringLiteral("stopped")),
            qPrintable(view->accessibleDescription()));
    }

    /// A chunk in training had an end as soon as it began, so the lanes drew nothing of it.
    void theLanesDrewNothingOfTheChunkInTraining()
    {
        RunStory story({ .workers = 1, .trained = 4 });
        story.makeAlive();
        const auto lock = good(FileLock::tryLock(story.paths().supervisorLock()));
        (void)story.beginOne(0, 3, 0.5);
        Workbench bench(story.workspace());
        LanesDock lanes(bench);
        lanes.resize(900, 200);
        lanes.show();
        show(bench, story);
        auto* view = lanes.findChild<LaneView*>();
        const QSignalSpy clicked(view, &LaneView::chunkClicked);
        const auto isDrawnNow = [&] {
            QTest::mouseClick(view, Qt::LeftButton, {}, { view->width() - 20, 42 });
            return !clicked.isEmpty();
        };
        QTRY_VERIFY_WITH_TIMEOUT(isDrawnNow(), kPatienceMs);
        const ChunkId found { clicked.last()[0].toLongLong() };
        QVERIFY(good(good(LedgerReader::open(story.paths().tracker())).cell(found)).state == ChunkState::Leased);
    }

    /// A run that could not be read had workers at 34,230 tok/s and the state Running.
    void aRunThatCouldNotBeReadTrainedOnInLanesAndInspector()
    {
        RunStory story({ .trained = 12 });
        story.makeAlive();
        const auto lock = good(FileLock::tryLock(story.paths().supervisorLock()));
        Workbench bench(story.workspace());
        LanesDock lanes(bench);
        InspectorDock inspector(bench);
        lanes.show();
        inspector.show();
        show(bench, story);
        const auto* view = lanes.findChild<LaneView*>();
        const auto isTold = [&](const QString& part) { return view->accessibleDescription().contains(part); };
        QTRY_VERIFY_WITH_TIMEOUT(isTold(QStringLiteral("CPU, 8")), kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(says(inspector, QStringLiteral("Running")), kPatienceMs);
        const auto config = story.paths().configFile();
        auto aside = config;
        aside += ".aside";
        std::filesystem::rename(config, aside);
        QTRY_VERIFY_WITH_TIMEOUT(!bench.watcher().problem().empty(), kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(isTold(QStringLiteral("CPU, was 8")), kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(says(inspector, QStringLiteral("was running")), kPatienceMs);
        bench.selection().setWorker(1);
        QTRY_VERIFY_WITH_TIMEOUT(says(inspector, QStringLiteral("unknown since")), kPatienceMs);
        QVERIFY(!says(inspector, QStringLiteral("tok/s")));
    }

    void theFolderOfTheCheckpointsVanishedWithoutAWord_data()
    {
        QTest::addColumn<bool>("trains");
        QTest::newRow("while it trains") << true;
        QTest::newRow("while nobody trains it") << false;
    }
    void theFolderOfTheCheckpointsVanishedWithoutAWord()
    {
        QFETCH(bool, trains);
        RunStory story({ .trained = 12 });
        story.makeAlive();
        std::optional<FileLock> held;
        if (trains)
            held.emplace(good(FileLock::tryLock(story.paths().supervisorLock())));
        Workbench bench(story.workspace());
        RunBanner banner(bench);
        banner.resize(1280, 60); // beside its buttons there is room for words
        const QSignalSpy raised(&bench.alerts(), &Alerts::raised);
        show(bench, story);
        QVERIFY(bench.watcher().status()->state == (trains ? RunState::Running : RunState::Interrupted));
        const QString away = QStringLiteral("checkpoints is not there");
        const auto isSaid = [&] { return !banner.isHidden() && says(banner, away); };
        const auto told = [&] {
            return std::count_if(raised.begin(), raised.end(), [](const QList<QVariant>& one) {
                return one.front().value<Alert>().kind == AlertKind::CheckpointsAway;
            });
        };
        QVERIFY(!isSaid());
        const auto aside = story.paths().folder() / "aside";
        std::filesystem::rename(story.paths().checkpointsFolder(), aside);
        QTRY_VERIFY_WITH_TIMEOUT(isSaid() && told() == 1, kPatienceMs);
        std::filesystem::rename(aside, story.paths().checkpointsFolder());
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().status()->checkpointsAway.empty() && !isSaid(), kPatienceMs);
        std::filesystem::rename(story.paths().checkpointsFolder(), aside);
        QTRY_COMPARE_WITH_TIMEOUT(told(), 2, kPatienceMs); // and again
    }

    /// "Work lost", "given back" and "not yet" stood there of a chunk that is left out, while the map showed another
    /// epoch: its newest claim was asked, which does not tell the state of its chunk.
    void theStateOfAChunkWasAnotherOneWhileTheMapShowedAnotherEpoch()
    {
        RunStory story({ .blocks = 2, .columns = 3, .workers = 1, .trained = 0 });
        story.openSecondEpoch(5);
        for (const IncarnationRow& one : good(good(LedgerReader::open(story.paths().tracker())).incarnations()))
            good(story.supervisor().revoke(one.id, "died"));
        std::vector<ChunkId> left;
        for (const ChunkCell& cell : good(good(LedgerReader::open(story.paths().tracker())).cells(0)))
            if (cell.state != ChunkState::Committed)
                left.push_back(cell.id);
        QCOMPARE(left.size(), std::size_t(1));
        good(story.supervisor().exclude(left, sentence("left out by hand")));
        Workbench bench(story.workspace());
        InspectorDock inspector(bench);
        inspector.resize(360, 900);
        inspector.show();
        show(bench, story);
        QTRY_VERIFY_WITH_TIMEOUT(!bench.cells().cells().empty(), kPatienceMs);
        bench.watcher().setEpoch(1);
        QTRY_VERIFY_WITH_TIMEOUT(bench.cells().epoch() == 1 && !bench.cells().cells().empty(), kPatienceMs);
        bench.selection().setChunks({ { left[0], placeOf(left[0]).block, placeOf(left[0]).column } });
        const auto has = [&inspector](const QString& row) {
            const auto labels = inspector.findChildren<QLabel*>();
            return std::any_of(
                labels.begin(), labels.end(), [&](const QLabel* label) { return label->accessibleName() == row; });
        };
        QTRY_VERIFY_WITH_TIMEOUT(has(QStringLiteral("State: excluded; not in the epoch shown")), kPatienceMs);
        QVERIFY(has(QStringLiteral("In weights: no: it is left out")));
        bench.watcher().setEpoch(0);
        QTRY_VERIFY_WITH_TIMEOUT(has(QStringLiteral("State: excluded")), kPatienceMs);
        QVERIFY(has(QStringLiteral("In weights: no: it is left out")));
    }

    /// Worker and attempt of the process that gave the chunk back stood beside the loss of another one's training.
    void whoHadOnlyHeldAChunkStoodBesideTheLossOfAnotherTraining()
    {
        RunStory story({ .blocks = 2, .columns = 3, .workers = 2, .trained = 0 });
        QVERIFY(story.trainOne(0, false));
        for (const IncarnationRow& one : good(good(LedgerReader::open(story.paths().tracker())).incarnations()))
            if (one.worker == 0)
                good(story.supervisor().revoke(one.id, "died"));
        auto holder = good(WorkerLedger::open(story.paths().tracker(), kRunId));
        (void)good(holder.start({ story.attempt(), 5, 5, "cpu", "CPU" }, 600));
        for (const Claim& claim : { std::get<Claim>(good(holder.claim())), std::get<Claim>(good(holder.claim())) })
            good(holder.release(claim));
        Workbench bench(story.workspace());
        InspectorDock inspector(bench);
        inspector.resize(360, 900);
        inspector.show();
        show(bench, story);
        QTRY_VERIFY_WITH_TIMEOUT(
            bench.claims().claims().size() == 5 && !bench.cells().cells().empty() && bench.replay().end() != 0,
            kPatienceMs);
        const auto& claims = bench.claims().claims();
        const auto trained
            = std::find_if(claims.begin(), claims.end(), [](const ClaimRow& claim) { return claim.tokens > 0; });
        QVERIFY(trained != claims.end());
        const ChunkId chunk = trained->chunk;
        QCOMPARE(bench.claims().claimsOf(chunk).size(), std::size_t(2));
        QVERIFY(bench.cells().find(chunk) != nullptr);
        QCOMPARE(static_cast<int>(bench.cells().find(chunk)->worker), 0);
        for (const ChunkCell& cell : bench.replay().cellsAt(systemClock().wallNs() + 1'000'000'000))
            QVERIFY(cell.id != chunk || cell.worker == 0);
        bench.selection().setChunks({ { chunk, placeOf(chunk).block, placeOf(chunk).column } });
        const QString attempt
            = QStringLiteral("Attempt: %1, claim %2").arg(trained->attempt.value).arg(trained->claimId);
        const auto labels = inspector.findChildren<QLabel*>();
        QVERIFY(std::any_of(labels.begin(), labels.end(),
            [&attempt](const QLabel* label) { return label->accessibleName() == attempt; }));
        for (const QTableView* table : inspector.findChildren<QTableView*>()) // one training: no table of them
            QVERIFY(table->isHidden());
    }

    void theInspectorShowedTheLastPartUnderHeadingsOfTheWhole_data()
    {
        QTest::addColumn<bool>("died");
        QTest::newRow("given back in the middle") << false;
        QTest::newRow("killed behind a checkpoint") << true;
    }
    /// A chunk of ten steps had six, and what a checkpoint has of a worker that died was in no figure.
    void theInspectorShowedTheLastPartUnderHeadingsOfTheWhole()
    {
        QFETCH(bool, died);
        const RunStory story({ 2, 6, 1, 0, 8 });
        TestWorker first(story, 3);
        const Claim begun = first.begin();
        constexpr WindowRange kFirst { 0, 4 };
        constexpr WindowRange kRest { 4, 10 };
        if (died) {
            first.step(begun, 6); // two of them are lost
            first.commit(begun, kFirst);
            for (const IncarnationRow& one : good(good(LedgerReader::open(story.paths().tracker())).incarnations()))
                if (one.worker == 3)
                    good(story.supervisor().revoke(one.id, "died"));
        } else {
            first.step(begun, 4);
            first.finish(begun, kFirst, true);
            first.commit(begun, kFirst);
        }
        TestWorker second(story, 4);
        const Claim rest = second.begin();
        QVERIFY(rest.chunk == begun.chunk);
        second.step(rest, 6);
        second.finish(rest, kRest, false);
        second.commit(rest, kRest);
        Workbench bench(story.workspace());
        InspectorDock inspector(bench);
        inspector.resize(360, 900);
        inspector.show();
        show(bench, story);
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().telemetry() && bench.watcher().telemetry()->complete
                && bench.cells().find(begun.chunk) != nullptr && bench.claims().claimsOf(begun.chunk).size() == 2,
            kPatienceMs);
        bench.selection().setChunks({ { begun.chunk, placeOf(begun.chunk).block, placeOf(begun.chunk).column } });
        const auto has = [&inspector](const QString& row) {
            const auto labels = inspector.findChildren<QLabel*>();
            return std::any_of(
                labels.begin(), labels.end(), [&](const QLabel* label) { return label->accessibleName() == row; });
        };
        QTRY_VERIFY_WITH_TIMEOUT(has(QStringLiteral("In weights: once, in 2 parts")), kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(has(QStringLiteral("Tokens learnt from: 1,000")), kPatienceMs);
        if (died)
            QVERIFY(has(QStringLiteral("Samples: 19"))); // of both
        const auto* chart = inspector.findChild<SeriesChart*>();
        QTRY_COMPARE_WITH_TIMEOUT(chart->data().lines.size(), std::size_t(2), kPatienceMs);
        QCOMPARE(chart->data().lines[0].curve->size(), std::size_t(4));
        QCOMPARE(chart->data().lines[1].curve->size(), std::size_t(6));
        QTRY_COMPARE_WITH_TIMEOUT(chart->curves().keyAxis()->range().upper, 10.5, kPatienceMs);
        const auto claims = bench.claims().claimsOf(begun.chunk);
        const KeptTrainings kept
            = keptTrainings(claims, bench.cells().find(begun.chunk), bench.watcher().telemetry().get());
        QCOMPARE(kept.beganNs, claims.front().startedWallNs);
        QCOMPARE(kept.endedNs, claims.back().endedWallNs);
    }

    void anotherLanguageLeftAlertsInTheOldOne()
    {
        const QTemporaryDir folder;
        Appearance appearance(false);
        Workbench bench(folder.path());
        RunStatus status;
        status.state = RunState::Interrupted;
        status.attempt = 1;
        status.endedWallNs = 1;
        bench.alerts().takeStatus(status, QStringLiteral("one"));
        bench.quarantine().setText(QStringLiteral("nonsense"));
        QCOMPARE(bench.events().rows().size(), std::size_t(1));
        const QString english = bench.events().rows().front().text;
        const QString problem = bench.quarantine().problem();
        QVERIFY(!problem.isEmpty());
        appearance.setLanguage(Language::Spanish);
        const auto back = qScopeGuard([&appearance] { appearance.setLanguage(Language::English); });
        bench.retranslate();
        QVERIFY(bench.events().rows().front().text != english);
        QCOMPARE(bench.alerts().all().front().text, bench.events().rows().front().text);
        QVERIFY(bench.quarantine().problem() != problem);
    }

    void aLogLineWasCutAndItsJsonGone()
    {
        const RunStory story({});
        const std::string json = R"(time: {"data_s":2.3465,"seconds":36.277,"train_s":28.797})";
        std::ofstream(story.paths().logFile(1, "worker-0"), std::ios::app)
            << "2026-03-13 18:43:10.123 I worker-0  " << json << "\n";
        Workbench bench(story.workspace());
        LogPage page(bench);
        show(bench, story);
        QTableView* log = tableOf(page, "Log");
        QTRY_COMPARE_WITH_TIMEOUT(log->model()->rowCount(), 3, kPatienceMs);
        QCOMPARE(log->model()->index(2, 3).data().toString(), QStringLiteral("It took 36 s: training 29 s, data 2 s"));
        auto* whole = page.findChild<QPlainTextEdit*>();
        QVERIFY(whole->isHidden());
        log->selectRow(2);
        for (auto* box : page.findChildren<QCheckBox*>())
            if (box->text() == QStringLiteral("Line as written"))
                box->click();
        QVERIFY(!whole->isHidden());
        QVERIFY2(whole->toPlainText().contains(QString::fromStdString(json)), qPrintable(whole->toPlainText()));
    }
};

QTEST_MAIN(TestToldAsItIs)
#include "tst_told_as_it_is.moc"
