// Not how fast, but whether: files that were damaged in every usual way are read and counted, and what is drawn is what
// was recorded. The value is the number of cases that went wrong.

#include "core/base/log.h"
#include "core/base/random.h"
#include "core/telemetry/run_telemetry.h"
#include "ui/bench/bench_parts.h"
#include "ui/charts/series_chart.h"

#include <QBuffer>
#include <QPixmap>
#include <fstream>
#include <iterator>

namespace furrow {

namespace {

constexpr std::size_t kPoints = 200'000;
constexpr int kRanges = 24;

std::string bytesOf(const std::filesystem::path& file)
{
    std::ifstream in(file, std::ios::binary);
    return { std::istreambuf_iterator<char>(in), {} };
}

struct Damage {
    const char* what;
    double least; ///< share of the steps that must still be read
    std::function<std::string(const std::string&)> change;
};

/// Whole lines of a file, with their ends.
std::vector<std::string> linesOf(const std::string& text)
{
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size() - 1);
        lines.push_back(text.substr(at, end - at + 1));
        at = end + 1;
    }
    return lines;
}

std::string joined(const std::vector<std::string>& lines)
{
    std::string text;
    for (const std::string& line : lines)
        text += line;
    return text;
}

const Damage kDamages[] = {
    { "torn last line", 0.99, [](const std::string& text) { return text.substr(0, text.size() - 20); } },
    { "truncated", 0.3, [](const std::string& text) { return text.substr(0, text.size() / 3); } },
    { "doubled", 1, [](const std::string& text) { return text + text.substr(text.find('\n') + 1); } },
    { "out of order", 0.85, // of each exchanged pair the later line is left out (core/telemetry/FORMAT.md)
        [](const std::string& text) {
            auto lines = linesOf(text);
            for (std::size_t i = 2; i + 1 < lines.size(); i += 7)
                std::swap(lines[i], lines[i + 1]);
            return joined(lines);
        } },
    { "garbage between", 1,
        [](const std::string& text) {
            auto lines = linesOf(text);
            lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(lines.size() / 2),
                std::string("\0\xff{\"loss\":", 10) + "\n");
            return joined(lines);
        } },
    { "empty", 0, [](const std::string&) { return std::string(); } },
};

std::size_t pointsOf(const std::filesystem::path& folder)
{
    RunTelemetry telemetry(folder);
    while (telemetry.poll()) { }
    std::size_t points = 0;
    for (const Stretch& stretch : telemetry.snapshot()->stretches)
        points += stretch.size();
    return points;
}

/// Whether what is left of a damaged file is read, and nothing of it twice.
bool isRead(const std::filesystem::path& folder, const std::string& whole, const Damage& damage, std::size_t points)
{
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    std::filesystem::create_directories(folder, ignored);
    const std::string damaged = damage.change(whole);
    std::ofstream(folder / "1-w0.jsonl", std::ios::binary) << damaged;
    const std::size_t read = pointsOf(folder);
    return read <= points && static_cast<double>(read) >= damage.least * static_cast<double>(points);
}

/// Columns of pixels in `range` whose extremes are not those of the points behind them.
int wrongColumns(SeriesChart& chart, ChartLink& link, const std::vector<double>& x, const std::vector<float>& y,
    ChartLink::Range range)
{
    link.setRange(range, false);
    chart.replotNow();
    const auto& edges = chart.curves().edges();
    if (chart.curves().shapes().empty() || edges.empty())
        return 1;
    const auto& columns = chart.curves().shapes().front().columns;
    auto i = static_cast<std::size_t>(std::lower_bound(x.begin(), x.end(), edges.front()) - x.begin());
    int wrong = 0;
    for (std::size_t c = 0; c < columns.size(); ++c) {
        Summary want;
        for (; i < x.size() && x[i] < edges[c + 1]; ++i)
            want.add(y[i]);
        const Summary& shown = columns[c].summary;
        wrong += shown.count != want.count || (want.count > 0 && (shown.min != want.min || shown.max != want.max)) ? 1
                                                                                                                   : 0;
    }
    return wrong;
}

QByteArray png(QWidget& widget)
{
    QByteArray bytes;
    QBuffer buffer(&bytes);
    widget.grab().save(&buffer, "PNG");
    return bytes;
}

} // namespace

void benchRobust(Bench& bench)
{
    const auto source = bench.telemetry(20'000, 1);
    const std::string whole = bytesOf(source / "1-w0.jsonl");
    const auto folder = std::filesystem::path(bench.folder().toStdString()) / "robust";
    const Damage none { "whole", 1, [](const std::string& text) { return text; } };
    (void)isRead(folder, whole, none, SIZE_MAX);
    const std::size_t points = pointsOf(folder);
    int wrong = whole.empty() || points == 0 ? 1 : 0;
    for (const Damage& damage : kDamages) {
        const bool read = isRead(folder, whole, damage, points);
        wrong += read ? 0 : 1;
        if (!read)
            logWarning(std::string("robust: a file that is ") + damage.what + " was not read as what is left of it");
    }
    bench.add("robust, damaged files not read as what is left", wrong, "files", 0);
}

void benchExact(Bench& bench)
{
    Random random(1);
    std::vector<double> x(kPoints);
    std::vector<float> y(kPoints);
    for (std::size_t i = 0; i < kPoints; ++i) {
        x[i] = static_cast<double>(i);
        y[i] = static_cast<float>(random.uniform());
    }
    const auto make = [&](ChartLink& link) {
        auto chart = std::make_unique<SeriesChart>(link);
        chart->setAttribute(Qt::WA_DontShowOnScreen);
        chart->resize(1280, 400);
        chart->setData({ { { makeCurve(x, y), nullptr, 0 } } });
        chart->show();
        return chart;
    };
    ChartLink link;
    const auto chart = make(link);
    int wrong = 0;
    for (int i = 0; i < kRanges; ++i) {
        const double begin = random.uniform() * kPoints * 0.9;
        wrong += wrongColumns(*chart, link, x, y, { begin, begin + 10 + random.uniform() * (kPoints - begin) });
    }
    bench.add("exact, pixel columns with wrong extremes", wrong, "columns", 0);
    ChartLink again;
    const auto twin = make(again);
    const ChartLink::Range same { 1000, 150'000 };
    for (auto* one : { &link, &again })
        one->setRange(same, false);
    chart->replotNow();
    twin->replotNow();
    bench.add("exact, pictures of the same input that differ", png(*chart) == png(*twin) ? 0 : 1, "pictures", 0);
}

} // namespace furrow
