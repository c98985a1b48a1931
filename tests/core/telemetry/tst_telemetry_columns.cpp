#include "core/base/sentence.h"
#include "core/config/message_json.h"
#include "core/base/random.h"
#include "core/telemetry/curve.h"
#include "core/telemetry/scan.h"
#include "core/telemetry/store_cache.h"

#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <limits>

using namespace furrow;

namespace {

/// A step as a worker tells it, `tookSeconds` after the one before.
StepRecord stepThatTook(double tookSeconds, std::int64_t step, std::int64_t endNs)
{
    constexpr std::int64_t kTokens = 100;
    StepRecord record;
    record.monotonicNs = endNs;
    record.step = step;
    record.stepTokens = kTokens;
    record.tokens = step * kTokens;
    record.tokensPerSecond = static_cast<double>(kTokens) / tookSeconds;
    return record;
}

Stretch stretchOf(const std::vector<StepRecord>& steps)
{
    ColumnStore store;
    ColumnStore::Source source;
    ScannedLine line;
    line.kind = LineKind::Header;
    store.add(source, line);
    line.kind = LineKind::Step;
    for (const StepRecord& step : steps) {
        line.step = step;
        store.add(source, line);
    }
    store.settle();
    return store.snapshot()->stretches.front();
}

bool isAbout(double value, double wanted) { return std::abs(value - wanted) < 1e-4 * wanted; }

} // namespace

class TestTelemetryColumns : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void aCopyDoesNotSeeWhatIsAppendedLater()
    {
        Column<int> column;
        for (int i = 0; i < 5000; ++i)
            column.append(i);
        const Column<int> copy = column;
        for (int i = 0; i < 5000; ++i)
            column.append(-1);
        QCOMPARE(copy.size(), std::size_t(5000));
        for (int i = 0; i < 5000; ++i)
            QCOMPARE(copy[static_cast<std::size_t>(i)], i);
    }

    void equalValuesTakeOneValueASegment()
    {
        Column<double> column;
        for (std::size_t i = 0; i < 10 * Column<double>::kSegment; ++i)
            column.append(0.5);
        QVERIFY(column.memoryBytes() < 1000);
        QCOMPARE(column[7 * Column<double>::kSegment + 3], 0.5);
    }

    void steadyColumnsKeepEveryValue_data()
    {
        QTest::addColumn<double>("rise");
        QTest::addColumn<quint32>("noise");
        QTest::addColumn<double>("bytes"); // of each value, at most
        QTest::newRow("equal") << 0.0 << 0u << 0.1;
        QTest::newRow("line") << 8.0 << 0u << 0.1;
        QTest::newRow("fine") << 3.7 << 20u << 1.1;
        QTest::newRow("coarse") << 1000.25 << 9000u << 2.1;
        QTest::newRow("wild") << 50'000.0 << 4'000'000'000u << 4.1; // wraps around, too
    }
    void steadyColumnsKeepEveryValue()
    {
        QFETCH(const double, rise);
        QFETCH(const quint32, noise);
        QFETCH(const double, bytes);
        constexpr std::size_t kCount = 5 * SteadyColumn::kSegment + 77;
        Random random(3);
        SteadyColumn column;
        std::vector<std::uint32_t> raw;
        for (std::size_t i = 0; i < kCount; ++i) {
            raw.push_back(static_cast<std::uint32_t>(rise * static_cast<double>(i))
                + static_cast<std::uint32_t>(noise == 0 ? 0 : random.below(noise)));
            column.append(raw.back());
        }
        QCOMPARE(column.size(), kCount);
        QCOMPARE(column.back(), raw.back());
        for (std::size_t i = 0; i < kCount; ++i)
            QCOMPARE(column[i], raw[i]);
        QVERIFY2(static_cast<double>(column.memoryBytes()) < bytes * kCount + 2000,
            qPrintable(QString::number(column.memoryBytes())));
        for (const std::size_t count :
            { std::size_t(0), std::size_t(5), SteadyColumn::kSegment, SteadyColumn::kSegment + 1, kCount - 1 }) {
            const SteadyColumn head = column.first(count);
            QCOMPARE(head.size(), count);
            for (std::size_t i = 0; i < count; i += 7)
                QCOMPARE(head[i], raw[i]);
        }
        const SteadyColumn copy = column;
        column.append(raw.back() + 1);
        QCOMPARE(copy.size(), kCount);
        if (noise == 0 && rise > 0) {
            for (const std::size_t i :
                { std::size_t(0), SteadyColumn::kSegment - 1, SteadyColumn::kSegment, kCount - 1 }) {
                QCOMPARE(copy.lowerBound(raw[i]), i);
                QCOMPARE(copy.lowerBound(raw[i] + 0.5), i + 1);
            }
        }
    }

    /// A width of three passed as "at most four", and was then read as four bytes: past the end of the segment.
    void aCacheWithADifferenceOfThreeBytesIsRefused_data()
    {
        QTest::addColumn<quint32>("width");
        QTest::addColumn<bool>("good");
        for (const quint32 width : { 0u, 1u, 2u, 4u })
            QTest::addRow("%u", width) << width << true;
        for (const quint32 width : { 3u, 5u, 0xffffffffu })
            QTest::addRow("%u", width) << width << false;
    }
    void aCacheWithADifferenceOfThreeBytesIsRefused()
    {
        QFETCH(const quint32, width);
        QFETCH(const bool, good);
        const QTemporaryDir folder;
        const auto path = std::filesystem::path(folder.filePath("store.cache").toStdString());
        CacheWriter out;
        for (const std::uint64_t number : { std::uint64_t(1), std::uint64_t(0), std::uint64_t(width),
                 std::uint64_t(0) }) // one segment: first, width, slope
            out.number(number);
        const std::string off(std::min(width, 8u) * SteadyColumn::kSegment, 0);
        out.bytes(off.data(), off.size());
        out.column(Column<std::uint32_t>());
        QVERIFY(out.writeTo(path).ok());
        auto in = CacheReader::open(path);
        QVERIFY(in.ok());
        SteadyColumn column;
        in.value().column(column);
        QCOMPARE(in.value().good(), good);
        QCOMPARE(column.size(), good ? SteadyColumn::kSegment : 0);
    }

    void rangesHaveTheRawExtremes_data()
    {
        QTest::addColumn<int>("size");
        QTest::addColumn<bool>("withBad");
        for (const int size : { 1, 31, 32, 33, 1023, 1025, 40000, 1100000 }) {
            QTest::addRow("%d", size) << size << false;
            QTest::addRow("%d with NaN and Inf", size) << size << true;
        }
    }
    void rangesHaveTheRawExtremes()
    {
        QFETCH(const int, size);
        QFETCH(const bool, withBad);
        Random random(static_cast<std::uint64_t>(size));
        MetricColumn<float> column;
        std::vector<float> raw;
        for (int i = 0; i < size; ++i) {
            float value = static_cast<float>(random.uniform() * 100 - 50);
            if (withBad && random.below(10) == 0)
                value = random.below(2) ? std::numeric_limits<float>::quiet_NaN()
                                        : -std::numeric_limits<float>::infinity();
            raw.push_back(value);
            column.append(value);
        }
        for (int round = 0; round < 300; ++round) {
            auto begin = random.below(raw.size() + 1);
            auto end = random.below(raw.size() + 1);
            if (begin > end)
                std::swap(begin, end);
            if (size > 50000 && round % 3)
                end = std::min(raw.size(), begin + 2000);
            Summary want;
            for (auto i = begin; i < end; ++i)
                want.add(raw[i]);
            const auto got = column.pyramid.range(column.values, begin, end);
            QCOMPARE(got.count, want.count);
            QCOMPARE(got.min, want.min);
            QCOMPARE(got.max, want.max);
            if (want.count > 0)
                QVERIFY(std::abs(got.mean() - want.mean()) < 1e-3);
        }
    }

    /// A mean of paces weighed a step that waited for two seconds as one of ten milliseconds.
    void aStepThatStoodWeighedAsAQuickOne()
    {
        constexpr std::size_t kSteps = 5000;
        constexpr std::size_t kStood = 2345;
        std::vector<StepRecord> steps;
        std::int64_t now = 0;
        for (std::size_t i = 0; i < kSteps; ++i) {
            const double took = i == kStood ? 2 : 0.01;
            now += std::llround(took * 1e9);
            steps.push_back(stepThatTook(took, static_cast<std::int64_t>(i + 1), now));
        }
        const PaceColumn paces = stretchOf(steps).paces();
        const auto joined = [](std::size_t count) {
            const auto quick = static_cast<double>(count - 1);
            return 100 * (quick + 1) / (quick * 0.01 + 2);
        };
        QVERIFY(isAbout(paces.range(1, kSteps).mean(), joined(kSteps - 1)));
        for (const std::size_t around : { 1U, 7U, 40U, 1500U }) {
            const Summary both = paces.range(kStood - around, kStood + around);
            QVERIFY2(isAbout(both.mean(), joined(2 * around)), qPrintable(QString::number(both.mean())));
            QCOMPARE(both.count, 2 * around);
            QCOMPARE(both.max, 10'000.0F);
            QCOMPARE(both.min, 50.0F);
        }
        Summary parts = paces.range(1, 100); // joined in two goes it is the same
        parts.add(paces.range(100, kSteps));
        QVERIFY(isAbout(parts.mean(), joined(kSteps - 1)));
        QVERIFY(isAbout(paces.newest(kSteps), 10'000));
        QVERIFY(isAbout(paces.newest(kStood + 1), joined(512))); // 2^9 steps are the first that took five seconds
    }

    /// It loads the model and warms up; a worker's own meter leaves it out, too.
    void theFirstStepOfAProcessIsNoMeasureOfTheOthers()
    {
        std::vector<StepRecord> steps { stepThatTook(60, 1, 60'000'000'000) };
        for (std::int64_t i = 2; i <= 50; ++i)
            steps.push_back(stepThatTook(0.01, i, steps.back().monotonicNs + 10'000'000));
        const PaceColumn paces = stretchOf(steps).paces();
        QVERIFY(isAbout(paces.range(0, 50).mean(), 10'000));
        QVERIFY(isAbout(paces.range(0, 1).mean(), 100 / 60.0)); // alone it shows what it was
        Summary parts = paces.range(0, 1);
        parts.add(paces.range(1, 50));
        QVERIFY(isAbout(parts.mean(), 10'000));
    }

    /// 30 s between two steps are no step's: the worker says how long each took.
    void aPauseIsOfNoStep()
    {
        std::vector<StepRecord> steps;
        for (std::int64_t i = 1; i <= 100; ++i)
            steps.push_back(stepThatTook(0.01, i, i * 10'000'000 + (i > 50 ? 30'000'000'000 : 0)));
        QVERIFY(isAbout(stretchOf(steps).paces().range(0, 100).mean(), 10'000));
    }

    void workersOfAGroupHaveTheirOwnTokensAndTimes()
    {
        std::vector<StepRecord> leads, follows;
        for (std::int64_t i = 1; i <= 40; ++i) {
            StepRecord& lead = leads.emplace_back(stepThatTook(i % 2 == 0 ? 0.01 : 0.03, i, i * 20'000'000));
            lead.ranks = 2;
            lead.stepTokens *= 2; // of both
            StepRecord& follow = follows.emplace_back(lead);
            follow.rank = 1;
            follow.stepTokens = 0; // it tells none
            follow.tokensPerSecond = 5000;
        }
        const Summary led = stretchOf(leads).paces().range(2, 40);
        QVERIFY(isAbout(led.mean(), 5000));
        QVERIFY(isAbout(led.weight, 38 * 0.02));
        const Summary followed = stretchOf(follows).paces().range(2, 40);
        QVERIFY(isAbout(followed.mean(), 5000));
        QVERIFY(isAbout(followed.weight, 38 * 0.02));
    }

    void durationsKeepAQuarterOfAPercent()
    {
        // NaN has no place in a duration.
        for (const float value : { 0.0f, 0.001f, 1.0f, 3.14159f, 899.9f, 123456.0f })
            QVERIFY(std::abs(static_cast<float>(Duration16(value)) - value) <= value * 0.0025f);
        QCOMPARE(static_cast<float>(Duration16(-1.0f)), 0.0f);
    }

    void numbersAreReadExactly_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<double>("value");
        QTest::newRow("integer") << QByteArray("12") << 12.0;
        QTest::newRow("negative") << QByteArray("-0.5") << -0.5;
        QTest::newRow("many digits") << QByteArray("3.4312345981597900390625") << 3.4312345981597900390625;
        QTest::newRow("exponent") << QByteArray("6e-04") << 6e-4;
        QTest::newRow("eight digits") << QByteArray("12345678") << 12345678.0;
        QTest::newRow("nine digits") << QByteArray("123456789") << 123456789.0;
        QTest::newRow("fifteen digits") << QByteArray("300000053000017") << 300000053000017.0;
        QTest::newRow("zeros behind the point") << QByteArray("0.00000012345678") << 0.00000012345678;
        QTest::newRow("tiny") << QByteArray("1.5e-310") << 1.5e-310;
        QTest::newRow("large") << QByteArray("1.7976931348623157e308") << 1.7976931348623157e308;
        QTest::newRow("17 digits") << QByteArray("0.30000000000000004") << 0.30000000000000004;
        QTest::newRow("nan") << QByteArray("\"nan\"") << std::numeric_limits<double>::quiet_NaN();
        QTest::newRow("-inf") << QByteArray("\"-inf\"") << -std::numeric_limits<double>::infinity();
    }
    void numbersAreReadExactly()
    {
        QFETCH(const QByteArray, text);
        QFETCH(const double, value);
        ScannedLine line;
        scanLine("{\"k\":\"step\",\"t\":5,\"loss\":" + text.toStdString() + "}", line);
        QCOMPARE(line.kind, LineKind::Step);
        if (std::isnan(value))
            QVERIFY(std::isnan(line.step.loss));
        else
            QVERIFY(line.step.loss == value);
    }

    void linesComeBackAsTheyWereWritten()
    {
        StepRecord step { 123456789012345, 17, 2, 53, 300'000'053'000'017, 68000, 69632, 4096, 3.5, 5.875e-4, 0.75,
            118200, { 1.5, 2.25, 3.125, 0.5, 900.125 }, 17'100'000'000, 41.5 };
        EvalRecord eval { 5, 17, 69632, 3.25, 34, EvalRecord::What::Merged, { 100, 42, 44, 0.25 } };
        EventRecord event { 6, 17, 300'000'053'000'017, EventRecord::Kind::Rollback, "tab\t \"quoted\" \xc3\xa4" };
        GpuRecord gpu { 7, "GPU-5b1e", 0.5, 17, 24, 310.5, 66 };
        SampleRecord sample { 8, 17, "ROMEO:", "line\nbreak" };
        ClaimWaitRecord claims { 9, 5000, 0.125, 1.5, 20.25 };
        DriftRecord drift { 10, 3, 1, 0.5, 0.75, 41.5 };
        PrivacyRecord privacy { 11, 17, 3, 6.5625, 1e-6 };
        ScannedLine line;
        const auto scan = [&line](const TelemetryRecord& record) {
            std::string text;
            encodeLine(record, text);
            text.pop_back();
            scanLine(text, line);
        };
        scan(step);
        QVERIFY(line.kind == LineKind::Step && line.step == step);
        scan(eval);
        QVERIFY(line.kind == LineKind::Eval && line.eval == eval);
        scan(event);
        QVERIFY(line.kind == LineKind::Event && line.event == event);
        const EventRecord told { 6, 17, 0, EventRecord::Kind::Spike,
            sentence("loss %1 in windows %2 sticks out", { Real(2.9121, 4), "3-4" }) };
        scan(told);
        QVERIFY(line.kind == LineKind::Event && line.event == told);
        QCOMPARE(messageParts(line.event.text), messageParts(told.text)); // with what it is made of
        scan(gpu);
        QVERIFY(line.kind == LineKind::Gpu && line.gpu == gpu);
        scan(sample);
        QVERIFY(line.kind == LineKind::Sample && line.sample == sample);
        scan(claims);
        QVERIFY(line.kind == LineKind::Claims && line.claims == claims);
        scan(drift);
        QVERIFY(line.kind == LineKind::Drift && line.drift == drift);
        scan(privacy);
        QVERIFY(line.kind == LineKind::Privacy && line.privacy == privacy);
    }

    void everyCutOfALineIsBad()
    {
        std::string text;
        encodeLine(TelemetryRecord(StepRecord { 5, 17, 51, 0, 53, 100, 1, 2, 3, 3.5 }), text);
        text.pop_back();
        ScannedLine line;
        scanLine(text, line);
        QCOMPARE(line.kind, LineKind::Step);
        for (std::size_t length = 0; length < text.size(); ++length) {
            scanLine(std::string_view(text).substr(0, length), line);
            QVERIFY2(line.kind == LineKind::Bad, text.substr(0, length).c_str());
        }
    }
};

QTEST_GUILESS_MAIN(TestTelemetryColumns)
#include "tst_telemetry_columns.moc"
