#include "core/model/measured_memory.h"

#include <QTest>
#include <nlohmann/json.hpp>

using namespace furrow;

namespace {

const MemoryCase kCpu { "CPU", StepPath::CpuFast, "gpt" };

MemoryEstimate estimateOf(std::int64_t bytes)
{
    MemoryEstimate estimate;
    estimate.weights = bytes;
    return estimate;
}

MeasuredMemory run(std::int64_t estimated, double ratio, const MemoryCase& of = kCpu)
{
    return { of, estimated, static_cast<std::int64_t>(static_cast<double>(estimated) * ratio) };
}

} // namespace

class TestMeasuredMemory : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void theFormulaStandsWithoutAnEarlierRun()
    {
        const auto forecast = forecastMemory(estimateOf(1000), kCpu, {});
        QCOMPARE(forecast.runs, 0);
        QCOMPARE(forecast.likely(), 1000);
        QVERIFY(forecast.low() == 800 && forecast.high() == 1200);
    }

    /// "127.5 MiB to 191.2 MiB ... The program itself 152.6 MiB".
    void theLowerEndWasBelowTheProgramItself()
    {
        MemoryEstimate small = estimateOf(100);
        small.process = 900;
        const auto forecast = forecastMemory(small, kCpu, {});
        QCOMPARE(forecast.likely(), 1000);
        QVERIFY(forecast.low() == 900 && forecast.high() == 1200);
    }

    void earlierRunsCorrectIt()
    {
        const auto forecast = forecastMemory(estimateOf(1000), kCpu, { run(1000, 1.1), run(900, 1.3), run(1100, 1.2) });
        QCOMPARE(forecast.runs, 3);
        QCOMPARE(forecast.likely(), 1200);
        QVERIFY(forecast.high() >= 1299 && forecast.low() <= 1100); // all three lie inside
    }

    void oneRunIsNotCertain()
    {
        const auto forecast = forecastMemory(estimateOf(1000), kCpu, { run(1000, 1.5) });
        QCOMPARE(forecast.likely(), 1500);
        QVERIFY(forecast.low() <= 1350 && forecast.high() >= 1649);
    }

    void runsOfOtherDevicesPathsAndModelsDoNotCount()
    {
        const std::vector<MeasuredMemory> others { run(1000, 2, { "NVIDIA H100", StepPath::CpuFast, "gpt" }),
            run(1000, 2, { "CPU", StepPath::CpuOperators, "gpt" }), run(1000, 2, { "CPU", StepPath::CpuFast, "hrm" }),
            run(10'000, 2) };
        QCOMPARE(forecastMemory(estimateOf(1000), kCpu, others).runs, 0);
    }

    void aRunOfTheSameSizeCountsMoreThanManyOthers()
    {
        const auto forecast
            = forecastMemory(estimateOf(1000), kCpu, { run(2000, 2), run(3000, 2), run(400, 2), run(1050, 1.1) });
        QCOMPARE(forecast.runs, 1);
        QCOMPARE(forecast.likely(), 1100);
        QCOMPARE(forecastMemory(estimateOf(1000), kCpu, { run(2000, 2), run(3000, 2), run(400, 2) }).runs, 3);
    }

    void comesBackAsItWasWritten()
    {
        const MeasuredMemory measured = run(1000, 1.25, { "NVIDIA \"H100\"", StepPath::Gpu, "hrm" });
        const auto read = measuredMemoryFrom(toJson(measured));
        QVERIFY(read && read->of == measured.of);
        QVERIFY(read->estimatedBytes == 1000 && read->peakBytes == 1250);
    }

    void whatIsNoneIsLeftOut_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::newRow("a list") << QByteArray("[1]");
        QTest::newRow("nothing inside") << QByteArray("{}");
        QTest::newRow("words for bytes") << QByteArray(
            R"({"device":"CPU","path":"gpu","architecture":"gpt","estimated_bytes":"many","peak_bytes":5})");
        QTest::newRow("an estimate of nothing")
            << QByteArray(R"({"device":"CPU","path":"gpu","architecture":"gpt","estimated_bytes":0,"peak_bytes":5})");
        QTest::newRow("a path of a newer version")
            << QByteArray(R"({"device":"CPU","path":"npu","architecture":"gpt","estimated_bytes":5,"peak_bytes":5})");
    }
    void whatIsNoneIsLeftOut()
    {
        QFETCH(QByteArray, text);
        QVERIFY(!measuredMemoryFrom(nlohmann::json::parse(text.toStdString())));
    }
};

QTEST_GUILESS_MAIN(TestMeasuredMemory)
#include "tst_measured_memory.moc"
