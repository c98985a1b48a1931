#include "ledger_fixture.h"

#include "core/tracker/audit/audit.h"
#include "core/tracker/sqlite/database.h"

#include <atomic>
#include <set>
#include <thread>

using namespace furrow;
using enum ChunkState;

/// Epochs that open and close, and stopping rules.
class TestEpochs : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void nothingFreeIsNotTheEndOfTheEpoch();
    void epochClosesOnceHoweverOftenItIsAdvanced();
    void theEventOfACompleteEpochDidNotNameIt();
    void nextEpochOpensBeforeTheLastChunksAreDone();
    void aStoppedSupervisorLetWorkersWaitAtTheEndOfAnEpoch();
    void aWorkerOpensALargeEpochPieceByPiece();
    void everyEpochOfThreeRunsWhole();
    void largeEpochOpensWhileOthersClaim();
    void evictedBlockWaitsInTheNextEpoch();
    void firstReachedRuleIsStored();
    void finishedRunGoesOnWhenTheRuleIsRaised();
    void afterThisEpochMeansTheOneBeingTrainedNotTheFirst();
    void aRunThatTrainsEndsWithTheNextBlockOrThisEpoch();
    void theEndOfThisEpochWasThatOfTheNextOne();
    void blocksRuleCountsCompletedBlocks();
    void theBlocksRuleWaitedForACheckpointAndTheRunTrainedToItsEnd();
    void theBlocksRuleCountedBlocksThatNobodyTrained();
    void hoursRuleCountsActiveTime();
    void timeUnderAForeignLockWasActive();
    void timeWithoutAWorkerWasActive();
    void whatIsTrainedOfAChunkAfterAPauseTookNoTime();
    void aLookBackKnewAnotherActiveTimeThanTheLedgerHadThen();
    void theTimeOfADeathWasThatOfNoticing();
    void aPauseLeftNoTrace();
    void aStopLeftNoTrace();
    void aPauseTookBackAStop();
    void dataWithNothingToTrainEndsTheRun();
    void resumesAtEveryEdge();
    void digestIsTheSameForAnyNumberOfWorkers();
};

namespace {

// Trains everything that is free now, one checkpoint at the end.
int trainAll(Field& field, WorkerLedger& worker, int replica, const std::string& folder)
{
    std::vector<Part> parts;
    for (auto free = good(field.feeder().demand()).freeChunks; free > 0; --free) {
        const auto claim = claimed(worker);
        good(worker.begin(*claim));
        good(worker.finish(*claim, trainedAll(*claim)));
        for (const Part& part : partsOf(*claim))
            parts.push_back(part);
    }
    good(worker.commit(record(replica, folder), parts));
    return static_cast<int>(parts.size());
}

} // namespace

void TestEpochs::nothingFreeIsNotTheEndOfTheEpoch() // trap 5
{
    Field field;
    field.fill(1, 2);
    auto a = field.worker(0);
    auto b = field.worker(1);
    const auto held = claimed(a);
    trainOne(b, 1, "b1");
    QCOMPARE(whyNot(b), std::optional(NothingToClaim::WaitForOthers));
    QVERIFY(!good(field.supervisor().advance()).epochClosed);
    good(field.supervisor().revoke(field.ids[0], "died"));
    QCOMPARE(claimed(b)->chunk.value, held->chunk.value);
}

void TestEpochs::epochClosesOnceHoweverOftenItIsAdvanced() // trap 4: several workers each bump the epoch
{
    StoppingRules rules;
    rules.epochs = 0; // iterate
    Field field(rules);
    field.fill(1, 2);
    auto worker = field.worker(0);
    trainOne(worker, 0, "c1");
    trainOne(worker, 0, "c2");
    auto first = field.supervisor();
    auto second = field.supervisor();
    QVERIFY(good(first.advance()).epochOpened);
    QVERIFY(!good(second.advance()).epochOpened);
    QVERIFY(!good(first.advance()).epochOpened);
    QCOMPARE(good(field.reader().epochs()).size(), std::size_t(2));
    QCOMPARE(field.counts(1)[Free], 2); // and its chunks are all to be trained again
}

/// "an epoch is complete", and in which one was to be counted.
void TestEpochs::theEventOfACompleteEpochDidNotNameIt()
{
    StoppingRules rules;
    rules.epochs = 2;
    Field field(rules);
    field.fill(1, 2);
    auto worker = field.worker(0);
    for (const char* name : { "c1", "c2", "c3", "c4" }) {
        trainOne(worker, 0, name);
        (void)good(field.supervisor().advance());
    }
    std::vector<std::string> complete;
    for (const EventRow& event : good(field.reader().eventsSince(0, 1000)))
        if (event.chunk.value == 0 && event.cause.text().ends_with("is complete"))
            complete.push_back(event.cause);
    QCOMPARE(complete, (std::vector<std::string> { "epoch 1 is complete", "epoch 2 is complete" }));
    const AuditReport report = good(audit(field.tracker));
    QVERIFY2(report.isClean(), auditText(report).c_str()); // it counts by them
}

void TestEpochs::nextEpochOpensBeforeTheLastChunksAreDone()
{
    StoppingRules rules;
    rules.epochs = 2;
    Field field(rules);
    field.fill(1, 2);
    auto a = field.worker(0);
    auto b = field.worker(1);
    const auto last = claimed(a);
    trainOne(b, 1, "b1");
    const auto advance = good(field.supervisor().advance());
    QVERIFY(advance.epochOpened && !advance.epochClosed);
    const auto next = claimed(b);
    QCOMPARE(next->epoch, 1);
    good(a.finish(*last, trainedAll(*last)));
    const auto parts = partsOf(*last);
    good(a.commit(record(0, "a1"), parts));
    QVERIFY(good(field.supervisor().advance()).epochClosed);
    // A chunk that comes back in the first epoch is claimed before the second goes on.
    QVERIFY(good(audit(field.tracker)).isClean());
}

void TestEpochs::aStoppedSupervisorLetWorkersWaitAtTheEndOfAnEpoch() // nobody else opened the next one
{
    StoppingRules rules;
    rules.epochs = 2;
    Field field(rules);
    field.fill(1, 2);
    auto a = field.worker(0);
    auto b = field.worker(1);
    const auto last = claimed(a);
    trainOne(b, 1, "b1");
    auto next = claimed(b);
    QVERIFY(next);
    QCOMPARE(next->epoch, 1);
    good(a.finish(*last, trainedAll(*last)));
    good(a.commit(record(0, "a1"), partsOf(*last)));
    std::vector<Part> parts;
    for (; next; next = claimed(b)) {
        good(b.finish(*next, trainedAll(*next)));
        for (const Part& part : partsOf(*next))
            parts.push_back(part);
    }
    auto second = record(1, "b2");
    second.parents = { newestHead(field, 1) };
    good(b.commit(second, parts));
    QVERIFY(!claimed(b)); // closes the last epoch
    QCOMPARE(whyNot(b), std::optional(NothingToClaim::StopRuleReached));
    QCOMPARE(good(field.reader().epochs()).size(), std::size_t(2));
    const AuditReport report = good(audit(field.tracker));
    QVERIFY2(report.isClean(), auditText(report).c_str());
    QVERIFY(report.epochs[0].complete && report.epochs[1].complete);
    SAME(good(field.supervisor().advance()).stop, StopReason::Epochs); // finds all as it would have done it
}

void TestEpochs::aWorkerOpensALargeEpochPieceByPiece()
{
    StoppingRules rules;
    rules.epochs = 2;
    Field field(rules, false);
    field.fill(30, 300);
    auto worker = field.worker(0);
    QCOMPARE(trainAll(field, worker, 0, "c1"), 9000);
    const auto first = claimed(worker);
    QVERIFY(first);
    QCOMPARE(first->epoch, 1);
    const auto opened = field.counts(1).sum();
    QVERIFY(opened > 0 && opened < 9000); // a claim is short
    good(worker.release(*first));
    QVERIFY(!good(field.supervisor().advance()).epochOpened); // goes on where the worker left
    QCOMPARE(field.counts(1)[Free], 9000);
    QVERIFY(good(audit(field.tracker)).isClean());
}

void TestEpochs::everyEpochOfThreeRunsWhole()
{
    StoppingRules rules;
    rules.epochs = 3;
    Field field(rules, false);
    field.fill(3, 4);
    auto supervisor = field.supervisor();
    auto worker = field.worker(0);
    for (int epoch = 0; epoch < 3; ++epoch) {
        QCOMPARE(trainAll(field, worker, 0, "c" + std::to_string(epoch)), 12);
        const auto advance = good(supervisor.advance());
        QVERIFY(advance.epochClosed);
        QCOMPARE(advance.epochOpened, epoch < 2);
        SAME(advance.stop, epoch < 2 ? StopReason::None : StopReason::Epochs);
    }
    const AuditReport report = good(audit(field.tracker));
    QVERIFY2(report.isClean(), auditText(report).c_str());
    QCOMPARE(report.epochs.size(), std::size_t(3));
    for (const AuditEpoch& epoch : report.epochs) {
        QVERIFY(epoch.complete);
        QCOMPARE(epoch.committed, 12);
        QCOMPARE(epoch.digest, report.epochs[0].digest);
        QCOMPARE(epoch.rows.rows, 12 * Field::kRows);
    }
}

void TestEpochs::largeEpochOpensWhileOthersClaim()
{
    StoppingRules rules;
    rules.epochs = 2;
    Field field(rules, false);
    field.fill(30, 300); // more than one opening transaction
    {
        auto worker = field.worker(0);
        QCOMPARE(trainAll(field, worker, 0, "c1"), 9000);
    }
    const auto advance = good(field.supervisor().advance());
    QVERIFY(advance.epochClosed && advance.epochOpened);
    const auto epoch = good(field.reader().epochs()).at(1);
    QCOMPARE(epoch.chunks[Free], 9000);
    QCOMPARE(epoch.rowsKnown, good(field.reader().epochs()).at(0).rowsKnown);
    QVERIFY(good(audit(field.tracker)).isClean());
}

void TestEpochs::evictedBlockWaitsInTheNextEpoch()
{
    StoppingRules rules;
    rules.epochs = 2;
    Field field(rules);
    field.fill(2, 2);
    auto worker = field.worker(0);
    trainAll(field, worker, 0, "c1");
    auto feeder = field.feeder();
    QVERIFY(good(feeder.demand()).neededBlocks.empty());
    good(feeder.setEvicted(0, "cache is full"));
    good(field.supervisor().advance());
    QCOMPARE(field.counts(1)[Pending], 2);
    QCOMPARE(field.counts(1)[Free], 2);
    good(feeder.setPrepared(0, "again", "digest0", Field::prepared(0, 2)));
    QCOMPARE(trainAll(field, worker, 0, "c2"), 4);
    QVERIFY(good(field.supervisor().advance()).epochClosed);
    QVERIFY(good(audit(field.tracker)).isClean());
}

void TestEpochs::firstReachedRuleIsStored()
{
    StoppingRules rules;
    rules.steps = 10;
    rules.tokens = 2500;
    Field field(rules);
    field.fill(1, 10);
    auto worker = field.worker(0);
    trainOne(worker, 0, "c1");
    SAME(good(field.reader().totals()).stop, StopReason::None);
    trainOne(worker, 0, "c2");
    SAME(good(field.reader().totals()).stop, StopReason::Steps);
    QVERIFY(good(worker.signals()).stopRuleReached);
    QCOMPARE(whyNot(worker), std::optional(NothingToClaim::StopRuleReached));
    rules.tokens = 1000; // reached too, but later
    good(field.supervisor().setStoppingRules(rules));
    SAME(good(field.reader().totals()).stop, StopReason::Steps);
}

void TestEpochs::finishedRunGoesOnWhenTheRuleIsRaised()
{
    StoppingRules rules;
    rules.steps = 10;
    Field field(rules);
    field.fill(1, 10);
    auto worker = field.worker(0);
    trainOne(worker, 0, "c1");
    trainOne(worker, 0, "c2");
    good(worker.end("stop"));
    auto supervisor = field.supervisor();
    good(supervisor.endAttempt(field.attempt, StopReason::Steps, ""));
    rules.steps = 20;
    good(supervisor.setStoppingRules(rules));
    SAME(good(field.reader().totals()).stop, StopReason::None);
    field.attempt = good(supervisor.beginAttempt(thisProcess(), ""));
    auto again = field.worker(0);
    trainOne(again, 0, "c3");
    trainOne(again, 0, "c4");
    SAME(good(supervisor.advance()).stop, StopReason::Steps);
    QCOMPARE(good(field.reader().totals()).steps, 20);
    const auto work = good(field.reader().workOfAttempts());
    QCOMPARE(work.size(), std::size_t(2));
    QCOMPARE(work.at({ 1 }).steps, 10);
    QCOMPARE(work.at({ 2 }).steps, 10);
    SAME(good(field.reader().attempts())[0].reason, StopReason::Steps);
    // The end of the epoch is such a rule, too.
    rules = {};
    rules.epochs = 1;
    good(supervisor.setStoppingRules(rules));
    trainAll(field, again, 0, "c5");
    SAME(good(supervisor.advance()).stop, StopReason::EpochEnd);
    rules.epochs = 2;
    good(supervisor.setStoppingRules(rules));
    const auto advance = good(supervisor.advance());
    SAME(advance.stop, StopReason::None);
    QVERIFY(advance.epochOpened);
    QVERIFY(good(audit(field.tracker)).isClean());
}

void TestEpochs::afterThisEpochMeansTheOneBeingTrainedNotTheFirst() // a resume in epoch 3 with the rule ended at once,
                                                                    // 19 chunks free
{
    StoppingRules rules;
    rules.epochs = 5;
    Field field(rules);
    field.fill(1, 4);
    auto worker = field.worker(0);
    auto supervisor = field.supervisor();
    for (const char* folder : { "c1", "c2" }) {
        trainAll(field, worker, 0, folder);
        good(supervisor.advance());
    }
    trainOne(worker, 0, "c3"); // in epoch 3
    rules.afterThisEpoch = true;
    good(supervisor.setStoppingRules(rules));
    SAME(good(supervisor.advance()).stop, StopReason::None);
    QCOMPARE(trainAll(field, worker, 0, "c4"), 3);
    const auto over = good(supervisor.advance());
    SAME(over.stop, StopReason::Epochs);
    QVERIFY(!over.epochOpened);
    QCOMPARE(good(field.reader().epochs()).size(), std::size_t(3));
    // The next attempt with the rule is the next epoch; never more than there are to be.
    good(supervisor.setStoppingRules(rules));
    QVERIFY(good(supervisor.advance()).epochOpened);
    QCOMPARE(trainAll(field, worker, 0, "c5"), 4);
    SAME(good(supervisor.advance()).stop, StopReason::Epochs);
    rules.epochs = 4;
    good(supervisor.setStoppingRules(rules));
    SAME(good(supervisor.advance()).stop, StopReason::Epochs);
    QVERIFY(good(audit(field.tracker)).isClean());
}

void TestEpochs::aRunThatTrainsEndsWithTheNextBlockOrThisEpoch()
{
    StoppingRules rules;
    rules.epochs = 0;
    Field field(rules);
    field.fill(3, 2);
    auto worker = field.worker(0);
    auto supervisor = field.supervisor();
    for (const char* folder : { "c1", "c2", "c3" })
        trainOne(worker, 0, folder);
    good(supervisor.stopAfterThis(EndOf::Block)); // in the middle of the second one
    SAME(good(supervisor.advance()).stop, StopReason::None);
    trainOne(worker, 0, "c4");
    SAME(good(supervisor.advance()).stop, StopReason::BlockEnd);
    good(supervisor.setStoppingRules(rules)); // as the next attempt does
    SAME(good(supervisor.advance()).stop, StopReason::None);
    good(supervisor.stopAfterThis(EndOf::Epoch));
    QCOMPARE(trainAll(field, worker, 0, "c5"), 2);
    SAME(good(supervisor.advance()).stop, StopReason::EpochEnd);
}

/// Near the end of an epoch the next one is open already: a person who asked for the end of what the screen called the
/// current epoch got another whole one.
void TestEpochs::theEndOfThisEpochWasThatOfTheNextOne()
{
    StoppingRules rules;
    rules.epochs = 3;
    Field field(rules);
    field.fill(1, 2);
    auto a = field.worker(0);
    auto b = field.worker(1);
    auto supervisor = field.supervisor();
    const auto last = claimed(a);
    trainOne(b, 1, "b1");
    const auto next = claimed(b);
    QCOMPARE(next->epoch, 1);
    good(supervisor.stopAfterThis(EndOf::Epoch));
    good(b.finish(*next, trainedAll(*next, 6)));
    QCOMPARE(whyNot(b), std::optional(NothingToClaim::WaitForOthers)); // nothing more of the next epoch is begun
    good(a.finish(*last, trainedAll(*last)));
    QCOMPARE(whyNot(a), std::optional(NothingToClaim::EpochComplete)); // a checkpoint is all that it lacks
    const auto ended = partsOf(*last);
    good(a.commit(record(0, "a1"), ended));
    SAME(good(supervisor.advance()).stop, StopReason::EpochEnd);
    const auto ahead = partsOf(*next);
    good(b.commit(record(1, "b2"), ahead)); // what was trained of the next epoch is kept
    rules.epochs = 2;
    good(supervisor.setStoppingRules(rules));
    SAME(good(supervisor.advance()).stop, StopReason::None);
    QCOMPARE(trainAll(field, a, 0, "a2"), 1);
    SAME(good(supervisor.advance()).stop, StopReason::Epochs);
    QVERIFY(good(audit(field.tracker)).isClean());
}

void TestEpochs::blocksRuleCountsCompletedBlocks()
{
    StoppingRules rules;
    rules.blocks = 1;
    Field field(rules);
    field.fill(3, 2);
    auto worker = field.worker(0);
    trainOne(worker, 0, "c1"); // trap 3: visited is not completed
    SAME(good(field.reader().totals()).stop, StopReason::None);
    trainOne(worker, 0, "c2");
    SAME(good(field.reader().totals()).stop, StopReason::BlockEnd);
}

void TestEpochs::theBlocksRuleWaitedForACheckpointAndTheRunTrainedToItsEnd()
{
    StoppingRules rules;
    rules.blocks = 2;
    Field field(rules);
    field.fill(5, 2);
    auto worker = field.worker(0);
    auto other = field.worker(1);
    const auto train = [](WorkerLedger& by) {
        const auto claim = claimed(by);
        if (claim)
            good(by.finish(*claim, trainedAll(*claim)));
        return claim.has_value();
    };
    QVERIFY(train(worker) && train(worker) && train(worker));
    const auto last = claimed(worker); // with it two blocks are claimed: nobody needs another chunk
    QVERIFY(last.has_value());
    QCOMPARE(whyNot(other), std::optional(NothingToClaim::WaitForOthers));
    SAME(good(field.reader().totals()).stop, StopReason::None);
    good(worker.finish(*last, trainedAll(*last)));
    SAME(good(field.reader().totals()).stop, StopReason::BlockEnd); // no checkpoint has any of it
    QVERIFY(good(other.signals()).stopRuleReached);
    good(field.supervisor().revoke(field.ids[0], "SIGKILL"));
    SAME(good(field.supervisor().advance()).stop, StopReason::None); // the blocks died with the weights
    QVERIFY(train(other));
}

/// A run with `stop_after_blocks` ended without a step where a whole block was left out, as if it were trained.
void TestEpochs::theBlocksRuleCountedBlocksThatNobodyTrained()
{
    Field field;
    field.removeTracker();
    TrackerConfig config;
    config.runId = "run-1";
    config.linearOrder = true;
    config.inheritedColumns = { { 1, "0-2" } };
    config.inherited = Inherited::Skipped;
    StoppingRules rules;
    rules.blocks = 1;
    good(SupervisorLedger::create(field.tracker, config, rules));
    field.attempt = good(field.supervisor().beginAttempt(thisProcess(), "{}"));
    auto leftOut = Field::newBlock(0, 2);
    leftOut.excluded = { 0, 1 };
    const std::vector<NewBlock> known { leftOut, Field::newBlock(1, 2), Field::newBlock(2, 2) };
    good(field.feeder().addBlocks(known));
    good(field.feeder().setPrepared(2, "file", "empty", Field::prepared(2, 2, 0))); // nothing in it is to be trained
    QCOMPARE(good(field.reader().epochs()).at(0).completedBlocks, 3);
    QCOMPARE(good(field.reader().leftOutBlocks(0)), 2); // by name and by the parent run
    good(field.feeder().addBlocks(std::vector { Field::newBlock(3, 2), Field::newBlock(4, 2) }));
    for (const std::int64_t block : { 3, 4 })
        good(field.feeder().setPrepared(block, "file", "digest" + std::to_string(block), Field::prepared(block, 2)));
    good(field.feeder().setLastBlockProven(5));
    SAME(good(field.supervisor().advance()).stop, StopReason::None);
    auto worker = field.worker(0);
    trainOne(worker, 0, "c1");
    const auto half = good(field.reader().totals());
    SAME(half.stop, StopReason::None);
    QCOMPARE(half.trainedBlocks, 0);
    trainOne(worker, 0, "c2");
    const auto whole = good(field.reader().totals());
    SAME(whole.stop, StopReason::BlockEnd);
    QCOMPARE(whole.trainedBlocks, 1);
}

void TestEpochs::hoursRuleCountsActiveTime()
{
    StoppingRules rules;
    rules.hours = 1;
    Field field(rules);
    field.fill(1, 2);
    auto supervisor = field.supervisor();
    for (int minute = 0; minute < 59; ++minute) {
        field.clock.advance(60);
        good(supervisor.heartbeat(thisProcess()));
    }
    SAME(good(supervisor.advance()).stop, StopReason::None);
    good(supervisor.setDesired(DesiredState::Pause));
    field.clock.advance(7200);
    good(supervisor.heartbeat(thisProcess()));
    SAME(good(supervisor.advance()).stop, StopReason::None); // paused time is not active
    good(supervisor.setDesired(DesiredState::Run));
    field.clock.advance(61);
    good(supervisor.heartbeat(thisProcess()));
    SAME(good(supervisor.advance()).stop, StopReason::Hours);
}

/// A backup tool that locked the tracker for five minutes made five minutes of training.
void TestEpochs::timeUnderAForeignLockWasActive()
{
    Field field;
    auto supervisor = good(SupervisorLedger::open(field.tracker)); // by the real clock
    supervisor.setPatience([](std::chrono::milliseconds) { return true; });
    good(supervisor.heartbeat(thisProcess()));
    const double before = good(field.reader().totals()).activeSeconds;
    std::atomic<bool> isLocked { false };
    std::thread other([&] {
        auto db = good(Database::open(field.tracker, {}));
        auto lock = good(Transaction::begin(db));
        isLocked = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(2000));
    });
    while (!isLocked)
        std::this_thread::yield();
    good(supervisor.heartbeat(thisProcess()));
    other.join();
    const double active = good(field.reader().totals()).activeSeconds - before;
    QVERIFY2(active >= 0 && active < 1, qPrintable(QString::number(active)));
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    good(supervisor.heartbeat(thisProcess())); // what comes after the lock counts again
    QVERIFY(good(field.reader().totals()).activeSeconds - before - active >= 0.4);
}

void TestEpochs::timeWithoutAWorkerWasActive()
{
    Field field;
    auto supervisor = field.supervisor();
    field.clock.advance(10);
    good(supervisor.heartbeat(thisProcess()));
    QCOMPARE(good(field.reader().totals()).activeSeconds, 10.0);
    field.clock.advance(60);
    good(supervisor.heartbeat(thisProcess(), false));
    QCOMPARE(good(field.reader().totals()).activeSeconds, 10.0);
}

/// A worker ends its chunk before it pauses: a minute of training was not active, and the pace five times the real one.
void TestEpochs::whatIsTrainedOfAChunkAfterAPauseTookNoTime()
{
    Field field;
    auto supervisor = field.supervisor();
    auto worker = field.worker(0, 600);
    const auto active = [&] {
        field.clock.advance(10);
        good(supervisor.heartbeat(thisProcess()));
        return good(field.reader().totals()).activeSeconds;
    };
    good(worker.renew({ .phase = WorkerPhase::Train }, 600));
    QCOMPARE(active(), 10.0);
    good(supervisor.setDesired(DesiredState::Pause));
    QCOMPARE(active(), 20.0);
    good(worker.renew({ .phase = WorkerPhase::Wait }, 600));
    QCOMPARE(active(), 20.0);
}

/// A replay made active time up from begin and end of the attempts: 30 s where the page had said 13 s at that moment.
void TestEpochs::aLookBackKnewAnotherActiveTimeThanTheLedgerHadThen()
{
    Field field;
    auto supervisor = field.supervisor();
    std::vector<std::pair<std::int64_t, double>> told; // moments, and what the ledger had then
    const auto beat = [&](double seconds, bool trains) {
        field.clock.advance(seconds);
        good(supervisor.heartbeat(thisProcess(), trains));
        told.emplace_back(field.clock.wallNs(), good(field.reader().totals()).activeSeconds);
    };
    for (const bool trains : { true, true, false, false, true }) // it waits for its data
        beat(10, trains);
    good(supervisor.setDesired(DesiredState::Pause));
    beat(60, true);
    good(supervisor.setDesired(DesiredState::Run));
    beat(1, true);
    good(supervisor.endAttempt(field.attempt, StopReason::User, {}));
    field.clock.advance(3600);
    good(supervisor.beginAttempt(thisProcess(), "{}"));
    beat(5, true);

    const auto stretches = good(field.reader().activeStretches());
    QCOMPARE(stretches.size(), std::size_t(4));
    QCOMPARE(told.back().second, 36.0);
    for (const auto& [wallNs, seconds] : told)
        QCOMPARE(activeSecondsUntil(stretches, wallNs), seconds);
    QCOMPARE(activeSecondsUntil(stretches, told.front().first - 4'000'000'000), 6.0);
    QCOMPARE(activeSecondsUntil(stretches, stretches.front().beganWallNs - 1), 0.0);
    QCOMPARE(idleNs(stretches, told[0].first, told[4].first), std::int64_t(20'000'000'000));
    QCOMPARE(idleNs(stretches, told[4].first, told[6].first), std::int64_t(60'000'000'000));
}

/// Supervisor and worker were killed at 12:03, and the ledger said that they died at 14:20, when somebody resumed.
void TestEpochs::theTimeOfADeathWasThatOfNoticing()
{
    Field field;
    field.fill(1, 2);
    auto worker = field.worker(0);
    const auto claim = claimed(worker);
    good(worker.begin(*claim));
    auto supervisor = field.supervisor();
    field.clock.advance(30);
    good(supervisor.heartbeat(thisProcess()));
    const std::int64_t seen = field.clock.wallNs();
    QCOMPARE(good(field.reader().attempts()).at(0).lastSeenWallNs, seen); // before anybody resumes
    field.clock.advance(8000);
    (void)good(supervisor.beginAttempt(thisProcess(), "{}"));
    good(supervisor.heartbeat(thisProcess()));
    QCOMPARE(good(field.reader().attempts()).at(0).lastSeenWallNs, seen);
    const auto orphan = good(supervisor.live()).at(0);
    QCOMPARE(orphan.lastSeenWallNs, seen);
    QCOMPARE(good(supervisor.revoke(orphan.incarnation, "found dead", orphan.lastSeenWallNs)), 1);
    QCOMPARE(good(field.reader().incarnations()).at(0).endedWallNs, seen);
    const auto lost = good(field.reader().claimsOf(claim->chunk)).at(0);
    QVERIFY(lost.outcome == ClaimEnd::Lost);
    QCOMPARE(lost.endedWallNs, seen);
    QVERIFY(good(audit(field.tracker)).isClean());
}

/// A replay called the minutes of a pause "running": nothing told of them.
void TestEpochs::aPauseLeftNoTrace()
{
    Field field;
    auto supervisor = field.supervisor();
    const auto before = good(field.reader().newestEvent());
    for (const DesiredState wish : { DesiredState::Run, DesiredState::Pause, DesiredState::Pause, DesiredState::Run })
        good(supervisor.setDesired(wish));
    const auto events = good(field.reader().eventsSince(before, 10));
    QCOMPARE(events.size(), std::size_t(2));
    QVERIFY(events[0].chunk.value == 0 && events[0].to == static_cast<int>(DesiredState::Pause));
    QVERIFY(events[1].from == static_cast<int>(DesiredState::Pause) && events[1].to == 0);
    QVERIFY(good(audit(field.tracker)).isClean());
}

/// Among the events a pause stood and its end, and of the stop that ended the run there was nothing.
void TestEpochs::aStopLeftNoTrace()
{
    Field field;
    auto supervisor = field.supervisor();
    const auto before = good(field.reader().newestEvent());
    for (const DesiredState wish : { DesiredState::Stop, DesiredState::Stop })
        good(supervisor.setDesired(wish));
    good(supervisor.forgetDesired()); // a run that begins is no wish of a person
    for (const DesiredState wish : { DesiredState::Pause, DesiredState::Kill })
        good(supervisor.setDesired(wish));
    const auto events = good(field.reader().eventsSince(before, 10));
    QStringList said;
    for (const EventRow& event : events)
        said.append(QString::fromStdString(event.cause.text()));
    QCOMPARE(said,
        QStringList({ "a person asked for a stop", "a person asked for a pause", "a person asked to kill the run" }));
    QVERIFY(good(audit(field.tracker)).isClean());
}

/// `furrowctl pause` beside a stop that waited: the stop never returned, and the run stayed paused.
void TestEpochs::aPauseTookBackAStop()
{
    Field field;
    auto supervisor = field.supervisor();
    const auto refuses
        = [&](DesiredState wish) { return supervisor.setDesired(wish).error().code == ErrorCode::InvalidArgument; };
    good(supervisor.setDesired(DesiredState::Pause));
    good(supervisor.setDesired(DesiredState::Stop));
    QVERIFY(refuses(DesiredState::Pause) && refuses(DesiredState::Run));
    QVERIFY(!supervisor.stopAfterThis(EndOf::Epoch).ok()); // it said that the run would train on until then
    SAME(good(field.feeder().desired()), DesiredState::Stop);
    good(supervisor.setDesired(DesiredState::Kill));
    QVERIFY(refuses(DesiredState::Pause) && refuses(DesiredState::Run) && refuses(DesiredState::Stop));
    SAME(good(field.feeder().desired()), DesiredState::Kill);
    good(supervisor.forgetDesired()); // another attempt
    SAME(good(field.feeder().desired()), DesiredState::Run);
    good(supervisor.setDesired(DesiredState::Pause));
}

void TestEpochs::dataWithNothingToTrainEndsTheRun()
{
    StoppingRules rules;
    rules.epochs = 0;
    Field field(rules);
    auto feeder = field.feeder();
    const NewBlock known = Field::newBlock(0, 1);
    good(feeder.addBlocks({ &known, 1 }));
    auto chunks = Field::prepared(0, 1, 0);
    chunks[0].rows = { Field::kRows, 0, Field::kRows, 0, 0, 0 };
    good(feeder.setPrepared(0, "f", "d", chunks));
    good(feeder.setLastBlockProven(1));
    auto supervisor = field.supervisor();
    auto worker = field.worker(0);
    QVERIFY(!claimed(worker)); // nor does a worker go round and round
    QCOMPARE(good(field.reader().epochs()).size(), std::size_t(1));
    SAME(good(supervisor.advance()).stop, StopReason::Epochs);
    QVERIFY(!good(supervisor.advance()).epochOpened);
}

void TestEpochs::resumesAtEveryEdge() // trap 11: step 0, after each chunk, the last chunk, the epoch edge
{
    StoppingRules rules;
    rules.epochs = 2;
    Field field(rules, false);
    field.fill(2, 2);
    for (int resume = 0; resume < 9; ++resume) {
        auto supervisor = field.supervisor();
        for (const auto& left : good(supervisor.live()))
            good(supervisor.revoke(left.incarnation, "the attempt before was killed"));
        field.attempt = good(supervisor.beginAttempt(thisProcess(), ""));
        good(supervisor.advance());
        if (resume == 0)
            continue;
        auto worker = field.worker(0);
        trainOne(worker, 0, "c" + std::to_string(resume));
        if (const auto lost = claimed(worker))
            good(worker.finish(*lost, trainedAll(*lost))); // dies before its checkpoint
    }
    auto supervisor = field.supervisor();
    SAME(good(supervisor.advance()).stop, StopReason::Epochs);
    const AuditReport report = good(audit(field.tracker));
    QVERIFY2(report.isClean(), auditText(report).c_str());
    QVERIFY(report.epochs[0].complete && report.epochs[1].complete);
    QVERIFY(report.epochs[0].chunksLost + report.epochs[1].chunksLost > 0);
    QCOMPARE(good(field.reader().totals()).steps, 40);
}

void TestEpochs::digestIsTheSameForAnyNumberOfWorkers()
{
    std::set<std::uint64_t> digests;
    for (const int workers : { 1, 2, 5 }) {
        Field field({}, false);
        field.fill(5, 4);
        std::vector<WorkerLedger> all;
        for (int i = 0; i < workers; ++i)
            all.push_back(field.worker(i));
        for (int turn = 0; turn < 20; ++turn)
            trainOne(all[static_cast<std::size_t>(turn % workers)], turn % workers, "c" + std::to_string(turn));
        const AuditReport report = good(audit(field.tracker));
        QCOMPARE(report.epochs[0].committed, 20);
        digests.insert(report.epochs[0].digest);
    }
    QCOMPARE(digests.size(), std::size_t(1));
    QVERIFY(*digests.begin() != 0);
}

QTEST_GUILESS_MAIN(TestEpochs)
#include "tst_epochs.moc"
