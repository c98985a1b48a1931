#include "ledger_fixture.h"

#include "core/tracker/sqlite/database.h"
#include "core/tracker/audit/rebuild.h"

using namespace furrow;
using enum ChunkState;

/// Merge rounds, and several replicas in one ledger.
class TestMerges : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void mergeMovesAllHeadsAndKeepsTheParts();
    void whoWaitedForOthersHeldThemUp();
    void repairLeavesNoReplicaBehindTheMergeThatItWentInto();
    void weightsThatWereSavedTwiceWereAnotherLineForARepair();
    void damagedMergeFallsBackToItsMembers();
    void damagedMergeIsNotLookedForAgain();
    void deadReplicaTakesPartWithItsLastCheckpoint();
    void leftOutReplicaGivesItsChunksBack();
    void mergeOfADeadComputerIsTakenAgain();
    void aWorkerThatStartedDuringAMergeWasLeftOutOfIt();
    void oneFailingWorkerDoesNotEndTheRound();
    void newReplicaStartsFromTheNewestMerge();
    void roundWithoutNewWorkHasTheBaseAsResult();
    void parkedReplicasKeepTheirChunks();
    void auditIsCleanAfterMergesAndFallBacks();
    void auditFindsWhatWasTakenOutOfAMerge_data();
    void auditFindsWhatWasTakenOutOfAMerge();
};

void TestMerges::auditFindsWhatWasTakenOutOfAMerge_data()
{
    QTest::addColumn<QByteArray>("sql");
    QTest::addColumn<QByteArray>("said");
    const auto row = [](const char* name, const char* sql, const char* said) {
        QTest::newRow(name) << QByteArray(sql) << QByteArray(said);
    };
    row("all contributions", "DELETE FROM contribution", "round 1 of merging has a result and no contributions");
    row("the contribution of who merged", "DELETE FROM contribution WHERE replica=0",
        "was done by worker process 1, whose own contribution to it is gone");
    row("the round", "DELETE FROM merge_round", "the events open 1 rounds of merging, the tracker has 0");
    row("an input", "DELETE FROM merge_input WHERE checkpoint=2",
        "checkpoint 3 is a merge, and no round of merging had all checkpoints");
    row("the result", "UPDATE merge_round SET result=99",
        "round 1 of merging gave checkpoint 99, which is not a merge");
    row("a result that is no merge", "UPDATE merge_round SET result=1",
        "round 1 of merging gave checkpoint 1, which is not a merge");
    row("the checkpoint of an input", "UPDATE merge_input SET checkpoint=99 WHERE checkpoint=2",
        "checkpoint 99 was given to round 1 of merging, and the tracker lacks one of them");
    row("a contribution of nobody", "UPDATE contribution SET incarnation=9 WHERE replica=1",
        "worker process 9 contributed to round 1 of merging");
    row("an input that is newer than the merge", "INSERT INTO merge_input VALUES (1, 3)",
        "checkpoint 3 is not older than what round 1 of merging gave");
    row("a contribution of another replica", "INSERT INTO contribution VALUES (1, 7, 2, 2)",
        "worker process 2 is said to have contributed to round 1 of merging for a replica that it did not train");
    row("a contribution of no checkpoint", "UPDATE contribution SET checkpoint=-1 WHERE replica=1",
        "worker process 2 contributed to round 1 of merging, and the tracker lacks");
    row("a worker process", "DELETE FROM incarnation WHERE id=2",
        "checkpoint 2 was written by worker process 2, which the tracker does not have");
    row("a replica", "DELETE FROM replica WHERE replica=1",
        "worker process 2 trained replica 1, which the tracker does not have");
    row("an attempt", "DELETE FROM attempt", "worker process 1 is of attempt 1, which the tracker does not have");
    row("an epoch that was opened", "DELETE FROM event WHERE cause='epoch 1 opened'; UPDATE event SET seq=seq-1",
        "the events open 0 epochs, the tracker has 1");
    row("the part of another process", "UPDATE checkpoint SET incarnation=1, replica=0 WHERE id=2",
        "was written by worker process 1 and has a part of claim 2, which is of worker process 2");
}

void TestMerges::auditFindsWhatWasTakenOutOfAMerge()
{
    QFETCH(QByteArray, sql);
    QFETCH(QByteArray, said);
    Field field;
    field.fill(1, 6);
    {
        auto a = field.worker(0);
        auto b = field.worker(1);
        const CheckpointId ca = trainOne(a, 0, "a1");
        const CheckpointId cb = trainOne(b, 1, "b1");
        const std::int64_t round = good(field.supervisor().openMergeRound());
        good(a.contribute(round, ca));
        good(b.contribute(round, cb));
        good(a.takeMerge(round));
        good(a.commitMerge(round, record(-1, "m1")));
        good(a.end("done"));
        good(b.end("done"));
    }
    verifyClean(field);
    auto db = good(Database::open(field.tracker, {}));
    db.script(("PRAGMA foreign_keys=OFF;" + sql.toStdString()).c_str());
    good(db.takeStatus(), sql.constData());
    const AuditReport report = good(audit(field.tracker));
    const std::string text = auditText(report);
    QVERIFY2(!report.isClean() && text.find(said.toStdString()) != std::string::npos, text.c_str());
}

/// Each worker that waited took the lock of the tracker, and synced it, a hundred times a second.
void TestMerges::whoWaitedForOthersHeldThemUp()
{
    Field field;
    field.fill(1, 6);
    auto a = field.worker(0);
    auto b = field.worker(1);
    const CheckpointId ca = trainOne(a, 0, "a1");
    const CheckpointId cb = trainOne(b, 1, "b1");
    auto supervisor = field.supervisor();
    const std::int64_t round = good(supervisor.openMergeRound());
    good(a.contribute(round, ca));
    a.setPatience([](std::chrono::milliseconds) { return false; });
    {
        auto db = good(Database::open(field.tracker, {}));
        auto lock = good(Transaction::begin(db));
        QVERIFY(!good(a.takeMerge(round), "b is still training").has_value());
    }
    good(b.contribute(round, cb));
    QVERIFY(good(b.takeMerge(round)).has_value());
    {
        auto db = good(Database::open(field.tracker, {}));
        auto lock = good(Transaction::begin(db));
        QVERIFY(!good(a.takeMerge(round), "b has it").has_value());
    }
    (void)good(supervisor.revoke(field.ids[1], "killed")); // and now it is for a
    QVERIFY(good(a.takeMerge(round)).has_value());
}

void TestMerges::mergeMovesAllHeadsAndKeepsTheParts()
{
    Field field;
    field.fill(1, 6);
    auto a = field.worker(0);
    auto b = field.worker(1);
    const CheckpointId ca = trainOne(a, 0, "a1");
    const CheckpointId cb = trainOne(b, 1, "b1");
    auto supervisor = field.supervisor();
    const std::int64_t round = good(supervisor.openMergeRound());
    QCOMPARE(good(supervisor.openMergeRound()), round);
    QCOMPARE(good(a.signals()).mergeRound, round);
    good(a.contribute(round, ca));
    QVERIFY(!good(a.takeMerge(round)).has_value()); // b is still training
    good(b.contribute(round, cb));
    const auto job = good(b.takeMerge(round));
    QVERIFY(job.has_value());
    QCOMPARE(job->contributions, (std::vector<CheckpointId> { ca, cb }));
    QVERIFY(!good(a.takeMerge(round)).has_value()); // b has it
    QVERIFY(!good(a.mergeResult(round)).has_value());
    const CheckpointId merged = good(b.commitMerge(round, record(-1, "m1")));
    QCOMPARE(good(a.mergeResult(round)), std::optional(merged));
    SAME(newestHead(field, 0), merged);
    SAME(newestHead(field, 1), merged);
    QCOMPARE(field.counts()[Committed], 2);
    QVERIFY(!b.commitMerge(round, record(-1, "m2")).ok());
    trainOne(a, 0, "a2"); // on the merged weights
    verifyClean(field);
}

void TestMerges::repairLeavesNoReplicaBehindTheMergeThatItWentInto() // a clock that had gone back made an older
                                                                     // checkpoint look like the newest
{
    Field field;
    field.fill(1, 6);
    auto a = field.worker(0);
    auto b = field.worker(1);
    const CheckpointId ca = trainOne(a, 0, "a1");
    const CheckpointId cb = trainOne(b, 1, "b1");
    auto supervisor = field.supervisor();
    const std::int64_t round = good(supervisor.openMergeRound());
    good(a.contribute(round, ca));
    good(b.contribute(round, cb));
    good(a.takeMerge(round));
    const CheckpointId merged = good(a.commitMerge(round, record(-1, "m1")));
    good(a.end("done"));
    good(b.end("done"));
    std::vector<ProvenCheckpoint> proven(2);
    proven[0].record = record(1, "b1");
    proven[0].writtenWallNs = field.clock.wallNs() + 1'000'000'000'000;
    proven[1].record = record(-1, "m1");
    proven[1].record.kind = CheckpointKind::Merge;
    proven[1].parents = { "a1", "b1" };
    proven[1].writtenWallNs = field.clock.wallNs();
    proven[0].whole = proven[1].whole = true;
    const Rebuilt rebuilt = good(rebuildLineage(field.tracker, proven, RebuildReason::Older, {}, field.clock));
    QCOMPARE(rebuilt.heads, std::vector<std::string> { "m1" });
    SAME(newestHead(field, 0), merged);
    SAME(newestHead(field, 1), merged);
    verifyClean(field);
}

/// A worker that was stopped in a merge had saved its weights once more, with what they evaluate to: a repair called
/// that another line, and asked for a yes to a loss that was none.
void TestMerges::weightsThatWereSavedTwiceWereAnotherLineForARepair()
{
    Field field;
    field.fill(1, 6);
    auto a = field.worker(0);
    auto b = field.worker(1);
    const CheckpointId ca = trainOne(a, 0, "a1");
    const CheckpointId cb = trainOne(b, 1, "b1");
    auto supervisor = field.supervisor();
    const std::int64_t round = good(supervisor.openMergeRound());
    good(a.contribute(round, ca));
    good(b.contribute(round, cb));
    good(a.takeMerge(round));
    good(a.commitMerge(round, record(-1, "m1")));
    good(a.end("done"));
    good(b.end("done"));
    for (const bool hasMore : { false, true }) {
        std::vector<ProvenCheckpoint> proven(2);
        proven[0].record = record(1, "b2");
        proven[0].parents = { "b1" };
        proven[1].record = record(-1, "m1");
        proven[1].record.kind = CheckpointKind::Merge;
        proven[1].parents = { "a1", "b1" };
        proven[0].whole = proven[1].whole = true;
        proven[0].writtenWallNs = proven[1].writtenWallNs = field.clock.wallNs();
        if (hasMore)
            proven[0].parts = { Part { chunkIdOf({ 0, 0, 5 }), { 0, 1 } } };
        const Rebuilt rebuilt = good(rebuildLineage(field.tracker, proven, RebuildReason::Older, {}, field.clock));
        QCOMPARE(rebuilt.leftOut.size(), std::size_t(hasMore ? 1 : 0));
        QCOMPARE(rebuilt.checkpoints, 0);
    }
    verifyClean(field);
}

void TestMerges::damagedMergeFallsBackToItsMembers()
{
    Field field;
    field.fill(1, 6);
    auto a = field.worker(0);
    auto b = field.worker(1);
    const CheckpointId ca = trainOne(a, 0, "a1");
    const CheckpointId cb = trainOne(b, 1, "b1");
    auto supervisor = field.supervisor();
    const std::int64_t round = good(supervisor.openMergeRound());
    good(a.contribute(round, ca));
    good(b.contribute(round, cb));
    good(a.takeMerge(round));
    const CheckpointId merged = good(a.commitMerge(round, record(-1, "m1")));
    trainOne(a, 0, "a2");
    QCOMPARE(good(supervisor.markDamaged(merged, "bit flip")), 1); // only a2's chunk: the parents kept theirs
    SAME(newestHead(field, 0), ca);
    SAME(newestHead(field, 1), cb);
    QCOMPARE(field.counts()[Committed], 2);
    verifyClean(field);
}

void TestMerges::damagedMergeIsNotLookedForAgain() // workers that fell back saw the round, joined it, and died of its
                                                   // missing files for ever
{
    Field field;
    field.fill(1, 6);
    auto a = field.worker(0);
    auto b = field.worker(1);
    const CheckpointId ca = trainOne(a, 0, "a1");
    const CheckpointId cb = trainOne(b, 1, "b1");
    auto supervisor = field.supervisor();
    const std::int64_t round = good(supervisor.openMergeRound());
    good(a.contribute(round, ca));
    good(b.contribute(round, cb));
    good(a.takeMerge(round));
    const CheckpointId merged = good(a.commitMerge(round, record(-1, "m1")));
    good(supervisor.markDamaged(merged, "files are gone"));
    auto next = field.worker(0);
    QCOMPARE(good(next.signals()).mergeRound, round);
    SAME(good(next.mergeResult(round)), std::optional(CheckpointId { 0 })); // nothing to take over
    QVERIFY(good(supervisor.openMergeRound()) > round); // and a new one can be opened
}

void TestMerges::deadReplicaTakesPartWithItsLastCheckpoint()
{
    Field field;
    field.fill(1, 6);
    auto a = field.worker(0);
    auto b = field.worker(1);
    const CheckpointId ca = trainOne(a, 0, "a1");
    const CheckpointId cb = trainOne(b, 1, "b1");
    const auto lost = claimed(b);
    good(b.finish(*lost, trainedAll(*lost)));
    auto supervisor = field.supervisor();
    const std::int64_t round = good(supervisor.openMergeRound());
    good(a.contribute(round, ca));
    QVERIFY(!good(a.takeMerge(round)).has_value());
    good(supervisor.revoke(field.ids[1], "SIGKILL"));
    const auto job = good(a.takeMerge(round));
    QVERIFY(job.has_value());
    QCOMPARE(job->contributions, (std::vector<CheckpointId> { ca, cb }));
    good(a.commitMerge(round, record(-1, "m1")));
    QCOMPARE(field.counts()[Committed], 2);
    QCOMPARE(field.counts()[Free], 4); // what b trained after its checkpoint is free again
    verifyClean(field);
}

void TestMerges::leftOutReplicaGivesItsChunksBack()
{
    Field field;
    field.fill(1, 6);
    auto a = field.worker(0);
    auto b = field.worker(1);
    const CheckpointId ca = trainOne(a, 0, "a1");
    const CheckpointId cb = trainOne(b, 1, "b1");
    auto supervisor = field.supervisor();
    const std::int64_t round = good(supervisor.openMergeRound());
    good(a.contribute(round, ca));
    good(b.contribute(round, cb));
    good(a.takeMerge(round));
    CheckpointRecord merged = record(-1, "m1");
    merged.parents = { ca }; // b's weights are not finite
    const CheckpointId id = good(a.commitMerge(round, merged));
    SAME(newestHead(field, 1), id);
    QCOMPARE(field.counts()[Committed], 1);
    QCOMPARE(field.counts()[Free], 5);
    QCOMPARE(b.claim().error().code, ErrorCode::Cancelled); // b starts again from the merge
    QVERIFY(a.renew({}, 60).ok());
    verifyClean(field);
}

void TestMerges::mergeOfADeadComputerIsTakenAgain()
{
    Field field;
    field.fill(1, 6);
    auto a = field.worker(0);
    auto b = field.worker(1);
    const CheckpointId ca = trainOne(a, 0, "a1");
    const CheckpointId cb = trainOne(b, 1, "b1");
    auto supervisor = field.supervisor();
    const std::int64_t round = good(supervisor.openMergeRound());
    good(a.contribute(round, ca));
    good(b.contribute(round, cb));
    QVERIFY(good(a.takeMerge(round)).has_value());
    good(supervisor.revoke(field.ids[0], "SIGKILL while merging"));
    const auto job = good(b.takeMerge(round));
    QVERIFY(job.has_value());
    QCOMPARE(job->contributions.size(), std::size_t(2));
    QVERIFY(!a.commitMerge(round, record(-1, "m0")).ok());
    good(b.commitMerge(round, record(-1, "m1")));
    verifyClean(field);
}

/// It was revoked before its first step, and counted as a worker that had failed.
void TestMerges::aWorkerThatStartedDuringAMergeWasLeftOutOfIt()
{
    Field field;
    field.fill(1, 6);
    auto a = field.worker(0);
    const CheckpointId ca = trainOne(a, 0, "a1");
    const std::int64_t round = good(field.supervisor().openMergeRound());
    good(a.contribute(round, ca));
    QVERIFY(good(a.takeMerge(round)).has_value());
    auto b = good(WorkerLedger::open(field.tracker, "run-1", field.clock));
    const WorkerRegistration seat { field.attempt, 1, 1, "cpu", "test" };
    QVERIFY(!good(b.start(seat, 60)).has_value());
    const CheckpointId merged = good(a.commitMerge(round, record(-1, "m1")));
    QVERIFY(good(b.start(seat, 60)).has_value());
    SAME(newestHead(field, 1), merged);
    QVERIFY(b.claim().ok());
    verifyClean(field);
}

void TestMerges::oneFailingWorkerDoesNotEndTheRound() // trap 10
{
    Field field;
    field.fill(1, 6);
    auto a = field.worker(0);
    auto b = field.worker(1);
    const CheckpointId ca = trainOne(a, 0, "a1");
    auto supervisor = field.supervisor();
    const std::int64_t round = good(supervisor.openMergeRound());
    good(a.contribute(round, ca));
    good(b.end("could not read its device"));
    const auto job = good(a.takeMerge(round)); // b has no checkpoint and nothing to add
    QCOMPARE(job->contributions, (std::vector<CheckpointId> { ca }));
    good(a.commitMerge(round, record(-1, "m1")));
    QCOMPARE(field.counts()[Committed], 1);
}

void TestMerges::newReplicaStartsFromTheNewestMerge()
{
    Field field;
    field.fill(1, 6);
    auto a = field.worker(0);
    const CheckpointId ca = trainOne(a, 0, "a1");
    auto supervisor = field.supervisor();
    const std::int64_t round = good(supervisor.openMergeRound());
    good(a.contribute(round, ca));
    good(a.takeMerge(round));
    const CheckpointId merged = good(a.commitMerge(round, record(-1, "m1")));
    good(supervisor.setActiveReplicas(3));
    for (int replica = 0; replica < 3; ++replica)
        SAME(newestHead(field, replica), merged);
    trainOne(a, 0, "a2");
    QVERIFY(!supervisor.markRemoved(merged).ok()); // still the base of replicas 1 and 2
}

void TestMerges::roundWithoutNewWorkHasTheBaseAsResult()
{
    Field field;
    field.fill(1, 3);
    auto a = field.worker(0);
    auto supervisor = field.supervisor();
    std::int64_t round = good(supervisor.openMergeRound());
    good(a.contribute(round, {})); // nothing trained yet
    QVERIFY(!good(a.takeMerge(round)).has_value());
    QCOMPARE(good(a.mergeResult(round)), std::optional(CheckpointId {}));
    const CheckpointId ca = trainOne(a, 0, "a1");
    round = good(supervisor.openMergeRound());
    good(a.contribute(round, ca));
    QVERIFY(good(a.takeMerge(round)).has_value());
    const CheckpointId merged = good(a.commitMerge(round, record(-1, "m1")));
    round = good(supervisor.openMergeRound());
    good(a.contribute(round, merged));
    QVERIFY(!good(a.takeMerge(round)).has_value());
    QCOMPARE(good(a.mergeResult(round)), std::optional(merged));
}

void TestMerges::parkedReplicasKeepTheirChunks()
{
    Field field;
    field.fill(1, 4);
    auto a = field.worker(0);
    auto b = field.worker(1);
    trainOne(a, 0, "a1");
    const CheckpointId cb = trainOne(b, 1, "b1");
    good(b.end("fewer workers"));
    good(field.supervisor().setActiveReplicas(1));
    QCOMPARE(field.counts()[Committed], 2);
    const auto rows = good(field.supervisor().replicas());
    QVERIFY(!rows[0].parked && rows[1].parked);
    auto again = field.worker(1); // taken up again
    trainOne(again, 1, "b2");
    const auto checkpoints = good(field.reader().checkpoints());
    QCOMPARE(checkpoints.back().record.parents, (std::vector<CheckpointId> { cb }));
    QVERIFY(!good(field.supervisor().replicas())[1].parked);
    verifyClean(field);
}

void TestMerges::auditIsCleanAfterMergesAndFallBacks()
{
    Field field;
    field.fill(2, 6);
    auto supervisor = field.supervisor();
    for (int turn = 0; turn < 4; ++turn) {
        auto a = field.worker(0);
        auto b = field.worker(1);
        const std::string name = std::to_string(turn);
        const CheckpointId ca = trainOne(a, 0, "a" + name);
        const CheckpointId cb = trainOne(b, 1, "b" + name);
        const std::int64_t round = good(supervisor.openMergeRound());
        good(a.contribute(round, ca));
        good(b.contribute(round, cb));
        good(a.takeMerge(round));
        const CheckpointId merged = good(a.commitMerge(round, record(-1, "m" + name)));
        if (turn % 2 == 1) {
            good(supervisor.markDamaged(merged, "bit flip"));
        } else {
            good(a.end("stop"));
            good(b.end("stop"));
        }
        verifyClean(field);
    }
    const AuditReport report = good(audit(field.tracker));
    QCOMPARE(report.epochs[0].committed, 8);
    QCOMPARE(report.epochs[0].remaining, 4);
}

QTEST_GUILESS_MAIN(TestMerges)
#include "tst_merges.moc"
