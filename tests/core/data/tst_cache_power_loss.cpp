#include "tests/fakes/fault_file_system.h"

#include "core/data/source/block_cache.h"

#include <QTemporaryDir>
#include <QTest>

using namespace furrow;

/// The power goes at every single step of putting a file into the cache. A file that has its name afterwards is whole,
/// one that was published is there, and what was half written takes no room.
class TestCachePowerLoss : public QObject {
    Q_OBJECT

    static constexpr const char* kName = "0123456789abcdef0123456789abcdef.block";
    QTemporaryDir folder_;
    int made_ = 0;

    std::filesystem::path freshFolder()
    {
        const std::filesystem::path folder
            = std::filesystem::path(folder_.path().toStdString()) / std::to_string(++made_);
        std::filesystem::create_directories(folder);
        (void)BlockCache::open(folder, 0); // makes its folders
        return folder;
    }

    static std::string content() { return std::string(5000, 'x') + "the end"; }

    static Status store(const std::filesystem::path& folder, FileSystem& files)
    {
        auto cache = BlockCache::open(folder, 1 << 20, files);
        auto file = cache.ok() ? cache.value()->create() : cache.error();
        if (!file.ok())
            return file.error();
        const auto bytes = content();
        for (std::size_t at = 0; at < bytes.size(); at += 1000)
            if (auto status = file.value().append(bytes.data() + at, std::min<std::size_t>(1000, bytes.size() - at));
                !status.ok())
                return status;
        return cache.value()->publish(std::move(file).value(), kBlocks, kName);
    }

    static void lose(FaultFileSystem& files, bool keepsSome, int step)
    {
        if (keepsSome)
            files.powerLossKeepingSome(static_cast<std::uint64_t>(step));
        else
            files.powerLoss();
    }

private Q_SLOTS:
    void aNameMeansAWholeFile_data()
    {
        QTest::addColumn<bool>("keepsSome");
        QTest::newRow("unsynced bytes are gone") << false;
        QTest::newRow("some unsynced bytes survive") << true;
    }

    void aNameMeansAWholeFile()
    {
        QFETCH(bool, keepsSome);
        int steps = 0;
        {
            const auto folder = freshFolder();
            FaultFileSystem files(folder);
            QVERIFY(store(folder, files).ok());
            steps = files.steps();
        }
        QVERIFY(steps > 8);
        for (int step = 1; step <= steps + 1; ++step) {
            const auto folder = freshFolder();
            FaultFileSystem files(folder);
            files.cutPowerAt(step);
            const auto stored = store(folder, files);
            QCOMPARE(stored.ok(), step > steps);
            lose(files, keepsSome, step);

            const auto cache = BlockCache::open(folder, 1 << 20).value();
            const auto found = cache->find(kBlocks, kName);
            if (found)
                QCOMPARE(readFile(*found).value(), content());
            QVERIFY(found || !stored.ok());
            QCOMPARE(cache->usedBytes().value(), found ? content().size() : std::size_t(0));
        }
    }
};

QTEST_GUILESS_MAIN(TestCachePowerLoss)
#include "tst_cache_power_loss.moc"
