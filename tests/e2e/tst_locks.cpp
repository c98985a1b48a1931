#include "tests/e2e/run_driver.h"

#include "core/base/file_lock.h"
#include "core/base/path.h"
#include "core/base/process.h"
#include "core/run/start/life_cycle.h"
#include "core/tracker/sqlite/database.h"
#include "core/tracker/ledger_reader.h"
#include "core/tracker/sqlite/tracker_locks.h"
#include "tests/core/base/foreign_lock.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QProcess>
#include <QJsonArray>
#include <QScopeGuard>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <csignal>
#include <memory>
#include <optional>
#include <sys/wait.h>
#include <unistd.h>

using furrow::Database;
using furrow::Transaction;

namespace {

/// A failing Result ends the test program with its sentence.
template <typename T> T good(furrow::Result<T> result)
{
    if (!result.ok())
        qFatal("%s", result.error().message.c_str());
    return std::move(result).value();
}

int restarts(const QString& run)
{
    int sum = 0;
    for (const auto& worker : RunDriver::status(run)[QStringLiteral("workers")].toArray())
        sum += worker[QStringLiteral("restarts")].toInt();
    return sum;
}

qint64 steps(const QString& run) { return RunDriver::status(run)[QStringLiteral("steps")].toInteger(); }

} // namespace

/// Processes that stand still while they hold a lock of the tracker: nobody else loses anything by it.
class TestLocks : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    // of one run, which trains on behind each
    void aForeignLockIsNamedAndOutlasted();
    void aLockForReadingStoppedTheRunAndWasNotNamed();
    void aLockOnTheMarksOfReadersEndedTheRun();
    void whoTrainsWasNotNamedWhereRunJsonCannotBeUsed();
    void aRunOfAnotherUserWasSaidToBeKilled();
    void aTrackerThatNobodyMayWriteWasNotNamed();
    void whatStrangersDidCostTheRunNothing();
    // of a run each
    void aReaderThatStandsStillCostsNoStep();
    void aStopUnderAForeignLockWasNotHeard();
    void aResumeThatWaitedForALockedTrackerWasSaidToBeStopped();
    void anExcludeWaitedForALockedTrackerWithoutAWord();
    void whoHeldTheLockOfARestingRunWasNotNamed();
    void aKillWaitedForWhoHeldTheTracker();
    void aLockOnTheWholeTrackerKeptEachCommandWaiting();
    void aLockedTrackerKeptTheListOfRunsWaiting();
    void aRunThatCouldNotBeReadShowedZeros();
    void aWorkerThatStandsStillInsideAWriteIsEnded();
    void aFeederThatStandsStillInsideAWriteIsEnded();
    void aWorkerThatStandsStillKeepsNobodyWaitingAtAMerge();
    void aWorkerThatStandsStillKeepsNobodyWaitingAtTheEndOfAnEpoch();
    void aStopWaitedWithoutAWord();
    void aResumeMadeTheFolderOfATrashedRunAgain();
    void cleanupTestCase();

private:
    void makeFolder();
    void startRun(const QStringList& more = {}, int lines = 300);
    void shareRun();
    void trainsOn();
    void endsWhole();
    void verifyEpochs();
    void freezeInsideAWrite(qint64 pid);
    QString freezeFile() const { return folder_->filePath(QStringLiteral("stands-still")); }
    std::filesystem::path shm() const { return std::filesystem::path(run_.toStdString()) / "tracker.sqlite-shm"; }
    QString said(const QStringList& command) const
    {
        const auto out = RunDriver::ctl(command);
        return out.text + out.errors;
    }
    std::filesystem::path tracker() const { return std::filesystem::path(run_.toStdString()) / "tracker.sqlite"; }

    std::unique_ptr<QTemporaryDir> folder_;
    QString run_;
    bool isShared_ = false; ///< the run trains for the next function
};

void TestLocks::initTestCase()
{
    qputenv("FURROW_COUNTING", "1"); // the ledger is asked, not the weights
    qputenv("FURROW_COUNTING_STEP_MS", "20");
    qputenv("FURROW_LEASE_S", "4"); // longer than it takes to find out who stands still
}

void TestLocks::makeFolder()
{
    folder_ = std::make_unique<QTemporaryDir>();
    run_ = folder_->filePath(QStringLiteral("run"));
    qputenv("FURROW_FREEZE", freezeFile().toUtf8());
}

/// A new run. Its epochs take two seconds, and there are always more: it never ends before it was looked at, and is
/// soon at the end of one.
void TestLocks::startRun(const QStringList& more, int lines)
{
    makeFolder();
    const auto text = RunDriver::writeText(folder_->path(), lines);
    const auto started
        = RunDriver::ctl(QStringList { QStringLiteral("run"), QStringLiteral("--data"), text, QStringLiteral("--out"),
                             run_, QStringLiteral("--workers"), QStringLiteral("2"), QStringLiteral("--devices"),
                             QStringLiteral("cpu"), QStringLiteral("--detach") }
            + RunDriver::tinyModel() + QStringList { QStringLiteral("--epochs"), QStringLiteral("100000") } + more);
    QVERIFY2(started.exitCode == 0, qPrintable(started.errors));
    QVERIFY(RunDriver::waitForChunks(run_, 4));
    QTRY_VERIFY_WITH_TIMEOUT(RunDriver::workerPid(run_, 1) > 0, 20'000); // the other one may have trained them all
}

/// The run that the function before left training, or a new one.
void TestLocks::shareRun()
{
    if (!isShared_ || RunDriver::status(run_)[QStringLiteral("state")].toString() != QStringLiteral("running"))
        startRun();
    isShared_ = true;
}

void TestLocks::trainsOn()
{
    const auto before = steps(run_);
    QTRY_VERIFY_WITH_TIMEOUT(steps(run_) > before + 50, 40'000);
    QCOMPARE(RunDriver::status(run_)[QStringLiteral("attempt")].toInt(), 1);
}

/// Ends the run with an epoch that it trains to its end.
void TestLocks::endsWhole()
{
    isShared_ = false;
    const auto asked
        = RunDriver::ctl({ QStringLiteral("stop"), QStringLiteral("--after"), QStringLiteral("epoch"), run_ });
    QVERIFY2(asked.exitCode == 0, qPrintable(asked.text + asked.errors));
    QVERIFY(RunDriver::waitForState(run_, { QStringLiteral("stopped") }));
    const auto status = RunDriver::status(run_);
    QCOMPARE(status[QStringLiteral("attempt")].toInt(), 1); // nothing ended it in between
    QVERIFY2(status[QStringLiteral("stop_detail")].toString().startsWith(QStringLiteral("after epoch ")),
        qPrintable(said({ QStringLiteral("status"), run_ })));
    QVERIFY(RunDriver::auditedEpoch(run_)[QStringLiteral("complete")].toBool());
    verifyEpochs();
}

/// No epoch has anything twice, or has lost anything.
void TestLocks::verifyEpochs()
{
    const auto epochs = RunDriver::ctl({ QStringLiteral("audit"), run_, QStringLiteral("--json") })
                            .json[QStringLiteral("epochs")]
                            .toArray();
    QVERIFY(!epochs.isEmpty());
    for (const auto& value : epochs) {
        const QJsonObject epoch = value.toObject();
        QCOMPARE(epoch[QStringLiteral("duplicated")].toInt(-1), 0);
        QCOMPARE(epoch[QStringLiteral("missing")].toInt(-1), 0);
    }
}

void TestLocks::cleanupTestCase()
{
    if (isShared_) // where it was asked for functions by name
        endsWhole();
}

/// A resume that had just begun made runs/NAME anew, with a log and no run in it.
void TestLocks::aResumeMadeTheFolderOfATrashedRunAgain()
{
    makeFolder();
    const QString space = folder_->path();
    run_ = space + QStringLiteral("/runs/run");
    const auto text = RunDriver::writeText(space, 40);
    const auto trained
        = RunDriver::ctl(QStringList { QStringLiteral("run"), QStringLiteral("--data"), text, QStringLiteral("--out"),
                             run_, QStringLiteral("--devices"), QStringLiteral("cpu") }
            + RunDriver::tinyModel());
    QVERIFY2(trained.exitCode == 0, qPrintable(trained.errors));
    for (int milliseconds = 10; milliseconds <= 100; milliseconds += 15) {
        QProcess resume;
        resume.start(RunDriver::program(),
            { QStringLiteral("resume"), run_, QStringLiteral("--epochs"), QString::number(milliseconds),
                QStringLiteral("--detach") });
        QVERIFY(resume.waitForStarted());
        QTest::qSleep(milliseconds);
        const auto trash = RunDriver::ctl({ QStringLiteral("trash"), run_, QStringLiteral("--workspace"), space });
        QVERIFY(resume.waitForFinished(60'000));
        const QString trashed = space + QStringLiteral("/trash/run");
        QCOMPARE(QFile::exists(trashed), trash.exitCode == 0);
        QCOMPARE(QFile::exists(run_), trash.exitCode != 0);
        if (trash.exitCode == 0)
            QVERIFY(QDir().rename(trashed, run_));
        RunDriver::ctl({ QStringLiteral("kill"), run_ });
        QVERIFY(RunDriver::waitForState(
            run_, { QStringLiteral("finished"), QStringLiteral("stopped"), QStringLiteral("interrupted") }));
    }
}

/// It stands still in its next write when this returns.
void TestLocks::freezeInsideAWrite(qint64 pid)
{
    QVERIFY(pid > 0);
    const QString asked = freezeFile();
    QFile file(asked + QStringLiteral(".new"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(QByteArray::number(pid) + " write");
    file.close();
    QVERIFY(file.rename(asked));
    QElapsedTimer timer;
    timer.start();
    while (QFile::exists(asked)) {
        QVERIFY2(timer.elapsed() < 60'000, "it came to no write");
        QTest::qWait(1);
    }
    const auto standsOrIsGone = [&] {
        const auto writer = furrow::trackerLocks(tracker()).writer;
        return (writer && writer->pid == pid)
            || !QFile::exists(
                QStringLiteral("/proc/%1").arg(pid)); // ended already, where this test had no turn for a second
    };
    QTRY_VERIFY_WITH_TIMEOUT(standsOrIsGone(), 10'000);
}

// `furrowctl audit` stopped by Ctrl+Z inside its transaction froze training and ended a worker.
void TestLocks::aReaderThatStandsStillCostsNoStep()
{
    startRun();
    Database::Options options;
    options.access = Database::Access::ReadOnly;
    auto db = good(Database::open(tracker(), options));
    const auto still = good(Transaction::read(db));
    QVERIFY(db.integer("SELECT count(*) FROM chunk"));
    trainsOn();
    endsWhole();
    QCOMPARE(restarts(run_), 0);
}

// A backup tool, or BEGIN IMMEDIATE by hand: longer than every lease.
void TestLocks::aForeignLockIsNamedAndOutlasted()
{
    shareRun();
    const int before = restarts(run_);
    auto db = good(Database::open(tracker(), {}));
    std::optional<Transaction> held(good(Transaction::begin(db)));
    QElapsedTimer timer;
    timer.start();
    const QString me = QStringLiteral("process %1 (tst_locks)").arg(furrow::thisProcess().pid);
    const auto evidence = [&] {
        QString all;
        for (const auto& one : RunDriver::status(run_)[QStringLiteral("evidence")].toArray())
            all += one.toString() + QLatin1Char('\n');
        return all;
    };
    QTRY_VERIFY2_WITH_TIMEOUT(evidence().contains(me), qPrintable(evidence()), 15'000);
    const int heldMs
        = 1000 * std::max(12, qEnvironmentVariableIntValue("FURROW_LOCK_S")); // three times the first lease
    QTRY_VERIFY_WITH_TIMEOUT(timer.elapsed() > heldMs, heldMs + 8'000);
    held.reset();
    trainsOn();
    QCOMPARE(restarts(run_), before);
}

// It could not be written down, and nobody else was told of it.
void TestLocks::aStopUnderAForeignLockWasNotHeard()
{
    qputenv("FURROW_BUSY_S", "1");
    const auto atTheEnd = qScopeGuard([] { qunsetenv("FURROW_BUSY_S"); });
    startRun();
    auto db = good(Database::open(tracker(), {}));
    std::optional<Transaction> held(good(Transaction::begin(db)));
    const auto stop = RunDriver::ctl({ QStringLiteral("stop"), run_ });
    QVERIFY2(stop.exitCode == 0, qPrintable(stop.text + stop.errors));
    QVERIFY2((stop.text + stop.errors).contains(QStringLiteral("was asked by a signal")), qPrintable(stop.errors));
    held.reset();
    QVERIFY(RunDriver::waitForState(run_, { QStringLiteral("interrupted") }));
    verifyEpochs();
    QCOMPARE(restarts(run_), 0);
}

// "stopped: a person stopped it", and the command came back as failed though the run began later.
void TestLocks::aResumeThatWaitedForALockedTrackerWasSaidToBeStopped()
{
    startRun();
    QCOMPARE(RunDriver::ctl({ QStringLiteral("stop"), run_, QStringLiteral("--wait") }).exitCode, 0);
    auto db = good(Database::open(tracker(), {}));
    std::optional<Transaction> held(good(Transaction::begin(db)));
    qputenv("FURROW_START_S", "3");
    const auto resumed = RunDriver::ctl({ QStringLiteral("resume"), run_, QStringLiteral("--detach") });
    qunsetenv("FURROW_START_S");
    QVERIFY2(resumed.exitCode == 0, qPrintable(resumed.text + resumed.errors));
    const QString me = QStringLiteral("process %1 (tst_locks)").arg(furrow::thisProcess().pid);
    QVERIFY2(resumed.errors.contains(me + QStringLiteral(" has locked the tracker")), qPrintable(resumed.errors));
    const auto status = RunDriver::status(run_);
    QCOMPARE(status[QStringLiteral("state")].toString(), QStringLiteral("running"));
    QVERIFY2(status[QStringLiteral("hindrance")].toString().contains(me),
        qPrintable(said({ QStringLiteral("status"), run_ })));
    held.reset();
    QTRY_VERIFY_WITH_TIMEOUT(RunDriver::status(run_)[QStringLiteral("attempt")].toInt() == 2, 20'000);
    QCOMPARE(RunDriver::ctl({ QStringLiteral("kill"), run_, QStringLiteral("--wait") }).exitCode, 0);
}

// Half a minute of silence, and then a refusal; pause and save say at once whom they wait for.
void TestLocks::anExcludeWaitedForALockedTrackerWithoutAWord()
{
    startRun();
    QCOMPARE(RunDriver::ctl({ QStringLiteral("stop"), run_, QStringLiteral("--wait") }).exitCode, 0);
    auto db = good(Database::open(tracker(), {}));
    std::optional<Transaction> held(good(Transaction::begin(db)));
    QProcess exclude;
    exclude.start(RunDriver::program(), { QStringLiteral("exclude"), run_, QStringLiteral("0:0") });
    const QByteArray me
        = "The tracker is locked by process " + QByteArray::number(furrow::thisProcess().pid) + " (tst_locks)";
    QByteArray errors;
    QTRY_VERIFY2_WITH_TIMEOUT((errors += exclude.readAllStandardError()).contains(me), errors.constData(), 20'000);
    QCOMPARE(exclude.state(), QProcess::Running);
    held.reset();
    QVERIFY(exclude.waitForFinished(20'000)); // the chunk is left out, or was trained already
    QCOMPARE(exclude.exitStatus(), QProcess::NormalExit);
}

// `flock -s`, as a backup may take it: a resume named "a process that cannot be seen from here", a status nobody.
void TestLocks::whoHeldTheLockOfARestingRunWasNotNamed()
{
    startRun();
    QCOMPARE(RunDriver::ctl({ QStringLiteral("kill"), run_, QStringLiteral("--wait") }).exitCode, 0);
    QProcess holder;
    holder.start(QStringLiteral("flock"),
        { QStringLiteral("-s"), run_ + QStringLiteral("/supervisor.lock"), QStringLiteral("sleep"),
            QStringLiteral("60") });
    QVERIFY(holder.waitForStarted());
    const QString who = QStringLiteral("process %1 (flock)").arg(holder.processId());
    QTRY_VERIFY2_WITH_TIMEOUT(said({ QStringLiteral("status"), run_ }).contains(who + QStringLiteral(" holds ")),
        qPrintable(said({ QStringLiteral("status"), run_ })), 10'000);
    const QString refused = said({ QStringLiteral("resume"), run_ });
    QVERIFY2(refused.contains(who), qPrintable(refused));
    holder.terminate();
    holder.waitForFinished();
}

// Whoever may read the files can lock them for reading: the run stood still, and nobody said why.
void TestLocks::aLockForReadingStoppedTheRunAndWasNotNamed()
{
    shareRun();
    {
        const furrow::test::ForeignLock lock(shm(), 120);
        QVERIFY(lock.pid() > 0);
        const auto named = QStringLiteral("process %1").arg(lock.pid());
        QTRY_VERIFY_WITH_TIMEOUT(said({ QStringLiteral("status"), run_ }).contains(named), 20'000);
        const auto isLogged = [&] {
            for (const QFileInfo& log : QDir(run_ + QStringLiteral("/logs")).entryInfoList(QDir::Files)) {
                QFile file(log.filePath());
                if (file.open(QIODevice::ReadOnly) && file.readAll().contains("locked by " + named.toUtf8()))
                    return true;
            }
            return false;
        };
        QTRY_VERIFY_WITH_TIMEOUT(isLogged(), 10'000);
    }
    trainsOn();
}

// SQLite gives up after ten seconds without asking anybody, and so did the run: with what no checkpoint had.
void TestLocks::aLockOnTheMarksOfReadersEndedTheRun()
{
    shareRun();
    const int before = restarts(run_);
    {
        const furrow::test::ForeignLock lock(shm(), 123, 5);
        QVERIFY(lock.pid() > 0);
        QElapsedTimer timer;
        timer.start();
        const auto named = QStringLiteral("process %1").arg(lock.pid());
        QTRY_VERIFY_WITH_TIMEOUT(said({ QStringLiteral("status"), run_ }).contains(named), 40'000);
        QTRY_VERIFY_WITH_TIMEOUT(timer.elapsed() > 15'000, 20'000);
    }
    trainsOn();
    QCOMPARE(restarts(run_), before);
}

// A stop refused and left a person without a way to end the run.
void TestLocks::whoTrainsWasNotNamedWhereRunJsonCannotBeUsed()
{
    shareRun();
    const auto named = QStringLiteral("process %1").arg(RunDriver::supervisorPid(run_));
    const QString path = run_ + QStringLiteral("/run.json");
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray whole = file.readAll();
    file.close();
    const auto write = [&path](const QByteArray& text) {
        QFile changed(path);
        return changed.open(QIODevice::WriteOnly | QIODevice::Truncate) && changed.write(text) == text.size();
    };
    QByteArray newer = whole;
    newer.replace("\"format\": 1,", "\"format\": 77,");
    QVERIFY(newer != whole);
    for (const QByteArray& text : { newer, whole.left(whole.size() / 2) }) {
        const auto restore = qScopeGuard([&] { QVERIFY(write(whole)); });
        QVERIFY(write(text));
        for (const char* command : { "stop", "kill" }) {
            const auto shown = said({ QLatin1String(command), run_ });
            QVERIFY2(shown.contains(named), qPrintable(shown));
        }
    }
    trainsOn();
}

// "End every process of the run now" took half a minute, without a word.
void TestLocks::aKillWaitedForWhoHeldTheTracker()
{
    startRun();
    auto db = good(Database::open(tracker(), {}));
    std::optional<Transaction> held(good(Transaction::begin(db)));
    QElapsedTimer timer;
    timer.start();
    const auto killed = RunDriver::ctl({ QStringLiteral("kill"), run_ });
    QVERIFY2(timer.elapsed() < 15'000, qPrintable(killed.errors));
    QVERIFY2(killed.exitCode == 0, qPrintable(killed.text + killed.errors));
    QVERIFY2(killed.errors.contains(QStringLiteral("was killed with all that it started")), qPrintable(killed.errors));
    QTRY_VERIFY(!furrow::isLocked(std::filesystem::path(run_.toStdString()) / "supervisor.lock"));
}

// status, audit and stop answered after 5 to 20 s.
void TestLocks::aLockOnTheWholeTrackerKeptEachCommandWaiting()
{
    startRun();
    {
        const furrow::test::ForeignLock lock(tracker(), 0x40000000, 1);
        QVERIFY(lock.pid() > 0);
        const auto named = QStringLiteral("process %1").arg(lock.pid());
        for (const char* command : { "status", "audit", "save", "stop" }) {
            QElapsedTimer timer;
            timer.start();
            const auto shown = said({ QLatin1String(command), run_ });
            QVERIFY2(timer.elapsed() < 4'900, qPrintable(QString::number(timer.elapsed()) + shown));
            QVERIFY2(shown.contains(named), qPrintable(QLatin1String(command) + shown));
        }
    }
    QVERIFY(RunDriver::waitForState(run_, { QStringLiteral("interrupted") }));
}

// One that nobody could open cost 5 s, whatever else the workspace had.
void TestLocks::aLockedTrackerKeptTheListOfRunsWaiting()
{
    makeFolder();
    const QString space = folder_->path();
    const auto text = RunDriver::writeText(space, 40);
    for (const QString& name : { QStringLiteral("open"), QStringLiteral("run") }) {
        run_ = space + QStringLiteral("/runs/") + name;
        const auto trained
            = RunDriver::ctl(QStringList { QStringLiteral("run"), QStringLiteral("--data"), text,
                                 QStringLiteral("--out"), run_, QStringLiteral("--devices"), QStringLiteral("cpu") }
                + RunDriver::tinyModel());
        QVERIFY2(trained.exitCode == 0, qPrintable(trained.errors));
    }
    const auto listed = [&space](qint64& elapsed) {
        QElapsedTimer timer;
        timer.start();
        const auto list = RunDriver::ctl({ QStringLiteral("list"), QStringLiteral("--workspace"), space });
        elapsed = timer.elapsed();
        return list.text;
    };
    qint64 free = 0;
    QVERIFY(!listed(free).contains(QStringLiteral("cannot be read")));
    if (!QFile::exists(QString::fromStdString(shm().string()))) {
        QFile made(QString::fromStdString(shm().string()));
        QVERIFY(made.open(QIODevice::WriteOnly));
    }
    for (const auto& file : { shm(), tracker() }) {
        const furrow::test::ForeignLock lock(file);
        QVERIFY(lock.pid() > 0);
        qint64 locked = 0;
        const auto shown = listed(locked);
        QVERIFY2(shown.contains(QStringLiteral("The tracker is locked by another program, process %1").arg(lock.pid())),
            qPrintable(shown));
        QCOMPARE(shown.count(QStringLiteral("cannot be read")), 1);
        QVERIFY2(locked - free < 1'500, qPrintable(QString::number(locked))); // the machine may be busy
    }
}

// With all of its processes gone nobody could take the WAL up: a snapshot of the first seconds stood for the run.
void TestLocks::aRunThatCouldNotBeReadShowedZeros()
{
    startRun({ QStringLiteral("--checkpoint-minutes"), QStringLiteral("0.01") });
    // What only dead workers had is not counted: some of it is in checkpoints.
    QTRY_VERIFY_WITH_TIMEOUT(
        QDir(run_ + QStringLiteral("/checkpoints")).entryList({ QStringLiteral("r*-*") }, QDir::Dirs).size() > 2,
        30'000);
    const auto status = RunDriver::status(run_);
    QVERIFY(RunDriver::killHard(RunDriver::supervisorPid(run_)));
    for (const auto& worker : status[QStringLiteral("workers")].toArray())
        RunDriver::killHard(worker[QStringLiteral("pid")].toInteger());
    QTRY_VERIFY(!furrow::isLocked(std::filesystem::path(run_.toStdString()) / "supervisor.lock"));
    QTest::qWait(500); // the feeder ends with its supervisor
    const auto before = steps(run_);
    QVERIFY(before > 0);
    {
        const furrow::test::ForeignLock lock(shm(), 120);
        QVERIFY(lock.pid() > 0);
        const auto named = QStringLiteral("process %1").arg(lock.pid());
        const auto shown = said({ QStringLiteral("status"), run_ });
        QVERIFY2(shown.contains(named) && shown.contains(QStringLiteral("older snapshot")), qPrintable(shown));
        const auto audit = said({ QStringLiteral("audit"), run_ });
        QVERIFY2(audit.contains(named) && !audit.contains(QStringLiteral("locking protocol")), qPrintable(audit));
    }
    QCOMPARE(steps(run_), before);
}

void TestLocks::aWorkerThatStandsStillInsideAWriteIsEnded()
{
    startRun();
    freezeInsideAWrite(RunDriver::workerPid(run_, 1));
    QElapsedTimer timer;
    timer.start();
    auto db = good(Database::open(tracker(), {}));
    good(Transaction::begin(db)); // whoever wants to write waits so long
    qInfo("the lock was free again after %lld ms", timer.elapsed());
    QVERIFY(timer.elapsed() < 10'000);
    QTRY_VERIFY_WITH_TIMEOUT(restarts(run_) == 1, 40'000);
    trainsOn();
    endsWhole();
    QCOMPARE(restarts(run_), 1);
}

void TestLocks::aFeederThatStandsStillInsideAWriteIsEnded()
{
    startRun();
    const auto feeder = [this] { return good(good(furrow::LedgerReader::open(tracker())).totals()).feeder; };
    const auto frozen = feeder();
    QVERIFY(frozen.has_value());
    freezeInsideAWrite(frozen->pid);
    auto db = good(Database::open(tracker(), {}));
    good(Transaction::begin(db));
    const auto isAnother = [&] {
        const auto now = feeder();
        return now.has_value() && now->pid != frozen->pid;
    };
    QTRY_VERIFY_WITH_TIMEOUT(isAnother(), 40'000);
    trainsOn();
    endsWhole();
    QCOMPARE(restarts(run_), 0);
}

// Its lease alone kept the others waiting for a minute.
void TestLocks::aWorkerThatStandsStillKeepsNobodyWaitingAtAMerge()
{
    const auto lease = qgetenv("FURROW_LEASE_S");
    qputenv("FURROW_LEASE_S", "60");
    startRun({ QStringLiteral("--merge-tokens"), QStringLiteral("3000") });
    qputenv("FURROW_LEASE_S", lease);
    const auto pid = RunDriver::workerPid(run_, 1);
    QVERIFY(pid > 0 && RunDriver::hold(pid));
    QTRY_VERIFY_WITH_TIMEOUT(restarts(run_) == 1, 20'000);
    trainsOn(); // its lease is a minute
    endsWhole();
    QCOMPARE(restarts(run_), 1);
}

// It held the last chunks of the only epoch.
void TestLocks::aWorkerThatStandsStillKeepsNobodyWaitingAtTheEndOfAnEpoch()
{
    const auto lease = qgetenv("FURROW_LEASE_S");
    qputenv("FURROW_LEASE_S", "60");
    startRun({ QStringLiteral("--epochs"), QStringLiteral("1") }, 600);
    qputenv("FURROW_LEASE_S", lease);
    const auto pid = RunDriver::workerPid(run_, 1);
    QVERIFY(pid > 0 && RunDriver::hold(pid));
    QTRY_VERIFY_WITH_TIMEOUT(restarts(run_) == 1, 40'000);
    QVERIFY(RunDriver::waitForState(run_, { QStringLiteral("finished") }));
    QCOMPARE(RunDriver::status(run_)[QStringLiteral("attempt")].toInt(), 1); // nothing ended it in between
    verifyEpochs();
}

// "Every process of the run is being ended", with exit code 0, and the run trained on.
void TestLocks::aRunOfAnotherUserWasSaidToBeKilled()
{
    constexpr uid_t kNobody = 65534;
    if (geteuid() != 0)
        QSKIP("only root can be another user");
    shareRun();
    std::filesystem::permissions(
        folder_->path().toStdString(), std::filesystem::perms::others_exec, std::filesystem::perm_options::add);
    const pid_t child = fork(); // the programs may lie where nobody else can read them
    if (child == 0) {
        const bool isNobody = setgid(kNobody) == 0 && setuid(kNobody) == 0;
        const auto killed = furrow::killRun(furrow::RunPaths(run_.toStdString()));
        _exit(!isNobody       ? 3
                : killed.ok() ? 0
                : killed.error().message.find("which belongs to user root. Only they, or root,") != std::string::npos
                ? 1
                : 2);
    }
    int ended = 0;
    QCOMPARE(waitpid(child, &ended, 0), child);
    QCOMPARE(WEXITSTATUS(ended), 1);
    trainsOn();
}

// `stop --wait` said nothing for ever while the supervisor stood still; status knew it at once.
void TestLocks::aStopWaitedWithoutAWord()
{
    startRun();
    const auto supervisor = RunDriver::supervisorPid(run_);
    QVERIFY(RunDriver::hold(supervisor));
    QProcess stop;
    stop.start(RunDriver::program(), { QStringLiteral("stop"), QStringLiteral("--wait"), run_ });
    QString said;
    const auto isSaid = [&] {
        said += QString::fromUtf8(stop.readAllStandardError());
        return said.count(QStringLiteral("The supervisor stands still: somebody stopped process"));
    };
    QTRY_VERIFY_WITH_TIMEOUT(isSaid() == 1, 20'000);
    QVERIFY(kill(static_cast<pid_t>(supervisor), SIGCONT) == 0);
    QVERIFY(stop.waitForFinished(60'000));
    QCOMPARE(stop.exitCode(), 0);
    QCOMPARE(isSaid(), 1); // once
}

// Its processes waited for it, and status said that the workers were starting.
void TestLocks::aTrackerThatNobodyMayWriteWasNotNamed()
{
    using namespace std::filesystem;
    shareRun();
    const path index = tracker().string() + "-shm";
    const auto hindrance = [this] { return RunDriver::status(run_)[QStringLiteral("hindrance")].toString(); };
    permissions(index, perms::owner_read);
    QVERIFY2(hindrance().contains(QStringLiteral("tracker.sqlite-shm is not to be written by anybody")),
        qPrintable(hindrance()));
    permissions(index, perms::owner_read | perms::owner_write);
    QVERIFY(hindrance().isEmpty());
    trainsOn();
}

void TestLocks::whatStrangersDidCostTheRunNothing()
{
    shareRun();
    endsWhole();
}

QTEST_GUILESS_MAIN(TestLocks)
#include "tst_locks.moc"
