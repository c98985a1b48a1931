#include <torch/torch.h>

#include <nvtx3/nvToolsExt.h>

#include "core/train/loop/step_torch.h"

#include <QTest>

#include <string>
#include <vector>

using namespace furrow;

namespace {

std::vector<std::string> seen; // "step", "step/batch": each range with those around it
std::vector<std::string> around;

int push(const char* name)
{
    around.push_back(around.empty() ? name : around.back() + "/" + name);
    seen.push_back(around.back());
    return static_cast<int>(around.size());
}

int pop()
{
    around.pop_back();
    return static_cast<int>(around.size());
}

int listen(NvtxGetExportTableFunc_t exportTable)
{
    const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(exportTable(NVTX_ETID_CALLBACKS));
    NvtxFunctionTable functions = nullptr;
    unsigned int count = 0;
    if (callbacks == nullptr || callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &functions, &count) == 0)
        return 0;
    *functions[NVTX_CBID_CORE_RangePushA] = reinterpret_cast<NvtxFunctionPointer>(&push);
    *functions[NVTX_CBID_CORE_RangePop] = reinterpret_cast<NvtxFunctionPointer>(&pop);
    return 1;
}

} // namespace

/// What a profiler that reads NVTX is told about a step. Needs no GPU.
class TestProfileRange : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        InitializeInjectionNvtx2_fnptr = &listen;
    } // this program takes the place of a profiler, before the first range

    void aStepAndItsPartsAreNamedForProfilers()
    {
        ModelConfig config;
        config.layers = 1;
        config.heads = 1;
        config.width = 8;
        config.contextLength = 8;
        config.vocabularySize = 16;
        auto learner = createModelLearner(config, {}, {});
        QVERIFY2(learner.ok(), learner.ok() ? "" : learner.error().message.c_str());
        Batch batch;
        batch.inputs_BT = torch::arange(8).reshape({ 1, 8 });
        batch.labels_BT = batch.inputs_BT + 1;
        batch.labels = batch.learnt = 8;
        std::vector<StepOutcome> known;
        QVERIFY(StepRunner(*learner.value(), 1.0).run(stepOf({ batch, batch }), 1e-3, known).ok());
        const std::vector<std::string> expected { "step", "step/forward and backward", "step/forward and backward",
            "step/optimizer" };
        QVERIFY(seen == expected);
        QVERIFY(around.empty());
    }
};

QTEST_GUILESS_MAIN(TestProfileRange)
#include "tst_profile_range.moc"
