// Steps whose windows are clipped one by one, with noise: alone and by ranks, over stops and losses.
#include "ranks_on_threads.h"

#include "core/tracker/training_notes.h"
#include "core/train/loop/step_torch.h"

#include <QTest>

#include <cmath>

using namespace furrow;
using namespace furrow::test;

namespace {

constexpr double kClip = 0.4;
constexpr std::int64_t kVocabulary = 31;
constexpr std::int64_t kTokens = 12;

ModelConfig smallModel(bool llama)
{
    ModelConfig config;
    config.layers = 2;
    config.heads = 2;
    config.width = 16;
    config.contextLength = kTokens;
    config.vocabularySize = kVocabulary;
    if (llama) {
        config.positions = Positions::Rotary;
        config.norm = NormKind::Rms;
        config.activation = Activation::Silu;
        config.gated = true;
        config.normBias = config.qkvBias = config.outBias = config.mlpBias = config.tiedHead = false;
    }
    return config;
}

std::unique_ptr<Learner> newModel(bool llama)
{
    OptimizerConfig sgd;
    sgd.kind = OptimizerKind::Sgd;
    sgd.momentum = sgd.weightDecay = 0;
    return must(createModelLearner(smallModel(llama), {}, sgd));
}

/// Windows [range) of a chunk: each has tokens of its own, and another number of labels.
Batch batchOf(WindowRange range)
{
    Batch batch;
    batch.windows = range;
    const at::Tensor window = torch::arange(range.begin, range.end, torch::kInt64).unsqueeze(1);
    const at::Tensor token = torch::arange(kTokens, torch::kInt64).unsqueeze(0);
    batch.inputs_BT = (window * 7 + token * (window % 5 + 1)) % kVocabulary;
    batch.labels_BT = (batch.inputs_BT * 3 + window) % kVocabulary;
    batch.labels_BT.masked_fill_(token.lt(window % 4), kIgnoreLabel);
    batch.labels = range.size() * kTokens;
    batch.learnt = countLabels(batch.labels_BT);
    return batch;
}

/// One rank's part of a step, in micro-batches of two windows.
StepInput stepOf(WindowRange windows, int rank, int ranks)
{
    StepInput step;
    step.windows = windows;
    step.labels = windows.size() * kTokens;
    step.learnt = batchOf(windows).learnt;
    step.noiseSeed = 5;
    const WindowRange share = shareOf(windows, rank, ranks);
    for (std::int32_t begin = share.begin; begin < share.end; begin += 2)
        step.batches.push_back(batchOf({ begin, std::min(begin + 2, share.end) }));
    return step;
}

struct Made {
    at::Tensor norms_W;
    at::Tensor weights;
};

Made makeStep(int rank, RankGroup* group, int ranks, WindowRange windows, bool llama, double noise)
{
    const auto learner = newModel(llama);
    std::vector<StepOutcome> known;
    must(StepRunner(*learner, { 0, kClip, noise }, group).run(stepOf(windows, rank, ranks), 0.5, known));
    return { known.front().sampleNorms_W, learner->model()->parameters().weights().clone() };
}

std::vector<Made> makeStepOn(int ranks, WindowRange windows, bool llama, double noise)
{
    if (ranks == 1)
        return { makeStep(0, nullptr, 1, windows, llama, noise) };
    return onRanks(
        ranks, [&](RankGroup& group) { return makeStep(group.rank(), &group, ranks, windows, llama, noise); });
}

/// Norms, by passes over one window each without any clipping.
at::Tensor normsOneByOne(WindowRange windows, bool llama)
{
    const auto learner = newModel(llama);
    std::vector<double> norms;
    for (std::int32_t window = windows.begin; window < windows.end; ++window) {
        const Batch batch = batchOf({ window, window + 1 });
        learner->accumulate(batch, 1.0 / static_cast<double>(batch.learnt));
        norms.push_back(learner->gradients().norm().item<double>());
        learner->discard();
    }
    return torch::tensor(norms, torch::kFloat);
}

double worstOf(const at::Tensor& norms, const at::Tensor& wanted)
{
    if (norms.sizes() != wanted.sizes())
        return 1;
    return ((norms - wanted).abs() / wanted).max().item<double>();
}

/// What other trainers did: the norms of a rank's first, second, ... window added up over the ranks as if they were
/// parts of one.
at::Tensor summedByPosition(const at::Tensor& norms, int ranks)
{
    const auto windows = static_cast<std::int32_t>(norms.numel());
    at::Tensor squares = torch::zeros({ windows });
    for (int rank = 0; rank < ranks; ++rank) {
        const WindowRange share = shareOf({ 0, windows }, rank, ranks);
        squares.narrow(0, 0, share.size()).add_(norms.narrow(0, share.begin, share.size()).square());
    }
    at::Tensor seen = torch::empty({ windows });
    for (int rank = 0; rank < ranks; ++rank) {
        const WindowRange share = shareOf({ 0, windows }, rank, ranks);
        seen.narrow(0, share.begin, share.size()).copy_(squares.narrow(0, 0, share.size()).sqrt());
    }
    return seen;
}

RunConfig privately(RunConfig c, double noise = 0.6)
{
    c.clipPerSample = kClip;
    c.noiseMultiplier = noise;
    return c;
}

/// Trains until the lease is taken away in the middle, so that what was trained since the last checkpoint is lost.
void trainAndLose(TinyRun& run)
{
    int looks = 0;
    const auto end = runTrainer(run.options(), [&] {
        if (++looks == 14)
            must(run.supervisor().revoke(must(run.reader().incarnations()).back().id, "for a test"));
        return false;
    });
    if (end.ok())
        throw std::runtime_error("it went on without a lease");
}

} // namespace

class TestPrivateSteps : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        qputenv("TORCH_FR_BUFFER_SIZE", "0"); // see tst_ranks.cpp
        at::set_num_threads(1);
    }

    void normsAreThoseOfSingleWindowsHoweverTheyAreShared_data()
    {
        QTest::addColumn<int>("ranks");
        QTest::addColumn<int>("windows");
        QTest::addColumn<bool>("llama");
        for (const int ranks : { 1, 2, 3 })
            for (const int windows : { 1, 2, 5, 9 }) // with 3 ranks: 0+0+1, 0+1+1, 1+2+2, 3+3+3
                for (const bool llama : { false, true })
                    QTest::addRow("%d ranks, %d windows, %s", ranks, windows, llama ? "llama" : "gpt2")
                        << ranks << windows << llama;
        QTest::addRow("more norms than one exchange has room for") << 2 << 300 << false;
    }
    void normsAreThoseOfSingleWindowsHoweverTheyAreShared()
    {
        QFETCH(int, ranks);
        QFETCH(int, windows);
        QFETCH(bool, llama);
        const WindowRange range { 40, 40 + windows };
        const at::Tensor wanted = normsOneByOne(range, llama);
        for (const Made& made : makeStepOn(ranks, range, llama, 0.0)) {
            const double apart = worstOf(made.norms_W, wanted);
            QVERIFY2(apart < 1e-5, qPrintable(QString::number(apart)));
        }
        if (windows > ranks && ranks > 1)
            QVERIFY(worstOf(summedByPosition(wanted, ranks), wanted) > 0.1); // it would be found
    }

    void noiseIsAddedOnceWhateverTheRanks()
    {
        const WindowRange range { 3, 10 };
        const at::Tensor start = newModel(false)->model()->parameters().weights().clone();
        const at::Tensor without = makeStepOn(1, range, false, 0.0)[0].weights;
        const at::Tensor with = makeStepOn(1, range, false, 2.0)[0].weights;
        const double deviation = 0.5 * 2.0 * kClip / 7; // rate, multiplier, bound, windows
        const double seen = (with - without).square().mean().sqrt().item<double>();
        QVERIFY2(std::abs(seen / deviation - 1) < 0.05, qPrintable(QString::number(seen / deviation)));
        QVERIFY((without - start).norm().item<double>() <= 0.5 * kClip);
        for (const int ranks : { 2, 3 }) {
            const auto made = makeStepOn(ranks, range, false, 2.0);
            for (const Made& one : made) {
                QVERIFY((one.weights - with).abs().max().item<double>() < 1e-6);
                QVERIFY(torch::equal(one.weights, made.front().weights));
            }
        }
    }

    void ranksTrainWhatOneWorkerTrains()
    {
        auto alone = privately(oneWorker(6));
        auto together = privately(twoRanks(3));
        TinyRun one(alone);
        one.train();
        TinyRun two(together);
        trainRanks(two);
        NO_FAULT(auditFault(two));
        NO_FAULT(difference(finalWeights(two), finalWeights(one)));

        together.devices = "cpu:3";
        together.workers = 3;
        together.batchSize = 2;
        TinyRun three(together);
        trainRanks(three, 3);
        NO_FAULT(difference(finalWeights(three), finalWeights(one)));
    }

    void aStoppedRunGoesOnWithTheNoiseOfAnUnbrokenOne()
    {
        TinyRun unbroken(privately(oneWorker(3)));
        unbroken.train();
        TinyRun broken(privately(oneWorker(3)));
        broken.train(0, false, 15);
        QVERIFY(!must(broken.reader().epochs()).back().closedWallNs);
        must(broken.supervisor().endAttempt(AttemptId { broken.attempt() }, StopReason::User, ""));
        broken.beginAttempt();
        broken.train();
        NO_FAULT(auditFault(broken));
        QCOMPARE(must(noiseSalt(broken.paths().tracker())), 0);
        QCOMPARE(broken.weightsHash(), unbroken.weightsHash());
    }

    /// The steps after a loss had the noise of the steps that were lost: who had seen both weights could take it off.
    void aStepThatIsTrainedAgainHasOtherNoise()
    {
        for (const double noise : { 0.0, 0.6 }) {
            TinyRun unbroken(privately(oneWorker(3), noise));
            unbroken.train();
            TinyRun broken(privately(oneWorker(3), noise));
            trainAndLose(broken);
            QVERIFY(must(noiseSalt(broken.paths().tracker())) > 0);
            broken.train();
            NO_FAULT(auditFault(broken));
            QCOMPARE(broken.weightsHash() == unbroken.weightsHash(), noise == 0.0);
        }
    }

    void samplesThatAreUnitsHaveAWindowEach()
    {
        auto c = privately(oneWorker(3));
        c.privacyUnit = PrivacyUnit::Sample;
        c.packing = Packing::Single;
        c.longSamples = LongSamples::Cut;
        c.epochs = 2;
        TinyRun run(c, 60);
        run.train();
        NO_FAULT(auditFault(run, 2));
        auto reader = run.reader();
        for (const std::int64_t epoch : { 0, 1 })
            for (const auto& cell : must(reader.cells(epoch)))
                QCOMPARE(cell.windows, cell.samples);
    }
};

QTEST_GUILESS_MAIN(TestPrivateSteps)
#include "tst_private_steps.moc"
