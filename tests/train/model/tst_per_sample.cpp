// Gradients clipped by sample, against a loop over single samples.
#include "core/train/model/per_sample_torch.h"
#include "core/train/optim/optimizer_torch.h"
#include "small_models_torch.h"

#include <QTest>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <cmath>
#include <limits>

using namespace furrow;
using namespace furrow::test;

namespace {

struct Case {
    ModelConfig config;
    ModelOptions options;
    std::int64_t samples = 5;
    bool hasDocuments = false;
};

Case operatorsOnly(ModelConfig config)
{
    Case one { std::move(config), {} };
    one.options.fastCpu = false;
    return one;
}

Case caseOf(const QString& name)
{
    Case one = operatorsOnly(smallGpt());
    if (name.contains("Llama"))
        one.config = llamaLike();
    if (name.contains("Gemma"))
        one.config = gemmaLike();
    if (name.contains("NeoX"))
        one.config = neoxLike();
    if (name.contains("LoRA"))
        one.config.loraRank = 3;
    if (name.contains("tied Llama"))
        one.config.tiedHead = true;
    if (name.contains("untied GPT"))
        one.config.tiedHead = false;
    if (name.contains("fast"))
        one.options.fastCpu = true;
    if (name.contains("long")) // where the gradient of a sample is smaller than its products of tokens
        one.config.contextLength = 96;
    if (name.contains("large head")) { // whose logits are made twice
        one.config.layers = 1;
        one.config.contextLength = 128;
        one.config.vocabularySize = 40'000;
        one.samples = 14;
    }
    one.hasDocuments = name.contains("documents");
    return one;
}

/// Rows with some labels masked, and repeated tokens; the last row has none to learn.
Batch batchOf(const Case& one)
{
    Batch batch = patternBatch(0, 0, one.config, one.samples, 0);
    batch.labels_BT.narrow(1, 0, 3).fill_(kIgnoreLabel);
    batch.labels_BT.select(0, 1).narrow(0, 5, 7).fill_(kIgnoreLabel);
    batch.labels_BT.select(0, one.samples - 1).fill_(kIgnoreLabel);
    batch.inputs_BT.select(0, 2).narrow(0, 4, 8).fill_(7);
    return batch;
}

at::Tensor placesOf(const Case& one)
{
    if (!one.hasDocuments)
        return {};
    const auto tokens = one.config.trainingLength();
    return at::arange(tokens).remainder(6).expand({ one.samples, tokens }).contiguous();
}

/// The gradient of each sample alone, one row each, by backward passes of single samples.
at::Tensor gradientsOneByOne(Model& model, const Batch& batch, const at::Tensor& places_BT)
{
    std::vector<at::Tensor> each;
    for (std::int64_t sample = 0; sample < batch.inputs_BT.size(0); ++sample) {
        const auto row = [sample](const at::Tensor& all) { return all.defined() ? all.narrow(0, sample, 1) : all; };
        const auto learnt = std::max<std::int64_t>(countLabels(row(batch.labels_BT)), 1);
        model.parameters().zeroGradients();
        model.forwardBackward(
            row(batch.inputs_BT), row(batch.labels_BT), 1.0 / static_cast<double>(learnt), row(places_BT));
        each.push_back(model.parameters().gradients().clone());
    }
    model.parameters().zeroGradients();
    return at::stack(each);
}

} // namespace

class TestPerSample : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); }

    void normsAndSumAreThoseOfSingleSamples_data()
    {
        QTest::addColumn<double>("tolerance");
        for (const char* name : { "GPT-2", "untied GPT-2", "Llama", "tied Llama", "Gemma", "NeoX", "GPT-2 LoRA",
                 "Llama LoRA", "GPT-2 documents", "Llama documents", "GPT-2 fast", "Llama fast", "GPT-2 long",
                 "tied Llama long", "GPT-2 large head", "Llama large head" })
            QTest::newRow(name) << 1e-5;
    }

    void normsAndSumAreThoseOfSingleSamples()
    {
        QFETCH(double, tolerance);
        const Case one = caseOf(QTest::currentDataTag());
        const auto model = make(one.config, one.options);
        fillPattern(*model);
        QVERIFY(model->clipsPerSample());
        const Batch batch = batchOf(one);
        const at::Tensor places_BT = placesOf(one);
        const at::Tensor each = gradientsOneByOne(*model, batch, places_BT);
        const at::Tensor norms = each.to(at::kDouble).norm(2, { 1 });
        const double clip = norms.median().item<double>(); // some are clipped, some are not
        const at::Tensor factors = (clip / (norms + 1e-6)).clamp_max(1.0).to(at::kFloat);
        const at::Tensor wanted = at::mv(each.t(), factors) * 0.25;

        const at::Tensor losses = model->forwardBackward(batch.inputs_BT, batch.labels_BT, 1.0, places_BT);
        model->parameters().zeroGradients();
        model->clippedBackward(batch.inputs_BT, batch.labels_BT, 0.25, clip, places_BT); // it adds
        const auto pass = model->clippedBackward(batch.inputs_BT, batch.labels_BT, 0.25, clip, places_BT);
        QCOMPARE(pass.norms_B.size(0), one.samples);
        QVERIFY(norms[one.samples - 1].item<double>() == 0);
        for (std::int64_t sample = 0; sample < one.samples; ++sample) {
            const double norm = norms[sample].item<double>();
            const double ours = pass.norms_B[sample].item<double>();
            QVERIFY2(
                std::abs(ours - norm) <= tolerance * norm, qPrintable(QString("%1 against %2").arg(ours).arg(norm)));
        }
        const at::Tensor sum = model->parameters().gradients() / 2;
        const double apart = (sum - wanted).norm().item<double>() / wanted.norm().item<double>();
        QVERIFY2(apart < 2 * tolerance, qPrintable(QString::number(apart)));
        QVERIFY((pass.losses_BT - losses).abs().max().item<double>() < 1e-4);
    }

    /// No sample moves the sum further than the bound, whatever it is.
    void noSampleCountsMoreThanTheBound()
    {
        const Case one = operatorsOnly(smallGpt());
        const auto model = make(one.config, one.options);
        fillPattern(*model);
        const Batch batch = batchOf(one);
        for (std::int64_t sample = 0; sample < one.samples - 1; ++sample) {
            model->parameters().zeroGradients();
            model->clippedBackward(
                batch.inputs_BT.narrow(0, sample, 1), batch.labels_BT.narrow(0, sample, 1), 1.0, 1e-3);
            const double norm = model->parameters().gradients().norm().item<double>();
            QVERIFY2(norm <= 1e-3 && norm > 0.99e-3, qPrintable(QString::number(norm)));
        }
    }

    void aSampleWithoutAFiniteGradientAddsNothing()
    {
        const Case one = operatorsOnly(llamaLike());
        const auto model = make(one.config, one.options);
        fillPattern(*model);
        // One token of one sample leads to NaN: the row of its embedding.
        Batch batch = patternBatch(0, 0, one.config, one.samples, 0);
        batch.inputs_BT.masked_fill_(batch.inputs_BT.eq(5), 6);
        batch.inputs_BT.select(0, 2).narrow(0, 4, 1).fill_(5);
        {
            const at::NoGradGuard guard;
            model->parameters().at("embed.weight").select(0, 5).fill_(std::numeric_limits<float>::quiet_NaN());
        }
        model->parameters().zeroGradients();
        const auto pass = model->clippedBackward(batch.inputs_BT, batch.labels_BT, 1.0, 1.0);
        QVERIFY(!std::isfinite(pass.norms_B[2].item<double>()));
        QVERIFY(pass.losses_BT.isfinite().all().item<bool>());
        QCOMPARE(pass.losses_BT.select(0, 2).abs().sum().item<double>(), 0.0);
        const at::Tensor sum = model->parameters().gradients().clone();
        QVERIFY(sum.isfinite().all().item<bool>());

        const at::Tensor rest = at::tensor({ 0, 1, 3, 4 }, at::kLong);
        model->parameters().zeroGradients();
        model->clippedBackward(batch.inputs_BT.index_select(0, rest), batch.labels_BT.index_select(0, rest), 1.0, 1.0);
        const double apart = (model->parameters().gradients() - sum).norm().item<double>();
        QVERIFY2(apart < 1e-5 * sum.norm().item<double>(), qPrintable(QString::number(apart)));

        batch.inputs_BT.select(1, 0).fill_(5); // all of them: the weights are broken, and it shows
        QVERIFY(!model->clippedBackward(batch.inputs_BT, batch.labels_BT, 1.0, 1.0)
                .losses_BT.sum()
                .isfinite()
                .item<bool>());
    }

    void bf16StaysCloseAndBelowTheBound()
    {
        Case one = operatorsOnly(llamaLike());
        const auto exact = make(one.config, one.options);
        one.options.precision = Precision::BFloat16;
        const auto rounded = make(one.config, one.options);
        const Batch batch = batchOf(one);
        const auto a = exact->clippedBackward(batch.inputs_BT, batch.labels_BT, 1.0, 0.01);
        const auto b = rounded->clippedBackward(batch.inputs_BT, batch.labels_BT, 1.0, 0.01);
        QVERIFY(
            ((a.norms_B - b.norms_B).abs() / a.norms_B.clamp_min(1e-9)).narrow(0, 0, 4).max().item<double>() < 0.02);
        rounded->parameters().zeroGradients();
        rounded->clippedBackward(batch.inputs_BT.narrow(0, 0, 1), batch.labels_BT.narrow(0, 0, 1), 1.0, 0.01);
        QVERIFY(rounded->parameters().gradients().norm().item<double>() <= 0.01 * (1 + 1e-6));
    }

    /// A model with dropout drops the same values again after the same seed, on the fast step's model too.
    void dropoutFollowsTheSeed()
    {
        for (const bool fast : { false, true }) {
            Case one = operatorsOnly(smallGpt());
            one.options.fastCpu = fast;
            one.config.dropout = 0.2;
            const auto model = make(one.config, one.options);
            const Batch batch = batchOf(one);
            const auto normsAfter = [&](std::uint64_t seed) {
                model->reseed(seed);
                return model->clippedBackward(batch.inputs_BT, batch.labels_BT, 1.0, 1.0).norms_B.clone();
            };
            const at::Tensor first = normsAfter(3);
            QVERIFY(!at::equal(first, normsAfter(4)));
            QVERIFY(at::equal(first, normsAfter(3)));
        }
    }

    void noiseIsNormalAndFollowsItsSeedAlone()
    {
        const std::int64_t count = 300'001;
        const auto noise = [&](std::uint64_t seed) {
            at::Tensor flat = at::full({ count }, 0.5F);
            addNoise(flat, 2.0, seed);
            return at::Tensor((flat - 0.5) / 2);
        };
        const at::Tensor first = noise(7).to(at::kDouble);
        const double root = std::sqrt(static_cast<double>(count));
        QVERIFY(std::abs(first.mean().item<double>()) < 4 / root);
        QVERIFY(std::abs(first.square().mean().item<double>() - 1) < 4 * std::sqrt(2.0) / root);
        QVERIFY(std::abs(first.pow(4).mean().item<double>() - 3) < 4 * std::sqrt(96.0) / root);
        for (const double edge : { 1.0, 2.0, 3.0 }) {
            const double share = first.abs().gt(edge).to(at::kDouble).mean().item<double>();
            const double wanted = std::erfc(edge / std::sqrt(2.0));
            QVERIFY2(std::abs(share - wanted) < 4 * std::sqrt(wanted) / root, qPrintable(QString::number(share)));
        }
        const at::Tensor half = first.narrow(0, 0, count / 2);
        const double together = (half * first.narrow(0, count - count / 2, count / 2)).mean().item<double>();
        QVERIFY(std::abs(together) < 6 / root);
        QVERIFY(!at::equal(noise(8), noise(7)));
        at::set_num_threads(2);
        const at::Tensor again = noise(7);
        at::set_num_threads(1);
        QVERIFY(at::equal(again, noise(7)));
    }

    /// Norms, clipped sum and the weights after a step of tests/oracle/opacus_reference.py (Opacus 1.6).
    void normsAndStepAreThoseOfOpacus()
    {
        const nlohmann::json records = readVectors("opacus_vectors.json");
        QVERIFY(records.size() >= 4);
        for (const nlohmann::json& record : records) {
            const std::string name = record["name"];
            ModelOptions options;
            options.fastCpu = false;
            const auto model = make(configFrom(record["model"]), options);
            fillPattern(*model);
            const std::int64_t samples = record["samples"];
            const Batch batch = patternBatch(0, 0, model->config(), samples, record["masked"]);
            model->parameters().zeroGradients();
            const auto pass = model->clippedBackward(
                batch.inputs_BT, batch.labels_BT, 1.0 / static_cast<double>(samples), record["clip"]);
            QVERIFY2(relativeError(pass.losses_BT.sum().item<double>(), record["loss"]) < 1e-5, name.c_str());
            for (std::int64_t sample = 0; sample < samples; ++sample) {
                const double error = relativeError(
                    pass.norms_B[sample].item<double>(), record["norms"][static_cast<std::size_t>(sample)]);
                QVERIFY2(error < 1e-5, qPrintable(QString::fromStdString(name) + QString(" %1").arg(error)));
            }
            for (const auto& [weight, digest] : record["gradients"].items())
                QVERIFY2(
                    digestError(model->parameters().gradientOf(weight), digest) < 1e-5, (name + " " + weight).c_str());
            OptimizerConfig sgd;
            sgd.kind = OptimizerKind::Sgd;
            sgd.momentum = sgd.weightDecay = 0;
            createOptimizer(model->parameters(), sgd)->step(record["rate"], 0);
            for (const auto& [weight, digest] : record["weights"].items())
                QVERIFY2(digestError(model->parameters().at(weight), digest) < 1e-5, (name + " " + weight).c_str());
        }
    }

    void modelsThatCannotSayNo()
    {
        Case one = operatorsOnly(smallGpt());
        one.options.checkpointActivations = true;
        QVERIFY(!make(one.config, one.options)->clipsPerSample());
        one = operatorsOnly(smallGpt());
        one.config.moeExperts = 4;
        QVERIFY(!make(one.config, one.options)->clipsPerSample());
        one = operatorsOnly(smallGpt());
        one.config.architecture = Architecture::Hrm;
        QVERIFY(!make(one.config, one.options)->clipsPerSample());
    }
};

QTEST_GUILESS_MAIN(TestPerSample)
#include "tst_per_sample.moc"
