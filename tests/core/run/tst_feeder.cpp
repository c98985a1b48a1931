#include "feeder_fixture.h"

using namespace furrow;
using namespace furrow::test;

class TestFeeder : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void threeEpochsGoThroughACacheSmallerThanTheData()
    {
        // 12 blocks of about 310 KB in a cache of 1 MB: three fit
        Run run(24'000, 2000, 400, 0.001, 3);
        std::atomic<std::uint64_t> peak = 0;
        const auto looking = good(BlockCache::open(run.paths.cacheFolder(), 0));
        std::jthread watch([&](std::stop_token stop) {
            while (!stop.stop_requested()) {
                peak = std::max(peak.load(), good(looking->usedBytes()));
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        });
        run.startFeeder();
        std::map<std::int64_t, std::map<int, int>> seen;
        PlayedWorker worker(run, 0);
        QCOMPARE(worker.work(seen), 3 * 60);
        verifyEachRowOnceAnEpoch(seen, 3, 24'000);
        QVERIFY2(peak <= static_cast<std::uint64_t>(0.001 * (1 << 30)), std::to_string(peak).c_str());
        QVERIFY(peak > 500 * 1024);
        const auto report = good(audit(run.paths.tracker()));
        QVERIFY2(report.isClean(), auditText(report).c_str());
        run.stopFeeder();
    }

    void damagedBlocksAreFoundAtTheStartOfAnAttemptAndHealed()
    {
        Run run(3000, 300, 50, 0.1, 1);
        run.startFeeder();
        std::map<std::int64_t, std::map<int, int>> seen;
        {
            PlayedWorker worker(run, 0);
            QCOMPARE(worker.work(seen, 3), 3);
        }
        const auto reader = [&] { return good(LedgerReader::open(run.paths.tracker())); };
        QTRY_VERIFY_WITH_TIMEOUT(good(reader().epochs()).at(0).preparedBlocks >= 7, 20'000);
        run.stopFeeder();
        // one in three damaged in a place that only the whole hash sees quickly, one deleted
        int damaged = 0;
        int index = 0;
        for (const auto& entry : std::filesystem::directory_iterator(run.blocks())) {
            if (index++ % 3 != 0)
                continue;
            auto bytes = good(readFile(entry.path()));
            if (damaged++ == 0) {
                std::filesystem::remove(entry.path());
                continue;
            }
            bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 8);
            std::ofstream(entry.path(), std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        }
        QVERIFY(damaged >= 2);
        run.beginAttempt();
        run.startFeeder();
        PlayedWorker worker(run, 1);
        QCOMPARE(worker.work(seen), 57);
        verifyEachRowOnceAnEpoch(seen, 1, 3000);
        int quarantined = 0;
        for (const auto& entry : std::filesystem::directory_iterator(run.blocks()))
            quarantined += entry.path().filename().string().find(".bad-") != std::string::npos ? 1 : 0;
        QCOMPARE(quarantined, damaged - 1);
        QCOMPARE(good(good(LedgerReader::open(run.paths.tracker())).epochs()).at(0).chunks[ChunkState::Poisoned], 0);
        run.stopFeeder();
    }

    void aVanishedShareMakesTheFeederWaitAndSayWhy()
    {
        Run run(3000, 300, 50, 0.1, 1);
        std::filesystem::rename(run.file("data.txt"), run.file("away.txt"));
        run.startFeeder();
        QTRY_VERIFY_WITH_TIMEOUT(good(good(LedgerReader::open(run.paths.tracker())).totals()).feederDoing.find("data.txt") != std::string::npos, 20'000);
        std::filesystem::rename(run.file("away.txt"), run.file("data.txt"));
        const auto reader = [&] { return good(LedgerReader::open(run.paths.tracker())); };
        QTRY_VERIFY_WITH_TIMEOUT(good(reader().epochs()).at(0).preparedBlocks >= 7, 20'000); // as many as it may hold ahead
        std::filesystem::rename(run.file("data.txt"), run.file("away.txt"));
        std::map<std::int64_t, std::map<int, int>> seen;
        {
            PlayedWorker worker(run, 0);
            QCOMPARE(worker.work(seen, 30), 30);
        }
        QTRY_VERIFY_WITH_TIMEOUT(good(reader().totals()).feederDoing.find("data.txt") != std::string::npos, 20'000);
        QTest::qWait(3000); // several tries
        QVERIFY(isAlive(run.feeder->identity()));
        std::filesystem::rename(run.file("away.txt"), run.file("data.txt"));
        PlayedWorker worker(run, 1);
        QCOMPARE(worker.work(seen), 30);
        verifyEachRowOnceAnEpoch(seen, 1, 3000);
        QCOMPARE(good(audit(run.paths.tracker())).epochs.at(0).poisoned, 0);
        run.stopFeeder();
    }

    void aBlockThatAWorkerCannotReadIsPreparedAgain()
    {
        Run run(1200, 300, 50, 0.1, 1);
        run.startFeeder();
        const auto reader = [&] { return good(LedgerReader::open(run.paths.tracker())); };
        QTRY_VERIFY_WITH_TIMEOUT(good(reader().epochs()).at(0).preparedBlocks == 4, 20'000);
        for (const auto& entry : std::filesystem::directory_iterator(run.blocks())) {
            auto bytes = good(readFile(entry.path()));
            for (std::size_t at = 100; at < bytes.size() - 6000; at += 512) // in every chunk
                bytes[at] = static_cast<char>(bytes[at] ^ 1);
            std::ofstream(entry.path(), std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        }
        std::map<std::int64_t, std::map<int, int>> seen;
        PlayedWorker worker(run, 0);
        QCOMPARE(worker.work(seen), 24);
        verifyEachRowOnceAnEpoch(seen, 1, 1200);
        QVERIFY(worker.failures >= 4);
        run.stopFeeder();
    }
};

QTEST_GUILESS_MAIN(TestFeeder)
#include "tst_feeder.moc"
