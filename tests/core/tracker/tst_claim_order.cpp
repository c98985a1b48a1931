#include "ledger_fixture.h"

#include "core/tracker/order.h"

#include <set>

using namespace furrow;

/// In which order chunks are claimed.
class TestClaimOrder : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void orderIsAPureFunctionOfPlaceAndSeed();
    void firstEpochStaysInsideGroupsOfBlocks();
    void laterEpochsMixGroupsOfBlocksFromAnywhere();
    void orderMixesNearlyAsWellAsAFullPermutation_data();
    void orderMixesNearlyAsWellAsAFullPermutation();
    void linearOrderFollowsTheSource();
};

void TestClaimOrder::orderIsAPureFunctionOfPlaceAndSeed()
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

void TestClaimOrder::firstEpochStaysInsideGroupsOfBlocks()
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

void TestClaimOrder::laterEpochsMixGroupsOfBlocksFromAnywhere()
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

void TestClaimOrder::orderMixesNearlyAsWellAsAFullPermutation_data()
{
    QTest::addColumn<int>("blocks");
    for (const int blocks : { 10, 11, 24, 25, 37, 49, 100, 1000 })
        QTest::addRow("%d blocks", blocks) << blocks;
}

void TestClaimOrder::orderMixesNearlyAsWellAsAFullPermutation()
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

void TestClaimOrder::linearOrderFollowsTheSource()
{
    Field field;
    field.fill(3, 4);
    auto worker = field.worker(0);
    for (std::int64_t block = 0; block < 3; ++block) {
        for (std::int32_t column = 0; column < 4; ++column)
            SAME(claimed(worker)->chunk, chunkIdOf({ 0, block, column }));
    }
}

QTEST_GUILESS_MAIN(TestClaimOrder)
#include "tst_claim_order.moc"
