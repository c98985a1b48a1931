#include <torch/torch.h>

#include "tiny_run.h"

#include "core/run/status/brain.h"
#include "core/run/audit/repair.h"
#include "core/run/supervise/attempt_end.h"
#include "core/run/supervise/supervisor.h"
#include "core/telemetry/run_telemetry.h"
#include "core/tracker/training_notes.h"
#include "core/train/merge/merge_torch.h"
#include "core/train/tasks/tasks.h"
#include "core/train/loop/training_session_torch.h"

#include <nlohmann/json.hpp>

#include <QTest>

#include <numeric>

using namespace furrow;
using namespace furrow::test;

namespace {

NamedTensors weights(float first, float second)
{
    return { { "a", torch::full({ 3, 2 }, first) }, { "b", torch::full({ 4 }, second) } };
}

/// The counting model, slow enough for checkpoints to fall into the middle of chunks.
class SlowCounting : public Learner {
public:
    at::Tensor accumulate(const Batch& batch, double scale) override { return inner_->accumulate(batch, scale); }
    at::Tensor apply(double rate, double clip) override
    {
        std::this_thread::sleep_for(std::chrono::milliseconds(40));
        return inner_->apply(rate, clip);
    }
    void discard() override { inner_->discard(); }
    at::Tensor gradients() override { return inner_->gradients(); }
    NamedTensors weights() const override { return inner_->weights(); }
    NamedTensors optimizerState() const override { return {}; }
    Status loadWeights(const NamedTensors& w) override { return inner_->loadWeights(w); }
    Status loadOptimizer(const NamedTensors&) override { return {}; }
    Result<Merged> merge(const NamedTensors& base, const std::vector<MergeMember>& members, MergeMethod,
        const NamedTensors&, double, double) const override
    {
        return mergeCounts(base, members);
    }
    Model* model() override { return nullptr; }
    std::string name() const override { return "counting"; }
    std::string backendName() const override { return "counting"; }
    c10::Device device() const override { return c10::Device(c10::kCPU); }

private:
    std::unique_ptr<Learner> inner_ = createCountingLearner();
};

/// The counting model with one step that hangs until something has been seen (or a minute has passed, and the test
/// fails).
class HangsUntil : public SlowCounting {
public:
    explicit HangsUntil(std::function<bool()> seen)
        : seen_(std::move(seen))
    {
    }
    at::Tensor accumulate(const Batch& batch, double scale) override
    {
        if (++steps_ == 5)
            for (int i = 0; i < 600 && !seen_(); ++i)
                std::this_thread::sleep_for(std::chrono::milliseconds(100));
        return SlowCounting::accumulate(batch, scale);
    }

private:
    std::function<bool()> seen_;
    int steps_ = 0;
};

class OutOfMemory : public SlowCounting {
public:
    at::Tensor accumulate(const Batch&, double) override
    {
        throw c10::OutOfMemoryError({ __func__, __FILE__, __LINE__ }, "tried to allocate 7 GiB");
    }
};

/// Windows of the counting model, one for each number.
at::Tensor windows(const std::vector<std::int64_t>& numbers)
{
    const auto n = static_cast<std::int64_t>(numbers.size());
    auto ids = torch::zeros({ n, 4 }, torch::kInt64);
    ids.select(1, 3).copy_(torch::tensor(numbers));
    return ids;
}

NamedTensors counts(const std::vector<std::int64_t>& numbers, const std::vector<std::int64_t>& values)
{
    return { { "ids", windows(numbers) }, { "counts", torch::tensor(values) } };
}

/// Events of a kind whose text holds `part`, over all workers and attempts.
int eventsOf(const TinyRun& run, EventRecord::Kind kind, const std::string& part)
{
    RunTelemetry telemetry(run.paths().telemetryFolder());
    while (telemetry.poll()) { }
    int found = 0;
    for (const auto& event : *telemetry.snapshot()->events)
        found += event.record.kind == kind && event.record.text.find(part) != std::string::npos;
    return found;
}

/// A real learner whose loss is not a number at the chosen steps.
class SometimesNan : public Learner {
public:
    SometimesNan(std::unique_ptr<Learner> inner, std::vector<int> bad, float factor = std::nanf(""))
        : inner_(std::move(inner))
        , bad_(std::move(bad))
        , factor_(factor)
    {
    }
    at::Tensor accumulate(const Batch& batch, double scale) override
    {
        auto loss = inner_->accumulate(batch, scale);
        const int step = calls_++;
        return std::find(bad_.begin(), bad_.end(), step) == bad_.end() ? loss : loss * factor_;
    }
    at::Tensor apply(double rate, double clip) override { return inner_->apply(rate, clip); }
    void discard() override { inner_->discard(); }
    at::Tensor gradients() override { return inner_->gradients(); }
    NamedTensors weights() const override { return inner_->weights(); }
    NamedTensors optimizerState() const override { return inner_->optimizerState(); }
    Status loadWeights(const NamedTensors& w) override { return inner_->loadWeights(w); }
    Status loadOptimizer(const NamedTensors& s) override { return inner_->loadOptimizer(s); }
    Result<Merged> merge(const NamedTensors& base, const std::vector<MergeMember>& members, MergeMethod method,
        const NamedTensors& momentum, double rate, double mu) const override
    {
        return inner_->merge(base, members, method, momentum, rate, mu);
    }
    Model* model() override { return inner_->model(); }
    std::string name() const override { return inner_->name(); }
    std::string backendName() const override { return inner_->backendName(); }
    c10::Device device() const override { return inner_->device(); }

private:
    std::unique_ptr<Learner> inner_;
    std::vector<int> bad_;
    float factor_;
    int calls_ = 0;
};

/// A real learner that is told to predict the token it sees instead of the next one.
class Unshifted : public SometimesNan {
public:
    explicit Unshifted(std::unique_ptr<Learner> inner)
        : SometimesNan(std::move(inner), {})
    {
    }
    at::Tensor accumulate(const Batch& batch, double scale) override
    {
        Batch wrong = batch;
        wrong.labels_BT = torch::where(batch.labels_BT >= 0, batch.inputs_BT, batch.labels_BT);
        return SometimesNan::accumulate(wrong, scale);
    }
};

/// A real learner whose loss is not a number on some windows of one chunk.
class NanText : public SometimesNan {
public:
    NanText(std::unique_ptr<Learner> inner, WindowRange bad)
        : SometimesNan(std::move(inner), {})
        , bad_(bad)
    {
    }
    at::Tensor accumulate(const Batch& batch, double scale) override
    {
        const auto loss = SometimesNan::accumulate(batch, scale);
        const bool bad
            = batch.block == 1 && batch.column == 2 && batch.windows.begin < bad_.end && batch.windows.end > bad_.begin;
        return bad ? loss * std::nanf("") : loss;
    }

private:
    WindowRange bad_;
};

/// A real learner that breaks for good at a step with a higher rate than it can bear.
class NanAboveRate : public SometimesNan {
public:
    NanAboveRate(std::unique_ptr<Learner> inner, double most)
        : SometimesNan(std::move(inner), {})
        , most_(most)
    {
    }
    at::Tensor accumulate(const Batch& batch, double scale) override
    {
        const auto loss = SometimesNan::accumulate(batch, scale);
        return broken_ ? loss * std::nanf("") : loss;
    }
    at::Tensor apply(double rate, double clip) override
    {
        broken_ = broken_ || rate > most_;
        return SometimesNan::apply(rate, clip);
    }

private:
    double most_;
    bool broken_ = false;
};

/// A real learner that goes away from what it should learn.
class Ascends : public SometimesNan {
public:
    explicit Ascends(std::unique_ptr<Learner> inner)
        : SometimesNan(std::move(inner), {})
    {
    }
    at::Tensor apply(double rate, double clip) override { return SometimesNan::apply(-rate, clip); }
};

/// A real learner in whose fifth batch a person asks for an evaluation. It goes on when the worker has heard of it: it
/// looks for such wishes between two renewals of its lease.
class AsksForAnEvaluation : public SometimesNan {
public:
    AsksForAnEvaluation(std::unique_ptr<Learner> inner, TinyRun& run)
        : SometimesNan(std::move(inner), {})
        , run_(run)
    {
    }
    at::Tensor accumulate(const Batch& batch, double scale) override
    {
        if (++batches_ == 5) {
            must(run_.supervisor().requestEvaluation());
            for (int renewals = 0; renewals < 2; ++renewals)
                waitForRenewal();
        }
        return SometimesNan::accumulate(batch, scale);
    }

private:
    void waitForRenewal()
    {
        const auto renewed = [this] { return must(run_.reader().incarnations()).back().progressNs; };
        const std::int64_t before = renewed();
        for (int i = 0; i < 6000 && renewed() == before; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }

    TinyRun& run_;
    int batches_ = 0;
};

std::size_t evaluationsOf(const TinyRun& run)
{
    RunTelemetry telemetry(run.paths().telemetryFolder());
    while (telemetry.poll()) { }
    const auto snapshot = telemetry.snapshot();
    return snapshot->evals ? snapshot->evals->size() : 0;
}

/// As the supervisor does: a worker that gave up is started again. @return how often it was, or a text that says what
/// else it ended with
std::string trainWithRestarts(TinyRun& run, const LearnerFactory& factory)
{
    for (int restarts = 0; restarts <= 5; ++restarts) {
        const auto end = runTrainerWith(run.options(), {}, factory);
        if (end.ok())
            return std::to_string(restarts);
        if (end.error().message.find("steps in a row") == std::string::npos)
            return end.error().message;
    }
    return "five restarts were not enough";
}

/// On the held-out text, as the workers evaluate.
double heldOutLoss(const TinyRun& run, const NamedTensors& weights)
{
    const auto setup = must(openRun(run.paths(), {}));
    auto learner = must(newLearner(setup));
    must(learner->loadWeights(weights));
    const EvaluationSet set(must(readHeldOut(setup.paths.evaluationFile())), 256,
        { windowRules(setup.config), setup.config.batchSize, setup.config.evalBatches }, setup.device);
    return must(set.run(*learner->model(), false)).loss;
}

NamedTensors headWeights(TinyRun& run, int replica)
{
    return must(loadCheckpoint(run.paths(), must(readRunFile(run.paths())).runId, run.head(replica).record, {}))
        .weights;
}

LearnerFactory nanAt(std::vector<int> steps)
{
    return [steps](const RunSetup& setup) -> Result<std::unique_ptr<Learner>> {
        return std::unique_ptr<Learner>(std::make_unique<SometimesNan>(must(newLearner(setup)), steps));
    };
}

/// The loss of one step is told `factor` times as high as it is.
LearnerFactory scaledAt(int step, float factor)
{
    return [=](const RunSetup& setup) -> Result<std::unique_ptr<Learner>> {
        return std::unique_ptr<Learner>(
            std::make_unique<SometimesNan>(must(newLearner(setup)), std::vector { step }, factor));
    };
}

} // namespace

class TestLoop : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void averageIsTheMeanWeightedByTokens()
    {
        const auto merged = must(mergeAverage({ { "one", weights(1, 10), 300 }, { "two", weights(2, 20), 100 } }));
        QVERIFY(std::abs(merged.weights[0].second[0][0].item<double>() - 1.25) < 1e-6);
        QVERIFY(std::abs(merged.weights[1].second[3].item<double>() - 12.5) < 1e-5);
    }

    void dilocoWithRateOneAndNoMomentumIsTheAverage()
    {
        torch::manual_seed(1);
        const NamedTensors base { { "w", torch::randn({ 50 }) } };
        const NamedTensors one { { "w", torch::randn({ 50 }) } };
        const NamedTensors two { { "w", torch::randn({ 50 }) } };
        const std::vector<MergeMember> members { { "one", one, 17 }, { "two", two, 83 } };
        const auto mean = must(mergeAverage(members));
        const auto outer = must(mergeDiloco(base, members, {}, 1.0, 0.0));
        QVERIFY((mean.weights[0].second - outer.weights[0].second).abs().max().item<double>() < 1e-6);
    }

    void dilocoKeepsItsMomentumBetweenRounds()
    {
        const NamedTensors base { { "w", torch::zeros({ 1 }) } };
        const std::vector<MergeMember> members { { "one", { { "w", torch::ones({ 1 }) } }, 1 } };
        const auto first = must(mergeDiloco(base, members, {}, 0.7, 0.9)); // D = -1, v = -1, w = 0.7 * 1.9
        QVERIFY(std::abs(first.weights[0].second.item<double>() - 1.33) < 1e-6);
        const auto second
            = must(mergeDiloco(base, members, first.momentum, 0.7, 0.9)); // v = -1.9, w = 0.7 * (1 + 1.71)
        QVERIFY(std::abs(second.weights[0].second.item<double>() - 1.897) < 1e-6);
    }

    void countsAreSummedAboveTheBase()
    {
        const auto merged = must(mergeCounts(counts({ 1 }, { 1 }),
            { { "one", counts({ 1, 2 }, { 1, 1 }), 0 }, { "two", counts({ 1, 3 }, { 1, 2 }), 0 } }));
        QVERIFY(torch::equal(merged.weights[0].second, windows({ 1, 2, 3 })));
        QVERIFY(torch::equal(merged.weights[1].second, torch::tensor({ 1, 1, 2 }, torch::kInt64)));
    }

    void countsWhoseBaseIsLostKeepWhatTheyHaveInCommonOnce()
    {
        const auto merged = must(mergeCounts(
            {}, { { "one", counts({ 1, 2, 5 }, { 1, 1, 1 }), 0 }, { "two", counts({ 1, 3, 5 }, { 2, 1, 1 }), 0 } }));
        QVERIFY(torch::equal(merged.weights[0].second, windows({ 1, 2, 3, 5 })));
        QVERIFY(torch::equal(merged.weights[1].second, torch::tensor({ 2, 1, 1, 1 }, torch::kInt64)));
    }

    void outerMomentumOfCountsIsTheSumOfTheOuterSteps()
    {
        const auto first = outerMomentumOfCounts(counts({ 1 }, { 1 }), counts({ 1, 2 }, { 1, 1 }), {});
        QVERIFY(torch::equal(first[0].second, windows({ 2 })));
        const auto second = outerMomentumOfCounts(counts({ 1, 2 }, { 1, 1 }), counts({ 1, 2, 3 }, { 1, 1, 1 }), first);
        QVERIFY(torch::equal(second[0].second, windows({ 2, 3 })));
    }

    void memberWithNanIsRefusedByNameAndTensor()
    {
        auto bad = weights(1, 1);
        bad[1].second[2] = std::nanf("");
        const auto merged = mergeAverage({ { "good", weights(1, 1), 1 }, { "bad", bad, 1 } });
        QVERIFY(!merged.ok());
        QVERIFY(merged.error().message.find("bad") != std::string::npos
            && merged.error().message.find("tensor b") != std::string::npos);
    }

    void membersOfOtherShapesAreRefused()
    {
        auto other = weights(1, 1);
        other[0].second = torch::zeros({ 2, 3 });
        QVERIFY(!mergeAverage({ { "one", weights(1, 1), 1 }, { "two", other, 1 } }).ok());
    }

    void scheduleOfAPartOfTheDataReachesItsEnd()
    {
        auto config = TinyRun::config();
        config.maxSamples = 40; // of 160
        TinyRun run(config);
        run.train();
        RunTelemetry telemetry(run.paths().telemetryFolder());
        while (telemetry.poll()) { }
        const float last = telemetry.snapshot()->stretches.back().learningRate.values.back();
        QVERIFY2(last < 2 * config.minLr,
            std::to_string(last).c_str()); // of the length of all data it would be near its peak
    }

    void scheduleOfARunThatStopsAfterItsSecondEpochReachesItsEndThere() // it took one epoch for the length, or all
    {
        auto config = TinyRun::config();
        config.epochs = 5;
        TinyRun run(config);
        StoppingRules rules;
        rules.epochs = 2;
        must(run.supervisor().setStoppingRules(rules));
        run.train();
        RunTelemetry telemetry(run.paths().telemetryFolder());
        while (telemetry.poll()) { }
        const auto rates = telemetry.snapshot()->stretches.back().learningRate.values;
        QVERIFY2(rates.back() < 1.2 * config.minLr, std::to_string(rates.back()).c_str());
        QVERIFY2(rates[rates.size() / 2] > 4 * config.minLr,
            std::to_string(rates[rates.size() / 2]).c_str()); // half-way, not at its end
    }

    void aLossThatJumpsRightAfterAResumeIsTold() // 2.4 -> 165, and no alarm: the losses before were forgotten
    {
        TinyRun run(TinyRun::config(), 480);
        must(runTrainerWith(run.options(), [looks = std::make_shared<int>(0)] { return ++*looks > 70; }, newLearner));
        QCOMPARE(eventsOf(run, EventRecord::Kind::Spike, ""), 0);
        std::vector<int> bad(60);
        std::iota(bad.begin(), bad.end(), 0);
        must(runTrainerWith(
            run.options(), [looks = std::make_shared<int>(0)] { return ++*looks > 60; },
            [&](const RunSetup& setup) -> Result<std::unique_ptr<Learner>> {
                return std::unique_ptr<Learner>(std::make_unique<SometimesNan>(must(newLearner(setup)), bad, 60.F));
            }));
        QVERIFY(eventsOf(run, EventRecord::Kind::Spike, "is an outlier") > 0);
        QCOMPARE(eventsOf(run, EventRecord::Kind::Alarm, "training has diverged"), 1);
    }

    void textThatIsNeverFiniteIsLeftOutAfterTheSecondRollBack() // five restarts with the same weights, chunk and rate
                                                                // ended the same way
    {
        auto config = TinyRun::config();
        config.nanLimit = 3;
        TinyRun run(config);
        const auto factory = [](const RunSetup& setup) -> Result<std::unique_ptr<Learner>> {
            return std::unique_ptr<Learner>(std::make_unique<NanText>(must(newLearner(setup)), WindowRange { 0, 12 }));
        };
        QCOMPARE(trainWithRestarts(run, factory), std::string("2"));
        NO_FAULT(auditFault(run));
        QCOMPARE(eventsOf(run, EventRecord::Kind::Rollback, "the learning rate at 50.0 %"), 1);
        QCOMPARE(eventsOf(run, EventRecord::Kind::Rollback, "are left out"), 1);
        QCOMPARE(must(skippedWindows(run.paths().tracker())).skipped, 12);
        QVERIFY2(whatWasLeftOut(run.paths().tracker()).find("12 of") != std::string::npos,
            whatWasLeftOut(run.paths().tracker()).c_str());
    }

    void eachRollBackLowersTheRateUntilTheWeightsBearIt()
    {
        TinyRun run;
        const double most = 0.3 * TinyRun::config().lr;
        const auto factory = [most](const RunSetup& setup) -> Result<std::unique_ptr<Learner>> {
            return std::unique_ptr<Learner>(std::make_unique<NanAboveRate>(must(newLearner(setup)), most));
        };
        QCOMPARE(trainWithRestarts(run, factory), std::string("2")); // half, then a quarter
        QCOMPARE(eventsOf(run, EventRecord::Kind::Rollback, "the learning rate at 25.0 %"), 1);
        QCOMPARE(must(skippedWindows(run.paths().tracker())).skipped, 0); // nothing was wrong with the text
        QCOMPARE(whatWasLeftOut(run.paths().tracker()), std::string());
        NO_FAULT(auditFault(run));
    }

    void aRunThatSkippedMostOfItsTextSaysSo()
    {
        TinyRun run;
        std::vector<int> bad;
        for (int step = 0; step < 400; ++step)
            if (step % 4 != 0) // never five in a row
                bad.push_back(step);
        must(runTrainerWith(run.options(), {}, nanAt(bad)));
        const auto told = whatWasLeftOut(run.paths().tracker());
        QVERIFY2(told.find("most of the text is not in the weights") != std::string::npos, told.c_str());
    }

    void theLastRoundOfDilocoIsNoWorseThanThePlainAverage() // 4 of 4 runs ended with an outer step that was
    {
        for (const bool oneMember : { false, true }) {
            auto config = TinyRun::config();
            config.merge = MergeMethod::DiLoCo;
            config.outerLr = 5; // far too far
            TinyRun run(config);
            run.train(0, false, 20);
            if (!oneMember)
                run.train(1, false, 20);
            auto average = headWeights(run, 0);
            if (!oneMember) {
                const auto other = headWeights(run, 1);
                for (std::size_t i = 0; i < average.size(); ++i)
                    average[i].second = (average[i].second + other[i].second) / 2;
            }
            const double most = heldOutLoss(run, average);
            QCOMPARE(run.startTask({ "--task", "merge", "--attempt", std::to_string(run.attempt()) }).exitCode, 0);
            const double merged = heldOutLoss(run, headWeights(run, 0));
            QVERIFY2(
                merged <= most + 1e-5, (std::to_string(merged) + " is worse than " + std::to_string(most)).c_str());
            QCOMPARE(eventsOf(run, EventRecord::Kind::Merge, "last round: "), 1);
            QVERIFY(std::abs(*run.head(0).record.evalLoss - merged) < 1e-6);
        }
    }

    /// What the others trained counts as committed: a member that is best alone is told, and is not the result.
    void aReplicaThatIsBestAloneTookTheChunksOfTheOthersAway()
    {
        auto config = TinyRun::config();
        config.merge = MergeMethod::DiLoCo;
        config.outerLr = 1; // the outer step is the average
        config.outerMomentum = 0;
        TinyRun run(config);
        run.train(0, false, 20);
        must(runTrainerWith(
            run.options(1), [seen = std::make_shared<int>(0)] { return ++*seen > 20; },
            [](const RunSetup& setup) -> Result<std::unique_ptr<Learner>> {
                return std::unique_ptr<Learner>(std::make_unique<Ascends>(must(newLearner(setup))));
            }));
        const double alone = heldOutLoss(run, headWeights(run, 0));
        QVERIFY(alone < heldOutLoss(run, headWeights(run, 1)));
        QCOMPARE(run.startTask({ "--task", "merge", "--attempt", std::to_string(run.attempt()) }).exitCode, 0);
        const double merged = heldOutLoss(run, headWeights(run, 0));
        QVERIFY2(alone < merged, (std::to_string(alone) + " and " + std::to_string(merged)).c_str());
        QCOMPARE(eventsOf(run, EventRecord::Kind::Merge, "a replica that evaluates better alone lacks"), 1);
        QCOMPARE(run.head(0).record.parents.size(), std::size_t(2)); // everything that both trained is in it
        const auto report = run.audited();
        QVERIFY(report.isClean());
        QCOMPARE(report.epochs.front().missing, 0);
    }

    /// "Evaluate now" was asked for in a test, and nothing showed that a worker then evaluates.
    void anEvaluationThatIsAskedForIsMade()
    {
        TinyRun quiet;
        quiet.train();
        TinyRun asked;
        must(runTrainerWith(asked.options(), {}, [&asked](const RunSetup& setup) -> Result<std::unique_ptr<Learner>> {
            return std::unique_ptr<Learner>(std::make_unique<AsksForAnEvaluation>(must(newLearner(setup)), asked));
        }));
        QCOMPARE(evaluationsOf(asked), evaluationsOf(quiet) + 1);
        NO_FAULT(auditFault(asked));
    }

    void nanStepIsLeftOutCountedAndNamed()
    {
        TinyRun run;
        const auto end = must(runTrainerWith(run.options(), {}, nanAt({ 3, 8, 9 })));
        const auto report = run.audited();
        NO_FAULT(auditFault(run));
        QVERIFY(report.epochs.front().samplesSkipped > 0);
        TinyRun clean;
        QCOMPARE(end.stepsHere, clean.train().stepsHere - 3);
    }

    void aRebuiltTrackerDoesNotCountNanWindowsAsTrained()
    {
        TinyRun run;
        must(runTrainerWith(run.options(), {}, nanAt({ 3, 8, 9 })));
        const auto before = run.audited().epochs.front();
        run.closeTracker();
        must(realFileSystem().removeAll(run.paths().tracker()));
        must(repairRun(run.paths(), [](const std::string&) { }, true));
        const auto after = must(audit(run.paths().tracker())).epochs.front();
        QCOMPARE(after.committed, before.committed);
        QVERIFY(before.samplesSkipped > 0);
        QCOMPARE(after.samplesSkipped, before.samplesSkipped);
    }

    void checkpointInTheMiddleOfAChunkDoesNotLeaveIt()
    {
        auto config = TinyRun::config();
        config.checkpointMinutes = 0.01;
        config.chunkSamples = 40;
        TinyRun run(config, 80);
        const auto slow = [](const RunSetup&) -> Result<std::unique_ptr<Learner>> {
            return std::unique_ptr<Learner>(std::make_unique<SlowCounting>());
        };
        int looks = 0;
        must(runTrainerWith(run.options(0, true), [&] { return ++looks > 30; }, slow)); // stopped in the middle, too
        must(runTrainerWith(run.options(0, true), {}, slow));
        int endInTheMiddle = 0; // parts after which the chunk goes on
        for (const auto& row : must(run.supervisor().checkpoints()))
            for (const auto& part : must(readManifest(run.paths().checkpointFolder(row.record.folder))).parts)
                endInTheMiddle
                    += part.windows.end < run.windows().at({ placeOf(part.chunk).block, placeOf(part.chunk).column });
        QVERIFY(endInTheMiddle > 1); // one is the stop
        NO_FAULT(auditFault(run));
        NO_FAULT(run.countingFault());
    }

    void tooManyNanStepsEndTheWorkerAndFreeItsWork()
    {
        TinyRun run;
        std::vector<int> bad;
        for (int i = 10; i < 200; ++i)
            bad.push_back(i);
        const auto end = runTrainerWith(run.options(), {}, nanAt(bad));
        QVERIFY(!end.ok());
        QVERIFY2(end.error().message.find("5 steps in a row") != std::string::npos, end.error().message.c_str());
        auto reader = run.reader();
        const auto chunks = must(reader.epochs()).front().chunks;
        QCOMPARE(chunks[ChunkState::Leased] + chunks[ChunkState::Trained], 0);
        run.train(); // goes on from the last checkpoint with a learner that is well
        NO_FAULT(auditFault(run));
    }

    void stuckStepIsToldOnce()
    {
        TinyRun run;
        auto options = run.options(0, true);
        options.stuckSeconds = 0.3;
        const auto hangs = [&run](const RunSetup&) -> Result<std::unique_ptr<Learner>> {
            return std::unique_ptr<Learner>(std::make_unique<HangsUntil>(
                [&run] { return eventsOf(run, EventRecord::Kind::Alarm, "no progress") > 0; }));
        };
        must(runTrainerWith(options, {}, hangs));
        QCOMPARE(eventsOf(run, EventRecord::Kind::Alarm, "no progress"), 1);
    }

    void outOfMemoryIsASentenceWithThePeakAndAdvice()
    {
        TinyRun run;
        const auto poor = [](const RunSetup&) -> Result<std::unique_ptr<Learner>> {
            return std::unique_ptr<Learner>(std::make_unique<OutOfMemory>());
        };
        const auto end = runTrainerWith(run.options(0, true), {}, poor);
        QVERIFY(!end.ok());
        for (const char* part : { "ran out of memory", "4 windows of 16 tokens", "MiB", "batch_size", "recompute" })
            QVERIFY2(end.error().message.find(part) != std::string::npos, end.error().message.c_str());
    }

    /// The mean of the paces of the last steps told 900 tokens a second where a CPU quota let 100 through.
    void aThrottledMachineWasSaidToBeAsFastAsItsFastSteps()
    {
        PaceMeter pace;
        QCOMPARE(pace.tokensPerSecond(), 0.0);
        for (int period = 0; period < 200; ++period)
            for (int step = 0; step < 10;
                ++step) // ten steps of one token in 0.1 s, of which the machine stands for 0.091
                pace.addStep(1, step == 9 ? 0.0919 : 0.0009);
        QVERIFY2(std::abs(pace.tokensPerSecond() - 100) < 2, qPrintable(QString::number(pace.tokensPerSecond())));
        for (int step = 0; step < 150; ++step) // what was long ago fades
            pace.addStep(50, 0.1);
        QVERIFY2(std::abs(pace.tokensPerSecond() - 500) < 25, qPrintable(QString::number(pace.tokensPerSecond())));
        for (int step = 0; step < 3; ++step) // and a step that takes long says all
            pace.addStep(300, 30);
        QVERIFY2(std::abs(pace.tokensPerSecond() - 10) < 1, qPrintable(QString::number(pace.tokensPerSecond())));
    }

    void lossThatSticksOutIsMarkedWithItsChunk()
    {
        SpikeDetector spikes;
        for (int i = 0; i < 60; ++i)
            QCOMPARE(spikes.observe(3.0 + 0.02 * (i % 5)), 0.0);
        QVERIFY(spikes.observe(4.5) > 8);
        QCOMPARE(spikes.observe(4.5), 0.0); // one mark for one spike
        TinyRun run(TinyRun::config(), 480);
        must(runTrainerWith(run.options(), {}, scaledAt(60, 5)));
        QCOMPARE(eventsOf(run, EventRecord::Kind::Spike, "is an outlier"), 1);
    }

    void unshiftedLabelsAreToldAndAnHonestRunIsNot()
    {
        auto c = TinyRun::config();
        c.width = 64;
        c.seqLen = 64;
        c.chunkSamples = 100;
        c.samplesPerBlock = 1000;
        c.lr = 5e-3;
        const auto text = must(readFile(FURROW_SOURCE_DIR "/resources/sample/tinyshakespeare.txt")).substr(0, 300'000);
        TinyRun wrong(c, text);
        must(runTrainerWith(wrong.options(), {}, [](const RunSetup& setup) -> Result<std::unique_ptr<Learner>> {
            return std::unique_ptr<Learner>(std::make_unique<Unshifted>(must(newLearner(setup))));
        }));
        QCOMPARE(eventsOf(wrong, EventRecord::Kind::Alarm, "below anything that can be learnt"), 1);
        TinyRun honest(c, text);
        (void)honest.train();
        QCOMPARE(eventsOf(honest, EventRecord::Kind::Alarm, ""), 0);
    }

    void adaptiveRateBrakesStaysBoundedAndSaysWhy()
    {
        AdaptiveRate rate;
        const auto window = [&rate](double mean) {
            std::string why;
            for (int i = 0; i < AdaptiveRate::kWindow; ++i)
                why += rate.observe(mean + 0.01 * (i % 2));
            return why;
        };
        QVERIFY(window(3.0).empty());
        QVERIFY(window(3.0).empty());
        QVERIFY(window(3.2).find("70.0 % of the schedule") != std::string::npos);
        for (int i = 0; i < 20; ++i)
            window(3.3 + 0.1 * i);
        QCOMPARE(rate.factor(), AdaptiveRate::kLeast);
        AdaptiveRate resumed;
        resumed.restore(rate.state());
        for (int i = 0; i < 40; ++i)
            window(5 - 0.1 * i);
        QCOMPARE(rate.factor(), 1.0);
        QCOMPARE(resumed.factor(), AdaptiveRate::kLeast);
    }

    void overflowOfTheScaledLossRepeatsTheStepAndRoundsNothing()
    {
        // float32 has room for a scale of 65,536 but not for 2^127: the first step is repeated until it fits, and
        // trains what it should.
        const auto config = must(openRun(TinyRun().paths(), {})).modelConfig;
        const auto make = [&](bool scales) { return must(createModelLearner(config, {}, {}, { 0.9, scales })); };
        auto plain = make(false);
        auto scaled = make(true);
        auto state = frozenCopy(scaled->optimizerState());
        state.back().second.fill_(std::pow(2.0, 127));
        must(scaled->loadOptimizer(state));
        Batch batch;
        batch.inputs_BT = torch::arange(64).reshape({ 4, 16 });
        batch.labels_BT = (batch.inputs_BT * 7 + 3) % 250;
        batch.labels = batch.learnt = 64;
        std::vector<StepOutcome> known;
        must(StepRunner(*plain, 1.0).run(stepOf({ batch }), 1e-3, known));
        must(StepRunner(*scaled, 1.0).run(stepOf({ batch }), 1e-3, known));
        QVERIFY(!known[1].bad);
        QVERIFY(scaled->optimizerState().back().second.item<double>() < std::pow(2.0, 127));
        const auto expected = plain->weights();
        const auto weights = scaled->weights();
        for (std::size_t i = 0; i < weights.size(); ++i)
            QVERIFY2(
                (weights[i].second - expected[i].second).abs().max().item<double>() < 1e-7, weights[i].first.c_str());
    }

    void learnsFromTheAnswersOfConversationsAlone()
    {
        auto config = TinyRun::config();
        config.chatTemplate = "chatml";
        config.seqLen = 48;
        std::string rows;
        for (int i = 0; i < 160; ++i) {
            const nlohmann::json asked
                = { { "role", "user" }, { "content", "How much is " + std::to_string(i) + " and 1?" } };
            const nlohmann::json answer = { { "role", "assistant" }, { "content", "It is " + std::to_string(i + 1) } };
            rows += nlohmann::json { { "messages", nlohmann::json::array({ asked, answer }) } }.dump() + "\n";
        }
        TinyRun run(config, rows, "data.jsonl");
        run.train();
        NO_FAULT(auditFault(run));
        auto reader = run.reader();
        std::int64_t tokens = 0;
        for (const auto& claim : must(reader.claimsSince(0, 1000))) {
            tokens += claim.tokens;
            QVERIFY2(
                claim.meanLoss > 4 && claim.meanLoss < 6, std::to_string(claim.meanLoss).c_str()); // a learnt label
        }
        QVERIFY(tokens > 160 * 80); // those that are read as well: the places of windows are counted

        const auto setup = must(openRun(run.paths(), {}));
        const auto heldOut = must(readHeldOut(run.paths().evaluationFile()));
        const ChunkWindows windows(heldOut.text, 256, { config.seqLen, DocumentMasks::Auto }, { .shuffle = false });
        auto learner = must(newLearner(setup));
        Claim claim;
        const auto step
            = makeStep(BatchMaker(c10::kCPU, 4, config.seqLen), windows, claim, { 0, windows.count() }, 0, 1);
        QVERIFY(step.learnt > 0 && 3 * step.learnt < step.labels);
        double sum = 0;
        for (const auto& batch : step.batches) {
            const auto loss = learner->model()->lossSum(batch.inputs_BT, batch.labels_BT, batch.places_BT);
            QCOMPARE(loss.labels, batch.learnt);
            sum += loss.sum.item<double>();
        }
        std::vector<StepOutcome> known;
        must(StepRunner(*learner, 0).run(step, 1e-3, known));
        QCOMPARE(known.front().tokens, step.labels);
        QVERIFY(std::abs(known.front().meanLoss() - sum / static_cast<double>(step.learnt)) < 1e-5);

        auto nothing = step;
        nothing.learnt = 0;
        for (auto& batch : nothing.batches)
            batch.labels_BT.fill_(kIgnoreLabel);
        must(StepRunner(*learner, 1.0).run(nothing, 1e-3, known));
        QVERIFY(!known.back().bad);
        QCOMPARE(known.back().meanLoss(), 0.0);
        for (const auto& [name, tensor] : learner->weights())
            QVERIFY2(tensor.isfinite().all().item<bool>(), name.c_str());
    }

    void averagedWeightsAreEvaluatedMergedAndResumed()
    {
        auto config = TinyRun::config();
        config.emaDecay = 0.9;
        TinyRun unbroken(config);
        unbroken.train();
        TinyRun broken(config);
        broken.train(0, false, 11);
        broken.train();
        QCOMPARE(broken.weightsHash(), unbroken.weightsHash());
        const auto loaded = must(
            loadCheckpoint(unbroken.paths(), must(readRunFile(unbroken.paths())).runId, unbroken.head().record, {}));
        const auto setup = must(openRun(unbroken.paths(), {}));
        auto learner = must(newLearner(setup));
        must(learner->loadWeights(loaded.weights));
        const EvaluationSet set(must(readHeldOut(setup.paths.evaluationFile())), 256,
            { windowRules(setup.config), setup.config.batchSize, setup.config.evalBatches }, setup.device);
        const double own = must(set.run(*learner->model(), false)).loss;
        const UseAverage average(*learner);
        const double averaged = must(set.run(*learner->model(), false)).loss;
        QVERIFY(std::abs(own - averaged) > 1e-6);
        QVERIFY(std::abs(averaged - *unbroken.head().record.evalLoss) < 1e-9);
    }

    void mergedWeightsAreTheWeightedMeanOfTheReplicas()
    {
        TinyRun run;
        run.train(0, false, 20);
        run.train(1, false, 10);
        const auto one
            = must(loadCheckpoint(run.paths(), must(readRunFile(run.paths())).runId, run.head(0).record, {}));
        const auto two
            = must(loadCheckpoint(run.paths(), must(readRunFile(run.paths())).runId, run.head(1).record, {}));
        QCOMPARE(run.startTask({ "--task", "merge", "--attempt", std::to_string(run.attempt()), "--method", "average" })
                     .exitCode,
            0);
        const auto merged
            = must(loadCheckpoint(run.paths(), must(readRunFile(run.paths())).runId, run.head(0).record, {}));
        QCOMPARE(run.head(0).id, run.head(1).id);
        const auto a = static_cast<double>(one.state.tokensSinceBase);
        const auto b = static_cast<double>(two.state.tokensSinceBase);
        QVERIFY(a > 0 && b > 0);
        for (std::size_t i = 0; i < merged.weights.size(); ++i) {
            const auto mean
                = (one.weights[i].second.to(torch::kFloat64) * a + two.weights[i].second.to(torch::kFloat64) * b)
                / (a + b);
            QVERIFY((merged.weights[i].second.to(torch::kFloat64) - mean).abs().max().item<double>() < 1e-6);
        }
        QVERIFY(run.head(0).record.evalLoss.has_value());
        QCOMPARE(merged.state.tokens, one.state.tokens + two.state.tokens);
        run.train(0);
        run.train(1);
        NO_FAULT(auditFault(run));
    }

    /// The other replica had no more to train and stood on the merge: so did eval, sample and export.
    void theNewestWeightsWereAnOldMergeThatAnotherReplicaHadTrainedOnFrom()
    {
        TinyRun run;
        run.train(0, false, 10);
        run.train(1, false, 10);
        QCOMPARE(run.startTask({ "--task", "merge", "--attempt", std::to_string(run.attempt()), "--method", "average" })
                     .exitCode,
            0);
        const auto merge = run.head(0);
        run.train(0);
        QVERIFY(run.head(0).id != merge.id && run.head(1).id == merge.id);
        TaskOptions options;
        options.task = WorkerTask::Eval;
        options.runFolder = run.paths().folder();
        const auto result = must(runTask(options, [](const std::string&) {}, [] { return false; }));
        QCOMPARE(result.at("checkpoint").get<std::string>(), run.head(0).record.folder);
        QCOMPARE(result.at("weights").at("unmerged_replicas").get<int>(), 0);
        const auto brain = must(readBrain(run.paths()));
        QCOMPARE(brain.weights->row.record.folder, run.head(0).record.folder);
    }
};

QTEST_GUILESS_MAIN(TestLoop)
#include "tst_loop.moc"
