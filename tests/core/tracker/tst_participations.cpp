#include "ledger_fixture.h"

#include "core/tracker/audit/rebuild.h"
#include "core/tracker/ledger_reader.h"
#include "core/tracker/participations.h"
#include "core/tracker/training_notes.h"

using namespace furrow;

namespace {

/// What status and charts say while it trains.
std::int64_t told(const Field& field) { return good(good(LedgerReader::open(field.tracker)).participations()); }

Participations counted(const Field& field) { return good(participations(field.tracker), "participations"); }

/// Claims and begins; the chunk.
Claim begun(WorkerLedger& worker)
{
    const auto claim = claimed(worker);
    if (!claim)
        qFatal("nothing to claim");
    good(worker.begin(*claim), "begin");
    return *claim;
}

} // namespace

/// How often units took part, and the stopping rule that goes by it.
class TestParticipations : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void eachEpochIsOneParticipation()
    {
        StoppingRules rules;
        rules.epochs = 3;
        Field field(rules);
        field.fill(1, 2);
        auto worker = field.worker(0);
        QCOMPARE(counted(field).all, 0);
        QCOMPARE(counted(field).windows, 2 * Field::kWindows);
        QCOMPARE(counted(field).samples, 2 * (Field::kRows - 5));
        for (int epoch = 0; epoch < 3; ++epoch)
            for (int chunk = 0; chunk < 2; ++chunk) {
                trainOne(worker, 0, "c" + std::to_string(epoch) + std::to_string(chunk));
                QCOMPARE(counted(field).kept, epoch + 1);
                QCOMPARE(counted(field).all, epoch + 1);
                good(field.supervisor().advance());
            }
        QCOMPARE(counted(field).lostTrainings, 0);
    }

    void whatWasLostCountsAndWhatWasNeverBegunDoesNot()
    {
        Field field;
        field.fill(1, 1);
        auto first = field.worker(0);
        QVERIFY(claimed(first).has_value());
        good(field.supervisor().revoke(field.ids[0], "died")); // held, never begun
        QCOMPARE(counted(field).all, 0);

        auto second = field.worker(1);
        begun(second);
        good(field.supervisor().revoke(field.ids[1], "died")); // how far it came nobody knows: all of it
        QCOMPARE(counted(field).all, 1);
        QCOMPARE(counted(field).kept, 0);
        QCOMPARE(counted(field).lostTrainings, 1);
        QCOMPARE(good(noiseSalt(field.tracker)), 1);

        auto third = field.worker(2);
        trainOne(third, 2, "third");
        QCOMPARE(counted(field).all, 2);
        QCOMPARE(counted(field).kept, 1);
        verifyClean(field);
    }

    /// A chunk that was stopped in the middle and gone on with: each window took part once.
    void partsOfAChunkAreOneTraining()
    {
        Field field;
        field.fill(1, 1);
        auto first = field.worker(0);
        const Claim half = begun(first);
        good(first.finish(half, trainedRange(0, 4, 1, 2), true));
        const std::vector<Part> parts { { half.chunk, { 0, 4 } } };
        good(first.commit(record(0, "half"), parts));
        QCOMPARE(counted(field).all, 1);
        const Claim rest = begun(first);
        QCOMPARE(rest.remaining.front().begin, 4);
        good(first.finish(rest, trainedAll(rest, 3, 3)));
        good(first.commit(record(0, "whole"), partsOf(rest)));
        QCOMPARE(counted(field).all, 1);
        QCOMPARE(counted(field).kept, 1);
    }

    void weightsThatLeaveTheLineageWereSeen()
    {
        Field field;
        field.fill(1, 1);
        auto worker = field.worker(0);
        const auto checkpoint = trainOne(worker, 0, "only");
        good(worker.end("over"));
        QCOMPARE(good(noiseSalt(field.tracker)), 0);
        good(field.supervisor().markDamaged(checkpoint, "for a test"));
        QCOMPARE(counted(field).kept, 0);
        QCOMPARE(counted(field).all, 1);
        QVERIFY(counted(field).lostTrainings > 0);
        QVERIFY(good(noiseSalt(field.tracker)) > 0);
    }

    /// Status, chart and audit say the same: counted as it begins, lost trainings included.
    void whatIsToldWhileItTrainsIsWhatTheAuditCounts()
    {
        StoppingRules rules;
        rules.epochs = 2;
        Field field(rules);
        good(keepMostParticipations(field.tracker, 0)); // private, without a limit
        field.fill(1, 2);
        auto first = field.worker(0);
        QCOMPARE(told(field), 0);
        QCOMPARE(begun(first).participations, 1);
        QCOMPARE(told(field), 1);
        good(field.supervisor().revoke(field.ids[0], "died"));
        auto second = field.worker(1);
        QCOMPARE(trainOne(second, 1, "again").value > 0, true); // which of the two chunks comes first is the order's
        QCOMPARE(told(field), 2);
        trainOne(second, 1, "other");
        QCOMPARE(told(field), counted(field).all);
        good(field.supervisor().advance());
        const Claim next = begun(second);
        QVERIFY(next.participations >= 2);
        QCOMPARE(told(field), counted(field).all);
        verifyClean(field);
    }

    void aRunWithoutNoiseCountsNothing()
    {
        Field field;
        field.fill(1, 1);
        auto worker = field.worker(0);
        QCOMPARE(begun(worker).participations, 0);
        QCOMPARE(told(field), 0);
    }

    /// Lost trainings are not in a tracker that was made anew: the noise of their steps came back for other windows.
    void noiseOfLostStepsCameBackAfterARebuild()
    {
        Field field;
        field.fill(1, 1);
        auto worker = field.worker(0);
        begun(worker);
        good(field.supervisor().revoke(field.ids[0], "died"));
        const std::int64_t before = good(noiseSalt(field.tracker));
        good(rebuildLineage(field.tracker, {}, RebuildReason::Damaged, {}, field.clock));
        QVERIFY(good(noiseSalt(field.tracker)) != before);
        QVERIFY(good(noiseSalt(field.tracker)) > 1'000);
    }

    /// An epsilon of 0 was proven of weights in which every chunk was.
    void claimsWithoutATimeOfTheirBeginWereNotCounted()
    {
        Field field;
        field.fill(1, 2);
        auto worker = field.worker(0);
        trainOne(worker, 0, "one");
        trainOne(worker, 0, "two");
        auto db = good(Database::open(field.tracker, {}));
        db.run("UPDATE claim SET started_wall=0");
        good(db.takeStatus());
        QCOMPARE(counted(field).all, 1);
        db.run("UPDATE claim SET outcome=3, steps=0, done='', skipped=''"); // parts are left
        good(db.takeStatus());
        QCOMPARE(counted(field).all, 1);
    }

    /// A number that lacks what was lost before was told while it trained, and kept in charts.
    void aTrackerThatWasMadeAnewTellsNoNumbers()
    {
        Field field;
        good(keepMostParticipations(field.tracker, 0));
        field.fill(1, 2);
        auto first = field.worker(0);
        QCOMPARE(begun(first).participations, 1);
        QVERIFY(!good(field.reader().isMadeAnew()));
        good(field.supervisor().revoke(field.ids[0], "died"));
        good(rebuildLineage(field.tracker, {}, RebuildReason::Damaged, {}, field.clock));
        QVERIFY(good(field.reader().isMadeAnew()));
        field.attempt = good(field.supervisor().beginAttempt(thisProcess(), "{}"));
        auto second = field.worker(1);
        QCOMPARE(begun(second).participations, 0);
    }

    void noEpochBeginsThatIsOneTooMany()
    {
        StoppingRules rules;
        rules.epochs = 0; // without end
        Field field(rules);
        field.fill(1, 1);
        good(keepMostParticipations(field.tracker, 2));
        auto worker = field.worker(0);
        trainOne(worker, 0, "first");
        trainOne(worker, 0, "second");
        QVERIFY(!claimed(worker)); // who asks first closes the epoch
        QCOMPARE(whyNot(worker), std::optional(NothingToClaim::StopRuleReached));
        SAME(good(field.reader().totals()).stop, StopReason::Privacy);
        QCOMPARE(counted(field).all, 2);
        QCOMPARE(good(field.reader().epochs()).size(), std::size_t(2));

        good(keepMostParticipations(field.tracker, 3)); // a resume that allows more
        SAME(good(field.reader().totals()).stop, StopReason::None);
        trainOne(worker, 0, "third");
        QVERIFY(!claimed(worker));
        QCOMPARE(whyNot(worker), std::optional(NothingToClaim::StopRuleReached));
    }

    /// Its time was set to 0: it counted no longer, and the audit found nothing.
    void aLostClaimWithoutATimeHadNeverBegun()
    {
        Field field;
        field.fill(1, 1);
        auto worker = field.worker(0);
        begun(worker);
        good(field.supervisor().revoke(field.ids[0], "died"));
        verifyClean(field);
        auto db = good(Database::open(field.tracker, {}));
        db.script("UPDATE claim SET started_wall=0");
        good(db.takeStatus());
        QCOMPARE(counted(field).all, 1);
        const auto report = good(audit(field.tracker));
        QVERIFY(!report.isClean());
        QVERIFY(std::any_of(report.findings.begin(), report.findings.end(), [](const auto& finding) {
            return finding.text.find("was begun and does not say when") != std::string::npos;
        }));
    }

    void aChunkThatWasLostIsNotTrainedOnceTooOften()
    {
        StoppingRules rules;
        rules.epochs = 0;
        Field field(rules);
        field.fill(1, 2);
        good(keepMostParticipations(field.tracker, 1));
        auto first = field.worker(0);
        begun(first);
        good(field.supervisor().revoke(field.ids[0], "died"));
        auto second = field.worker(1);
        QCOMPARE(whyNot(second), std::optional(NothingToClaim::StopRuleReached));
        SAME(good(field.reader().totals()).stop, StopReason::Privacy);
        QCOMPARE(counted(field).all, 1);
        good(keepMostParticipations(field.tracker, 0)); // no limit any more
        SAME(good(field.reader().totals()).stop, StopReason::None);
        trainOne(second, 1, "again");
        QCOMPARE(counted(field).all, 2);
    }

    /// What was stopped in the middle goes on: its other windows took part in nothing yet.
    void theRestOfAChunkMayStillBeTrained()
    {
        Field field;
        field.fill(1, 1);
        good(keepMostParticipations(field.tracker, 1));
        auto worker = field.worker(0);
        const Claim half = begun(worker);
        good(worker.finish(half, trainedRange(0, 4, 1, 2), true));
        const std::vector<Part> parts { { half.chunk, { 0, 4 } } };
        good(worker.commit(record(0, "half"), parts));
        trainOne(worker, 0, "rest", 3);
        QCOMPARE(counted(field).all, 1);
    }
};

QTEST_GUILESS_MAIN(TestParticipations)
#include "tst_participations.moc"
