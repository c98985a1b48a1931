#include "core/run/status/row_fates.h"
#include "feeder_fixture.h"

#include "core/base/random.h"
#include "core/base/sentence.h"
#include "core/data/source/came_wrong.h"
#include "core/run/audit/run_audit.h"
#include "core/run/status/chunk_view.h"
#include "core/run/status/data_wait.h"
#include "core/run/status/data_words.h"
#include "core/run/start/chunk_decisions.h"
#include "core/run/start/data_outlook.h"
#include "core/run/start/life_cycle.h"
#include "core/run/start/wrong_transfers.h"
#include "core/run/status/reading.h"
#include "core/run/status/run_status.h"
#include "core/run/status/unreadable_rows.h"
#include "core/run/supervise/attempt_end.h"
#include "core/tracker/feeder_ledger.h"
#include "core/tracker/named_chunks.h"
#include "tests/fakes/gzip.h"

#include <algorithm>
#include <nlohmann/json.hpp>

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

    void aRunBeginsWithTheChosenChunkAndTrainsTheSame()
    {
        std::map<std::string, std::uint64_t> digests;
        for (const std::string start : { "", "2:3" }) {
            Run run(1200, 300, 50, 0.1, 1, {}, Duplicates::Report, start);
            run.startFeeder();
            std::map<std::int64_t, std::map<int, int>> seen;
            QCOMPARE(PlayedWorker(run, 0).work(seen), 24);
            verifyEachRowOnceAnEpoch(seen, 1, 1200);
            run.stopFeeder();
            const auto report = good(audit(run.paths.tracker()));
            QVERIFY2(report.isClean(), auditText(report).c_str());
            digests[start] = report.epochs.at(0).digest;
            const auto first = good(good(LedgerReader::open(run.paths.tracker())).claimsSince(0, 1)).at(0).chunk;
            QVERIFY(start.empty() || first == chunkIdOf({ 0, 2, 3 }));
        }
        QCOMPARE(digests.at("2:3"), digests.at(""));
    }

    void aStartThatDoesNotExistIsRefusedBeforeThereIsARun()
    {
        QTemporaryDir folder;
        NewRun request;
        request.config.data = { folder.path().toStdString() + "/data.txt" };
        std::ofstream(request.config.data[0], std::ios::binary) << Run::lines(1200);
        request.config.samplesPerBlock = 300;
        request.config.chunkSamples = 50;
        request.config.heldOutPercent = 0;
        request.config.devices = "cpu";
        request.folder = folder.path().toStdString() + "/run";
        for (const auto& [start, range] : { std::pair { "4:0", "has the blocks 0 to 3." },
                 { "3:6", "block 3 has the chunks 0 to 5." }, { "three", "allowed is BLOCK:CHUNK" } }) {
            request.config.startAt = start;
            const auto made = createRun(request, {});
            QVERIFY2(!made.ok() && made.error().message.find(range) != std::string::npos,
                made.ok() ? start : made.error().message.c_str());
            QVERIFY(!std::filesystem::exists(request.folder));
        }
        request.config.startAt = "3:5";
        qputenv("HF_TOKEN", QByteArray::fromStdString(request.folder.filename().string() + "-of-a-token"));
        request.folder += "-of-a-token"; // it would stand in each status
        const auto shown = createRun(request, {});
        qunsetenv("HF_TOKEN");
        QVERIFY2(!shown.ok()
                && shown.error().message.find("secret of the environment variable HF_TOKEN") != std::string::npos
                && shown.error().message.find("-token") == std::string::npos,
            shown.ok() ? "" : shown.error().message.c_str());
        QVERIFY(createRun(request, {}).ok());
    }

    /// mkdir p; chmod 0700 p; new --out p: p was removed, and everybody could read the run that took its name.
    void aRunInAPrivateFolderWasForEverybodyToRead()
    {
        QTemporaryDir folder;
        NewRun request;
        request.config.data = { folder.path().toStdString() + "/data.txt" };
        std::ofstream(request.config.data[0], std::ios::binary) << Run::lines(1200);
        request.config.samplesPerBlock = 300;
        request.config.chunkSamples = 50;
        request.config.devices = "cpu";
        request.folder = folder.path().toStdString() + "/run";
        std::filesystem::create_directory(request.folder);
        std::filesystem::permissions(request.folder, std::filesystem::perms::owner_all);
        request.config.startAt = "4:0"; // there is none
        QVERIFY(!createRun(request, {}).ok());
        QVERIFY(std::filesystem::is_empty(request.folder));
        request.config.startAt = "";
        const auto paths = good(createRun(request, {}));
#ifndef Q_OS_WIN
        QVERIFY(std::filesystem::status(request.folder).permissions() == std::filesystem::perms::owner_all);
#endif
        QVERIFY(std::filesystem::exists(paths.configFile()) && std::filesystem::exists(paths.tracker()));
        for (const auto& entry : std::filesystem::directory_iterator(request.folder))
            QVERIFY(entry.path().filename().string().find(".new-") == std::string::npos);
    }

    /// Data that must be expanded is not cut before the run: only the feeder can find out that the chunk to start at
    /// does not exist.
    void aStartThatDoesNotExistIsRefusedByTheFeeder_data()
    {
        QTest::addColumn<QString>("start");
        QTest::addColumn<QString>("range");
        QTest::newRow("no such block") << "4:0" << "4:0, but the data has the blocks 0 to 3.";
        QTest::newRow("no such chunk") << "3:6" << "3:6, but block 3 has the chunks 0 to 5.";
    }
    void aStartThatDoesNotExistIsRefusedByTheFeeder()
    {
        QFETCH(QString, start);
        QFETCH(QString, range);
        QTemporaryDir folder;
        const std::string data = folder.path().toStdString() + "/data.txt.gz";
        std::ofstream(data, std::ios::binary) << gzip(Run::lines(1200));
        Run run(1200, 300, 50, 0.1, 1, data, Duplicates::Report, start.toStdString());
        run.startFeeder();
        const auto reader = [&] { return good(LedgerReader::open(run.paths.tracker())); };
        const std::string wanted = "start_at is " + range.toStdString() + " Begin a new run with another one.";
        QTRY_COMPARE_WITH_TIMEOUT(good(reader().totals()).feederDoing, wanted, 20'000);
        QCOMPARE(good(good(SupervisorLedger::open(run.paths.tracker())).advance()).gaveUp,
            wanted); // what the attempt ends with
        QCOMPARE(good(reader().epochs()).at(0).preparedBlocks, 0); // nothing was given out before
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
            std::ofstream(entry.path(), std::ios::binary)
                .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
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
        QTRY_VERIFY_WITH_TIMEOUT(
            good(good(LedgerReader::open(run.paths.tracker())).totals()).feederDoing.find("data.txt")
                != std::string::npos,
            20'000);
        std::filesystem::rename(run.file("away.txt"), run.file("data.txt"));
        const auto reader = [&] { return good(LedgerReader::open(run.paths.tracker())); };
        QTRY_VERIFY_WITH_TIMEOUT(
            good(reader().epochs()).at(0).preparedBlocks >= 7, 20'000); // as many as it may hold ahead
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

    /// Its folder and disk are there: nothing brings it back by itself, and the run waited for ever.
    void aFileThatWasRemovedWasWaitedFor()
    {
        qputenv("FURROW_REMOVED_PATIENCE_S", "1");
        Run run(3000, 300, 50, 0.1, 1);
        run.startFeeder();
        const auto reader = [&] { return good(LedgerReader::open(run.paths.tracker())); };
        QTRY_VERIFY_WITH_TIMEOUT(good(reader().epochs()).at(0).preparedBlocks >= 7, 20'000);
        std::filesystem::rename(run.file("data.txt"), run.file("away.txt"));
        std::map<std::int64_t, std::map<int, int>> seen;
        QCOMPARE(PlayedWorker(run, 0).work(seen, 30), 30); // the feeder wants more blocks now
        auto supervisor = good(SupervisorLedger::open(run.paths.tracker()));
        QTRY_VERIFY_WITH_TIMEOUT(
            good(supervisor.advance()).gaveUp.find("data.txt was removed") != std::string::npos, 20'000);
        QVERIFY(good(supervisor.advance()).gaveUp.find("--bad-files leave_out") != std::string::npos);
        run.stopFeeder();
        qunsetenv("FURROW_REMOVED_PATIENCE_S");
        std::filesystem::rename(run.file("away.txt"), run.file("data.txt"));
        run.beginAttempt();
        run.startFeeder();
        QCOMPARE(PlayedWorker(run, 1).work(seen), 30);
        verifyEachRowOnceAnEpoch(seen, 1, 3000);
        run.stopFeeder();
    }

    /// An attempt waited for ever for what ended the one before it after 20 s.
    void aFileThatWasGoneBeforeTheAttemptBeganWasWaitedFor()
    {
        qputenv("FURROW_REMOVED_PATIENCE_S", "1");
        Run run(1200, 300, 50, 0.1, 1);
        std::filesystem::rename(run.file("data.txt"), run.file("away.txt"));
        run.startFeeder();
        auto supervisor = good(SupervisorLedger::open(run.paths.tracker()));
        QTRY_VERIFY_WITH_TIMEOUT(!good(supervisor.advance()).gaveUp.empty(), 20'000);
        const std::string why = good(supervisor.advance()).gaveUp;
        QVERIFY2(why.starts_with(utf8Text(run.file("data.txt")) + " was removed. The data changed"), why.c_str());
        QVERIFY2(why.find("--bad-files leave_out") != std::string::npos && why.find('\n') == std::string::npos
                && why.find("␊") == std::string::npos,
            why.c_str());
        run.stopFeeder();
        qunsetenv("FURROW_REMOVED_PATIENCE_S");
    }

    /// A run whose disk was not mounted was shown as healthy, with a worker that warms up and the end of the epoch.
    void aRunThatWaitedForItsDiskWasShownAsHealthy()
    {
        qputenv("FURROW_REMOVED_PATIENCE_S", "1");
        QTemporaryDir outside;
        const auto disk = pathFromUtf8(outside.path().toStdString()) / "disk";
        std::filesystem::create_directory(disk);
        std::ofstream(disk / "data.txt", std::ios::binary) << Run::lines(1200);
        Run run(1200, 300, 50, 0.1, 1, utf8Text(disk / "data.txt"));
        std::filesystem::rename(disk, pathFromUtf8(outside.path().toStdString()) / "off");
        std::filesystem::create_directory(disk); // where it is mounted
        const std::int64_t before = systemClock().wallNs();
        run.startFeeder();
        const auto doing = [&] { return good(good(LedgerReader::open(run.paths.tracker())).totals()).feederDoing; };
        QTRY_VERIFY_WITH_TIMEOUT(isWaitingForData(doing()), 20'000);
        const std::int64_t begun = systemClock().wallNs();
        QTest::qWait(7000); // longer than a removed file has, and into the second wait
        QVERIFY(isAlive(run.feeder->identity()));
        RunStatus status;
        status.state = RunState::Running;
        status.reading = Reading {};
        status.reading->doing = doing();
        sayThatItWaitsForData(status);
        QVERIFY2(status.dataWait && status.hindrance && !status.dataWait->trainsOn, status.reading->doing.c_str());
        QVERIFY(status.dataWait->sinceWallNs >= before && status.dataWait->sinceWallNs <= begun);
        QCOMPARE(status.hindrance->words.text(), std::string("waiting for its data"));
        QCOMPARE(status.evidence.front(), status.dataWait->sentence);
        for (const std::string& part :
            { utf8Text(disk / "data.txt"), std::string("since "), std::string("Next try in ") })
            QVERIFY2(status.dataWait->sentence.find(part) != std::string::npos, status.dataWait->sentence.c_str());
        std::filesystem::remove(disk);
        std::filesystem::rename(pathFromUtf8(outside.path().toStdString()) / "off", disk);
        std::map<std::int64_t, std::map<int, int>> seen;
        QCOMPARE(PlayedWorker(run, 0).work(seen), 24);
        QVERIFY(!isWaitingForData(doing()));
        run.stopFeeder();
        qunsetenv("FURROW_REMOVED_PATIENCE_S");
    }

    /// "epoch 1: 50 chunks trained, not in a checkpoint yet", once for each of nine epochs.
    void eachOfManyOpenEpochsSaidTheSame()
    {
        Run run(60, 60, 30, 0.1, 3);
        run.startFeeder();
        auto supervisor = good(SupervisorLedger::open(run.paths.tracker()));
        auto worker = good(WorkerLedger::open(run.paths.tracker(), good(readRunFile(run.paths)).runId));
        good(worker.start({ run.attempt, 0, 0, "cpu", "test" }, 600));
        int trained = 0;
        const auto train = [&] {
            good(supervisor.advance());
            auto answer = good(worker.claim());
            if (const auto* claim = std::get_if<Claim>(&answer)) {
                good(worker.begin(*claim));
                ChunkOutcome outcome;
                outcome.done = claim->remaining;
                outcome.firstStep = outcome.lastStep = ++trained;
                good(worker.finish(*claim, outcome));
            }
            const auto epochs = good(good(LedgerReader::open(run.paths.tracker())).epochs());
            return epochs.size() == 3 && std::all_of(epochs.begin(), epochs.end(), [](const EpochRow& epoch) {
                return epoch.chunks.sum() > 0 && epoch.chunks[ChunkState::Trained] == epoch.chunks.sum();
            });
        };
        QTRY_VERIFY_WITH_TIMEOUT(train(), 20'000);
        run.stopFeeder();
        const auto open = good(readStatus(run.paths)).keepsEpochOpen;
        QCOMPARE(open.size(), std::size_t(1));
        QCOMPARE(open.front().text(),
            "epochs 1 to 3: " + std::to_string(trained) + " chunks trained, not in a checkpoint yet");
    }

    /// It said what would be trained, and no word of the file without which nothing can be.
    void aDryRunWasSilentAboutAFileThatIsGone()
    {
        const Run run(1200, 300, 50, 0.1, 1);
        const RunConfig config = good(readRunFile(run.paths)).config;
        const auto refusal = [&] {
            const Status answer = refuseChangedData(good(lookAtData(run.paths)), config);
            return answer.ok() ? std::string() : answer.error().message.text();
        };
        QCOMPARE(refusal(), std::string());
        std::filesystem::rename(run.file("data.txt"), run.file("away.txt"));
        QVERIFY2(
            refusal().find(utf8Text(run.file("data.txt")) + " was removed") != std::string::npos, refusal().c_str());
        std::ofstream(run.file("data.txt"), std::ios::binary) << "another one\n";
        QVERIFY2(refusal().find("data.txt has 12 bytes, had ") != std::string::npos, refusal().c_str());
    }

    /// "It keeps 121 chunks, 179 free" of a run whose data was another one of the same size, and the resume failed.
    void aDryRunSaidThatARunGoesOnWhoseDataHasOtherContent()
    {
        Run run(1200, 300, 50, 0.1, 1);
        std::string other = Run::lines(1200);
        std::replace(other.begin(), other.end(), 'a', 'b');
        std::ofstream(run.file("data.txt"), std::ios::binary) << other;
        const auto data = good(lookAtData(run.paths));
        const Status dry = refuseChangedData(data, good(readRunFile(run.paths)).config);
        QVERIFY(!dry.ok());
        QVERIFY2(
            dry.error().message.find("data.txt has other content") != std::string::npos, dry.error().message.c_str());
        run.startFeeder();
        auto supervisor = good(SupervisorLedger::open(run.paths.tracker()));
        QTRY_VERIFY_WITH_TIMEOUT(!good(supervisor.advance()).gaveUp.empty(), 20'000);
        QCOMPARE(std::string(good(supervisor.advance()).gaveUp), dry.error().message.text());
        run.stopFeeder();
    }

    /// The same with bad_files=leave_out: "177 free", and the resume left out 150 of them.
    void aDryRunCalledFreeWhatTheResumeLeftOut()
    {
        Run run(3000, 300, 50, 0.1, 1, {}, Duplicates::Report, {}, BadFiles::LeaveOut);
        const RunConfig config = good(readRunFile(run.paths)).config;
        const auto epoch = [&run] { return good(good(LedgerReader::open(run.paths.tracker())).epochs()).at(0); };
        run.startFeeder();
        QTRY_VERIFY_WITH_TIMEOUT(epoch().preparedBlocks >= 7 && epoch().blockCount == 10, 20'000);
        run.stopFeeder();
        const auto saidNow
            = [&] { return leftOutOf(good(lookAtData(run.paths)), config, good(planResume(run.paths)).effect); };
        QCOMPARE(saidNow().chunks, 0);
        std::string other = Run::lines(3000);
        std::replace(other.begin(), other.end(), 'a', 'b');
        std::ofstream(run.file("data.txt"), std::ios::binary) << other;
        const auto said = saidNow();
        QVERIFY(said.chunks > 0);
        QCOMPARE(said.rows, 0);
        const auto notes = dataNotes(good(lookAtData(run.paths)), config, good(planResume(run.paths)).effect);
        QCOMPARE(notes.size(), std::size_t(1));
        QVERIFY2(notes.front().find("Chunks of the epochs that are open: " + std::to_string(said.chunks))
                != std::string::npos,
            notes.front().c_str());
        run.beginAttempt();
        run.startFeeder();
        std::map<std::int64_t, std::map<int, int>> seen;
        QCOMPARE(PlayedWorker(run, 0).work(seen), 60 - static_cast<int>(said.chunks));
        QCOMPARE(epoch().chunks[ChunkState::Excluded], said.chunks);
        run.stopFeeder();
    }

    void aSourceThatChangesStopsTheFeederWithWhatCanBeDone()
    {
        Run run(3000, 300, 50, 0.1, 1);
        run.startFeeder();
        const auto reader = [&] { return good(LedgerReader::open(run.paths.tracker())); };
        QTRY_VERIFY_WITH_TIMEOUT(good(reader().epochs()).at(0).preparedBlocks >= 7, 20'000);
        std::string other = Run::lines(3000);
        std::replace(other.begin(), other.end(), 'a', 'b');
        std::ofstream(run.file("data.txt"), std::ios::binary) << other;
        std::map<std::int64_t, std::map<int, int>> seen;
        QCOMPARE(PlayedWorker(run, 0).work(seen, 30), 30); // the feeder wants more blocks now
        auto supervisor = good(SupervisorLedger::open(run.paths.tracker()));
        QTRY_VERIFY_WITH_TIMEOUT(good(supervisor.advance()).gaveUp.find("data.txt") != std::string::npos, 20'000);
        const std::string why = good(supervisor.advance()).gaveUp;
        for (const char* choice : { "Restore the data", "--bad-files leave_out", "start a new run" })
            QVERIFY2(why.find(choice) != std::string::npos, why.c_str());
        QVERIFY(isAlive(run.feeder->identity()));
        QCOMPARE(good(reader().epochs()).at(0).chunks[ChunkState::Poisoned], 0);
        run.stopFeeder();
        std::ofstream(run.file("data.txt"), std::ios::binary) << Run::lines(3000); // restored
        run.beginAttempt();
        run.startFeeder();
        QCOMPARE(PlayedWorker(run, 1).work(seen), 30);
        verifyEachRowOnceAnEpoch(seen, 1, 3000);
        run.stopFeeder();
    }

    /// A later attempt prepares no text anew: its share of what had been seen before was 0, and status fell silent.
    void aResumeForgotWhatTheTextOfTheRunIsLike()
    {
        QTemporaryDir folder;
        const std::string repeats = folder.path().toStdString() + "/repeats.txt";
        std::ofstream(repeats, std::ios::binary) << Run::lines(100) + Run::lines(100) + Run::lines(100);
        Run run(10, 50, 25, 0.1, 1, repeats);
        const auto share = [&run] {
            const auto reading = readReading(run.paths);
            return reading && reading->attempt == run.attempt.value ? reading->repeatedShare : -1.0;
        };
        const auto prepared
            = [&run] { return good(good(LedgerReader::open(run.paths.tracker())).epochs()).at(0).preparedBlocks; };
        run.startFeeder();
        QTRY_COMPARE_WITH_TIMEOUT(prepared(), 6, 20'000);
        QTRY_VERIFY_WITH_TIMEOUT(share() > 0.6, 20'000);
        run.stopFeeder();
        const double before = share();
        run.beginAttempt();
        run.startFeeder();
        QTRY_VERIFY_WITH_TIMEOUT(share() >= 0, 20'000);
        QCOMPARE(share(), before);
        run.stopFeeder();
    }

    /// A block holds the end of one file, all of another and the beginning of a third. When the second was changed,
    /// the rows of the others were left out too, and nobody named them.
    void rowsOfGoodFilesWereLeftOutWithTheirBlock()
    {
        QTemporaryDir folder;
        const auto write = [&folder](const char* name, const std::string& text) {
            std::ofstream(folder.path().toStdString() + "/" + name, std::ios::binary) << text;
        };
        write("a.txt", Run::lines(3100));
        write("b.txt", Run::lines(30, 3100));
        write("c.txt", Run::lines(470, 3130));
        Run run(10, 300, 50, 0.1, 2, folder.path().toStdString(), Duplicates::Report, {}, BadFiles::LeaveOut);
        run.startFeeder();
        const auto reader = [&] { return good(LedgerReader::open(run.paths.tracker())); };
        QTRY_VERIFY_WITH_TIMEOUT(
            good(reader().epochs()).at(0).preparedBlocks >= 7 && good(reader().epochs()).at(0).blockCount == 12,
            20'000);
        write("b.txt", Run::lines(31, 3100));
        std::map<std::int64_t, std::map<int, int>> seen;
        PlayedWorker(run, 0).work(seen);
        verifyEachRowOnceAnEpoch(seen, 2, 3600 - 30);
        for (int row = 3100; row < 3130; ++row)
            QVERIFY(!seen[0].contains(row) && !seen[1].contains(row));
        const auto said = good(leftOutOfTheData(run.paths.tracker(), -1));
        const bool isNamed = std::any_of(said.begin(), said.end(), [](const LeftOutPart& one) {
            return one.what.find("30 rows of block 10") != std::string::npos
                && one.what.find("b.txt") != std::string::npos;
        });
        QVERIFY2(isNamed, said.empty() ? "nothing" : said.back().what.c_str());
        run.stopFeeder();
        const auto report = good(audit(run.paths.tracker()));
        QVERIFY2(report.isClean(), auditText(report).c_str());
        QCOMPARE(report.epochs.at(1).rows.filtered, 30);
    }

    /// One file that had changed or was away kept `audit --deep` from comparing any other, and where the run had left
    /// it out by name the advice was to do that.
    void oneFileThatChangedKeptTheAuditFromComparingTheOthers()
    {
        QTemporaryDir folder;
        const auto write = [&folder](const char* name, const std::string& text) {
            std::ofstream(folder.path().toStdString() + "/" + name, std::ios::binary) << text;
        };
        write("a.txt", Run::lines(1200));
        write("b.txt", Run::lines(600, 1200));
        Run run(10, 300, 50, 0.1, 1, folder.path().toStdString(), Duplicates::Report, {}, BadFiles::LeaveOut);
        run.startFeeder();
        std::map<std::int64_t, std::map<int, int>> seen;
        QCOMPARE(PlayedWorker(run, 0).work(seen), 36);
        run.stopFeeder();
        std::vector<Message> notInspected;
        const auto ofSource = [&run, &notInspected] {
            const auto report = good(auditRun(run.paths, AuditDepth::Deep));
            notInspected = report.notInspected;
            const auto found = std::ranges::find(report.inspections, Evidence::Source, &AuditInspection::what);
            return found == report.inspections.end() ? AuditInspection() : *found;
        };
        QVERIFY(QFile::rename(folder.filePath(QStringLiteral("b.txt")), folder.filePath(QStringLiteral("b.away"))));
        AuditInspection source = ofSource();
        QCOMPARE(source.inspected, 4);
        QCOMPARE(source.unreadable, 2);
        QCOMPARE(source.wrong, 0);
        write("b.txt", Run::lines(601, 1200));
        source = ofSource();
        QCOMPARE(source.inspected, 4);
        QCOMPARE(source.unreadable, 0);
        QCOMPARE(source.wrong, 1);
        run.beginAttempt();
        run.startFeeder();
        QTRY_VERIFY_WITH_TIMEOUT(!good(leftOutOfTheData(run.paths.tracker(), -1)).empty(), 20'000);
        run.stopFeeder();
        source = ofSource();
        QCOMPARE(source.inspected, 4);
        QCOMPARE(source.unreadable, 0);
        QCOMPARE(source.wrong, 0);
        QVERIFY(std::ranges::any_of(notInspected, [](const Message& one) {
            return one.find("b.txt") != std::string::npos && one.find("left out by name") != std::string::npos;
        }));
    }

    /// The rows of a file that had changed were left out of all later epochs, though the file was as it was again: an
    /// epoch of 0 chunks was complete, and the run was finished. Rows of other files that went along were not named.
    void aFileThatCameBackStayedLeftOut()
    {
        QTemporaryDir folder;
        const auto write = [&folder](const char* name, const std::string& text) {
            std::ofstream(folder.path().toStdString() + "/" + name, std::ios::binary) << text;
        };
        write("a.txt", Run::lines(3100));
        write("b.txt", Run::lines(500, 3100));
        Run run(10, 300, 50, 0.1, 1, folder.path().toStdString(), Duplicates::Report, {}, BadFiles::LeaveOut);
        run.startFeeder();
        const auto reader = [&] { return good(LedgerReader::open(run.paths.tracker())); };
        QTRY_VERIFY_WITH_TIMEOUT(
            good(reader().epochs()).at(0).preparedBlocks >= 7 && good(reader().epochs()).at(0).blockCount == 12,
            20'000);
        run.stopFeeder();
        std::filesystem::remove_all(run.paths.cacheFolder()); // what was prepared is away too
        write("a.txt", "other\n");
        std::map<std::int64_t, std::map<int, int>> seen;
        int worker = 0;
        const auto attempt = [&](std::int64_t epochs) {
            good(good(SupervisorLedger::open(run.paths.tracker())).setStoppingRules({ .epochs = epochs }));
            run.beginAttempt();
            run.startFeeder();
            PlayedWorker(run, worker++).work(seen);
            run.stopFeeder();
        };
        const auto says = [&](const std::string& words) {
            const auto said = good(leftOutOfTheData(run.paths.tracker(), -1));
            return std::ranges::count_if(
                said, [&](const LeftOutPart& one) { return one.what.find(words) != std::string::npos; });
        };
        attempt(1);
        QVERIFY(seen[0].size() >= 300 && seen[0].size() <= 500 && seen[0].begin()->first >= 3100);
        QCOMPARE(says("left out: " + folder.path().toStdString() + "/a.txt has 6 bytes"), 1);
        QCOMPARE(says("as it was"), 0);
        QCOMPARE(says("200 other rows of block 10"), seen[0].size() == 300 ? 1 : 0);
        attempt(2); // it is looked at again, and left out again
        QCOMPARE(seen[1].size(), seen[0].size());
        write("a.txt", Run::lines(3100));
        attempt(4);
        QCOMPARE(seen[2].size(), seen[0].size() == 300 ? std::size_t(3600) : std::size_t(3500));
        QCOMPARE(seen[3].size(), seen[2].size());
        QCOMPARE(says("left out: " + folder.path().toStdString() + "/a.txt has 6 bytes"), 1);
        QCOMPARE(says("a.txt is again as it was when the run was made"), 1);
        const auto report = good(audit(run.paths.tracker()));
        QVERIFY2(report.isClean(), auditText(report).c_str());
        for (std::size_t epoch = 0; epoch < 4; ++epoch)
            QVERIFY(report.epochs.at(epoch).complete);
    }

    /// A file went while the run trained: the texts of its rows that were left out stood whole in another file, whose
    /// rows counted as their repeats. Nobody said so, and eval said of all texts that they were trained.
    void textsThatNoRowTrainsWereNotSaid()
    {
        QTemporaryDir folder;
        const auto write = [&folder](const char* name, const std::string& text) {
            std::ofstream(folder.path().toStdString() + "/" + name, std::ios::binary) << text;
        };
        write("a.txt", Run::lines(3000));
        write("b.txt", Run::lines(3300));
        Run run(10, 300, 50, 0.1, 1, folder.path().toStdString(), Duplicates::Skip, {}, BadFiles::LeaveOut);
        run.startFeeder();
        const auto reader = [&] { return good(LedgerReader::open(run.paths.tracker())); };
        QTRY_VERIFY_WITH_TIMEOUT(
            good(reader().epochs()).at(0).preparedBlocks >= 4 && good(reader().epochs()).at(0).blockCount == 21,
            20'000);
        write("a.txt", "other\n");
        std::map<std::int64_t, std::map<int, int>> seen;
        PlayedWorker(run, 0).work(seen);
        run.stopFeeder();
        const auto trained = static_cast<std::int64_t>(seen[0].size());
        QVERIFY2(trained >= 1200 + 300 && trained < 3300, std::to_string(trained).c_str());
        for (const auto& [row, count] : seen[0])
            QCOMPARE(count, 1);
        const auto reading = readReading(run.paths);
        QVERIFY(reading.has_value());
        QCOMPARE(reading->untrainedTexts, 3300 - trained);
        const auto said = textsWithoutARowInWords(reading->untrainedTexts);
        QVERIFY2(said.find("are not trained at all") != std::string::npos, said.c_str());

        auto ledger = reader();
        const auto isTrained
            = good(trainedRows(ledger, good(readRunFile(run.paths)).dataManifest, run.paths.duplicatesFile()));
        std::int64_t rows = 0;
        for (std::int64_t row = 0; row < 3300; ++row)
            rows += (row < 3000 && isTrained({ 0, row }) ? 1 : 0) + (isTrained({ 1, row }) ? 1 : 0);
        QCOMPARE(rows, trained);
    }

    /// Rows of a chunk of which every step was NaN counted as trained: eval said of their texts that the weights had
    /// seen them.
    void rowsWithoutAFiniteStepCountedAsTrained()
    {
        Run run(1200, 300, 50, 0.1, 1);
        run.startFeeder();
        std::map<std::int64_t, std::map<int, int>> seen;
        PlayedWorker worker(run, 0);
        worker.untrained = 2;
        QCOMPARE(worker.work(seen), 24);
        run.stopFeeder();
        QCOMPARE(seen[0].size(), std::size_t(1100));
        auto ledger = good(LedgerReader::open(run.paths.tracker()));
        const auto isTrained
            = good(trainedRows(ledger, good(readRunFile(run.paths)).dataManifest, run.paths.duplicatesFile()));
        for (int row = 0; row < 1200; ++row)
            QCOMPARE(isTrained({ 0, row }), seen[0].contains(row));
    }

    void rubbishStopsTheRunBeforeItIsTrained()
    {
        QTemporaryDir folder;
        const std::string file = folder.path().toStdString() + "/rows.jsonl";
        {
            std::ofstream out(file, std::ios::binary);
            for (int i = 0; i < 3000; ++i)
                out << (i % 20 == 7 ? "{\"text\": torn\n" : "{\"text\":\"" + std::to_string(i) + " row\"}\n");
        }
        Run run(10, 300, 150, 0.1, 1, file);
        run.startFeeder();
        auto supervisor = good(SupervisorLedger::open(run.paths.tracker()));
        QTRY_VERIFY_WITH_TIMEOUT(
            good(supervisor.advance()).gaveUp.find("--max-unreadable-percent") != std::string::npos, 20'000);
        const std::string why = good(supervisor.advance()).gaveUp;
        QVERIFY2(why.find("15 of the 300 rows") != std::string::npos && why.find("rows.jsonl") != std::string::npos,
            why.c_str());
        QCOMPARE(good(good(LedgerReader::open(run.paths.tracker())).epochs()).at(0).chunks[ChunkState::Free], 0);
        run.stopFeeder();
    }

    /// `chunk 77:0` of four blocks, an unknown sample, a pattern that no row has: all was trained, and nobody said so.
    void entriesOfTheExcludeListThatMeetNothingWereTaken()
    {
        QTemporaryDir folder;
        const std::string list = folder.path().toStdString() + "/list.txt";
        std::ofstream(list)
            << "chunk 0:1\nchunk 77:0\nchunk 1:99\nsample 0123456789abcdef\npattern ^1199 \npattern zzz ?q\n";
        const auto useList = [&list](RunConfig& config) { config.exclude = list; };
        Run run(1200, 300, 50, 0.1, 1, {}, Duplicates::Report, {}, BadFiles::Stop, useList);
        run.startFeeder();
        const auto unmet = [&] { return readReading(run.paths).value_or(Reading {}).unmetExclusions; };
        QTRY_COMPARE_WITH_TIMEOUT(unmet(), 4, 20'000);
        run.stopFeeder();
        const std::vector<std::string> expected { "chunk 1:99", "chunk 77:0", "sample 0123456789abcdef",
            "pattern zzz ?q" };
        const auto reading = readReading(run.paths);
        QCOMPARE(reading->firstUnmet, expected);
        QCOMPARE(reading->exclusions.rows, 1);
        QCOMPARE(reading->exclusions.untold, 0);
        std::string said;
        for (const Message& words : dataInWords(good(readStatus(run.paths))))
            said += words + "\n";
        QVERIFY2(said.find("1 row is left out by name") != std::string::npos
                && said.find("'pattern zzz ?q'") != std::string::npos,
            said.c_str());
        const auto report = good(auditRun(run.paths, AuditDepth::Files));
        QVERIFY2(auditText(report).find("'sample 0123456789abcdef'") != std::string::npos, auditText(report).c_str());
        QVERIFY(report.isClean() && auditVerdict(report).find("some files") == std::string::npos);
        run.beginAttempt(); // what an attempt before has seen is not counted once more
        run.startFeeder();
        QTRY_VERIFY_WITH_TIMEOUT(readReading(run.paths).value_or(Reading {}).attempt == run.attempt.value, 20'000);
        run.stopFeeder();
        QCOMPARE(unmet(), 4);
        QCOMPARE(readReading(run.paths)->exclusions.rows, 1);
    }

    /// Text in another encoding behind the 16 MiB of a compressed file that are looked at was trained damaged, and the
    /// word for it came with the last row.
    void anotherEncodingBehindTheLookAtACompressedFileWasNotSaid()
    {
        QTemporaryDir folder;
        const std::string file = folder.path().toStdString() + "/rows.jsonl.gz";
        std::string text;
        Random random(7);
        for (int row = 0; row < 300; ++row) { // 18 MB of ASCII
            text += "{\"text\":\"" + std::to_string(row) + " ";
            for (int i = 0; i < 60'000; ++i)
                text += static_cast<char>('a' + random.below(26));
            text += "\"}\n";
        }
        for (int row = 300; row < 900; ++row)
            text += "{\"text\":\"" + std::to_string(row)
                + " l'\xe9t\xe9 dernier, la fen\xeatre du ch\xe2teau \xe9tait ferm\xe9"
                  "e \xe0 No\xebl, d\xe9j\xe0 vu\"}\n";
        std::ofstream(file, std::ios::binary) << gzip(text);
        Run run(10, 300, 50, 0.1, 1, file);
        run.startFeeder();
        const auto doubt = [&] { return readReading(run.paths).value_or(Reading {}).encodingDoubt; };
        QTRY_VERIFY_WITH_TIMEOUT(!doubt().empty(), 60'000);
        QVERIFY2(doubt().find("300 of the 300 samples of block 1") != std::string::npos
                && doubt().find("--encoding windows-1252") != std::string::npos
                && doubt().find("rows.jsonl.gz") != std::string::npos,
            doubt().c_str());
        run.stopFeeder();
        std::string told;
        for (const auto& sentence : good(readStatus(run.paths)).evidence)
            told += sentence + "\n";
        QVERIFY2(told.find("windows-1252") != std::string::npos, told.c_str());
    }

    /// Conversations of which the cut takes all that would be learnt were said to lose their ends.
    void conversationsCutToNothingWereSaidToLoseTheirEnds()
    {
        QTemporaryDir folder;
        const std::string file = folder.path().toStdString() + "/chats.jsonl";
        {
            std::ofstream out(file, std::ios::binary);
            for (int i = 0; i < 40; ++i)
                out << "{\"messages\":[{\"role\":\"user\",\"content\":\"" << (i % 2 == 0 ? std::string(300, 'a') : "A")
                    << i << "\"},{\"role\":\"assistant\",\"content\":\"b\"}]}"
                    << "\n";
        }
        Run run(10, 20, 10, 0.1, 1, file, Duplicates::Report, {}, BadFiles::Stop, [](RunConfig& config) {
            config.tokenizer = "byte";
            config.chatTemplate = "chatml";
            config.seqLen = 96;
            config.longSamples = LongSamples::Cut;
            config.batchSize = 4;
        });
        run.startFeeder();
        QTRY_VERIFY_WITH_TIMEOUT(readReading(run.paths).value_or(Reading {}).tooLongLost == 20, 20'000);
        run.stopFeeder();
        std::string said;
        for (const Message& words : dataInWords(good(readStatus(run.paths))))
            said += words + "\n";
        QVERIFY2(
            said.find("20 of them are left out whole, among the filtered ones") != std::string::npos, said.c_str());
        QCOMPARE(good(good(LedgerReader::open(run.paths.tracker())).epochs()).at(0).rowsKnown.filtered, 20);
    }

    /// Rows of an evaluation text that cannot be used were said when the run was made, and nowhere after that.
    void unreadableRowsOfTheEvaluationTextWereInNoStatus()
    {
        QTemporaryDir folder;
        const std::string file = folder.path().toStdString() + "/eval.jsonl";
        std::ofstream(file, std::ios::binary) << "{\"text\": \"one\"}\ntorn\n{\"text\": \"two\"}\n";
        const Run run(1200, 300, 50, 0.1, 1, {}, Duplicates::Report, {}, BadFiles::Stop,
            [&file](RunConfig& config) { config.evalData = file; });
        const auto words = dataInWords(good(readStatus(run.paths)));
        QCOMPARE(words.size(), std::size_t(1));
        QVERIFY2(
            words[0].starts_with("1 row of the evaluation text cannot be used and is not in it: row 1 (line 2) of"),
            words[0].c_str());
        const auto json = toJson(good(readStatus(run.paths)));
        QCOMPARE(json["data_notes"]["evaluation_text"].size(), std::size_t(1));
        QVERIFY(good(auditRun(run.paths, AuditDepth::Files)).isClean()); // it is held against the tracker
    }

    /// The first unreadable row was another one in the alarm than in status, and of the others nobody gave a list.
    void onlyTheFirstOfTheUnreadableRowsWasNamed()
    {
        QTemporaryDir folder;
        const std::string file = folder.path().toStdString() + "/rows.jsonl";
        {
            std::ofstream out(file, std::ios::binary);
            for (int i = 0; i < 1200; ++i)
                out << (i % 100 == 37 ? "{\"text\": torn\n" : "{\"text\":\"" + std::to_string(i) + " row\"}\n");
        }
        Run run(10, 300, 50, 0.1, 1, file, Duplicates::Report, {}, BadFiles::Stop, [](RunConfig& config) {
            config.maxUnreadablePercent = 0.9;
            config.batchSize = 4;
        });
        run.startFeeder();
        auto supervisor = good(SupervisorLedger::open(run.paths.tracker()));
        QTRY_VERIFY_WITH_TIMEOUT(!good(supervisor.advance()).gaveUp.empty(), 20'000); // with the tenth: in block 3
        const std::string why = good(supervisor.advance()).gaveUp;
        run.stopFeeder();
        QVERIFY2(why.find("The first: row 37 (line 38) of") != std::string::npos, why.c_str());
        const auto found = good(unreadableRows(run.paths, 100));
        QCOMPARE(found.known, 9);
        QCOMPARE(found.rows.size(), std::size_t(9));
        std::int64_t before = -1;
        for (const UnreadableRow& one : found.rows) {
            QVERIFY(one.row.row > std::exchange(before, one.row.row) && one.row.row % 100 == 37);
            QCOMPARE(one.line.value_or(0), one.row.row + 1);
            QCOMPARE(one.block, one.row.row / 300);
            QCOMPARE(one.column, static_cast<std::int32_t>(one.row.row % 300 / 50));
            QVERIFY(one.words.starts_with("row " + std::to_string(one.row.row) + " (line "));
        }
        const auto cut = good(unreadableRows(run.paths, 4));
        QCOMPARE(cut.rows.size(), std::size_t(4));
        QCOMPARE(cut.known, 9);
    }

    void poisonedChunksAreTriedAgainOrAccepted()
    {
        Run run(1200, 300, 50, 0.1, 1);
        run.startFeeder();
        const auto chunks = [&] { return good(good(LedgerReader::open(run.paths.tracker())).epochs()).at(0).chunks; };
        QTRY_COMPARE_WITH_TIMEOUT(chunks()[ChunkState::Free], 24, 20'000);
        auto feeder = good(FeederLedger::open(run.paths.tracker()));
        good(feeder.setFailed(1, "the page is damaged"));
        good(feeder.setFailed(2, "the page is damaged"));
        QCOMPARE(chunks()[ChunkState::Poisoned], 12);
        const ChunkId one = chunkIdOf({ 0, 1, 3 });
        good(retryChunks(run.paths, { &one, 1 }));
        QCOMPARE(chunks()[ChunkState::Poisoned], 11);
        QVERIFY(!retryChunks(run.paths, { &one, 1 }).ok()); // it is not poisoned any more
        std::map<std::int64_t, std::map<int, int>> seen;
        QCOMPARE(PlayedWorker(run, 0).work(seen, 13), 13);
        run.stopFeeder();
        good(acceptChunks(run.paths, {})); // nobody supervises the run: the epoch ends here
        QCOMPARE(chunks()[ChunkState::Accepted], 11);
        const auto status = good(readStatus(run.paths)); // they were in no count, and `inspect` called them trained
        QCOMPARE(status.epochs.at(0).samplesAccepted, 11 * 50);
        QCOMPARE(status.epochs.at(0).unreadAccepted, 0);
        QVERIFY(good(viewChunk(run.paths, { .block = 2, .column = 0 })).state == ChunkState::Accepted);
        QVERIFY(good(good(LedgerReader::open(run.paths.tracker())).epochs()).at(0).closedWallNs.has_value());
    }

    /// "Not fetched again in this attempt", it said, and no later attempt asked either: that took a person's word.
    void whatCameWrongInOneAttemptWasNeverAskedForAgain()
    {
        Run run(1200, 300, 50, 0.1, 1);
        run.startFeeder();
        const auto chunks = [&] { return good(good(LedgerReader::open(run.paths.tracker())).epochs()).at(0).chunks; };
        QTRY_COMPARE_WITH_TIMEOUT(chunks()[ChunkState::Free], 24, 20'000);
        run.stopFeeder();
        auto feeder = good(FeederLedger::open(run.paths.tracker()));
        const auto fail = [&feeder](std::int64_t block, const Message& why) {
            good(feeder.setFailed(block, sentence("block %1 cannot be prepared: %2", { std::to_string(block), why })));
        };
        fail(1, sentence(kCameWrong, { "hf://o/n arrived with other bytes.", Count(5) }));
        const auto only = whatCannotBeRead(good(poisonedChunks(run.paths.tracker())), {}, BadFiles::LeaveOut);
        QVERIFY2(only.find("Resuming asks for it again.") != std::string::npos
                && only.find("Put the source back") == std::string::npos,
            only.c_str());
        fail(2, "the page is damaged");
        QCOMPARE(chunks()[ChunkState::Poisoned], 12);
        auto supervisor = good(SupervisorLedger::open(run.paths.tracker()));
        good(retryWrongTransfers(run.paths, supervisor));
        QCOMPARE(chunks()[ChunkState::Poisoned], 6);
        for (const NamedChunk& left : good(poisonedChunks(run.paths.tracker())))
            QCOMPARE(placeOf(left.chunk).block, 2);
    }

    /// It stood in reading.json and on the console's overview only.
    void theShareOfUnknownCharactersStoodInNoStatus()
    {
        const Run run(1200, 300, 50, 0.1, 1);
        Reading reading;
        reading.unknownShare = 0.0625;
        good(publishReading(run.paths, reading));
        std::string told;
        for (const auto& sentence : good(readStatus(run.paths)).evidence)
            told += sentence + "\n";
        QVERIFY2(told.find("6.25 % of the tokens") != std::string::npos, told.c_str());
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
            std::ofstream(entry.path(), std::ios::binary)
                .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        }
        std::map<std::int64_t, std::map<int, int>> seen;
        PlayedWorker worker(run, 0);
        QCOMPARE(worker.work(seen), 24);
        verifyEachRowOnceAnEpoch(seen, 1, 1200);
        QVERIFY(worker.failures >= 4);
        run.stopFeeder();
    }

    /// With leave_out what no changed file explained was tried again at once, without end and without a word.
    void whatLeavingOutDoesNotMendWasTriedForEver()
    {
        QTemporaryDir folder;
        const std::string data = folder.path().toStdString() + "/large.txt.gz"; // unpacked more than the cache holds
        std::ofstream(data, std::ios::binary) << gzip(Run::lines(100'000));
        Run run(10, 300, 50, 0.1, 1, data, Duplicates::Skip, {}, BadFiles::LeaveOut);
        auto supervisor = good(SupervisorLedger::open(run.paths.tracker()));
        run.attempt = good(supervisor.beginAttempt(thisProcess(), R"({"cache_gib": 0.002})"));
        run.startFeeder();
        QTRY_VERIFY_WITH_TIMEOUT(good(supervisor.advance()).gaveUp.find("large.txt.gz") != std::string::npos, 60'000);
        run.stopFeeder();
    }

    /// Each attempt read the whole list before it did anything else. Now who meets a damaged page has it made again.
    void openingAListOfDuplicatesReadAllOfIt()
    {
        QTemporaryDir folder;
        const auto data = pathFromUtf8(folder.path().toStdString()) / "twice.txt";
        std::ofstream(data, std::ios::binary) << Run::lines(1200) << Run::lines(1200);
        Run run(0, 300, 50, 0.1, 1, utf8Text(data), Duplicates::Skip);
        run.startFeeder();
        std::map<std::int64_t, std::map<int, int>> seen;
        QCOMPARE(PlayedWorker(run, 0).work(seen, 5), 5);
        run.stopFeeder();
        const auto whole = good(readFile(run.paths.duplicatesFile()));
        auto damaged = whole;
        damaged[64] = static_cast<char>(damaged[64] ^ 1); // of the first page
        std::ofstream(run.paths.duplicatesFile(), std::ios::binary) << damaged;
        run.beginAttempt();
        run.startFeeder();
        QTRY_VERIFY_WITH_TIMEOUT(good(readFile(run.paths.duplicatesFile())) == whole, 20'000);
        QCOMPARE(PlayedWorker(run, 1).work(seen), 24 - 5); // chunks of repeats alone have nothing to train
        verifyEachRowOnceAnEpoch(seen, 1, 1200);
        run.stopFeeder();
    }

    void theFeederWasKilledWhileItLookedForDuplicates()
    {
        QTemporaryDir folder;
        const auto data = pathFromUtf8(folder.path().toStdString()) / "twice.txt";
        std::ofstream(data, std::ios::binary) << Run::lines(40'000) << Run::lines(40'000);
        Run run(0, 8000, 1000, 0.5, 1, utf8Text(data), Duplicates::Skip);
        const auto kill = [&run](const std::filesystem::path& when) {
            run.startFeeder();
            QTRY_VERIFY_WITH_TIMEOUT(std::filesystem::exists(when), 60'000);
            run.feeder->killTree();
            QVERIFY(run.feeder->wait(std::chrono::seconds(20)).has_value());
            run.feeder.reset();
        };
        kill(run.paths.readingFile()); // written just before the search begins
        auto half = run.paths.duplicatesFile();
        half += ".new";
        if (!std::filesystem::exists(run.paths.duplicatesFile())) // it was quicker than the test
            std::ofstream(half) << "half of one";
        kill(run.paths.duplicatesFile());
        run.startFeeder();
        std::map<std::int64_t, std::map<int, int>> seen;
        PlayedWorker worker(run, 0);
        QCOMPARE(worker.work(seen), 40); // chunks of repeats alone have nothing to train
        verifyEachRowOnceAnEpoch(seen, 1, 40'000);
        const auto report = good(audit(run.paths.tracker()));
        QVERIFY2(report.isClean(), auditText(report).c_str());
        QCOMPARE(good(good(LedgerReader::open(run.paths.tracker())).epochs()).at(0).rowsKnown.duplicates, 40'000);
        run.stopFeeder();
        // a chunk of repeats says where their first rows stand
        const auto view = good(viewChunk(run.paths, { 7, 3, {}, SampleOrder::AsStored, 0, 2 }));
        QCOMPARE(view.summary.duplicates, 1000);
        QVERIFY(view.samples.at(1).firstRow.has_value());
        QCOMPARE(view.samples.at(1).row, 7 * 8000 + 3001);
        QCOMPARE(view.samples.at(1).firstRow->row, view.samples.at(1).row - 40'000);
        QCOMPARE(view.samples.at(1).firstRow->file, view.samples.at(1).file);
    }

    /// "10 to be trained", and losses of 7 of them: a checkpoint had these.
    void aChunkThatIsTrainedInPartWasShownAsUntrained()
    {
        Run run(600, 300, 50, 0.1, 1);
        run.startFeeder();
        auto supervisor = good(SupervisorLedger::open(run.paths.tracker()));
        auto worker = good(WorkerLedger::open(run.paths.tracker(), good(readRunFile(run.paths)).runId));
        good(worker.start({ run.attempt, 0, 0, "cpu", "test" }, 600));
        std::optional<Claim> claim;
        const auto isClaimed = [&] {
            good(supervisor.advance());
            auto answer = claim ? Result<std::variant<Claim, NothingToClaim>>(*claim) : worker.claim();
            if (answer.ok() && std::holds_alternative<Claim>(answer.value()))
                claim = std::get<Claim>(answer.value());
            return claim.has_value();
        };
        QTRY_VERIFY_WITH_TIMEOUT(isClaimed(), 20'000);
        run.stopFeeder();
        good(worker.begin(*claim));
        CheckpointRecord record;
        record.folder = "w0-1";
        record.manifestSha256 = "sha";
        const Part part { claim->chunk, { 0, claim->windows / 2 }, 1 };
        good(worker.commit(record, { &part, 1 }));
        for (const IncarnationRow& row : good(good(LedgerReader::open(run.paths.tracker())).incarnations()))
            (void)good(supervisor.revoke(row.id, "killed"));
        const auto view = good(viewChunk(run.paths, { .block = claim->block, .column = claim->column }));
        QVERIFY(view.inCheckpoints > 0 && view.inCheckpoints < view.summary.samples);
        std::int64_t tokens = 0; // as status and audit count them
        for (const ChunkCell& cell : good(good(LedgerReader::open(run.paths.tracker())).cells(0)))
            tokens += cell.id == claim->chunk ? cell.tokens : 0;
        QCOMPARE(view.tokensWithEnds(), tokens);
    }
};

QTEST_GUILESS_MAIN(TestFeeder)
#include "tst_feeder.moc"
