#include "tiny_run.h"

#include "core/run/supervise/keep_policy.h"
#include "core/run/start/recovery.h"
#include "core/run/audit/checkpoint_problems.h"
#include "core/run/audit/repair.h"
#include "core/run/audit/tracker_damage.h"

#include <QTest>

#include <fstream>

using namespace furrow;
using namespace furrow::test;

/// A tracker with flipped bytes: said plainly, rebuilt from what checkpoints prove, and the run goes on from there
/// exactly once.
class TestRepair : public QObject {
    Q_OBJECT

    static RunConfig config()
    {
        auto c = TinyRun::config();
        c.epochs = 2;
        c.checkpointSteps = 5;
        c.keepLast = 2;
        return c;
    }

    static void flip(const std::filesystem::path& file)
    {
        auto bytes = must(readFile(file));
        for (std::size_t page = 4096; page < bytes.size();
            page += 4096) // the first page stays: it is a database, and broken inside
            for (std::size_t i = 0; i < 64; ++i)
                bytes[page + i] = static_cast<char>(bytes[page + i] ^ 0x5a);
        must(writeFileDurably(realFileSystem(), file, bytes));
        auto wal = file;
        wal += "-wal";
        must(realFileSystem().removeAll(wal));
    }

private Q_SLOTS:
    void flippedBytesAreSaidPlainlyAndRebuilt_data()
    {
        QTest::addColumn<bool>("snapshot");
        QTest::newRow("from a snapshot of an earlier time") << true;
        QTest::newRow("from checkpoints and data alone") << false;
    }

    void flippedBytesAreSaidPlainlyAndRebuilt()
    {
        QFETCH(bool, snapshot);
        TinyRun run(config());
        run.train(0, true, 40);
        if (snapshot)
            must(run.supervisor().publishSnapshot(run.paths().trackerSnapshot()));
        run.train(0, true, 60);
        must(KeepPolicy(run.paths(), must(readRunFile(run.paths())).runId, 2)
                .finish(run.supervisor(), std::chrono::seconds(60))); // most weights are gone, their manifests are not
        QVERIFY(std::filesystem::exists(run.paths().removedManifestsFolder()));
        run.train(1, true, 30); // a second line of weights
        const auto before = run.closeTracker();
        QVERIFY(before > 5);
        flip(run.paths().tracker());

        const auto damage = must(trackerDamage(run.paths()));
        QVERIFY2(!damage.empty(), "the damage was not seen");
        const auto report = must(repairRun(run.paths(), [](const std::string&) { }, !snapshot));
        QVERIFY(report.needed);
        QVERIFY(std::filesystem::exists(report.oldCopy));
        for (const auto& entry : std::filesystem::directory_iterator(run.paths().folder()))
            QVERIFY2(!entry.path().filename().string().starts_with("furrow-"),
                entry.path().c_str()); // nothing is left of the work itself
        QVERIFY2(report.rebuilt.leftOut.empty(),
            report.rebuilt.leftOut.empty() ? "" : report.rebuilt.leftOut.front().c_str());
        QCOMPARE(report.rebuilt.heads.size(), std::size_t(2));
        QCOMPARE(report.committed, before); // everything that was committed is proven by manifests
        QCOMPARE(must(trackerDamage(run.paths())), std::string());
        const auto text = auditText(run.audited());
        QVERIFY2(text.find("rebuilt") != std::string::npos, text.c_str());

        run.openTracker();
        run.train(0, true);
        QCOMPARE(
            run.startTask({ "--task", "merge", "--attempt", std::to_string(run.attempt()), "--counting" }).exitCode, 0);
        NO_FAULT(auditFault(run, 2));
        NO_FAULT(run.countingFault(2));
    }

    void wholeTrackerIsLeftAlone()
    {
        TinyRun run(config());
        run.train(0, true, 20);
        run.closeTracker();
        const auto before = must(readFile(run.paths().tracker()));
        QVERIFY(!must(repairRun(run.paths(), [](const std::string&) { })).needed);
        QCOMPARE(must(readFile(run.paths().tracker())), before);
    }

    /// Doctor and audit called it whole, and a resume deleted all newer checkpoints and began near zero.
    void anOlderTrackerIsTakenForwardFromTheManifests_data()
    {
        QTest::addColumn<bool>("snapshot");
        QTest::newRow("from a snapshot that is newer") << true;
        QTest::newRow("from itself") << false;
    }

    void anOlderTrackerIsTakenForwardFromTheManifests()
    {
        QFETCH(bool, snapshot);
        TinyRun run(config());
        run.train(0, true, 40);
        run.closeTracker();
        const auto older = run.paths().folder() / "older.sqlite";
        std::filesystem::copy(run.paths().tracker(), older);
        run.openTracker();
        run.train(0, true, 60);
        if (snapshot)
            must(run.supervisor().publishSnapshot(run.paths().trackerSnapshot()));
        run.train(1, true, 30);
        const auto head = run.head(0).record.folder;
        const auto committed = run.closeTracker();
        for (const char* ending : { "", "-wal", "-shm" })
            std::filesystem::remove(run.paths().tracker().string() + ending);
        std::filesystem::rename(older, run.paths().tracker());

        QCOMPARE(must(trackerDamage(run.paths())), std::string()); // it is whole, only old
        const auto problems = must(checkpointProblems(run.paths()));
        QCOMPARE(problems.size(), std::size_t(1));
        QVERIFY2(problems.front().find("--repair") != std::string::npos, problems.front().c_str());
        const auto refused = startRun(run.paths(), must(currentConfig(run.paths())));
        QVERIFY(!refused.ok());
        QCOMPARE(refused.error().message, problems.front());
        const auto report = must(repairRun(run.paths(), [](const std::string&) { }));
        QVERIFY(report.needed && report.older && std::filesystem::exists(report.oldCopy));
        QCOMPARE(report.committed, committed);
        QVERIFY(must(checkpointProblems(run.paths())).empty());
        run.openTracker();
        QCOMPARE(run.head(0).record.folder, head);
        QVERIFY(must(recoverRun(run.paths(), must(readRunFile(run.paths())), run.supervisor())).empty());
        run.train(0, true);
        run.train(1, true);
        NO_FAULT(run.audited().isClean() ? std::string() : auditText(run.audited()));
    }

    /// What the new tracker could not take in stopped every resume after the repair.
    void whatARepairLeavesOutIsPutAside()
    {
        TinyRun run(config());
        run.train(0, true, 60);
        const auto rows = must(run.supervisor().checkpoints());
        QVERIFY(rows.size() >= 2);
        run.closeTracker();
        must(realFileSystem().removeAll(
            run.paths().checkpointFolder(rows.front().record.folder))); // nothing proves what the others grew from
        flip(run.paths().tracker());
        const auto report = must(repairRun(run.paths(), [](const std::string&) { }, true));
        QVERIFY(!report.rebuilt.leftOut.empty());
        QVERIFY(std::filesystem::exists(
            run.paths().unknownCheckpointsFolder() / rows.back().record.folder / "manifest.json"));
        run.openTracker();
        must(recoverRun(run.paths(), must(readRunFile(run.paths())), run.supervisor()));
    }

    void runInTrainingIsNotRepaired()
    {
        TinyRun run(config());
        auto lock = must(FileLock::tryLock(run.paths().supervisorLock()));
        const auto refused = repairRun(run.paths(), [](const std::string&) { });
        QVERIFY(!refused.ok());
        QCOMPARE(refused.error().code, ErrorCode::Busy);
    }
};

QTEST_GUILESS_MAIN(TestRepair)
#include "tst_repair.moc"
