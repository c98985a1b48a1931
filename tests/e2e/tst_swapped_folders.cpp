// A person moves the folder of a living run, or a part of it, and puts something else in its place. Whatever lies there
// then is theirs.

#include "core/base/file_lock.h"
#include "tests/e2e/run_driver.h"

#include <QCoreApplication>
#include <QDir>
#include <QDirIterator>
#include <QElapsedTimer>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <filesystem>
#include <map>

namespace {

QString operator""_q(const char* text, std::size_t size)
{
    return QString::fromUtf8(text, static_cast<qsizetype>(size));
}

void copyFolder(const QString& from, const QString& to)
{
    std::error_code failed; // of a living run: files come and go
    std::filesystem::copy(from.toStdString(), to.toStdString(),
        std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks, failed);
}

void rename(const QString& from, const QString& to) { std::filesystem::rename(from.toStdString(), to.toStdString()); }

/// Every file with its size and time.
QStringList contentOf(const QString& folder)
{
    QStringList content;
    for (QDirIterator entries(folder, QDir::Files | QDir::Hidden, QDirIterator::Subdirectories); entries.hasNext();) {
        entries.next();
        const auto file = entries.fileInfo();
        content += file.filePath() + " %1 %2"_q.arg(file.size()).arg(file.lastModified().toMSecsSinceEpoch());
    }
    content.sort();
    return content;
}

/// What has ended stays in the list until its parent looks.
bool isRunning(qint64 pid)
{
    QFile facts("/proc/%1/stat"_q.arg(pid));
    if (!facts.open(QIODevice::ReadOnly))
        return false;
    const auto line = facts.readAll();
    return !line.mid(line.lastIndexOf(')') + 2).startsWith('Z');
}

bool waitForEnd(const std::vector<qint64>& processes)
{
    QElapsedTimer timer;
    timer.start();
    while (timer.elapsed() < 60'000) {
        if (std::none_of(processes.begin(), processes.end(), isRunning))
            return true;
        QTest::qWait(50);
    }
    return false;
}

} // namespace

class TestSwappedFolders : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    QString run_;
    std::vector<qint64> processes_; ///< of the run

    void start(const char* name, int lines = 8000)
    {
        run_ = folder_.filePath(QLatin1String(name));
        processes_.clear();
        qputenv("FURROW_COUNTING_STEP_MS", "20"); // it lasts until somebody did something to it
        const auto out
            = RunDriver::ctl(QStringList { "run"_q, "--detach"_q, "--json"_q, "--data"_q,
                                 RunDriver::writeText(folder_.path(), lines), "--out"_q, run_, "--devices"_q, "cpu"_q }
                + RunDriver::tinyModel() + QStringList { "--keep-last"_q, "2"_q, "--checkpoint-steps"_q, "10"_q });
        QVERIFY2(out.exitCode == 0, qPrintable(out.errors));
        QVERIFY(RunDriver::waitForChunks(run_, 5));
        for (const auto pid : { RunDriver::supervisorPid(run_), RunDriver::workerPid(run_, 0) }) {
            QVERIFY(pid > 0);
            processes_.push_back(pid);
        }
    }
    /// Resumes a run to its end, which nobody has to come before.
    static void finish(const QString& run)
    {
        qputenv("FURROW_COUNTING_STEP_MS", "2");
        const auto resumed = RunDriver::ctl({ "resume"_q, run, "--detach"_q });
        QVERIFY2(resumed.exitCode == 0, qPrintable(resumed.errors));
        QVERIFY(RunDriver::waitForState(run, { "finished"_q }));
    }
    static QString said(const QString& run)
    {
        const auto status = RunDriver::ctl({ "status"_q, run });
        return status.text + status.errors;
    }

private Q_SLOTS:
    void initTestCase()
    {
        qputenv("FURROW_COUNTING", "1"); // the folders are asked, not the weights
    }

    void cleanup()
    {
        for (const auto pid : processes_)
            if (isRunning(pid))
                RunDriver::killHard(pid);
    }

    void aBackupInPlaceOfALivingRunWasDeletedAndWrittenTo()
    {
        start("swapped");
        const QString backup = folder_.filePath("backup"_q);
        const QString aside = folder_.filePath("aside"_q);
        copyFolder(run_, backup);
        const auto mark = contentOf(backup).size();
        QVERIFY(mark > 5);
        rename(run_, aside);
        rename(backup, run_);
        const auto before = contentOf(run_);
        QVERIFY(waitForEnd(processes_));
        QCOMPARE(contentOf(run_), before);
        const auto now = said(aside);
        QVERIFY2(now.contains("Another folder lies at "_q + run_) || now.contains(run_ + " was moved to "_q),
            qPrintable(now));
    }

    void aRunThatWasMovedOrDeletedWasWaitedForForEver_data()
    {
        QTest::addColumn<bool>("isDeleted");
        QTest::newRow("moved") << false;
        QTest::newRow("deleted") << true;
    }

    void aRunThatWasMovedOrDeletedWasWaitedForForEver()
    {
        QFETCH(bool, isDeleted);
        start(isDeleted ? "deleted" : "moved", 2000);
        const QString aside = folder_.filePath("elsewhere"_q);
        if (isDeleted)
            QVERIFY(QDir(run_).removeRecursively() || !QFile::exists(run_ + "/tracker.sqlite"_q));
        else
            rename(run_, aside);
        QVERIFY(waitForEnd(processes_));
        if (isDeleted)
            return;
        const auto now = said(aside);
        QVERIFY2(now.contains(run_ + " was moved to "_q + aside), qPrintable(now));
        finish(aside);
    }

    void aLinkThatCameDuringTheRunWasFollowed_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* name : { "checkpoints", "checkpoints/removed", "telemetry", "logs", "cache/blocks" })
            QTest::newRow(name) << QString::fromLatin1(name);
    }

    void aLinkThatCameDuringTheRunWasFollowed()
    {
        QFETCH(QString, name);
        start(qPrintable("linked-"_q + QString(name).replace('/', '-')));
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(run_ + "/checkpoints/removed"_q), 60'000);
        const QString place = run_ + '/' + name;
        const QString outside = folder_.filePath("outside-"_q + QString(name).replace('/', '-'));
        copyFolder(place, outside);
        QVERIFY(QDir(outside).exists());
        const auto before = contentOf(outside);
        rename(place, folder_.filePath("moved-"_q + QString(name).replace('/', '-')));
        std::filesystem::create_directory_symlink(outside.toStdString(), place.toStdString());
        QVERIFY(waitForEnd(processes_));
        QCOMPARE(contentOf(outside), before);
        const auto now = said(run_);
        QVERIFY2(now.contains(place + " is a link"_q), qPrintable(now));
    }

    void aRunWhoseWalWasDeletedWentOnForEver()
    {
        start("wal", 2000);
        const auto committed = RunDriver::status(run_)["chunks"_q].toObject()["committed"_q].toInt();
        QVERIFY(committed > 0);
        QVERIFY(QFile::remove(run_ + "/tracker.sqlite-wal"_q));
        QVERIFY(QFile::remove(run_ + "/tracker.sqlite-shm"_q));
        QVERIFY(waitForEnd(processes_));
        const auto now = said(run_);
        QVERIFY2(now.contains("tracker.sqlite-wal was deleted or replaced"_q), qPrintable(now));
        QVERIFY(RunDriver::status(run_)["chunks"_q].toObject()["committed"_q].toInt()
            >= committed); // all that stood in the WAL
        finish(run_);
        const auto epoch = RunDriver::auditedEpoch(run_);
        QCOMPARE(epoch["duplicated"_q].toInt(-1), 0);
        QCOMPARE(epoch["missing"_q].toInt(-1), 0);
    }

    void aRunWhoseTrackerIsGoneCouldNotBeKilled()
    {
        start("killed");
        QVERIFY(RunDriver::hold(processes_.front())); // it would end by itself
        QVERIFY(QFile::remove(run_ + "/tracker.sqlite"_q));
        const auto stop = RunDriver::ctl({ "stop"_q, run_ });
        QCOMPARE(stop.exitCode, 1);
        QVERIFY2(stop.errors.contains("furrowctl kill "_q + run_), qPrintable(stop.errors));
        const auto kill = RunDriver::ctl({ "kill"_q, run_, "--wait"_q });
        QVERIFY2(kill.exitCode == 0, qPrintable(kill.errors));
        QVERIFY(waitForEnd(processes_));
    }

    void stopAndKillOfARunThatIsNotTrainedClaimedToEndIt()
    {
        start("ended", 500);
        QVERIFY(RunDriver::waitForState(run_, { "finished"_q }));
        const auto held = furrow::FileLock::tryLock((run_ + "/supervisor.lock"_q).toStdString());
        QVERIFY(held.ok());
        for (const auto& verb : { "stop"_q, "kill"_q }) {
            const auto out = RunDriver::ctl({ verb, run_ });
            QVERIFY(out.exitCode != 0);
            QVERIFY2(out.errors.contains("is not running: process %1"_q.arg(QCoreApplication::applicationPid())),
                qPrintable(out.errors + out.text));
        }
    }
};

QTEST_GUILESS_MAIN(TestSwappedFolders)
#include "tst_swapped_folders.moc"
