#include "tiny_run.h"

#include "core/base/fail_point.h"

#include <QTest>

using namespace furrow;
using namespace furrow::test;

/// A worker dies at each named step, as if by kill -9, and another one goes on: the counting model proves that nothing
/// is in the weights twice and nothing is missing.
class TestFailPoints : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void everyWindowIsTrainedOnceWhereverTheWorkerDies_data()
    {
        QTest::addColumn<QString>("failPoint");
        for (const auto name : kFailPoints) {
            if (name.starts_with("merge.") || name.starts_with("supervisor.") || name.starts_with("feeder."))
                continue; // below; in the storm
            QTest::newRow(std::string(name).c_str()) << QString::fromStdString(std::string(name));
            if (name != "worker.started" && name != "worker.ending")
                QTest::newRow((std::string(name) + ":2").c_str()) << QString::fromStdString(std::string(name) + ":2");
        }
    }

    void everyWindowIsTrainedOnceWhereverTheWorkerDies()
    {
        QFETCH(QString, failPoint);
        auto config = TinyRun::config();
        config.checkpointSteps = 4;
        TinyRun run(config, 80);
        auto worker = run.startWorker(0, { { "FURROW_FAIL_AT", failPoint.toStdString() }, { "FURROW_COUNTING", "1" } });
        const auto exit = worker.wait(std::chrono::seconds(60));
        QVERIFY(exit.has_value());
        QVERIFY2(exit->signal == 9, exit->describe().c_str());
        run.train(0, true);
        NO_FAULT(auditFault(run));
        NO_FAULT(run.countingFault());
    }

    void mergeSurvivesADeathAtEachOfItsSteps_data()
    {
        QTest::addColumn<QString>("failPoint");
        for (const auto name : kFailPoints)
            if (name.substr(0, 6) == "merge.")
                QTest::newRow(std::string(name).c_str()) << QString::fromStdString(std::string(name));
    }

    void mergeSurvivesADeathAtEachOfItsSteps()
    {
        QFETCH(QString, failPoint);
        TinyRun run(TinyRun::config(), 80);
        run.train(0, true, 12);
        run.train(1, true);
        NO_FAULT(run.audited().isClean() ? std::string() : auditText(run.audited()));
        const std::vector<std::string> merge { "--role", "task", run.paths().folder().string(), "--task", "merge",
            "--counting", "--attempt", std::to_string(run.attempt()) };
        ProcessOptions process;
        process.arguments = merge;
        process.environment = { { "FURROW_FAIL_AT", failPoint.toStdString() } };
        process.outputFile = run.paths().logFile(run.attempt(), "task");
        auto dying = must(ChildProcess::start(FURROW_WORKER, process));
        const auto exit = dying.wait(std::chrono::seconds(60));
        QVERIFY(exit && exit->signal == 9);
        QCOMPARE(
            run.startTask({ "--task", "merge", "--counting", "--attempt", std::to_string(run.attempt()) }).exitCode, 0);
        NO_FAULT(auditFault(run));
        NO_FAULT(run.countingFault());
    }

    void terminatedWorkerCheckpointsAndEndsInOrder()
    {
        TinyRun run(TinyRun::config(), 4000);
        auto worker = run.startWorker(0, {});
        for (int i = 0; i < 600 && must(run.reader().totals()).steps == 0; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        worker.requestStop();
        const auto exit = worker.wait(std::chrono::seconds(60));
        QVERIFY(exit && exit->signal == 0 && exit->exitCode == 0);
        auto reader = run.reader();
        const auto chunks = must(reader.epochs()).front().chunks;
        QCOMPARE(chunks[ChunkState::Leased], 0);
        QCOMPARE(chunks[ChunkState::Trained], 0);
        QVERIFY(chunks[ChunkState::Committed] > 0);
        QVERIFY(run.audited().isClean());
    }
};

QTEST_GUILESS_MAIN(TestFailPoints)
#include "tst_fail_points.moc"
