#include "core/run/folder/run_folder_guard.h"
#include "tests/must_have.h"

#include <QScopeGuard>
#include <QTemporaryDir>
#include <QTest>

#include <filesystem>
#include <fstream>
#include <sys/mount.h>

using namespace furrow;

namespace {

void write(const std::filesystem::path& file, const char* text = "x") { std::ofstream(file) << text; }

} // namespace

class TestRunFolderGuard : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> folder_;
    std::filesystem::path run_;
    std::shared_ptr<const RunFolderGuard> guard_;

    void watch()
    {
        auto watched = RunFolderGuard::watchWithWal(RunPaths(run_));
        QVERIFY(watched.ok());
        guard_ = watched.value();
        QVERIFY(guard_->check().ok());
    }
    QString verdict() const
    {
        const auto status = guard_->check();
        return status.ok() ? QString() : QString::fromStdString(status.error().message);
    }

private Q_SLOTS:
    void init()
    {
        folder_ = std::make_unique<QTemporaryDir>();
        run_ = std::filesystem::path(folder_->path().toStdString()) / "run";
        for (const char* name : { "checkpoints/writing", "checkpoints/r0-1-abc", "telemetry", "logs" })
            std::filesystem::create_directories(run_ / name);
        for (const char* name : { "tracker.sqlite", "tracker.sqlite-wal", "tracker.sqlite-shm" })
            write(run_ / name);
    }

    void whatWasSwappedIsNamed_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* name :
            { "", "checkpoints", "checkpoints/writing", "telemetry", "logs", "tracker.sqlite", "tracker.sqlite-wal" })
            QTest::newRow(*name ? name : "the run itself") << QString::fromLatin1(name);
    }
    void whatWasSwappedIsNamed()
    {
        QFETCH(QString, name);
        watch();
        const auto place = name.isEmpty() ? run_ : run_ / name.toStdString();
        const auto aside = std::filesystem::path(folder_->path().toStdString()) / "aside";
        std::filesystem::rename(place, aside);
        std::filesystem::copy(aside, place, std::filesystem::copy_options::recursive);
        if (place.filename() == "writing")
            write(place / "note");
        QVERIFY2(verdict().contains(QString::fromStdString(place.string())), qPrintable(verdict()));
        QCOMPARE(guard_->check().error().code, ErrorCode::InvalidArgument);
        GuardedFiles files(guard_);
        QVERIFY(!files.removeAll(run_ / "checkpoints/r0-1-abc").ok());
        QVERIFY(!files.create(run_ / "checkpoints/new").ok());
        QVERIFY(!files.rename(run_ / "checkpoints/r0-1-abc", run_ / "checkpoints/other").ok());
        QVERIFY(std::filesystem::exists(run_ / "checkpoints/r0-1-abc") || name == QLatin1String("checkpoints"));
        std::filesystem::rename(place, place.string() + ".other"); // and put back
        std::filesystem::rename(aside, place);
        QCOMPARE(verdict(), QString());
    }

    void aLinkIsRefusedWhereverItComes_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* name :
            { "checkpoints", "checkpoints/removed", "checkpoints/unknown", "telemetry", "logs", "memory", "exports" })
            QTest::newRow(name) << QString::fromLatin1(name);
    }
    void aLinkIsRefusedWhereverItComes()
    {
        QFETCH(QString, name);
        watch();
        const auto elsewhere = std::filesystem::path(folder_->path().toStdString()) / "elsewhere";
        std::filesystem::create_directory(elsewhere);
        std::filesystem::remove_all(run_ / name.toStdString());
        std::filesystem::create_directory_symlink(elsewhere, run_ / name.toStdString());
        QVERIFY2(verdict().contains(name + QLatin1String(" is a link")), qPrintable(verdict()));
        QVERIFY(!RunFolderGuard::watch(RunPaths(run_)).ok()); // at the start too
    }

    void aDiskThatIsAwayMayComeBack()
    {
        watch();
        std::filesystem::rename(run_ / "checkpoints", run_ / "away");
        QCOMPARE(verdict(), QString());
        std::filesystem::create_directory(run_ / "checkpoints"); // its mount point
        QCOMPARE(verdict(), QString());
        std::filesystem::remove(run_ / "checkpoints");
        std::filesystem::rename(run_ / "away", run_ / "checkpoints");
        QCOMPARE(verdict(), QString());
    }

    /// The disk was unmounted while files of it were open.
    void aRunFolderThatIsAwayIsNoOther()
    {
        const auto disk = std::filesystem::path(folder_->path().toStdString()) / "disk";
        std::filesystem::create_directory(disk);
        SKIP_WITHOUT("namespaces", ::mount("none", disk.c_str(), "tmpfs", 0, nullptr) == 0,
            "This user may not mount a disk here: that takes root outside of containers, or CAP_SYS_ADMIN.");
        const auto unmount = qScopeGuard([&disk] { ::umount2(disk.c_str(), MNT_DETACH); });
        std::filesystem::copy(run_, disk / "run", std::filesystem::copy_options::recursive);
        run_ = disk / "run";
        watch();
        QCOMPARE(::umount2(disk.c_str(), MNT_DETACH), 0);
        QCOMPARE(guard_->check().error().code, ErrorCode::NotFound);
        QVERIFY(guard_->checkReplaced().ok());
        QVERIFY(!GuardedFiles(guard_).createFolders(run_ / "logs").ok()); // nothing is made in its place
    }

    void aRunFolderThatWasMovedIsNotWaitedFor()
    {
        watch();
        const auto aside = std::filesystem::path(folder_->path().toStdString()) / "aside";
        std::filesystem::rename(run_, aside);
        QCOMPARE(guard_->checkReplaced().error().code, ErrorCode::InvalidArgument);
        QVERIFY2(verdict().contains(QLatin1String("was moved to ") + aside.c_str()), qPrintable(verdict()));
        QVERIFY(!GuardedFiles(guard_).createFolders(run_ / "logs").ok()); // nothing is made in its place
        std::filesystem::rename(aside, run_);
        QCOMPARE(verdict(), QString());
    }

    void aRunFolderThatWasDeletedIsNotWaitedFor()
    {
        watch();
        std::filesystem::remove_all(run_);
        QCOMPARE(guard_->checkReplaced().error().code, ErrorCode::InvalidArgument);
        QVERIFY2(verdict().contains(QLatin1String("was deleted while")), qPrintable(verdict()));
    }

    void aFolderIsRememberedWhenItIsFirstSeen()
    {
        watch();
        std::filesystem::create_directory(run_ / "checkpoints/removed");
        QCOMPARE(verdict(), QString());
        std::filesystem::rename(run_ / "checkpoints/removed", run_ / "checkpoints/aside");
        std::filesystem::create_directory(run_ / "checkpoints/removed");
        QVERIFY(verdict().contains(QLatin1String("checkpoints/removed")));
    }

    void aWalThatIsGoneIsAnError()
    {
        watch();
        std::filesystem::remove(run_ / "tracker.sqlite-wal");
        QVERIFY(verdict().contains(QLatin1String("tracker.sqlite-wal was deleted or replaced")));
        QVERIFY(guard_->hasOwnTracker());
        QVERIFY(RunFolderGuard::watch(RunPaths(run_)).ok());
    }

    void aRunFolderMayBeReachedThroughALink()
    {
        const auto link = std::filesystem::path(folder_->path().toStdString()) / "link";
        std::filesystem::create_directory_symlink(run_, link);
        const auto watched = RunFolderGuard::watch(RunPaths(link));
        QVERIFY(watched.ok());
        std::filesystem::remove(link);
        std::filesystem::create_directory(std::filesystem::path(folder_->path().toStdString()) / "other");
        std::filesystem::create_directory_symlink("other", link);
        QCOMPARE(watched.value()->check().error().code, ErrorCode::InvalidArgument);
    }
};

QTEST_GUILESS_MAIN(TestRunFolderGuard)
#include "tst_run_folder_guard.moc"
