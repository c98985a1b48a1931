#include "core/run/start/rate_outlook.h"
#include "core/run/start/rollback.h"

#include <nlohmann/json.hpp>

#include <QTest>

#include <cmath>

using namespace furrow;

namespace {

constexpr double kPeak = 1e-3;
constexpr double kFloor = 1e-4;

RunConfig config(std::int64_t decayTokens)
{
    RunConfig c;
    c.lr = kPeak;
    c.minLr = kFloor;
    c.decayTokens = decayTokens;
    return c;
}

RatePlan plan(std::int64_t decayTokens) { return planRate(config(decayTokens), 0); }

double rateAt(const RatePlan& plan, double position) { return scheduledRate(plan.inForce, position); }

bool near(double a, double b) { return std::abs(a - b) < 1e-12; }

/// The largest factor between the rates of two neighbours, a thousandth of the way apart.
double steepest(const RatePlan& plan, double from, double until)
{
    double most = 1;
    for (int i = 0; i < 1000; ++i)
        most = std::max(most,
            rateAt(plan, from + (until - from) * (i + 1) / 1000) / rateAt(plan, from + (until - from) * i / 1000));
    return most;
}

} // namespace

class TestRatePlan : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void
    moreStepsOnResumeDoNotRaiseTheRateAtOnce() // a finished cosine was stretched anew: 14 times the rate in one step
    {
        const auto before = plan(10'000);
        const auto after = replanRate(before, plan(20'000), 10'000, std::nullopt, 500);
        QVERIFY(near(rateAt(before, 10'000), kFloor));
        QVERIFY(near(rateAt(after, 10'000), kFloor));
        QVERIFY2(steepest(after, 10'000, 20'000) < 1.1, std::to_string(steepest(after, 10'000, 20'000)).c_str());
        QVERIFY(near(rateAt(after, 10'500), rateAt(plan(20'000), 10'500))); // a twentieth of what is left later
        QVERIFY(near(rateAt(after, 20'000), kFloor));
    }

    void eachChoiceDoesWhatItsNameSays()
    {
        const auto before = plan(10'000);
        const auto anew = plan(20'000);
        const auto kept = replanRate(before, anew, 8'000, RateChoice::Keep, 500);
        const auto stretched = replanRate(before, anew, 8'000, RateChoice::Stretch, 500);
        const auto restarted = replanRate(before, anew, 8'000, RateChoice::Restart, 500);
        for (double at = 8'000; at < 20'000; at += 250) {
            QVERIFY(near(rateAt(kept, at), rateAt(before, at)));
            QVERIFY(near(rateAt(stretched, at), rateAt(anew, at)));
        }
        QVERIFY(near(rateAt(restarted, 8'000), rateAt(before, 8'000)));
        QVERIFY(rateAt(restarted, 8'500) > 0.98 * kPeak); // the warm-up is over, and the cycle has just begun
        QVERIFY(near(rateAt(restarted, 20'000), kFloor));
        QVERIFY(steepest(restarted, 8'000, 20'000) < 1.3);
    }

    void aResumeWithUnchangedSettingsGoesOnAsPlanned()
    {
        const auto ramped = replanRate(plan(10'000), plan(20'000), 10'000, std::nullopt, 500);
        QVERIFY(replanRate(ramped, plan(20'000), 10'200, std::nullopt, 500) == ramped); // in the middle of the ramp
        const auto restarted = replanRate(plan(10'000), plan(20'000), 10'000, RateChoice::Restart, 500);
        QVERIFY(replanRate(restarted, plan(20'000), 15'000, std::nullopt, 500) == restarted);
        const auto longer = replanRate(restarted, plan(30'000), 15'000, std::nullopt, 500);
        QCOMPARE(longer.inForce.decayFrom, 10'000.0); // a new cycle stays one
    }

    /// Epochs lowered from 40 to 4 on resume: the smooth plan took the rate down to a third in one step, and the
    /// sentence did not call it a jump.
    void aShorterScheduleDoesNotDropTheRateAtOnce()
    {
        const auto before = plan(40'000);
        const auto after = replanRate(before, plan(4'000), 3'000, std::nullopt, 500);
        QVERIFY(rateAt(plan(4'000), 3'000) < 0.3 * rateAt(before, 3'000));
        QVERIFY(near(rateAt(after, 3'000), rateAt(before, 3'000)));
        QVERIFY(near(rateAt(after, 3'050), rateAt(plan(4'000), 3'050))); // a twentieth of what is left later
        QVERIFY(near(rateAt(after, 4'000), kFloor));
        RateOutlook outlook;
        outlook.started = true;
        outlook.before = before;
        outlook.position = 3'000;
        const auto smooth = forecastRate(outlook, config(4'000), 1, std::nullopt);
        QVERIFY2(
            near(smooth.now, smooth.before) && smooth.text().find("jumps") == std::string::npos, smooth.text().c_str());
        const auto stretched = forecastRate(outlook, config(4'000), 1, RateChoice::Stretch);
        QVERIFY2(stretched.text().find("jumps at once from 0.000988 to 0.000232") != std::string::npos,
            stretched.text().c_str());
    }

    void aLowerRateHoldsAtOnceAndAHigherOneIsClimbedTo()
    {
        auto lower = config(10'000);
        lower.lr = 5e-4;
        const auto down = replanRate(plan(10'000), planRate(lower, 0), 1'000, std::nullopt, 500);
        QVERIFY(near(rateAt(down, 1'000), scheduledRate(planRate(lower, 0).asked, 1'000)));
        auto higher = config(0);
        higher.lr = 1e-2; // and nobody knows where the run ends: it climbs over a warm-up
        const auto up = replanRate(plan(0), planRate(higher, 0), 1'000, std::nullopt, 500);
        QVERIFY(near(rateAt(up, 1'000), kPeak));
        QVERIFY(near(rateAt(up, 1'250), (kPeak + 1e-2) / 2));
        QVERIFY(near(rateAt(up, 1'500), 1e-2));
    }

    void aCycleThatBeginsBehindTheEndStaysAtTheFloor()
    {
        LrSchedule schedule = plan(10'000).inForce;
        schedule.decayFrom = 12'000;
        QVERIFY(near(scheduledRate(schedule, 13'000), kFloor));
    }

    void aPlanIsReadAsItWasWritten()
    {
        const auto ramped = replanRate(plan(9'999), plan(20'001), 7'777, std::nullopt, 500);
        const auto read = ratePlanFrom(toJsonText(ramped));
        QVERIFY(read && *read == ramped);
        for (const char* damaged : { "", "{}", "null", "[1]", R"({"format":2})" })
            QVERIFY(!ratePlanFrom(damaged));
        auto json = nlohmann::json::parse(toJsonText(ramped));
        json["in_force"]["peak"] = 1e9;
        QVERIFY(!ratePlanFrom(json.dump()));
    }

    void theForecastShowsTheRateBeforeAndAfter()
    {
        RateOutlook outlook;
        outlook.started = true;
        outlook.before = plan(10'000);
        outlook.position = 10'000;
        const auto same = forecastRate(outlook, config(10'000), 1, std::nullopt);
        QVERIFY(!same.changed && same.curve.empty());
        const auto more = forecastRate(outlook, config(20'000), 1, std::nullopt);
        QVERIFY(more.changed && near(more.before, kFloor) && near(more.now, kFloor) && more.most > 4 * kFloor
            && near(more.atEnd, kFloor));
        QVERIFY2(more.text().find("0.0001") != std::string::npos && more.text().find("smooth") != std::string::npos,
            more.text().c_str());
        const std::string drawing = more.drawing();
        QCOMPARE(std::count(drawing.begin(), drawing.end(), '\n'), 1);
        const auto stretched = forecastRate(outlook, config(20'000), 1, RateChoice::Stretch);
        QVERIFY(stretched.now > 5 * stretched.before); // what a person is shown before it happens
        outlook.rollbackFactor = 0.25;
        QVERIFY(near(forecastRate(outlook, config(10'000), 1, std::nullopt).now, 0.25 * kFloor));
        QVERIFY(near(forecastRate(outlook, config(10'000), 1, RateChoice::Keep).now, kFloor)); // a person has decided
    }

    void theLengthOfAScheduleIsWhatTheRunTrains()
    {
        EpochLength epoch { 100'000, 50, 49 };
        auto c = config(0);
        c.chunkSamples = 10; // 500 labels: 8 windows of 64
        c.heldOutPercent = 0;
        c.batchSize = 4;
        c.seqLen = 64;
        QCOMPARE(labelsOfRun(c, epoch, 1000, 3, 1),
            300'000.0); // stop_after_epoch in the third epoch: not one epoch, and not all
        QCOMPARE(labelsOfRun(c, epoch, 1000, 0, 1), 0.0); // iterate without end
        c.steps = 10;
        QCOMPARE(labelsOfRun(c, epoch, 1000, 3, 1), 2'500.0); // two steps a chunk, not 256 labels each
        QCOMPARE(labelsOfRun(c, epoch, 1000, 3, 2), 5'000.0); // two ranks make one step of a chunk
        c.steps = 0;
        c.tokens = 7'000;
        QCOMPARE(labelsOfRun(c, epoch, 1000, 3, 1), 7'000.0);
        c.tokens = 0;
        c.stopAfterBlocks = 1;
        QCOMPARE(labelsOfRun(c, epoch, 1000, 3, 1), 50'000.0);
    }

    void whatWasLeftOutInPiecesWasTrainedAgain() // the pieces were not in order, and a whole over them left nothing out
    {
        const ChunkId chunk = chunkIdOf({ 0, 2, 3 });
        Rollback rollback;
        rollback.places = { { chunk, { 60, 80 }, true }, { chunk, { 20, 40 }, true }, { chunk, { 0, 100 }, true } };
        QVERIFY(rollback.leftOutOf(chunk) == std::vector<WindowRange>({ { 0, 100 } }));
    }

    void aRollBackIsFollowedBySomethingElse() // five restarts with the same weights, chunk and rate ended the same way
    {
        const ChunkId chunk = chunkIdOf({ 0, 2, 3 });
        auto one = afterBadSteps({}, chunk, { 10, 30 }, 100);
        QCOMPARE(one.rateFactor, 0.5);
        QVERIFY(!one.newest().leftOut && one.leftOutOf(chunk).empty());
        auto two = afterBadSteps(one, chunk, { 10, 30 }, 100); // with half the rate, too: it is the text
        QCOMPARE(two.rateFactor, 0.5);
        QVERIFY(two.newest().leftOut);
        QVERIFY(two.leftOutOf(chunk) == std::vector<WindowRange>({ { 10, 30 } }));
        auto three = afterBadSteps(two, chunk, { 30, 50 }, 100); // and right behind it
        QVERIFY(three.leftOutOf(chunk) == std::vector<WindowRange>({ { 10, 100 } }));
        auto four = afterBadSteps(three, chunkIdOf({ 0, 2, 4 }), { 0, 20 }, 100); // elsewhere
        QCOMPARE(four.rateFactor, 0.25);
        QVERIFY(four.leftOutOf(chunk) == three.leftOutOf(chunk));
        QCOMPARE(four.times, 4);
        QVERIFY(rollbackFrom(toJsonText(four)) == four);
        for (const char* damaged : { "", "[]", R"({"format":1,"times":1,"rate_factor":-1,"places":[]})",
                 R"({"format":1,"times":1,"rate_factor":1,"places":[[1,5,2,true]]})" })
            QVERIFY(rollbackFrom(damaged) == Rollback {});
    }
};

QTEST_GUILESS_MAIN(TestRatePlan)
#include "tst_rate_plan.moc"
