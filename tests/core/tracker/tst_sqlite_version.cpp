#include "core/tracker/sqlite/sqlite_version.h"

#include <QTest>

using namespace furrow;

/// SQLite's own list of versions that can damage a database in WAL mode, and that ours is none of them.
class TestSqliteVersion : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void aFaultyVersionOfSqliteIsKnown_data()
    {
        QTest::addColumn<int>("number");
        QTest::addColumn<bool>("faulty");
        QTest::addColumn<QString>("version");
        const auto row = [](int number, bool faulty, const char* version) {
            QTest::newRow(version) << number << faulty << QString::fromLatin1(version);
        };
        row(3'006'023, false, "3.6.23"); // has no WAL
        row(3'007'000, true, "3.7.0");
        row(3'040'001, true, "3.40.1"); // Debian 12
        row(3'044'005, true, "3.44.5");
        row(3'044'006, false, "3.44.6"); // mended in its branch
        row(3'045'000, true, "3.45.0");
        row(3'045'001, true, "3.45.1"); // Ubuntu 24.04
        row(3'046'001, true, "3.46.1"); // Debian 13
        row(3'050'006, true, "3.50.6");
        row(3'050'007, false, "3.50.7"); // mended in its branch
        row(3'051'000, true, "3.51.0");
        row(3'051'002, true, "3.51.2");
        row(3'051'003, false, "3.51.3");
        row(3'053'004, false, "3.53.4");
        row(4'000'000, false, "4.0.0");
    }
    void aFaultyVersionOfSqliteIsKnown()
    {
        QFETCH(int, number);
        QFETCH(bool, faulty);
        QFETCH(QString, version);
        const Status status = checkSqliteVersion(number);
        QCOMPARE(!status.ok(), faulty);
        if (faulty)
            QVERIFY2(status.error().message.find(version.toStdString()) != std::string::npos,
                status.error().message.c_str());
    }

    void theSqliteInThisProgramIsNotFaulty()
    {
        QVERIFY(checkSqliteVersion().ok());
        QVERIFY2(sqliteVersion().starts_with("3."), sqliteVersion().c_str());
    }
};

QTEST_GUILESS_MAIN(TestSqliteVersion)
#include "tst_sqlite_version.moc"
