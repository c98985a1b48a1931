#include "ledger_fixture.h"

#include "core/tracker/participations.h"
#include "core/tracker/training_notes.h"

using namespace furrow;

namespace {

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
        QCOMPARE(good(lostTrainings(field.tracker)), 1);

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
        QCOMPARE(good(lostTrainings(field.tracker)), 0);
        good(field.supervisor().markDamaged(checkpoint, "for a test"));
        QCOMPARE(counted(field).kept, 0);
        QCOMPARE(counted(field).all, 1);
        QVERIFY(counted(field).lostTrainings > 0);
        QVERIFY(good(lostTrainings(field.tracker)) > 0);
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
