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
    void theFirstEpochBeginsWhereAPersonSays_data();
    void theFirstEpochBeginsWhereAPersonSays();
    void whatLiesBeforeTheStartWaitsUntilAllBlocksAreKnown();
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
    QVERIFY2(sum / 20 > 0.95, std::to_string(sum / 20).c_str());
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

void TestClaimOrder::theFirstEpochBeginsWhereAPersonSays_data()
{
    QTest::addColumn<bool>("linear");
    QTest::addColumn<QString>("start");
    for (const bool linear : { true, false })
        for (const char* start : { "0:0", "2:3", "5:0", "9:4" })
            QTest::addRow("%s from %s", linear ? "in source order" : "shuffled", start) << linear << start;
}

void TestClaimOrder::theFirstEpochBeginsWhereAPersonSays()
{
    QFETCH(bool, linear);
    QFETCH(QString, start);
    const ChunkName from = parseChunkName(start.toStdString()).value();
    constexpr int kBlocks = 10;
    constexpr int kColumns = 5;
    const OrderRule usual { 7, 4, linear };
    const OrderRule chosen { 7, 4, linear, from };
    const auto orderOf = [&](const OrderRule& rule, std::int64_t epoch) {
        std::vector<std::pair<std::int64_t, ChunkId>> order;
        for (std::int64_t block = 0; block < kBlocks; ++block)
            for (std::int32_t column = 0; column < kColumns; ++column)
                order.emplace_back(
                    claimOrder(rule, { epoch, block, column }, kBlocks), chunkIdOf({ epoch, block, column }));
        std::sort(order.begin(), order.end());
        return order;
    };
    const auto isBefore = [&](ChunkId chunk) { return chunk < chunkIdOf({ 0, from.block, from.column }); };
    const auto order = orderOf(chosen, 0);
    SAME(order.front().second, chunkIdOf({ 0, from.block, from.column }));
    const auto tail = std::find_if(order.begin(), order.end(), [&](const auto& one) { return isBefore(one.second); });
    QCOMPARE(order.end() - tail, from.block * kColumns + from.column); // all that lies before it, at the end
    QVERIFY(std::all_of(tail, order.end(), [&](const auto& one) { return isBefore(one.second); }));
    std::vector<ChunkId> before;
    for (const auto& [ord, chunk] : orderOf(usual, 0))
        if (isBefore(chunk))
            before.push_back(chunk);
    QVERIFY(std::equal(before.begin(), before.end(), tail, order.end(),
        [](ChunkId a, const auto& b) { return a == b.second; })); // in the order that it had
    QVERIFY(orderOf(chosen, 1) == orderOf(usual, 1));

    Field field({}, linear, 7, start.toStdString()); // as the ledger does it
    field.fill(kBlocks, kColumns);
    auto worker = field.worker(0);
    for (const auto& [ord, chunk] : order)
        SAME(claimed(worker)->chunk, chunk);
}

void TestClaimOrder::whatLiesBeforeTheStartWaitsUntilAllBlocksAreKnown()
{
    Field field({}, true, 7, "3:1");
    auto feeder = field.feeder();
    const auto wanted = [&](FeederLedger::Reach reach) {
        std::vector<std::int64_t> blocks;
        for (const auto& one : good(feeder.wanted(10, reach)))
            blocks.push_back(one.block);
        return blocks;
    };
    const auto know = [&](std::int64_t block) {
        const NewBlock known = Field::newBlock(block, 2);
        good(feeder.addBlocks({ &known, 1 }));
    };
    for (std::int64_t block = 0; block < 3; ++block)
        know(block);
    QVERIFY(wanted(FeederLedger::Reach::BehindStart).empty());
    know(3);
    know(4);
    QCOMPARE(wanted(FeederLedger::Reach::BehindStart), (std::vector<std::int64_t> { 3, 4 }));
    QCOMPARE(wanted(FeederLedger::Reach::All), (std::vector<std::int64_t> { 3, 4, 0, 1, 2 }));
}

QTEST_GUILESS_MAIN(TestClaimOrder)
#include "tst_claim_order.moc"
