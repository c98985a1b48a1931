#include "core/base/random.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <set>

using namespace furrow;

class TestRandom : public QObject {
    Q_OBJECT
private Q_SLOTS:
    // These numbers are part of the format of a run: chunk orders are derived from them. Never change them.
    void numbersAreFixedForEver()
    {
        Random random(0);
        // xoshiro256** seeded by splitmix64 from 0, as the authors' reference code gives it
        QCOMPARE(random.next(), std::uint64_t(0x99EC5F36CB75F2B4));
        QCOMPARE(random.next(), std::uint64_t(0xBF6E1F784956452A));
        QCOMPARE(random.next(), std::uint64_t(0x1A5F849D4933E6E0));
    }

    void permutationIsFixedForEver()
    {
        QCOMPARE(permutation(8, 42), (std::vector<std::uint32_t> { 7, 2, 4, 0, 3, 5, 1, 6 }));
        QCOMPARE(mixSeed({ 1, 2, 3 }), std::uint64_t(0xC5FD61B7DF7AF1E5));
    }

    void mixDependsOnOrderCountAndValue()
    {
        std::set<std::uint64_t> seeds { mixSeed({}), mixSeed({ 0 }), mixSeed({ 0, 0 }), mixSeed({ 1 }),
            mixSeed({ 1, 2 }), mixSeed({ 2, 1 }), mixSeed({ 1, 2, 0 }), mixSeed({ UINT64_MAX }) };
        QCOMPARE(seeds.size(), std::size_t(8));
    }

    void mixHasNoCollisionsOnSmallInputs()
    {
        std::set<std::uint64_t> seeds;
        for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
            for (std::uint64_t chunk = 0; chunk < 2000; ++chunk)
                seeds.insert(mixSeed({ 1337, epoch, chunk }));
        }
        QCOMPARE(seeds.size(), std::size_t(40'000));
    }

    void permutedVisitsEveryIndexOnce_data()
    {
        QTest::addColumn<uint>("count");
        for (const uint count : { 1U, 2U, 3U, 5U, 16U, 17U, 1000U, 4097U })
            QTest::addRow("%u", count) << count;
    }
    void permutedVisitsEveryIndexOnce()
    {
        QFETCH(uint, count);
        std::set<std::uint64_t> places;
        for (uint i = 0; i < count; ++i)
            places.insert(permuted(i, count, 7));
        QCOMPARE(places.size(), std::size_t(count));
        QCOMPARE(*places.rbegin(), std::uint64_t(count - 1));
    }

    void permutedSendsEachIndexEverywhere()
    {
        // 4000 seeds, 10 places: each about 400 times (deviation of a fair draw: 19)
        int hits[10][10] = {};
        for (std::uint64_t seed = 0; seed < 4000; ++seed)
            for (std::uint64_t i = 0; i < 10; ++i)
                ++hits[i][permuted(i, 10, seed)];
        for (const auto& row : hits)
            for (const int n : row)
                QVERIFY2(n > 300 && n < 500, std::to_string(n).c_str());
    }

    void permutationHoldsEveryNumberOnce_data()
    {
        QTest::addColumn<uint>("count");
        for (const uint count : { 0U, 1U, 2U, 3U, 1000U })
            QTest::addRow("%u", count) << count;
    }
    void permutationHoldsEveryNumberOnce()
    {
        QFETCH(uint, count);
        auto order = permutation(count, 7);
        std::sort(order.begin(), order.end());
        QCOMPARE(order.size(), std::size_t(count));
        for (uint index = 0; index < count; ++index)
            QCOMPARE(order[index], index);
    }

    void belowIsEvenAndBounded()
    {
        Random random(5);
        std::array<int, 6> counts {};
        for (int round = 0; round < 60'000; ++round)
            ++counts.at(random.below(6));
        for (const int count : counts)
            QVERIFY(std::abs(count - 10'000) < 500); // five standard deviations
        for (int round = 0; round < 100; ++round) {
            QVERIFY(random.below(UINT64_MAX) < UINT64_MAX);
            QCOMPARE(random.below(1), std::uint64_t(0));
        }
    }

    void uniformStaysBelowOne()
    {
        Random random(9);
        double sum = 0;
        for (int round = 0; round < 10'000; ++round) {
            const double value = random.uniform();
            QVERIFY(value >= 0 && value < 1);
            sum += value;
        }
        QVERIFY(std::abs(sum / 10'000 - 0.5) < 0.02);
    }

    void hexIdsDiffer()
    {
        std::set<std::string> ids;
        for (int round = 0; round < 1000; ++round)
            ids.insert(randomHex(16));
        QCOMPARE(ids.size(), std::size_t(1000));
        QCOMPARE(randomHex(7).size(), std::size_t(7));
        QVERIFY(randomHex(64).find_first_not_of("0123456789abcdef") == std::string::npos);
    }
};

QTEST_GUILESS_MAIN(TestRandom)
#include "tst_random.moc"
