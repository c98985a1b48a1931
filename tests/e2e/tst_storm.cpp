// `furrowctl storm` as a person runs it: a short one in every run of the tests, the long one with the label slow.

#include "tests/e2e/run_driver.h"

#include <QDir>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

class TestStorm : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void nothingIsLostOrRepeatedInAStorm_data()
    {
        QTest::addColumn<int>("kills");
        QTest::addColumn<int>("seed");
        const auto asked = qEnvironmentVariableIntValue("FURROW_STORM_KILLS");
        QTest::newRow("seed 7") << (asked > 0 ? asked : 8) << 7;
        if (asked > 0) {
            QTest::newRow("seed 8") << asked << 8;
            QTest::newRow("seed 9") << asked << 9;
        }
    }

    void nothingIsLostOrRepeatedInAStorm()
    {
        QFETCH(int, kills);
        QFETCH(int, seed);
        QTemporaryDir folder;
        const auto out = RunDriver::ctl(
            { QStringLiteral("storm"), QStringLiteral("--dir"), folder.path(), QStringLiteral("--kills"), QString::number(kills), QStringLiteral("--seed"), QString::number(seed), QStringLiteral("--json") },
            3'600'000);
        if (out.exitCode != 0)
            folder.setAutoRemove(false);
        QVERIFY2(out.exitCode == 0, qPrintable(out.errors + out.text));
        QCOMPARE(out.json[QStringLiteral("duplicated")].toInt(-1), 0);
        QCOMPARE(out.json[QStringLiteral("missing")].toInt(-1), 0);
        QCOMPARE(out.json[QStringLiteral("manual_steps")].toInt(-1), 0);
        QCOMPARE(out.json[QStringLiteral("integrity_check")].toString(), QStringLiteral("ok"));
        QCOMPARE(out.json[QStringLiteral("models")].toInt(), 1);
        QVERIFY(out.json[QStringLiteral("kills")].toInt() >= kills / 2);
        QVERIFY(QDir(folder.path()).isEmpty()); // it cleans up behind itself
    }

    void listNamesEveryFault()
    {
        const auto out = RunDriver::ctl({ QStringLiteral("storm"), QStringLiteral("--list") });
        QCOMPARE(out.exitCode, 0);
        for (const char* name : { "kill_supervisor", "freeze_worker", "disk_full", "damage_checkpoint", "checkpoint.renamed", "feeder.prepared" })
            QVERIFY2(out.text.contains(QLatin1String(name)), name);
    }
};

QTEST_GUILESS_MAIN(TestStorm)
#include "tst_storm.moc"
