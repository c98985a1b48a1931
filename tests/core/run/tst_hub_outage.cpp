#include "feeder_fixture.h"
#include "use_hub.h"
#include "tests/fakes/gzip.h"

#include "core/base/random.h"
#include "core/run/status/feeder_words.h"
#include "core/run/status/reading.h"

using namespace furrow;
using namespace furrow::test;

class TestHubOutage : public QObject {
    Q_OBJECT
private Q_SLOTS:
    /// It slept between its tries: nobody heard from it for up to a minute, and it did not stop when asked.
    void anOutageOfTheHubIsToldAndAStopIsHeard()
    {
        FakeHub hub;
        FakeHub::Repository repository;
        for (int row = 0; row < 1200; ++row) // 5 MB: more than is kept from looking at it
            repository.files["train.txt"]
                += std::to_string(row) + " " + std::string(4'000, static_cast<char>('a' + row % 26)) + "\n";
        hub.add("o/n", repository);
        const UseHub use(hub);
        Run run(1200, 300, 50, 0.1, 1, "hf://o/n");
        hub.setAway(true);
        const auto doing = [&] { return good(good(LedgerReader::open(run.paths.tracker())).totals()).feederDoing; };
        run.startFeeder();
        QTRY_VERIFY_WITH_TIMEOUT(
            doing().find("waiting for the data: http") == 0 && doing().find("503") != std::string::npos, 20'000);
        QTRY_VERIFY_WITH_TIMEOUT(
            doing().find("again in 4 s") != std::string::npos, 20'000); // a longer wait is under way
        const Message told = doing(); // the console had its English text only
        const auto* reason = told.isPlain() ? nullptr : std::get_if<Message>(&told.arguments().front().value);
        QVERIFY2(reason != nullptr && reason->id() == kWaitingForData.text(), told.c_str());
        QElapsedTimer stopping;
        stopping.start();
        run.stopFeeder();
        QVERIFY2(stopping.elapsed() < 2500, std::to_string(stopping.elapsed()).c_str());
        run.startFeeder();
        QTRY_VERIFY_WITH_TIMEOUT(doing().find("waiting for the data") == 0, 20'000);
        hub.setAway(false);
        std::map<std::int64_t, std::map<int, int>> seen;
        PlayedWorker worker(run, 0);
        QCOMPARE(worker.work(seen), 24);
        verifyEachRowOnceAnEpoch(seen, 1, 1200);
        run.stopFeeder();
    }

    /// The feeder was "starting" until a file had come, however long that took.
    void aDownloadSaysHowFarItIs()
    {
        FakeHub hub;
        FakeHub::Repository repository;
        for (int row = 0; row < 600; ++row) // 12 MB
            repository.files["train.txt"]
                += std::to_string(row) + " " + std::string(20'000, static_cast<char>('a' + row % 26)) + "\n";
        hub.add("o/n", repository);
        const UseHub use(hub);
        Run run(600, 300, 50, 0.1, 1, "hf://o/n");
        hub.setSpeed(3'000'000);
        const auto doing = [&] { return good(good(LedgerReader::open(run.paths.tracker())).totals()).feederDoing; };
        run.startFeeder();
        QTRY_VERIFY2_WITH_TIMEOUT(doing().find("downloading train.txt: ") == 0
                && doing().find(" of 11.4 MiB at ") != std::string::npos && doing().find(" left") != std::string::npos,
            doing().c_str(), 20'000);
        hub.setSpeed(0);
        run.stopFeeder();
    }

    /// "preparing block 24", then "70.6 KiB of 109.1 KiB at 1.9 KiB/s, 20 s left", while not one byte came; and what
    /// had been prepared by then was not told.
    void aServerThatStoppedInTheMiddleOfItsAnswerWasADownload()
    {
        FakeHub hub;
        FakeHub::Repository repository;
        for (int row = 0; row < 600; ++row) // two files of 6 MB, of ten blocks each
            repository.files[row < 300 ? "train-0.txt" : "train-1.txt"]
                += std::to_string(row) + " " + std::string(20'000, static_cast<char>('a' + row % 26)) + "\n";
        hub.add("o/n", repository);
        const UseHub use(hub);
        Run run(600, 30, 30, 0.1, 1, "hf://o/n");
        hub.setSpeed(3'000'000);
        const auto reader = [&] { return good(LedgerReader::open(run.paths.tracker())); };
        const auto doing = [&] { return good(reader().totals()).feederDoing; };
        run.startFeeder();
        QTRY_VERIFY_WITH_TIMEOUT(good(reader().epochs()).at(0).preparedBlocks >= 1, 20'000);
        const std::int64_t before = systemClock().wallNs();
        hub.setHeld(true);
        QTRY_VERIFY2_WITH_TIMEOUT(isWaitingForData(doing()), doing().c_str(), 20'000);
        const auto outage = dataOutage(doing());
        QVERIFY2(outage && outage->why.starts_with("no byte of train-1.txt comes, ")
                && outage->why.find(" are here") != std::string::npos,
            doing().c_str());
        QVERIFY(outage->sinceWallNs >= before - 1'000'000'000 && outage->sinceWallNs <= systemClock().wallNs());
        QVERIFY(outage->nextTrySeconds >= 10 && outage->nextTrySeconds <= 25); // it gives up after 30 s
        QCOMPARE(readReading(run.paths).value_or(Reading {}).samplesFetched,
            30 * good(reader().epochs()).at(0).preparedBlocks);
        hub.setHeld(false);
        QTRY_VERIFY2_WITH_TIMEOUT(!isWaitingForData(doing()), doing().c_str(), 20'000);
        hub.setSpeed(0);
        std::map<std::int64_t, std::map<int, int>> seen;
        QCOMPARE(PlayedWorker(run, 0).work(seen), 20);
        verifyEachRowOnceAnEpoch(seen, 1, 600);
        run.stopFeeder();
    }

    /// FURROW_OUTAGE_S=600 (with QTEST_FUNCTION_TIMEOUT=900000) makes it the ten minutes that a person may have to
    /// wait.
    void anOutageInTheMiddleCostsTimeAlone()
    {
        constexpr int kFiles = 8;
        constexpr int kRows = 3000;
        FakeHub hub;
        FakeHub::Repository repository;
        std::size_t bytes = 0;
        for (int row = 0; row < kRows; ++row) { // 60 MB: more than is kept from looking at the files before the start
            const std::string line
                = std::to_string(row) + " " + std::string(20'000, static_cast<char>('a' + row % 26)) + "\n";
            repository.files["train-" + std::to_string(row * kFiles / kRows) + ".txt"] += line;
            bytes += line.size();
        }
        hub.add("o/n", repository);
        const UseHub use(hub);
        Run run(kRows, 150, 50, 0.1, 1, "hf://o/n");
        std::map<std::int64_t, std::map<int, int>> seen;
        run.startFeeder();
        const auto doing = [&] { return good(good(LedgerReader::open(run.paths.tracker())).totals()).feederDoing; };
        const auto prepared = [&] {
            return good(good(LedgerReader::open(run.paths.tracker())).epochs()).front().chunks[ChunkState::Free];
        };
        QCOMPARE(PlayedWorker(run, 0).work(seen, 3), 3);
        QTRY_VERIFY_WITH_TIMEOUT(doing() == "waiting: enough is prepared", 20'000);
        hub.setAway(true);
        int trained = 3;
        int worker = 0;
        while (doing().find("waiting for the data") != 0 && prepared() >= 3) { // training goes on with what is prepared
            trained += PlayedWorker(run, ++worker).work(seen, 3);
            QTest::qWait(300);
        }
        QVERIFY(trained > 3 && trained < kRows / 50);
        QTRY_COMPARE_WITH_TIMEOUT(doing().find("waiting for the data"), std::size_t(0), 20'000);
        QTest::qWait(1000 * std::max(2, qEnvironmentVariableIntValue("FURROW_OUTAGE_S")));
        QCOMPARE(doing().find("waiting for the data"), std::size_t(0));
        hub.setAway(false);
        QCOMPARE(PlayedWorker(run, ++worker).work(seen), kRows / 50 - trained);
        verifyEachRowOnceAnEpoch(seen, 1, kRows);
        // The cache is smaller than the data. Planning used to fetch files long before their blocks were prepared, and
        // preparing fetched them again.
        QCOMPARE(hub.storeBytes(), std::uint64_t(bytes));
        run.stopFeeder();
    }

    /// Compressed files have no places to jump to: each is read from its start to make the plan of its blocks.
    void compressedFilesAreFetchedOnceThoughTheCacheHoldsAPart()
    {
        constexpr int kFiles = 8;
        constexpr int kRows = 3000;
        FakeHub hub;
        FakeHub::Repository repository;
        Random random(5);
        std::vector<std::string> texts(kFiles);
        for (int row = 0; row < kRows; ++row) {
            std::string line = std::to_string(row) + " ";
            for (int i = 0; i < 20'000; ++i)
                line += static_cast<char>('0' + random.below(64));
            texts[static_cast<std::size_t>(row * kFiles / kRows)] += line + "\n";
        }
        std::size_t bytes = 0;
        for (int i = 0; i < kFiles; ++i) {
            auto& file = repository.files["train-" + std::to_string(i) + ".txt.gz"]
                = gzip(texts[static_cast<std::size_t>(i)]);
            bytes += file.size();
        }
        hub.add("o/n", repository);
        const UseHub use(hub);
        Run run(kRows, 150, 50, 0.1, 1, "hf://o/n");
        const auto lookedAt = hub.storeBytes();
        run.startFeeder();
        std::map<std::int64_t, std::map<int, int>> seen;
        QCOMPARE(PlayedWorker(run, 0).work(seen), kRows / 50);
        verifyEachRowOnceAnEpoch(seen, 1, kRows);
        QCOMPARE(hub.storeBytes(), std::uint64_t(bytes));
        QVERIFY2(lookedAt < 10'000'000,
            qPrintable(QString::number(lookedAt))); // before the run exists: some megabytes, however large the data
        run.stopFeeder();
    }
};

QTEST_GUILESS_MAIN(TestHubOutage)
#include "tst_hub_outage.moc"
