#include "ui/bench/ui_bench.h"

#include "core/telemetry/run_telemetry.h"
#include "ui/bench/bench_parts.h"
#include "ui/bench/synthetic_cells.h"
#include "ui/charts/coverage_map.h"
#include "ui/charts/series_chart.h"

#include <QCoreApplication>
#include <QFile>
#include <QImage>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <memory>

namespace furrow {
namespace {

constexpr QSize kScreen { 1920, 1080 };
constexpr int kOwnProcessMs = 600'000;

SnapshotPtr readAll(const std::filesystem::path& folder)
{
    RunTelemetry telemetry(folder);
    while (telemetry.poll()) { }
    return telemetry.snapshot();
}

std::unique_ptr<SeriesChart> makeChart(ChartLink& link, const TelemetrySnapshot& snapshot, QSize size)
{
    auto chart = std::make_unique<SeriesChart>(link);
    chart->setTitle(QStringLiteral("Training loss"), QStringLiteral("nats per token"));
    chart->setAttribute(Qt::WA_DontShowOnScreen);
    chart->resize(size);
    chart->setData(chartDataOf(snapshot, Metric::Loss, XAxis::Tokens));
    chart->show();
    return chart;
}

/// Invented curves straight in memory: 8 x 1M points need no 2 GB of files.
ChartData manyPoints(int workers, std::size_t points)
{
    ChartData data;
    data.axis = XAxis::GlobalStep;
    for (int w = 0; w < workers; ++w) {
        std::vector<double> x(points);
        std::vector<float> y(points);
        std::uint64_t state = 0x9E3779B97F4A7C15ull * static_cast<std::uint64_t>(w + 1);
        for (std::size_t i = 0; i < points; ++i) {
            state = state * 6364136223846793005ull + 1442695040888963407ull;
            x[i] = static_cast<double>(i);
            y[i] = 3.0f + 1.0f / (1.0f + static_cast<float>(i) / static_cast<float>(points) * 9)
                + static_cast<float>(state >> 40) * 1e-8f + 0.02f * static_cast<float>(w);
        }
        data.lines.push_back({ makeCurve(x, y), nullptr, w });
    }
    return data;
}

void benchFrame(Bench& bench)
{
    for (const auto& [workers, name, target] :
        { std::tuple(1, "frame 1 x 1M raw and smooth", 12.0), std::tuple(8, "frame 8 x 1M raw and smooth", 16.0) }) {
        ChartLink link;
        SeriesChart chart(link);
        chart.setAttribute(Qt::WA_DontShowOnScreen);
        chart.resize(kScreen);
        chart.setData(manyPoints(workers, 1'000'000));
        chart.show();
        bench.add(name, repeated([&] { chart.replotNow(); }), "ms", target);
        if (workers == 1)
            continue;
        double begin = 0; // the same picture again needs no new columns: here each frame is another part of the curves
        bench.add("frame 8 x 1M, panned", repeated([&] {
            begin += 1000;
            link.setRange(ChartLink::Range { begin, begin + 900'000 }, false);
            chart.replotNow();
        }),
            "ms", target);
    }
    ChartLink link;
    std::vector<std::unique_ptr<SeriesChart>> charts;
    const ChartData data = manyPoints(4, 100'000);
    for (int i = 0; i < 16; ++i) {
        charts.push_back(std::make_unique<SeriesChart>(link));
        charts.back()->setAttribute(Qt::WA_DontShowOnScreen);
        charts.back()->resize(kScreen / 4);
        charts.back()->setData(data);
        charts.back()->show();
    }
    bench.add("frame 16 charts x 4 x 100k", repeated([&] {
        for (const auto& chart : charts)
            chart->replotNow();
    }),
        "ms", 25);
    charts.resize(8);
    double x = 0;
    bench.add("hover across 8 linked charts", repeated([&] {
        link.setCursor(x += 997);
        for (const auto& chart : charts)
            chart->repaint();
    }),
        "ms", 5);
}

void benchMap(Bench& bench)
{
    CoverageMap map;
    map.setAttribute(Qt::WA_DontShowOnScreen);
    map.resize(kScreen);
    map.show();
    QImage screen(kScreen, QImage::Format_RGB32);
    map.setCells(syntheticCells(1, 40'000, 25));
    bench.add("map 1M chunks repaint", repeated([&] { map.paintNow(screen); }), "ms", 10);
    bench.add(
        "map 1M chunks recolour by loss", repeated([&] { map.setLayer(MapLayer::Loss, RelativeTo::Trend); }), "ms", 40);
    std::ptrdiff_t sum = 0;
    bench.add("map pick, 1000 times", repeated([&] {
        for (int i = 0; i < 1000; ++i)
            sum += map.pick(QPointF(100 + i % 700, 60 + i % 900));
    }),
        "ms", sum >= 0 ? 1 : 0);
    map.setCells(syntheticCells(1, 400'000, 25));
    bench.add("map 10M chunks repaint", repeated([&] { map.paintNow(screen); }), "ms", 15);
}

void benchOpen(Bench& bench)
{
    const auto folder = bench.telemetry(1'000'000, 8);
    const auto cache = folder / "view" / "columns.bin";
    const CpuClock watch;
    RunTelemetry cold(folder, cache);
    cold.poll(1);
    ChartLink link;
    makeChart(link, *cold.snapshot(), kScreen)->replotNow();
    bench.add("open 1M events, first curve", watch.milliseconds(), "ms", 200);
    while (cold.poll()) { }
    const auto snapshot = cold.snapshot();
    bench.add("open 1M events, complete", watch.milliseconds(), "ms", 1000);
    bench.add("memory of 1M events", static_cast<double>(snapshot->memoryBytes()) / 1e6, "MB", 50);
    if (!cold.saveCache().ok())
        return;
    bench.add("open 1M events, cached",
        repeated(
            [&] {
                RunTelemetry cached(folder, cache);
                cached.loadCache();
                cached.poll();
                cached.snapshot();
            },
            5),
        "ms", 150);
}

/// Ten million events, in a process without the million before it; linear is ten times the time of one million.
void benchOpenLarge(Bench& bench)
{
    const auto folder = bench.telemetry(10'000'000, 8);
    const CpuClock watch;
    const auto snapshot = readAll(folder);
    bench.add("open 10M events, complete", watch.milliseconds(), "ms", 6000);
}

void benchScrub(Bench& bench)
{
    const auto snapshot = readAll(bench.telemetry(1'000'000, 8));
    ChartLink link;
    const auto chart = makeChart(link, *snapshot, kScreen);
    const auto all = link.extent().value_or(ChartLink::Range { 0, 1 });
    double at = 0.1;
    bench.add("scrub in a 1M-event run", repeated([&] {
        at = at > 0.85 ? 0.05 : at + 0.071;
        const double begin = all.begin + (all.end - all.begin) * at;
        link.setRange(ChartLink::Range { begin, begin + (all.end - all.begin) * 0.1 }, false);
        chart->replotNow();
    }),
        "ms", 30);
}

/// Memory is that of a process which did nothing else.
void benchInOwnProcess(Bench& bench, const QString& name)
{
    const QString json = bench.folder() + QLatin1Char('/') + name + QStringLiteral(".json");
    QProcess program;
    program.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    program.start(QCoreApplication::applicationDirPath() + QStringLiteral("/furrow"),
        { QStringLiteral("--bench"), name, QStringLiteral("--json"), json });
    program.waitForFinished(kOwnProcessMs);
    QFile file(json);
    if (!file.open(QIODevice::ReadOnly)) {
        bench.results.push_back({ name + QStringLiteral(" (could not be measured)"), -1, {}, 0, false });
        return;
    }
    const QJsonArray rows = QJsonDocument::fromJson(file.readAll()).object().value(QLatin1String("results")).toArray();
    for (const QJsonValue& row : rows)
        bench.results.push_back({ row[QLatin1String("name")].toString(), row[QLatin1String("value")].toDouble(),
            row[QLatin1String("unit")].toString(), row[QLatin1String("target")].toDouble(),
            row[QLatin1String("met")].toBool() });
}

struct Group {
    const char* name;
    void (*run)(Bench& bench);
    bool inAll; ///< else only when asked for by name
};

constexpr int kLiveSeconds = 30;
constexpr int kLongLiveSeconds = 600;
const Group kGroups[] = {
    { "frame", benchFrame, true },
    { "live", [](Bench& bench) { benchLive(bench, kLiveSeconds); }, true },
    { "live10min", [](Bench& bench) { benchLive(bench, kLongLiveSeconds); }, false },
    { "open", benchOpen, true },
    { "open10m", benchOpenLarge, true },
    { "start", benchStart, true },
    { "memory", benchMemory, true },
    { "map", benchMap, true },
    { "table", benchTable, true },
    { "scrub", benchScrub, true },
    { "truth", benchTruth, true },
    { "robust", benchRobust, true },
    { "exact", benchExact, true },
};

} // namespace

QStringList uiBenchNames()
{
    QStringList names;
    for (const Group& group : kGroups)
        names.append(QLatin1String(group.name));
    return names;
}

std::vector<BenchResult> runUiBench(const QString& name)
{
    Bench bench;
    const bool all = name == QStringLiteral("all");
    for (const Group& group : kGroups) {
        const QString own = QLatin1String(group.name);
        if (all && group.inAll && own == QLatin1String("memory"))
            benchInOwnProcess(bench, own);
        else if ((all && group.inAll) || name == own)
            group.run(bench);
    }
    return bench.results;
}

} // namespace furrow
