#include "tests/fakes/manual_clock.h"

#include <QtTest>

using namespace furrow;
using namespace std::chrono_literals;

class TestManualClock : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void standsStillByItself()
    {
        const ManualClock clock(5s, 7s);
        QCOMPARE(clock.monotonicNs(), std::int64_t(5'000'000'000));
        QCOMPARE(clock.wallNs(), std::int64_t(7'000'000'000));
    }

    void timePassesOnBothClocks()
    {
        ManualClock clock(5s, 7s);
        clock.advance(2s);
        QCOMPARE(clock.monotonicNs(), std::int64_t(7'000'000'000));
        QCOMPARE(clock.wallNs(), std::int64_t(9'000'000'000));
    }

    void suspendAndJumpMoveTheWallClockOnly()
    {
        ManualClock clock(5s, 7s);
        clock.suspend(1h);
        clock.jumpWall(-2h);
        QCOMPARE(clock.monotonicNs(), std::int64_t(5'000'000'000));
        QCOMPARE(clock.wallNs(), std::int64_t(7'000'000'000) - 3'600'000'000'000);
    }
};

QTEST_GUILESS_MAIN(TestManualClock)
#include "tst_manual_clock.moc"
