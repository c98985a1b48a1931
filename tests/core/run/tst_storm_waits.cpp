// How long workers waited, as a storm reads it from telemetry.

#include "core/trials/storm/storm_waits.h"
#include "core/telemetry/records.h"

#include <QTemporaryDir>
#include <QTest>

#include <fstream>

using namespace furrow;

class TestStormWaits : public QObject {
    Q_OBJECT

    static void append(const std::filesystem::path& file, const std::string& lines)
    {
        std::ofstream(file, std::ios::app | std::ios::binary) << lines;
    }
    static std::string header()
    {
        std::string line;
        encodeLine(TelemetryHeader { "run", 1, 0, "boot", 0, 0 }, line);
        return line;
    }
    static std::string step(double seconds, double mergeMs = 0)
    {
        StepRecord record;
        record.monotonicNs = static_cast<std::int64_t>(seconds * 1e9);
        record.time.optimizer = 4;
        record.time.checkpoint = mergeMs;
        std::string line;
        encodeLine(record, line);
        return line;
    }

private Q_SLOTS:
    void longestGapBetweenTwoStepsOfAProcessIsAWait()
    {
        const QTemporaryDir folder;
        const auto file = std::filesystem::path(folder.path().toStdString()) / "1-w0.jsonl";
        StormWaits waits(file.parent_path());
        append(file, header() + step(10) + step(10.01) + step(13.014, 1000));
        const auto found = waits.take(0.5);
        QCOMPARE(found.size(), 1u);
        QCOMPARE(found[0].beganNs, 10'010'000'000);
        QVERIFY(std::abs(found[0].seconds - 2) < 0.01);
        QVERIFY(std::abs(found[0].mergeSeconds - 1) < 0.01);
        QVERIFY(waits.take(0.5).empty());
    }

    void processThatWasKilledDidNotWait()
    {
        const QTemporaryDir folder;
        const auto file = std::filesystem::path(folder.path().toStdString()) / "1-w0.jsonl";
        StormWaits waits(file.parent_path());
        append(file, header() + step(10) + header() + step(20));
        QVERIFY(waits.take(0.5).empty());
    }

    /// After the clock of the run had jumped, a wait for a lock was counted as the next act's.
    void timesOfAClockThatJumpedAreThoseOfTheStorm()
    {
        JumpedClock clock;
        QCOMPARE(clock.ownNs(50), 50);
        clock.jump(100, 20);
        clock.jump(200, 0);
        clock.jump(300, 5);
        QCOMPARE(clock.ownNs(90), 90);
        QCOMPARE(clock.ownNs(110), 100); // nobody saw these
        QCOMPARE(clock.ownNs(120), 100);
        QCOMPARE(clock.ownNs(170), 150);
        QCOMPARE(clock.ownNs(270), 250);
        QCOMPARE(clock.ownNs(322), 300);
        QCOMPARE(clock.ownNs(345), 320);
    }

    /// A disk was full right after the checkpoints had been away: the wait for both was that of the first alone.
    void faultsThatFollowEachOtherCountTogether()
    {
        constexpr std::int64_t kSecond = 1'000'000'000;
        const std::vector<TimeSpan> faults { { 12 * kSecond, 14 * kSecond }, { 10 * kSecond, 12 * kSecond },
            { 11 * kSecond, 13 * kSecond }, { 30 * kSecond, 31 * kSecond } };
        QCOMPARE(secondsWithin(faults, 10 * kSecond, 16 * kSecond), 4.0);
        QCOMPARE(secondsWithin(faults, 13 * kSecond, 16 * kSecond), 1.0);
        QCOMPARE(secondsWithin(faults, 0, 11 * kSecond), 1.0);
        QCOMPARE(secondsWithin({}, 0, kSecond), 0.0);
    }

    /// The clock went 15 s forward while workers merged after a full disk, and the storm said that they waited 16 s.
    void whatTheClockJumpedWasCountedAsAWait()
    {
        JumpedClock clock;
        clock.jump(100'000'000'000, 15'000'000'000);
        const auto merged = clock.own({ 99'000'000'000, 116'000'000'000, 0.8, 16.2 });
        QCOMPARE(merged.endedNs, 101'000'000'000);
        QVERIFY(std::abs(merged.mergeSeconds - 1.2) < 1e-9);
        QVERIFY(std::abs(merged.seconds - 0.8) < 1e-9);
        const auto waited = clock.own({ 99'000'000'000, 116'000'000'000, 16.5, 0.5 });
        QVERIFY(waited.mergeSeconds < 1e-9);
        QVERIFY(std::abs(waited.seconds - 2) < 1e-9);
        const auto other = clock.own({ 120'000'000'000, 123'000'000'000, 2, 1 }); // began after it
        QVERIFY(std::abs(other.seconds - 2) < 1e-9 && std::abs(other.mergeSeconds - 1) < 1e-9);
    }

    void lineThatIsStillBeingWrittenIsReadLater()
    {
        const QTemporaryDir folder;
        const auto file = std::filesystem::path(folder.path().toStdString()) / "1-w0.jsonl";
        StormWaits waits(file.parent_path());
        const auto later = step(12);
        append(file, header() + step(10) + later.substr(0, 20));
        QVERIFY(waits.take(0.5).empty());
        append(file, later.substr(20));
        QCOMPARE(waits.take(0.5).size(), 1u);
    }
};

QTEST_GUILESS_MAIN(TestStormWaits)
#include "tst_storm_waits.moc"
