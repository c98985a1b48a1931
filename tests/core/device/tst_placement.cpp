#include "core/device/placement.h"

#include <QTest>

using namespace furrow;

class TestPlacement : public QObject {
    Q_OBJECT

    static std::vector<Gpu> twoGpus()
    {
        return { { "GPU-aaaa", "Card A", 0, 100, 100 }, { "GPU-bbbb", "Card B", 1, 100, 100 } };
    }

private Q_SLOTS:
    void cpuGetsTwoWorkersThatShareTheCores()
    {
        const auto placed = placeWorkers(RunConfig {}, {}, 8);
        QVERIFY(placed.ok());
        QCOMPARE(placed.value().size(), std::size_t(2));
        QCOMPARE(placed.value()[1].threads, 4);
        QCOMPARE(placed.value()[1].device, std::string("cpu"));
    }

    /// A run with fp16 on devices auto was made, and failed when its workers started.
    void halfPrecisionIsRefusedWhereTheDevicesTurnOutToBeACpu()
    {
        RunConfig config;
        config.precision = PrecisionChoice::Float16;
        QVERIFY(!canCompute(config, placeWorkers(config, {}, 8).value()).ok());
        QVERIFY(canCompute(config, placeWorkers(config, twoGpus(), 8).value()).ok());
        config.precision = PrecisionChoice::BFloat16;
        QVERIFY(canCompute(config, placeWorkers(config, {}, 8).value()).ok());
    }

    /// A run with --merge none trained two models that never met.
    void withoutMergingTheCpuTrainsOneModel()
    {
        RunConfig config;
        config.merge = MergeMethod::None;
        QCOMPARE(placeWorkers(config, {}, 8).value().size(), std::size_t(1));
        config.parallel = ParallelMode::Data; // one model in any case
        QCOMPARE(placeWorkers(config, {}, 8).value().size(), std::size_t(2));
        config.parallel = ParallelMode::Independent;
        config.workers = 2;
        QCOMPARE(placeWorkers(config, {}, 8).value().size(), std::size_t(2));
    }

    void eachGpuGetsOneWorker()
    {
        const auto placed = placeWorkers(RunConfig {}, twoGpus(), 8);
        QVERIFY(placed.ok());
        QCOMPARE(placed.value().size(), std::size_t(2));
        QCOMPARE(placed.value()[1].device, std::string("GPU-bbbb"));
    }

    void numberAndUuidNameTheSameCard()
    {
        for (const char* name : { "1", "GPU-bbbb" }) {
            RunConfig config;
            config.devices = name;
            const auto placed = placeWorkers(config, twoGpus(), 8);
            QVERIFY(placed.ok());
            QCOMPARE(placed.value().size(), std::size_t(1));
            QCOMPARE(placed.value()[0].deviceName, std::string("Card B"));
        }
    }

    void aMissingCardIsNamedWithThoseThatAreThere()
    {
        RunConfig config;
        config.devices = "0,7";
        const auto placed = placeWorkers(config, twoGpus(), 8);
        QVERIFY(!placed.ok());
        QVERIFY(placed.error().message.find("'7'") != std::string::npos);
        QVERIFY(placed.error().message.find("GPU-bbbb") != std::string::npos);
        QVERIFY(!placeWorkers(config, {}, 8).ok());
    }

    void oneWorkerCannotTrainDataParallel()
    {
        RunConfig config;
        config.parallel = ParallelMode::Data;
        QVERIFY(placeWorkers(config, twoGpus(), 8).ok());
        config.devices = "1";
        const auto placed = placeWorkers(config, twoGpus(), 8);
        QVERIFY(!placed.ok());
        QVERIFY2(placed.error().message.find("Card B") != std::string::npos, placed.error().message.c_str());
    }

    void moreWorkersThanGpusAreRefused()
    {
        RunConfig config;
        config.workers = 3;
        QVERIFY(!placeWorkers(config, twoGpus(), 8).ok());
        config.devices = "cpu";
        QVERIFY(placeWorkers(config, twoGpus(), 2).ok());
        QCOMPARE(placeWorkers(config, twoGpus(), 2).value()[2].threads, 1);
    }
};

QTEST_GUILESS_MAIN(TestPlacement)
#include "tst_placement.moc"
