#include "core/model/pace_estimate.h"

#include <QtTest>

using namespace furrow;

namespace {

PaceCase caseOf(std::int64_t width, int workers, int cores = 8)
{
    RunConfig config;
    config.width = width;
    config.layers = 4;
    config.heads = 4;
    return paceCaseOf(config, modelConfigOf(config, 256), 0, workers, 1, cores);
}

} // namespace

class TestPaceEstimate : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void theTimeIgnoredTheWidth()
    {
        const std::vector<MeasuredPace> history { { caseOf(128, 2), 10'000 } };
        const auto same = forecastPace(caseOf(128, 2), history);
        QVERIFY(same && same->isSame);
        QCOMPARE(same->tokensPerSecond, 10'000.0);
        const auto wide = forecastPace(caseOf(768, 2), history);
        QVERIFY(wide && !wide->isSame);
        QVERIFY2(wide->tokensPerSecond < 600,
            std::to_string(wide->tokensPerSecond).c_str()); // some thirty times the operations
    }
    void theTimeIgnoredTheWorkers()
    {
        const std::vector<MeasuredPace> history { { caseOf(128, 2), 10'000 } };
        QCOMPARE(forecastPace(caseOf(128, 4), history)->tokensPerSecond, 20'000.0);
        QCOMPARE(forecastPace(caseOf(128, 99), history)->tokensPerSecond, 40'000.0); // there are eight cores
    }
    void theNearestRunCountsAndOfTwoAlikeTheFaster()
    {
        const std::vector<MeasuredPace> history { { caseOf(768, 2), 50 }, { caseOf(128, 2), 4'000 },
            { caseOf(128, 2), 10'000 }, { caseOf(128, 2), 9'000 } };
        QCOMPARE(forecastPace(caseOf(128, 2), history)->from, std::size_t { 2 });
        QCOMPARE(forecastPace(caseOf(700, 2), history)->from, std::size_t { 0 });
    }
    void runsThatTrainInAnotherWayDoNotCount()
    {
        auto gpu = caseOf(128, 2);
        gpu.path = StepPath::Gpu;
        QVERIFY(!forecastPace(gpu, { { caseOf(128, 2), 10'000 } }));
        QVERIFY(!forecastPace(gpu, {}));
        QVERIFY(!forecastPace(caseOf(128, 2), { { caseOf(128, 2), 0 } }));
    }
};

QTEST_GUILESS_MAIN(TestPaceEstimate)
#include "tst_pace_estimate.moc"
