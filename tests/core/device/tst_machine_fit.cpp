#include "core/device/machine_fit.h"

#include <QtTest>

using namespace furrow;

namespace {

std::vector<WorkerPlacement> workers(int count, int threads, const std::string& device = "cpu")
{
    std::vector<WorkerPlacement> all;
    for (int worker = 0; worker < count; ++worker)
        all.push_back({ worker, device, "CPU", threads });
    return all;
}

constexpr Machine kSmall { 23ull << 30, 2 };

} // namespace

class TestMachineFit : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void ninetyNineWorkersOnASmallMachineRaisedNothing()
    {
        const auto warnings = machineWarnings(workers(99, 1), 400 << 20, kSmall);
        QCOMPARE(warnings.size(), std::size_t { 2 });
        QVERIFY2(warnings[0].find("99 workers would take about 38.7 GiB") != std::string::npos
                && warnings[0].find("23.0 GiB") != std::string::npos,
            warnings[0].c_str());
        QVERIFY2(
            warnings[1].find("want 99 cores") != std::string::npos && warnings[1].find("has 2") != std::string::npos,
            warnings[1].c_str());
    }
    void whatFitsRaisesNothing()
    {
        QVERIFY(machineWarnings(workers(2, 1), 400 << 20, kSmall).empty());
        QVERIFY(machineWarnings({}, 400 << 20, kSmall).empty());
        QVERIFY(
            machineWarnings(workers(8, 4, "GPU-1"), std::int64_t { 70 } << 30, kSmall).empty()); // memory of their own
    }
    void theFormulaIsAskedForTheMemory()
    {
        RunConfig config;
        config.width = 4096;
        config.layers = 32;
        config.heads = 32;
        const auto warnings = machineWarnings(config, workers(1, 2), kSmall);
        QCOMPARE(warnings.size(), std::size_t { 1 });
        config.heads = 3; // no model: nothing can be said
        QVERIFY(machineWarnings(config, workers(1, 2), kSmall).empty());
    }
};

QTEST_GUILESS_MAIN(TestMachineFit)
#include "tst_machine_fit.moc"
