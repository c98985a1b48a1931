#include "core/train/model/gpt_torch.h"
#include "reference_vectors_torch.h"
#include "small_models_torch.h"

#include <QTest>

#include <torch/torch.h>

using namespace furrow;
using namespace furrow::test;

namespace {

constexpr double kTolerance = 1e-5;

at::Tensor shaped(std::int64_t salt, at::IntArrayRef shape)
{
    at::Tensor values = at::empty(shape, at::kFloat);
    for (std::int64_t i = 0; i < values.numel(); ++i)
        values.mutable_data_ptr<float>()[i] = static_cast<float>(pattern(i, salt));
    return values;
}

at::Tensor named(const std::string& name, at::IntArrayRef shape)
{
    at::Tensor values = at::empty(shape, at::kFloat);
    fillTensor(name, values);
    return values;
}

ModelConfig withExperts(const std::string& activation = "swiglu")
{
    ModelConfig config = activation == "swiglu" ? llamaLike() : smallGpt();
    config.moeExperts = 4;
    config.moeActive = 2;
    return config;
}

double worst(const at::Tensor& a, const at::Tensor& b) { return (a - b).abs().max().item<double>(); }

} // namespace

/// The mixture of experts, alone and in a model.
class TestExperts : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); }
    void equalTheMixtralBlockOfTransformers_data();
    void equalTheMixtralBlockOfTransformers();
    void whatATokenGetsDependsOnNoLaterTokenAndNoNeighbour_data();
    void whatATokenGetsDependsOnNoLaterTokenAndNoNeighbour();
    void aCrowdedExpertServesAll();
};

void TestExperts::equalTheMixtralBlockOfTransformers_data()
{
    QTest::addColumn<int>("index");
    const auto records = readVectors("mixtral_vectors.json");
    for (std::size_t i = 0; i < records.size(); ++i)
        QTest::addRow("%d of %d experts", records[i]["active"].get<int>(), records[i]["experts"].get<int>())
            << static_cast<int>(i);
}

void TestExperts::equalTheMixtralBlockOfTransformers() // transformers 5.23, by tests/oracle/mixtral_reference.py
{
    QFETCH(int, index);
    const auto records = readVectors("mixtral_vectors.json");
    const nlohmann::json& record = records[static_cast<std::size_t>(index)];
    ModelConfig config = withExperts();
    config.moeExperts = record["experts"];
    config.moeActive = record["active"];
    const std::int64_t width = record["width"];
    const std::int64_t inner = record["inner"];
    const std::vector<std::int64_t> shape { record["batch"], record["length"], width };
    ExpertWeights weights { named("router", { config.moeExperts, width }) * 10,
        named("up", { config.moeExperts, 2 * inner, width }), named("down", { config.moeExperts, width, inner }) };
    at::Tensor x_BTD = shaped(7, shape);
    for (at::Tensor* one : { &weights.router_ED, &weights.up_EUD, &weights.down_EDF, &x_BTD })
        one->requires_grad_(true);
    const at::Tensor output = mixtureOfExperts(x_BTD, weights, config, Precision::Float32, nullptr);
    QVERIFY(digestError(output.detach(), record["output"]) < kTolerance);
    (output * shaped(8, shape)).sum().backward();
    const auto& gradients = record["gradients"];
    QVERIFY(digestError(x_BTD.grad(), gradients["input"]) < kTolerance);
    QVERIFY(digestError(weights.up_EUD.grad(), gradients["up"]) < kTolerance);
    QVERIFY(digestError(weights.down_EDF.grad(), gradients["down"]) < kTolerance);
    if (config.moeActive > 1) // with one, its share is always 1: what is left is rounding
        QVERIFY(digestError(weights.router_ED.grad(), gradients["router"]) < kTolerance);
}

void TestExperts::whatATokenGetsDependsOnNoLaterTokenAndNoNeighbour_data()
{
    QTest::addColumn<QString>("activation");
    QTest::newRow("gelu") << "gelu";
    QTest::newRow("swiglu") << "swiglu";
}

void TestExperts::whatATokenGetsDependsOnNoLaterTokenAndNoNeighbour() // a queue of limited length moved logits by 8
{
    QFETCH(QString, activation);
    const ModelConfig config = withExperts(activation.toStdString());
    const auto model = make(config);
    fillPattern(*model);
    const auto inputs = patternBatch(0, 0, config, 4, 0).inputs_BT;
    const at::Tensor before = model->logits(inputs);
    at::Tensor later = inputs.clone();
    later.select(0, 1).narrow(0, 9, 7).fill_(3); // all to the same experts
    QVERIFY(worst(model->logits(later).select(0, 1).narrow(0, 0, 9), before.select(0, 1).narrow(0, 0, 9)) < 1e-6);
    at::Tensor neighbours = inputs.clone();
    neighbours.narrow(0, 0, 3).fill_(3);
    QVERIFY(worst(model->logits(neighbours).select(0, 3), before.select(0, 3)) < 1e-6);
    QVERIFY(worst(model->logits(inputs.narrow(0, 3, 1)).select(0, 0), before.select(0, 3)) < 1e-6);
}

void TestExperts::aCrowdedExpertServesAll()
{
    const ModelConfig config = withExperts("gelu");
    const ExpertWeights weights { named("router", { 4, 32 }), named("up", { 4, config.feedForwardWidth(), 32 }),
        named("down", { 4, 32, config.feedForwardWidth() }) };
    const at::Tensor one = shaped(3, { 1, 1, 32 });
    const at::Tensor alone = mixtureOfExperts(one, weights, config, Precision::Float32, nullptr);
    const at::Tensor all = mixtureOfExperts(one.expand({ 4, 16, 32 }), weights, config, Precision::Float32, nullptr);
    QVERIFY(worst(all, alone.expand({ 4, 16, 32 })) < 1e-6);
}

QTEST_GUILESS_MAIN(TestExperts)
#include "tst_experts.moc"
