#include "ledger_fixture.h"

#include "core/tracker/audit.h"
#include "core/tracker/order.h"

#include <set>

using namespace furrow;
using enum ChunkState;

/// The claim order, blocks becoming known and prepared, epochs and stopping rules.
class TestEpochs : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void orderIsAPureFunctionOfPlaceAndSeed();
    void firstEpochStaysInsideGroupsOfBlocks();
    void laterEpochsMixGroupsOfBlocksFromAnywhere();
    void orderMixesNearlyAsWellAsAFullPermutation_data();
    void orderMixesNearlyAsWellAsAFullPermutation();
    void linearOrderFollowsTheSource();
    void addingBlocksAgainIsHarmless();
    void blocksBehindTheProvenEndAreRefused();
    void unpreparedChunksCannotBeClaimed();
    void wantedBlocksComeInClaimOrder();
    void evictedBlockIsWantedAgain();
    void askingForTheDemandDoesNotLookAtEveryBlock();
    void otherContentIsCorruptAndStopsClaims();
    void chunkWithNothingToTrainIsCommittedAtOnce();
    void rowsThatDoNotAddUpAreRefused();
    void claimsWaitForDataUntilTheEndIsProven();
    void nothingFreeIsNotTheEndOfTheEpoch();
    void epochClosesOnceHoweverOftenItIsAdvanced();
    void nextEpochOpensBeforeTheLastChunksAreDone();
    void everyEpochOfThreeRunsWhole();
    void largeEpochOpensWhileOthersClaim();
    void evictedBlockWaitsInTheNextEpoch();
    void firstReachedRuleIsStored();
    void finishedRunGoesOnWhenTheRuleIsRaised();
    void blocksRuleCountsCompletedBlocks();
    void hoursRuleCountsActiveTime();
    void dataWithNothingToTrainEndsTheRun();
    void resumesAtEveryEdge();
    void digestIsTheSameForAnyNumberOfWorkers();
};

namespace {

    // Trains everything that can be claimed now, one checkpoint at the end.
    int trainAll(WorkerLedger& worker, int replica, const std::string& folder)
    {
        std::vector<Part> parts;
        while (const auto claim = claimed(worker)) {
            good(worker.begin(*claim));
            good(worker.finish(*claim, trainedAll(*claim)));
            for (const Part& part : partsOf(*claim))
                parts.push_back(part);
        }
        good(worker.commit(record(replica, folder), parts));
        return static_cast<int>(parts.size());
    }

} // namespace

void TestEpochs::orderIsAPureFunctionOfPlaceAndSeed()
{
    const OrderRule rule { 42, 4, false };
    QCOMPARE(claimOrder(rule, { 0, 9, 3 }, 0), claimOrder(rule, { 0, 9, 3 }, 40)); // known to be the last or not
    QVERIFY(claimOrder(rule, { 0, 9, 3 }, 0) != claimOrder({ 43, 4, false }, { 0, 9, 3 }, 0));
    QVERIFY(claimOrder(rule, { 1, 9, 3 }, 40) != claimOrder(rule, { 2, 9, 3 }, 40));
    // What is stored does not depend on the order in which blocks became known.
    Field forwards({}, false, 42);
    Field backwards({}, false, 42);
    forwards.fill(6, 3);
    auto feeder = backwards.feeder();
    for (std::int64_t block = 5; block >= 0; --block) {
        const NewBlock known = Field::newBlock(block, 3);
        good(feeder.addBlocks({ &known, 1 }));
    }
    for (std::int64_t block = 0; block < 6; ++block)
        good(feeder.setPrepared(block, "file", "digest" + std::to_string(block), Field::prepared(block, 3)));
    good(feeder.setLastBlockProven(6));
    auto a = forwards.worker(0);
    auto b = backwards.worker(0);
    for (int i = 0; i < 18; ++i)
        SAME(claimed(a)->chunk, claimed(b)->chunk);
}

void TestEpochs::firstEpochStaysInsideGroupsOfBlocks()
{
    const OrderRule rule { 1, 4, false };
    std::int64_t highestOfFirst = 0;
    std::int64_t lowestOfSecond = INT64_MAX;
    bool shuffled = false;
    std::int64_t before = -1;
    for (std::int64_t block = 0; block < 8; ++block) {
        for (std::int32_t column = 0; column < 25; ++column) {
            const std::int64_t ord = claimOrder(rule, { 0, block, column }, 0);
            QVERIFY(ord >= 0);
            if (block < 4)
                highestOfFirst = std::max(highestOfFirst, ord);
            else
                lowestOfSecond = std::min(lowestOfSecond, ord);
            shuffled = shuffled || ord < before;
            before = ord;
        }
    }
    QVERIFY(highestOfFirst < lowestOfSecond);
    QVERIFY(shuffled);
}

void TestEpochs::laterEpochsMixGroupsOfBlocksFromAnywhere()
{
    const OrderRule rule { 1, 4, false };
    std::vector<std::set<std::int64_t>> before;
    for (std::int64_t epoch = 1; epoch <= 2; ++epoch) {
        std::vector<std::pair<std::int64_t, std::int64_t>> order;
        for (std::int64_t block = 0; block < 40; ++block) {
            for (std::int32_t column = 0; column < 10; ++column)
                order.emplace_back(claimOrder(rule, { epoch, block, column }, 40), block);
        }
        std::sort(order.begin(), order.end());
        std::vector<std::set<std::int64_t>> groups(10);
        std::set<std::int64_t> all;
        std::int64_t reach = 0;
        for (std::size_t i = 0; i < order.size(); ++i)
            groups[i / 40].insert(order[i].second);
        for (const auto& group : groups) {
            QCOMPARE(group.size(), std::size_t(4)); // so much and no more must be prepared at a time
            all.insert(group.begin(), group.end());
            reach += *group.rbegin() - *group.begin();
        }
        QCOMPARE(all.size(), std::size_t(40));
        QVERIFY2(reach > 10 * 15, "blocks of a group come from all over the source");
        QVERIFY(groups != before);
        before = groups;
    }
}

void TestEpochs::orderMixesNearlyAsWellAsAFullPermutation_data()
{
    QTest::addColumn<int>("blocks");
    for (const int blocks : { 10, 11, 24, 25, 37, 49, 100, 1000 })
        QTest::addRow("%d blocks", blocks) << blocks;
}

void TestEpochs::orderMixesNearlyAsWellAsAFullPermutation()
{
    QFETCH(int, blocks);
    const std::int64_t window = 24; // the default of shuffle_window_blocks
    double sum = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed)
        sum += mixingScore({ seed, window, false }, 1, blocks, 25);
    QVERIFY2(sum / 20 > 0.95 && sum / 20 < 1.05, std::to_string(sum / 20).c_str());
    QVERIFY(mixingScore({ 1, window, true }, 1, blocks, 25) < 0.02); // source order
    QVERIFY(mixingScore({ 1, 1, false }, 1, blocks, 25) < 1.2 / blocks + 0.15); // one block after the other
}

void TestEpochs::linearOrderFollowsTheSource()
{
    Field field;
    field.fill(3, 4);
    auto worker = field.worker(0);
    for (std::int64_t block = 0; block < 3; ++block) {
        for (std::int32_t column = 0; column < 4; ++column)
            SAME(claimed(worker)->chunk, chunkIdOf({ 0, block, column }));
    }
}

void TestEpochs::addingBlocksAgainIsHarmless()
{
    Field field;
    field.fill(3, 4, false);
    field.fill(4, 4, true); // a feeder that crashed begins again
    QCOMPARE(field.counts().sum(), 16);
    QCOMPARE(good(field.feeder().demand()).knownBlocks, 4);
    QVERIFY(good(audit(field.tracker)).isClean());
}

void TestEpochs::blocksBehindTheProvenEndAreRefused()
{
    Field field;
    field.fill(2, 2);
    auto feeder = field.feeder();
    const NewBlock late = Field::newBlock(2, 2);
    QVERIFY(!feeder.addBlocks({ &late, 1 }).ok());
    QVERIFY(!feeder.setLastBlockProven(1).ok());
    QCOMPARE(feeder.setLastBlockProven(3).error().code, ErrorCode::Corrupt); // the source has grown
}

void TestEpochs::unpreparedChunksCannotBeClaimed()
{
    Field field;
    auto feeder = field.feeder();
    const NewBlock known = Field::newBlock(0, 3);
    good(feeder.addBlocks({ &known, 1 }));
    good(feeder.setLastBlockProven(1));
    auto worker = field.worker(0);
    QCOMPARE(whyNot(worker), std::optional(NothingToClaim::WaitForData));
    good(feeder.setPrepared(0, "f", "d", Field::prepared(0, 3)));
    QVERIFY(claimed(worker).has_value());
}

void TestEpochs::wantedBlocksComeInClaimOrder()
{
    Field field({}, false);
    auto feeder = field.feeder();
    std::vector<NewBlock> known;
    for (std::int64_t block = 0; block < 9; ++block)
        known.push_back(Field::newBlock(block, 3));
    good(feeder.addBlocks(known));
    const auto wanted = good(feeder.wanted(100));
    QCOMPARE(wanted.size(), std::size_t(9));
    std::set<std::int64_t> firstGroup;
    for (std::size_t i = 0; i < 4; ++i)
        firstGroup.insert(wanted[i].block);
    QCOMPARE(firstGroup, (std::set<std::int64_t> { 0, 1, 2, 3 }));
    QCOMPARE(wanted[8].block, 8);
    QCOMPARE(wanted[8].plan, std::string("{\"block\":8}"));
    QCOMPARE(good(feeder.wanted(2)).size(), std::size_t(2));
}

void TestEpochs::askingForTheDemandDoesNotLookAtEveryBlock()
{
    Field field;
    field.fill(1000, 1);
    auto feeder = field.feeder();
    auto worker = field.worker(0);
    for (int i = 0; i < 990; ++i) {
        const auto claim = claimed(worker);
        good(worker.finish(*claim, trainedAll(*claim)));
    }
    QCOMPARE(good(feeder.demand()).neededBlocks.size(), std::size_t(10));
    QCOMPARE(good(feeder.demand(4)).neededBlocks.size(), std::size_t(4));
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 50; ++i)
        good(feeder.demand());
    const auto took = std::chrono::steady_clock::now() - begin;
    QVERIFY2(took < std::chrono::seconds(2), "a demand takes longer than 40 ms"); // it took 400 ms, now less than one
}

void TestEpochs::evictedBlockIsWantedAgain()
{
    Field field;
    field.fill(2, 2);
    auto feeder = field.feeder();
    QVERIFY(good(feeder.wanted(10)).empty());
    QCOMPARE(good(feeder.demand()).neededBlocks, (std::vector<std::int64_t> { 0, 1 }));
    auto worker = field.worker(0);
    trainOne(worker, 0, "c1");
    const auto held = claimed(worker); // of block 0, too
    good(feeder.setEvicted(1, "cache is full"));
    QCOMPARE(field.counts()[Pending], 2);
    QCOMPARE(good(feeder.wanted(10)).size(), std::size_t(1));
    good(feeder.setEvicted(0, "cache is full"));
    good(field.supervisor().revoke(field.ids[0], "died"));
    QCOMPARE(field.counts()[Pending], 3); // what the worker held cannot be read either
    good(feeder.setPrepared(0, "again", "digest0", Field::prepared(0, 2)));
    QCOMPARE(field.counts()[Free], 1);
    QVERIFY(good(audit(field.tracker)).isClean());
    Q_UNUSED(held)
}

void TestEpochs::otherContentIsCorruptAndStopsClaims()
{
    Field field;
    field.fill(1, 2);
    auto feeder = field.feeder();
    const Status other = feeder.setPrepared(0, "file2", "another digest", Field::prepared(0, 2));
    QCOMPARE(other.error().code, ErrorCode::Corrupt);
    QCOMPARE(field.counts()[Pending], 2);
    QVERIFY(good(feeder.wanted(10)).empty()); // not again and again
    auto worker = field.worker(0);
    QCOMPARE(whyNot(worker), std::optional(NothingToClaim::WaitForData));
    good(feeder.setPrepared(0, "file3", "digest0", Field::prepared(0, 2))); // the source was restored
    QCOMPARE(field.counts()[Free], 2);
}

void TestEpochs::chunkWithNothingToTrainIsCommittedAtOnce()
{
    Field field;
    auto feeder = field.feeder();
    const NewBlock known = Field::newBlock(0, 2);
    good(feeder.addBlocks({ &known, 1 }));
    auto chunks = Field::prepared(0, 2);
    chunks[1].rows = { Field::kRows, 0, 10, 10, 10, 10 };
    chunks[1].windows = 0;
    chunks[1].tokens = 0;
    good(feeder.setPrepared(0, "f", "d", chunks));
    good(feeder.setLastBlockProven(1));
    QCOMPARE(field.counts()[Committed], 1);
    auto worker = field.worker(0);
    trainOne(worker, 0, "c1");
    SAME(good(field.supervisor().advance()).stop, StopReason::EpochEnd);
    const AuditReport report = good(audit(field.tracker));
    QVERIFY2(report.isClean(), auditText(report).c_str());
    QVERIFY(report.epochs[0].complete);
    QCOMPARE(report.epochs[0].rows.filtered, 11);
}

void TestEpochs::rowsThatDoNotAddUpAreRefused() // I3
{
    Field field;
    auto feeder = field.feeder();
    const NewBlock known = Field::newBlock(0, 1);
    good(feeder.addBlocks({ &known, 1 }));
    auto chunks = Field::prepared(0, 1);
    chunks[0].rows.samples -= 1;
    QVERIFY(!feeder.setPrepared(0, "f", "d", chunks).ok());
    chunks[0].rows.rows -= 1; // adds up, but the block promised one row more
    QVERIFY(!feeder.setPrepared(0, "f", "d", chunks).ok());
    QCOMPARE(field.counts()[Pending], 1);
}

void TestEpochs::claimsWaitForDataUntilTheEndIsProven()
{
    Field field;
    field.fill(1, 1, false);
    auto feeder = field.feeder();
    good(feeder.setUnprovenReason("reading file 1 of 2"));
    auto worker = field.worker(0);
    trainOne(worker, 0, "c1");
    QCOMPARE(whyNot(worker), std::optional(NothingToClaim::WaitForData));
    QVERIFY(!good(field.supervisor().advance()).epochClosed); // all known chunks are done, and still
    QCOMPARE(good(field.reader().epochs())[0].unprovenReason, std::string("reading file 1 of 2"));
    QVERIFY(!good(audit(field.tracker)).epochs[0].expected.has_value());
    good(feeder.setLastBlockProven(1));
    QVERIFY(good(field.supervisor().advance()).epochClosed);
    QCOMPARE(whyNot(worker), std::optional(NothingToClaim::StopRuleReached));
}

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
    QCOMPARE(whyNot(b), std::optional(NothingToClaim::WaitForData));
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

void TestEpochs::everyEpochOfThreeRunsWhole()
{
    StoppingRules rules;
    rules.epochs = 3;
    Field field(rules, false);
    field.fill(3, 4);
    auto supervisor = field.supervisor();
    auto worker = field.worker(0);
    for (int epoch = 0; epoch < 3; ++epoch) {
        QCOMPARE(trainAll(worker, 0, "c" + std::to_string(epoch)), 12);
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
        QCOMPARE(trainAll(worker, 0, "c1"), 9000);
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
    trainAll(worker, 0, "c1");
    auto feeder = field.feeder();
    QVERIFY(good(feeder.demand()).neededBlocks.empty());
    good(feeder.setEvicted(0, "cache is full"));
    good(field.supervisor().advance());
    QCOMPARE(field.counts(1)[Pending], 2);
    QCOMPARE(field.counts(1)[Free], 2);
    good(feeder.setPrepared(0, "again", "digest0", Field::prepared(0, 2)));
    QCOMPARE(trainAll(worker, 0, "c2"), 4);
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
    SAME(good(field.reader().stepsOfAttempts()), (std::map<AttemptId, std::int64_t> { { { 1 }, 10 }, { { 2 }, 10 } }));
    SAME(good(field.reader().attempts())[0].reason, StopReason::Steps);
    // The end of the epoch is such a rule, too.
    rules = {};
    rules.epochs = 1;
    good(supervisor.setStoppingRules(rules));
    trainAll(again, 0, "c5");
    SAME(good(supervisor.advance()).stop, StopReason::EpochEnd);
    rules.epochs = 2;
    good(supervisor.setStoppingRules(rules));
    const auto advance = good(supervisor.advance());
    SAME(advance.stop, StopReason::None);
    QVERIFY(advance.epochOpened);
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
