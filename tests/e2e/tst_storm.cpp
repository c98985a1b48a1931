// `furrowctl storm` as a person runs it: a short one in every run of the tests, the long one with the label slow.

#include "tests/e2e/run_driver.h"

#include <QDir>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QProcess>
#include <QTest>

class TestStorm : public QObject {
    Q_OBJECT

    QJsonObject report_;

    void verifyStorm(const QStringList& options)
    {
        QTemporaryDir folder;
        const auto out = RunDriver::ctl(
            QStringList { QStringLiteral("storm"), QStringLiteral("--dir"), folder.path(), QStringLiteral("--json") }
                + options,
            3'600'000);
        if (out.exitCode != 0)
            folder.setAutoRemove(false);
        QVERIFY2(out.exitCode == 0, qPrintable(out.errors + out.text));
        report_ = out.json;
        QCOMPARE(report_[QStringLiteral("duplicated")].toInt(-1), 0);
        QCOMPARE(report_[QStringLiteral("missing")].toInt(-1), 0);
        QCOMPARE(report_[QStringLiteral("manual_steps")].toInt(-1), 0);
        QCOMPARE(report_[QStringLiteral("integrity_check")].toString(), QStringLiteral("ok"));
        QCOMPARE(report_[QStringLiteral("models")].toInt(), 1);
        QVERIFY(QDir(folder.path()).isEmpty()); // it cleans up behind itself
    }

private Q_SLOTS:
    /// `furrowctl storm | head` ended the storm; supervisor, feeder and workers of its run trained on alone.
    void aStormWithoutAReaderLeftItsProcesses()
    {
        QTemporaryDir folder;
        QProcess shell;
        shell.start(QStringLiteral("/bin/sh"),
            { QStringLiteral("-c"), QStringLiteral("\"$0\" storm --kills 50 --dir \"$1\" | head -n 2"),
                RunDriver::program(), folder.path() });
        QVERIFY(shell.waitForFinished(60'000));
        QCOMPARE(shell.readAllStandardOutput().count('\n'), 2); // it had begun
        const auto isAnyLeft = [&folder] {
            for (const auto& process : QDir(QStringLiteral("/proc")).entryList(QDir::Dirs | QDir::NoDotAndDotDot)) {
                QFile line(QStringLiteral("/proc/%1/cmdline").arg(process));
                if (line.open(QIODevice::ReadOnly) && line.readAll().contains(folder.path().toUtf8()))
                    return true;
            }
            return false;
        };
        QTRY_VERIFY_WITH_TIMEOUT(!isAnyLeft(), 20'000);
    }

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
        verifyStorm(
            { QStringLiteral("--kills"), QString::number(kills), QStringLiteral("--seed"), QString::number(seed) });
        QVERIFY(report_[QStringLiteral("kills")].toInt() >= kills / 2);
    }

    /// What a short storm draws too seldom.
    void rareFaultsLoseNothing()
    {
        const QStringList rare { QStringLiteral("foreign_lock"), QStringLiteral("sqlite_fails"),
            QStringLiteral("jump_clock"), QStringLiteral("change_merging"), QStringLiteral("train_together"),
            QStringLiteral("checkpoints_away"), QStringLiteral("older_tracker"), QStringLiteral("kill_worker"),
            QStringLiteral("go_back") };
        verifyStorm({ QStringLiteral("--only"), rare.join(QLatin1Char(',')), QStringLiteral("--kills"),
            QString::number(rare.size()) });
        for (const auto& act : rare)
            QCOMPARE(report_[QStringLiteral("acts")][act].toInt(), 1);
    }

    void unknownFaultIsRefusedByName()
    {
        const QTemporaryDir folder;
        const auto out = RunDriver::ctl({ QStringLiteral("storm"), QStringLiteral("--dir"), folder.path(),
            QStringLiteral("--only"), QStringLiteral("earthquake") });
        QCOMPARE(out.exitCode, 2);
        QVERIFY2((out.text + out.errors).contains(QStringLiteral("earthquake")), qPrintable(out.text + out.errors));
    }

    void listNamesEveryFault()
    {
        const auto out = RunDriver::ctl({ QStringLiteral("storm"), QStringLiteral("--list") });
        QCOMPARE(out.exitCode, 0);
        for (const char* name : { "kill_supervisor", "freeze_worker", "disk_full", "damage_checkpoint", "older_tracker",
                 "sqlite_fails", "checkpoint.renamed", "feeder.prepared" })
            QVERIFY2(out.text.contains(QLatin1String(name)), name);
    }
};

QTEST_GUILESS_MAIN(TestStorm)
#include "tst_storm.moc"
