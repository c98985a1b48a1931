#include <torch/torch.h>

#include "tiny_run.h"

#include "core/base/fail_point.h"
#include "core/run/folder/checkpoint_notes.h"
#include "core/run/supervise/keep_policy.h"
#include "core/run/start/recovery.h"
#include "core/run/audit/repair.h"
#include "core/tracker/sqlite/database.h"
#include "core/train/checkpoint/checkpoint_torch.h"
#include "core/train/checkpoint/frozen_weights_torch.h"
#include "core/train/merge/merge_torch.h"
#include "core/train/loop/run_setup_torch.h"
#include "core/train/checkpoint/start_weights_torch.h"
#include "core/train/weights/huggingface_torch.h"
#include "tests/fakes/fault_file_system.h"

#include <QTest>

#include <fstream>

using namespace furrow;
using namespace furrow::test;

namespace fs = std::filesystem;

namespace {

/// A run that all weights were trained in: what the pairs are trained beside.
TinyRun& wholeModel()
{
    static TinyRun run;
    static const bool trained = (run.train(0, false, 11), true);
    (void)trained;
    return run;
}

RunConfig withPairs(std::int64_t rank = 2)
{
    auto c = TinyRun::config();
    c.initFrom = wholeModel().paths().checkpointFolder(wholeModel().head().record.folder).string();
    c.loraRank = rank;
    return c;
}

std::string idOf(const TinyRun& run) { return must(readRunFile(run.paths())).runId; }

LoadedCheckpoint headOf(TinyRun& run, int replica = 0)
{
    return must(
        loadCheckpoint(run.paths(), idOf(run), run.head(replica).record, { .optimizer = true, .frozen = true }));
}

fs::path onlyFrozenFile(const TinyRun& run)
{
    const auto files = must(entriesOf(run.paths().frozenFolder()));
    if (files.size() != 1)
        throw std::runtime_error(std::to_string(files.size()) + " files of frozen weights");
    return files.front();
}

void flip(const fs::path& file)
{
    auto bytes = must(readFile(file));
    bytes[bytes.size() - 5] = static_cast<char>(bytes[bytes.size() - 5] ^ 1);
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

bool recovers(TinyRun& run, const ResumeChoice& choice, std::string& said)
{
    const auto recovered = recoverRun(run.paths(), must(readRunFile(run.paths())), run.supervisor(), choice);
    said = recovered.ok() ? Message() : recovered.error().message;
    return recovered.ok();
}

/// The head as versions wrote it that kept all weights in each checkpoint.
void makeHeadOld(TinyRun& run)
{
    const auto row = run.head();
    const auto loaded = headOf(run);
    FrozenCheckpoint old;
    old.state = loaded.state;
    old.weights = loaded.allWeights();
    old.optimizer = loaded.optimizer;
    const auto manifest = must(readManifest(run.paths().checkpointFolder(row.record.folder)));
    old.parts = manifest.parts;
    old.evalLoss = manifest.evalLoss;
    old.incarnation = { manifest.incarnation };
    const auto record = must(publishCheckpoint(run.paths(), idOf(run), old));
    forgetWriting(run.paths(), record.folder);
    auto db = must(Database::open(run.paths().tracker(), {}));
    db.script(("UPDATE checkpoint SET folder='" + record.folder + "', manifest_sha256='" + record.manifestSha256
        + "', size_bytes=" + std::to_string(record.sizeBytes) + " WHERE folder='" + row.record.folder + "'")
            .c_str());
    must(db.takeStatus());
    must(realFileSystem().removeAll(run.paths().checkpointFolder(row.record.folder)));
    must(realFileSystem().removeAll(run.paths().frozenFolder()));
}

constexpr const char* kRun = "0123456789abcdef";

} // namespace

/// Checkpoints of LoRA hold the pairs and name the weights beside them, which lie once in the run. Each one held all
/// weights of the model.
class TestLoraCheckpoints : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { qputenv("TORCH_FR_BUFFER_SIZE", "0"); }

    void aCheckpointHoldsThePairsAndNamesTheRest()
    {
        auto config = withPairs();
        config.checkpointSteps = 5;
        config.epochs = 6; // on a slow disk one checkpoint is written while an epoch is trained, and three are needed
        TinyRun run(config);
        run.train();
        const auto file = onlyFrozenFile(run);
        const auto row = run.head();
        const auto manifest = must(readManifest(run.paths().checkpointFolder(row.record.folder)));
        QVERIFY(manifest.frozen && fs::file_size(file) == manifest.frozen->sizeBytes);
        QCOMPARE(file.stem().string(), manifest.frozen->sha256);
        QVERIFY2(row.record.sizeBytes * 2 < manifest.frozen->sizeBytes, std::to_string(row.record.sizeBytes).c_str());
        const auto loaded = headOf(run);
        for (const auto& [name, tensor] : loaded.weights)
            QVERIFY2(name.starts_with("lora."), name.c_str());
        const auto base
            = must(loadCheckpoint(wholeModel().paths(), idOf(wholeModel()), wholeModel().head().record, {})).weights;
        QCOMPARE(loaded.frozen.size(), base.size());
        for (const auto& [name, tensor] : base)
            QVERIFY2(torch::equal(tensor, *findTensor(loaded.frozen, name)), name.c_str()); // nothing changed them
        must(KeepPolicy(run.paths(), idOf(run), 2).finish(run.supervisor(), std::chrono::seconds(60)));
        QVERIFY(fs::exists(run.paths().removedManifestsFolder()) && fs::exists(file));
        NO_FAULT(auditFault(run));
    }

    void aResumedRunEndsWithTheSameBytes_data()
    {
        QTest::addColumn<double>("emaDecay");
        QTest::newRow("plain") << 0.0;
        QTest::newRow("with averaged weights") << 0.9;
    }
    void aResumedRunEndsWithTheSameBytes()
    {
        QFETCH(double, emaDecay);
        auto config = withPairs();
        config.emaDecay = emaDecay;
        TinyRun unbroken(config);
        unbroken.train();
        TinyRun broken(config);
        broken.train(0, false, 11);
        broken.train();
        QCOMPARE(broken.weightsHash(), unbroken.weightsHash());
        QCOMPARE(onlyFrozenFile(broken).filename(), onlyFrozenFile(unbroken).filename());
        NO_FAULT(auditFault(broken));
    }

    void aRunOfAnOlderVersionGoesOn()
    {
        TinyRun unbroken(withPairs());
        unbroken.train();
        TinyRun run(withPairs());
        run.train(0, false, 11);
        makeHeadOld(run);
        const auto old = run.head().record;
        std::string said;
        QVERIFY2(recovers(run, {}, said), said.c_str());
        run.train();
        QCOMPARE(run.weightsHash(), unbroken.weightsHash());
        QCOMPARE(onlyFrozenFile(run).filename(), onlyFrozenFile(unbroken).filename());
        QVERIFY(run.head().record.sizeBytes * 3 < old.sizeBytes);
        NO_FAULT(auditFault(run));
    }

    void replicasOfAnOlderAndThisVersionAreMerged()
    {
        TinyRun run(withPairs());
        run.train(0, false, 12);
        makeHeadOld(run);
        run.train(1, false, 12);
        QCOMPARE(run.startTask({ "--task", "merge", "--attempt", std::to_string(run.attempt()), "--method", "diloco" })
                     .exitCode,
            0);
        QCOMPARE(run.head(0).id, run.head(1).id);
        QVERIFY(headOf(run).frozenFile.has_value());
        run.train(0);
        NO_FAULT(auditFault(run));
    }

    void aMergeIsOneOfThePairs_data()
    {
        QTest::addColumn<QString>("method");
        QTest::newRow("average") << "average";
        QTest::newRow("diloco") << "diloco";
    }
    void aMergeIsOneOfThePairs()
    {
        QFETCH(QString, method);
        TinyRun run(withPairs());
        run.train(0, false, 20);
        run.train(1, false, 10);
        const auto one = headOf(run, 0);
        const auto two = headOf(run, 1);
        QCOMPARE(run.startTask({ "--task", "merge", "--attempt", std::to_string(run.attempt()), "--method",
                                   method.toStdString() })
                     .exitCode,
            0);
        const auto merged = headOf(run);
        QCOMPARE(run.head(0).id, run.head(1).id);
        QCOMPARE(merged.frozenFile->sha256, one.frozenFile->sha256);
        QCOMPARE(merged.weights.size(), one.weights.size());
        const auto a = static_cast<double>(one.state.tokensSinceBase);
        const auto b = static_cast<double>(two.state.tokensSinceBase);
        for (std::size_t i = 0; method == "average" && i < merged.weights.size(); ++i) {
            const auto mean
                = (one.weights[i].second.to(torch::kFloat64) * a + two.weights[i].second.to(torch::kFloat64) * b)
                / (a + b);
            QVERIFY((merged.weights[i].second.to(torch::kFloat64) - mean).abs().max().item<double>() < 1e-6);
        }
        run.train(0);
        run.train(1);
        (void)onlyFrozenFile(run);
        NO_FAULT(auditFault(run));
    }

    /// What a merge of named checkpoints makes has no manifest that could name a file beside it.
    void aMergeOfNamedCheckpointsCanBeStartedFrom()
    {
        TinyRun run(withPairs());
        run.train(0, false, 12);
        run.train(1, false, 12);
        const auto names = run.head(0).record.folder + "," + run.head(1).record.folder;
        QCOMPARE(run.startTask({ "--task", "merge", "--checkpoints", names }).exitCode, 0);
        const auto twice = run.head(0).record.folder + "," + run.head(0).record.folder; // made one model of one
        QVERIFY(run.startTask({ "--task", "merge", "--checkpoints", twice }).exitCode != 0);
        const auto made = must(entriesOf(run.paths().exportsFolder()));
        QCOMPARE(made.size(), std::size_t(1));
        auto config = withPairs();
        config.initFrom = made.front().string();
        TinyRun next(config);
        QCOMPARE(next.train(0, false, 5).cause.empty(), false);
    }

    void aMergeOfNamedCheckpointsTakesTheWeightsOfInitFromForItsBase() // it took random ones
    {
        auto config = withPairs();
        config.loraRank = 0;
        TinyRun run(config);
        run.train(0, false, 12);
        run.train(1, false, 12);
        const auto setup = must(openRun(run.paths(), {}));
        std::vector<MergeMember> members;
        for (const int replica : { 0, 1 })
            members.push_back({ "", headOf(run, replica).weights, headOf(run, replica).state.tokensSinceBase });
        const auto expected = must(mergeDiloco(frozenCopy(must(newLearner(setup))->weights()), members, {},
            setup.config.outerLr, setup.config.outerMomentum));
        QCOMPARE(run.startTask({ "--task", "merge", "--checkpoints",
                                   run.head(0).record.folder + "," + run.head(1).record.folder, "--method", "diloco" })
                     .exitCode,
            0);
        const auto merged
            = must(startWeights(must(entriesOf(run.paths().exportsFolder())).front().string(), setup.modelConfig));
        for (const auto& [name, tensor] : expected.weights)
            QVERIFY2(torch::equal(tensor, *findTensor(merged, name)), name.c_str());
    }

    void workerThatDiesBesideTheFrozenFileLeavesAWholeOneOrNone_data()
    {
        QTest::addColumn<QString>("failPoint");
        for (const auto name : kFrozenFailPoints)
            QTest::newRow(std::string(name).c_str()) << QString::fromStdString(std::string(name));
    }
    void workerThatDiesBesideTheFrozenFileLeavesAWholeOneOrNone()
    {
        QFETCH(QString, failPoint);
        TinyRun unbroken(withPairs());
        unbroken.train();
        TinyRun run(withPairs());
        auto worker = run.startWorker(0, { { "FURROW_FAIL_AT", failPoint.toStdString() } });
        const auto exit = worker.wait(std::chrono::seconds(120));
        QVERIFY(exit && exit->signal == 9);
        const bool isWritten = failPoint == "frozen.stored";
        QCOMPARE(fs::exists(run.paths().frozenFolder()), isWritten);
        QCOMPARE(must(writingNotes(run.paths(), idOf(run))).size(), std::size_t(isWritten ? 0 : 1));
        fs::create_directory(run.paths().checkpointFolder("frozen-mine.tmp")); // nobody noted it: a person's
        {
            std::ofstream(run.paths().checkpointFolder("frozen-mine.tmp") / "weights.safetensors") << "mine";
        }
        std::string said;
        QVERIFY2(recovers(run, {}, said), said.c_str());
        QVERIFY(must(writingNotes(run.paths(), idOf(run))).empty());
        for (const auto& entry : must(entriesOf(run.paths().checkpointsFolder())))
            QVERIFY2(run.paths().isBesideCheckpoints(entry), entry.c_str());
        QVERIFY(fs::exists(run.paths().unknownCheckpointsFolder() / "frozen-mine.tmp" / "weights.safetensors"));
        run.beginAttempt();
        run.train();
        QCOMPARE(run.weightsHash(), unbroken.weightsHash());
        (void)onlyFrozenFile(run);
        NO_FAULT(auditFault(run));
    }

    void aMissingFrozenFileIsNoDamageAndAFlippedOneIs()
    {
        TinyRun run(withPairs());
        run.train(0, false, 11);
        const auto head = run.head();
        const auto file = onlyFrozenFile(run);
        const auto bytes = must(readFile(file));
        fs::remove(file);
        std::string said;
        QVERIFY(!recovers(run, {}, said));
        QVERIFY2(said.find("cannot be read") != std::string::npos
                && said.find(file.filename().string()) != std::string::npos,
            said.c_str());
        std::ofstream(file, std::ios::binary) << bytes;
        flip(file);
        QVERIFY(!recovers(run, {}, said));
        QVERIFY2(
            said.find("is damaged: SHA-256 of frozen/" + file.filename().string()) != std::string::npos, said.c_str());
        const auto refused = run.startWorker(0, {}).wait(std::chrono::seconds(120));
        QVERIFY(refused && refused->exitCode != 0);
        QVERIFY(run.head().id == head.id && !run.head().damaged);
        {
            std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
        }
        QVERIFY2(recovers(run, {}, said), said.c_str());
        run.beginAttempt();
        run.train();
        NO_FAULT(auditFault(run));
    }

    void withAPersonsYesAFlippedFrozenFileIsWrittenAnewAndKeptAside()
    {
        TinyRun run(withPairs());
        run.train(0, false, 11);
        const auto file = onlyFrozenFile(run);
        const auto whole = must(readFile(file));
        flip(file);
        std::string said;
        QVERIFY2(recovers(run, { .acceptLoss = true }, said), said.c_str());
        run.beginAttempt();
        run.train();
        QCOMPARE(must(readFile(onlyFrozenFile(run))), whole);
        QVERIFY(fs::exists(run.paths().unknownCheckpointsFolder() / file.filename()));
        NO_FAULT(auditFault(run));
    }

    void aRunStartsFromACheckpointOfPairs()
    {
        TinyRun run(withPairs());
        run.train(0, false, 11);
        const auto checkpoint = run.paths().checkpointFolder(run.head().record.folder);
        auto config = withPairs();
        config.initFrom = checkpoint.string();
        TinyRun next(config);
        const auto here = headOf(run);
        const auto learner = must(newLearner(must(openRun(next.paths(), {}))));
        for (const auto& [name, tensor] : learner->weights())
            QVERIFY2(torch::equal(tensor, *findTensor(here.weights, name)), name.c_str());
        for (const auto& [name, tensor] : learner->frozenWeights())
            QVERIFY2(torch::equal(tensor, *findTensor(here.frozen, name)), name.c_str());
        next.train(0, false, 5);
        QCOMPARE(onlyFrozenFile(next).filename(), onlyFrozenFile(run).filename());
    }

    void aCheckpointThatWasCopiedAloneSaysWhichFileItLacks()
    {
        TinyRun run(withPairs());
        run.train(0, false, 5);
        const QTemporaryDir elsewhere;
        const auto copy = fs::path(elsewhere.path().toStdString()) / "copy";
        fs::copy(run.paths().checkpointFolder(run.head().record.folder), copy);
        const auto config = must(openRun(run.paths(), {})).modelConfig;
        const auto lacking = startWeights(copy.string(), config);
        QVERIFY(!lacking.ok());
        const auto& said = lacking.error().message;
        QVERIFY2(said.find(onlyFrozenFile(run).filename().string()) != std::string::npos
                && said.find("checkpoints/frozen of run " + idOf(run)) != std::string::npos,
            said.c_str());
        fs::copy(onlyFrozenFile(run), copy / onlyFrozenFile(run).filename());
        QVERIFY(startWeights(copy.string(), config).ok());
        flip(copy / onlyFrozenFile(run).filename());
        QVERIFY(!startWeights(copy.string(), config).ok());
    }

    void aDamagedTrackerIsMadeAnewAndTheRunGoesOn()
    {
        TinyRun unbroken(withPairs());
        unbroken.train();
        TinyRun run(withPairs());
        run.train(0, false, 11);
        const auto before = run.closeTracker();
        QVERIFY(before > 0);
        for (const char* ending : { "", "-wal", "-shm" })
            fs::remove(run.paths().tracker().string() + ending);
        {
            std::ofstream(run.paths().tracker()) << "no database";
        }
        const auto report = must(repairRun(run.paths(), [](const std::string&) { }, true));
        QCOMPARE(report.committed, before);
        QCOMPARE(report.rebuilt.heads.size(), std::size_t(1));
        (void)onlyFrozenFile(run);
        run.openTracker();
        run.feedAgain();
        run.train();
        QCOMPARE(run.weightsHash(), unbroken.weightsHash());
    }

    void anExportIsThePlainModel()
    {
        TinyRun run(withPairs());
        run.train(0, false, 20);
        const auto out = run.paths().exportsFolder() / "model";
        QCOMPARE(run.startTask({ "--task", "export", "--out", out.string() }).exitCode, 0);
        QVERIFY(must(readFile(out / "README.md")).find("## What the audit proves") != std::string::npos);
        const auto exported = must(importHuggingFace(out)).state;
        const auto head = headOf(run);
        const double scale = must(openRun(run.paths(), {})).modelConfig.loraScale();
        for (const auto& [name, base] : head.frozen) {
            const auto* a = findTensor(head.weights, "lora." + name.substr(0, name.rfind('.')) + ".a");
            const auto* b = findTensor(head.weights, "lora." + name.substr(0, name.rfind('.')) + ".b");
            const auto expected = a && base.dim() == 2 ? base + torch::mm(*b, *a) * scale : base;
            QVERIFY2(torch::allclose(*findTensor(exported, name), expected, 1e-6, 1e-6), name.c_str());
            QVERIFY2(!a || base.dim() != 2 || !torch::equal(expected, base), name.c_str());
        }
    }

    /// Two workers begin at once, the disk fills up, the power goes: the file is whole, or it is not there.
    void theFrozenFileIsWholeWheneverThePowerGoes()
    {
        const NamedTensors tensors { { "embed.weight", torch::arange(64, torch::kFloat32) } };
        const QTemporaryDir folder;
        int made = 0;
        const auto fresh = [&] {
            const auto run = fs::path(folder.path().toStdString()) / std::to_string(++made);
            fs::create_directories(run / "checkpoints" / "writing");
            return RunPaths(run);
        };
        int steps = 0;
        {
            const auto run = fresh();
            FaultFileSystem files(run.folder());
            const auto stored = must(storeFrozen(run, kRun, tensors, files));
            steps = files.steps();
            files.powerLoss();
            must(verifyFrozenFile(frozenFileIn(run.checkpointsFolder(), stored.sha256), stored));
            QCOMPARE(must(storeFrozen(run, kRun, tensors)).sha256, stored.sha256); // the second worker writes nothing
            QCOMPARE(must(entriesOf(run.frozenFolder())).size(), std::size_t(1));
        }
        QVERIFY(steps > 5);
        for (int step = 1; step <= steps; ++step) {
            const auto run = fresh();
            FaultFileSystem files(run.folder());
            files.cutPowerAt(step);
            const auto stored = storeFrozen(run, kRun, tensors, files);
            files.powerLoss();
            const auto frozen = entriesOf(run.frozenFolder());
            for (const auto& file : frozen.ok() ? frozen.value() : std::vector<fs::path> {})
                must(verifyFrozenFile(file, must(storeFrozen(fresh(), kRun, tensors))));
            QVERIFY(!stored.ok() || (frozen.ok() && frozen.value().size() == 1));
            must(storeFrozen(run, kRun, tensors)); // the next start
        }
        for (const std::uint64_t bytes : { 0, 100, 300 }) {
            const auto run = fresh();
            FaultFileSystem files(run.folder());
            files.fullAfter(bytes);
            QVERIFY(!storeFrozen(run, kRun, tensors, files).ok());
            QVERIFY(fs::is_empty(run.writingNotesFolder()) && must(entriesOf(run.checkpointsFolder())).size() <= 2);
        }
    }
};

QTEST_GUILESS_MAIN(TestLoraCheckpoints)
#include "tst_lora_checkpoints.moc"
