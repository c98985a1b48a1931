#include "tiny_run.h"

#include "core/run/audit/checkpoint_problems.h"
#include "core/run/audit/run_audit.h"
#include "core/run/start/recovery.h"
#include "core/run/status/run_status.h"
#include "core/tracker/sqlite/database.h"
#include "core/tracker/training_notes.h"
#include "core/train/loop/chunk_loader.h"

#include <QTest>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

using namespace furrow;
using namespace furrow::test;

/// Damaged files while a run goes on: one file costs the work in it, never everyone's, and never needs a person.
class TestDamage : public QObject {
    Q_OBJECT

    static void flip(const std::filesystem::path& file)
    {
        auto bytes = must(readFile(file));
        bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
        must(writeFileDurably(realFileSystem(), file, bytes));
    }
    static std::filesystem::path weightsOf(TinyRun& run, int replica)
    {
        return run.paths().checkpointFolder(run.head(replica).record.folder) / "weights.safetensors";
    }
    static std::int64_t ownSteps(const std::filesystem::path& checkpoint)
    {
        return nlohmann::json::parse(must(readFile(checkpoint / "state.json"))).at("own_steps").get<std::int64_t>();
    }
    static int merge(TinyRun& run)
    {
        return run.startTask({ "--task", "merge", "--attempt", std::to_string(run.attempt()), "--counting" }).exitCode;
    }
    static Result<std::vector<Message>> recover(TinyRun& run, bool acceptLoss)
    {
        return recoverRun(run.paths(), must(readRunFile(run.paths())), run.supervisor(), { .acceptLoss = acceptLoss });
    }
    static bool isTold(const TinyRun& run, const std::string& part)
    {
        const auto events = must(run.reader().eventsSince(0, 100'000));
        return std::any_of(events.begin(), events.end(), [&part](const EventRow& event) {
            return event.chunk.value == 0 && event.cause.find(part) != std::string::npos;
        });
    }
    /// "" when everybody who looks at a run says what is wrong with it, and a resume asks; else who does not.
    static std::string saidBy(TinyRun& run, const std::string& part)
    {
        const auto contains = [&part](const std::string& text) { return text.find(part) != std::string::npos; };
        const auto report = must(auditRun(run.paths(), AuditDepth::Files));
        if (report.isClean() && report.couldInspect())
            return "audit";
        const auto problems = must(checkpointProblems(run.paths()));
        if (problems.size() != 1 || !contains(problems.front())
            || problems.front().find("--accept-loss") == std::string::npos)
            return "doctor";
        const auto plan = must(planResume(run.paths()));
        if (!contains(plan.loss) || plan.verdict({}).ok() || !plan.effect.redo.empty())
            return "plan";
        const auto refused = recover(run, false);
        if (refused.ok() || !contains(refused.error().message) || isTold(run, part))
            return "resume";
        if (must(recover(run, true)).size() != 1 || !isTold(run, part))
            return "resume --accept-loss";
        const auto evidence = must(readStatus(run.paths())).evidence;
        if (std::none_of(evidence.begin(), evidence.end(), contains))
            return "status";
        return {};
    }
    static std::string whole(TinyRun& run)
    {
        const auto report = must(auditRun(run.paths(), AuditDepth::Files));
        if (!report.isClean() || !report.couldInspect())
            return auditText(report);
        const auto problems = must(checkpointProblems(run.paths()));
        return problems.empty() ? must(planResume(run.paths())).loss.text() : std::string(problems.front());
    }

private Q_SLOTS:
    void
    damagedMemberCostsItsOwnWorkOnly() // trap 10: one failing worker before the merge, and everyone's work was lost
    {
        TinyRun run;
        run.train(0, true, 20);
        run.train(1, true, 20);
        flip(weightsOf(run, 1));
        QVERIFY(merge(run) != 0); // its work is not given up unasked
        QVERIFY(run.head(0).id != run.head(1).id);
        must(recoverRun(run.paths(), must(readRunFile(run.paths())), run.supervisor(), { .acceptLoss = true }));
        QCOMPARE(merge(run), 0);
        QVERIFY(run.head(0).id == run.head(1).id);
        NO_FAULT(run.audited().isClean() ? std::string() : auditText(run.audited()));
        run.train(0, true); // what was left out is trained again
        NO_FAULT(auditFault(run));
        NO_FAULT(run.countingFault());
    }

    /// A backup, say: its task waited thirty seconds for the lock, failed, and the attempt with it.
    void aForeignLockMadeAMergeFail()
    {
        TinyRun run;
        run.train(0, true, 12);
        run.train(1, true, 12);
        auto theirs = must(Database::open(run.paths().tracker(), {}));
        std::optional<Transaction> held(must(Transaction::begin(theirs)));
        std::jthread lets([&held] {
            std::this_thread::sleep_for(std::chrono::seconds(3));
            held.reset();
        });
        qputenv("FURROW_BUSY_S", "0.5");
        const int ended = merge(run);
        qunsetenv("FURROW_BUSY_S");
        lets.join();
        QCOMPARE(ended, 0);
        QVERIFY(run.head(0).id == run.head(1).id);
#ifdef __linux__
        const auto log = must(readFile(run.paths().logFile(run.attempt(), "task")));
        QVERIFY2(log.find("locked by process " + std::to_string(thisProcess().pid)) != std::string::npos, log.c_str());
#endif
    }

    void mergeGoesOnWithoutItsBase() // the base was damaged: every merge failed, for ever
    {
        TinyRun run;
        run.train(0, true, 12);
        run.train(1, true, 12);
        QCOMPARE(merge(run), 0);
        const auto base = weightsOf(run, 0);
        run.train(0, true, 12);
        run.train(1, true, 12);
        must(realFileSystem().removeAll(base));
        QCOMPARE(merge(run), 0);
        run.train(0, true);
        NO_FAULT(auditFault(run));
        NO_FAULT(run.countingFault());
    }

    /// Audit and doctor called the run whole, and a resume went on without, with a word in a worker's log alone.
    void momentsAndOuterStateBesideTheNewestWeightsWereDroppedUnasked()
    {
        auto config = TinyRun::config();
        config.merge = MergeMethod::DiLoCo;
        TinyRun run(config);
        run.train(0, false, 12);
        run.train(1, false, 12);
        const auto moments = weightsOf(run, 1).parent_path() / "optimizer.safetensors";
        QVERIFY(std::filesystem::exists(moments));
        const auto mergeNow = [&run] {
            return run.startTask({ "--task", "merge", "--attempt", std::to_string(run.attempt()) }).exitCode;
        };
        QCOMPARE(mergeNow(), 0);
        NO_FAULT(whole(run));
        flip(moments);
        NO_FAULT(saidBy(run, "Replica 1, which stands on a merge"));
        flip(moments);
        must(recover(run, false));
        QVERIFY(must(must(LedgerReader::open(run.paths().tracker())).goesOnWithout())
                .empty()); // that was of an attempt before
        const auto base = weightsOf(run, 1);
        run.train(0, false, 12);
        run.train(1, false, 12);
        QVERIFY(run.head(0).id != run.head(1).id);
        NO_FAULT(whole(run));
        const auto away = run.paths().folder() / "away";
        std::filesystem::rename(base, away); // cannot be read, which is no damage
        QVERIFY(must(auditRun(run.paths(), AuditDepth::Files)).isClean());
        NO_FAULT(saidBy(run, "the outer state of DiLoCo starts afresh"));
        std::filesystem::rename(away, base);
        NO_FAULT(whole(run));
    }

    /// Within an attempt nobody was asked: moments on a disk that refused to be read were gone for good.
    void aWorkerBeganAfreshWhereItsMomentsCouldNotBeRead()
    {
        TinyRun run;
        run.train(0, false, 12);
        run.train(1, false, 12);
        const auto moments = weightsOf(run, 1).parent_path() / "optimizer.safetensors";
        QCOMPARE(run.startTask({ "--task", "merge", "--attempt", std::to_string(run.attempt()) }).exitCode, 0);
        const auto aside = run.paths().folder() / "aside";
        std::filesystem::rename(moments, aside);
        std::filesystem::create_symlink(moments, moments); // a loop: the system refuses, for whatever user
        const auto head = run.head(1).id;
        const auto refused = runTrainer(run.options(1), [] { return false; });
        QVERIFY(!refused.ok() && refused.error().code == ErrorCode::Io);
        QVERIFY(run.head(1).id == head);
        for (const auto& one : must(run.supervisor().live())) // as the supervisor does with a worker that ended
            (void)must(run.supervisor().revoke(one.incarnation, "ended"));
        std::filesystem::remove(moments);
        std::filesystem::rename(aside, moments);
        run.train(1, false, 12);
        NO_FAULT(whole(run));
    }

    void goingBackToAMergeDroppedMomentsUnasked()
    {
        TinyRun run;
        run.train(0, false, 12);
        run.train(1, false, 12);
        const auto moments = weightsOf(run, 1).parent_path() / "optimizer.safetensors";
        QCOMPARE(run.startTask({ "--task", "merge", "--attempt", std::to_string(run.attempt()) }).exitCode, 0);
        const CheckpointId merged = run.head(0).id;
        run.train(1, false, 12); // has moments of its own, which leave with what is newer
        NO_FAULT(whole(run));
        const auto back = [&](bool acceptLoss) {
            return recoverRun(run.paths(), must(readRunFile(run.paths())), run.supervisor(),
                { .goBackTo = merged, .acceptLoss = acceptLoss });
        };
        flip(moments);
        NO_FAULT(whole(run)); // a plain resume needs them no more
        const auto plan = must(planResume(run.paths()));
        QVERIFY(plan.choiceOf(merged)->loss.find("Replica 1, which stands on a merge") != std::string::npos);
        QVERIFY(!plan.verdict({ .goBackTo = merged }).ok());
        QVERIFY(plan.verdict({ .goBackTo = merged, .acceptLoss = true }).ok());
        const auto heads = std::pair { run.head(0).id, run.head(1).id };
        const auto refused = back(false);
        QVERIFY(!refused.ok() && refused.error().message.find("--accept-loss") != std::string::npos);
        QVERIFY((std::pair { run.head(0).id, run.head(1).id }) == heads); // nothing was changed, as it says
        QVERIFY(!must(back(true)).empty());
        QVERIFY(run.head(1).id == merged);
        QVERIFY(isTold(run, "Replica 1, which stands on a merge"));
    }

    void restartedWorkerDoesNotGoBackToAnOldMerge() // its head was newer than the merge of a round that it had not
                                                    // seen: committed work was lost
    {
        TinyRun run;
        run.train(0, true, 12);
        run.train(1, true, 12);
        QCOMPARE(merge(run), 0);
        QCOMPARE(merge(run), 0); // a round in which nobody had trained anything: its result is the merge before
        run.train(0, true, 12);
        run.train(0, true, 12); // started again from its own checkpoint
        run.train(0, true);
        NO_FAULT(auditFault(run));
        NO_FAULT(run.countingFault());
    }

    void allMembersDamagedFallBackAndTheRunGoesOn()
    {
        TinyRun run;
        run.train(0, true, 20);
        run.train(1, true, 20);
        flip(weightsOf(run, 0));
        flip(weightsOf(run, 1));
        QVERIFY(merge(run) != 0);
        QVERIFY(
            !must(verifyHeads(run.paths(), must(readRunFile(run.paths())), run.supervisor(), false)).refusal.empty());
        const auto verdict = must(verifyHeads(run.paths(), must(readRunFile(run.paths())), run.supervisor(), true));
        QCOMPARE(verdict.notes.size(), std::size_t(2));
        run.train(0, true);
        NO_FAULT(auditFault(run));
        NO_FAULT(run.countingFault());
    }

    void aReplicaWhoseOwnCheckpointIsDamagedCountedFromNought() // it stood on a merge: its warm-up began anew, and its
                                                                // curve at step 1
    {
        TinyRun run;
        run.train(0, true, 12);
        run.train(0, true, 12);
        const auto own = weightsOf(run, 0);
        const auto before = ownSteps(own.parent_path());
        run.train(1, true, 12);
        QCOMPARE(merge(run), 0);
        flip(own);
        const auto more = run.train(0, true, 12);
        const auto rows = must(run.supervisor().checkpoints());
        const auto newest = std::find_if(rows.rbegin(), rows.rend(),
            [](const auto& row) { return row.record.kind == CheckpointKind::Replica && row.record.replica == 0; });
        QVERIFY(newest != rows.rend());
        QVERIFY(more.stepsHere > 0);
        QCOMPARE(ownSteps(run.paths().checkpointFolder(newest->record.folder)), before + more.stepsHere);
    }

    void aReplicaThatWentBackToAMergeBeganAtStep1() // its own checkpoints were removed: warm-up and curve began anew
    {
        TinyRun run;
        run.train(0, true, 12);
        run.train(1, true, 12);
        const auto before = ownSteps(weightsOf(run, 1).parent_path());
        QCOMPARE(merge(run), 0);
        for (const auto& row : must(run.supervisor().checkpoints())) {
            if (row.record.kind == CheckpointKind::Replica)
                must(run.supervisor().markRemoved(row.id));
        }
        const auto more = run.train(1, true, 12);
        const auto rows = must(run.supervisor().checkpoints());
        const auto newest = std::ranges::find(
            rows.rbegin(), rows.rend(), CheckpointKind::Replica, [](const auto& row) { return row.record.kind; });
        QVERIFY(more.stepsHere > 0);
        QCOMPARE(ownSteps(run.paths().checkpointFolder(newest->record.folder)), before + more.stepsHere);
    }

    void damagedBlockIsPutAsideAndItsChunksWaitForTheFeeder() // three workers tried it, and its chunks were poisoned
    {
        TinyRun run;
        auto reader = run.reader();
        const auto file = BlockManager::blockFolder(run.paths().cacheFolder()) / must(reader.block(1)).fileName;
        auto bytes = must(readFile(file));
        for (std::size_t i = bytes.size() / 3; i < bytes.size(); ++i)
            bytes[i] = static_cast<char>(bytes[i] ^ 0x55);
        must(writeFileDurably(realFileSystem(), file, bytes));
        auto worker = run.startWorker(0, { { "FURROW_COUNTING", "1" } });
        for (int i = 0; i < 600 && must(reader.epochs()).front().chunks[ChunkState::Free] > 0; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        const auto counts = must(reader.epochs()).front().chunks;
        QCOMPARE(counts[ChunkState::Poisoned], 0);
        QVERIFY(counts[ChunkState::Pending] > 0);
        QVERIFY(std::filesystem::exists(file)); // a worker deletes nothing: names come from the run folder
        run.feedAgain();
        const auto exit = worker.wait(std::chrono::seconds(60));
        QVERIFY(exit && exit->exitCode == 0);
        NO_FAULT(auditFault(run));
        NO_FAULT(run.countingFault());
    }

    void blockThatWasPreparedAgainWasReadFromTheOldFile() // workers had the cut one open: three reads of it poisoned a
                                                          // chunk whose source was whole
    {
        TinyRun run;
        Claim claim;
        claim.block = 1;
        auto reader = run.reader();
        const auto row = must(reader.block(claim.block));
        const auto file = BlockManager::blockFolder(run.paths().cacheFolder()) / row.fileName;
        auto loader
            = must(ChunkLoader::start({ run.paths().tracker(), BlockManager::blockFolder(run.paths().cacheFolder()),
                byteTokenizer()->endOfText(), TinyRun::config().seqLen }));
        const auto take = [&](int column) {
            claim.claimId = column + 1;
            claim.column = column;
            claim.chunk = chunkIdOf({ 0, claim.block, column });
            claim.windows = run.windows().at({ claim.block, column });
            return loader->take(claim);
        };
        QVERIFY(take(0).ok()); // the file is open now
        const auto whole = must(readFile(file));
        std::filesystem::resize_file(file, 100); // the disk lost the end of it
        QVERIFY(!take(1).ok());
        must(realFileSystem().rename(file, file.string() + ".bad"));
        must(writeFileDurably(realFileSystem(), file, whole));
        QVERIFY(take(0).ok());
        std::filesystem::resize_file(file, 100);
        must(realFileSystem().rename(file, file.string() + ".bad2"));
        must(writeFileDurably(realFileSystem(), file, whole)); // before anybody read the cut one
        const auto loaded = take(1);
        QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message.c_str());
    }

    void checkpointOfAnotherRunInTheFolderFallsBack()
    {
        TinyRun run;
        TinyRun other;
        run.train(0, true, 10);
        run.train(0, true, 10);
        other.train(0, true, 10);
        const auto mine = run.paths().checkpointFolder(run.head().record.folder);
        must(realFileSystem().removeAll(mine));
        std::filesystem::copy(other.paths().checkpointFolder(other.head().record.folder), mine);
        std::filesystem::copy(other.paths().checkpointFolder(other.head().record.folder),
            run.paths().checkpointFolder("r0-99999-foreign"));
        QVERIFY(!recoverRun(run.paths(), must(readRunFile(run.paths())), run.supervisor()).ok());
        const auto notes
            = must(recoverRun(run.paths(), must(readRunFile(run.paths())), run.supervisor(), { .acceptLoss = true }));
        QVERIFY(notes.size() >= 2); // fell back; put the folder without a row aside
        QVERIFY(!std::filesystem::exists(run.paths().checkpointFolder("r0-99999-foreign")));
        QVERIFY(std::filesystem::exists(run.paths().unknownCheckpointsFolder() / "r0-99999-foreign"));
        run.train(0, true);
        NO_FAULT(auditFault(run));
        NO_FAULT(run.countingFault());
    }

    void workerThatCannotWriteTelemetryRefusesBeforeItsFirstClaim()
    {
        TinyRun run;
        must(realFileSystem().removeAll(run.paths().telemetryFolder()));
        must(writeFileDurably(realFileSystem(), run.paths().telemetryFolder(), "in the way"));
        const auto refused = runTrainer(run.options(0, true), {});
        QVERIFY(!refused.ok());
        QVERIFY2(refused.error().message.find("telemetry") != std::string::npos, refused.error().message.c_str());
        auto reader = run.reader();
        QCOMPARE(must(reader.claimsSince(0, 10)).size(), std::size_t(0));
    }

    void workerThatCannotWriteTheTrackerRefusesBeforeItsFirstClaim()
    {
        TinyRun run;
        const auto copy = run.paths().folder() / "copy.sqlite";
        must(run.supervisor().publishSnapshot(copy)); // as after copying the file from a published snapshot
        run.closeTracker();
        must(realFileSystem().removeAll(run.paths().tracker()));
        must(realFileSystem().rename(copy, run.paths().tracker()));
        const auto refused = runTrainer(run.options(0, true), {});
        QVERIFY(!refused.ok());
        QVERIFY2(
            refused.error().message.find("not a live tracker") != std::string::npos, refused.error().message.c_str());
    }

    void workerOfAnEditedRunRefusesByName()
    {
        TinyRun run;
        auto json = nlohmann::json::parse(must(readFile(run.paths().configFile())));
        json["config"]["chunk_samples"] = 11;
        must(writeFileDurably(realFileSystem(), run.paths().configFile(), json.dump()));
        const auto refused = runTrainer(run.options(0, true), {});
        QVERIFY(!refused.ok());
        QVERIFY2(refused.error().message.find("chunk_samples is '11', the run began with '10'") != std::string::npos,
            refused.error().message.c_str());
        auto reader = run.reader();
        QCOMPARE(must(reader.claimsSince(0, 10)).size(), std::size_t(0));
    }
};

QTEST_GUILESS_MAIN(TestDamage)
#include "tst_damage.moc"
