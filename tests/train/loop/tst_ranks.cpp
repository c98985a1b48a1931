// Data-parallel training with ranks on threads: sums, and runs that equal those of one worker.
#include <torch/torch.h>

#include "ranks_on_threads.h"

#include "core/collective/gradient_sum_torch.h"
#include "core/trials/storm/counting_check.h"
#include "core/telemetry/run_telemetry.h"
#include "core/train/checkpoint/checkpoint_torch.h"
#include "core/train/loop/step_torch.h"
#include "core/train/loop/training_session_torch.h"

#include <torch/csrc/distributed/c10d/FileStore.hpp>

#include <QElapsedTimer>
#include <QTest>

#include <thread>

using namespace furrow;
using namespace furrow::test;

namespace {

Message messageOf(const Status& status) { return status.ok() ? Message() : status.error().message; }

struct Curve {
    std::vector<float> loss, norm, tokens;
};
Curve curveOf(const TinyRun& run, int worker)
{
    RunTelemetry telemetry(run.paths().telemetryFolder());
    while (telemetry.poll()) { }
    const auto snapshot = telemetry.snapshot();
    Curve curve;
    for (const auto& stretch : snapshot->stretches)
        for (std::size_t i = 0; stretch.worker == worker && i < stretch.size(); ++i) {
            curve.loss.push_back(stretch.loss.values[i]);
            curve.norm.push_back(stretch.gradientNorm.values[i]);
            curve.tokens.push_back(stretch.stepTokens.values[i]);
        }
    return curve;
}

} // namespace

class TestRanks : public QObject {
    Q_OBJECT

private Q_SLOTS:
    /// libtorch's flight recorder of collectives fills one map of the process without a lock. Ranks are processes;
    /// only here are they threads of one.
    void initTestCase() { qputenv("TORCH_FR_BUFFER_SIZE", "0"); }

    void sharesOfAStepTileItAndDifferByOne()
    {
        for (const int ranks : { 1, 2, 3, 8 })
            for (std::int32_t size = 0; size < 20; ++size) {
                std::int32_t at = 100;
                for (int rank = 0; rank < ranks; ++rank) {
                    const auto share = shareOf({ 100, 100 + size }, rank, ranks);
                    QCOMPARE(share.begin, at);
                    QVERIFY(share.size() == size / ranks || share.size() == (size + ranks - 1) / ranks);
                    at = share.end;
                }
                QCOMPARE(at, 100 + size);
            }
    }

    /// What the pairs stand beside is in no checkpoint; a follower has it from rank 0 all the same.
    void pairsOfLoraAreTrainedByRanksAndGoOnAfterAStop()
    {
        TinyRun whole;
        whole.train(0, false, 11);
        const auto with = [&](RunConfig c) {
            c.initFrom = whole.paths().checkpointFolder(whole.head().record.folder).string();
            c.loraRank = 2;
            return c;
        };
        TinyRun one(with(oneWorker(6)));
        one.train();
        TinyRun unbroken(with(twoRanks(3)));
        trainRanks(unbroken);
        QCOMPARE(difference(finalWeights(unbroken), finalWeights(one)), std::string());
        TinyRun broken(with(twoRanks(3)));
        trainRanks(broken, 2,
            [looks = std::make_shared<std::atomic<int>>(0)](int rank) { return rank == 0 && ++*looks > 12; });
        QVERIFY(must(readManifest(broken.paths().checkpointFolder(broken.head().record.folder))).frozen.has_value());
        broken.beginAttempt();
        trainRanks(broken);
        QCOMPARE(broken.weightsHash(), unbroken.weightsHash());
        NO_FAULT(auditFault(broken));
    }

    /// A chunk of 1,025 windows ended with a step of one window, at the full learning rate.
    void theLastTwoStepsOfAChunkShareWhatIsLeft()
    {
        for (std::int32_t most = 1; most < 20; ++most)
            for (std::int32_t size = 1; size < 100; ++size) {
                WindowRange left { 7, 7 + size };
                int steps = 0;
                for (; left.size() > 0; ++steps) {
                    const auto step = nextStep(left, most);
                    QCOMPARE(step.begin, left.begin);
                    QVERIFY(step.size() <= most && step.size() >= std::min(size, most / 2));
                    QVERIFY(step.size() == most || left.size() < 2 * most);
                    left.begin = step.end;
                }
                QCOMPARE(steps, (size + most - 1) / most);
            }
    }

    void exchangeAddsOnEveryRankAndBroadcastGivesThatOfRankZero()
    {
        const auto got = onRanks(3, [](RankGroup& group) {
            std::vector<std::int64_t> values { group.rank(), 10 };
            must(group.exchange(RankGroup::Exchange::Order, values));
            auto tensor = torch::full({ 5 }, static_cast<float>(group.rank() + 7));
            must(group.broadcast(tensor));
            values.push_back(tensor.sum().item<std::int64_t>());
            return values;
        });
        for (const auto& values : got)
            QCOMPARE(values, (std::vector<std::int64_t> { 3, 30, 35 }));
    }

    void gradientsAreSummedInPiecesWhileBackwardIsStillAtWork()
    {
        struct Seen {
            at::Tensor gradients;
            std::int64_t pieces, early;
        };
        const auto sumOf = [](RankGroup& group, bool backward) {
            auto flat = torch::zeros({ 8 * 100 + 16 }).narrow(0, 0, 8 * 100);
            std::vector<GradientSum::Parameter> layers;
            for (int i = 0; i < 8; ++i) {
                auto leaf = torch::full({ 10, 10 }, 0.1f * static_cast<float>(i + 1)).set_requires_grad(true);
                leaf.mutable_grad() = flat.narrow(0, i * 100, 100).view({ 10, 10 });
                layers.push_back({ leaf, i * 100, 100 });
            }
            GradientSum sum(group, flat, layers, true, 300 * 4); // three pieces over the borders of layers
            for (int turn = 0; turn < 2; ++turn) {
                flat.zero_();
                if (backward) {
                    sum.arm();
                    auto x = torch::full({ 1, 10 }, static_cast<float>(group.rank() + 1));
                    for (const auto& layer : layers)
                        x = torch::tanh(torch::matmul(x, layer.leaf));
                    x.sum().backward();
                }
                must(sum.finish());
            }
            return Seen { flat.clone(), sum.pieces(), sum.early() };
        };
        const auto one
            = onRanks(2, [&](RankGroup& group) { return sumOf(group, group.rank() == 0); }); // rank 1 has no window
        const auto other = onRanks(2, [&](RankGroup& group) { return sumOf(group, group.rank() == 1); });
        const auto both = onRanks(2, [&](RankGroup& group) { return sumOf(group, true); });
        QCOMPARE(both[0].pieces, 3);
        QCOMPARE(both[0].early, 2); // all but the one of the first layer
        QCOMPARE(one[1].early, 0);
        QVERIFY(torch::equal(both[0].gradients, both[1].gradients));
        QVERIFY(torch::allclose(both[0].gradients, one[0].gradients + other[0].gradients, 1e-6, 1e-9));
        QVERIFY(both[0].gradients.abs().min().item<double>() > 0);
    }

    void rankThatLeavesASumOutIsNamedByAll()
    {
        const auto said = onRanks(
            3,
            [](RankGroup& group) {
                auto piece = torch::ones({ 8 });
                std::vector<std::int64_t> values { 0 };
                must(group.exchange(RankGroup::Exchange::Order, values));
                if (group.rank() != 2)
                    group.beginSum(piece);
                auto status = group.finishSums();
                if (status.ok())
                    status = group.exchange(RankGroup::Exchange::Loss, values);
                return messageOf(status);
            },
            4);
        for (const auto& text : said)
            QVERIFY2(text.find("rank 2 (worker 2") != std::string::npos
                    && text.find("left a collective call out") != std::string::npos,
                text.c_str());
    }

    void rankAtAnotherExchangeIsNamedByAll()
    {
        const auto said = onRanks(2, [](RankGroup& group) {
            std::vector<std::int64_t> values { 0 };
            must(group.exchange(RankGroup::Exchange::Order, values));
            return messageOf(group.exchange(group.rank() == 0 ? RankGroup::Exchange::Loss : RankGroup::Exchange::Order,
                values)); // rank 1 left the loss out
        });
        for (const auto& text : said)
            QVERIFY2(text.find("rank 1 (worker 1") != std::string::npos
                    && text.find("left a collective call out") != std::string::npos,
                text.c_str());
    }

    void rankThatEndsSaysWhyAndTheOthersRepeatIt()
    {
        const auto said = onRanks(
            2,
            [](RankGroup& group) {
                std::vector<std::int64_t> values { 0 };
                must(group.exchange(
                    RankGroup::Exchange::Order, values)); // both have joined: else the other one cannot even do that
                if (group.rank() == 1) {
                    group.leave("cuda:1 ran out of memory");
                    return std::string();
                }
                return std::string(messageOf(group.exchange(RankGroup::Exchange::Order, values)));
            },
            4);
        QVERIFY2(said[0].find("rank 1 (worker 1") != std::string::npos
                && said[0].find("ended: cuda:1 ran out of memory") != std::string::npos,
            said[0].c_str());
    }

    void rankThatNeverComesIsNamed()
    {
        QTemporaryDir folder;
        RankGroupOptions options;
        options.ranks = 3;
        options.meetingFile = folder.filePath("meeting").toStdString();
        options.meetingSeconds = 0.2;
        const auto group = RankGroup::join(options);
        QVERIFY(!group.ok());
        QVERIFY2(group.error().message.find("rank 1 (worker 1) and rank 2 (worker 2) of 3 did not come")
                != std::string::npos,
            group.error().message.c_str());
    }

    /// A stop soon after a start: one rank ended before it could listen, and the run waited five minutes for the other.
    void aRankThatWaitedForAnotherHeardNoStop()
    {
        QTemporaryDir folder;
        RankGroupOptions options;
        options.meetingFile = std::filesystem::path(folder.path().toStdString()) / "meeting";
        int asked = 0;
        options.stopRequested = [&asked] { return ++asked > 3; };
        QElapsedTimer timer;
        timer.start();
        const auto joined = RankGroup::join(options);
        QVERIFY(!joined.ok() && joined.error().code == ErrorCode::Cancelled);
        QVERIFY(timer.elapsed() < 10'000);
    }

    /// One that died after it had come, while the ranks connected, was waited for as long as one that trains.
    void aRankThatDiedWhileTheyConnectedWasWaitedForTwoMinutes()
    {
        QTemporaryDir folder;
        RankGroupOptions options;
        options.meetingFile = std::filesystem::path(folder.path().toStdString()) / "meeting";
        options.connectSeconds = 2;
        ProcessOptions sleeping;
        sleeping.arguments = { "1" };
        auto other = ChildProcess::start("/bin/sleep", sleeping);
        QVERIFY(other.ok());
        const ProcessIdentity process = other.value().identity();
        c10d::FileStore meeting(options.meetingFile.string(), -1);
        static_cast<c10d::Store&>(meeting).set(
            "here/1", std::to_string(process.pid) + " " + std::to_string(process.startTime) + " " + process.place);
        const std::jthread reaper([&other] { (void)other.value().wait(std::chrono::seconds(5)); });
        QElapsedTimer timer;
        timer.start();
        const auto joined = RankGroup::join(options);
        QVERIFY(!joined.ok());
        QVERIFY2(joined.error().message.find("rank 1 (worker 1, process " + std::to_string(process.pid))
                != std::string::npos,
            joined.error().message.c_str());
        QVERIFY(timer.elapsed() < 8'000);
    }

    void twoRanksEqualOneWorkerWithTwiceTheBatch_data()
    {
        QTest::addColumn<QString>("kind");
        for (const char* kind : { "plain", "libtorch", "llama", "experts", "ema", "sgd" })
            QTest::newRow(kind) << QString::fromLatin1(kind);
    }
    void twoRanksEqualOneWorkerWithTwiceTheBatch()
    {
        QFETCH(QString, kind);
        const auto changed = [&kind](RunConfig c) {
            if (kind == QStringLiteral("libtorch"))
                c.width = 24; // no multiple of 16: libtorch's operators, gradients summed during backward
            if (kind == QStringLiteral("llama")) {
                c.positions = Positions::Rotary;
                c.norm = NormKind::Rms;
                c.activation = FeedForward::SwiGlu;
                c.bias = false;
                c.recompute = true;
            }
            if (kind == QStringLiteral("experts"))
                c.moeExperts = 4;
            if (kind == QStringLiteral("ema"))
                c.emaDecay = 0.9;
            if (kind == QStringLiteral("sgd")) {
                c.optimizer = OptimizerKind::Sgd;
                c.lr = 0.05;
            }
            return c;
        };
        TinyRun alone(changed(oneWorker(6)));
        alone.train();
        TinyRun together(changed(twoRanks(3)));
        const auto ends = trainRanks(together);
        QCOMPARE(ends[0].cause, std::string("no further epoch is to be trained"));
        QCOMPARE(ends[1].stepsHere, ends[0].stepsHere);
        NO_FAULT(auditFault(together));
        if (kind != QStringLiteral("experts")) // their balance loss is not linear in the batch
            NO_FAULT(difference(finalWeights(together), finalWeights(alone)));
        const auto one = curveOf(alone, 0);
        const auto two = curveOf(together, 0);
        QVERIFY(one.loss.size() > 20);
        QCOMPARE(two.loss.size(), one.loss.size());
        QCOMPARE(two.tokens, one.tokens);
        for (std::size_t i = 0; i < one.loss.size() && kind != QStringLiteral("experts"); ++i) {
            QVERIFY2(std::abs(one.loss[i] - two.loss[i]) <= 1e-5f * one.loss[i], std::to_string(i).c_str());
            QVERIFY2(std::abs(one.norm[i] - two.norm[i]) <= 1e-4f * one.norm[i], std::to_string(i).c_str());
        }
    }

    void shortStepsLeaveSomeRanksWithoutWindows() // three ranks, chunks that end in steps of one or two windows
    {
        auto c = twoRanks(2);
        c.devices = "cpu:3";
        c.workers = 3;
        c.seqLen = 32;
        c.chunkSamples = 20;
        TinyRun together(c, 80);
        auto one = oneWorker(6);
        one.seqLen = 32;
        one.chunkSamples = 20;
        TinyRun alone(one, 80);
        alone.train();
        trainRanks(together, 3);
        NO_FAULT(auditFault(together));
        NO_FAULT(difference(finalWeights(together), finalWeights(alone)));
    }

    void followersTellTheirOwnSpeedAndNothingElse()
    {
        TinyRun run(twoRanks(3));
        trainRanks(run);
        RunTelemetry telemetry(run.paths().telemetryFolder());
        while (telemetry.poll()) { }
        const auto snapshot = telemetry.snapshot();
        double tokens = 0;
        bool follower = false;
        for (const auto& stretch : snapshot->stretches) {
            QCOMPARE(stretch.rank, stretch.worker);
            for (std::size_t i = 0; i < stretch.size(); ++i) {
                QVERIFY(stretch.memoryMiB.values[i] > 0);
                tokens += stretch.rank == 0 ? stretch.stepTokens.values[i] : 0; // of the group
            }
            follower = follower || stretch.rank == 1;
        }
        QVERIFY(follower);
        QCOMPARE(static_cast<std::int64_t>(tokens), must(run.reader().totals()).tokens);
        int ranksSeen = 0;
        for (const auto& row : must(run.reader().incarnations())) {
            ranksSeen |= 1 << row.worker;
            QCOMPARE(row.device, std::string("cpu"));
            if (row.worker == 1)
                QCOMPARE(row.replica, kFollower);
        }
        QCOMPARE(ranksSeen, 3);
        QCOMPARE(must(run.reader().replicas()).size(), std::size_t(1));
    }

    void stoppedAndResumedRanksEndWhereUnbrokenOnesDo()
    {
        TinyRun whole(twoRanks(3));
        trainRanks(whole);
        TinyRun parts(twoRanks(3));
        int looks = 0;
        trainRanks(parts, 2, [&looks](int rank) { return rank == 0 && ++looks > 15; });
        QVERIFY(!must(parts.reader().epochs()).back().closedWallNs);
        must(parts.supervisor().endAttempt(AttemptId { parts.attempt() }, StopReason::User, ""));
        parts.beginAttempt();
        trainRanks(parts);
        NO_FAULT(auditFault(parts));
        QCOMPARE(parts.weightsHash(), whole.weightsHash());
    }

    void followerThatIsAskedToStopStopsAll()
    {
        TinyRun run(twoRanks(1));
        int looks = 0;
        const auto ends = trainRanks(run, 2, [&looks](int rank) { return rank == 1 && ++looks > 5; });
        QCOMPARE(ends[0].cause, std::string("stopped"));
        QCOMPARE(ends[1].cause, std::string("rank 0 ended"));
        QVERIFY(run.audited().isClean());
    }

    void countingModelOfAGroupHasEachWindowOnce()
    {
        TinyRun run(twoRanks(3));
        trainRanks(run, 2, {}, true);
        NO_FAULT(auditFault(run));
        const auto verdict = must(checkCounting(run.paths()));
        QVERIFY(verdict.windows > 50);
        QVERIFY2(verdict.isExact(), verdict.firstFault.c_str());
    }

    void countsGoOnWithTheGroupThatComesNext()
    {
        TinyRun run(twoRanks(3));
        int looks = 0;
        trainRanks(run, 2, [&looks](int rank) { return rank == 0 && ++looks > 15; }, true);
        must(run.supervisor().endAttempt(AttemptId { run.attempt() }, StopReason::User, ""));
        run.beginAttempt();
        trainRanks(run, 2, {}, true);
        NO_FAULT(auditFault(run));
        QVERIFY(must(checkCounting(run.paths())).isExact());
    }
};

QTEST_GUILESS_MAIN(TestRanks)
#include "tst_ranks.moc"
