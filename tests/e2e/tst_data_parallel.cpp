// Data-parallel training with the real programs: a rank is killed, one is held; the run goes on and the ledger is
// whole.

#include "core/base/path.h"
#include "core/tracker/sqlite/database.h"
#include "tests/e2e/process_facts.h"
#include "tests/e2e/run_driver.h"

#include <QFile>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

#include <optional>

class TestDataParallel : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    QString text_;

    QStringList newRun(const QString& run, const QStringList& more = {}) const
    {
        return QStringList { QStringLiteral("--data"), text_, QStringLiteral("--out"), run, QStringLiteral("--devices"),
            QStringLiteral("cpu:2"), QStringLiteral("--parallel"), QStringLiteral("data") }
        + RunDriver::tinyModel() + more;
    }
    QString startSlow(const char* name, const QStringList& more = {}) const
    {
        const QString run = folder_.filePath(QLatin1String(name));
        const auto out
            = RunDriver::ctl(QStringList { QStringLiteral("run"), QStringLiteral("--detach"), QStringLiteral("--json") }
                + newRun(run,
                    QStringList { QStringLiteral("--layers"), QStringLiteral("4"), QStringLiteral("--width"),
                        QStringLiteral("128"), QStringLiteral("--checkpoint-steps"), QStringLiteral("20") }
                        + more));
        return out.exitCode == 0 ? run : QString();
    }
    static void verifyClean(const QString& run)
    {
        const auto epoch = RunDriver::auditedEpoch(run);
        QCOMPARE(epoch[QStringLiteral("expected")].toInt(), 120);
        QCOMPARE(epoch[QStringLiteral("committed")].toInt(), 120);
        QCOMPARE(epoch[QStringLiteral("duplicated")].toInt(-1), 0);
        QCOMPARE(epoch[QStringLiteral("missing")].toInt(-1), 0);
        QCOMPARE(epoch[QStringLiteral("overlapping_claims")].toInt(-1), 0);
        QVERIFY(epoch[QStringLiteral("complete")].toBool());
    }
    static QByteArray log(const QString& run, int worker)
    {
        QFile file(run + QStringLiteral("/logs/1-worker-%1.log").arg(worker));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }

private Q_SLOTS:
    void initTestCase()
    {
        text_ = RunDriver::writeText(folder_.path(), 1200);
        QVERIFY(!text_.isEmpty());
    }

    void ranksTrainOneModelAndEachIsShown()
    {
        const QString run = folder_.filePath(QStringLiteral("plain"));
        const auto out = RunDriver::ctl(QStringList { QStringLiteral("run") } + newRun(run));
        QVERIFY2(out.exitCode == 0, qPrintable(out.text + out.errors));
        verifyClean(run);
        const auto workers = RunDriver::status(run)[QStringLiteral("workers")].toArray();
        QCOMPARE(workers.size(), 2);
        for (const auto& worker : workers) {
            QCOMPARE(worker[QStringLiteral("device")].toString(), QStringLiteral("cpu"));
            QCOMPARE(worker[QStringLiteral("replica")].toInt(-1), 0);
            QVERIFY(worker[QStringLiteral("step")].toInt() > 100);
        }
        QCOMPARE(workers[1][QStringLiteral("step")].toInt(), workers[0][QStringLiteral("step")].toInt());
    }

    void noRankListensWhereOtherMachinesReachIt()
    {
        const QString run = startSlow("listening");
        QVERIFY(RunDriver::waitForChunks(run, 5));
        QList<qint64> ranks;
        for (const int rank : { 0, 1 }) {
            QTRY_VERIFY_WITH_TIMEOUT(RunDriver::workerPid(run, rank) > 0, 30'000);
            ranks.append(RunDriver::workerPid(run, rank));
            QVERIFY(processFacts::environment(ranks.last())
                    .contains("NCCL_SOCKET_IFNAME==lo")); // for GPUs, which this test has none of
        }
        const auto addresses = processFacts::listeningAddresses(ranks);
        QVERIFY(!addresses.isEmpty()); // Gloo's, else nothing was looked at
        for (const QByteArray& address : addresses) {
            // Words of 32 bits, as the processor keeps them: 127.x.x.x, ::1, and 127.x.x.x written as IPv6.
            const QByteArray host = address.left(address.indexOf(':'));
            const bool loopback = (host.size() == 8 || host.startsWith("0000000000000000FFFF0000"))
                ? host.endsWith("7F")
                : host == "00000000000000000000000001000000";
            QVERIFY2(loopback, address.constData());
        }
        RunDriver::ctl({ QStringLiteral("stop"), run });
        QVERIFY(RunDriver::waitForState(
            run, { QStringLiteral("finished"), QStringLiteral("interrupted"), QStringLiteral("stopped") }));
    }

    void killedRankIsStartedAgainWithTheOthers_data()
    {
        QTest::addColumn<int>("rank");
        QTest::newRow("rank 0") << 0;
        QTest::newRow("rank 1") << 1;
    }
    void killedRankIsStartedAgainWithTheOthers()
    {
        QFETCH(int, rank);
        const QString run = startSlow(rank == 0 ? "killed-0" : "killed-1");
        QVERIFY(RunDriver::waitForChunks(run, 10));
        QTRY_VERIFY_WITH_TIMEOUT(RunDriver::workerPid(run, rank) > 0, 30'000);
        QVERIFY(RunDriver::killHard(RunDriver::workerPid(run, rank)));
        QVERIFY(RunDriver::waitForState(run, { QStringLiteral("finished") }));
        verifyClean(run);
        const auto other = log(run, 1 - rank);
        QFile supervisor(run + QStringLiteral("/logs/supervisor.log")); // which says how the other one ended
        QVERIFY(supervisor.open(QIODevice::ReadOnly));
        QVERIFY2(
            other.contains("rank " + QByteArray::number(rank) + " (worker " + QByteArray::number(rank) + ", process ")
                && other.contains("is gone"),
            (supervisor.readAll() + other).constData());
    }

    void heldRankIsKilledAndAllStartAgain()
    {
        const QString run = startSlow("held", { QStringLiteral("--rank-timeout"), QStringLiteral("4") });
        QVERIFY(RunDriver::waitForChunks(run, 10));
        QTRY_VERIFY_WITH_TIMEOUT(RunDriver::workerPid(run, 1) > 0, 30'000);
        QVERIFY(RunDriver::hold(RunDriver::workerPid(run, 1)));
        QVERIFY(RunDriver::waitForState(run, { QStringLiteral("finished") }));
        verifyClean(run);
        const auto other = log(run, 0); // the supervisor is faster than the others' patience, where it can tell
        QVERIFY2(other.contains("is gone") || other.contains("stands still or hangs"), other.constData());
    }

    /// Rank 0 waited for a tracker that somebody else had locked, and the others gave it up for lost: "failed", and
    /// what the stop had promised to save was gone.
    void aStopUnderAForeignLockMadeTheRanksLoseOneAnother()
    {
        const QString run = startSlow("locked",
            { QStringLiteral("--rank-timeout"), QStringLiteral("10"), QStringLiteral("--epochs"),
                QStringLiteral("9") });
        QVERIFY(RunDriver::waitForChunks(run, 5));
        auto theirs
            = furrow::Database::open(furrow::pathFromUtf8((run + QStringLiteral("/tracker.sqlite")).toStdString()), {});
        QVERIFY(theirs.ok());
        auto held = furrow::Transaction::begin(theirs.value());
        QVERIFY(held.ok());
        std::optional lock(std::move(held).value());
        qputenv("FURROW_BUSY_S", "1");
        const auto stop = RunDriver::ctl({ QStringLiteral("stop"), run });
        qunsetenv("FURROW_BUSY_S");
        QVERIFY2(stop.exitCode == 0, qPrintable(stop.text + stop.errors));
        QTest::qWait(25'000); // longer than ranks wait for one another
        lock.reset();
        QVERIFY(RunDriver::waitForState(
            run, { QStringLiteral("stopped"), QStringLiteral("interrupted"), QStringLiteral("failed") }));
        const auto status = RunDriver::status(run);
        QVERIFY2(status[QStringLiteral("state")].toString() != QStringLiteral("failed"),
            qPrintable(status[QStringLiteral("stop_detail")].toString()));
        QCOMPARE(RunDriver::auditedEpoch(run)[QStringLiteral("duplicated")].toInt(-1), 0);
        const QByteArray follower = log(run, 1);
        QVERIFY2(!follower.isEmpty() && !follower.contains("lost one another"), follower.constData());
    }

    void runGoesOnWithWorkersThatAreIndependentAndBack()
    {
        const QString run = folder_.filePath(QStringLiteral("changed"));
        const auto first = RunDriver::ctl(
            QStringList { QStringLiteral("run"), QStringLiteral("--steps"), QStringLiteral("60") } + newRun(run));
        QVERIFY2(first.exitCode == 0, qPrintable(first.text + first.errors));
        for (const QStringList& mode :
            { QStringList { QStringLiteral("independent"), QStringLiteral("--steps"), QStringLiteral("150") },
                QStringList { QStringLiteral("data"), QStringLiteral("--steps"), QStringLiteral("0") } }) {
            const auto out
                = RunDriver::ctl(QStringList { QStringLiteral("resume"), run, QStringLiteral("--parallel") } + mode);
            QVERIFY2(out.exitCode == 0, qPrintable(out.text + out.errors));
        }
        verifyClean(run);
    }

    void settingsThatMakeNoSenseAreRefused_data()
    {
        QTest::addColumn<QString>("option");
        QTest::addColumn<QString>("value");
        QTest::addColumn<QString>("says");
        QTest::newRow("one worker") << "--workers" << "1" << "workers is 1, but parallel is data";
        QTest::newRow("one device") << "--devices" << "cpu:1" << "devices is cpu:1, but parallel is data";
        QTest::newRow("diloco") << "--merge" << "diloco" << "merge is diloco, but with parallel data";
        QTest::newRow("merge tokens") << "--merge-tokens" << "1000" << "merge_tokens is 1000, but with parallel data";
        QTest::newRow("unknown mode") << "--parallel" << "tensor" << "parallel is 'tensor'";
    }
    void settingsThatMakeNoSenseAreRefused()
    {
        QFETCH(QString, option);
        QFETCH(QString, value);
        QFETCH(QString, says);
        const auto out
            = RunDriver::ctl({ QStringLiteral("run"), QStringLiteral("--data"), text_, QStringLiteral("--out"),
                folder_.filePath(QStringLiteral("refused")), QStringLiteral("--parallel=data"), option, value });
        QVERIFY(out.exitCode == 1 || out.exitCode == 2);
        QVERIFY2((out.errors + out.text).contains(says), qPrintable(out.errors + out.text));
    }
};

QTEST_GUILESS_MAIN(TestDataParallel)
#include "tst_data_parallel.moc"
