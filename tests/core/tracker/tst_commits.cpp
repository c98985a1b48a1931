#include "ledger_fixture.h"

#include "core/run/status/keeps_open.h"
#include "core/run/status/lost_by_epoch.h"
#include "core/run/status/lost_evaluations.h"
#include "core/run/status/lost_trainings.h"
#include "core/tracker/audit/audit.h"
#include "core/tracker/audit/rebuild.h"
#include "core/tracker/trained_chunks.h"

#include <set>

using namespace furrow;
using enum ChunkState;

/// Checkpoints as commits: parts, step budget, lineage.
class TestCommits : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void partsThatTileAChunkCommitIt();
    void partlyTrainedChunkGivesItsRestToAnybody();
    void theLossOfAChunkInPartsWasThatOfItsLastPart();
    void stepsOfACommittedPartWereCalledLost();
    void aStepThatACheckpointHasWasCalledLostForWhatWasBegunSince();
    void theAuditCountedTheStepsOfAWorkerAnewAfterItsRestart();
    void stepsBeforeAClaimOfTheRestWereCalledLost();
    void lostStepsOfFollowersWereCalledGood();
    void chartsCountedLostStepsBehindAKeptPartOfTheirChunkAsSurviving();
    void evaluationsOfWeightsThatWereLeftWereCalledGood();
    void aRunCountedOtherTokensThanItsClaims_data();
    void aRunCountedOtherTokensThanItsClaims();
    void checkpointInTheMiddleOfAChunkKeepsTheClaim();
    void midChunkCheckpointSurvivesTheDeathOfItsWorker();
    void aTrainingWasCalledCommittedByItsFirstPart();
    void trainingGoesOnWhileACheckpointIsWritten();
    void skippedWindowsAreNamedAndTheChunkIsWhole();
    void fullySkippedChunkIsCommittedWithTheNextCheckpoint();
    void windowsNotTrainedAreRefused();
    void checkpointThatWasNotMadeFromTheHeadIsRefused();
    void refusedCommitChangesNothing();
    void stepBudgetIsMetExactlyByManyWorkers();
    void theTokensRuleOvershotByAThird();
    void stepsOfLostWorkGoBackToTheBudget();
    void shortenedChunkIsNotStoredAsComplete();
    void damagedCheckpointFallsBackAndFreesItsParts();
    void damagedCheckpointFreesWhatDescendsFromIt();
    void removedAncestorIsNoFallback();
    void aDamagedCheckpointThatIsWholeComesBackWithItsChunks();
    void aCheckpointThatTheRunWentOnWithoutStaysOut_data();
    void aCheckpointThatTheRunWentOnWithoutStaysOut();
    void aNameThatLeadsOutOfTheRunFolderIsRefused();
    void damageReopensAClosedEpoch();
    void newestCheckpointCannotBeRemoved();
    void goingBackTrainsWhatCameAfterExactlyOnceAgain();
    void goingBackReopensAClosedEpoch();
    void stepsThatTheRunLeftWereCountedBeforeThoseOfItsWeights();
    void aChunkBegunBetweenTwoReadsWasCalledADeath();
    void aChunkBegunAndGivenBackWasCalledADeath();
    void aViewInsideAnotherEndedIt();
    void aRunGoesBackOnlyToWhatItsWeightsGrewFrom();
    void repairDoesNotBringBackWhatTheRunLeft();
    void aTrackerMadeOfManifestsAloneTookTheLineThatTheRunHadLeft();
    void aSecondTrackerMadeOfManifestsAloneTookTheLineThatTheRunHadLeft();
};

namespace {

} // namespace

void TestCommits::partsThatTileAChunkCommitIt()
{
    Field field;
    field.fill(1, 2);
    auto worker = field.worker(0);
    trainOne(worker, 0, "c1");
    QCOMPARE(field.counts()[Committed], 1);
    QCOMPARE(field.counts()[Free], 1);
    const auto epoch = good(field.reader().epochs()).at(0);
    QCOMPARE(epoch.rowsCommitted.rows, Field::kRows);
    QCOMPARE(epoch.visitedBlocks, 1);
    QCOMPARE(epoch.completedBlocks, 0); // trap 3: one chunk is not its block
    trainOne(worker, 0, "c2");
    QCOMPARE(good(field.reader().epochs()).at(0).completedBlocks, 1);
    const auto claims = good(field.reader().claimsSince(0, 10));
    QVERIFY(claims[0].outcome == ClaimEnd::Committed);
    QCOMPARE(claims[0].checkpoint, good(field.reader().checkpoints())[0].id.value);
    QCOMPARE(claims[0].meanLoss, 2.0);
    verifyClean(field);
}

void TestCommits::partlyTrainedChunkGivesItsRestToAnybody()
{
    Field field;
    field.fill(1, 1);
    auto first = field.worker(0);
    auto other = field.worker(1);
    const auto claim = claimed(first);
    good(first.begin(*claim));
    good(first.finish(*claim, trainedRange(0, 4, 1, 2), true));
    QCOMPARE(field.counts()[Leased], 1); // until the checkpoint
    const Part part { claim->chunk, { 0, 4 } };
    good(first.commit(record(0, "c1"), { &part, 1 }));
    QCOMPARE(field.counts()[Free], 1);
    const auto rest = claimed(other);
    QCOMPARE(rest->remaining, (std::vector<WindowRange> { { 4, 10 } }));
    QCOMPARE(rest->positionTokens, 400);
    good(other.finish(*rest, trainedRange(4, 10, 1, 3)));
    const auto parts = partsOf(*rest);
    good(other.commit(record(1, "c2"), parts));
    QCOMPARE(field.counts()[Committed], 1);
    QCOMPARE(good(field.reader().totals()).steps, 5);
    QCOMPARE(good(field.reader().totals()).tokens, Field::kTokens);
    verifyClean(field);
}

/// Map, tables and Compare showed the few windows that were trained last as the loss of the whole chunk.
void TestCommits::theLossOfAChunkInPartsWasThatOfItsLastPart()
{
    Field field;
    field.fill(1, 1);
    auto worker = field.worker(0);
    const auto shown = [&field] { return good(field.reader().cells(0)).front().meanLoss; };
    const auto train = [&](std::int32_t begin, std::int32_t end, double loss, bool partly) {
        const auto claim = claimed(worker);
        good(worker.begin(*claim));
        auto outcome = trainedRange(begin, end, 1 + begin, end - begin);
        outcome.lossSum = loss * static_cast<double>(outcome.tokens);
        good(worker.finish(*claim, outcome, partly));
        return *claim;
    };
    const auto first = train(0, 4, 3, true);
    QCOMPARE(shown(), 3.0F);
    const Part part { first.chunk, { 0, 4 } };
    good(worker.commit(record(0, "c1"), { &part, 1 }));
    train(4, 10, 2, false);
    QCOMPARE(shown(), 2.4F);
    good(field.supervisor().revoke(field.ids[0], "SIGKILL")); // the rest dies before a checkpoint
    field.ids.clear();
    auto again = field.worker(0);
    const auto rest = claimed(again);
    auto outcome = trainedRange(4, 10, 5, 6);
    outcome.lossSum = 1 * static_cast<double>(outcome.tokens);
    good(again.finish(*rest, outcome));
    QCOMPARE(shown(), 1.8F); // windows that were trained twice count once, with the newer
    const auto parts = partsOf(*rest);
    good(again.commit(record(0, "c2"), parts));
    verifyClean(field);
}

/// Killed between two words of a worker: "step 439 (no checkpoint has this step)", which a checkpoint had. The training
/// that was begun behind it was lost, and that of the step was not.
void TestCommits::aStepThatACheckpointHasWasCalledLostForWhatWasBegunSince()
{
    ClaimRow saved;
    saved.startedWallNs = 1;
    saved.outcome = ClaimEnd::Committed;
    saved.firstStep = 438;
    saved.lastStep = 440;
    ClaimRow begun;
    begun.startedWallNs = 2;
    begun.outcome = ClaimEnd::Lost;
    begun.keptSteps = 1;
    const ClaimRow ahead; // never begun
    const std::vector<ClaimRow> claims { saved, begun, ahead };
    QVERIFY(!isStepOfNoWeights(439, claims));
    QVERIFY(!isStepOfNoWeights(441, claims)); // a checkpoint has the first step of what was begun
    QVERIFY(isStepOfNoWeights(442, claims));
    QVERIFY(!isStepOfNoWeights(442, {})); // a rank that claims nothing
}

/// A worker died after a checkpoint had taken the first part of its chunk: exports and curves called all steps of the
/// claim lost, and the chunks that are in the weights were told without that part.
void TestCommits::stepsOfACommittedPartWereCalledLost()
{
    Field field;
    field.fill(1, 1);
    auto first = field.worker(0);
    const auto claim = claimed(first);
    good(first.begin(*claim));
    const Part part { claim->chunk, { 0, 4 }, 2 };
    good(first.commit(record(0, "c1"), { &part, 1 }));
    (void)good(field.supervisor().revoke(field.ids[0], "killed"));
    const auto claims = good(field.reader().claimsSince(0, 10));
    QVERIFY(claims[0].outcome == ClaimEnd::Lost);
    const auto lost = lostTrainings(claims, {});
    QCOMPARE(lost.size(), std::size_t(1));
    QCOMPARE(lost[0].keptSteps, 2);
    auto chunks = good(trainedChunks(field.tracker));
    QCOMPARE(chunks.size(), std::size_t(1));
    QCOMPARE(chunks[0].steps, 2);
    QCOMPARE(chunks[0].firstStep, 1);
    QCOMPARE(chunks[0].lastStep, 2);
    QCOMPARE(chunks[0].tokens, 400);
    QVERIFY(chunks[0].isPart); // it was listed like a whole chunk
    auto other = field.worker(1);
    const auto rest = claimed(other);
    good(other.finish(*rest, trainedRange(4, 10, 1, 3)));
    const auto parts = partsOf(*rest);
    good(other.commit(record(1, "c2"), parts));
    chunks = good(trainedChunks(field.tracker));
    QCOMPARE(chunks.size(), std::size_t(2));
    QCOMPARE(chunks[0].steps + chunks[1].steps, good(field.reader().totals()).steps);
    QVERIFY(chunks[0].isPart && chunks[1].isPart);
    QCOMPARE(chunks[0].tokens + chunks[1].tokens, Field::kTokens);
    QCOMPARE(chunks[0].samples + chunks[1].samples, good(field.reader().epochs()).at(0).rowsCommitted.samples);
    verifyClean(field);
}

/// Nobody found the steps that the audit spoke of in the log, a chart or an export, which go on where the weights are.
void TestCommits::theAuditCountedTheStepsOfAWorkerAnewAfterItsRestart()
{
    Field field;
    field.fill(1, 6);
    const auto train = [&field](WorkerLedger& ledger, int replica, const std::string& folder, std::int64_t first) {
        const auto claim = claimed(ledger);
        good(ledger.begin(*claim));
        good(ledger.finish(*claim, trainedAll(*claim, first)));
        if (folder.empty())
            return;
        CheckpointRecord saved = record(replica, folder);
        const auto head = newestHead(field, replica);
        if (head.value != 0)
            saved.parents = { head };
        saved.step = first + 4;
        for (const auto& row : good(field.reader().checkpoints()))
            if (row.id == head)
                saved.step = row.record.step + 5;
        good(ledger.commit(saved, partsOf(*claim)));
    };
    auto worker = field.worker(0);
    train(worker, 0, "c1", 1);
    train(worker, 0, "", 6); // dies with it
    (void)good(field.supervisor().revoke(field.ids[0], "killed"));
    field.clock.advance(1);
    auto again = field.worker(0);
    train(again, 0, "c2", 1);
    (void)good(field.supervisor().revoke(field.ids[0], "killed"));
    field.clock.advance(1);
    auto third = field.worker(0);
    train(third, 0, "", 1); // no checkpoint of its own yet
    const auto claims = good(field.reader().claimsSince(0, 10));
    QCOMPARE(claims.size(), std::size_t(4));
    const std::int64_t firsts[] = { 1, 6, 6, 11 };
    for (std::size_t i = 0; i < claims.size(); ++i) {
        QCOMPARE(claims[i].firstStep, firsts[i]);
        QCOMPARE(claims[i].lastStep, firsts[i] + 4);
    }
    const auto chunks = good(trainedChunks(field.tracker));
    QCOMPARE(chunks.size(), std::size_t(2));
    for (const TrainedChunk& chunk : chunks)
        QVERIFY(chunk.firstStep == 1 || chunk.firstStep == 6);
    StepsAudit steps;
    QVERIFY(good(audit(field.tracker, {}, &steps)).isClean());
    QVERIFY(steps.wrong.empty()); // what the ledger has is of each process
}

/// The worker that had a part of a chunk committed claimed the rest in the same second, and lost it: the steps of the
/// part were taken for its.
void TestCommits::stepsBeforeAClaimOfTheRestWereCalledLost()
{
    Field field;
    field.fill(1, 1);
    auto worker = field.worker(0);
    const auto now = [&field] { return static_cast<double>(field.clock.wallNs()) * 1e-9; };
    const auto claim = claimed(worker);
    good(worker.begin(*claim));
    field.clock.advance(0.01);
    const double kept = now();
    good(worker.finish(*claim, trainedRange(0, 4, 1, 1), true));
    const Part part { claim->chunk, { 0, 4 } };
    good(worker.commit(record(0, "c1"), { &part, 1 }));
    field.clock.advance(0.01);
    const auto rest = claimed(worker);
    good(worker.begin(*rest));
    field.clock.advance(0.01);
    const double gone = now();
    (void)good(field.supervisor().revoke(field.ids[0], "killed"));
    const auto lost = lostTrainings(good(field.reader().claimsSince(0, 10)), {});
    QCOMPARE(lost.size(), std::size_t(1));
    const auto at = [&](double wall) { return lostTrainingAt(lost, 0, field.attempt.value, claim->chunk.value, wall); };
    QVERIFY(at(kept) == nullptr);
    QVERIFY(at(gone) != nullptr);
    QVERIFY(at(gone + 0.5) != nullptr); // clocks may be apart
}

/// Rank 0 of a data-parallel group holds the claims: the same steps, as the other ranks told them, were in no model
/// either.
void TestCommits::lostStepsOfFollowersWereCalledGood()
{
    constexpr std::int64_t kChunk = 7;
    LostTraining lost { 0, 1, kChunk, 100, 200, 2 };
    LostSteps steps({ lost });
    const auto has = [&](int worker, std::int64_t step, std::int64_t chunk, double wall) {
        TelemetryHeader header;
        header.attempt = 1;
        header.worker = worker;
        ScannedLine line;
        line.kind = LineKind::Step;
        line.step.step = step;
        line.step.chunk = chunk;
        line.step.ranks = 2;
        line.step.rank = worker;
        return steps.has({ header, wall, line });
    };
    for (const int worker : { 0, 1 }) { // two steps are in a checkpoint; each rank counts its own ones
        const std::int64_t first = worker == 0 ? 40 : 12;
        for (int step = 0; step < 4; ++step)
            QCOMPARE(has(worker, first + step, kChunk, 110 + step), step >= 2);
        QVERIFY(!has(worker, first + 4, kChunk + 1, 120));
        QVERIFY(!has(worker, first + 4, kChunk, 300));
    }
}

/// A worker that gave the rest of a chunk back claimed it again at once. Only this second training was lost, but for a
/// step: the charts judged all steps of a chunk by its first one, exports each by itself.
void TestCommits::chartsCountedLostStepsBehindAKeptPartOfTheirChunkAsSurviving()
{
    constexpr std::int64_t kChunk = 7;
    const std::vector<LostTraining> lost { { 0, 1, kChunk, 103, 106.5, 1 }, { 0, 1, kChunk + 1, 105.5, 200, 0 } };
    Stretch stretch;
    stretch.attempt = 1;
    stretch.wallStart = 100;
    stretch.firstStep = 40;
    stretch.chunks.append({ kChunk, 0 });
    stretch.chunks.append({ kChunk + 1, 6 });
    TelemetryHeader header;
    header.attempt = 1;
    LostSteps exported(lost);
    std::size_t kept = 0;
    for (std::uint32_t i = 0; i < 8; ++i) {
        stretch.step.append(i);
        stretch.millis.append(i * 1000);
        ScannedLine line;
        line.kind = LineKind::Step;
        line.step.step = stretch.firstStep + i;
        line.step.chunk = i < 6 ? kChunk : kChunk + 1;
        kept += exported.has({ header, stretch.wallAt(i), line }) ? 0 : 1;
    }
    QCOMPARE(kept, std::size_t(4)); // three of the first training, and one of the second
    QCOMPARE(lostFrom(stretch, lost), kept);
    QCOMPARE(lostFrom(stretch, {}), stretch.size());
    stretch.worker = stretch.rank = 1; // a follower tells the steps of the group, whose rank 0 holds the claims
    QCOMPARE(lostFrom(stretch, lost), kept);
}

/// The run went back to the merge behind step 150: what its workers and the second merge had evaluated since was in the
/// exports as if it were of the weights, beside what was evaluated anew at the same steps.
void TestCommits::evaluationsOfWeightsThatWereLeftWereCalledGood()
{
    const auto merge = [](std::int64_t step, double loss, std::int64_t second, bool surviving) {
        SupervisorLedger::CheckpointRow row;
        row.record.kind = CheckpointKind::Merge;
        row.record.step = step;
        row.record.evalLoss = loss;
        row.wallNs = second * 1'000'000'000;
        row.surviving = surviving;
        return row;
    };
    LostEvaluations evaluations(
        { merge(298, 1.4, 10, true), merge(1029, 0.94, 30, false), merge(1029, 0.91, 60, true) });
    TelemetryHeader header;
    const auto step = [&](std::int64_t number, bool isLost) {
        ScannedLine line;
        line.kind = LineKind::Step;
        line.step.step = number;
        evaluations.tell({ header, 0, line }, isLost);
    };
    const auto isLost = [&](EvalRecord::What what, std::int64_t own, std::int64_t weights, double loss, double wall) {
        ScannedLine line;
        line.kind = LineKind::Eval;
        line.eval = { 0, own, 0, loss, weights, what };
        return evaluations.has({ header, wall, line });
    };
    using enum EvalRecord::What;
    step(149, false);
    step(150, false);
    QVERIFY(!isLost(Replica, 150, 150, 1.5, 9));
    header.worker = -1; // the task that merges
    QVERIFY(!isLost(Merged, 150, 298, 1.4, 10));
    QVERIFY(isLost(Merged, 250, 1029, 0.94, 30));
    QVERIFY(!isLost(Merged, 262, 1029, 0.91, 60));
    header.worker = 0;
    step(151, true);
    step(250, true);
    QVERIFY(isLost(Replica, 250, 398, 1.0, 20));
    QVERIFY(!isLost(Replica, 150, 298, 1.4, 40)); // started again, before its first step
    step(151, false);
    step(250, false);
    QVERIFY(!isLost(Replica, 250, 398, 1.1, 50));
}

void TestCommits::aRunCountedOtherTokensThanItsClaims_data()
{
    QTest::addColumn<bool>("lostBeforeItsCheckpoint");
    QTest::newRow("committed") << false;
    QTest::newRow("lost and trained again") << true;
}

/// Parts of a chunk were counted as shares of its windows, but the last window is seldom full: 15,226 tokens of the
/// run, 15,296 of its claims.
void TestCommits::aRunCountedOtherTokensThanItsClaims()
{
    QFETCH(bool, lostBeforeItsCheckpoint);
    Field field({}, true, 7, {}, 105); // nine windows of 105 tokens and one of 55
    field.fill(1, 1);
    const auto tokensOfRun = [&] { return good(field.reader().totals()).tokens; };
    const auto train
        = [](WorkerLedger& worker, const Claim& claim, std::int32_t end, std::int64_t tokens, bool partly) {
              ChunkOutcome outcome = trainedRange(claim.remaining.front().begin, end, 1, 2);
              outcome.tokens = tokens;
              good(worker.begin(claim));
              good(worker.finish(claim, outcome, partly));
          };
    auto first = field.worker(0);
    const auto claim = claimed(first);
    train(first, *claim, 4, 420, true);
    QCOMPARE(tokensOfRun(), 420);
    if (lostBeforeItsCheckpoint) {
        good(field.supervisor().revoke(field.ids.at(0), "killed"));
        QCOMPARE(tokensOfRun(), 0);
        auto second = field.worker(2);
        const auto again = claimed(second);
        QCOMPARE(again->coveredTokens, 0);
        train(second, *again, 10, 1000, false);
        const auto parts = partsOf(*again);
        good(second.commit(record(2, "c1"), parts));
    } else {
        const Part part { claim->chunk, { 0, 4 } };
        good(first.commit(record(0, "c1"), { &part, 1 }));
        QCOMPARE(tokensOfRun(), 420);
        auto other = field.worker(1);
        const auto rest = claimed(other);
        QCOMPARE(rest->positionTokens, 420);
        QCOMPARE(rest->coveredTokens, 420);
        train(other, *rest, 10, 580, false);
        const auto parts = partsOf(*rest);
        good(other.commit(record(1, "c2"), parts));
    }
    QCOMPARE(tokensOfRun(), 1000);
    std::int64_t ofClaims = 0;
    for (const auto& one : good(field.reader().claimsSince(0, 10)))
        ofClaims += one.outcome == ClaimEnd::Committed ? one.tokens : 0;
    QCOMPARE(ofClaims, tokensOfRun());
    verifyClean(field);
}

void TestCommits::checkpointInTheMiddleOfAChunkKeepsTheClaim()
{
    Field field;
    field.fill(1, 1);
    auto worker = field.worker(0);
    const auto claim = claimed(worker);
    good(worker.begin(*claim));
    const Part half { claim->chunk, { 0, 5 }, 2 };
    good(worker.commit(record(0, "c1"), { &half, 1 }));
    QCOMPARE(field.counts()[Leased], 1);
    QCOMPARE(good(field.reader().totals()).steps, 2);
    good(worker.finish(*claim, trainedAll(*claim, 1, 5)));
    QCOMPARE(good(field.reader().totals()).steps, 5);
    const Part rest { claim->chunk, { 5, 10 } };
    good(worker.commit(record(0, "c2"), { &rest, 1 }));
    QCOMPARE(field.counts()[Committed], 1);
    QCOMPARE(good(field.reader().totals()).steps, 5);
    QCOMPARE(good(field.reader().totals()).tokens, Field::kTokens);
    verifyClean(field);
}

void TestCommits::midChunkCheckpointSurvivesTheDeathOfItsWorker()
{
    Field field;
    field.fill(1, 1);
    auto worker = field.worker(0);
    const auto claim = claimed(worker);
    good(worker.begin(*claim));
    const Part half { claim->chunk, { 0, 5 }, 2 };
    good(worker.commit(record(0, "c1"), { &half, 1 }));
    good(field.supervisor().revoke(field.ids[0], "SIGKILL"));
    QCOMPARE(good(field.reader().totals()).steps, 2);
    auto next = field.worker(0);
    const auto rest = claimed(next);
    QCOMPARE(rest->remaining, (std::vector<WindowRange> { { 5, 10 } }));
    good(next.finish(*rest, trainedRange(5, 10, 3, 3)));
    const auto parts = partsOf(*rest);
    good(next.commit(record(0, "c2"), parts));
    QCOMPARE(field.counts()[Committed], 1);
    QCOMPARE(good(field.reader().totals()).steps, 5);
    verifyClean(field);
}

// So a console that had read it did not look at it again when its worker died, and the audit counted all of it as lost.
void TestCommits::aTrainingWasCalledCommittedByItsFirstPart()
{
    Field field;
    field.fill(1, 1);
    auto worker = field.worker(0);
    const auto claim = claimed(worker);
    good(worker.begin(*claim));
    const Part half { claim->chunk, { 0, 4 }, 2 };
    good(worker.commit(record(0, "c1"), { &half, 1 }));
    good(worker.finish(*claim, trainedAll(*claim, 1, 5)));
    const auto row = [&field] { return good(field.reader().claimsSince(0, 10)).front(); };
    QVERIFY(row().outcome == ClaimEnd::Trained);
    good(field.supervisor().revoke(field.ids[0], "SIGKILL"));
    QVERIFY(row().outcome == ClaimEnd::Lost);
    QCOMPARE(row().keptWindows, 4);
    QCOMPARE(
        good(audit(field.tracker)).epochs.front().tokensLost, Field::kTokens * 3 / 5); // of five steps two are kept
}

void TestCommits::trainingGoesOnWhileACheckpointIsWritten()
{
    Field field;
    field.fill(1, 3);
    auto worker = field.worker(0);
    const auto a = claimed(worker);
    good(worker.finish(*a, trainedAll(*a)));
    const auto frozen = partsOf(*a); // the freeze: a is inside
    const auto b = claimed(worker);
    good(worker.finish(*b, trainedAll(*b, 6)));
    good(worker.commit(record(0, "c1"), frozen));
    QCOMPARE(field.counts()[Committed], 1);
    QCOMPARE(field.counts()[Trained], 1); // b is in no checkpoint yet
    good(field.supervisor().revoke(field.ids[0], "SIGKILL"));
    QCOMPARE(field.counts()[Free], 2);
    verifyClean(field);
}

void TestCommits::skippedWindowsAreNamedAndTheChunkIsWhole()
{
    Field field;
    field.fill(1, 1);
    auto worker = field.worker(0);
    const auto claim = claimed(worker);
    ChunkOutcome outcome = trainedRange(0, 6, 1, 3);
    outcome.done.push_back({ 8, 10 });
    outcome.skipped = { { 6, 8 } };
    good(worker.finish(*claim, outcome));
    const std::vector<Part> parts { { claim->chunk, { 0, 6 } }, { claim->chunk, { 8, 10 } } };
    good(worker.commit(record(0, "c1"), parts));
    QCOMPARE(field.counts()[Committed], 1);
    const AuditReport report = good(audit(field.tracker));
    QVERIFY2(report.isClean(), auditText(report).c_str());
    QCOMPARE(report.epochs[0].samplesSkipped, 7); // a fifth of 35 samples
    QCOMPARE(report.epochs[0].rows.samples, 28);
}

void TestCommits::fullySkippedChunkIsCommittedWithTheNextCheckpoint()
{
    Field field;
    field.fill(1, 2);
    auto worker = field.worker(0);
    const auto claim = claimed(worker);
    ChunkOutcome outcome;
    outcome.skipped = claim->remaining;
    good(worker.finish(*claim, outcome));
    trainOne(worker, 0, "c1");
    QCOMPARE(field.counts()[Committed], 2);
    verifyClean(field);
}

void TestCommits::windowsNotTrainedAreRefused()
{
    Field field;
    field.fill(1, 2);
    auto worker = field.worker(0);
    const auto claim = claimed(worker);
    good(worker.finish(*claim, trainedRange(0, 4, 1, 2), true));
    const Part tooMuch { claim->chunk, { 0, 5 } };
    QVERIFY(!worker.commit(record(0, "c1"), { &tooMuch, 1 }).ok());
    const Part foreign { chunkIdOf({ 0, 0, 1 }), { 0, 10 } };
    QVERIFY(!worker.commit(record(0, "c1"), { &foreign, 1 }).ok());
    const std::vector<Part> twice { { claim->chunk, { 0, 3 } }, { claim->chunk, { 2, 4 } } };
    QVERIFY(!worker.commit(record(0, "c1"), twice).ok());
    QVERIFY(good(field.reader().checkpoints()).empty());
}

void TestCommits::checkpointThatWasNotMadeFromTheHeadIsRefused()
{
    Field field;
    field.fill(1, 3);
    auto worker = field.worker(0);
    const CheckpointId first = trainOne(worker, 0, "c1");
    trainOne(worker, 0, "c2");
    CheckpointRecord stale = record(0, "c3");
    stale.parents = { first };
    QVERIFY(!worker.commit(stale, {}).ok());
    QVERIFY(!worker.commit(record(1, "c3"), {}).ok()); // of another replica
    QVERIFY(!worker.commit(record(0, "c2"), {}).ok()); // a folder twice
}

void TestCommits::refusedCommitChangesNothing()
{
    Field field;
    field.fill(1, 3);
    auto worker = field.worker(0);
    const auto good1 = claimed(worker);
    good(worker.finish(*good1, trainedAll(*good1)));
    const auto before = field.counts();
    std::vector<Part> parts = partsOf(*good1);
    parts.push_back({ chunkIdOf({ 0, 0, 2 }), { 0, 10 } }); // one bad part refuses all
    QVERIFY(!worker.commit(record(0, "c1"), parts).ok());
    for (int state = 0; state < kChunkStateCount; ++state)
        QCOMPARE(field.counts().byState[state], before.byState[state]);
    verifyClean(field);
}

void TestCommits::stepBudgetIsMetExactlyByManyWorkers()
{
    StoppingRules rules;
    rules.steps = 37;
    Field field(rules);
    field.fill(5, 10);
    std::vector<WorkerLedger> workers;
    for (int i = 0; i < 3; ++i)
        workers.push_back(field.worker(i));
    std::int64_t done = 0;
    bool someoneWorks = true;
    for (int round = 0; someoneWorks; ++round) {
        someoneWorks = false;
        for (auto& worker : workers) {
            const auto claim = claimed(worker);
            if (!claim)
                continue;
            const std::int64_t granted = good(worker.reserveSteps(5));
            if (granted == 0) {
                good(worker.release(*claim));
                continue;
            }
            someoneWorks = true;
            const bool whole = granted == 5;
            good(worker.finish(*claim, trainedRange(0, static_cast<std::int32_t>(granted * 2), 1, granted), !whole));
            done += granted;
        }
        QVERIFY(round < 50);
    }
    QCOMPARE(done, 37);
    const auto totals = good(field.reader().totals());
    QCOMPARE(totals.steps, 37);
    SAME(totals.stop, StopReason::Steps);
    QCOMPARE(whyNot(workers[0]), std::optional(NothingToClaim::StopRuleReached));
}

void TestCommits::theTokensRuleOvershotByAThird()
{
    StoppingRules rules;
    rules.tokens = 2 * Field::kTokens + Field::kTokens / 2;
    Field field(rules);
    field.fill(1, 10);
    constexpr std::int64_t kSteps = 5; // of a chunk
    constexpr std::int64_t kStep = Field::kTokens / kSteps;
    std::vector<WorkerLedger> workers;
    for (int i = 0; i < 2; ++i)
        workers.push_back(field.worker(i, 60, kStep));
    for (int round = 0; good(field.reader().totals()).stop == StopReason::None; ++round) {
        QVERIFY(round < 50);
        for (auto& worker : workers) {
            const auto claim = claimed(worker);
            if (!claim)
                continue;
            const std::int64_t granted = good(worker.reserveSteps(kSteps));
            if (granted == 0)
                good(worker.release(*claim));
            else
                good(worker.finish(
                    *claim, trainedRange(0, static_cast<std::int32_t>(granted * 2), 1, granted), granted < kSteps));
        }
    }
    const auto totals = good(field.reader().totals());
    SAME(totals.stop, StopReason::Tokens);
    QVERIFY2(
        totals.tokens >= rules.tokens && totals.tokens < rules.tokens + kStep, std::to_string(totals.tokens).c_str());
}

void TestCommits::stepsOfLostWorkGoBackToTheBudget()
{
    StoppingRules rules;
    rules.steps = 10;
    Field field(rules);
    field.fill(1, 10);
    auto worker = field.worker(0);
    auto other = field.worker(1);
    for (int i = 0; i < 2; ++i) {
        const auto claim = claimed(worker);
        QCOMPARE(good(worker.reserveSteps(5)), 5);
        good(worker.finish(*claim, trainedAll(*claim)));
    }
    SAME(good(field.reader().totals()).stop, StopReason::Steps);
    QCOMPARE(good(other.reserveSteps(5)), 0);
    good(field.supervisor().revoke(field.ids[0], "SIGKILL"));
    SAME(good(field.reader().totals()).stop, StopReason::None); // the steps died with the weights
    QCOMPARE(good(other.reserveSteps(8)), 8);
    QCOMPARE(good(other.reserveSteps(8)), 2);
    good(other.returnSteps(4));
    QCOMPARE(good(other.reserveSteps(8)), 4);
}

void TestCommits::shortenedChunkIsNotStoredAsComplete() // trap 6
{
    Field field;
    field.fill(1, 1);
    auto worker = field.worker(0);
    const auto claim = claimed(worker);
    QVERIFY(!worker.finish(*claim, trainedRange(0, 9, 1, 5)).ok());
    good(worker.finish(*claim, trainedRange(0, 9, 1, 5), true));
    const Part part { claim->chunk, { 0, 9 } };
    good(worker.commit(record(0, "c1"), { &part, 1 }));
    QCOMPARE(field.counts()[Committed], 0);
    QVERIFY(!good(field.supervisor().advance()).epochClosed);
}

void TestCommits::damagedCheckpointFallsBackAndFreesItsParts()
{
    Field field;
    field.fill(1, 4);
    auto worker = field.worker(0);
    const CheckpointId first = trainOne(worker, 0, "c1");
    const CheckpointId second = trainOne(worker, 0, "c2");
    QCOMPARE(good(field.supervisor().markDamaged(second, "sha differs")), 1);
    SAME(newestHead(field, 0), first);
    QCOMPARE(field.counts()[Committed], 1);
    QCOMPARE(field.counts()[Free], 3);
    QCOMPARE(good(field.reader().totals()).steps, 5);
    QCOMPARE(good(field.reader().totals()).tokens, Field::kTokens);
    QCOMPARE(worker.renew({}, 60).error().code, ErrorCode::Cancelled); // it has the bad weights in memory
    QCOMPARE(good(field.supervisor().markDamaged(first, "sha differs")), 1);
    SAME(newestHead(field, 0), CheckpointId {}); // trap 10: then from the start weights, never from random ones
    QCOMPARE(good(field.reader().totals()).steps, 0);
    verifyClean(field);
}

void TestCommits::damagedCheckpointFreesWhatDescendsFromIt()
{
    Field field;
    field.fill(1, 4);
    auto worker = field.worker(0);
    const CheckpointId first = trainOne(worker, 0, "c1");
    const CheckpointId second = trainOne(worker, 0, "c2");
    trainOne(worker, 0, "c3");
    QCOMPARE(good(field.supervisor().markDamaged(second, "bad weights")), 2);
    SAME(newestHead(field, 0), first);
    verifyClean(field);
}

void TestCommits::removedAncestorIsNoFallback()
{
    Field field;
    field.fill(1, 4);
    auto worker = field.worker(0);
    const CheckpointId first = trainOne(worker, 0, "c1");
    const CheckpointId second = trainOne(worker, 0, "c2");
    good(field.supervisor().markRemoved(first));
    QCOMPARE(good(field.supervisor().markDamaged(second, "sha differs")), 2); // nothing is left of either
    SAME(newestHead(field, 0), CheckpointId {});
    QCOMPARE(field.counts()[Free], 4);
    verifyClean(field);
}

void TestCommits::aDamagedCheckpointThatIsWholeComesBackWithItsChunks()
{
    Field field;
    field.fill(1, 4);
    auto worker = field.worker(0);
    const CheckpointId first = trainOne(worker, 0, "c1");
    const CheckpointId second = trainOne(worker, 0, "c2");
    const CheckpointId third = trainOne(worker, 0, "c3");
    const auto before = good(field.reader().totals());
    auto supervisor = field.supervisor();
    good(supervisor.markDamaged(third, "the disk is away"));
    good(supervisor.markDamaged(second, "the disk is away"));
    good(supervisor.markDamaged(first, "the disk is away"));
    QCOMPARE(field.counts()[Committed], 0);
    SAME(good(supervisor.takeBack(first)), std::optional<std::int64_t>(1));
    SAME(newestHead(field, 0), first);
    SAME(good(supervisor.takeBack(second)), std::optional<std::int64_t>(1));
    SAME(good(supervisor.takeBack(third)), std::optional<std::int64_t>(1));
    SAME(newestHead(field, 0), third);
    QCOMPARE(field.counts()[Committed], 3);
    const auto after = good(field.reader().totals());
    QCOMPARE(after.steps, before.steps);
    QCOMPARE(after.tokens, before.tokens);
    QVERIFY(!supervisor.takeBack(third).ok()); // it is not marked any more
    verifyClean(field);
    auto next = field.worker(0);
    trainOne(next, 0, "c4");
    QCOMPARE(field.counts()[Committed], 4);
    verifyClean(field);
}

void TestCommits::aCheckpointThatTheRunWentOnWithoutStaysOut_data()
{
    QTest::addColumn<QString>("since");
    QTest::newRow("its replica committed") << QStringLiteral("own");
    QTest::newRow("another replica trained its chunk") << QStringLiteral("other");
    QTest::newRow("its chunk was left out") << QStringLiteral("excluded");
    QTest::newRow("a person went back") << QStringLiteral("back");
}

void TestCommits::aCheckpointThatTheRunWentOnWithoutStaysOut()
{
    QFETCH(QString, since);
    Field field;
    field.fill(1, 4);
    auto worker = field.worker(0);
    const CheckpointId first = trainOne(worker, 0, "c1");
    const CheckpointId second = trainOne(worker, 0, "c2");
    auto supervisor = field.supervisor();
    good(supervisor.markDamaged(second, "the disk is away"));
    if (since == QStringLiteral("own")) {
        auto next = field.worker(0);
        trainOne(next, 0, "c3");
    } else if (since == QStringLiteral("other")) {
        auto next = field.worker(1);
        trainOne(next, 1, "d1");
    } else if (since == QStringLiteral("excluded")) {
        const ChunkId chunk = chunkIdOf({ 0, 0, 1 });
        good(supervisor.exclude({ &chunk, 1 }, "no longer wanted"));
    } else {
        good(supervisor.goBackTo(first));
    }
    const auto counts = field.counts()[Committed];
    const auto head = newestHead(field, 0);
    SAME(good(supervisor.takeBack(second)), std::optional<std::int64_t>());
    SAME(newestHead(field, 0), head);
    QCOMPARE(field.counts()[Committed], counts);
    for (const auto& row : good(supervisor.checkpoints()))
        if (row.id == second)
            QVERIFY(!row.damaged && !row.surviving);
    verifyClean(field);
}

/// A tracker that somebody sent led a resume to delete folders anywhere.
void TestCommits::aNameThatLeadsOutOfTheRunFolderIsRefused()
{
    Field field;
    field.fill(1, 2);
    auto worker = field.worker(0);
    trainOne(worker, 0, "../../home");
    const auto rows = field.reader().checkpoints();
    QVERIFY(!rows.ok() && rows.error().code == ErrorCode::Corrupt);
    QVERIFY2(rows.error().message.find("../../home") != std::string::npos, rows.error().message.c_str());
    QVERIFY(!field.supervisor().checkpoints().ok());
    good(field.feeder().setPrepared(0, "../../.ssh/id", "digest0", Field::prepared(0, 2)));
    QCOMPARE(field.reader().block(0).error().code, ErrorCode::Corrupt);
}

void TestCommits::damageReopensAClosedEpoch()
{
    Field field;
    field.fill(1, 2);
    auto worker = field.worker(0);
    trainOne(worker, 0, "c1");
    const CheckpointId last = trainOne(worker, 0, "c2");
    auto supervisor = field.supervisor();
    SAME(good(supervisor.advance()).stop, StopReason::EpochEnd);
    QCOMPARE(good(supervisor.markDamaged(last, "bit flip")), 1);
    QVERIFY(!good(field.reader().epochs()).at(0).closedWallNs.has_value());
    SAME(good(field.reader().totals()).stop, StopReason::None);
    auto next = field.worker(0);
    trainOne(next, 0, "c3");
    SAME(good(supervisor.advance()).stop, StopReason::EpochEnd);
    verifyClean(field);
}

void TestCommits::newestCheckpointCannotBeRemoved()
{
    Field field;
    field.fill(1, 2);
    auto worker = field.worker(0);
    const CheckpointId first = trainOne(worker, 0, "c1");
    auto supervisor = field.supervisor();
    QVERIFY(!supervisor.markRemoved(first).ok());
    trainOne(worker, 0, "c2");
    good(supervisor.setPinned(first, true));
    QVERIFY(!supervisor.markRemoved(first).ok());
    good(supervisor.setPinned(first, false));
    good(supervisor.markRemoved(first));
    const auto rows = good(supervisor.checkpoints());
    QVERIFY(rows[0].removed && !rows[0].head);
    QVERIFY(!rows[1].removed && rows[1].head);
    QCOMPARE(field.counts()[Committed], 2);
}

void TestCommits::goingBackTrainsWhatCameAfterExactlyOnceAgain()
{
    Field field;
    field.fill(1, 8);
    auto a = field.worker(0);
    auto b = field.worker(1);
    const CheckpointId a1 = trainOne(a, 0, "a1");
    const CheckpointId b1 = trainOne(b, 1, "b1");
    const CheckpointId a2 = trainOne(a, 0, "a2");
    trainOne(b, 1, "b2");
    trainOne(a, 0, "a3");
    auto supervisor = field.supervisor();
    QCOMPARE(supervisor.goBackTo(a1).error().code, ErrorCode::Busy);
    for (const int worker : { 0, 1 })
        good(supervisor.revoke(field.ids[worker], "stopped"));
    const auto retreat = good(field.reader().retreat(a2, {}));
    QVERIFY((retreat.heads == std::map<std::int32_t, CheckpointId> { { 0, a2 }, { 1, b1 } }));
    QVERIFY((retreat.surviving == std::set<CheckpointId> { a1, b1, a2 }));
    QCOMPARE(retreat.chunks.size(), std::size_t(2));
    QCOMPARE(field.counts()[Committed], 5); // looking changes nothing
    QCOMPARE(good(supervisor.goBackTo(a2)), 2);
    SAME(newestHead(field, 0), a2);
    SAME(newestHead(field, 1), b1); // its own newest of that time
    QCOMPARE(field.counts()[Committed], 3);
    for (const auto& row : good(supervisor.checkpoints()))
        QCOMPARE(row.surviving, row.id <= a2);
    verifyClean(field);
    auto again = field.worker(0);
    std::set<std::int64_t> trained;
    for (int i = 0; i < 5; ++i) {
        const auto claim = claimed(again);
        QVERIFY(claim.has_value());
        trained.insert(claim->chunk.value);
        good(again.begin(*claim));
        good(again.finish(*claim, trainedAll(*claim)));
        const auto parts = partsOf(*claim);
        good(again.commit(record(0, "a4-" + std::to_string(i)), parts));
    }
    QCOMPARE(trained.size(), std::size_t(5));
    for (const ChunkId chunk : retreat.chunks)
        QVERIFY(trained.contains(chunk.value));
    QVERIFY(!claimed(again).has_value()); // which closes the epoch
    QVERIFY(good(field.reader().epochs()).at(0).closedWallNs.has_value());
    const AuditReport report = good(audit(field.tracker));
    QVERIFY2(report.isClean(), auditText(report).c_str());
    QCOMPARE(report.epochs.at(0).committed, 8);
    QCOMPARE(report.epochs.at(0).duplicated, 0);
}

/// "Done as step 1,757 of all that the workers made, lost ones included" of weights with 1,029 steps, and it left out
/// the steps that had died with a worker: no other number of the run said the same.
void TestCommits::stepsThatTheRunLeftWereCountedBeforeThoseOfItsWeights()
{
    Field field;
    field.fill(1, 3);
    auto worker = field.worker(0);
    const CheckpointId first = trainOne(worker, 0, "c1");
    trainOne(worker, 0, "c2");
    good(worker.end("stopped"));
    good(field.supervisor().goBackTo(first));
    auto again = field.worker(0);
    trainOne(again, 0, "c3");
    trainOne(again, 0, "c4");
    std::set<std::int64_t> steps;
    for (const TrainedChunk& chunk : good(trainedChunks(field.tracker)))
        steps.insert(chunk.weightsStep);
    const std::set<std::int64_t> wanted { 5, 10, 15 };
    QVERIFY(steps == wanted);
}

void TestCommits::goingBackReopensAClosedEpoch()
{
    Field field;
    field.fill(1, 2);
    auto worker = field.worker(0);
    const CheckpointId first = trainOne(worker, 0, "c1");
    trainOne(worker, 0, "c2");
    auto supervisor = field.supervisor();
    SAME(good(supervisor.advance()).stop, StopReason::EpochEnd);
    good(supervisor.revoke(field.ids[0], "ended"));
    QCOMPARE(good(supervisor.goBackTo(first)), 1);
    QVERIFY(!good(field.reader().epochs()).at(0).closedWallNs.has_value());
    SAME(good(field.reader().totals()).stop, StopReason::None);
    QCOMPARE(good(field.reader().totals()).steps, 5);
}

namespace {

/// Two chunks of three are given up by going back behind their checkpoint.
void giveTwoUp(Field& field)
{
    field.fill(1, 3);
    auto worker = field.worker(0);
    const CheckpointId first = trainOne(worker, 0, "c1");
    trainOne(worker, 0, "c2");
    trainOne(worker, 0, "c3");
    auto supervisor = field.supervisor();
    good(supervisor.revoke(field.ids[0], "stopped"));
    good(supervisor.goBackTo(first));
}

} // namespace

/// A resume after going back was told of workers that had ended, which none had: the chunks that are lost were read
/// first, then, in another moment, which of them the run had gone back behind.
void TestCommits::aChunkBegunBetweenTwoReadsWasCalledADeath()
{
    Field field;
    giveTwoUp(field);
    auto worker = field.worker(0);
    auto reader = field.reader();
    auto moment = good(reader.moment());
    auto epochs = good(reader.epochs());
    const auto lost = good(countChunksApart(epochs, {}, true, reader));
    QCOMPARE(lost.size(), std::size_t { 2 });
    good(worker.begin(*claimed(worker)));
    const LostCauses causes = good(lostCauses(epochs, lost, reader)).at(0);
    QCOMPARE(causes.died, 0);
    QCOMPARE(causes.wentBack, 2);
    moment.end();
    epochs = good(reader.epochs());
    QCOMPARE(good(countChunksApart(epochs, {}, true, reader)).size(), std::size_t { 1 });
}

/// What was begun and given back without a step hid what the run had gone back behind.
void TestCommits::aChunkBegunAndGivenBackWasCalledADeath()
{
    Field field;
    giveTwoUp(field);
    auto worker = field.worker(0);
    const auto claim = claimed(worker);
    good(worker.begin(*claim));
    good(worker.release(*claim));
    auto reader = field.reader();
    auto epochs = good(reader.epochs());
    const auto lost = good(countChunksApart(epochs, {}, true, reader));
    const LostCauses causes = good(lostCauses(epochs, lost, reader)).at(0);
    QCOMPARE(causes.died, 0);
    QCOMPARE(causes.wentBack, 2);
}

/// Some reads make a view of their own.
void TestCommits::aViewInsideAnotherEndedIt()
{
    Field field;
    field.fill(1, 2);
    auto worker = field.worker(0);
    auto reader = field.reader();
    auto moment = good(reader.moment());
    QCOMPARE(good(reader.checkpoints()).size(), std::size_t { 0 });
    trainOne(worker, 0, "c1");
    QCOMPARE(good(reader.checkpoints()).size(), std::size_t { 0 });
    moment.end();
    QCOMPARE(good(reader.checkpoints()).size(), std::size_t { 1 });
}

void TestCommits::aRunGoesBackOnlyToWhatItsWeightsGrewFrom()
{
    Field field;
    field.fill(1, 6);
    auto worker = field.worker(0);
    const CheckpointId first = trainOne(worker, 0, "c1");
    const CheckpointId second = trainOne(worker, 0, "c2");
    const CheckpointId third = trainOne(worker, 0, "c3");
    auto supervisor = field.supervisor();
    good(supervisor.revoke(field.ids[0], "stopped"));
    good(supervisor.goBackTo(second));
    QVERIFY(supervisor.goBackTo(third).error().message.find("not in the lineage") != std::string::npos);
    auto next = field.worker(0);
    const CheckpointId fourth = trainOne(next, 0, "c4");
    good(supervisor.revoke(field.ids[0], "stopped"));
    good(supervisor.markRemoved(first));
    QVERIFY(supervisor.goBackTo(first).error().message.find("keep policy") != std::string::npos);
    QCOMPARE(supervisor.goBackTo({ 99 }).error().code, ErrorCode::NotFound);
    QCOMPARE(good(supervisor.goBackTo(fourth)), 0); // the newest: nothing is lost
    verifyClean(field);
}

void TestCommits::repairDoesNotBringBackWhatTheRunLeft() // its row was there already, so the repair failed
{
    Field field;
    field.fill(1, 4);
    auto worker = field.worker(0);
    const CheckpointId first = trainOne(worker, 0, "c1");
    trainOne(worker, 0, "c2");
    auto supervisor = field.supervisor();
    good(supervisor.revoke(field.ids[0], "stopped"));
    good(supervisor.goBackTo(first));
    ProvenCheckpoint left;
    left.record = record(0, "c2");
    left.parents = { "c1" };
    left.writtenWallNs = field.clock.wallNs();
    left.whole = true;
    const Rebuilt rebuilt = good(rebuildLineage(field.tracker, { &left, 1 }, RebuildReason::Damaged, {}, field.clock));
    QCOMPARE(rebuilt.checkpoints, 0);
    SAME(newestHead(field, 0), first);
    verifyClean(field);
}

namespace {

/// With all of one chunk.
ProvenCheckpoint proven(
    const char* folder, std::vector<std::string> parents, int column, std::int64_t incarnation, std::int64_t wallNs)
{
    ProvenCheckpoint one;
    one.record = record(0, folder);
    one.parents = std::move(parents);
    one.parts = { { chunkIdOf({ 0, 0, column }), { 0, Field::kWindows } } };
    one.writtenWallNs = wallNs;
    one.whole = true;
    one.incarnation = incarnation;
    return one;
}

} // namespace

/// Of a run that had gone back while its clock was set back the abandoned line was taken: its times are later.
void TestCommits::aTrackerMadeOfManifestsAloneTookTheLineThatTheRunHadLeft()
{
    Field field;
    field.fill(1, 4);
    const std::vector<ProvenCheckpoint> all { proven("c1", {}, 0, 1, 100), proven("c2", { "c1" }, 1, 1, 500),
        proven("c3", { "c2" }, 2, 1, 600), proven("c4", { "c1" }, 1, 2, 50), proven("c5", { "c4" }, 3, 2, 40) };
    const Rebuilt rebuilt = good(rebuildLineage(field.tracker, all, RebuildReason::Damaged, {}, field.clock));
    QCOMPARE(rebuilt.heads, (std::vector<std::string> { "c5" }));
    QCOMPARE(rebuilt.checkpoints, 3);
    QCOMPARE(field.counts()[Committed], 3);
    verifyClean(field);
}

/// The first one numbered its processes from 1 again, so what was trained after it and after going back seemed older.
void TestCommits::aSecondTrackerMadeOfManifestsAloneTookTheLineThatTheRunHadLeft()
{
    std::vector<ProvenCheckpoint> all { proven("c1", {}, 0, 1, 100), proven("c2", { "c1" }, 1, 5, 500),
        proven("c3", { "c2" }, 2, 5, 600) };
    std::int64_t next = 0;
    {
        Field first;
        first.fill(1, 4);
        good(rebuildLineage(first.tracker, all, RebuildReason::Damaged, { 0, 5 }, first.clock));
        good(first.supervisor().goBackTo(good(first.supervisor().checkpoints()).front().id));
        first.attempt = good(first.supervisor().beginAttempt(thisProcess(), "{}"));
        (void)first.worker(0);
        next = first.ids[0].value;
        QVERIFY(next > 5);
        verifyClean(first);
    }
    all.push_back(proven("c4", { "c1" }, 1, next, 50));
    Field second;
    second.fill(1, 4);
    const Rebuilt rebuilt
        = good(rebuildLineage(second.tracker, all, RebuildReason::Damaged, { 0, next }, second.clock));
    QCOMPARE(rebuilt.heads, (std::vector<std::string> { "c4" }));
    verifyClean(second);
}

QTEST_GUILESS_MAIN(TestCommits)
#include "tst_commits.moc"
