#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/data/block_cache.h"
#include "core/data/block_manager.h"
#include "core/data/tokenizer/tokenizer.h"
#include "core/run/life_cycle.h"
#include "core/tracker/audit.h"
#include "core/tracker/supervisor_ledger.h"
#include "core/tracker/worker_ledger.h"

#include <QTemporaryDir>
#include <QtTest>

#include <fstream>
#include <map>
#include <thread>

using namespace furrow;

namespace {

template <typename T> T good(Result<T> result)
{
    if (!result.ok())
        qFatal("%s", result.error().message.c_str());
    return std::move(result).value();
}
void good(const Status& status)
{
    if (!status.ok())
        qFatal("%s", status.error().message.c_str());
}

/// A run over `rows` lines that carry their own number, a real feeder process, and a worker played by the test.
class Run {
public:
    Run(int rows, int perBlock, int perChunk, double cacheGiB, std::int64_t epochs)
    {
        std::ofstream text(file("data.txt"), std::ios::binary);
        for (int i = 0; i < rows; ++i)
            text << i << " " << std::string(60, static_cast<char>('a' + i % 26)) << "\n";
        text.close();
        NewRun request;
        request.config.data = { utf8Text(file("data.txt")) };
        request.config.heldOutPercent = 0;
        request.config.samplesPerBlock = perBlock;
        request.config.chunkSamples = perChunk;
        request.config.cacheGiB = cacheGiB;
        request.config.epochs = epochs;
        request.config.shuffleWindowBlocks = 3;
        request.config.prepareAheadBlocks = 1;
        request.config.devices = "cpu";
        request.folder = file("run");
        request.preset = "char";
        paths = good(createRun(request, {}));
        beginAttempt();
    }

    void beginAttempt()
    {
        auto supervisor = good(SupervisorLedger::open(paths.tracker()));
        attempt = good(supervisor.beginAttempt(thisProcess(), "{}"));
    }
    void startFeeder()
    {
        ProcessOptions options;
        options.arguments = { "feed", utf8Text(paths.folder()) };
        options.outputFile = file("feeder.log");
        auto furrowctl = executablePath().parent_path() / "furrowctl";
        furrowctl += executablePath().extension();
        feeder.emplace(good(ChildProcess::start(furrowctl, options)));
    }
    void stopFeeder()
    {
        feeder->requestStop();
        QVERIFY(feeder->wait(std::chrono::seconds(20)).has_value());
        feeder.reset();
    }
    std::filesystem::path file(const char* name) const { return pathFromUtf8(folder_.path().toStdString()) / name; }
    std::filesystem::path blocks() const { return BlockManager::blockFolder(paths.cacheFolder()); }

    RunPaths paths { "" };
    AttemptId attempt;
    std::optional<ChildProcess> feeder;

private:
    QTemporaryDir folder_;
};

/// Claims and "trains" until nothing is left, or `limit` chunks: counts which row it saw in which epoch.
class PlayedWorker {
public:
    PlayedWorker(Run& run, int worker)
        : run_(run)
        , ledger_(good(WorkerLedger::open(run.paths.tracker(), good(readRunFile(run.paths)).runId)))
        , supervisor_(good(SupervisorLedger::open(run.paths.tracker())))
        , reader_(good(LedgerReader::open(run.paths.tracker())))
        , worker_(worker)
    {
        good(ledger_.start({ run.attempt, worker, worker, "cpu", "test" }, 600));
    }

    /// @return chunks trained
    int work(std::map<std::int64_t, std::map<int, int>>& seen, int limit = 1 << 30)
    {
        QElapsedTimer clock;
        clock.start();
        int trained = 0;
        while (trained < limit && clock.elapsed() < 120'000) {
            good(supervisor_.advance());
            auto answer = good(ledger_.claim());
            if (const auto* why = std::get_if<NothingToClaim>(&answer)) {
                if (*why == NothingToClaim::EpochComplete || *why == NothingToClaim::StopRuleReached)
                    break;
                commit();
                std::this_thread::sleep_for(std::chrono::milliseconds(5));
                continue;
            }
            trained += train(std::get<Claim>(answer), seen) ? 1 : 0;
        }
        commit();
        good(supervisor_.advance());
        good(ledger_.end("done"));
        return trained;
    }
    std::int64_t failures = 0;

private:
    bool train(const Claim& claim, std::map<std::int64_t, std::map<int, int>>& seen)
    {
        const auto row = good(reader_.block(claim.block));
        auto block = PreparedBlock::open(run_.blocks() / row.fileName);
        auto text = block.ok() ? block.value().readChunk(claim.column) : Result<ChunkText>(block.error());
        if (!text.ok()) {
            ++failures;
            good(ledger_.fail(claim, text.error().message));
            return false;
        }
        const auto tokenizer = byteTokenizer();
        for (std::size_t i = 0; i + 1 < text.value().offsets.size(); ++i) {
            const auto ids = std::span(text.value().tokens).subspan(text.value().offsets[i], text.value().offsets[i + 1] - text.value().offsets[i]);
            ++seen[claim.epoch][std::stoi(tokenizer->decode(ids))];
        }
        good(ledger_.begin(claim));
        ChunkOutcome outcome;
        outcome.done = claim.remaining;
        outcome.tokens = 10;
        outcome.firstStep = outcome.lastStep = ++step_;
        good(ledger_.finish(claim, outcome));
        for (const auto& range : claim.remaining)
            parts_.push_back({ claim.chunk, range });
        if (parts_.size() >= 7)
            commit();
        return true;
    }
    void commit()
    {
        if (parts_.empty())
            return;
        CheckpointRecord record;
        record.replica = worker_;
        record.folder = "w" + std::to_string(worker_) + "-" + std::to_string(++checkpoints_);
        record.manifestSha256 = "sha";
        if (head_)
            record.parents = { *head_ };
        head_ = good(ledger_.commit(record, parts_));
        parts_.clear();
    }

    Run& run_;
    WorkerLedger ledger_;
    SupervisorLedger supervisor_;
    LedgerReader reader_;
    int worker_;
    std::int64_t step_ = 0;
    int checkpoints_ = 0;
    std::optional<CheckpointId> head_;
    std::vector<Part> parts_;
};

void verifyEachRowOnceAnEpoch(const std::map<std::int64_t, std::map<int, int>>& seen, std::size_t epochs, std::size_t rows)
{
    QCOMPARE(seen.size(), epochs);
    for (const auto& [epoch, counts] : seen) {
        QCOMPARE(counts.size(), rows);
        for (const auto& [row, count] : counts)
            QVERIFY2(count == 1, qPrintable(QString("row %1 %2 times in epoch %3").arg(row).arg(count).arg(epoch)));
    }
}

} // namespace

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
