#include "fake_hub.h"
#include "feeder_fixture.h"

using namespace furrow;
using namespace furrow::test;

class TestHubOutage : public QObject {
    Q_OBJECT
private Q_SLOTS:
    /// It slept between its tries: nobody heard from it for up to a minute, and it did not stop when asked.
    void anOutageOfTheHubIsToldAndAStopIsHeard()
    {
        FakeHub hub;
        FakeHub::Repository repository;
        repository.files["train.txt"] = Run::lines(1200);
        hub.add("o/n", repository);
        qputenv("HF_ENDPOINT", QByteArray::fromStdString(hub.endpoint()));
        Run run(1200, 300, 50, 0.1, 1, "hf://o/n");
        hub.setAway(true);
        const auto doing = [&] { return good(good(LedgerReader::open(run.paths.tracker())).totals()).feederDoing; };
        run.startFeeder();
        QTRY_VERIFY_WITH_TIMEOUT(doing().find("waiting for the hub: http") == 0 && doing().find("503") != std::string::npos, 20'000);
        QTRY_VERIFY_WITH_TIMEOUT(doing().find("again in 4 s") != std::string::npos, 20'000); // a longer wait is under way
        QElapsedTimer stopping;
        stopping.start();
        run.stopFeeder();
        QVERIFY2(stopping.elapsed() < 2500, std::to_string(stopping.elapsed()).c_str());
        run.startFeeder();
        QTRY_VERIFY_WITH_TIMEOUT(doing().find("waiting for the hub") == 0, 20'000);
        hub.setAway(false);
        std::map<std::int64_t, std::map<int, int>> seen;
        PlayedWorker worker(run, 0);
        QCOMPARE(worker.work(seen), 24);
        verifyEachRowOnceAnEpoch(seen, 1, 1200);
        run.stopFeeder();
        qunsetenv("HF_ENDPOINT");
    }
};

QTEST_GUILESS_MAIN(TestHubOutage)
#include "tst_hub_outage.moc"
