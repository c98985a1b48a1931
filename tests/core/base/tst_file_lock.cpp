#include "helper_process.h"

#include "core/base/file_lock.h"
#include "core/base/lock_holder.h"
#include "core/base/owner.h"
#include "core/base/sentence.h"
#include "tests/must_have.h"

#include <QProcess>
#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

using namespace furrow;
using namespace std::chrono_literals;

class TestFileLock : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> folder_;
    std::filesystem::path path_;

private Q_SLOTS:
    void init()
    {
        folder_ = std::make_unique<QTemporaryDir>();
        path_ = test::inFolder(*folder_, "lock");
    }

    void onlyOneHolds()
    {
        auto first = FileLock::tryLock(path_);
        QVERIFY(first.ok());
        QVERIFY(isLocked(path_));
        const auto second = FileLock::tryLock(path_);
        QVERIFY(!second.ok());
        QCOMPARE(second.error().code, ErrorCode::Busy);
        QVERIFY(second.error().message.find(path_.string()) != std::string::npos);
    }

    void theHolderIsNamedWithItsCommand()
    {
        QVERIFY(!fileLockHolder(path_));
        auto helper = test::startHelper({ "hold-lock", path_.string() });
        QVERIFY(helper.ok());
        QTRY_VERIFY(isLocked(path_));
        const auto holder = fileLockHolder(path_);
        SKIP_WITHOUT("lock-holders", holder.has_value(), "This system does not tell who holds a lock.");
        QCOMPARE(holder->pid, helper.value().identity().pid);
        QVERIFY2(holder->program.find("process_helper") != std::string::npos, holder->program.c_str());
        QVERIFY(inWords(*holder).starts_with("process " + std::to_string(holder->pid) + " ("));
    }

    /// "process 30031 (python3) has locked it" of a process of somebody else, whom one had to look for.
    void theHolderOfAnotherUserWasNamedWithoutTheUser()
    {
        QVERIFY(ownerOfAnother(thisProcess().pid).empty());
        QVERIFY(ownerOfAnother(0).empty());
        LockHolder holder { 4711, "python3", false, sentence("user %1", { "ann" }) };
        QCOMPARE(inWords(holder).text(), std::string("process 4711 (python3) of user ann"));
        holder.stopped = true;
        QCOMPARE(inWords(holder).text(), std::string("process 4711 (python3, stopped) of user ann"));
        holder.program.clear();
        QCOMPARE(inWords(holder).text(), std::string("process 4711 (stopped) of user ann"));
#ifdef Q_OS_LINUX
        QProcess other; // only root can start one as somebody else
        other.start(QStringLiteral("setpriv"),
            { QStringLiteral("--reuid=65534"), QStringLiteral("--clear-groups"), QStringLiteral("sleep"),
                QStringLiteral("60") });
        if (!other.waitForStarted() || other.waitForFinished(300))
            return;
        const auto owner = ownerOfAnother(other.processId());
        other.kill();
        other.waitForFinished();
        QVERIFY2(owner.starts_with("user "), owner.c_str());
#endif
    }

    /// One opened the file, another removed it as nobody's, and a third made it anew: two had the lock, and fetched one
    /// file into one place.
    void twoHeldALockWhoseFileWasRemovedBetween()
    {
        std::atomic<bool> isOver { false };
        std::atomic<int> holders { 0 };
        std::atomic<int> most { 0 };
        std::atomic<int> taken { 0 };
        const auto hold = [&] {
            while (!isOver) {
                const auto lock = FileLock::tryLock(path_);
                if (!lock.ok())
                    continue;
                most = std::max(most.load(), ++holders);
                ++taken;
                std::this_thread::yield();
                --holders;
            }
        };
        const auto clean = [&] {
            while (!isOver)
                if (const auto lock = FileLock::tryLock(path_); lock.ok())
                    std::filesystem::remove(path_);
        };
        std::vector<std::jthread> threads;
        for (int i = 0; i < 2; ++i)
            threads.emplace_back(hold);
        threads.emplace_back(clean);
        std::this_thread::sleep_for(700ms);
        isOver = true;
        threads.clear();
        QCOMPARE(most.load(), 1);
        QVERIFY(taken > 20);
    }

    void isFreeAfterTheHolderGoes()
    {
        {
            const auto lock = FileLock::tryLock(path_);
            QVERIFY(lock.ok());
        }
        QVERIFY(!isLocked(path_));
        QVERIFY(std::filesystem::exists(path_));
        QVERIFY(FileLock::tryLock(path_).ok());
    }

    void movesWithItsObject()
    {
        auto first = FileLock::tryLock(path_);
        FileLock kept = std::move(first.value());
        QVERIFY(isLocked(path_));
        const auto other = test::inFolder(*folder_, "other");
        kept = std::move(FileLock::tryLock(other).value());
        QVERIFY(!isLocked(path_));
        QVERIFY(isLocked(other));
    }

    void isFreedWhenItsHolderIsKilled()
    {
        auto helper = test::startHelper({ "hold-lock", path_.string() });
        QVERIFY(helper.ok());
        QCOMPARE(test::waitForFile(path_.string() + ".held"), std::string("held"));
        QVERIFY(isLocked(path_));
        QCOMPARE(FileLock::tryLock(path_).error().code, ErrorCode::Busy);
        helper.value().killTree();
        QVERIFY(helper.value().wait(5s));
        QVERIFY(!isLocked(path_));
        QVERIFY(FileLock::tryLock(path_).ok());
    }

    void aProcessStartedByTheHolderDoesNotKeepIt()
    {
        auto helper = test::startHelper({ "hold-lock-with-child", path_.string() });
        QVERIFY(helper.ok());
        const ProcessIdentity left = test::identityFrom(test::waitForFile(path_.string() + ".held"));
        QVERIFY(isLocked(path_));
        helper.value().killTree();
        QVERIFY(helper.value().wait(5s));
        QVERIFY(isAlive(left));
        QVERIFY(!isLocked(path_));
        killProcessTree(left);
    }

    void askingNeverKeepsAnyoneFromTakingIt()
    {
        std::jthread asker([&](const std::stop_token& stop) {
            while (!stop.stop_requested())
                (void)isLocked(path_);
        });
        for (int round = 0; round < 300; ++round) {
            const auto lock = FileLock::tryLock(path_);
            QVERIFY2(lock.ok(), lock.ok() ? "" : lock.error().message.c_str());
        }
    }

    void badPathsAreErrors_data()
    {
        QTest::addColumn<QString>("path");
        QTest::newRow("missing folder") << "/no/such/folder/lock";
        QTest::newRow("a folder") << "/tmp";
        QTest::newRow("read-only file system") << "/proc/lock";
    }
    void badPathsAreErrors()
    {
        QFETCH(QString, path);
        const auto lock = FileLock::tryLock(path.toStdString());
        QVERIFY(!lock.ok());
        QVERIFY(lock.error().code != ErrorCode::Busy);
    }

    void aMissingFileIsNotLocked() { QVERIFY(!isLocked("/no/such/file")); }
};

QTEST_GUILESS_MAIN(TestFileLock)
#include "tst_file_lock.moc"
