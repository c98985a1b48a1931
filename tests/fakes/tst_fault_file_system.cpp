#include "tests/fakes/fault_file_system.h"

#include <QtTest>

#include <set>

using namespace furrow;

class TestFaultFileSystem : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> folder_;
    std::unique_ptr<FaultFileSystem> files_;

    std::filesystem::path root() const { return folder_->path().toStdString(); }
    std::string textOf(const char* name) const
    {
        const auto text = readFile(root() / name);
        return text.ok() ? text.value() : "(missing)";
    }
    /// Writes without syncing the folder.
    Status write(const char* name, std::string_view bytes, bool sync)
    {
        auto file = files_->create(root() / name);
        if (!file.ok())
            return file.error();
        if (auto status = file.value()->append(bytes.data(), bytes.size()); !status.ok())
            return status;
        if (sync)
            return file.value()->sync();
        return file.value()->close();
    }

private Q_SLOTS:
    void init()
    {
        folder_ = std::make_unique<QTemporaryDir>();
        QVERIFY(realFileSystem().create(root() / "old").value()->append("before", 6).ok());
        files_ = std::make_unique<FaultFileSystem>(root());
    }

    void behavesAsARealOneWithoutFaults()
    {
        QVERIFY(files_->createFolders(root() / "a" / "b").ok());
        QVERIFY(write("a/b/f", "text", true).ok());
        QVERIFY(files_->rename(root() / "a", root() / "c").ok());
        QCOMPARE(textOf("c/b/f"), std::string("text"));
        QCOMPARE(files_->read(root() / "c/b/f").value(), std::string("text"));
        QVERIFY(!files_->rename(root() / "c/b/f", root() / "old").ok());
        QVERIFY(files_->replace(root() / "c/b/f", root() / "old").ok());
        QCOMPARE(textOf("old"), std::string("text"));
        QVERIFY(files_->removeAll(root() / "c").ok());
        QVERIFY(files_->removeAll(root() / "c").ok());
        QVERIFY(!files_->create(root() / "c" / "f").ok());
        QVERIFY(!files_->create("/tmp/outside").ok());
    }

    void whatWasThereSurvives()
    {
        files_->powerLoss();
        QCOMPARE(textOf("old"), std::string("before"));
    }

    void aNameNeedsItsFolderSynced()
    {
        QVERIFY(write("f", "text", true).ok());
        files_->powerLoss();
        QCOMPARE(textOf("f"), std::string("(missing)"));
        QVERIFY(write("f", "text", true).ok());
        QVERIFY(files_->syncFolder(root()).ok());
        files_->powerLoss();
        QCOMPARE(textOf("f"), std::string("text"));
    }

    void bytesNeedTheirFileSynced()
    {
        QVERIFY(write("f", "text", false).ok());
        QVERIFY(files_->syncFolder(root()).ok());
        files_->powerLoss();
        QCOMPARE(textOf("f"), std::string());
    }

    void bytesAfterTheSyncAreLost()
    {
        auto file = files_->create(root() / "f");
        QVERIFY(files_->syncFolder(root()).ok());
        QVERIFY(file.value()->append("ab", 2).ok());
        QVERIFY(file.value()->sync().ok());
        QVERIFY(file.value()->append("cd", 2).ok());
        QCOMPARE(textOf("f"), std::string("abcd"));
        files_->powerLoss();
        QCOMPARE(textOf("f"), std::string("ab"));
    }

    void anUnsyncedRenameIsUndone()
    {
        QVERIFY(write("new", "after", true).ok());
        QVERIFY(files_->replace(root() / "new", root() / "old").ok());
        QCOMPARE(textOf("old"), std::string("after"));
        files_->powerLoss();
        QCOMPARE(textOf("old"), std::string("before"));
    }

    void anUnsyncedRemovalIsUndone()
    {
        QVERIFY(files_->removeAll(root() / "old").ok());
        QCOMPARE(textOf("old"), std::string("(missing)"));
        files_->powerLoss();
        QCOMPARE(textOf("old"), std::string("before"));
    }

    void aFolderRenamedDurablyKeepsOnlyWhatWasSyncedInIt()
    {
        QVERIFY(files_->createFolders(root() / "c.tmp").ok());
        QVERIFY(write("c.tmp/synced", "1", true).ok());
        QVERIFY(files_->syncFolder(root() / "c.tmp").ok());
        QVERIFY(write("c.tmp/late", "2", true).ok());
        QVERIFY(files_->rename(root() / "c.tmp", root() / "c").ok());
        QVERIFY(files_->syncFolder(root()).ok());
        files_->powerLoss();
        QCOMPARE(textOf("c/synced"), std::string("1"));
        QCOMPARE(textOf("c/late"), std::string("(missing)"));
        QVERIFY(!std::filesystem::exists(root() / "c.tmp"));
    }

    void durableWriteSurvivesTheCutAtEveryStep()
    {
        QVERIFY(writeFileDurably(*files_, root() / "old", "after").ok());
        const int steps = files_->steps();
        QVERIFY(steps >= 5);
        for (int step = 1; step <= steps; ++step) {
            init();
            files_->cutPowerAt(step);
            QVERIFY(!writeFileDurably(*files_, root() / "old", "after").ok());
            files_->powerLoss();
            QCOMPARE(textOf("old"), std::string("before"));
        }
        init();
        QVERIFY(writeFileDurably(*files_, root() / "old", "after").ok());
        files_->powerLoss();
        QCOMPARE(textOf("old"), std::string("after"));
    }

    void aPartialLossGivesTheOldOrTheNewFile()
    {
        std::set<std::string> seen;
        for (std::uint64_t seed = 0; seed < 200; ++seed) {
            init();
            files_->cutPowerAt(1 + static_cast<int>(seed % 7));
            (void)writeFileDurably(*files_, root() / "old", "after");
            files_->powerLossKeepingSome(seed);
            seen.insert(textOf("old"));
        }
        QCOMPARE(seen, (std::set<std::string> { "before", "after" }));
    }

    void aWriterThatForgetsTheSyncIsCaught()
    {
        std::set<std::string> seen;
        for (std::uint64_t seed = 0; seed < 100; ++seed) {
            init();
            QVERIFY(write("new", "after", false).ok());
            QVERIFY(files_->replace(root() / "new", root() / "old").ok());
            QVERIFY(files_->syncFolder(root()).ok());
            files_->powerLossKeepingSome(seed);
            seen.insert(textOf("old"));
        }
        QVERIFY(seen.contains("") && seen.contains("aft"));
    }

    void aChosenStepFailsOnceAndDoesNothing()
    {
        files_->failAt(2);
        auto file = files_->create(root() / "f");
        QVERIFY(file.ok());
        const Status failed = file.value()->append("ab", 2);
        QCOMPARE(failed.error().code, ErrorCode::Io);
        QCOMPARE(textOf("f"), std::string());
        QVERIFY(file.value()->append("cd", 2).ok());
        QCOMPARE(textOf("f"), std::string("cd"));
        QCOMPARE(files_->history()[1], std::string("append f"));
    }

    void bytesOfAFailedSyncAreNotSavedByTheNext()
    {
        auto file = files_->create(root() / "f");
        QVERIFY(files_->syncFolder(root()).ok());
        QVERIFY(file.value()->append("ab", 2).ok());
        files_->failAt(files_->steps() + 1);
        QVERIFY(!file.value()->sync().ok());
        QVERIFY(file.value()->sync().ok());
        files_->powerLoss();
        QCOMPARE(textOf("f"), std::string());
    }

    void aFullDiskTakesWhatFits()
    {
        files_->fullAfter(3);
        auto file = files_->create(root() / "f");
        QVERIFY(file.value()->append("ab", 2).ok());
        const Status full = file.value()->append("cd", 2);
        QVERIFY(full.error().message.find("disk is full") != std::string::npos);
        QCOMPARE(textOf("f"), std::string("abc"));
        files_->fullAfter(UINT64_MAX);
        QVERIFY(file.value()->append("e", 1).ok());
    }

    void aFullDiskLeavesTheOldFile()
    {
        files_->fullAfter(2);
        QVERIFY(!writeFileDurably(*files_, root() / "old", "after").ok());
        QCOMPARE(textOf("old"), std::string("before"));
        QCOMPARE(std::distance(std::filesystem::directory_iterator(root()), {}), 1);
    }

    void filesMadeByOthersAreTakenAsDurable()
    {
        QVERIFY(writeFileDurably(realFileSystem(), root() / "theirs", "x").ok());
        QVERIFY(files_->rename(root() / "theirs", root() / "ours").ok());
        files_->powerLoss();
        QCOMPARE(textOf("theirs"), std::string("x"));
        QCOMPARE(textOf("ours"), std::string("(missing)"));
    }
};

QTEST_GUILESS_MAIN(TestFaultFileSystem)
#include "tst_fault_file_system.moc"
