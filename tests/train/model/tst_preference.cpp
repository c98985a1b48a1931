// Direct preference optimisation: losses by hand, gradients against differences, and what they reach.
#include "core/data/block/chunk_windows.h"
#include "core/train/model/preference_torch.h"
#include "small_models_torch.h"

#include <QTest>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>

using namespace furrow;
using namespace furrow::test;

namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

constexpr std::int64_t kPairs = 3;

/// Two rows of windows with three pairs, as ChunkWindows makes them.
Model::PairRows rows()
{
    ChunkText text;
    text.offsets = { 0 };
    const auto add = [&text](std::initializer_list<std::uint32_t> prompt, std::initializer_list<std::uint32_t> chosen,
                         std::initializer_list<std::uint32_t> rejected) {
        for (const auto* side : { &chosen, &rejected }) {
            text.tokens.insert(text.tokens.end(), prompt.begin(), prompt.end());
            text.learnt.insert(text.learnt.end(), prompt.size(), 0);
            text.tokens.insert(text.tokens.end(), side->begin(), side->end());
            text.learnt.insert(text.learnt.end(), side->size(), 1);
        }
        text.offsets.push_back(text.tokens.size());
        text.flags.push_back(0);
    };
    add({ 3, 4 }, { 5, 6 }, { 7 });
    add({ 8 }, { 9 }, { 10, 11, 12 });
    add({ 13, 14, 15 }, { 16, 17, 18 }, { 19, 20, 21, 22 });
    const WindowRules rules { 16, DocumentMasks::Auto, Packing::Auto, true };
    const ChunkWindows windows(text, 0, rules, { .shuffle = false });
    const int count = windows.count();
    const auto options = at::TensorOptions().dtype(at::kLong);
    const auto table = [&] { return at::empty({ count, 16 }, options); };
    Model::PairRows made { table(), table(), table(), table(), kPairs };
    windows.fill(0, count, made.inputs_BT.data_ptr<std::int64_t>(), made.labels_BT.data_ptr<std::int64_t>());
    windows.places(0, count, made.places_BT.data_ptr<std::int64_t>());
    windows.answers(0, count, made.answers_BT.data_ptr<std::int64_t>());
    return made;
}

/// A model that is trained a little already: its pairs of LoRA are not 0.
std::unique_ptr<Model> trained(ModelConfig config)
{
    config.loraRank = 3;
    auto model = make(config);
    const at::NoGradGuard guard;
    at::Generator generator = at::detail::createCPUGenerator(5);
    for (const auto& [name, tensor] : model->parameters().tensors())
        tensor.copy_(at::empty(tensor.sizes()).normal_(0, 0.2, generator));
    model->weightsChanged();
    return model;
}

double lossOf(Model& model, const Model::PairRows& made, const PreferenceRule& rule)
{
    return model.pairPass(made, rule).losses_BT.sum(at::kDouble).item<double>();
}

} // namespace

class TestPreference : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void theLossIsTheOneByHand()
    {
        const at::Tensor model = at::tensor({ -2.0F, -3.0F, -4.0F, -1.0F });
        const at::Tensor reference = at::tensor({ -2.5F, -2.0F, -4.0F, -2.0F });
        const at::Tensor tokens = at::tensor({ 2.0F, 4.0F, 1.0F, 5.0F });
        const auto whole = pairLosses(model, reference, tokens, { 0.5, DpoNormalise::None });
        // The chosen one gained 0.5, the rejected one lost 1; then 0 and 1.
        const double difference[] { 0.5 * 1.5, 0.5 * -1 };
        for (int pair = 0; pair < 2; ++pair) {
            const double h = difference[pair];
            QVERIFY(std::abs(whole.losses_P[pair].item<double>() + std::log(sigmoid(h))) < 1e-6);
            QVERIFY(std::abs(whole.margins_P[pair].item<double>() - h) < 1e-6);
            QVERIFY(std::abs(whole.slopes_S[2 * pair].item<double>() + 0.5 * sigmoid(-h)) < 1e-6);
            QVERIFY(std::abs(whole.slopes_S[2 * pair + 1].item<double>() - 0.5 * sigmoid(-h)) < 1e-6);
        }
        const auto byLength = pairLosses(model, reference, tokens, { 2, DpoNormalise::Length });
        const double h = 2 * (0.5 / 2 + 1.0 / 4);
        QVERIFY(std::abs(byLength.losses_P[0].item<double>() + std::log(sigmoid(h))) < 1e-6);
        QVERIFY(std::abs(byLength.margins_P[0].item<double>() - 2 * 1.5) < 1e-6); // of whole answers, as trl
        QVERIFY(std::abs(byLength.slopes_S[0].item<double>() + 2 * sigmoid(-h) / 2) < 1e-6);
        QVERIFY(std::abs(byLength.slopes_S[1].item<double>() - 2 * sigmoid(-h) / 4) < 1e-6);
    }

    void freshPairsOfLoraMakeTheReference()
    {
        auto config = llamaLike();
        config.loraRank = 2;
        const auto model = make(config);
        const Model::PairRows made = rows();
        const auto pass = model->pairPass(made, { 0.1, {} });
        QVERIFY(pass.margins_P.abs().max().item<double>() == 0);
        QVERIFY(std::abs(pass.losses_BT.sum().item<double>() - kPairs * std::log(2.0)) < 1e-5);
        QVERIFY(pass.losses_BT.masked_select(made.answers_BT.lt(0)).abs().sum().item<double>() == 0);
    }

    void comparesEachAnswerAsIfItStoodAlone()
    {
        const auto model = trained(llamaLike());
        const Model::PairRows made = rows();
        const PreferenceRule rule { 0.3, DpoNormalise::None };
        const auto pass = model->pairPass(made, rule);
        // The second pair: 8 | 9 against 8 | 10 11 12.
        const auto logProbability = [](Model& of, const std::vector<std::int64_t>& tokens) {
            const at::Tensor all = at::tensor(tokens).unsqueeze(0);
            const auto last = static_cast<std::int64_t>(tokens.size()) - 1;
            const at::Tensor found = of.logits(all.narrow(1, 0, last)).log_softmax(-1);
            return found.gather(2, all.narrow(1, 1, last).unsqueeze(2)).sum().item<double>();
        };
        auto bare = llamaLike(); // the same frozen weights, alone
        const auto reference = make(bare);
        NamedTensors start;
        for (const auto& [name, tensor] : model->buffers())
            start.emplace_back(name, tensor);
        QVERIFY(loadModelState(*reference, start).ok());
        const double chosen = logProbability(*model, { 8, 9 }) - logProbability(*reference, { 8, 9 });
        const double rejected
            = logProbability(*model, { 8, 10, 11, 12 }) - logProbability(*reference, { 8, 10, 11, 12 });
        const double wanted = 0.3 * (chosen - rejected);
        QVERIFY((pass.margins_P - wanted).abs().min().item<double>() < 1e-4);
    }

    void gradientsAreThoseOfDifferences_data()
    {
        QTest::addColumn<bool>("byLength");
        QTest::addColumn<bool>("recomputes");
        QTest::newRow("whole answers") << false << false;
        QTest::newRow("by length") << true << false;
        QTest::newRow("recomputed") << false << true;
    }
    void gradientsAreThoseOfDifferences()
    {
        QFETCH(bool, byLength);
        QFETCH(bool, recomputes);
        auto config = llamaLike();
        config.loraRank = 3;
        ModelOptions options;
        options.checkpointActivations = recomputes;
        const auto model = make(config, options);
        {
            const at::NoGradGuard guard;
            at::Generator generator = at::detail::createCPUGenerator(5);
            for (const auto& [name, tensor] : model->parameters().tensors())
                tensor.copy_(at::empty(tensor.sizes()).normal_(0, 0.2, generator));
            model->weightsChanged();
        }
        const Model::PairRows made = rows();
        const PreferenceRule rule { 0.5, byLength ? DpoNormalise::Length : DpoNormalise::None };
        model->parameters().zeroGradients();
        const auto pass = model->pairBackward(made, rule, 1.0);
        QVERIFY(std::abs(pass.losses_BT.sum(at::kDouble).item<double>() - lossOf(*model, made, rule)) < 1e-5);
        const at::Tensor gradient = model->parameters().gradients().clone();
        // Along the gradient itself the loss rises as fast as it is long.
        const double length = gradient.norm().item<double>();
        QVERIFY(length > 0);
        const at::Tensor weights = model->parameters().weights().clone();
        const double step = 1e-3; // the loss bends quickly here
        double loss[2];
        for (int side = 0; side < 2; ++side) {
            const at::NoGradGuard guard;
            model->parameters().weights().copy_(weights + gradient * ((side == 0 ? step : -step) / length));
            model->weightsChanged();
            loss[side] = lossOf(*model, made, rule);
        }
        const double slope = (loss[0] - loss[1]) / (2 * step);
        QVERIFY2(std::abs(slope - length) < 0.02 * length, qPrintable(QString::number(slope / length)));
    }

    void theGradientReachesThePairsOfLoraAlone()
    {
        const auto model = trained(llamaLike());
        const Model::PairRows made = rows();
        std::vector<at::Tensor> before;
        for (const auto& [name, tensor] : model->buffers())
            before.push_back(tensor.clone());
        model->parameters().zeroGradients();
        model->pairBackward(made, { 0.1, {} }, 1.0 / kPairs);
        for (const auto& [name, tensor] : model->parameters().tensors())
            QVERIFY(isLoraPair(name));
        QVERIFY(model->parameters().gradients().abs().max().item<double>() > 0);
        for (std::size_t i = 0; i < before.size(); ++i) {
            QVERIFY(!model->buffers()[i].second.grad().defined());
            QVERIFY(at::equal(model->buffers()[i].second, before[i]));
        }
    }

    void onlyAModelWithAStartIsCompared()
    {
        QVERIFY(!make(llamaLike())->comparesWithStart());
        QVERIFY(trained(smallGpt())->comparesWithStart());
    }
};

QTEST_GUILESS_MAIN(TestPreference)
#include "tst_preference.moc"
