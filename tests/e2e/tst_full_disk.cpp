// A disk that is full for a while costs time, never work, and what it costs is said.

#include "tests/e2e/run_driver.h"

#include <QFile>
#include <QJsonArray>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <filesystem>
#include <sys/resource.h>

namespace {

QString operator""_q(const char* text, std::size_t size)
{
    return QString::fromUtf8(text, static_cast<qsizetype>(size));
}

bool write(const QString& path, const QByteArray& text)
{
    QFile file(path);
    return file.open(QIODevice::WriteOnly) && file.write(text) == text.size();
}

qint64 newestCheckpoint(const QString& run)
{
    return RunDriver::status(run)["newest_checkpoint_wall_ns"_q].toInteger();
}

/// As many as began, none of them started again.
bool allWorkersLive(const QString& run)
{
    const QJsonArray workers = RunDriver::status(run)["workers"_q].toArray();
    return workers.size() == 2 && std::all_of(workers.begin(), workers.end(), [](const QJsonValue& worker) {
        return worker["alive"_q].toBool() && worker["restarts"_q].toInt() == 0;
    });
}

} // namespace

class TestFullDisk : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    QString text_;
    QString trains_; ///< a run that trains for the next function; "": none
    QString rests_; ///< a stopped one that nothing is done to; "": none yet
    int runs_ = 0;

    QString path(const char* name) const { return folder_.filePath(QString::fromLatin1(name)); }
    /// A run of two workers that has saved once.
    QString begin(const QStringList& more = {})
    {
        const QString run = folder_.filePath("run"_q + QString::number(++runs_));
        const auto made = RunDriver::ctl(QStringList { "run"_q, "--json"_q, "--detach"_q, "--data"_q, text_, "--out"_q,
                                             run, "--devices"_q, "cpu"_q, "--workers"_q, "2"_q }
            + RunDriver::tinyModel() + QStringList { "--width"_q, "128"_q, "--layers"_q, "4"_q, "--epochs"_q, "1000"_q }
            + more);
        if (made.exitCode != 0)
            qWarning("%s", qPrintable(made.errors));
        return made.exitCode == 0 && QTest::qWaitFor([&run] { return newestCheckpoint(run) > 0; }, 60'000) ? run
                                                                                                           : QString();
    }
    /// The run that the function before left training, or a new one.
    QString runThatTrains()
    {
        if (trains_.isEmpty() || RunDriver::status(trains_)["state"_q].toString() != "running"_q)
            trains_ = begin();
        return trains_;
    }
    static void verifyWhole(const QString& run)
    {
        const auto audit = RunDriver::ctl({ "audit"_q, run, "--json"_q });
        QVERIFY2(audit.exitCode == 0, qPrintable(audit.text + audit.errors));
    }

private Q_SLOTS:
    void initTestCase()
    {
        text_ = RunDriver::writeText(folder_.path(), 600);
        qputenv("FURROW_DISK_FULL", QFile::encodeName(path("full")));
        qputenv("FURROW_SQLITE_FAULT", QFile::encodeName(path("sqlite")));
        qputenv("FURROW_END_PATIENCE_S", "2");
    }

    void cleanupTestCase()
    {
        if (!trains_.isEmpty()) // where it was asked for functions by name, or one failed
            (void)RunDriver::ctl({ "kill"_q, trains_, "--wait"_q });
    }

    /// A test that fails leaves no fault to the next one.
    void cleanup()
    {
        QFile::remove(path("full"));
        QFile::remove(path("sqlite"));
    }

    void aRunUnderALimitOfFileSizesNeverEnded_data()
    {
        QTest::addColumn<int>("kib");
        QTest::newRow("100 KiB") << 100;
        QTest::newRow("200 KiB") << 200;
        QTest::newRow("400 KiB") << 400;
    }
    /// `ulimit -f`: a signal ended supervisor and workers without a word. Then the run waited for the end of the limit,
    /// which nobody can lift from outside, and only logs said so.
    void aRunUnderALimitOfFileSizesNeverEnded()
    {
        QFETCH(int, kib);
        QProcess limited;
        limited.setChildProcessModifier([kib] {
            const rlimit small { static_cast<rlim_t>(kib) << 10, static_cast<rlim_t>(kib) << 10 };
            ::setrlimit(RLIMIT_FSIZE, &small);
        });
        const QString run = folder_.filePath("limited-"_q + QString::number(kib));
        limited.start(RunDriver::program(),
            QStringList {
                "run"_q, "--detach"_q, "--data"_q, text_, "--out"_q, run, "--devices"_q, "cpu"_q, "--workers"_q, "1"_q }
                + RunDriver::tinyModel()
                + QStringList { "--width"_q, "128"_q, "--layers"_q, "4"_q, "--epochs"_q, "50"_q });
        QVERIFY(limited.waitForFinished(60'000));
        QVERIFY(RunDriver::waitForState(run, { "failed"_q, "interrupted"_q }));
        const QString said = RunDriver::ctl({ "status"_q, run }).text;
        QVERIFY2(said.contains("files may not be larger than %1.0 KiB here; raise the limit (ulimit -f)"_q.arg(kib)),
            qPrintable(said));
        QCOMPARE(RunDriver::ctl({ "resume"_q, run, "--detach"_q }).exitCode, 0); // without the limit
        QTRY_VERIFY_WITH_TIMEOUT(newestCheckpoint(run) > 0, 60'000);
        QCOMPARE(RunDriver::ctl({ "stop"_q, run, "--wait"_q }).exitCode, 0);
        verifyWhole(run);
    }

    /// It said to use `furrowctl kill`, and then ignored every further signal: a script never came back.
    void aSecondCtrlCWasIgnoredOnAFullDisk_data()
    {
        QTest::addColumn<int>("signals");
        QTest::newRow("Ctrl+C twice") << 2;
        QTest::newRow("one SIGTERM, as of timeout") << 1;
    }
    void aSecondCtrlCWasIgnoredOnAFullDisk()
    {
        QFETCH(int, signals);
        if (rests_.isEmpty()) {
            const QString run = begin();
            QVERIFY(!run.isEmpty());
            QCOMPARE(RunDriver::ctl({ "stop"_q, run, "--wait"_q }).exitCode, 0);
            rests_ = run;
        }
        const QString run = folder_.filePath("signals-"_q + QString::number(signals));
        std::error_code failed;
        std::filesystem::copy(
            rests_.toStdString(), run.toStdString(), std::filesystem::copy_options::recursive, failed);
        QVERIFY2(!failed, failed.message().c_str());
        QProcess foreground;
        foreground.start(RunDriver::program(), { "resume"_q, run });
        QTRY_VERIFY_WITH_TIMEOUT(allWorkersLive(run), 60'000);
        QVERIFY(write(path("sqlite"), "full"));
        QTest::qWait(2'000);
        ::kill(static_cast<pid_t>(foreground.processId()), signals == 1 ? SIGTERM : SIGINT);
        if (signals > 1) {
            QTest::qWait(1'500);
            QVERIFY(foreground.state() == QProcess::Running);
            ::kill(static_cast<pid_t>(foreground.processId()), SIGINT);
        }
        const bool isOver = foreground.waitForFinished(signals > 1 ? 10'000 : 40'000);
        QVERIFY(QFile::remove(path("sqlite")));
        QVERIFY2(isOver, foreground.readAllStandardError().constData());
        QVERIFY(foreground.exitCode() != 0);
        QVERIFY(RunDriver::waitForState(run, { "failed"_q, "interrupted"_q, "stopped"_q }, 5'000));
        verifyWhole(run); // nothing is lost beyond the last checkpoint
    }

    /// Three tries within moments ended each worker, and after five restarts the run. And only the logs of the workers
    /// said why nothing went on.
    void aDiskThatWasFullForSomeSecondsCostTheWorkers()
    {
        const QString run = runThatTrains();
        QVERIFY(!run.isEmpty());
        const auto isSaid = [&run] {
            return RunDriver::status(run)["hindrance"_q].toString().contains("cannot save what it trains"_q);
        };
        QVERIFY(!isSaid());
        QVERIFY(write(path("full"), {}));
        QTest::qWait(12'000);
        const qint64 before = newestCheckpoint(run);
        QVERIFY(allWorkersLive(run));
        QVERIFY(isSaid());
        QVERIFY(QFile::remove(path("full")));
        QTRY_VERIFY_WITH_TIMEOUT(newestCheckpoint(run) > before, 30'000);
        QTRY_VERIFY_WITH_TIMEOUT(!isSaid(), 30'000);
        QVERIFY(allWorkersLive(run));
    }

    /// The first write of the supervisor that failed ended the run, and the one of a worker the worker.
    void aTrackerOnAFullDiskEndedTheRun()
    {
        const QString run = runThatTrains();
        QVERIFY(!run.isEmpty());
        for (const char* fault : { "full", "write", "unread" }) { // the last was called a damaged tracker
            QVERIFY(write(path("sqlite"), fault));
            QTest::qWait(5'000);
            QVERIFY(QFile::remove(path("sqlite")));
            const qint64 before = newestCheckpoint(run);
            QTRY_VERIFY_WITH_TIMEOUT(newestCheckpoint(run) > before, 60'000);
            QVERIFY2(allWorkersLive(run), fault);
        }
    }

    /// For half a minute: "train, step 417, 27,667 tokens/s", and step 417 did not move.
    void theSpeedOfAWorkerThatStoodStillWasShown()
    {
        const QString run = runThatTrains();
        QVERIFY(!run.isEmpty());
        const auto speed = [&run] { return RunDriver::status(run)["tokens_per_s"_q].toDouble(-1); };
        QTRY_VERIFY_WITH_TIMEOUT(speed() > 0, 30'000);
        QVERIFY(write(path("sqlite"), "full")); // what they do now, they cannot tell
        QTRY_VERIFY_WITH_TIMEOUT(speed() == 0, 25'000); // ten seconds, and what a busy machine adds
        QVERIFY(QFile::remove(path("sqlite")));
        QTRY_VERIFY_WITH_TIMEOUT(speed() > 0, 30'000);
    }

    void whatHappenedToItsDiskCostTheRunNothing()
    {
        const QString run = runThatTrains();
        QVERIFY(!run.isEmpty());
        const auto stopped = RunDriver::ctl({ "stop"_q, run, "--wait"_q });
        QVERIFY2(stopped.exitCode == 0, qPrintable(stopped.errors));
        trains_.clear();
        QCOMPARE(RunDriver::status(run)["state"_q].toString(), "stopped"_q);
        verifyWhole(run);
    }

    /// "stopped: a person stopped it (after a checkpoint)", and what was trained since the last one was gone.
    void aStopThatCouldNotSaveWasSaidToHaveSaved()
    {
        const QString run = begin();
        QVERIFY(!run.isEmpty());
        QVERIFY(write(path("full"), {}));
        QTest::qWait(1'000);
        const auto stopped = RunDriver::ctl({ "stop"_q, run, "--wait"_q });
        QVERIFY(QFile::remove(path("full")));
        QVERIFY(stopped.exitCode != 0);
        const auto status = RunDriver::status(run);
        QCOMPARE(status["state"_q].toString(), "failed"_q);
        const QString why = status["stop_detail"_q].toString();
        QVERIFY2(why.contains("could not be saved"_q) && why.contains("the disk is full"_q), qPrintable(why));
        // It was "an error stopped it". A wish that the tracker could not take comes as a signal.
        QVERIFY2(why.startsWith("a person stopped it, and "_q) || why.startsWith("it was asked to end (SIGTERM"_q),
            qPrintable(why));
        verifyWhole(run);
        QCOMPARE(RunDriver::ctl({ "resume"_q, run, "--detach"_q }).exitCode, 0); // as after any failure
        QTRY_VERIFY_WITH_TIMEOUT(allWorkersLive(run), 30'000);
        QCOMPARE(RunDriver::ctl({ "stop"_q, run, "--wait"_q }).exitCode, 0);
        verifyWhole(run);
    }
};

QTEST_GUILESS_MAIN(TestFullDisk)
#include "tst_full_disk.moc"
