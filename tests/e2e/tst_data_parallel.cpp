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

#include <array>
#include <optional>
#include <utility>

class TestDataParallel : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    QString text_;
    QString shared_; ///< a run that trains for the next function; "": none
    QString impatient_; ///< the same, of ranks that wait for one another for seconds only
    int runs_ = 0;

    QStringList newRun(const QString& run, const QStringList& more = {}) const
    {
        return QStringList { QStringLiteral("--data"), text_, QStringLiteral("--out"), run, QStringLiteral("--devices"),
            QStringLiteral("cpu:2"), QStringLiteral("--parallel"), QStringLiteral("data") }
        + RunDriver::tinyModel() + more;
    }
    QString startSlow(const QStringList& more)
    {
        const QString run = folder_.filePath(QStringLiteral("slow-%1").arg(++runs_));
        const auto out
            = RunDriver::ctl(QStringList { QStringLiteral("run"), QStringLiteral("--detach"), QStringLiteral("--json") }
                + newRun(run,
                    QStringList { QStringLiteral("--layers"), QStringLiteral("4"), QStringLiteral("--width"),
                        QStringLiteral("128"), QStringLiteral("--checkpoint-steps"), QStringLiteral("20") }
                        + more));
        return out.exitCode == 0 ? run : QString();
    }
    /// `run` where it trains, or else a new one. There are always more epochs.
    void share(QString& run, const QStringList& more)
    {
        if (!run.isEmpty() && stateOf(run) == QStringLiteral("running"))
            return;
        run = startSlow(QStringList { QStringLiteral("--epochs"), QStringLiteral("1000") } + more);
        QVERIFY(!run.isEmpty());
        QVERIFY(RunDriver::waitForChunks(run, 10));
        for (const int rank : { 0, 1 })
            QTRY_VERIFY_WITH_TIMEOUT(RunDriver::workerPid(run, rank) > 0, 30'000);
    }
    void shareRun() { share(shared_, { QStringLiteral("--max-restarts"), QStringLiteral("20") }); }
    void shareImpatientRun() { share(impatient_, { QStringLiteral("--rank-timeout"), QStringLiteral("10") }); }
    static QString stateOf(const QString& run) { return RunDriver::status(run)[QStringLiteral("state")].toString(); }
    static std::array<int, 2> restarts(const QString& run)
    {
        std::array<int, 2> found {};
        for (const auto& worker : RunDriver::status(run)[QStringLiteral("workers")].toArray())
            found.at(static_cast<std::size_t>(worker[QStringLiteral("worker")].toInt()))
                = worker[QStringLiteral("restarts")].toInt();
        return found;
    }
    /// All ranks were started again since they had started as often as in `before`, and they train in the same attempt.
    static void trainAgain(const QString& run, const std::array<int, 2>& before)
    {
        const auto isAgain = [&] {
            const auto now = restarts(run);
            return now[0] > before[0] && now[1] > before[1];
        };
        QTRY_VERIFY_WITH_TIMEOUT(isAgain(), 60'000);
        const auto steps = [&run] { return RunDriver::status(run)[QStringLiteral("steps")].toInteger(); };
        const auto then = steps();
        QTRY_VERIFY_WITH_TIMEOUT(steps() > then + 50, 60'000);
        QCOMPARE(RunDriver::status(run)[QStringLiteral("attempt")].toInt(), 1);
    }
    static QJsonArray epochsOf(const QString& run)
    {
        return RunDriver::ctl({ QStringLiteral("audit"), run, QStringLiteral("--json") })
            .json[QStringLiteral("epochs")]
            .toArray();
    }
    static void verifyClean(const QJsonObject& epoch)
    {
        QCOMPARE(epoch[QStringLiteral("expected")].toInt(), 120);
        QCOMPARE(epoch[QStringLiteral("committed")].toInt(), 120);
        QCOMPARE(epoch[QStringLiteral("duplicated")].toInt(-1), 0);
        QCOMPARE(epoch[QStringLiteral("missing")].toInt(-1), 0);
        QCOMPARE(epoch[QStringLiteral("overlapping_claims")].toInt(-1), 0);
        QVERIFY(epoch[QStringLiteral("complete")].toBool());
    }
    /// What a worker has logged, from byte `from` on.
    static QByteArray log(const QString& run, int worker, qint64 from = 0)
    {
        QFile file(run + QStringLiteral("/logs/1-worker-%1.log").arg(worker));
        return file.open(QIODevice::ReadOnly) && file.seek(from) ? file.readAll() : QByteArray();
    }
    /// Ends the run that was shared with an epoch that it trains to its end.
    void endWhole()
    {
        const QString run = std::exchange(shared_, {});
        const auto asked
            = RunDriver::ctl({ QStringLiteral("stop"), QStringLiteral("--after"), QStringLiteral("epoch"), run });
        QVERIFY2(asked.exitCode == 0, qPrintable(asked.text + asked.errors));
        QVERIFY(RunDriver::waitForState(run, { QStringLiteral("stopped") }));
        QCOMPARE(RunDriver::status(run)[QStringLiteral("attempt")].toInt(), 1); // nothing ended it in between
        auto epochs = epochsOf(run);
        if (epochs.size() > 1 && epochs.last()[QStringLiteral("committed")].toInt() == 0) // nobody began it
            epochs.removeLast();
        QVERIFY(!epochs.isEmpty());
        for (const auto& epoch : std::as_const(epochs))
            verifyClean(epoch.toObject());
    }

private Q_SLOTS:
    void initTestCase()
    {
        text_ = RunDriver::writeText(folder_.path(), 1200);
        QVERIFY(!text_.isEmpty());
    }

    void cleanupTestCase()
    {
        for (const QString& run : { shared_, impatient_ })
            if (!run.isEmpty()) // where it was asked for functions by name, or one failed
                (void)RunDriver::ctl({ QStringLiteral("kill"), run, QStringLiteral("--wait") });
    }

    void ranksTrainOneModelAndEachIsShown()
    {
        const QString run = folder_.filePath(QStringLiteral("plain"));
        const auto out = RunDriver::ctl(QStringList { QStringLiteral("run") } + newRun(run));
        QVERIFY2(out.exitCode == 0, qPrintable(out.text + out.errors));
        verifyClean(RunDriver::auditedEpoch(run));
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
        shareRun();
        QList<qint64> ranks;
        for (const int rank : { 0, 1 }) {
            ranks.append(RunDriver::workerPid(shared_, rank));
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
        shareRun();
        const auto before = restarts(shared_);
        const auto logged = log(shared_, 1 - rank).size();
        QVERIFY(RunDriver::killHard(RunDriver::workerPid(shared_, rank)));
        trainAgain(shared_, before);
        const auto other = log(shared_, 1 - rank, logged);
        QFile supervisor(shared_ + QStringLiteral("/logs/supervisor.log")); // which says how the other one ended
        QVERIFY(supervisor.open(QIODevice::ReadOnly));
        QVERIFY2(
            other.contains("rank " + QByteArray::number(rank) + " (worker " + QByteArray::number(rank) + ", process ")
                && other.contains("is gone"),
            (supervisor.readAll() + other).constData());
    }

    void whatKilledRanksHadTrainedIsThereOnce()
    {
        shareRun();
        endWhole();
    }

    void heldRankIsKilledAndAllStartAgain()
    {
        shareImpatientRun();
        const auto before = restarts(impatient_);
        const auto logged = log(impatient_, 0).size();
        QVERIFY(RunDriver::hold(RunDriver::workerPid(impatient_, 1)));
        trainAgain(impatient_, before);
        QTRY_VERIFY_WITH_TIMEOUT(
            RunDriver::auditedEpoch(impatient_)[QStringLiteral("complete")].toBool(), 120'000); // it trains on
        verifyClean(RunDriver::auditedEpoch(impatient_));
        // The supervisor is faster than the others' patience, where it can tell.
        const auto other = log(impatient_, 0, logged);
        QVERIFY2(other.contains("is gone") || other.contains("stands still or hangs"), other.constData());
    }

    /// Rank 0 waited for a tracker that somebody else had locked, and the others gave it up for lost: "failed", and
    /// what the stop had promised to save was gone.
    void aStopUnderAForeignLockMadeTheRanksLoseOneAnother()
    {
        shareImpatientRun();
        const QString run = std::exchange(impatient_, {});
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
        const auto epochs = epochsOf(run);
        QVERIFY(!epochs.isEmpty());
        for (const auto& epoch : epochs)
            QCOMPARE(epoch[QStringLiteral("duplicated")].toInt(-1), 0);
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
        verifyClean(RunDriver::auditedEpoch(run));
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
