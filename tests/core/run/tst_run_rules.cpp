#include "core/base/file_system.h"
#include "core/base/format.h"
#include "core/base/process.h"
#include "core/base/sentence.h"
#include "core/data/plan/held_out.h"
#include "core/data/plan/inspect.h"
#include "core/data/overlap.h"
#include "core/model/model_config.h"
#include "core/data/tokenizer/tokenizer.h"
#include "core/run/status/attempt_times.h"
#include "core/run/folder/attempt_config.h"
#include "core/run/supervise/back_off.h"
#include "core/run/start/data_fit.h"
#include "core/run/start/limit_reached.h"
#include "core/run/start/run_length.h"
#include "core/run/supervise/merge_timer.h"
#include "core/run/status/data_words.h"
#include "core/run/status/feeder_words.h"
#include "core/run/status/hindrance.h"
#include "core/run/status/run_status.h"
#include "core/run/supervise/restart_budget.h"
#include "core/run/supervise/stall_watch.h"
#include "core/run/supervise/start_words.h"
#include "core/tracker/run_event_texts.h"
#include "core/tracker/worker_ledger.h"

#include <QTemporaryDir>
#include <QTest>

#include <sys/stat.h>

#include <tuple>

using namespace furrow;

namespace {

/// A data set of one file in lines.
class Lines {
public:
    explicit Lines(int count, const std::string& words = "one two three four five")
    {
        std::string text;
        for (int i = 0; i < count; ++i)
            text += std::to_string(i) + " " + words + "\n";
        (void)writeFileDurably(realFileSystem(), path(), text);
        config.data = { path().string() };
        config.dataMode = DataMode::Lines;
        config.chunkSamples = 20;
        config.seqLen = 16;
        config.batchSize = 4;
    }
    std::filesystem::path path() const { return std::filesystem::path(folder_.path().toStdString()) / "text.txt"; }
    std::string manifest() const { return inspectData(config).value().manifest; }
    std::vector<ConfigProblem> problems() const
    {
        return fitOf(config, inspectData(config).value(), *byteTokenizer()).value().problems;
    }

    RunConfig config;

private:
    QTemporaryDir folder_;
};

EpochRow epochOf(std::int64_t chunks, std::int64_t committed)
{
    EpochRow row;
    row.blockCount = 1;
    row.chunks[ChunkState::Free] = chunks - committed;
    row.chunks[ChunkState::Committed] = committed;
    return row;
}

} // namespace

class TestRunRules : public QObject {
    Q_OBJECT

private Q_SLOTS:
    /// A run that was stopped in its second epoch was resumed with --epochs 1: the attempt ended at once, with "the end
    /// of the epoch was reached", and 36 chunks of the second were left.
    void aStoppedRunWasResumedForFewerEpochsThanItHad()
    {
        RunStatus status;
        status.folder = "/runs/br";
        status.state = RunState::Stopped;
        status.epochs = { epochOf(50, 50), epochOf(50, 13) };
        status.epochs.front().closedWallNs = 1;
        const ResumePlan plan;
        RunConfig wanted;
        wanted.epochs = 1;
        const auto refused = refuseNothingLeft(status, plan, wanted, nullptr);
        QVERIFY(!refused.ok() && refused.error().code == ErrorCode::InvalidArgument);
        QVERIFY2(refused.error().message.text().find("stays as it is. The limit of one epoch is reached")
                    != std::string::npos
                && refused.error().message.text().find("turn on --iterate") != std::string::npos,
            refused.error().message.c_str());
        wanted.epochs = 2;
        QVERIFY(refuseNothingLeft(status, plan, wanted, nullptr).ok());
        wanted.epochs = 1;
        wanted.iterate = true;
        QVERIFY(limitReached(status, plan, wanted, nullptr) == StopReason::None); // what the refusal advises helps
        wanted.iterate = false;
        status.epochs.pop_back(); // a merge behind the last chunk may be left to make
        status.state = RunState::Interrupted;
        QVERIFY(refuseNothingLeft(status, plan, wanted, nullptr).ok());
        status.state = RunState::Finished;
        QVERIFY(!refuseNothingLeft(status, plan, wanted, nullptr).ok());
    }

    /// A run that had ended by its limit of blocks was resumed to the end of its epoch: the attempt ended at once, and
    /// said that all was well.
    void aRunWhoseBlocksWereCompleteWasResumedForNothing()
    {
        RunStatus status;
        status.folder = "/runs/br";
        status.state = RunState::Finished;
        status.epochs = { epochOf(50, 46) };
        status.trainedBlocks = 8;
        RunConfig wanted;
        wanted.stopAfterBlocks = 8;
        const auto refused = refuseNothingLeft(status, {}, wanted, nullptr);
        QVERIFY(!refused.ok());
        QVERIFY2(refused.error().message.text().find("as --stop-after-blocks wants: 8.") != std::string::npos,
            refused.error().message.c_str());
        wanted.stopAfterBlocks = 9;
        QVERIFY(refuseNothingLeft(status, {}, wanted, nullptr).ok());
    }

    /// The rate of a run that ends by its epochs went by the bytes of the files: it stood at 6 % of its way at the end
    /// where another column held most of them, and never fell where nothing was held out.
    void theLengthOfAnEpochWasJudgedByBytesThatNobodyTrains_data()
    {
        QTest::addColumn<int>("rows");
        QTest::newRow("read whole") << 100;
        QTest::newRow("the beginning") << 5'000;
    }
    void theLengthOfAnEpochWasJudgedByBytesThatNobodyTrains()
    {
        QFETCH(int, rows);
        QTemporaryDir folder;
        const std::filesystem::path file = std::filesystem::path(folder.path().toStdString()) / "wide.jsonl";
        std::string text;
        std::int64_t labels = 0;
        for (int i = 0; i < rows; ++i) {
            const std::string row = "row " + std::to_string(10'000 + i) + " and its words";
            labels += std::ssize(row) + 1;
            text += "{\"text\": \"" + row + "\", \"other\": \"" + std::string(400, 'x') + "\"}\n";
        }
        (void)writeFileDurably(realFileSystem(), file, text);
        RunConfig config;
        config.data = { file.string() };
        config.seqLen = 16;
        config.batchSize = 4;
        config.heldOutPercent = 0;
        const auto data = inspectData(config).value();
        const DataLook look = fitOf(config, data, *byteTokenizer()).value().look;
        QCOMPARE(look.isAll, rows == 100);
        RunFile run;
        run.config = config;
        run.dataManifest = data.manifest;
        const RunPaths nowhere(std::filesystem::path(folder.path().toStdString()) / "run");
        run.epoch = judgedEpochLength(nowhere, run, look, data.rows);
        QVERIFY2(std::abs(run.epoch.labels / static_cast<double>(labels) - 1) < 1e-3,
            qPrintable(QString::number(run.epoch.labels)));
        QVERIFY(epochLength(nowhere, run) == run.epoch);
        QCOMPARE(labelsOfRun(config, run.epoch, 1'000, 3, 1), 3 * run.epoch.labels);
    }

    /// "An epoch trains 10,772 tokens" of a data set in which all but a third repeats other rows, which are left out.
    void repeatsThatAreLeftOutCountedAsTrained_data()
    {
        QTest::addColumn<int>("rows");
        QTest::newRow("all of it is looked at") << 100;
        QTest::newRow("only its beginning") << 5000;
    }
    void repeatsThatAreLeftOutCountedAsTrained()
    {
        QFETCH(int, rows);
        Lines lines(rows);
        std::string text = readFile(lines.path(), 1 << 20).value();
        (void)writeFileDurably(realFileSystem(), lines.path(), text + text + text);
        lines.config.duplicates = Duplicates::Skip;
        lines.config.heldOutPercent = 0;
        const auto data = inspectData(lines.config).value();
        const DataLook look = fitOf(lines.config, data, *byteTokenizer()).value().look;
        QCOMPARE(look.isAll, rows == 100);
        QCOMPARE(look.isAtMost, rows != 100); // the repeats stand behind what was looked at
        if (look.isAll)
            QCOMPARE(look.epoch.labels, static_cast<double>(text.size())); // of a line its end is the end-of-text
    }

    /// A feeder that was killed twice in a minute came back after two seconds and more, and the workers had nothing to
    /// train.
    /// The only worker of a run stood still, and nobody said for how long that would be waited for.
    void aWorkerThatStoodStillWasWaitedForWithoutAWordOfHowLong()
    {
        RunStatus status;
        status.supervised = true;
        status.supervisorPid = 7;
        WorkerStatus still;
        still.pid = 42;
        still.alive = true;
        still.phase = WorkerPhase::StandsStill;
        still.secondsSinceProgress = 12;
        status.workers = { still };
        IncarnationRow row;
        row.live = true;
        row.worker = 0;
        row.process.pid = 42;
        row.leaseUntilNs = 100'000'000'000;
        const QTemporaryDir folder;
        const auto saidAt = [&](std::int64_t nowNs) {
            LedgerReader::Totals totals;
            totals.supervisorHeartbeatNs = nowNs;
            const Viewpoint view { RunPaths(folder.path().toStdString()), {}, nowNs };
            const auto found = whatHinders(status, totals, { row }, view);
            return found.empty() ? std::string() : found.front().sentence.text();
        };
        const auto said = saidAt(52'000'000'000);
        QVERIFY2(said.find("said nothing for " + formatDuration(12)) != std::string::npos, said.c_str());
        QVERIFY2(said.find("in about " + formatDuration(48)) != std::string::npos, said.c_str());
        const auto over = saidAt(101'000'000'000);
        QVERIFY2(over.find("when its lease ends, or others wait") != std::string::npos, over.c_str());
    }

    /// The numbers were those of a snapshot of half a minute ago, for somebody had locked the tracker: the disk was
    /// said to take nothing, as its supervisor had been silent since then.
    void theAgeOfASnapshotWasTakenForTheSilenceOfTheSupervisor()
    {
        RunStatus status;
        status.supervised = true;
        status.supervisorPid = 7;
        const QTemporaryDir folder;
        LedgerReader::Totals totals;
        totals.supervisorHeartbeatNs = 10'000'000'000;
        Viewpoint view { RunPaths(folder.path().toStdString()), {}, 40'000'000'000 };
        const auto silent = whatHinders(status, totals, {}, view);
        QCOMPARE(silent.size(), std::size_t(1));
        QVERIFY(silent.front().sentence.find(formatDuration(30)) != std::string::npos);
        view.isOfSnapshot = true;
        QVERIFY(whatHinders(status, totals, {}, view).empty());
    }
    /// Workers and the supervisor were named when somebody had stopped them, a feeder never.
    void aFeederThatSomebodyStoppedWasNotNamed()
    {
        ProcessOptions options;
        options.arguments = { "60" };
        auto child = ChildProcess::start("/bin/sleep", options);
        QVERIFY(child.ok());
        const auto feeder = child.value().identity();
        QVERIFY(freezeProcess(feeder, true));
        QTRY_VERIFY(standsStill(feeder));
        RunStatus status;
        status.supervised = true;
        status.supervisorPid = 7;
        const QTemporaryDir folder;
        LedgerReader::Totals totals;
        totals.feeder = feeder;
        const Viewpoint view { RunPaths(folder.path().toStdString()) };
        const auto found = whatHinders(status, totals, {}, view);
        child.value().killTree();
        QCOMPARE(found.size(), std::size_t(1));
        QCOMPARE(QString::fromStdString(found.front().words.text()), QStringLiteral("the feeder stands still"));
        QVERIFY(found.front().sentence.find("process " + std::to_string(feeder.pid)) != std::string::npos);
    }

    void whoWasKilledIsStartedAgainAtOnce()
    {
        constexpr std::int64_t kSecond = 1'000'000'000;
        BackOff backOff;
        QVERIFY(!backOff.isPlanned());
        for (std::int64_t now = kSecond; now < 100 * kSecond;
            now += 10 * kSecond) { // each time after ten seconds of work
            backOff.onStart(now);
            QVERIFY(!backOff.isPlanned());
            backOff.onEnd(now + 10 * kSecond);
            QVERIFY(backOff.isDue(now + 10 * kSecond));
        }
    }
    /// A feeder that stood still was ended, as it had been a moment before: while it was not started again for a second
    /// the workers had nothing to train.
    void aFeederThatStoodStillTwiceWasWaitedForTwice()
    {
        constexpr std::int64_t kSecond = 1'000'000'000;
        BackOff backOff;
        for (std::int64_t now = kSecond; now < 10 * kSecond; now += 2 * kSecond) {
            backOff.onStart(now);
            backOff.onEnd(now + kSecond, true);
            QVERIFY(backOff.isDue(now + kSecond));
        }
        backOff.onStart(20 * kSecond);
        backOff.onEnd(20 * kSecond); // the first failure of its own
        QVERIFY(backOff.isDue(20 * kSecond));
    }
    /// Whoever stopped a worker now and then, so that the supervisor ended it, had used up the restarts for crashes
    /// after six times.
    void aWorkerThatWasPausedSixTimesWasGoneForTheWholeAttempt()
    {
        RestartBudget budget(2);
        for (std::int64_t trained = 100; trained <= 1'000; trained += 100) {
            QVERIFY(budget.take(0, trained)); // the run had come further each time
            QVERIFY(budget.take(1, trained)); // both were stopped at once
        }
        QVERIFY(budget.take(0, 1'000)); // nothing was trained since: it counts
        QVERIFY(budget.take(1, std::nullopt)); // so does a crash
        QVERIFY(!budget.take(0, 1'000));
        QVERIFY(!budget.take(1, std::nullopt));
        QVERIFY(budget.take(0, 1'100));
    }
    /// A program of somebody else had locked the tracker for five minutes. The worker that came first when it let go
    /// was ended: its lease had run out meanwhile.
    void whoGetsALockAfterAStrangerIsNotBlamedForTheStranger()
    {
        using std::chrono::milliseconds;
        HeldLock lock;
        constexpr std::int64_t kStranger = 7;
        constexpr std::int64_t kWorker = 8;
        for (int waited = 100; waited < 300'000; waited += 100)
            QCOMPARE(lock.heldByOthers(kStranger, milliseconds(waited)), 0.1); // nobody looked before
        QCOMPARE(lock.heldByOthers(kWorker, milliseconds(300'000)), 300.0);
        QCOMPARE(lock.heldByOthers(kWorker, milliseconds(310'000)), 300.0); // it has had it for ten seconds itself
        QCOMPARE(lock.heldByOthers(kWorker, milliseconds(50)), 0.0); // another wait
    }
    void whoDiesAtEveryStartWaitsLongerEachTime()
    {
        constexpr std::int64_t kSecond = 1'000'000'000;
        BackOff backOff;
        std::int64_t now = kSecond;
        for (const std::int64_t wait : { 0, 1, 2, 4, 8, 16, 30, 30 }) {
            backOff.onStart(now);
            backOff.onEnd(now);
            QVERIFY(wait == 0 || !backOff.isDue(now + wait * kSecond - 1));
            now += wait * kSecond;
            QVERIFY(backOff.isDue(now));
        }
        backOff.cancel();
        QVERIFY(!backOff.isDue(now + 100 * kSecond));
    }

    /// With `parallel` data worker 0 had the tokens of all ranks in `status --json`, worker 1 its share, and both the
    /// same step.
    void aRankHadFewerTokensThanItsStepHasLearntFrom()
    {
        std::vector<IncarnationRow> rows(2);
        for (int worker = 0; worker < 2; ++worker) {
            IncarnationRow& row = rows[static_cast<std::size_t>(worker)];
            row.worker = worker;
            row.attempt = { 1 };
            row.live = false;
            row.step = 20;
            row.tokens = worker == 0 ? 1'000 : 480;
            row.replica = worker == 0 ? 0 : kFollower;
        }
        const Viewpoint view { .paths = RunPaths("/runs/r") };
        const auto workers = workersOf(rows, { 1 }, view);
        QCOMPARE(workers.size(), std::size_t(2));
        QCOMPARE(workers[1].tokens, 1'000);
        rows[1].replica = 1; // of its own weights
        QCOMPARE(workersOf(rows, { 1 }, view)[1].tokens, 480);
    }

    /// While a killed worker waited to be started again, the status said that it is not alive, and no more.
    void aWorkerThatWaitedToStartAgainWasSaidToBeGone()
    {
        constexpr std::int64_t kMinute = 60'000'000'000;
        QCOMPARE(startsInWords({}, false).text(), std::string());
        QCOMPARE(startsInWords({}, true).text(), std::string());
        QCOMPARE(startsInWords({ { 0, kMinute, false }, { 2, 2 * kMinute, true } }, false).text(),
            std::string("Worker 0 is started again at 1970-01-01T00:01:00Z. Worker 2 was started at"
                        " 1970-01-01T00:02:00Z and has not begun yet."));
        QCOMPARE(startsInWords({ { 0, kMinute, false }, { 1, 2 * kMinute, true } }, true).text(),
            std::string("The workers are started again, together, at 1970-01-01T00:01:00Z, once all of them have"
                        " ended."));
        QCOMPARE(startsInWords({ { 0, kMinute, true }, { 1, kMinute, true } }, true).text(),
            std::string("The workers were started together at 1970-01-01T00:01:00Z; not all of them have begun yet."));
    }

    /// `list` and the library each had a rule of their own for it.
    void aRunSaidMoreOfItsEndThanItHadComeTo()
    {
        RunStatus status;
        status.stopDetail = "most of the text is not in the weights";
        for (const auto& [state, byHand, isSaid] :
            { std::tuple(RunState::Finished, false, true), std::tuple(RunState::Finished, true, false),
                std::tuple(RunState::Stopped, false, false), std::tuple(RunState::Interrupted, false, false) }) {
            status.state = state;
            status.markedByHand = byHand;
            QCOMPARE(hasComeToItsEnd(status), isSaid);
            QCOMPARE(saidOfItsEnd(status).empty(), !isSaid);
        }
    }

    /// Overrides are kept against run.json; a person asks what a resume changed.
    void anAttemptChangedWhatTheOneBeforeItHadNot()
    {
        RunConfig frozen;
        frozen.workers = 4;
        const auto attempt = [](std::int64_t id, const char* overrides) {
            return AttemptRow { { id }, {}, 0, {}, 0, StopReason::None, {}, overrides };
        };
        const auto all = changesByAttempt(
            { attempt(1, "{}"), attempt(2, R"({"workers":1})"), attempt(3, R"({"workers":1,"epochs":9})"),
                attempt(4, "torn"), attempt(5, R"({"epochs":9})") },
            frozen);
        std::vector<std::string> said;
        for (const auto& changed : all) {
            said.emplace_back();
            for (const ConfigChange& change : changed)
                said.back() += change.setting->key + " " + change.before + "-" + change.after + ";";
        }
        const std::string epochs = std::to_string(frozen.epochs);
        QVERIFY(
            (said == std::vector<std::string> { "", "workers 4-1;", "epochs " + epochs + "-9;", "", "workers 1-4;" }));
        QCOMPARE(configOf(attempt(4, "torn"), frozen).error().code, ErrorCode::Corrupt);
    }

    /// A resume with --epochs 60 ended after one epoch: an earlier one had been asked to stop after its own.
    void stopAfterEpochHeldForEveryLaterAttempt()
    {
        RunConfig frozen;
        const AttemptRow asked { { 1 }, {}, 0, {}, 0, StopReason::None, {},
            R"({"stop_after_epoch":true,"workers":2})" };
        QVERIFY(latestConfig({ asked }, frozen).value().stopAfterEpoch);
        QVERIFY(!nextConfig({ asked }, frozen).value().stopAfterEpoch);
        QCOMPARE(nextConfig({ asked }, frozen).value().workers, std::int64_t(2));
        frozen.stopAfterEpoch = true; // of the run itself
        QVERIFY(nextConfig({ asked }, frozen).value().stopAfterEpoch);
    }

    void minCharsWasBlamedForSamplesThatAreTooLong()
    {
        Lines data(100, "a text that is longer than sixteen bytes");
        data.config.longSamples = LongSamples::LeaveOut;
        data.config.heldOutPercent = 0;
        const auto problems = data.problems();
        QCOMPARE(problems.size(), std::size_t(1));
        QCOMPARE(problems[0].key, std::string("long_samples"));
        QVERIFY2(problems[0].message.find("all 100 samples") != std::string::npos, problems[0].message.c_str());
    }
    void aRunOfWhichEveryRowIsHeldOutFinishedAsTrained()
    {
        Lines data(100);
        data.config.heldOutPercent = 99.9999;
        const auto problems = data.problems();
        QCOMPARE(problems.size(), std::size_t(1));
        QCOMPARE(problems[0].key, std::string("held_out_percent"));
        QVERIFY2(problems[0].message.find("100 samples that pass the filters are held out") != std::string::npos,
            problems[0].message.c_str());
    }
    void settingsThatFitTheDataHaveNoProblems() { QVERIFY(Lines(100).problems().empty()); }

    /// It was made, and its feeder waited for room for ever.
    void aCacheWithoutRoomForTwoBlocksIsNamed()
    {
        Lines data(20'000, std::string(500, 'x'));
        data.config.cacheGiB = 0.001;
        data.config.samplesPerBlock = 2000;
        const auto problems = data.problems();
        QCOMPARE(problems.size(), std::size_t { 1 });
        QCOMPARE(problems.front().key, "cache_gib");
        QVERIFY(problems.front().message.find("two prepared blocks of 2,000 samples take about 0.004")
            != std::string::npos);
        data.config.cacheGiB = 0.005;
        QVERIFY(data.problems().empty());
    }

    void everyWayNotToFitTheDataIsNamedByItsField_data()
    {
        QTest::addColumn<QString>("key");
        QTest::addColumn<int>("lines");
        QTest::addColumn<int>("minChars");
        QTest::addColumn<int>("seqLen");
        QTest::addColumn<int>("batch");
        QTest::newRow("all samples are filtered") << "min_chars" << 100 << 1000 << 16 << 4;
        QTest::newRow("less text than one window") << "seq_len" << 3 << 1 << 1024 << 4;
        QTest::newRow("less text than one window, more than a chunk") << "seq_len" << 100 << 1 << 10000 << 4;
        QTest::newRow("a chunk holds less than a batch") << "batch_size" << 100 << 1 << 16 << 64;
        QTest::newRow("all data is less than a batch") << "batch_size" << 10 << 1 << 16 << 64;
    }

    void everyWayNotToFitTheDataIsNamedByItsField()
    {
        QFETCH(QString, key);
        QFETCH(int, lines);
        QFETCH(int, minChars);
        QFETCH(int, seqLen);
        QFETCH(int, batch);
        Lines data(lines);
        data.config.minChars = minChars;
        data.config.seqLen = seqLen;
        data.config.batchSize = batch;
        const auto problems = data.problems();
        QCOMPARE(problems.size(), std::size_t(1));
        QCOMPARE(QString::fromStdString(problems[0].key), key);
        RunConfig mended = data.config; // the offered value is one that works
        QVERIFY(setSetting(mended, *findSetting(problems[0].key), problems[0].fix).empty());
        data.config = mended;
        for (const auto& left : data.problems())
            QVERIFY2(left.key != problems[0].key, left.message.c_str());
    }

    void textThatWasTrainedIsFoundByItsFingerprint()
    {
        const Lines trained(50);
        Lines other(50, "six seven");
        constexpr std::uint64_t kAll = 1 << 20;
        const auto overlapOf = [&](const Lines& text, std::uint64_t mostBytes) {
            const auto set = readEvaluationText(trained.config, text.path().string(), *byteTokenizer());
            return set.ok()
                ? overlapWithTraining(trained.config, trained.manifest(), set.value().text.fingerprints, mostBytes)
                : Result<TextOverlap>(set.error());
        };
        const auto own = overlapOf(trained, kAll);
        QVERIFY2(own.ok(), own.ok() ? "" : own.error().message.c_str());
        QCOMPARE(own.value().samples, 50);
        QVERIFY(own.value().seen > 40 && own.value().seen <= 50); // some were held out
        QVERIFY(own.value().complete);
        const auto none = overlapOf(other, kAll);
        QCOMPARE(none.value().seen, 0);
        QCOMPARE(describe(none.value()), "none of 50 samples is trained as well");
        const auto part = overlapOf(other, 64);
        QVERIFY(!part.value().complete);
        QVERIFY(describe(part.value()).find("beginning of the training data") != std::string::npos);
    }

    void mergesAreNotCloserThanSomeHundredStepsOfEachWorker()
    {
        RunConfig config; // 12 windows of 64 tokens a step
        constexpr std::int64_t kChunkTokens = 10'000;
        const auto tokensUntilMerge = [&](std::int64_t chunks) {
            const MergeTimer timer(config, 2, 0);
            for (std::int64_t done = 1; done <= chunks; ++done)
                if (timer.due(done * kChunkTokens, epochOf(chunks, done)))
                    return done * kChunkTokens;
            return std::int64_t { -1 };
        };
        QCOMPARE(tokensUntilMerge(1000), 100 * kChunkTokens); // long epochs: ten merges
        const auto few = tokensUntilMerge(100);
        QVERIFY(few >= 250 * 2 * 12 * 64 && few < 250 * 2 * 12 * 64 + kChunkTokens);
        config.mergeTokens = 30'000;
        QCOMPARE(tokensUntilMerge(100), 30'000); // said by the person
        QVERIFY(!MergeTimer(config, 1, 0).due(1'000'000, epochOf(100, 50)));
    }

    /// "of weights with 1 steps", and in the card of a model "1 layers".
    void oneStepAndOneLayerWereMany()
    {
        HeldOutLoss loss;
        loss.step = 1;
        loss.whose = "replica 0";
        QCOMPARE(ofWhat(loss).text(), std::string("of weights with 1 step; replica 0"));
        loss.text.labels = 192;
        QCOMPARE(ofWhat(loss).text(), std::string("of weights with 1 step, on 192 tokens of held-out text; replica 0"));
        loss.text.alsoTrained = true;
        QVERIFY(ofWhat(loss).text().starts_with("of weights with 1 step, on 192 tokens that are trained too"));
        ModelConfig model;
        model.layers = 1;
        model.heads = 1;
        const std::string shape = describeShape(model);
        QVERIFY2(shape.find(" 1 layer, width ") != std::string::npos, shape.c_str());
        QVERIFY2(
            shape.find(" 1 head") != std::string::npos && shape.find(" 1 heads") == std::string::npos, shape.c_str());
    }

    /// `status` gave a loss on held-out text and not on how much of it.
    void nobodySaidOnHowMuchTextALossIs()
    {
        Lines lines(2000);
        const QTemporaryDir folder;
        const auto path = std::filesystem::path(folder.path().toStdString()) / "heldout.bin";
        lines.config.heldOutPercent = 10;
        lines.config.evalBatches = 100'000;
        QVERIFY(freezeHeldOut(lines.config, lines.manifest(), *byteTokenizer(), path).ok());
        const auto set = readHeldOut(path);
        QVERIFY(set.ok() && set.value().text.count() > 0);
        QCOMPARE(evaluatedText(path, lines.config).labels,
            static_cast<std::int64_t>(set.value().text.tokens.size())
                + static_cast<std::int64_t>(set.value().text.count()));
        lines.config.evalBatches = 3;
        QCOMPARE(evaluatedText(path, lines.config).labels, 3 * lines.config.batchSize * lines.config.seqLen);
        QCOMPARE(evaluatedText(path / "absent", lines.config).labels, 0);
        std::filesystem::remove(path);
        QCOMPARE(::mkfifo(path.c_str(), 0600), 0); // `status` waited for ever
        QCOMPARE(evaluatedText(path, lines.config).labels, 0);
        QCOMPARE(ofWhat({ 2.5, 1200, { 192, false }, 0, false, 0, "replica 0" }),
            std::string("of weights with 1,200 steps, on 192 tokens of held-out text; replica 0"));
        QCOMPARE(ofWhat({ 2.5, 7, {}, 0, true, 0, "all replicas, merged" }),
            std::string("of weights with 7 steps; all replicas, merged"));
        QCOMPARE(ofWhat({ 2.5, 7, { 0, false }, 0, false, 0, "replica 0", 12, true, 1 }),
            std::string(
                "of weights with 7 steps; checkpoint 12, not the newest weights, before the end of epoch 2, replica 0"));
    }

    /// With one row, or with rows that are all alike, the loss of the text that is trained was called one of held-out
    /// text.
    void theLossOfTrainedTextWasCalledHeldOut()
    {
        Lines lines(1);
        const QTemporaryDir folder;
        const auto path = std::filesystem::path(folder.path().toStdString()) / "heldout.bin";
        lines.config.heldOutPercent = 1e-9;
        QVERIFY(freezeHeldOut(lines.config, lines.manifest(), *byteTokenizer(), path).ok());
        const EvaluatedText text = evaluatedText(path, lines.config);
        QVERIFY(text.alsoTrained && text.labels > 0);
        const std::string words = ofWhat({ 2.5, 7, text, 0, false, 0, "replica 0" });
        QVERIFY2(words.find("held-out") == std::string::npos && words.find("trained too") != std::string::npos,
            words.c_str());
    }

    /// Neither run nor status said which rows, or why; repeats that are trained and broken escapes were in no report.
    void rowsThatCannotBeUsedWereCountedAndNeverNamed()
    {
        RunStatus status;
        QVERIFY(dataInWords(status).empty());
        status.epochs.resize(2);
        status.epochs[0].rowsKnown.failed = 11;
        status.data = { 49, 1, sentence("row %1 of %2 %3", { "2", "chats.jsonl", "has a message 1 without a role" }) };
        const auto words = dataInWords(status);
        QCOMPARE(words.size(), std::size_t(3));
        QCOMPARE(words[0].text(),
            std::string("11 rows cannot be used; the first: row 2 of chats.jsonl has a message 1 without a role."));
        QCOMPARE(words[1].text(),
            std::string("49 samples have the text of one before them in their block, and are trained all the same."));
        QCOMPARE(words[2].text(), std::string("1 sample has bytes or escapes that are not characters."));
    }

    void theEndsOfLongSamplesWereCutOffWithoutAWord()
    {
        RunStatus status;
        status.reading = Reading {};
        status.reading->tooLong = 945;
        QVERIFY(dataInWords(status).empty()); // the rest is in the next window
        for (const auto& [rule, says] : { std::pair(LongSamples::Cut, "their ends are cut off and not trained."),
                 std::pair(LongSamples::LeaveOut, "are left out, among the filtered ones.") }) {
            status.file.config.longSamples = rule;
            const auto words = dataInWords(status);
            QCOMPARE(words.size(), std::size_t(1));
            QCOMPARE(words[0].text(),
                std::string("945 samples are longer than a window") + (rule == LongSamples::Cut ? "; " : " and ")
                    + says);
        }
    }

    /// Entries of the list of what is left out that met nothing were taken without a word.
    void entriesThatMetNothingWereInNoStatus()
    {
        RunStatus status;
        status.reading = Reading {};
        status.reading->exclusions.rows = 3;
        status.reading->unmetExclusions = 4;
        status.reading->firstUnmet = { "chunk 77:0", "pattern zzz" };
        const auto words = dataInWords(status);
        QCOMPARE(words.size(), std::size_t(4));
        QCOMPARE(words[0].text(), std::string("3 rows are left out by name (exclude), among the filtered ones."));
        QVERIFY(words[1].find("'chunk 77:0'") != std::string::npos && words[1].ends_with("no such chunk."));
        QVERIFY(words[2].find("'pattern zzz'") != std::string::npos && words[2].ends_with("met no row."));
        QVERIFY(words[3].starts_with("2 more entries"));
    }

    /// A name that reads like the sentence of something else was taken for it, and a reworded sentence for nothing.
    void whatHappenedWasReadFromEnglishWords()
    {
        const Message waits = sentence("%1. Trying again in %2 s.", { sentence(kWaitingForData, { "503" }), "4" });
        QVERIFY(isSlow(waits) && isSlow(sentence(kDownloadingOf, { "a", "1", "2", "3", "4" })));
        QVERIFY(!isSlow(sentence("block %1: %2", { "3", "waiting for the data: 503" }))); // as a file may be called
        QVERIFY(blockInPreparation(sentence(kPreparingBlock, { "17" })) == 17);
        QVERIFY(blockInPreparation("preparing block 17") == 17); // of a file without parts
        QVERIFY(!blockInPreparation("preparing block 17 of 20") && !blockInPreparation(waits));
        const auto valueIn = [](const Message& told, SentenceText text) {
            const auto values = valuesOf(told, text);
            return values && values->size() == 1 ? values->front() : std::string();
        };
        QCOMPARE(valueIn("epoch 3 opened", kEpochOpened), std::string("3")); // trackers of before version 6
        QCOMPARE(valueIn("epoch 3 opened again", kEpochOpened), std::string());
        QCOMPARE(valueIn("epoch 3 opened again", kEpochOpenedAgain), std::string("3"));
        QCOMPARE(valueIn("12 epochs are complete", kEpochsComplete), std::string("12"));
        QCOMPARE(valueIn(sentence(kEpochsComplete, { "12" }), kEpochsComplete), std::string("12"));
        QVERIFY(
            valuesOf("an epoch is complete", kAnEpochComplete) && !valuesOf("an epoch is complete.", kAnEpochComplete));
        QVERIFY(!valuesOf(sentence("%1", { "an epoch is complete" }), kAnEpochComplete));
    }

    /// After the clock had been ten hours ahead for a while, lanes and play head went on in the future, and a
    /// checkpoint of minutes ago was "1 s ago".
    void timesOfAClockThatWasMovedWereShown()
    {
        constexpr std::int64_t kMinute = 60'000'000'000;
        constexpr std::int64_t kNow = 1'000'000 * kMinute;
        AttemptRow first;
        first.id = { 1 };
        first.startedWallNs = kNow - 100 * kMinute;
        first.endedWallNs = kNow - 90 * kMinute;
        AttemptRow second;
        second.id = { 2 };
        second.startedWallNs = kNow - 10 * kMinute;
        AttemptTimes times;
        times.know({ first, second }, kNow);
        const auto isAt = [&](int attempt, std::int64_t said, std::int64_t shown) {
            return times.at({ attempt }, kNow + said * kMinute) == kNow + shown * kMinute;
        };
        QVERIFY(isAt(1, -99, -99));
        QVERIFY(isAt(1, +600, -99)); // ahead
        QVERIFY(isAt(1, -700, -99)); // behind
        QVERIFY(isAt(1, -95, -95));
        QVERIFY(isAt(1, -50, -95)); // it was over then
        QVERIFY(times.at({ 1 }, kNow - 9 * kMinute, AttemptTimes::Writer::LaterOne) == kNow - 9 * kMinute);
        QVERIFY(times.at({ 1 }, kNow + 99 * kMinute, AttemptTimes::Writer::LaterOne) == kNow - 95 * kMinute);
        QVERIFY(isAt(2, +600, -10)); // nothing came before it
        QVERIFY(isAt(2, -1, -1) && isAt(2, 0, 0));
        QCOMPARE(times.at({ 2 }, 0), std::int64_t(0));
        QVERIFY(isAt(3, +600, 0) && isAt(3, -500, -500)); // of no known attempt
        second.endedWallNs = kNow - 20 * kMinute; // by a clock that was put back meanwhile
        times.know({ first, second }, kNow);
        QVERIFY(isAt(2, -30, -30) && isAt(2, +600, -30));
    }

    /// `status` said "finished (epochs)" and "stopped (user: after a checkpoint)".
    void theReasonOfAnEndWasShownAsItsCode()
    {
        for (int i = static_cast<int>(StopReason::EpochEnd); i <= static_cast<int>(StopReason::Incomplete); ++i) {
            const auto reason = static_cast<StopReason>(i);
            const std::string words = endInWords(reason, {});
            QVERIFY2(words != toString(reason) && words.find(' ') != std::string::npos, words.c_str());
        }
        QCOMPARE(endInWords(StopReason::None, {}), std::string());
        QCOMPARE(endInWords(StopReason::Epochs, {}), std::string("all requested epochs are trained"));
        QCOMPARE(endInWords(StopReason::User, "after a checkpoint"),
            std::string("a person stopped it (after a checkpoint)"));
        QCOMPARE(endInWords(StopReason::Error, "the disk is full"), std::string("the disk is full"));
    }
};

QTEST_GUILESS_MAIN(TestRunRules)
#include "tst_run_rules.moc"
