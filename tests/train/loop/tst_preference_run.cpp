// A run that learns from pairs of answers: ledger, telemetry, held-out pairs, and what becomes of it when it is killed.
#include <torch/torch.h>

#include "tiny_run.h"

#include "core/run/status/chunk_view.h"
#include "core/run/status/evaluation_file.h"
#include "core/telemetry/run_telemetry.h"
#include "core/train/checkpoint/checkpoint_torch.h"
#include "core/train/loop/run_setup_torch.h"
#include "core/train/loop/step_torch.h"

#include <QTest>

#include <cmath>

using namespace furrow;
using namespace furrow::test;

namespace {

RunConfig shape()
{
    auto c = TinyRun::config();
    c.seqLen = 64;
    c.batchSize = 2;
    return c;
}

/// What the pairs of LoRA are trained beside.
TinyRun& startModel()
{
    static TinyRun run(shape());
    static const bool trained = (run.train(0, false, 8), true);
    (void)trained;
    return run;
}

RunConfig preferring()
{
    auto c = shape();
    c.initFrom = startModel().paths().checkpointFolder(startModel().head().record.folder).string();
    c.objective = Objective::Dpo;
    c.loraRank = 2;
    c.lr = c.minLr = 0.01;
    c.warmupSteps = 0;
    c.heldOutPercent = 10;
    return c;
}

/// 120 pairs, a repeat and two rows that are none.
std::string pairs()
{
    std::string rows;
    for (int i = 0; i < 120; ++i)
        rows += R"({"prompt":"line )" + std::to_string(i) + R"( ","chosen":"goes up","rejected":"comes down"})" + "\n";
    rows += R"({"prompt":"line 7 ","chosen":"goes up","rejected":"comes down"})"
            "\n"
            R"({"prompt":"x","chosen":"same","rejected":"same"})"
            "\n"
            R"({"prompt":"x","chosen":"alone"})"
            "\n";
    return rows;
}

TinyRun newRun(const RunConfig& config) { return TinyRun(config, pairs(), "pairs.jsonl"); }

std::string refusalOf(RunConfig config)
{
    try {
        TinyRun(std::move(config), pairs(), "pairs.jsonl");
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "it is not refused";
}

} // namespace

class TestPreferenceRun : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { qputenv("TORCH_FR_BUFFER_SIZE", "0"); }

    /// The console showed them in one row of words.
    void theTwoAnswersOfAPairWereGluedTogether()
    {
        TinyRun run = newRun(preferring());
        run.train();
        const auto view = must(viewChunk(run.paths(), { .block = 0, .column = 0 }));
        QVERIFY(!view.samples.empty());
        for (const SampleView& sample : view.samples) {
            QVERIFY(sample.rejectedFrom > 0);
            QVERIFY(sample.rejectedFrom < std::ssize(sample.tokens));
            QCOMPARE(sample.learnt.size(), std::size_t(2));
            const std::string chosen = sample.text.substr(0, sample.learnt.front().end);
            const std::string rejected = sample.text.substr(sample.learnt.front().end);
            QVERIFY2(chosen.starts_with("line ") && chosen.find("goes up") != std::string::npos, chosen.c_str());
            QVERIFY2(
                rejected.starts_with("line ") && rejected.find("comes down") != std::string::npos, rejected.c_str());
        }
    }

    void everyPairIsTrainedOnceAndTellsItsMargin()
    {
        auto config = preferring();
        config.evalSteps = 5;
        config.epochs = 3;
        TinyRun run = newRun(config);
        run.train();
        NO_FAULT(auditFault(run, 3));
        const auto epochs = must(run.reader().epochs());
        const RowCounts& rows = epochs.front().rowsCommitted;
        QCOMPARE(rows.rows, 123);
        QCOMPARE(rows.failed, 2);
        QCOMPARE(rows.samples + rows.heldOut, 121);
        QVERIFY(rows.heldOut > 0);

        RunTelemetry telemetry(run.paths().telemetryFolder(), {});
        while (telemetry.poll()) { }
        const auto seen = telemetry.snapshot();
        QCOMPARE(seen->stretches.size(), std::size_t(1));
        const Stretch& steps = seen->stretches.front();
        QVERIFY(steps.hasPairs());
        QCOMPARE(steps.margin.values.size(), steps.size());
        QVERIFY(std::abs(steps.loss.values[0] - std::log(2.0F)) < 1e-4F); // the model is its own reference at first
        QCOMPARE(steps.margin.values[0], 0.0F);
        const std::size_t last = steps.size() - 1;
        QVERIFY(steps.loss.values[last] < steps.loss.values[0]);
        QVERIFY(steps.margin.values[last] > 0);
        QVERIFY(steps.preferred.values[last] > 0.5F && steps.preferred.values[last] <= 1);
        QVERIFY(!seen->evals->empty());
        const EvalRecord& evaluation = seen->evals->back().record;
        QVERIFY(evaluation.pairs.pairs > 0 && evaluation.pairs.pairs <= rows.heldOut);
        QVERIFY(evaluation.loss < std::log(2.0) && evaluation.pairs.preferred > 0.5);

        const auto told = newestEvaluation(run.paths(), [](const ToldEvaluation&) { return true; });
        QVERIFY(told && told->pairs.pairs == evaluation.pairs.pairs);
        QVERIFY(std::abs(told->pairs.margin - evaluation.pairs.margin) < 1e-3);
    }

    void aRunThatIsKilledGoesOnAndAuditsClean()
    {
        auto config = preferring();
        config.checkpointSteps = 4;
        TinyRun unbroken = newRun(config);
        unbroken.train();
        TinyRun run = newRun(config);
        auto worker = run.startWorker(0, { { "FURROW_FAIL_AT", "step.done:9" } });
        const auto exit = worker.wait(std::chrono::seconds(120));
        QVERIFY(exit.has_value());
        QVERIFY2(exit->signal == 9, exit->describe().c_str());
        run.train();
        NO_FAULT(auditFault(run));
        QCOMPARE(must(run.reader().epochs()).front().rowsCommitted.samples,
            must(unbroken.reader().epochs()).front().rowsCommitted.samples);
    }

    void aRunThatWasStoppedEndsWithTheSameBytes()
    {
        TinyRun unbroken = newRun(preferring());
        unbroken.train();
        TinyRun broken = newRun(preferring());
        broken.train(0, false, 9);
        broken.train();
        QCOMPARE(broken.weightsHash(), unbroken.weightsHash());
        NO_FAULT(auditFault(broken));
    }

    void countsEveryWindowOfPairsOnce()
    {
        TinyRun run = newRun(preferring());
        run.train(0, true);
        NO_FAULT(auditFault(run));
        NO_FAULT(run.countingFault());
    }

    void pairsOfLoraToStartFromAreRefused()
    {
        TinyRun taught = newRun(preferring());
        taught.train();
        auto config = preferring();
        config.initFrom = taught.paths().checkpointFolder(taught.head().record.folder).string();
        QVERIFY2(
            refusalOf(config).find("has pairs of LoRA of its own") != std::string::npos, refusalOf(config).c_str());
    }

    void isRefusedWithoutAReference()
    {
        auto config = preferring();
        config.loraRank = 0;
        QVERIFY2(refusalOf(config).find("compares the model with its start weights") != std::string::npos,
            refusalOf(config).c_str());
        config = preferring();
        config.objective = Objective::NextToken;
        QVERIFY2(refusalOf(config).find("holds pairs of answers") != std::string::npos, refusalOf(config).c_str());
    }
};

QTEST_GUILESS_MAIN(TestPreferenceRun)
#include "tst_preference_run.moc"
