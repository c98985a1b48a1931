#include "tests/e2e/run_driver.h"
#include "tests/must_have.h"

#include "core/base/file_lock.h"

#include <QJsonArray>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <filesystem>
#include <memory>
#include <unistd.h>
#include <utility>

namespace {

/// Starts a program in a PID namespace of its own, as a container does.
QStringList inContainer(const QStringList& command)
{
    QStringList words { QStringLiteral("--pid"), QStringLiteral("--fork"), QStringLiteral("--mount-proc"),
        QStringLiteral("--kill-child") };
    if (geteuid() != 0)
        words.prepend(QStringLiteral("--map-root-user"));
    return words + command;
}

int start(const QStringList& command) { return QProcess::execute(QStringLiteral("unshare"), inContainer(command)); }

} // namespace

/// A run of a container, looked at and ended from outside of it, and a run outside from a container.
class TestContainers : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    // of one run
    void aRunOfAContainerWasCalledInterruptedAndItsWorkLost();
    void aStopFromOutsideTheContainerSaidThatTheRunHadEnded();
    // of a run each
    void aKillFromOutsideTheContainerSaidThatTheRunHadEnded();
    void aRunWasCalledInterruptedFromInsideAContainer();
    void aResumeTookTheWorkOfWorkersThatLiveInAContainer();
    void cleanupTestCase() { endContainer(); }

private:
    void makeFolder();
    void startInContainer();
    void endContainer();
    bool isHeld() const { return furrow::isLocked(std::filesystem::path(run_.toStdString()) / "supervisor.lock"); }

    std::unique_ptr<QTemporaryDir> folder_;
    QString run_;
    std::unique_ptr<QProcess> container_;
    bool isShared_ = false; ///< the container and its run go on for the next function
};

void TestContainers::initTestCase()
{
    SKIP_WITHOUT("namespaces", start({ QStringLiteral("true") }) == 0,
        "This user may not make PID namespaces here: that takes root outside of containers, or CAP_SYS_ADMIN.");
    qputenv("FURROW_COUNTING", "1"); // the ledger is asked, not the weights
}

void TestContainers::init()
{
    qputenv("FURROW_COUNTING_STEP_MS", "20"); // whoever looks comes before the end
}

void TestContainers::makeFolder()
{
    folder_ = std::make_unique<QTemporaryDir>();
    run_ = folder_->filePath(QStringLiteral("run"));
}

void TestContainers::cleanup()
{
    if (!isShared_)
        endContainer();
}

void TestContainers::endContainer()
{
    if (container_) {
        container_->kill(); // its first process goes with it, and takes all others along
        QVERIFY(container_->waitForFinished(20'000));
    }
    container_.reset();
}

QStringList newRun(const QString& text, const QString& run)
{
    return QStringList { QStringLiteral("run"), QStringLiteral("--data"), text, QStringLiteral("--out"), run,
        QStringLiteral("--workers"), QStringLiteral("2"), QStringLiteral("--devices"), QStringLiteral("cpu"),
        QStringLiteral("--epochs"), QStringLiteral("100"), QStringLiteral("--detach") }
    + RunDriver::tinyModel();
}

void TestContainers::startInContainer()
{
    endContainer();
    makeFolder();
    const auto text = RunDriver::writeText(folder_->path(), 1200);
    const auto words = newRun(text, run_);
    container_ = std::make_unique<QProcess>();
    container_->start(QStringLiteral("unshare"),
        inContainer(QStringList { QStringLiteral("sh"), QStringLiteral("-c"), QStringLiteral("\"$@\"; sleep 600"),
                        QStringLiteral("sh"), RunDriver::program() }
            + words));
    QTRY_VERIFY_WITH_TIMEOUT(isHeld(), 30'000);
    QVERIFY(RunDriver::waitForChunks(run_, 8));
}

// It said "interrupted", and that 21 chunks were lost which were in a checkpoint soon after.
void TestContainers::aRunOfAContainerWasCalledInterruptedAndItsWorkLost()
{
    startInContainer();
    isShared_ = true;
    const auto status = RunDriver::status(run_);
    QCOMPARE(status[QStringLiteral("state")].toString(), QStringLiteral("running"));
    QVERIFY(status[QStringLiteral("supervisor")][QStringLiteral("alive")].toBool());
    const auto workers = status[QStringLiteral("workers")].toArray();
    QVERIFY(!workers.isEmpty());
    for (const auto& worker : workers)
        QVERIFY(worker[QStringLiteral("alive")].toBool());
    const auto said = RunDriver::ctl({ QStringLiteral("status"), run_ }).text;
    QVERIFY2(said.contains(QStringLiteral("in another container) holds the run")), qPrintable(said));
    QVERIFY2(!said.contains(QStringLiteral("work lost")), qPrintable(said));
    const auto resumed = RunDriver::ctl({ QStringLiteral("resume"), run_, QStringLiteral("--detach") });
    QCOMPARE(resumed.exitCode, 1);
    QVERIFY2(resumed.errors.contains(QStringLiteral("is already running")), qPrintable(resumed.errors));
}

void TestContainers::aStopFromOutsideTheContainerSaidThatTheRunHadEnded()
{
    if (!std::exchange(isShared_, false) || !isHeld())
        startInContainer();
    const auto stopped = RunDriver::ctl({ QStringLiteral("stop"), QStringLiteral("--wait"), run_ });
    QVERIFY2(stopped.exitCode == 0, qPrintable(stopped.errors));
    QVERIFY(!isHeld());
    QCOMPARE(RunDriver::status(run_)[QStringLiteral("state")].toString(), QStringLiteral("stopped"));
}

void TestContainers::aKillFromOutsideTheContainerSaidThatTheRunHadEnded()
{
    startInContainer();
    const auto killed = RunDriver::ctl({ QStringLiteral("kill"), QStringLiteral("--wait"), run_ });
    QVERIFY2(killed.exitCode == 0, qPrintable(killed.errors));
    QVERIFY(!isHeld());
    QCOMPARE(RunDriver::status(run_)[QStringLiteral("state")].toString(), QStringLiteral("stopped"));
}

// A container sees no process of the computer around it, nor of another container.
void TestContainers::aRunWasCalledInterruptedFromInsideAContainer()
{
    makeFolder();
    const auto text = RunDriver::writeText(folder_->path(), 1200);
    const auto started = RunDriver::ctl(newRun(text, run_));
    QVERIFY2(started.exitCode == 0, qPrintable(started.errors));
    QVERIFY(RunDriver::waitForChunks(run_, 8));
    QProcess inside;
    inside.start(QStringLiteral("unshare"), inContainer({ RunDriver::program(), QStringLiteral("status"), run_ }));
    QVERIFY(inside.waitForFinished(30'000));
    const auto said = QString::fromUtf8(inside.readAllStandardOutput());
    QVERIFY2(said.contains(QStringLiteral(
                 "A process that cannot be seen from here, perhaps in another container, holds the run")),
        qPrintable(said));
    QVERIFY2(!said.contains(QStringLiteral("work lost")) && said.contains(QStringLiteral("2 of 2 workers alive")),
        qPrintable(said));
    const auto supervisor = RunDriver::supervisorPid(run_);
    QVERIFY(RunDriver::hold(supervisor)); // a container that was paused
    QCOMPARE(start({ RunDriver::program(), QStringLiteral("kill"), QStringLiteral("--wait"), run_ }), 1);
    QVERIFY(isHeld());
    QVERIFY(::kill(static_cast<pid_t>(supervisor), SIGCONT) == 0);
    QTRY_VERIFY_WITH_TIMEOUT(!isHeld(), 20'000); // it was asked
}

// Its workers save and end by themselves; what they held was freed before they had.
void TestContainers::aResumeTookTheWorkOfWorkersThatLiveInAContainer()
{
    startInContainer();
    const auto supervisor = RunDriver::supervisorPid(run_); // as it is seen from here
    QVERIFY(RunDriver::killHard(supervisor));
    QTRY_VERIFY_WITH_TIMEOUT(!isHeld(), 10'000);
    qputenv("FURROW_COUNTING_STEP_MS", "2"); // nobody looks at it on its way
    const auto resumed = RunDriver::ctl({ QStringLiteral("resume"), run_, QStringLiteral("--epochs"),
        QStringLiteral("1"), QStringLiteral("--detach") });
    QVERIFY2(resumed.exitCode == 0, qPrintable(resumed.errors));
    QVERIFY(RunDriver::waitForState(run_, { QStringLiteral("finished") }));
    const auto epoch = RunDriver::auditedEpoch(run_);
    QCOMPARE(epoch[QStringLiteral("duplicated")].toInt(-1), 0);
    QCOMPARE(epoch[QStringLiteral("missing")].toInt(-1), 0);
}

QTEST_GUILESS_MAIN(TestContainers)
#include "tst_containers.moc"
