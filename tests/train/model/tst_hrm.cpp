#include "core/train/model/hrm_torch.h"
#include "core/train/optim/optimizer_torch.h"
#include "core/run/start/learning_rate.h"
#include "reference_vectors_torch.h"

#include <QTest>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <cmath>

using namespace furrow;
using namespace furrow::test;

namespace {

constexpr double kTolerance = 1e-5;
constexpr std::int64_t kRows = 3;

ModelConfig hrmConfig(const nlohmann::json& model)
{
    ModelConfig config = configFrom(model);
    config.architecture = Architecture::Hrm;
    config.hrm.highLayers = model["high_layers"];
    config.hrm.lowLayers = model["low_layers"];
    config.hrm.highCycles = model["high_cycles"];
    config.hrm.lowCycles = model["low_cycles"];
    config.hrm.expansion = model["expansion"];
    config.hrm.maxSegments = model["max_segments"];
    config.hrm.exploration = 0;
    config.hrm.causal = model["causal"];
    config.hrm.stablemax = model["stablemax"];
    config.hrm.exactReward = model["exact_reward"];
    config.hrm.poolLast = model["pool_last"];
    return config;
}

ModelConfig smallText()
{
    ModelConfig config;
    config.architecture = Architecture::Hrm;
    config.positions = Positions::Rotary;
    config.width = 32;
    config.heads = 4;
    config.contextLength = 16;
    config.vocabularySize = 17;
    config.hrm.highLayers = config.hrm.lowLayers = 1;
    config.hrm.maxSegments = 2;
    return config;
}

std::unique_ptr<HrmModel> modelFor(const ModelConfig& config)
{
    return std::make_unique<HrmModel>(config, ModelOptions {});
}

} // namespace

class TestHrm : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); }
    void paperModelHas27275266Parameters();
    void twentySegmentsEqualPyTorch_data();
    void twentySegmentsEqualPyTorch();
    void laterTokensNeverChangeEarlierLogits_data();
    void laterTokensNeverChangeEarlierLogits();
    void randomTokensStayAtLogV();
    void overfitsOneBatch();
    void samplesWithItsTokenCache();
};

void TestHrm::paperModelHas27275266Parameters()
{
    ModelConfig config;
    config.architecture = Architecture::Hrm;
    config.positions = Positions::Rotary;
    config.width = 512;
    config.heads = 8;
    config.vocabularySize = 11;
    config.contextLength = 81;
    QCOMPARE(config.parameterCount(), std::int64_t { 27275266 });
    QCOMPARE(modelFor(config)->parameters().count(), std::int64_t { 27275266 });
}

void TestHrm::twentySegmentsEqualPyTorch_data()
{
    QTest::addColumn<int>("index");
    const nlohmann::json records = readVectors("hrm_vectors.json");
    for (std::size_t i = 0; i < records.size(); ++i)
        QTest::newRow(records[i]["name"].get<std::string>().c_str()) << static_cast<int>(i);
}

void TestHrm::twentySegmentsEqualPyTorch()
{
    QFETCH(int, index);
    const nlohmann::json record = readVectors("hrm_vectors.json")[static_cast<std::size_t>(index)];
    const auto model = modelFor(hrmConfig(record["model"]));
    fillPattern(*model);
    OptimizerConfig settings;
    settings.kind = closedValue<OptimizerKind>(record["training"]["optimizer"]["kind"].get<std::string>()).value();
    const auto optimizer = createOptimizer(model->parameters(), settings);
    LrSchedule schedule { ScheduleKind::Cosine, 3e-3, 3e-4, 4, 0, 20 };

    ModelConfig oneRow = model->config();
    HrmCarry carry = model->startCarry(kRows, oneRow.contextLength);
    at::Tensor inputs = at::zeros({ kRows, oneRow.contextLength }, at::kLong);
    at::Tensor labels = at::zeros_like(inputs);
    const at::Tensor weights = at::full({ kRows }, 1.0 / static_cast<double>(kRows));
    std::int64_t next = 0;
    for (std::size_t step = 0; step < 20; ++step) {
        for (std::int64_t row = 0; row < kRows; ++row) {
            if (!carry.halted_B[row].item<bool>())
                continue;
            const Batch fresh = patternBatch(next++, 0, oneRow, 1, record["training"].value("masked", 0));
            inputs[row].copy_(fresh.inputs_BT[0]);
            labels[row].copy_(oneRow.hrm.causal ? fresh.labels_BT[0] : fresh.inputs_BT[0]);
        }
        model->parameters().zeroGradients();
        const HrmSegment segment = model->trainSegment(carry, inputs, labels, weights);
        if (step == 0)
            QVERIFY2(digestError(segment.logits_BTV, record["logits"]) < kTolerance, "logits differ");
        const double loss = segment.lossSum_B.sum().item<double>() / segment.labels_B.sum().item<double>();
        QVERIFY2(relativeError(loss, record["losses"][step]) < kTolerance,
            qPrintable(QString("loss of step %1 is %2").arg(step).arg(loss, 0, 'g', 10)));
        for (std::int64_t row = 0; row < kRows; ++row)
            QCOMPARE(carry.halted_B[row].item<bool>() ? 1 : 0,
                record["halted"][step][static_cast<std::size_t>(row)].get<int>());
        const double norm
            = optimizer->step(learningRate(schedule, static_cast<std::int64_t>(step), static_cast<double>(step)), 1.0)
                  .item<double>();
        QVERIFY2(relativeError(norm, record["norms"][step]) < kTolerance,
            qPrintable(QString("norm of step %1 is %2").arg(step).arg(norm, 0, 'g', 10)));
    }
    double worst = 0;
    for (const auto& [name, tensor] : model->parameters().tensors())
        worst = std::max(worst, digestError(tensor, record["weights"][name]));
    qInfo("weights after 20 steps: %.1e (relative)", worst);
    QVERIFY(worst < 10 * kTolerance);
}

void TestHrm::laterTokensNeverChangeEarlierLogits_data()
{
    QTest::addColumn<int>("cycles");
    QTest::addColumn<int>("segments");
    QTest::newRow("1 cycle, 1 segment") << 1 << 1;
    QTest::newRow("2 cycles, 2 segments") << 2 << 2;
    QTest::newRow("3 cycles, 4 segments") << 3 << 4;
}

void TestHrm::laterTokensNeverChangeEarlierLogits()
{
    QFETCH(int, cycles);
    QFETCH(int, segments);
    ModelConfig config = smallText();
    config.hrm.highCycles = config.hrm.lowCycles = cycles;
    config.hrm.maxSegments = segments;
    const auto model = modelFor(config);
    const Batch batch = patternBatch(0, 0, config, 2, 0);
    const at::Tensor before = model->logits(batch.inputs_BT);
    for (const std::int64_t changed : { 1, 7, 15 }) {
        at::Tensor other = batch.inputs_BT.clone();
        other.select(1, changed).add_(1).remainder_(config.vocabularySize);
        const at::Tensor after = model->logits(other);
        QVERIFY(at::equal(before.narrow(1, 0, changed), after.narrow(1, 0, changed)));
        QVERIFY(!at::equal(before.select(1, changed), after.select(1, changed)));
    }
}

/// With unshifted labels or without a causal mask the loss on noise would fall far below ln V.
void TestHrm::randomTokensStayAtLogV()
{
    const ModelConfig config = smallText();
    const auto model = modelFor(config);
    const auto optimizer = createOptimizer(model->parameters(), {});
    at::Generator generator = at::detail::createCPUGenerator(5);
    double lastLosses = 0;
    for (int step = 0; step < 60; ++step) {
        const at::Tensor rows
            = at::empty({ 16, config.contextLength + 1 }, at::kLong).random_(0, config.vocabularySize, generator);
        const at::Tensor labels = rows.narrow(1, 1, config.contextLength);
        model->parameters().zeroGradients();
        const double loss = model
                                ->forwardBackward(rows.narrow(1, 0, config.contextLength), labels,
                                    1.0 / static_cast<double>(labels.numel()))
                                .sum()
                                .item<double>()
            / static_cast<double>(labels.numel());
        optimizer->step(1e-3, 1.0);
        if (step >= 50)
            lastLosses += loss / 10;
    }
    QVERIFY2(lastLosses > std::log(17.0) - 0.02, qPrintable(QString::number(lastLosses)));
}

void TestHrm::overfitsOneBatch()
{
    const ModelConfig config = smallText();
    const auto model = modelFor(config);
    const auto optimizer = createOptimizer(model->parameters(), {});
    const Batch batch = patternBatch(0, 0, config, 2, 0);
    const double scale = 1.0 / static_cast<double>(batch.labels_BT.numel());
    for (int step = 0; step < 150; ++step) {
        model->parameters().zeroGradients();
        model->forwardBackward(batch.inputs_BT, batch.labels_BT, scale);
        optimizer->step(3e-3, 1.0);
    }
    const double loss = model->lossSum(batch.inputs_BT, batch.labels_BT).sum.item<double>() * scale;
    QVERIFY2(loss < 0.1, qPrintable(QString::number(loss)));
}

void TestHrm::samplesWithItsTokenCache()
{
    const auto model = modelFor(smallText());
    const Batch batch = patternBatch(0, 0, model->config(), 2, 0);
    const auto cache = model->newCache(2, 16);
    model->nextLogits(batch.inputs_BT.narrow(1, 0, 5), *cache);
    const at::Tensor last = model->nextLogits(batch.inputs_BT.narrow(1, 5, 3), *cache);
    QCOMPARE(cache->length(), std::int64_t { 8 });
    QVERIFY(at::allclose(last, model->logits(batch.inputs_BT.narrow(1, 0, 8)).select(1, 7), 1e-5, 1e-6));
}

QTEST_GUILESS_MAIN(TestHrm)
#include "tst_hrm.moc"
