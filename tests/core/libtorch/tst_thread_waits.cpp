// How the threads of libtorch wait for each other, unless a person said it.
#include "core/libtorch/thread_waits.h"

#include <QTest>

using namespace furrow;

class TestThreadWaits : public QObject {
    Q_OBJECT

private Q_SLOTS:
    /// With cores taken by others, two threads were up to a hundred times slower than one.
    void threadsTurnedOnTheSpotWhileOthersHadTheirCores()
    {
        const auto added = threadWaits({ { "PATH", "/bin" }, { "OMP_NUM_THREADS", "2" } });
        QCOMPARE(added.at("OMP_WAIT_POLICY"), std::string("passive"));
        QVERIFY(std::stoi(added.at("GOMP_SPINCOUNT")) <= 10'000); // microseconds, not milliseconds
    }

    void whatAPersonSaidStays_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* name : { "OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME", "KMP_LIBRARY" })
            QTest::newRow(name) << QString::fromLatin1(name);
    }
    void whatAPersonSaidStays()
    {
        QFETCH(QString, name);
        QVERIFY(threadWaits({ { "PATH", "/bin" }, { name.toStdString(), "active" } }).empty());
    }
};

QTEST_GUILESS_MAIN(TestThreadWaits)
#include "tst_thread_waits.moc"
