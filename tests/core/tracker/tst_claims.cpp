#include "ledger_fixture.h"

#include "core/tracker/sqlite/database.h"
#include "core/tracker/moves.h"
#include "core/tracker/named_chunks.h"
#include "core/tracker/order.h"

#include <QtTest>

#include <set>
#include <thread>

using namespace furrow;
using enum ChunkState;

/// Claims, leases and fences of the ledger.
class TestClaims : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void everyMoveIsLegalOrRefusedAsTheTableSays();
    void claimsByLowestOrdAndStoresTheClaim();
    void claimUsesThePartialIndexWithoutSorting();
    void prefetchedClaimIsGivenBack();
    void whoOnlyHeldAChunkStoodBesideTheLossOfAnotherTraining();
    void revokedWorkerCanWriteNothing();
    void revokingFreesLeasedAndTrainedButNotCommitted();
    void expiredLeaseIsSeenAndProgressRenewsIt();
    void slowChunkIsNotStolenWhileItMakesProgress();
    void secondWorkerOfALivingReplicaIsRefused();
    void followerOfAGroupIsSeenAndClaimsNothing();
    void lateWorkerOfAnEndedAttemptIsRefused();
    void workerOfAnotherRunIsRefused();
    void connectionsClaimEachChunkExactlyOnce();
    void failureTwiceIsPreparedAgainAndThriceIsPoisoned();
    void aBlockThatCannotBeReachedIsNeverPoisoned();
    void theAuditNamesWhatIsNotTrained();
    void anEpochThatCannotBePlannedToItsEndIsToldToBeIncomplete();
    void poisonedKeepsTheEpochOpenUntilAccepted();
    void poisonedCanBeTriedAgain();
    void excludedChunkIsNamedAndStaysOutInTheNextEpoch();
    void chunkInTrainingCannotBeExcluded();
    void completionRepeatedAddsNothing();
    void positionCountsTokensClaimedBefore();
    void completionAndNextClaimAreOneTransaction();
    void aRefusedCompletionTakesTheClaimBesideItBack();
    void lossesOfSamplesAreThoseOfTheTrainingsInTheWeights();
};

void TestClaims::everyMoveIsLegalOrRefusedAsTheTableSays()
{
    // rows: from; columns: pending free leased trained committed excluded poisoned accepted
    const char* table[kChunkStateCount] = {
        ".X..XXX.", // pending
        "X.X..XX.", // free
        "XX.X..X.", // leased
        "XX..X...", // trained
        "XX......", // committed
        "X.......", // excluded
        "XX...X.X", // poisoned
        "X.......", // accepted
    };
    for (int from = 0; from < kChunkStateCount; ++from) {
        for (int to = 0; to < kChunkStateCount; ++to)
            QCOMPARE(isLegalMove(static_cast<ChunkState>(from), static_cast<ChunkState>(to)), table[from][to] == 'X');
    }
}

void TestClaims::claimsByLowestOrdAndStoresTheClaim() // trap 1: an id returned under a lock and nothing stored
{
    Field field({}, false);
    field.fill(4, 5);
    auto worker = field.worker(0);
    const OrderRule rule { 7, 4, false };
    std::int64_t before = -1;
    for (int i = 0; i < 20; ++i) {
        const auto claim = claimed(worker);
        QVERIFY(claim.has_value());
        const std::int64_t ord = claimOrder(rule, { claim->epoch, claim->block, claim->column }, 4);
        QVERIFY(ord > before);
        before = ord;
        const auto history = good(field.reader().claimsOf(claim->chunk));
        QCOMPARE(history.size(), std::size_t(1));
        QCOMPARE(history[0].claimId, claim->claimId);
        QVERIFY(history[0].outcome == ClaimEnd::Open);
    }
    QCOMPARE(whyNot(worker), std::optional(NothingToClaim::EpochComplete)); // all its own
    QCOMPARE(field.counts()[Leased], 20);
}

void TestClaims::claimUsesThePartialIndexWithoutSorting()
{
    Field field;
    field.fill(2, 5);
    auto db = good(Database::open(field.tracker, {}));
    std::string plan;
    {
        Rows rows = db.query("EXPLAIN QUERY PLAN SELECT id FROM chunk WHERE state=1 ORDER BY epoch, ord, id LIMIT 1");
        while (rows.next())
            plan += rows.text(3) + "\n";
    }
    QVERIFY2(plan.find("chunk_free") != std::string::npos, plan.c_str());
    QVERIFY2(plan.find("TEMP B-TREE") == std::string::npos, plan.c_str());
    QVERIFY(db.takeStatus().ok());
}

void TestClaims::prefetchedClaimIsGivenBack()
{
    Field field;
    field.fill(1, 2);
    auto worker = field.worker(0);
    const auto first = claimed(worker);
    const auto second = claimed(worker);
    good(worker.release(*second));
    QCOMPARE(field.counts()[Free], 1);
    QVERIFY(!worker.release(*second).ok());
    const auto again = claimed(worker);
    SAME(again->chunk, second->chunk);
    QVERIFY(again->claimId != second->claimId);
    QVERIFY(good(field.reader().claimsOf(second->chunk))[0].outcome == ClaimEnd::Released);
    good(worker.end("stop"));
    QCOMPARE(field.counts()[Free], 2);
}

void TestClaims::whoOnlyHeldAChunkStoodBesideTheLossOfAnotherTraining()
{
    Field field;
    field.fill(1, 1);
    auto first = field.worker(0);
    const auto trained = claimed(first);
    good(first.begin(*trained));
    good(first.finish(*trained, trainedAll(*trained)));
    good(field.supervisor().revoke(field.ids[0], "killed by SIGKILL"));
    const auto workerOf = [&] { return static_cast<int>(good(field.reader().cell(trained->chunk)).worker); };
    QCOMPARE(workerOf(), 0);
    auto second = field.worker(1);
    const auto held = claimed(second);
    SAME(held->chunk, trained->chunk);
    QCOMPARE(workerOf(), 1); // who holds it
    good(second.release(*held));
    QCOMPARE(workerOf(), 0);
    const auto begun = claimed(second);
    good(second.begin(*begun));
    good(field.supervisor().revoke(field.ids[1], "killed by SIGKILL"));
    QCOMPARE(workerOf(), 0); // its loss is still the one of the first training
}

void TestClaims::revokedWorkerCanWriteNothing()
{
    Field field;
    field.fill(1, 4);
    auto worker = field.worker(0);
    const auto done = claimed(worker);
    good(worker.begin(*done));
    good(worker.finish(*done, trainedAll(*done)));
    const auto current = claimed(worker);
    good(worker.reserveSteps(10));
    QCOMPARE(good(field.supervisor().revoke(field.ids[0], "hung")), 2);
    const auto before = field.counts();
    const auto parts = partsOf(*done);
    const auto cancelled
        = [](const auto& result) { return !result.ok() && result.error().code == ErrorCode::Cancelled; };
    QVERIFY(cancelled(worker.commit(record(0, "zombie"), parts)));
    QVERIFY(cancelled(worker.claim()));
    QVERIFY(cancelled(worker.begin(*current)));
    QVERIFY(cancelled(worker.finish(*current, trainedAll(*current))));
    QVERIFY(cancelled(worker.release(*current)));
    QVERIFY(cancelled(worker.fail(*current, Error { ErrorCode::Corrupt, "x" })));
    QVERIFY(cancelled(worker.renew({}, 60)));
    QVERIFY(cancelled(worker.reserveSteps(5)));
    QVERIFY(cancelled(worker.returnSteps(5)));
    QVERIFY(cancelled(worker.contribute(1, {})));
    QVERIFY(cancelled(worker.takeMerge(1)));
    QVERIFY(cancelled(worker.commitMerge(1, record(-1, "m"))));
    QVERIFY(cancelled(worker.end("x")));
    for (int state = 0; state < kChunkStateCount; ++state)
        QCOMPARE(field.counts().byState[state], before.byState[state]);
    QVERIFY(good(field.reader().checkpoints()).empty());
    QCOMPARE(good(field.reader().totals()).steps, 0);
}

void TestClaims::revokingFreesLeasedAndTrainedButNotCommitted() // trap 9: trained is not in the weights that survive
{
    Field field;
    field.fill(1, 4);
    auto worker = field.worker(0);
    trainOne(worker, 0, "c1");
    const auto trained = claimed(worker);
    good(worker.begin(*trained));
    good(worker.finish(*trained, trainedAll(*trained, 6)));
    const auto begun = claimed(worker);
    good(worker.begin(*begun));
    const auto prefetched = claimed(worker);
    QCOMPARE(good(field.reader().totals()).steps, 10);
    QCOMPARE(good(field.supervisor().revoke(field.ids[0], "killed by SIGKILL")), 3);
    const ChunkCounts counts = field.counts();
    QCOMPARE(counts[Committed], 1);
    QCOMPARE(counts[Free], 3);
    QCOMPARE(counts.sum(), 4);
    QCOMPARE(good(field.reader().totals()).steps, 5);
    QVERIFY(good(field.reader().claimsOf(trained->chunk))[0].outcome == ClaimEnd::Lost);
    QVERIFY(good(field.reader().claimsOf(begun->chunk))[0].outcome == ClaimEnd::Lost);
    QVERIFY(good(field.reader().claimsOf(prefetched->chunk))[0].outcome == ClaimEnd::Released);
    QCOMPARE(good(field.supervisor().revoke(field.ids[0], "again")), 0);
}

void TestClaims::expiredLeaseIsSeenAndProgressRenewsIt()
{
    Field field;
    field.fill(1, 2);
    auto worker = field.worker(0, 60);
    auto supervisor = field.supervisor();
    QVERIFY(good(supervisor.expired()).empty());
    field.clock.advance(59);
    good(worker.renew({ WorkerPhase::Train, {}, 0.5, 3, 300, 2.0, 100 }, 60));
    field.clock.advance(59);
    QVERIFY(good(supervisor.expired()).empty());
    field.clock.advance(2);
    const auto late = good(supervisor.expired());
    QCOMPARE(late.size(), std::size_t(1));
    QCOMPARE(late[0].incarnation, field.ids[0]);
    QCOMPARE(late[0].process, thisProcess());
    QVERIFY(late[0].overdueSeconds > 0.9 && late[0].overdueSeconds < 1.1);
    QCOMPARE(good(supervisor.live()).size(), std::size_t(1)); // only seen, nothing done to it
}

void TestClaims::slowChunkIsNotStolenWhileItMakesProgress() // trap 7: fixed-time stale claims
{
    Field field;
    field.fill(1, 1);
    auto slow = field.worker(0, 60);
    auto other = field.worker(1, 1e6);
    const auto claim = claimed(slow);
    for (int minute = 0; minute < 120; ++minute) {
        field.clock.advance(50);
        good(slow.renew({}, 60));
        QVERIFY(good(field.supervisor().expired()).empty());
        QCOMPARE(whyNot(other), std::optional(NothingToClaim::WaitForOthers));
    }
    good(slow.finish(*claim, trainedAll(*claim)));
}

void TestClaims::secondWorkerOfALivingReplicaIsRefused()
{
    Field field;
    field.fill(1, 1);
    auto first = field.worker(0);
    auto second = good(WorkerLedger::open(field.tracker, "run-1", field.clock));
    const auto refused = second.start({ field.attempt, 9, 0, "cpu", "" }, 60);
    QVERIFY(!refused.ok());
    QCOMPARE(refused.error().code, ErrorCode::Busy);
    // A predecessor that is gone is fenced by its successor.
    {
        auto db = good(Database::open(field.tracker, {}));
        db.run("UPDATE incarnation SET pid=999999999");
        QVERIFY(db.takeStatus().ok());
    }
    good(second.start({ field.attempt, 9, 0, "cpu", "" }, 60));
    QCOMPARE(first.renew({}, 60).error().code, ErrorCode::Cancelled);
}

void TestClaims::followerOfAGroupIsSeenAndClaimsNothing()
{
    Field field;
    field.fill(1, 2);
    auto leader = field.worker(0);
    std::vector<WorkerLedger> followers;
    for (int rank = 1; rank < 3; ++rank) {
        followers.push_back(good(WorkerLedger::open(field.tracker, "run-1", field.clock), "open"));
        (void)good(followers.back().start({ field.attempt, rank, kFollower, "cpu", "test" }, 60), "start");
        const auto answer = followers.back().claim();
        QVERIFY(!answer.ok());
        QVERIFY2(
            answer.error().message.find("rank 0 claims for all") != std::string::npos, answer.error().message.c_str());
    }
    auto again = good(WorkerLedger::open(field.tracker, "run-1", field.clock), "open");
    const auto second = again.start({ field.attempt, 2, kFollower, "cpu", "test" }, 60);
    QVERIFY(!second.ok());
    QVERIFY2(
        second.error().message.find("rank 2 is being trained") != std::string::npos, second.error().message.c_str());
    QCOMPARE(good(field.reader().replicas()).size(), std::size_t(1));
    QCOMPARE(good(field.reader().incarnations()).size(), std::size_t(3));
    QVERIFY(claimed(leader));
}

void TestClaims::lateWorkerOfAnEndedAttemptIsRefused()
{
    Field field;
    auto late = good(WorkerLedger::open(field.tracker, "run-1", field.clock));
    good(field.supervisor().endAttempt(field.attempt, StopReason::User, ""));
    QCOMPARE(late.start({ field.attempt, 0, 0, "cpu", "" }, 60).error().code, ErrorCode::Cancelled);
    const AttemptId next = good(field.supervisor().beginAttempt(thisProcess(), ""));
    good(late.start({ next, 0, 0, "cpu", "" }, 60));
}

void TestClaims::workerOfAnotherRunIsRefused()
{
    Field field;
    const auto opened = WorkerLedger::open(field.tracker, "run-2");
    QVERIFY(!opened.ok());
    QCOMPARE(opened.error().code, ErrorCode::InvalidArgument);
    QVERIFY(opened.error().message.find("run-1") != std::string::npos);
}

void TestClaims::connectionsClaimEachChunkExactlyOnce() // trap 1: a thread lock between processes
{
    Field field({}, false);
    field.fill(20, 20);
    constexpr int kWorkers = 6;
    std::vector<std::vector<ChunkId>> taken(kWorkers);
    std::vector<std::thread> threads;
    for (int index = 0; index < kWorkers; ++index) {
        threads.emplace_back([&, index] {
            auto worker = good(WorkerLedger::open(field.tracker, "run-1"));
            good(worker.start({ field.attempt, index, index, "cpu", "" }, 600));
            std::vector<Part> parts;
            while (const auto claim = claimed(worker)) {
                taken[static_cast<std::size_t>(index)].push_back(claim->chunk);
                good(worker.finish(*claim, trainedAll(*claim)));
                parts.push_back({ claim->chunk, { 0, Field::kWindows } });
            }
            good(worker.commit(record(index, "c" + std::to_string(index)), parts));
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    std::set<ChunkId> all;
    std::size_t count = 0;
    for (const auto& chunks : taken) {
        all.insert(chunks.begin(), chunks.end());
        count += chunks.size();
    }
    QCOMPARE(count, std::size_t(400));
    QCOMPARE(all.size(), std::size_t(400));
    QCOMPARE(field.counts()[Committed], 400);
    QCOMPARE(good(field.reader().totals()).steps, 2000); // trap 8: a sum, not a maximum
}

void TestClaims::failureTwiceIsPreparedAgainAndThriceIsPoisoned() // trap 13: a retry limit, then a silent drop
{
    Field field;
    field.fill(1, 1);
    auto worker = field.worker(0);
    for (int attempt = 1; attempt <= 3; ++attempt) {
        const auto claim = claimed(worker);
        QVERIFY(claim.has_value());
        good(worker.fail(*claim, Error { ErrorCode::Corrupt, "block file is unreadable" }));
        QCOMPARE(field.counts()[attempt < 3 ? Pending : Poisoned], 1); // the feeder prepares the block again
        if (attempt < 3)
            field.prepareAgain(0, 1);
    }
    QCOMPARE(whyNot(worker), std::optional(NothingToClaim::WaitForOthers));
    QCOMPARE(good(field.reader().claimsSince(0, 100)).size(), std::size_t(3));
}

void TestClaims::aBlockThatCannotBeReachedIsNeverPoisoned()
{
    Field field;
    field.fill(1, 1);
    auto worker = field.worker(0);
    for (const ErrorCode code :
        { ErrorCode::Io, ErrorCode::Network, ErrorCode::NotFound, ErrorCode::Busy, ErrorCode::Io }) {
        const auto claim = claimed(worker);
        QVERIFY(claim.has_value());
        good(worker.fail(*claim, Error { code, "the cache is away" }));
        QCOMPARE(field.counts()[Pending], 1);
        field.prepareAgain(0, 1);
    }
    trainOne(worker, 0, "c1");
    QCOMPARE(field.counts()[Committed], 1);
}

void TestClaims::theAuditNamesWhatIsNotTrained()
{
    Field field;
    field.fill(1, 1, false);
    good(field.feeder().setFailed(0, "the page is damaged"));
    auto text = auditText(good(audit(field.tracker)));
    QVERIFY2(text.find("every chunk is where it should be") == std::string::npos, text.c_str());
    QVERIFY2(text.find("1 that could not be read (poisoned)") != std::string::npos, text.c_str());
    QVERIFY2(text.find("is poisoned: the page is damaged") != std::string::npos, text.c_str());
    const auto poisoned = good(poisonedChunks(field.tracker));
    QCOMPARE(poisoned.size(), std::size_t(1));
    QCOMPARE(poisoned.front().cause, std::string("the page is damaged"));
    good(field.supervisor().acceptPoisoned({ &poisoned.front().chunk, 1 }));
    text = auditText(good(audit(field.tracker)));
    QVERIFY2(text.find("1 accepted as not trained") != std::string::npos, text.c_str());
    QVERIFY(good(poisonedChunks(field.tracker)).empty());
}

/// The rest of the data could not be planned, and the run waited for it for ever.
void TestClaims::anEpochThatCannotBePlannedToItsEndIsToldToBeIncomplete()
{
    Field field;
    field.fill(1, 1, false);
    good(field.feeder().endPlanning("data.gz ends in the middle"));
    auto supervisor = field.supervisor();
    QVERIFY(!good(supervisor.advance()).onlyUnreadableLeft); // its known block is to be trained first
    auto worker = field.worker(0);
    trainOne(worker, 0, "c1");
    const auto advance = good(supervisor.advance());
    QVERIFY(advance.onlyUnreadableLeft);
    QVERIFY(!advance.epochClosed);
    QCOMPARE(advance.planningEnded, std::string("data.gz ends in the middle"));
    good(supervisor.beginAttempt(thisProcess(), "{}"));
    QVERIFY(!good(supervisor.advance()).onlyUnreadableLeft); // another attempt looks again
}

void TestClaims::poisonedKeepsTheEpochOpenUntilAccepted()
{
    Field field;
    field.fill(1, 2);
    auto worker = field.worker(0);
    trainOne(worker, 0, "c1");
    ChunkId poisoned;
    for (int attempt = 0; attempt < 3; ++attempt) {
        const auto claim = claimed(worker);
        poisoned = claim->chunk;
        good(worker.fail(*claim, Error { ErrorCode::Corrupt, "unreadable" }));
        field.prepareAgain(0, 2);
    }
    auto supervisor = field.supervisor();
    auto advance = good(supervisor.advance());
    QVERIFY(!advance.epochClosed);
    QVERIFY(advance.onlyUnreadableLeft);
    SAME(advance.stop, StopReason::None);
    good(supervisor.acceptPoisoned({ &poisoned, 1 }));
    advance = good(supervisor.advance());
    QVERIFY(advance.epochClosed);
    SAME(advance.stop, StopReason::EpochEnd);
    QCOMPARE(field.counts()[Accepted], 1);
    QVERIFY(!supervisor.acceptPoisoned({ &poisoned, 1 }).ok());
}

void TestClaims::poisonedCanBeTriedAgain()
{
    Field field;
    field.fill(1, 1, false);
    good(field.feeder().setFailed(0, "checksum differs"));
    QCOMPARE(field.counts()[Poisoned], 1);
    const ChunkId chunk = chunkIdOf({ 0, 0, 0 });
    good(field.supervisor().retryPoisoned({ &chunk, 1 }));
    QCOMPARE(field.counts()[Free], 1);
    auto worker = field.worker(0);
    trainOne(worker, 0, "c1");
    QCOMPARE(field.counts()[Committed], 1);
}

void TestClaims::excludedChunkIsNamedAndStaysOutInTheNextEpoch()
{
    StoppingRules rules;
    rules.epochs = 2;
    Field field(rules);
    field.fill(1, 2);
    auto supervisor = field.supervisor();
    const ChunkId out = chunkIdOf({ 0, 0, 1 });
    good(supervisor.exclude({ &out, 1 }, "bad text"));
    auto worker = field.worker(0);
    trainOne(worker, 0, "c1");
    const auto advance = good(supervisor.advance());
    QVERIFY(advance.epochClosed && advance.epochOpened);
    QCOMPARE(field.counts(1)[Excluded], 1);
    QCOMPARE(field.counts(1)[Free], 1);
}

void TestClaims::chunkInTrainingCannotBeExcluded()
{
    Field field;
    field.fill(1, 1);
    auto worker = field.worker(0);
    const auto claim = claimed(worker);
    const auto refused = field.supervisor().exclude({ &claim->chunk, 1 }, "");
    QVERIFY(!refused.ok());
    QCOMPARE(refused.error().code, ErrorCode::Busy);
    QCOMPARE(field.counts()[Leased], 1);
}

void TestClaims::completionRepeatedAddsNothing() // trap 8
{
    Field field;
    field.fill(1, 2);
    auto worker = field.worker(0);
    const auto claim = claimed(worker);
    good(worker.finish(*claim, trainedAll(*claim)));
    QVERIFY(!worker.finish(*claim, trainedAll(*claim)).ok());
    const auto totals = good(field.reader().totals());
    QCOMPARE(totals.steps, 5);
    QCOMPARE(totals.tokens, Field::kTokens);
    const auto parts = partsOf(*claim);
    good(worker.commit(record(0, "c1"), parts));
    QVERIFY(!worker.commit(record(0, "c2"), parts).ok()); // nor can it be committed twice
    QCOMPARE(good(field.reader().totals()).steps, 5);
    QCOMPARE(good(field.reader().checkpoints()).size(), std::size_t(1));
}

void TestClaims::positionCountsTokensClaimedBefore() // trap 15: the place in the schedule
{
    Field field;
    field.fill(1, 4);
    auto a = field.worker(0);
    auto b = field.worker(1);
    QCOMPARE(claimed(a)->positionTokens, 0);
    QCOMPARE(claimed(b)->positionTokens, Field::kTokens);
    QCOMPARE(claimed(a)->positionTokens, 2 * Field::kTokens);
    good(field.supervisor().revoke(field.ids[0], "died")); // work that is lost does not use up the schedule
    QCOMPARE(claimed(b)->positionTokens, Field::kTokens);
}

void TestClaims::completionAndNextClaimAreOneTransaction()
{
    Field field;
    field.fill(1, 3);
    auto worker = field.worker(0);
    const auto first = claimed(worker);
    std::optional<Claim> second;
    good(worker.together([&] {
        good(worker.finish(*first, trainedAll(*first)));
        second = claimed(worker);
        QCOMPARE(field.counts()[Trained], 0); // nobody else sees half of it
    }));
    QVERIFY(second.has_value());
    QCOMPARE(field.counts()[Trained], 1);
    QCOMPARE(field.counts()[Leased], 1);
    good(worker.finish(*second, trainedAll(*second))); // the ledger is as after single calls
    good(worker.commit(record(0, "c1"), partsOf(*first)));
    QCOMPARE(field.counts()[Committed], 1);
}

void TestClaims::lossesOfSamplesAreThoseOfTheTrainingsInTheWeights()
{
    Field field;
    field.fill(1, 3);
    auto first = field.worker(0);
    const auto lost = claimed(first);
    ChunkOutcome outcome = trainedAll(*lost);
    outcome.sampleLosses = { { 4, 9.5 }, { 1, 3.25 } };
    good(first.finish(*lost, outcome));
    QCOMPARE(good(field.reader().sampleLosses(lost->chunk)), outcome.sampleLosses); // of a chunk in no checkpoint yet
    good(field.supervisor().revoke(good(field.reader().incarnations()).front().id, "killed"));
    QVERIFY(good(field.reader().sampleLosses(lost->chunk)).empty());

    auto second = field.worker(1);
    const auto again = claimed(second);
    QVERIFY(again->chunk == lost->chunk);
    outcome.sampleLosses = { { 7, 5.125 }, { 4, 4.0 }, { 2, 0.001 } };
    good(second.finish(*again, outcome));
    good(second.commit(record(1, "c1"), partsOf(*again)));
    QCOMPARE(good(field.reader().sampleLosses(again->chunk)), outcome.sampleLosses);
}

void TestClaims::aRefusedCompletionTakesTheClaimBesideItBack()
{
    Field field;
    field.fill(1, 3);
    auto worker = field.worker(0);
    const auto first = claimed(worker);
    good(worker.finish(*first, trainedAll(*first)));
    const auto before = field.counts();
    Status again;
    const auto both = worker.together([&] {
        again = worker.finish(*first, trainedAll(*first));
        QVERIFY(!worker.claim().ok()); // the transaction is lost already
    });
    QVERIFY(!both.ok() && !again.ok());
    QVERIFY(both.error().message.find("finished already") != std::string::npos);
    const auto after = field.counts();
    QVERIFY(std::equal(std::begin(after.byState), std::end(after.byState), std::begin(before.byState)));
    QVERIFY(claimed(worker).has_value()); // and the next one begins afresh
}

QTEST_GUILESS_MAIN(TestClaims)
#include "tst_claims.moc"
