#include "core/base/random.h"
#include "core/telemetry/column_store.h"
#include "ui/bench/synthetic_cells.h"
#include "ui/charts/bar_raster.h"
#include "ui/charts/chart_parts.h"
#include "ui/charts/coverage_map.h"
#include "ui/charts/map_legend.h"
#include "ui/charts/overview_strip.h"
#include "ui/charts/series_chart.h"
#include "ui/pages/small_charts.h"
#include "ui/theme/theme.h"

#include <QBuffer>
#include <QPainter>
#include <QSignalSpy>
#include <QTest>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <set>

using namespace furrow;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

struct Raw {
    std::vector<double> x;
    std::vector<float> y;
};

Raw noisy(std::uint64_t seed, std::size_t count, bool withBad)
{
    Random random(seed);
    Raw raw;
    double x = 0;
    for (std::size_t i = 0; i < count; ++i) {
        x += random.below(20) == 0 ? 0 : random.uniform() * 3; // equal x and uneven distances
        raw.x.push_back(x);
        float y = static_cast<float>(3 + random.uniform() + (random.below(1000) == 0 ? 9 * random.uniform() : 0));
        if (withBad && random.below(50) == 0)
            y = random.below(2) ? kNan : kInf;
        raw.y.push_back(y);
    }
    return raw;
}

CurvePtr flat(int begin, int count, float value)
{
    std::vector<double> x;
    for (int i = begin; i < begin + count; ++i)
        x.push_back(i);
    return makeCurve(x, std::vector<float>(x.size(), value));
}

/// A chart that has a size without being on a screen.
void place(SeriesChart& chart, QSize size)
{
    chart.setAttribute(Qt::WA_DontShowOnScreen);
    chart.resize(size);
    chart.show();
}

constexpr std::size_t kPaceSteps = 400;
constexpr std::size_t kStoodStep = 200;

/// Of steps [begin, end) of runThatStood(), joined.
double paceThatStood(std::size_t begin, std::size_t end)
{
    const auto steps = static_cast<double>(end - begin);
    return 100 * steps / (begin <= kStoodStep && kStoodStep < end ? (steps - 1) * 0.01 + 2 : steps * 0.01);
}

/// Two workers make steps of 100 tokens, each in 10 ms, but for one of two seconds.
/// @param secondSteps  that worker 1 makes
SnapshotPtr runThatStood(std::size_t secondSteps = kPaceSteps)
{
    ColumnStore store;
    for (int worker = 0; worker < 2; ++worker) {
        ColumnStore::Source source;
        ScannedLine line;
        line.kind = LineKind::Header;
        line.header.attempt = 1;
        line.header.worker = worker;
        store.add(source, line);
        line.kind = LineKind::Step;
        for (std::size_t i = 0; i < (worker == 0 ? kPaceSteps : secondSteps); ++i) {
            const std::int64_t tookMs = i == kStoodStep ? 2000 : 10;
            line.step.monotonicNs += tookMs * 1'000'000;
            line.step.step = static_cast<std::int64_t>(i + 1);
            line.step.tokens += line.step.stepTokens = 100;
            line.step.tokensPerSecond = 100'000.0 / static_cast<double>(tookMs);
            store.add(source, line);
        }
    }
    store.settle();
    return store.snapshot();
}

bool isAbout(double value, double wanted) { return std::abs(value - wanted) < 1e-4 * wanted; }

QByteArray png(QWidget& widget)
{
    QByteArray bytes;
    QBuffer buffer(&bytes);
    widget.grab().save(&buffer, "PNG");
    return bytes;
}

} // namespace

class TestCharts : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { theme().apply(ThemeKind::Dark); }

    void everyPixelColumnHasTheRawExtremes_data()
    {
        QTest::addColumn<int>("count");
        QTest::addColumn<double>("begin");
        QTest::addColumn<double>("end");
        QTest::addColumn<bool>("withBad");
        for (const int count : { 1, 100, 5000, 200'000 }) {
            for (const bool bad : { false, true }) {
                QTest::addRow("%d all %d", count, bad) << count << 0.0 << 1.0 << bad;
                QTest::addRow("%d zoomed %d", count, bad) << count << 0.41 << 0.47 << bad;
                QTest::addRow("%d deep %d", count, bad) << count << 0.5 << 0.5002 << bad;
                QTest::addRow("%d beyond %d", count, bad) << count << -0.7 << 1.9 << bad;
            }
        }
    }
    void everyPixelColumnHasTheRawExtremes()
    {
        QFETCH(const int, count);
        QFETCH(const double, begin);
        QFETCH(const double, end);
        QFETCH(const bool, withBad);
        const Raw raw = noisy(static_cast<std::uint64_t>(count), static_cast<std::size_t>(count), withBad);
        ChartLink link;
        SeriesChart chart(link);
        place(chart, { 700, 300 });
        chart.setData({ { { makeCurve(raw.x, raw.y), nullptr, 0 } } });
        const double span = std::max(1.0, raw.x.back() - raw.x.front());
        link.setRange(ChartLink::Range { raw.x.front() + span * begin, raw.x.front() + span * end });
        chart.replotNow();
        const auto& edges = chart.curves().edges();
        QVERIFY(edges.size() > 500);
        if (chart.curves().shapes().empty()) {
            QVERIFY(raw.x.back() < edges.front() || raw.x.front() > edges.back());
            return;
        }
        const auto& columns = chart.curves().shapes().front().columns;
        QCOMPARE(columns.size() + 1, edges.size());
        std::size_t i = 0;
        while (i < raw.x.size() && raw.x[i] < edges.front())
            ++i;
        for (std::size_t c = 0; c < columns.size(); ++c) {
            Summary want;
            for (; i < raw.x.size() && raw.x[i] < edges[c + 1]; ++i)
                want.add(raw.y[i]);
            QCOMPARE(columns[c].summary.count, want.count);
            QCOMPARE(columns[c].summary.min, want.min);
            QCOMPARE(columns[c].summary.max, want.max);
        }
    }

    /// The dashed end of a curve, of steps that were lost, was cut off at the edge: the axis was made for the others.
    void lostStepsWereCutOffByTheAxis()
    {
        constexpr int kPoints = 200;
        constexpr int kKept = 197;
        std::vector<double> x;
        std::vector<float> y;
        for (int i = 0; i < kPoints; ++i) {
            x.push_back(i);
            y.push_back(i < kKept ? 2.0F + 0.01F * static_cast<float>(i % 10) : 9.0F);
        }
        ChartLine line { makeCurve(x, y), nullptr, 0 };
        line.supersededFrom = kKept;
        ChartData data;
        data.lines.push_back(line);
        ChartLink link;
        SeriesChart chart(link);
        place(chart, { 700, 300 });
        chart.setData(data);
        chart.replotNow();
        const QCPRange shown = chart.curves().suggestedValues();
        QVERIFY2(shown.upper > 9, qPrintable(QString::number(shown.upper)));
        QVERIFY(shown.lower < 2);
    }

    void theSameInputGivesTheSamePicture()
    {
        const auto draw = [] {
            const Raw raw = noisy(5, 50'000, true);
            ChartLink link;
            SeriesChart chart(link);
            chart.setTitle(QStringLiteral("Training loss"), QStringLiteral("nats per token"));
            place(chart, { 640, 320 });
            chart.setData(
                { { { makeCurve(raw.x, raw.y), nullptr, 0 }, { makeCurve(raw.x, raw.y), nullptr, 1, 30'000 } } });
            chart.replotNow();
            return png(chart);
        };
        const QByteArray first = draw();
        QVERIFY(first.size() > 5000);
        QCOMPARE(draw(), first);
    }

    void theSameFieldGivesTheSamePicture()
    {
        const auto draw = [] {
            CoverageMap map;
            map.setAttribute(Qt::WA_DontShowOnScreen);
            map.resize(800, 500);
            map.setCells(syntheticCells(2, 60, 20));
            map.show();
            return png(map);
        };
        QCOMPARE(draw(), draw());
    }

    void smoothingKeepsAConstantAndIgnoresNaN_data()
    {
        QTest::addColumn<int>("kind");
        for (int kind = 0; kind <= static_cast<int>(SmoothingKind::Median); ++kind)
            QTest::addRow("%d", kind) << kind;
    }
    void smoothingKeepsAConstantAndIgnoresNaN()
    {
        QFETCH(const int, kind);
        std::vector<double> x;
        std::vector<float> y;
        for (int i = 0; i < 3000; ++i) {
            x.push_back(i * 7.0);
            y.push_back(i % 17 == 0 ? kNan : 2.5f);
        }
        const Smoothing smoothing { static_cast<SmoothingKind>(kind), 500 };
        const auto grid = smoothingGrid(0, 21000, 400, smoothing);
        std::vector<WeightedBin> bins;
        addToBins(bins, grid, *makeCurve(x, y), nullptr, x.size());
        const auto points = smooth(bins, smoothing);
        QVERIFY(points.size() > 100);
        for (const auto& p : points)
            QVERIFY(std::abs(p.y - 2.5) < 1e-6);
    }

    void aZeroPhaseAverageDoesNotLag()
    {
        std::vector<double> x;
        std::vector<float> y;
        for (int i = 0; i < 2000; ++i) {
            x.push_back(i);
            y.push_back(i < 1000 ? 0.0f : 1.0f);
        }
        const auto middle = [&](SmoothingKind kind) {
            const Smoothing smoothing { kind, 50 };
            std::vector<WeightedBin> bins;
            addToBins(bins, smoothingGrid(0, 2000, 1000, smoothing), *makeCurve(x, y), nullptr, x.size());
            for (const auto& p : smooth(bins, smoothing)) {
                if (p.y >= 0.5)
                    return p.x;
            }
            return 0.0;
        };
        QVERIFY(std::abs(middle(SmoothingKind::ZeroPhaseEma) - 1000) < 4);
        QVERIFY(std::abs(middle(SmoothingKind::Gaussian) - 1000) < 4);
        QVERIFY(std::abs(middle(SmoothingKind::Median) - 1000) < 4);
        QVERIFY(middle(SmoothingKind::Ema) > 1025);
    }

    /// Bins as wide as two pixels, and a kernel that was cut at the edge, gave the same data other values.
    void theSmoothedValueFollowedTheWidthOfTheWidgetAndTheZoom_data()
    {
        QTest::addColumn<int>("kind");
        QTest::addColumn<bool>("logarithmic");
        for (const bool logarithmic : { false, true })
            for (int kind = static_cast<int>(SmoothingKind::Ema); kind <= static_cast<int>(SmoothingKind::Median);
                ++kind)
                QTest::addRow("%d %s", kind, logarithmic ? "log" : "linear") << kind << logarithmic;
    }
    void theSmoothedValueFollowedTheWidthOfTheWidgetAndTheZoom()
    {
        QFETCH(const int, kind);
        QFETCH(const bool, logarithmic);
        const Raw raw = noisy(5, 20'000, true);
        const double length = raw.x.back();
        const auto valueIn = [&](QSize size, std::optional<ChartLink::Range> range, double x) {
            ChartLink link;
            SeriesChart chart(link);
            ChartOptions options;
            options.smoothing.kind = static_cast<SmoothingKind>(kind);
            options.logX = logarithmic;
            chart.setOptions(options);
            place(chart, size);
            chart.setData({ { { makeCurve(raw.x, raw.y), nullptr, 0 } } });
            link.setRange(range);
            chart.replotNow();
            return chart.curves().valueAt(0, x);
        };
        const double x = length * 0.6;
        const double wide = valueIn({ 1600, 400 }, {}, x);
        QVERIFY(std::isfinite(wide));
        for (const QSize size : { QSize(300, 200), QSize(777, 300) })
            QVERIFY2(std::abs(valueIn(size, {}, x) - wide) < 1e-6, qPrintable(QString::number(size.width())));
        for (const double half : { 0.2, 0.02, 0.001 }) {
            const double zoomed = valueIn({ 800, 300 }, ChartLink::Range { x - half * length, x + half * length }, x);
            QVERIFY2(std::abs(zoomed - wide) < 1e-4,
                qPrintable(QStringLiteral("%1: %2, %3").arg(half).arg(zoomed).arg(wide)));
        }
    }

    /// An evaluation at the end of a run stands at the right edge of its chart.
    void theLastEvaluationWasCutInHalfAtTheEdge()
    {
        ChartLink link;
        SeriesChart chart(link);
        place(chart, { 400, 200 });
        const Raw raw = noisy(5, 1000, false);
        ChartData data { { { makeCurve(raw.x, raw.y), nullptr, 0 } } };
        data.evals.push_back({ raw.x.back(), 3.5 });
        chart.setData(data);
        chart.replotNow();
        const QImage picture = chart.grab().toImage();
        const QCPAxis& axis = *chart.curves().keyAxis();
        const QPoint edge
            = chart.curves().parentPlot()->mapTo(&chart, QPoint(axis.axisRect()->right(), axis.axisRect()->top()));
        int lit = 0;
        for (int y = edge.y(); y < edge.y() + axis.axisRect()->height(); ++y)
            for (int x = edge.x() + 2; x < edge.x() + 6; ++x)
                lit += picture.pixelColor(x, y) != theme().color(Token::Inset) ? 1 : 0;
        QVERIFY2(lit > 4, qPrintable(QString::number(lit)));
    }

    void theMeanWeighsTokens()
    {
        std::vector<double> x;
        for (int i = 0; i < 100; ++i)
            x.push_back(i);
        const auto constant = [&](float v) { return makeCurve(x, std::vector<float>(x.size(), v)); };
        ChartLink link;
        SeriesChart chart(link);
        place(chart, { 400, 200 });
        chart.setData({ { { constant(1), constant(3000), 0 }, { constant(2), constant(1000), 1 } } });
        chart.replotNow();
        QVERIFY(!chart.curves().mean().empty());
        for (const auto& p : chart.curves().mean())
            QVERIFY(std::abs(p.y - 1.25) < 1e-6);
    }

    /// Paces of steps were averaged: one that stood for two seconds counted as one of ten milliseconds, and chart and
    /// mean said up to ten times what the overview says.
    void tokensPerSecondWereAMeanOfPaces()
    {
        const SnapshotPtr run = runThatStood();
        ChartLink link;
        SeriesChart chart(link);
        place(chart, { 200, 200 });
        ChartOptions options;
        options.smoothing.width = 1e6; // over all there is
        chart.setOptions(options);
        chart.setData(chartDataOf(*run, Metric::TokensPerSecond, XAxis::WorkerStep));
        chart.replotNow();
        const double wanted = paceThatStood(1, kPaceSteps); // the first step warms up
        const auto statistics = chart.statistics();
        QCOMPARE(statistics.size(), std::size_t(2));
        for (const SeriesChart::Statistic& of : statistics) {
            QVERIFY2(isAbout(of.mean, wanted), qPrintable(QString::number(of.mean)));
            QVERIFY2(isAbout(of.newest, wanted), qPrintable(QString::number(of.newest))); // of the last five seconds
        }
        QVERIFY(isAbout(chart.curves().mean().back().y, wanted));
        for (const CurvesLayer::Shape& shape : chart.curves().shapes()) {
            QVERIFY(isAbout(shape.smooth.back().y, wanted));
            std::size_t steps = 0;
            for (const PixelColumn& column : shape.columns) {
                if (column.begin == 0 || column.end <= column.begin)
                    continue;
                QVERIFY(isAbout(column.summary.mean(), paceThatStood(column.begin, column.end)));
                steps = std::max(steps, column.end - column.begin);
            }
            QVERIFY(steps > 1); // several were joined
        }
    }

    /// The chart of two workers is as high as both together, as the overview says it; so is the number in its title,
    /// which was the mean of their last single steps.
    void stackedWorkersWereTitledByTheirMean()
    {
        const SnapshotPtr run = runThatStood();
        const double wanted = 2 * paceThatStood(1, kPaceSteps);
        ChartLink link;
        SmallCharts charts(link);
        charts.setAttribute(Qt::WA_DontShowOnScreen);
        charts.resize(600, 200);
        charts.setShown({ SmallChart::Speed });
        ChartOptions options;
        options.smoothing.width = 1e6;
        charts.setOptions(options);
        charts.setData([&run](Metric metric) { return chartDataOf(*run, metric, XAxis::WorkerStep); }, {}, {}, {});
        charts.show();
        auto* chart = charts.findChild<SeriesChart*>();
        QVERIFY(chart != nullptr);
        chart->replotNow();
        QVERIFY(!chart->curves().total().empty());
        for (const SmoothPoint& top : chart->curves().total())
            QVERIFY2(isAbout(top.y, wanted), qPrintable(QStringLiteral("%1 at %2").arg(top.y).arg(top.x)));
        const auto* title = chart->findChild<ChartTitle*>();
        QVERIFY(title != nullptr);
        QCOMPARE(title->unit(), QStringLiteral("all workers, stacked"));
        QVERIFY2(isAbout(QLocale().toDouble(title->right()), wanted), qPrintable(title->right()));
    }

    /// The sum of the title is of those that train where the picture ends.
    void theSpeedOfAWorkerThatEndedIsNotAdded()
    {
        ChartLink link;
        SmallCharts charts(link);
        charts.setAttribute(Qt::WA_DontShowOnScreen);
        charts.resize(600, 200);
        charts.setShown({ SmallChart::Speed });
        const SnapshotPtr run = runThatStood(100); // it ends five seconds before the other
        charts.setData([&run](Metric metric) { return chartDataOf(*run, metric, XAxis::WorkerStep); }, {}, {}, {});
        charts.show();
        charts.findChild<SeriesChart*>()->replotNow();
        const QString said = charts.findChild<ChartTitle*>()->right();
        QVERIFY2(isAbout(QLocale().toDouble(said), paceThatStood(1, kPaceSteps)), qPrintable(said));
        link.setRange(ChartLink::Range { 0, 50 }); // there it trained
        charts.findChild<SeriesChart*>()->replotNow();
        const QString before = charts.findChild<ChartTitle*>()->right();
        QVERIFY2(isAbout(QLocale().toDouble(before), 20'000), qPrintable(before));
    }

    /// The strip of a run began where one that was shown before had begun, in a chart that this one does not have.
    void aChartThatIsHiddenKeptTheRangeOfTheRunBefore()
    {
        ChartLink link;
        SmallCharts charts(link);
        QSignalSpy changed(&link, &ChartLink::extentChanged);
        const SnapshotPtr run = runThatStood();
        const auto dataOf = [&run](Metric metric) { return chartDataOf(*run, metric, XAxis::WorkerStep); };
        charts.setShown({ SmallChart::Speed });
        charts.setData(dataOf, {}, {}, {});
        QVERIFY(link.extent().has_value());
        QCOMPARE(changed.count(), 1);
        charts.setShown({ SmallChart::Drift });
        charts.clearData();
        QVERIFY(!link.extent().has_value());
        QCOMPARE(changed.count(), 2);
    }

    /// A run went on with one worker of two, and the last speed of the other lay on top of it to the end.
    void aWorkerThatEndedWasStackedOnALaterAttempt()
    {
        const auto constant = [](int begin, int end) {
            std::vector<double> x;
            for (int i = begin; i < end; ++i)
                x.push_back(i);
            return makeCurve(x, std::vector<float>(x.size(), 100));
        };
        constexpr auto kAll = std::numeric_limits<std::size_t>::max();
        ChartData data;
        data.lines = { { constant(0, 100), nullptr, 0, kAll, 0, 1 }, { constant(100, 200), nullptr, 0, kAll, 0, 2 },
            { constant(0, 100), nullptr, 1, kAll, 0, 1 } };
        data.seams.push_back({ 100, QStringLiteral("Attempt 2"), QStringLiteral("resumed") });
        ChartLink link;
        SeriesChart chart(link);
        ChartOptions stacked;
        stacked.stacked = true;
        chart.setOptions(stacked);
        place(chart, { 600, 300 });
        chart.setData(data);
        chart.replotNow();
        const QImage picture = chart.grab().toImage();
        const auto isFilled = [&](double x, double y) {
            const CurvesLayer& curves = chart.curves();
            const QPointF at(curves.keyAxis()->coordToPixel(x), curves.valueAxis()->coordToPixel(y));
            return picture.pixelColor(curves.parentPlot()->mapTo(&chart, at.toPoint())) != theme().color(Token::Inset);
        };
        QVERIFY(isFilled(63, 34)); // worker 0
        QVERIFY(isFilled(63, 134)); // and worker 1 on it
        QVERIFY(isFilled(163, 34));
        QVERIFY(!isFilled(163, 134));
    }

    /// Its smoothing was narrower than the steps of a young run are apart.
    void theMeanSwungBetweenWorkersOfFewSteps()
    {
        std::vector<double> even, odd;
        for (int i = 0; i < 20; ++i) {
            even.push_back(2 * i);
            odd.push_back(2 * i + 1);
        }
        ChartLink link;
        SeriesChart chart(link);
        place(chart, { 400, 200 });
        chart.setData({ { { makeCurve(even, std::vector<float>(even.size(), 2)), nullptr, 0 },
            { makeCurve(odd, std::vector<float>(odd.size(), 4)), nullptr, 1 } } });
        chart.replotNow();
        int seen = 0;
        for (const auto& p : chart.curves().mean()) {
            if (p.x < 8)
                continue;
            QVERIFY2(std::abs(p.y - 3) < 0.4, qPrintable(QStringLiteral("%1 at %2").arg(p.y).arg(p.x)));
            ++seen;
        }
        QVERIFY(seen > 20);
    }

    /// It was averaged over a fiftieth of the longest run beside it, to the harm of the shorter one.
    void theSmoothedLossOfARunWasAnotherInAComparison()
    {
        const auto falling = [](int first, int count) {
            std::vector<double> x;
            std::vector<float> y;
            for (int i = first; i < first + count; ++i) {
                x.push_back(i);
                y.push_back(static_cast<float>(2 + 2 * std::exp(-i / 300.0) + 0.3 * std::sin(i * 1.7)));
            }
            return makeCurve(x, y);
        };
        const std::vector<ChartLine> own { { falling(0, 700), nullptr, 0 }, { falling(700, 300), nullptr, 0 },
            { falling(0, 700), nullptr, 1 }, { falling(700, 280), nullptr, 1 } };
        ChartLink alone;
        SeriesChart run(alone);
        place(run, { 400, 200 });
        run.setData({ own });
        run.replotNow();
        QVERIFY(!run.curves().mean().empty());
        ChartData both;
        both.names = { QStringLiteral("long"), QStringLiteral("short") };
        both.lines.push_back({ falling(0, 100'000), nullptr, 0 });
        for (ChartLine line : own) {
            line.member = std::exchange(line.worker, 1);
            both.lines.push_back(line);
        }
        ChartLink link;
        SeriesChart compared(link);
        place(compared, { 600, 200 });
        compared.setData(both);
        compared.replotNow();
        QVERIFY(compared.curves().meanOfRun(0) == nullptr);
        const auto* mean = compared.curves().meanOfRun(1);
        QVERIFY(mean != nullptr);
        QCOMPARE(mean->back().y, run.curves().mean().back().y);
        QCOMPARE(compared.curves().valueAt(1, 1000), mean->back().y);
    }

    /// "jumps of the loss 12.00"
    void theNumberOfJumpsHadDecimals()
    {
        ChartLink link;
        SeriesChart chart(link);
        place(chart, { 400, 200 });
        ChartData data;
        data.lines.push_back({ makeCurve({ 0, 1, 2 }, { 3, 2, 1 }), nullptr, 0 });
        data.spikes = std::vector<ChartSpan>(12, { 1, 2 });
        chart.setData(data);
        chart.replotNow();
        const auto& entries = chart.findChild<ChartTitle*>()->entries();
        QCOMPARE(entries.back().worker, -3);
        QCOMPARE(entries.back().value, QStringLiteral("12"));
    }

    /// Its few points lay on each other in the few pixels of an attempt, and looked like the smoothed curve.
    void theRawPointsOfAShortAttemptLookedSmoothed()
    {
        std::vector<double> x, shortX;
        std::vector<float> noise;
        for (int i = 0; i < 500; ++i) {
            x.push_back(i * 200.0);
            shortX.push_back(40'000 + i * 6.0);
            noise.push_back(static_cast<float>(2 + 0.9 * std::sin(i * 2.3)));
        }
        ChartLink link;
        SeriesChart chart(link);
        place(chart, { 900, 300 });
        chart.setData({ { { makeCurve(shortX, noise), nullptr, 0 },
            { makeCurve(x, std::vector<float>(x.size(), 2)), nullptr, 1 } } });
        chart.replotNow();
        const QImage picture = chart.grab().toImage();
        const QColor full = theme().workerColor(0);
        int painted = 0;
        for (int row = 60; row < picture.height(); ++row)
            for (int column = 0; column < picture.width(); ++column) {
                const QColor here = picture.pixelColor(column, row);
                painted += std::abs(here.red() - full.red()) + std::abs(here.green() - full.green())
                            + std::abs(here.blue() - full.blue())
                        < 60
                    ? 1
                    : 0;
            }
        QVERIFY2(painted < 400, qPrintable(QString::number(painted)));
    }

    void supersededPointsAreInNoAverage()
    {
        ChartLink link;
        SeriesChart chart(link);
        place(chart, { 400, 200 });
        std::vector<double> x;
        std::vector<float> y;
        for (int i = 0; i < 100; ++i) {
            x.push_back(i);
            y.push_back(i < 90 ? 1.0f : 100.0f);
        }
        chart.setData({ { { makeCurve(x, y), nullptr, 0, 90 } } });
        chart.replotNow();
        for (const auto& p : chart.curves().shapes().front().smooth)
            QVERIFY(std::abs(p.y - 1) < 1e-6);
        QVERIFY(!chart.curves().shapes().front().superseded.empty());
        QCOMPARE(chart.statistics().front().count, std::uint64_t(90));
    }

    /// Steps that are in no weights stood in it as the others do, or not at all.
    void theSavedTableDidNotSayWhichStepsAreLost()
    {
        ChartLink link;
        SeriesChart chart(link);
        place(chart, { 400, 200 });
        const CurvePtr curve = makeCurve(std::vector<double> { 0, 1, 2, 3 }, std::vector<float> { 5, 4, 3, 2 });
        ChartLine whole { curve, nullptr, 1 }; // as of an attempt whose curve was asked for
        whole.lostFrom = 3;
        chart.setData({ { { curve, nullptr, 0, 2 }, whole } });
        chart.replotNow();
        QCOMPARE(chart.csv(),
            QStringLiteral("worker,x,y,lost\n0,0,5,0\n0,1,4,0\n0,2,3,1\n0,3,2,1\n"
                           "1,0,5,0\n1,1,4,0\n1,2,3,0\n1,3,2,1\n"));
    }

    /// Newer data may have fewer points than what was measured for the frame that is shown.
    void statisticsAreOfTheFrameThatIsShown()
    {
        const Raw many = noisy(2, 20'000, false);
        const Raw few = noisy(3, 10, false);
        ChartLink link;
        SeriesChart chart(link);
        place(chart, { 400, 200 });
        chart.setData({ { { makeCurve(few.x, few.y), nullptr, 0 }, { makeCurve(many.x, many.y), nullptr, 1 } } });
        chart.replotNow();
        chart.setData({ { { makeCurve(few.x, few.y), nullptr, 4 } } });
        QCOMPARE(chart.statistics().size(), std::size_t(2));
        QCOMPARE(chart.statistics().back().count, std::uint64_t(20'000));
        QVERIFY(chart.csv().count(QLatin1Char('\n')) > 20'000);
        chart.replotNow();
        QCOMPARE(chart.statistics().size(), std::size_t(1));
        QCOMPARE(chart.statistics().front().worker, 4);
    }

    void aMinimisedChartDrawsWhenItIsSeenAgain()
    {
        const Raw raw = noisy(4, 1000, false);
        QWidget window;
        window.resize(400, 200);
        ChartLink link;
        SeriesChart chart(link, &window);
        chart.resize(400, 200);
        window.show();
        QTRY_VERIFY(chart.accessibleDescription().contains(QStringLiteral("No steps")));
        window.showMinimized();
        QSignalSpy drawn(&chart, &SeriesChart::replotted);
        chart.setData({ { { makeCurve(raw.x, raw.y), nullptr, 0 } } });
        QTest::qWait(200);
        QCOMPARE(drawn.count(), 0);
        window.showNormal();
        chart.update();
        QTRY_VERIFY(!chart.curves().shapes().empty());
    }

    /// Bars in one pass are what painting one after the other gives, but for rounding.
    void barsLieOnEachOtherAsPainted()
    {
        Random random(8);
        QImage once(60, 90, QImage::Format_RGB32);
        once.fill(qRgb(20, 30, 40));
        QImage oneByOne = once;
        BarRaster raster;
        const QRect area(10, 5, 40, 80);
        raster.clear(area);
        QPainter painter(&oneByOne);
        for (int i = 0; i < 300; ++i) {
            const int x = static_cast<int>(random.below(40));
            const int top = static_cast<int>(random.below(100)) - 10;
            const int bottom = top + static_cast<int>(random.below(40));
            const QColor color(static_cast<int>(random.below(256)), static_cast<int>(random.below(256)), 200, 70);
            raster.add(static_cast<std::size_t>(x), top + 0.3, bottom + 0.6, qPremultiply(color.rgba()));
            painter.fillRect(QRect(area.left() + x, top, 1, bottom - top + 1) & area, color);
        }
        raster.paintOn(once);
        int farthest = 0;
        for (int y = 0; y < once.height(); ++y) {
            for (int x = 0; x < once.width(); ++x) {
                const QRgb a = once.pixel(x, y);
                const QRgb b = oneByOne.pixel(x, y);
                farthest = std::max({ farthest, std::abs(qRed(a) - qRed(b)), std::abs(qGreen(a) - qGreen(b)),
                    std::abs(qBlue(a) - qBlue(b)) });
                if (!area.contains(x, y))
                    QCOMPARE(a, qRgb(20, 30, 40));
            }
        }
        QVERIFY2(farthest <= 6, qPrintable(QString::number(farthest)));
    }

    /// Drawn while it was painted first, a chart said nothing: no newest value stood in the titles of a run that had
    /// ended.
    void theFirstFrameIsToldToo()
    {
        const Raw raw = noisy(5, 500, false);
        ChartLink link;
        SeriesChart chart(link);
        place(chart, QSize(400, 200));
        ChartData data;
        data.lines.push_back({ makeCurve(raw.x, raw.y), nullptr, 0 });
        chart.setData(data);
        const QSignalSpy told(&chart, &SeriesChart::replotted);
        chart.grab();
        QVERIFY(told.count() >= 1);
        QCOMPARE(chart.statistics().size(), std::size_t(1));
    }

    void theMeanDoesNotCrossTimeWithoutData()
    {
        std::vector<double> x;
        for (int i = 0; i < 100; ++i)
            x.push_back(i);
        std::vector<double> later = x;
        for (double& value : later)
            value += 1000;
        const std::vector<float> y(100, 2.0f);
        ChartLink link;
        SeriesChart chart(link);
        place(chart, QSize(600, 240));
        ChartData data;
        for (int worker = 0; worker < 2; ++worker) {
            data.lines.push_back({ makeCurve(x, y), nullptr, worker });
            data.lines.push_back({ makeCurve(later, y), nullptr, worker });
        }
        const auto litInTheMiddle = [&chart] {
            chart.replotNow();
            const QImage picture = chart.grab().toImage();
            const int middle = 54 + (600 - 54 - 12) / 2;
            int lit = 0;
            for (int row = 40; row < picture.height() - 30; ++row)
                lit += qGray(picture.pixel(middle, row)) > 150 ? 1 : 0;
            return lit;
        };
        chart.setData(data);
        QVERIFY(litInTheMiddle() > 0); // the line of the mean, where no gap is known
        data.gaps.push_back({ 99, 1000 });
        chart.setData(data);
        QCOMPARE(litInTheMiddle(), 0);
    }

    /// After the run went back it was a curve of steps that nobody made, rising from the last kept ones to the next.
    void theMeanWasDrawnThroughStepsThatWereThrownAway_data()
    {
        QTest::addColumn<int>("kind");
        for (int kind = 0; kind <= static_cast<int>(SmoothingKind::Median); ++kind)
            QTest::addRow("%d", kind) << kind;
    }
    void theMeanWasDrawnThroughStepsThatWereThrownAway()
    {
        QFETCH(const int, kind);
        ChartLink link;
        SeriesChart chart(link);
        ChartOptions options;
        options.smoothing.kind = static_cast<SmoothingKind>(kind);
        chart.setOptions(options);
        place(chart, { 700, 300 });
        ChartData data;
        for (const int worker : { 0, 1 }) {
            data.lines.push_back({ flat(0, 100, 100), nullptr, worker, 50 });
            data.lines.push_back({ flat(100, 50, 300), nullptr, worker });
        }
        const auto& curves = chart.curves();
        chart.setData(data);
        chart.replotNow();
        QVERIFY(std::abs(curves.meanAt(40) - 100) < 1e-6);
        QVERIFY(std::isnan(curves.meanAt(75)));
        QVERIFY(std::abs(curves.meanAt(101) - 300) < 1e-6); // nothing of what is before the gap
        QVERIFY(std::isfinite(curves.mean().back().y));
        OverviewStrip strip(link);
        strip.setAttribute(Qt::WA_DontShowOnScreen);
        strip.resize(700, strip.height());
        strip.setData(data);
        const QImage picture = strip.grab().toImage();
        const auto isLineAt = [&](double x) {
            const int column = static_cast<int>(curves.keyAxis()->coordToPixel(x));
            for (int row = 6; row < picture.height() - 5; ++row)
                if (picture.pixel(column, row) != picture.pixel(column, 5))
                    return true;
            return false;
        };
        QVERIFY(isLineAt(40) && isLineAt(120));
        QVERIFY(!isLineAt(75));
        ChartData run = data;
        run.names = { QStringLiteral("run") };
        for (ChartLine& line : run.lines)
            line.member = std::exchange(line.worker, 0);
        chart.setData(run);
        chart.replotNow();
        QVERIFY(std::isfinite(curves.valueAt(0, 40)) && std::isnan(curves.valueAt(0, 75)));
        data.lines[0].supersededFrom = 100; // who goes on has a mean
        chart.setData(data);
        chart.replotNow();
        QVERIFY(curves.meanAt(75) >= 100 && curves.meanAt(75) < 300); // a wide window reaches what comes behind
    }

    /// It was as high as before through all of what was thrown away.
    void theSpeedOfStepsThatWereThrownAwayWasAPlateau()
    {
        ChartLink link;
        SeriesChart chart(link);
        ChartOptions stacked;
        stacked.stacked = true;
        chart.setOptions(stacked);
        place(chart, { 700, 300 });
        chart.setData({ { { flat(0, 100, 100), nullptr, 0, 50 }, { flat(100, 50, 100), nullptr, 0 } } });
        chart.replotNow();
        const auto& total = chart.curves().total();
        const auto isShown = [&total](double from, double to) {
            return std::ranges::any_of(total, [=](const SmoothPoint& at) { return at.x > from && at.x < to; });
        };
        QVERIFY(isShown(30, 49) && isShown(101, 140));
        QVERIFY(!isShown(51, 99));
    }

    /// "eval 2.609", while the weights that were evaluated were in no model any more.
    void theLegendStatedAnEvaluationWhoseWeightsAreLost()
    {
        ChartLink link;
        SeriesChart chart(link);
        place(chart, { 600, 300 });
        ChartData data { { { flat(0, 100, 3), nullptr, 0 } }, { { 20, 3.5 }, { 40, 2.5 }, { 60, 2.25 } } };
        const auto said = [&] {
            chart.setData(data);
            chart.replotNow();
            const auto& entries = chart.findChild<ChartTitle*>()->entries();
            const auto found = std::ranges::find(entries, -2, &ChartTitle::Entry::worker);
            return found == entries.end() ? QString() : found->name + QLatin1Char(' ') + found->value;
        };
        QCOMPARE(said(), QStringLiteral("eval ") + valueText(2.25));
        data.evals[2].isLost = true;
        QCOMPARE(said(), QStringLiteral("eval ") + valueText(2.5)); // those of the kept weights
        data.evals[0].isLost = data.evals[1].isLost = true;
        QCOMPARE(said(), QStringLiteral("eval (lost) ") + valueText(2.25));
        data.evalNow = 2.75;
        QCOMPARE(said(), QStringLiteral("eval ") + valueText(2.75));
        data.evalNow = std::numeric_limits<double>::quiet_NaN();
        QCOMPARE(said(), QStringLiteral("eval (lost) ") + valueText(2.25));
    }

    /// Right answers before and after those that were thrown away were one line.
    void theAnswersWereJoinedOverThoseThatWereThrownAway()
    {
        TelemetrySnapshot snapshot;
        Stretch& stretch = snapshot.stretches.emplace_back();
        stretch.attempt = 1;
        stretch.wallStart = 1000;
        std::vector<EvalPoint> evals;
        for (std::uint32_t i = 0; i < 10; ++i) {
            stretch.step.append(i);
            stretch.millis.append(i * 1000);
            EvalPoint& eval = evals.emplace_back();
            eval.wall = stretch.wallAt(i) + 0.1;
            eval.record.step = i;
            eval.record.tasks.questions = 10;
        }
        snapshot.evals = std::make_shared<const std::vector<EvalPoint>>(std::move(evals));
        const auto isLost = [](const ChartEval& eval) { return eval.step >= 4 && eval.step < 7; };
        const ChartData answers = answersDataOf(snapshot, XAxis::WorkerStep, 0, isLost);
        QCOMPARE(answers.lines.size(), std::size_t(3));
        QCOMPARE(answers.lines[0].curve->size(), std::size_t(4));
        QCOMPARE(answers.lines[1].curve->size(), std::size_t(3));
        QCOMPARE(answers.lines[1].curve->x(0), 7.0);
        QCOMPARE(answers.lines[2].supersededFrom, std::size_t(0)); // with the one before them
        QCOMPARE(answers.lines[2].curve->size(), std::size_t(4));
    }

    /// As the first answers after lost ones are, before there are others to join them with.
    void aPointThatIsAWholeCurveWasOnePixel()
    {
        ChartLink link;
        SeriesChart chart(link);
        ChartOptions plain;
        plain.smoothing.kind = SmoothingKind::None;
        chart.setOptions(plain);
        place(chart, { 400, 200 });
        chart.setData({ { { flat(0, 4, 0.25F), nullptr, 0 }, { flat(5, 1, 0.5F), nullptr, 0 },
            { flat(6, 4, 0.75F), nullptr, 0 } } });
        chart.replotNow();
        const QImage picture = chart.grab().toImage();
        const auto& curves = chart.curves();
        const QPointF at(curves.keyAxis()->coordToPixel(5), curves.valueAxis()->coordToPixel(0.5));
        const QPoint middle = curves.parentPlot()->mapTo(&chart, at.toPoint());
        int lit = 0;
        for (int row = -4; row <= 4; ++row)
            for (int column = -4; column <= 4; ++column)
                lit += picture.pixelColor(middle + QPoint(column, row)) == theme().workerColor(0) ? 1 : 0;
        QVERIFY2(lit > 4, qPrintable(QString::number(lit)));
    }

    void marksAtTheEdgeDoNotCoverEachOther()
    {
        for (const bool top : { true, false }) {
            EdgeRoom room(top);
            const QRectF wanted(100, 10, 60, 14);
            const QRectF sign = room.take(QRectF(120, 10, 9, 12));
            const QRectF first = room.take(wanted);
            const QRectF second = room.take(wanted);
            QCOMPARE(sign.top(), 10.0);
            QVERIFY(!first.intersects(sign) && !second.intersects(sign) && !second.intersects(first));
            QCOMPARE(first.top() > sign.top(), top);
            QCOMPARE(first.left(), wanted.left());
            QCOMPARE(room.take(QRectF(300, 10, 60, 14)).top(), 10.0);
        }
    }

    /// One number on an axis, or two, say nothing of what is between.
    void anAxisOfASmallChartHadOneNumber()
    {
        Random random(7);
        const auto numbersOf = [](QCPAxisTicker&& ticker, const QCPRange& range) {
            constexpr int kAsked = 3;
            ticker.setTickCount(kAsked);
            QVector<double> ticks;
            QVector<QString> words;
            ticker.generate(range, QLocale(), QLatin1Char('g'), 4, ticks, nullptr, &words);
            ticks.erase(std::remove_if(ticks.begin(), ticks.end(),
                            [&range](double tick) { return tick < range.lower || tick > range.upper; }),
                ticks.end());
            return std::pair(ticks.size(), QSet<QString>(words.begin(), words.end()).size() == words.size());
        };
        for (int i = 0; i < 2000; ++i) {
            const double size = std::pow(10, -6 + 14 * random.uniform());
            const double low = random.below(2) ? 0 : size * 3 * random.uniform();
            const QCPRange range(low, low + size);
            const auto [values, differ] = numbersOf(ValueTicker(), range);
            QVERIFY2(values >= 3 && values <= 6 && differ, qPrintable(QStringLiteral("%1 %2").arg(low).arg(size)));
            const auto [tokens, unused] = numbersOf(ChartTicker(XAxis::Tokens), QCPRange(low, low + size * 100));
            QVERIFY(tokens >= 3 && tokens <= 6);
        }
    }

    void zoomIsLinkedAndGoesBack()
    {
        const Raw raw = noisy(1, 1000, false);
        ChartLink link;
        SeriesChart a(link);
        SeriesChart b(link);
        for (SeriesChart* chart : { &a, &b }) {
            place(*chart, { 400, 200 });
            chart->setData({ { { makeCurve(raw.x, raw.y), nullptr, 0 } } });
        }
        QSignalSpy live(&link, &ChartLink::followingChanged);
        link.setRange(ChartLink::Range { 100, 200 });
        a.replotNow();
        b.replotNow();
        QCOMPARE(a.curves().edges().front(), b.curves().edges().front());
        QVERIFY(std::abs(b.curves().edges().front() - 100) < 1);
        QCOMPARE(live.count(), 1);
        link.setRange(ChartLink::Range { 120, 130 });
        link.zoomBack();
        QCOMPARE(link.range()->begin, 100.0);
        link.zoomBack();
        QVERIFY(!link.range());
        QVERIFY(!link.canZoomBack());
    }

    void aChartSaysItsValueInWords()
    {
        ChartLink link;
        SeriesChart chart(link);
        chart.setTitle(QStringLiteral("Training loss"), {});
        place(chart, { 400, 200 });
        chart.replotNow();
        QCOMPARE(chart.valueSentence(), QStringLiteral("No steps recorded yet."));
        std::vector<double> x;
        std::vector<float> y;
        for (int i = 0; i < 500; ++i) {
            x.push_back(i);
            y.push_back(4.0f - static_cast<float>(i) / 250);
        }
        chart.setData({ { { makeCurve(x, y), nullptr, 0 } } });
        chart.replotNow();
        QVERIFY2(chart.valueSentence().contains(QStringLiteral("falling")), qPrintable(chart.valueSentence()));
        QVERIFY(chart.accessibleDescription().contains(QStringLiteral("Training loss")));
    }

    void mapCountsSumToTheTotal()
    {
        CoverageMap map;
        map.setCells(syntheticCells(4, 300, 25));
        const auto& summary = map.colors().summary();
        std::int64_t sum = 0;
        for (const auto count : summary.kinds)
            sum += count;
        QCOMPARE(sum, summary.total);
        QCOMPARE(summary.total, std::int64_t(300 * 25));
    }

    void mapPicksWhatItPaints()
    {
        CoverageMap map;
        map.setAttribute(Qt::WA_DontShowOnScreen);
        map.resize(1000, 700);
        map.setCells(syntheticCells(4, 30, 25));
        map.show();
        QSignalSpy clicked(&map, &CoverageMap::chunkClicked);
        QTest::mouseClick(map.viewport(), Qt::LeftButton, {}, QPoint(58 + 34 * 3 + 10, 24 + 19 * 5 + 9));
        QCOMPARE(clicked.count(), 1);
        QVERIFY((placeOf(clicked.front().front().value<ChunkId>()) == ChunkPlace { 0, 5, 3 }));
        QSignalSpy brushed(&map, &CoverageMap::brushed);
        QTest::mousePress(map.viewport(), Qt::LeftButton, {}, QPoint(58 + 5, 24 + 5));
        QMouseEvent move(QEvent::MouseMove, QPointF(58 + 34 * 2 + 5, 24 + 19 + 5), map.mapToGlobal(QPointF(1, 1)),
            Qt::LeftButton, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(map.viewport(), &move);
        QTest::mouseRelease(map.viewport(), Qt::LeftButton, {}, QPoint(58 + 34 * 2 + 5, 24 + 19 + 5));
        QCOMPARE(brushed.count(), 1);
        QCOMPARE(brushed.front().front().value<std::vector<ChunkId>>().size(), std::size_t(6));
    }

    /// The map gave no way to tell a click that adds from one that chooses anew.
    void aClickWithCtrlWasAnyClick()
    {
        CoverageMap map;
        map.setAttribute(Qt::WA_DontShowOnScreen);
        map.resize(1000, 700);
        map.setCells(syntheticCells(4, 30, 25));
        map.show();
        QSignalSpy clicked(&map, &CoverageMap::chunkClicked);
        QTest::mouseClick(
            map.viewport(), Qt::LeftButton, Qt::ControlModifier, QPoint(58 + 34 * 3 + 10, 24 + 19 * 5 + 9));
        QCOMPARE(clicked.count(), 1);
        QVERIFY(clicked.front().at(1).value<Qt::KeyboardModifiers>() == Qt::ControlModifier);
        const auto forward = map.stretch(chunkIdOf({ 0, 1, 23 }), chunkIdOf({ 0, 2, 1 }));
        QVERIFY((forward
            == std::vector {
                chunkIdOf({ 0, 1, 23 }), chunkIdOf({ 0, 1, 24 }), chunkIdOf({ 0, 2, 0 }), chunkIdOf({ 0, 2, 1 }) }));
        const auto back = map.stretch(chunkIdOf({ 0, 2, 1 }), chunkIdOf({ 0, 1, 23 }));
        QVERIFY((back == std::vector(forward.rbegin(), forward.rend())));
        QCOMPARE(map.stretch(chunkIdOf({ 0, 1, 23 }), chunkIdOf({ 7, 2, 1 })).size(), std::size_t(1)); // another epoch
    }

    /// A trend of one chunk at a time was that chunk: a short run showed no difference at all.
    void aFewChunksAreNotOnlyComparedWithThemselves()
    {
        std::vector<ChunkCell> cells;
        for (int i = 0; i < 20; ++i) {
            ChunkCell cell;
            cell.id = { i + 1 };
            cell.column = i;
            cell.state = ChunkState::Committed;
            cell.worker = 0;
            cell.meanLoss = i % 2 == 0 ? 2.0f : 3.0f;
            cell.trainedWallNs = 1'000'000'000'000 + i * 1'000'000'000ll;
            cells.push_back(cell);
        }
        MapColors colors;
        colors.setLayer(MapLayer::Loss, RelativeTo::Trend);
        colors.recolour(cells, cells.back().trainedWallNs);
        QVERIFY(std::abs(colors.aboveTrend(cells[4]) + 0.5) < 0.01);
        QVERIFY(std::abs(colors.aboveTrend(cells[5]) - 0.5) < 0.01);
    }

    void aBlockHasTheColourOfItsPlaceWhateverItsChunksAre()
    {
        std::vector<ChunkCell> cells(8);
        for (int i = 0; i < 8; ++i) {
            cells[static_cast<std::size_t>(i)].id = { i + 1 };
            cells[static_cast<std::size_t>(i)].block = i / 2;
            cells[static_cast<std::size_t>(i)].column = i % 2;
            cells[static_cast<std::size_t>(i)].state = i % 2 == 0 ? ChunkState::Committed : ChunkState::Pending;
        }
        MapColors colors;
        colors.setLayer(MapLayer::Block, RelativeTo::Nothing);
        colors.setBlockPlaces({ { 1, BlockPlace::Fetching }, { 2, BlockPlace::Evicted }, { 3, BlockPlace::Prepared } });
        colors.recolour(cells, 1);
        std::set<std::uint8_t> looks;
        for (int block = 0; block < 4; ++block) {
            const auto first = static_cast<std::size_t>(block) * 2;
            QCOMPARE(colors.entry(first), colors.entryOf(static_cast<BlockPlace>(block)));
            QCOMPARE(colors.entry(first), colors.entry(first + 1));
            looks.insert(colors.entry(first));
        }
        QCOMPARE(looks.size(), std::size_t(4));
    }

    /// When many chunks share a pixel the worst state must not vanish.
    void onePoisonedChunkOfAMillionIsSeen()
    {
        auto cells = syntheticCells(4, 40'000, 25);
        for (auto& cell : cells) {
            if (cell.state == ChunkState::Poisoned)
                cell.state = ChunkState::Committed;
        }
        cells[654'321].state = ChunkState::Poisoned;
        CoverageMap map;
        map.setCells(cells);
        const QImage image = map.overview({ 60, 700 });
        int seen = 0;
        for (int y = 0; y < image.height(); ++y) {
            for (int x = 0; x < image.width(); ++x)
                seen += image.pixelIndex(x, y) == kPoisonedCell;
        }
        QVERIFY(seen >= 1);
    }

    void changedCellsAreTakenOver()
    {
        auto cells = syntheticCells(4, 50, 10);
        CoverageMap map;
        map.setCells(cells);
        ChunkCell changed = cells[33];
        changed.state = ChunkState::Poisoned;
        ChunkCell added;
        added.id = chunkIdOf({ 0, 50, 0 });
        added.block = 50;
        map.updateCells({ changed, added });
        QVERIFY(map.cells()[33].state == ChunkState::Poisoned);
        QCOMPARE(map.colors().summary().total, std::int64_t(501));
    }

    void theLegendBelowANarrowMapWasCutOff_data()
    {
        QTest::addColumn<int>("width");
        for (const int width : { 320, 440, 560, 720, 900, 1400 })
            QTest::addRow("%d", width) << width;
    }
    void theLegendBelowANarrowMapWasCutOff()
    {
        QFETCH(const int, width);
        CoverageMap map;
        map.setCells(syntheticCells(4, 300, 25));
        MapLegend legend(map);
        legend.resize(width, 50);
        const QImage picture = legend.grab().toImage();
        QCOMPARE(picture.size(), QSize(width, legend.height()));
        const auto isGround
            = [&picture](int x, int y) { return picture.pixelColor(x, y) == theme().color(Token::Panel); };
        for (int y = 1; y < picture.height(); ++y)
            for (int x = width - 4; x < width; ++x)
                QVERIFY2(isGround(x, y), qPrintable(QStringLiteral("%1, %2").arg(x).arg(y)));
        for (int x = 0; x < width; ++x)
            QVERIFY2(isGround(x, picture.height() - 2), qPrintable(QString::number(x)));
    }

    /// "free 202" beside the "free 122, not prepared 80" of the overview.
    void theMapCountedAsFreeWhatIsNotPrepared()
    {
        CoverageMap map;
        std::vector<ChunkCell> cells;
        for (std::int64_t i = 0; i < 10; ++i) {
            ChunkCell cell;
            cell.id = chunkIdOf({ 0, i, 0 });
            cell.block = i;
            cell.state = i < 6 ? ChunkState::Free : ChunkState::Pending;
            cells.push_back(cell);
        }
        const MapLegend legend(map);
        map.setCells(cells);
        const QString said = legend.accessibleDescription();
        QVERIFY2(
            said.contains(QLatin1String("free 6")) && said.contains(QLatin1String("not prepared 4")), qPrintable(said));
    }

    void aSmallCountAtTheBeginningReadAsZeroMillions()
    {
        QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
        QCOMPARE(lonelyAxisText(XAxis::Tokens, 320'000, 2e9), QStringLiteral("320 k"));
        QCOMPARE(lonelyAxisText(XAxis::Tokens, 1'500'000, 2e9), QStringLiteral("1.5 M"));
        QCOMPARE(lonelyAxisText(XAxis::Tokens, 4096, 2e9), QStringLiteral("4,096"));
        QCOMPARE(lonelyAxisText(XAxis::Tokens, 0, 2e9), QStringLiteral("0"));
        QCOMPARE(lonelyAxisText(XAxis::Epoch, 0, 2), QStringLiteral("0.0"));
        QCOMPARE(axisText(XAxis::Tokens, 0, 200'000), QStringLiteral("0"));
        QCOMPARE(axisText(XAxis::Tokens, 200'000, 200'000), QStringLiteral("200 k"));
    }
};

Q_DECLARE_METATYPE(furrow::ChunkId)
QTEST_MAIN(TestCharts)
#include "tst_charts.moc"
