#include "core/base/clock.h"

#include <QtTest>

using namespace furrow;

class TestClock : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;

private Q_SLOTS:
    void initTestCase()
    {
        qputenv("FURROW_CLOCK", folder_.filePath("clocks").toUtf8());
    } // read once, at the first look at a clock

    void clocksJumpWhenAStormSaysSo()
    {
        const auto wall = systemClock().wallNs();
        const auto monotonic = systemClock().monotonicNs();
        QFile jump(folder_.filePath("clocks"));
        QVERIFY(jump.open(QIODevice::WriteOnly) && jump.write("-86400 5") > 0);
        jump.close();
        QVERIFY(systemClock().wallNs() < wall - 80'000'000'000'000);
        QVERIFY(systemClock().monotonicNs() >= monotonic + 5'000'000'000);
        QVERIFY(jump.remove());
        QVERIFY(systemClock().wallNs() >= wall);
    }

    void neverGoesBack()
    {
        std::int64_t last = systemClock().monotonicNs();
        QVERIFY(last > 0);
        for (int round = 0; round < 10'000; ++round) {
            const std::int64_t now = systemClock().monotonicNs();
            QVERIFY(now >= last);
            last = now;
        }
    }

    void wallTimeIsThatOfTheSystem()
    {
        const double differenceMs = static_cast<double>(systemClock().wallNs()) / 1e6
            - static_cast<double>(QDateTime::currentMSecsSinceEpoch());
        QVERIFY(std::abs(differenceMs) < 1000);
    }

    void bootIdIsStable()
    {
        QVERIFY(bootId().size() >= 8);
        QCOMPARE(bootId(), bootId());
    }

    void writesIsoTime_data()
    {
        QTest::addColumn<qint64>("wallNs");
        QTest::addColumn<QString>("text");
        QTest::newRow("epoch") << qint64(0) << "1970-01-01T00:00:00Z";
        QTest::newRow("before the epoch") << qint64(-1) << "1969-12-31T23:59:59Z";
        QTest::newRow("leap day") << qint64(1709209859'999'999'999) << "2024-02-29T12:30:59Z";
        QTest::newRow("example") << qint64(1773427330'000'000'000) << "2026-03-13T18:42:10Z";
        QTest::newRow("largest") << std::numeric_limits<qint64>::max() << "2262-04-11T23:47:16Z";
        QTest::newRow("smallest") << std::numeric_limits<qint64>::min() << "1677-09-21T00:12:43Z";
    }
    void writesIsoTime()
    {
        QFETCH(qint64, wallNs);
        QTEST(QString::fromStdString(isoTime(wallNs)), "text");
    }
};

QTEST_GUILESS_MAIN(TestClock)
#include "tst_clock.moc"
