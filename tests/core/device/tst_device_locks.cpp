// Locks on GPUs between users of one machine. A second user is a child process with another id, so those tests need
// root.
#include "core/device/device_locks.h"

#include <QTemporaryDir>
#include <QtTest>

#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace furrow;

namespace {

constexpr uid_t kNeighbour = 65534; // nobody
const std::vector<WorkerPlacement> kPlacements { { 0, "GPU-5b1e", "NVIDIA H200", 1 }, { 1, "cpu", "CPU", 1 } };

/// What `act` returns when another user calls it: 0 to 255.
int asNeighbour(const std::function<int()>& act)
{
    const pid_t child = ::fork();
    if (child == 0) {
        if (::setgid(kNeighbour) != 0 || ::setuid(kNeighbour) != 0)
            ::_exit(255);
        ::_exit(act());
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 254;
}

} // namespace

class TestDeviceLocks : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> folder_;
    std::filesystem::path shared() const { return folder_->path().toStdString(); }
    std::filesystem::path lockFile() const { return shared() / "furrow-GPU-5b1e.lock"; }

    /// 0 free (and taken while the neighbour looked), else 1 + the code of the error.
    int neighbourTries() const
    {
        return asNeighbour([this] {
            const auto locks = lockDevices(kPlacements, shared());
            return locks.ok() ? 0 : 1 + static_cast<int>(locks.error().code);
        });
    }

private Q_SLOTS:
    void init()
    {
        folder_ = std::make_unique<QTemporaryDir>();
        QCOMPARE(::chmod(folder_->path().toUtf8().constData(), 01777), 0); // as /tmp is
    }

    void aGpuIsHeldByOneRun()
    {
        const auto held = lockDevices(kPlacements, shared());
        QVERIFY(held.ok());
        QCOMPARE(held.value().size(), std::size_t { 1 }); // CPUs are shared
        const auto second = lockDevices(kPlacements, shared());
        QVERIFY(!second.ok());
        QCOMPARE(second.error().code, ErrorCode::Busy);
        QVERIFY2(second.error().message.find("NVIDIA H200 (GPU-5b1e) is in use by another run") != std::string::npos,
            second.error().message.c_str());
    }

    void aLockLeftByOneUserIsFreeForTheNext()
    {
        if (::geteuid() != 0)
            QSKIP("only root can act as another user");
        const mode_t before = ::umask(077); // as a careful user has it
        { // a run that ended: its file stays
            const auto ended = lockDevices(kPlacements, shared());
            QVERIFY(ended.ok());
        }
        ::umask(before);
        QCOMPARE(neighbourTries(), 0);
        // And the other way round: root meets the file of a user, which fs.protected_regular guards in a folder like
        // this.
        QVERIFY(std::filesystem::remove(lockFile()));
        QCOMPARE(neighbourTries(), 0);
        struct stat facts {};
        QCOMPARE(::stat(lockFile().c_str(), &facts), 0);
        QCOMPARE(facts.st_uid, kNeighbour);
        QVERIFY(lockDevices(kPlacements, shared()).ok());
    }

    void aGpuHeldByAnotherUserIsInUse()
    {
        if (::geteuid() != 0)
            QSKIP("only root can act as another user");
        const auto held = lockDevices(kPlacements, shared());
        QVERIFY(held.ok());
        QCOMPARE(neighbourTries(), 1 + static_cast<int>(ErrorCode::Busy));
    }

    void aLockThatMayNotBeReadIsNotCalledInUse()
    {
        if (::geteuid() != 0)
            QSKIP("only root can act as another user");
        QVERIFY(::close(::open(lockFile().c_str(), O_CREAT | O_RDWR, 0600))
            == 0); // as an earlier version left it under a strict umask
        QCOMPARE(neighbourTries(), 1 + static_cast<int>(ErrorCode::Io));
    }

    void aLinkOfThatNameIsRefusedAndItsTargetUntouched()
    {
        const auto target = shared() / "of-somebody-else";
        QCOMPARE(::symlink(target.c_str(), lockFile().c_str()), 0);
        const auto locks = lockDevices(kPlacements, shared());
        QVERIFY(!locks.ok());
        QCOMPARE(locks.error().code, ErrorCode::Io);
        QVERIFY2(locks.error().message.find("is a link") != std::string::npos, locks.error().message.c_str());
        QVERIFY(!std::filesystem::exists(target));
        QCOMPARE(::unlink(lockFile().c_str()), 0);
        QCOMPARE(::mkfifo(lockFile().c_str(), 0666), 0); // must not hang either
        QCOMPARE(lockDevices(kPlacements, shared()).error().code, ErrorCode::Io);
    }

    void theSharedFolderIsTheSameForEverybody()
    {
        qputenv("TMPDIR", folder_->path().toUtf8());
        const auto folder = folderOfSharedLocks();
        qunsetenv("TMPDIR");
        QVERIFY(folder == "/run/lock" || folder == "/tmp");
        QVERIFY(std::filesystem::is_directory(folder));
    }
};

QTEST_GUILESS_MAIN(TestDeviceLocks)
#include "tst_device_locks.moc"
