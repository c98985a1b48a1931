// The step written by hand against libtorch's operators; what only it has: its own dropout.
#include "core/train/cpu/kernels.h"
#include "small_models_torch.h"
#include "tests/must_have.h"

#include <QTest>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <cmath>
#include <vector>

using namespace furrow;
using namespace furrow::test;

namespace {

ModelConfig dropping(ModelConfig config, double dropout)
{
    config.dropout = dropout;
    return config;
}

/// Loss of a training pass with these dropped values; gradients are those of this pass.
double lossWithSeed(Model& model, const Batch& batch, std::uint64_t seed)
{
    model.reseed(seed);
    model.parameters().zeroGradients();
    const double labels = static_cast<double>(countLabels(batch.labels_BT));
    return model.forwardBackward(batch.inputs_BT, batch.labels_BT, 1.0 / labels).sum().item<double>() / labels;
}

} // namespace

class TestFastGpt : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void equalsLibtorch_data();
    void equalsLibtorch();
    void aTextLongerThanTheTrainingWindowIsRead();
    void learnsFromAnswersAloneAsLibtorchDoes();
    void nothingToLearnChangesNothing();
    void repeatsToTheByte();
    void refusesTokensOutsideTheVocabulary();
    void dropsTheAskedShareAndKeepsTheMean();
    void gradientsAreThoseOfTheDroppedNetwork_data();
    void gradientsAreThoseOfTheDroppedNetwork();
    void anyNumberOfThreadsDropsTheSameValues();
    void eachPassDropsOtherValues();
    void evaluationDropsNothing();
};

void TestFastGpt::initTestCase()
{
    at::set_num_threads(1);
    SKIP_WITHOUT("avx2", cpu::kernels() != nullptr, "This processor has neither AVX2 nor AVX-512.");
}

void TestFastGpt::equalsLibtorch_data()
{
    QTest::addColumn<int>("threads");
    QTest::addColumn<bool>("llama");
    QTest::addColumn<int>("context");
    QTest::addColumn<int>("vocabulary");
    QTest::newRow("one thread") << 1 << false << 16 << 29;
    QTest::newRow("three threads, odd sizes") << 3 << false << 77 << 65;
    QTest::newRow("several query blocks") << 1 << false << 200 << 65;
    QTest::newRow("Llama, two threads") << 2 << true << 70 << 130;
}

void TestFastGpt::equalsLibtorch()
{
    QFETCH(int, threads);
    QFETCH(bool, llama);
    QFETCH(int, context);
    QFETCH(int, vocabulary);
    ModelConfig config = llama ? llamaLike() : smallGpt();
    config.contextLength = context;
    config.vocabularySize = vocabulary;
    ModelOptions options;
    options.threads = threads;
    const auto fast = make(config, options);
    QVERIFY(fast->backendName().find("fast") != std::string::npos); // else it would be compared with itself
    options.fastCpu = false;
    const auto slow = make(config, options);
    fillPattern(*fast);
    fillPattern(*slow);
    const Batch batch = patternBatch(0, 0, config, 5, 7);
    const at::Tensor ours = gradientsOf(*fast, batch);
    const at::Tensor theirs = gradientsOf(*slow, batch);
    const double worst = ((ours - theirs).norm() / theirs.norm()).item<double>();
    qInfo("gradients differ by %.1e", worst);
    QVERIFY(worst < 1e-5);
    QVERIFY(at::allclose(fast->forwardBackward(batch.inputs_BT, batch.labels_BT, 1.0),
        slow->forwardBackward(batch.inputs_BT, batch.labels_BT, 1.0), 1e-4, 1e-5)); // of each label, noughts among them
    QVERIFY(relativeError(fast->lossSum(batch.inputs_BT, batch.labels_BT).sum.item<double>(),
                slow->lossSum(batch.inputs_BT, batch.labels_BT).sum.item<double>())
        < 1e-6);
}

/// `eval --tasks` of a run whose model has more context than its window was refused at the first long question.
void TestFastGpt::aTextLongerThanTheTrainingWindowIsRead()
{
    for (ModelConfig config : { smallGpt(), llamaLike() }) {
        config.contextLength = 48;
        config.trainedLength = 16;
        ModelOptions options;
        const auto fast = make(config, options);
        options.fastCpu = false;
        const auto slow = make(config, options);
        fillPattern(*fast);
        fillPattern(*slow);
        for (const std::int64_t length : { 16, 17, 48 }) {
            const Batch batch = patternBatch(0, 0, config, 2, 3);
            const at::Tensor inputs = batch.inputs_BT.narrow(1, 0, length);
            const at::Tensor labels = batch.labels_BT.narrow(1, 0, length);
            const LossSum ours = fast->lossSum(inputs, labels);
            const LossSum theirs = slow->lossSum(inputs, labels);
            QCOMPARE(ours.labels, theirs.labels);
            QVERIFY(relativeError(ours.sum.item<double>(), theirs.sum.item<double>()) < 1e-6);
        }
    }
}

void TestFastGpt::learnsFromAnswersAloneAsLibtorchDoes()
{
    for (ModelConfig config : { smallGpt(), llamaLike() }) {
        config.contextLength = 70;
        ModelOptions options;
        const auto fast = make(config, options);
        options.fastCpu = false;
        const auto slow = make(config, options);
        fillPattern(*fast);
        fillPattern(*slow);
        Batch batch = patternBatch(0, 0, config, 4, 0);
        batch.labels_BT.narrow(1, 0, 40).fill_(kIgnoreLabel); // what was asked
        batch.labels_BT[2].fill_(kIgnoreLabel); // a window without an answer
        const at::Tensor ours = gradientsOf(*fast, batch);
        const at::Tensor theirs = gradientsOf(*slow, batch);
        QVERIFY(((ours - theirs).norm() / theirs.norm()).item<double>() < 1e-5);
        const at::Tensor losses = fast->forwardBackward(batch.inputs_BT, batch.labels_BT, 1.0);
        QVERIFY(at::allclose(losses, slow->forwardBackward(batch.inputs_BT, batch.labels_BT, 1.0), 1e-5, 1e-5));
        QVERIFY(losses[2].eq(0).all().item<bool>());
    }
}

void TestFastGpt::nothingToLearnChangesNothing()
{
    for (const bool isFast : { true, false }) {
        ModelOptions options;
        options.fastCpu = isFast;
        const auto model = make(smallGpt(), options);
        Batch batch = patternBatch(0, 0, smallGpt(), 3, 0);
        batch.labels_BT.fill_(kIgnoreLabel);
        model->parameters().zeroGradients();
        QVERIFY(model->forwardBackward(batch.inputs_BT, batch.labels_BT, 1.0).eq(0).all().item<bool>());
        QVERIFY(model->parameters().gradients().eq(0).all().item<bool>());
        QCOMPARE(model->lossSum(batch.inputs_BT, batch.labels_BT).labels, 0);
    }
}

void TestFastGpt::repeatsToTheByte()
{
    ModelOptions options;
    options.threads = 2;
    const Batch batch = patternBatch(0, 0, smallGpt(), 7, 0);
    QVERIFY(at::equal(gradientsOf(*make(smallGpt(), options), batch), gradientsOf(*make(smallGpt(), options), batch)));
}

void TestFastGpt::refusesTokensOutsideTheVocabulary()
{
    const auto model = make(smallGpt());
    Batch batch = patternBatch(0, 0, smallGpt(), 1, 0);
    batch.inputs_BT[0][3] = 29;
    QVERIFY_EXCEPTION_THROWN(model->forwardBackward(batch.inputs_BT, batch.labels_BT, 1.0), std::exception);
}

void TestFastGpt::dropsTheAskedShareAndKeepsTheMean()
{
    constexpr std::int64_t kCount = 1 << 16;
    std::vector<float> first(kCount, 1.0F);
    std::vector<float> second(kCount, 1.0F);
    cpu::kernels()->drop(0.2F, 11, 0, first.data(), kCount);
    cpu::kernels()->drop(0.2F, 12, 0, second.data(), kCount);
    std::int64_t dropped = 0;
    std::int64_t inBoth = 0;
    std::int64_t inARow = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
        QVERIFY(first[i] == 0.0F || first[i] == 1.25F);
        dropped += first[i] == 0.0F;
        inBoth += first[i] == 0.0F && second[i] == 0.0F;
        inARow += i > 0 && first[i] == 0.0F && first[i - 1] == 0.0F;
    }
    // Five deviations of the binomial numbers.
    QVERIFY2(std::abs(static_cast<double>(dropped) - 0.2 * kCount) < 5 * std::sqrt(0.16 * kCount),
        qPrintable(QString::number(dropped)));
    QVERIFY2(std::abs(static_cast<double>(inBoth) - 0.04 * kCount) < 5 * std::sqrt(0.0384 * kCount),
        qPrintable(QString::number(inBoth)));
    QVERIFY2(std::abs(static_cast<double>(inARow) - 0.04 * kCount) < 5 * std::sqrt(0.06 * kCount),
        qPrintable(QString::number(inARow)));

    std::vector<float> part(32, 1.0F);
    cpu::kernels()->drop(0.2F, 11, 64, part.data(), 32);
    QVERIFY(std::equal(part.begin(), part.end(), first.begin() + 64));
}

void TestFastGpt::gradientsAreThoseOfTheDroppedNetwork_data()
{
    QTest::addColumn<bool>("llama");
    QTest::addColumn<int>("context");
    QTest::newRow("GPT-2 like") << false << 16;
    QTest::newRow("Llama like, several query blocks") << true << 150;
}

void TestFastGpt::gradientsAreThoseOfTheDroppedNetwork()
{
    QFETCH(bool, llama);
    QFETCH(int, context);
    ModelConfig config = dropping(llama ? llamaLike() : smallGpt(), 0.3);
    config.contextLength = context;
    const auto model = make(config);
    QVERIFY(model->backendName().find("fast") != std::string::npos);
    fillPattern(*model);
    const Batch batch = patternBatch(0, 0, config, 3, 2);
    lossWithSeed(*model, batch, 5);
    const at::Tensor gradient = model->parameters().gradients().clone();
    // Along the gradient itself the slope is its norm; float32 leaves about three digits.
    const double norm = gradient.norm().item<double>();
    const double step = 1e-2 / norm;
    const auto lossAt = [&](double distance) {
        model->parameters().weights().add_(gradient, distance / norm);
        model->weightsChanged();
        const double loss = lossWithSeed(*model, batch, 5);
        model->parameters().weights().sub_(gradient, distance / norm);
        return loss;
    };
    const double slope = (lossAt(step) - lossAt(-step)) / (2 * step);
    QVERIFY2(std::abs(slope / norm - 1) < 5e-3, qPrintable(QString("%1 against %2").arg(slope).arg(norm)));
}

void TestFastGpt::anyNumberOfThreadsDropsTheSameValues()
{
    const ModelConfig config = dropping(smallGpt(), 0.3);
    const Batch batch = patternBatch(0, 0, config, 7, 2);
    std::vector<at::Tensor> gradients;
    for (const int threads : { 1, 3 }) {
        ModelOptions options;
        options.threads = threads;
        const auto model = make(config, options);
        lossWithSeed(*model, batch, 5);
        gradients.push_back(model->parameters().gradients().clone());
    }
    QVERIFY(((gradients[0] - gradients[1]).norm() / gradients[0].norm()).item<double>() < 1e-5);
}

void TestFastGpt::eachPassDropsOtherValues()
{
    const ModelConfig config = dropping(smallGpt(), 0.3);
    const Batch batch = patternBatch(0, 0, config, 3, 0);
    const auto model = make(config);
    const double first = lossWithSeed(*model, batch, 5);
    const double next = model->forwardBackward(batch.inputs_BT, batch.labels_BT, 1.0).sum().item<double>()
        / static_cast<double>(countLabels(batch.labels_BT));
    QVERIFY(first != next);
    QCOMPARE(lossWithSeed(*model, batch, 5), first);
}

void TestFastGpt::evaluationDropsNothing()
{
    const auto dropped = make(dropping(smallGpt(), 0.9));
    const auto plain = make(smallGpt());
    const Batch batch = patternBatch(0, 0, smallGpt(), 3, 0);
    QCOMPARE(dropped->lossSum(batch.inputs_BT, batch.labels_BT).sum.item<float>(),
        plain->lossSum(batch.inputs_BT, batch.labels_BT).sum.item<float>());
}

QTEST_GUILESS_MAIN(TestFastGpt)
#include "tst_fast_gpt.moc"
