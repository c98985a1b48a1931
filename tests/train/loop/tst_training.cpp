#include "tiny_run.h"

#include "core/run/status/chunk_view.h"
#include "core/run/folder/memory_file.h"
#include "core/run/start/rate_plan.h"
#include "core/telemetry/run_telemetry.h"
#include "core/tracker/sqlite/database.h"
#include "core/tracker/worker_ledger.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <future>

using namespace furrow;
using namespace furrow::test;

class TestTraining : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void oneWorkerTrainsAnEpochAndTheAuditIsClean()
    {
        TinyRun run;
        const auto end = run.train();
        QVERIFY(end.stepsHere > run.chunks());
        NO_FAULT(auditFault(run));
        QCOMPARE(run.head().record.step, end.step);
        QVERIFY(run.head().record.evalLoss.has_value());
        QVERIFY(*run.head().record.evalLoss
            < 5.6); // ln 257 is 5.55: it has learnt something or stood still, never got worse
    }

    void theLossAtTheEndIsKeptWhereTheLastStepWasWrittenBeforeIt()
    {
        auto config = TinyRun::config();
        config.steps = 20; // the worker commits what it has, and only then learns that nobody gives steps back
        TinyRun run(config);
        const auto end = run.train();
        QCOMPARE(run.head().record.step, end.step);
        QVERIFY(run.head().record.evalLoss.has_value());
    }

    void aSampleThatSticksOutIsNamedWithItsLoss()
    {
        std::string text = TinyRun::numberedLines(160);
        const std::string odd = "\x01\x02\x03\x04\x05\x06\x07\x08~~~~####\n";
        const auto middle = text.find("line 100 ");
        text.insert(middle, odd);
        auto config = TinyRun::config();
        config.epochs = 3;
        TinyRun run(config, text);
        run.train();
        int held = 0;
        for (const auto& [place, windows] : run.windows()) {
            const ChunkPart part { place.first, place.second, std::nullopt, SampleOrder::HighestLoss, 0, INT64_MAX };
            const auto view = must(viewChunk(run.paths(), part));
            QVERIFY(view.keepsLosses);
            const auto& samples = view.samples;
            QVERIFY(samples.front().loss);
            QVERIFY(samples.size() == 1 || samples[0].loss >= samples[1].loss); // the last chunk may have one
            const bool isIn = std::any_of(samples.begin(), samples.end(),
                [&](const auto& one) { return one.text == odd.substr(0, odd.size() - 1); });
            held += isIn && samples.front().text == odd.substr(0, odd.size() - 1);
            QCOMPARE(must(viewChunk(run.paths(), { part.block, part.column, 2, SampleOrder::AsStored, 0, INT64_MAX }))
                         .samples.front()
                         .index,
                0);
        }
        QCOMPARE(held, 1); // in its chunk it is the first of those with a high loss
    }

    void windowsAreInTheWeightsExactlyOnceOverTwoEpochs()
    {
        auto config = TinyRun::config();
        config.epochs = 2;
        TinyRun run(config);
        run.train(0, true);
        NO_FAULT(auditFault(run, 2));
        NO_FAULT(run.countingFault(2));
    }

    void twoWorkersShareAnEpochAndMerge()
    {
        TinyRun run;
        auto other = std::async(std::launch::async, [&] { return run.train(1, true); });
        const auto mine = run.train(0, true);
        const auto theirs = other.get();
        NO_FAULT(auditFault(run));
        QVERIFY(mine.stepsHere + theirs.stepsHere > 0);
        if (mine.stepsHere > 0 && theirs.stepsHere > 0) {
            auto merge = run.startTask({ "--task", "merge", "--attempt", std::to_string(run.attempt()), "--counting" });
            QCOMPARE(merge.exitCode, 0);
        }
        // On a busy machine one of them may have trained the whole epoch before the other began.
        NO_FAULT(run.countingFault(1, mine.stepsHere > 0 ? 0 : 1));
        NO_FAULT(auditFault(run));
    }

    void mergeRoundsInTheMiddleLoseNothing()
    {
        auto config = TinyRun::config();
        config.epochs = 3;
        TinyRun run(config, 480);
        std::atomic<bool> over = false;
        auto rounds = std::async(std::launch::async, [&] {
            auto ledger = must(SupervisorLedger::open(run.paths().tracker()));
            int opened = 0;
            while (!over) {
                std::this_thread::sleep_for(std::chrono::milliseconds(150));
                if (over)
                    break;
                must(ledger.openMergeRound());
                ++opened;
            }
            return opened;
        });
        auto other = std::async(std::launch::async, [&] { return run.train(1, true); });
        run.train(0, true);
        other.get();
        over = true;
        rounds.get();
        auto merge = run.startTask({ "--task", "merge", "--attempt", std::to_string(run.attempt()), "--counting" });
        QCOMPARE(merge.exitCode, 0);
        NO_FAULT(auditFault(run, 3));
        NO_FAULT(run.countingFault(3));
    }

    /// It evaluated its last weights and saved them once more, when a merge had them: the tracker refused that
    /// checkpoint, status called it work that cannot be saved, and the next repair found two lines.
    void aWorkerThatStoppedInAMergeSavedOnceMoreWhatItHadGivenToTheMerge()
    {
        auto config = TinyRun::config();
        config.epochs = 100;
        TinyRun run(config, 480);
        auto other = must(WorkerLedger::open(run.paths().tracker(), must(readRunFile(run.paths())).runId));
        QVERIFY(must(other.start({ AttemptId { run.attempt() }, 1, 1, "cpu", "CPU" }, 600)).has_value()); // never there
        auto db = must(Database::open(run.paths().tracker(), {}));
        const auto given = [&db] { return db.integer("SELECT checkpoint FROM contribution WHERE replica=0"); };
        int looks = 0;
        const auto end = must(runTrainer(run.options(), [&] {
            if (++looks == 8)
                must(run.supervisor().openMergeRound());
            return given().has_value();
        }));
        QVERIFY(end.stepsHere > 0);
        QVERIFY(*given() > 0);
        QCOMPARE(must(run.reader().checkpoints()).back().id.value, *given());
        QCOMPARE(run.head().id.value, *given());
    }

    void stopAndResumeGiveTheSameBytesAsTheUnbrokenRun()
    {
        TinyRun unbroken;
        const auto whole = unbroken.train();
        TinyRun broken;
        std::int64_t steps = 0;
        for (const int looks : { 7, 11, 23 }) { // in the middle of chunks, and of the warm-up
            const auto part = broken.train(0, false, looks);
            QCOMPARE(part.cause, std::string("stopped"));
            steps += part.stepsHere;
        }
        steps += broken.train().stepsHere;
        QCOMPARE(steps, whole.stepsHere);
        NO_FAULT(auditFault(broken));
        QCOMPARE(broken.weightsHash(), unbroken.weightsHash());
    }

    void theRateFollowsTheLabelsThatWereTrained() // it counted shares of windows: off by up to 1.4 %
    {
        auto config = TinyRun::config();
        config.decayTokens = 3000;
        TinyRun run(config);
        for (const int looks : { 7, 11, -1 }) // also behind parts of chunks
            run.train(0, false, looks);
        const LrSchedule schedule = planRate(config, 0).inForce;
        std::ifstream file(run.paths().telemetryFile(run.attempt(), 0));
        double trained = 0;
        std::int64_t steps = 0;
        for (std::string line; std::getline(file, line);) {
            const auto j = nlohmann::json::parse(line);
            if (j.value("k", "") != "step")
                continue;
            const double planned = learningRate(schedule, steps++, trained);
            const double rate = j.at("lr").get<double>();
            QVERIFY2(std::abs(rate - planned) < 1e-5 * planned,
                (std::to_string(steps) + ": " + std::to_string(rate) + ", not " + std::to_string(planned)).c_str());
            trained += j.at("stok").get<double>();
        }
        QVERIFY(steps > 20 && trained > 3000);
    }

    void checkpointsInTheMiddleDoNotChangeTheBytes()
    {
        TinyRun plain;
        plain.train();
        auto config = TinyRun::config();
        config.checkpointSteps = 3;
        TinyRun saving(config);
        saving.train();
        QVERIFY(must(saving.supervisor().checkpoints()).size() > 1);
        QCOMPARE(saving.weightsHash(), plain.weightsHash());
    }

    void stepBudgetIsMetExactlyByTwoWorkers()
    {
        auto config = TinyRun::config();
        config.steps = 37;
        config.iterate = true;
        TinyRun run(config);
        auto other = std::async(std::launch::async, [&] { return run.train(1); });
        const auto mine = run.train(0);
        const auto theirs = other.get();
        QCOMPARE(mine.stepsHere + theirs.stepsHere, 37);
        auto reader = run.reader();
        QCOMPARE(must(reader.totals()).steps, 37);
        QVERIFY(run.audited().isClean());
    }

    void budgetCanBeRaisedAfterwards()
    {
        auto config = TinyRun::config();
        config.steps = 10;
        TinyRun run(config);
        QCOMPARE(run.train().stepsHere, 10);
        StoppingRules rules;
        rules.steps = 25;
        must(run.supervisor().setStoppingRules(rules));
        QCOMPARE(run.train().stepsHere, 15);
        QCOMPARE(must(run.reader().totals()).steps, 25);
        QVERIFY(run.audited().isClean());
    }

    void damagedCheckpointIsRefusedByName()
    {
        TinyRun run;
        run.train(0, false, 9);
        const auto head = run.head().record;
        const auto file = run.paths().checkpointFolder(head.folder) / "weights.safetensors";
        auto bytes = must(readFile(file));
        bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
        must(writeFileDurably(realFileSystem(), file, bytes));
        const auto refused = runTrainer(run.options(), {});
        QVERIFY(!refused.ok());
        QVERIFY2(refused.error().message.find(head.folder) != std::string::npos
                && refused.error().message.find("weights.safetensors") != std::string::npos,
            refused.error().message.c_str());
        QCOMPARE(refused.error().code, ErrorCode::Corrupt);
    }

    void pausedWorkerHoldsNothingAndGoesOn()
    {
        TinyRun run;
        must(run.supervisor().setDesired(DesiredState::Pause));
        auto worker = std::async(std::launch::async, [&] { return run.train(); });
        std::this_thread::sleep_for(std::chrono::milliseconds(1500));
        auto reader = run.reader();
        const auto paused = must(reader.epochs()).front().chunks;
        QCOMPARE(paused[ChunkState::Leased], 0);
        QCOMPARE(paused[ChunkState::Trained], 0);
        must(run.supervisor().setDesired(DesiredState::Run));
        worker.get();
        NO_FAULT(auditFault(run));
    }

    void telemetryHasEveryStepWithItsLossAndRate()
    {
        TinyRun run;
        const auto end = run.train();
        std::ifstream file(run.paths().telemetryFile(run.attempt(), 0));
        std::string line;
        std::int64_t steps = 0;
        std::int64_t tokens = 0;
        int events = 0;
        while (std::getline(file, line)) {
            const auto j = nlohmann::json::parse(line);
            const auto kind = j.value("k", "");
            events += kind == "event";
            if (kind != "step")
                continue;
            QCOMPARE(j.at("step").get<std::int64_t>(), ++steps);
            QVERIFY(j.at("loss").get<double>() > 0);
            QVERIFY(steps == 1 || j.at("lr").get<double>() > 0);
            tokens += j.at("stok").get<std::int64_t>();
        }
        QCOMPARE(steps, end.stepsHere);
        QCOMPARE(tokens, end.tokens);
        QVERIFY(events >= 3); // started, checkpoint, stopped
    }

    void countsOfTwoWorkersAddUpAcrossAMerge()
    {
        TinyRun run;
        const auto one = run.train(0, false, 20);
        const auto two = run.train(1, false, 10);
        QCOMPARE(run.startTask({ "--task", "merge", "--attempt", std::to_string(run.attempt()), "--method", "average" })
                     .exitCode,
            0);
        const auto more = run.train(0);
        QVERIFY(one.stepsHere > 0 && two.stepsHere > 0 && more.stepsHere > 0);
        NO_FAULT(auditFault(run));
        RunTelemetry telemetry(run.paths().telemetryFolder(), {});
        while (telemetry.poll()) { }
        const auto seen = telemetry.snapshot();
        double stepTokens = 0;
        double lastTokens = 0;
        double samples = 0;
        for (const auto& s : seen->stretches) {
            for (std::size_t i = 0; i < s.size(); ++i)
                stepTokens += static_cast<double>(s.stepTokens.values[i]);
            lastTokens = std::max(lastTokens, s.tokensBase + static_cast<double>(s.tokens[s.size() - 1]) * kTokenUnit);
            samples = std::max(samples, s.samplesBase + static_cast<double>(s.samples[s.size() - 1]));
            QVERIFY(s.memoryMiB.values[0] > 1);
            QVERIFY(s.parameterNorm.values[s.size() - 1] > 0);
        }
        QVERIFY(std::abs(lastTokens - stepTokens) <= kTokenUnit * 2); // the axis counts in units
        QCOMPARE(static_cast<std::int64_t>(samples), must(run.reader().epochs()).front().rowsCommitted.samples);
        const auto& last = seen->stretches.back();
        QCOMPARE(last.lastStep, one.stepsHere + more.stepsHere); // a worker's steps are its own
        QCOMPARE(
            last.firstGlobalStep + last.globalStep[last.size() - 1], one.stepsHere + two.stepsHere + more.stepsHere);
        QCOMPARE(seen->drifts->size(), std::size_t(2));
        QVERIFY(seen->drifts->front().record.fromBase > 0 && seen->drifts->front().record.fromMean > 0);
        const auto memory = readMemory(run.paths().memoryFile(0));
        QVERIFY(memory && memory->of.device == "CPU" && memory->of.architecture == "gpt");
        QVERIFY(memory->peakBytes > 1 << 20 && memory->estimatedBytes > 1 << 20);
        QVERIFY(seen->claimWaits->back().record.count > 0
            && seen->claimWaits->back().record.maxMs >= seen->claimWaits->back().record.p99Ms);
    }

    void workerOfAnotherRunIsRefusedBeforeItsFirstClaim()
    {
        TinyRun run;
        auto file = must(readFile(run.paths().configFile()));
        auto json = nlohmann::json::parse(file);
        const std::string id = json.at("run_id");
        json["run_id"] = "0123456789abcdef";
        must(writeFileDurably(realFileSystem(), run.paths().configFile(), json.dump()));
        const auto refused = runTrainer(run.options(), {});
        QVERIFY(!refused.ok());
        QVERIFY2(refused.error().message.find(id) != std::string::npos, refused.error().message.c_str());
        auto reader = run.reader();
        QCOMPARE(must(reader.claimsSince(0, 10)).size(), std::size_t(0));
    }
};

QTEST_GUILESS_MAIN(TestTraining)
#include "tst_training.moc"
