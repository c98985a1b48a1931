// gallery OUT [dark|light]: every widget and chart with invented data, as pictures to be looked at beside the
// reference.
#include "core/telemetry/run_telemetry.h"
#include "core/trials/synthetic.h"
#include "ui/bench/synthetic_cells.h"
#include "ui/charts/coverage_map.h"
#include "ui/charts/map_legend.h"
#include "ui/charts/overview_strip.h"
#include "ui/charts/series_chart.h"
#include "ui/theme/theme.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/lane_view.h"
#include "ui/widgets/meters.h"
#include "ui/widgets/state_glyph.h"
#include "ui/widgets/worker_mark.h"

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QPushButton>
#include <QRadioButton>
#include <QSpinBox>
#include <QTabBar>
#include <QTemporaryDir>
#include <algorithm>

using namespace furrow;

namespace {

SnapshotPtr inventedRun(std::int64_t steps)
{
    QTemporaryDir dir;
    SyntheticRun run;
    run.steps = steps;
    if (!writeSyntheticTelemetry(dir.path().toStdString(), run).ok())
        return nullptr;
    RunTelemetry telemetry(dir.path().toStdString());
    while (telemetry.poll()) { }
    return telemetry.snapshot();
}

void grab(QWidget& widget, QSize size, const QString& path)
{
    widget.setAttribute(Qt::WA_DontShowOnScreen);
    widget.resize(size);
    widget.show();
    QApplication::processEvents();
    for (auto* chart : widget.findChildren<SeriesChart*>())
        chart->replotNow();
    QApplication::processEvents();
    widget.grab().save(path);
}

void charts(const QString& out, const SnapshotPtr& run)
{
    ChartLink link;
    QWidget page;
    auto* grid = new QGridLayout(&page);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setSpacing(1);
    auto* loss = new SeriesChart(link);
    loss->setTitle(QStringLiteral("Training loss"), QStringLiteral("nats per token"));
    loss->setData(chartDataOf(*run, Metric::Loss, XAxis::Tokens));
    grid->addWidget(loss, 0, 0, 1, 2);
    auto* rate = new SeriesChart(link);
    rate->setTitle(QStringLiteral("Learning rate"), QStringLiteral("per worker, each on its own schedule"));
    rate->setCompact(QStringLiteral("2.94e-4"));
    rate->setData(chartDataOf(*run, Metric::LearningRate, XAxis::Tokens));
    ChartOptions plain;
    plain.raw = false;
    plain.mean = false;
    plain.fromZero = true;
    rate->setOptions(plain);
    grid->addWidget(rate, 1, 0);
    auto* speed = new SeriesChart(link);
    speed->setTitle(QStringLiteral("Tokens per second"), QStringLiteral("all workers, stacked"));
    speed->setCompact(QStringLiteral("285,900"));
    speed->setData(chartDataOf(*run, Metric::TokensPerSecond, XAxis::Tokens));
    ChartOptions stacked;
    stacked.stacked = true;
    speed->setOptions(stacked);
    grid->addWidget(speed, 1, 1);
    auto* strip = new OverviewStrip(link);
    strip->setData(chartDataOf(*run, Metric::Loss, XAxis::Tokens));
    grid->addWidget(strip, 2, 0, 1, 2);
    grid->setRowStretch(0, 5);
    grid->setRowStretch(1, 2);
    grab(page, { 1040, 620 }, out + QStringLiteral("/charts-all.png"));
    const auto all = *link.extent();
    const double span = all.end - all.begin;
    link.setRange(ChartLink::Range { all.begin + span * 0.33, all.end });
    TelemetrySnapshot::Interval at;
    const auto& spike = *std::find_if(run->events->begin(), run->events->end(),
        [](const EventPoint& e) { return e.record.kind == EventRecord::Kind::Spike; });
    run->find(spike.worker, spike.wall, at);
    loss->setHighlights({ { run->xAt(at.stretch, at.begin, XAxis::Tokens),
        run->xAt(at.stretch, std::min(at.begin + 16, run->stretches[at.stretch].size() - 1), XAxis::Tokens) } });
    page.resize(1041, 620);
    QApplication::processEvents();
    const QPointF middle(500, 200);
    QMouseEvent move(QEvent::MouseMove, middle, page.mapToGlobal(middle), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
    for (auto* chart : page.findChildren<SeriesChart*>())
        chart->replotNow();
    QApplication::sendEvent(loss->findChild<QCustomPlot*>(), &move);
    page.grab().save(out + QStringLiteral("/charts.png"));
    loss->save(out + QStringLiteral("/loss.svg"));
    link.setRange(ChartLink::Range { all.begin + span * 0.5, all.begin + span * 0.505 });
    for (auto* chart : page.findChildren<SeriesChart*>())
        chart->replotNow();
    page.grab().save(out + QStringLiteral("/charts-zoomed.png"));
}

void map(const QString& out)
{
    QWidget page;
    auto* column = new QVBoxLayout(&page);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* field = new CoverageMap;
    auto* legend = new MapLegend(*field);
    column->addWidget(field, 1);
    column->addWidget(legend);
    auto cells = syntheticCells(7, 97, 25);
    QSet<qint64> open;
    std::vector<std::pair<ChunkId, double>> progress;
    for (const auto& cell : cells) {
        if (cell.state == ChunkState::Trained)
            open << cell.block;
        if (cell.state == ChunkState::Leased && cell.column % 2)
            progress.push_back({ cell.id, 0.6 });
    }
    field->setCells(cells);
    field->setOpenBlocks(open);
    field->setProgress(progress);
    legend->setMark(0.15);
    page.setAttribute(Qt::WA_DontShowOnScreen);
    page.resize(1000, 750);
    page.show();
    field->zoom(3);
    field->showChunk(chunkIdOf({ 0, 53, 17 }));
    std::vector<ChunkId> chosen;
    for (int c = 14; c < 20; ++c)
        chosen.push_back(chunkIdOf({ 0, 53, c }));
    field->setSelected(chosen, chunkIdOf({ 0, 53, 17 }));
    QApplication::processEvents();
    page.grab().save(out + QStringLiteral("/map.png"));
    field->fit();
    field->setLayer(MapLayer::Worker);
    page.grab().save(out + QStringLiteral("/map-fit-worker.png"));
    field->setCells(syntheticCells(3, 40'000, 25));
    field->setLayer(MapLayer::Loss);
    field->fit();
    page.grab().save(out + QStringLiteral("/map-million.png"));
}

std::shared_ptr<const std::vector<Lane>> lanes(double now)
{
    auto all = std::make_shared<std::vector<Lane>>();
    const int blocks[] = { 45, 63, 57, 41 };
    for (int w = 0; w < 3; ++w) {
        Lane lane { w, QStringLiteral("Worker %1").arg(w),
            w == 2 ? QStringLiteral("RTX 3090, 51,800 tok/s") : QStringLiteral("RTX 4090, 118,200 tok/s"), {}, {}, {} };
        double at = now - 640;
        const double length = w == 2 ? 79 : 34;
        for (int i = 0; at < now; ++i) {
            if (w == 2 && at > now - 60)
                break;
            LaneClaim claim { 100 + i, QStringLiteral("B%1 C%2").arg(blocks[i % 4]).arg(20 + i / 4), at, at + 2.5,
                at + length, w == 2 };
            if (claim.ended > now)
                claim.ended = 0;
            if (w == 2)
                claim.ended = std::min(claim.ended, now - 46);
            lane.claims.push_back(claim);
            at += length + 0.4;
        }
        if (w == 2) {
            lane.deaths.push_back({ now - 46, QStringLiteral("SIGKILL 18:41:22, restart 1 of 5"), now - 32 });
            lane.claims.push_back({ 999, QStringLiteral("B41 C11"), now - 32, now - 30, 0, false });
        } else {
            lane.commits = { now - 470 - 60 * w, now - 120 };
        }
        all->push_back(lane);
    }
    return all;
}

void buildControls(QGridLayout& grid)
{
    auto* row = new QHBoxLayout;
    auto* primary = new QPushButton(QStringLiteral("Quarantine 7 chunks"));
    primary->setProperty("primary", true);
    primary->setIcon(theme().icon(QStringLiteral("quarantine"), Token::OnAccentFill));
    auto* disabled = new QPushButton(theme().icon(QStringLiteral("resume")), QStringLiteral("Resume…"));
    disabled->setEnabled(false);
    auto* toggled = new QPushButton(theme().icon(QStringLiteral("live")), QStringLiteral("Live"));
    toggled->setCheckable(true);
    toggled->setChecked(true);
    auto* kill = new QPushButton(theme().icon(QStringLiteral("kill"), Token::Error), QStringLiteral("Kill…"));
    kill->setProperty("danger", true);
    for (auto* button : { primary, new QPushButton(theme().icon(QStringLiteral("plus")), QStringLiteral("New run")),
             disabled, toggled, kill })
        row->addWidget(button);
    row->addStretch();
    grid.addLayout(row, 0, 0, 1, 2);
    auto* fields = new QHBoxLayout;
    auto* bad = new QLineEdit(QStringLiteral("40,000"));
    bad->setProperty("invalid", true);
    auto* combo = new QComboBox;
    combo->addItems({ QStringLiteral("Cosine, own total"), QStringLiteral("Constant") });
    auto* box = new QCheckBox(QStringLiteral("Changed only"));
    box->setChecked(true);
    auto* radio = new QRadioButton(QStringLiteral("Checkpoint 9"));
    radio->setChecked(true);
    auto* spin = new QSpinBox;
    spin->setMaximum(1000);
    spin->setValue(24);
    for (QWidget* field :
        std::initializer_list<QWidget*> { new QLineEdit(QStringLiteral("6e-4")), bad, combo, spin, box, radio })
        fields->addWidget(field);
    grid.addLayout(fields, 1, 0, 1, 2);
    auto* tabs = new QTabBar;
    for (const char* name : { "Overview", "Charts", "Coverage", "Workers", "Config", "Log", "Data" })
        tabs->addTab(QString::fromLatin1(name));
    tabs->setCurrentIndex(1);
    grid.addWidget(tabs, 2, 0, 1, 2);
}

void buildMeters(QGridLayout& grid)
{
    auto* column = new QVBoxLayout;
    column->setSpacing(1);
    auto* visited = new Meter(QStringLiteral("Blocks visited"));
    visited->setParts({ { 64, MeterFill::Visited } }, 97);
    visited->setNumbers(QStringLiteral("64"), QStringLiteral("97"), QStringLiteral("66.0 %"));
    auto* chunks = new Meter(QStringLiteral("Chunks committed"));
    chunks->setParts(
        { { 1412, MeterFill::Committed }, { 57, MeterFill::TrainedStripes }, { 12, MeterFill::Leased } }, 2419);
    chunks->setNumbers(QStringLiteral("1,412"), QStringLiteral("2,419"), QStringLiteral("58.4 %"));
    auto* samples = new Meter(QStringLiteral("Samples committed"));
    samples->setParts({ { 5640183, MeterFill::Steps } }, 9672101);
    samples->setNumbers(QStringLiteral("5,640,183"), QStringLiteral("9,672,101"), QStringLiteral("58.3 %"));
    auto* steps = new Meter(QStringLiteral("Optimiser steps"));
    steps->setNumbers(QStringLiteral("46,005"), QStringLiteral("about 75,300"), QStringLiteral("61 %"));
    steps->setParts({ { 46005, MeterFill::Steps } }, std::nullopt);
    for (Meter* meter : { visited, chunks, samples, steps }) {
        meter->setLabelWidth(126);
        column->addWidget(meter);
    }
    grid.addLayout(column, 4, 0, 1, 2);
}

void buildEstimates(QGridLayout& grid)
{
    auto* memory = new EstimateBar;
    memory->setScale(
        { 0, 24, { { 0, QStringLiteral("0") }, { 12, QStringLiteral("12") }, { 24, QStringLiteral("24 GiB") } } });
    memory->setParts({ { 0.5, 3, false, {} }, { 0.5, 2, false, {} }, { 1, 1, false, {} },
        { 11.2, 0, false, QStringLiteral("activations 11.2") }, { 2.4, 1, false, QStringLiteral("logits 2.4") },
        { 1.5, 3, false, {} }, { 1, 3, true, {} } });
    memory->setLimit(22.9, QStringLiteral("free 22.9"));
    grid.addWidget(memory, 5, 0);
    auto* time = new EstimateBar;
    time->setScale({ 10, 14.5,
        { { 10, QStringLiteral("10 h") }, { 11, QStringLiteral("11 h") }, { 12, QStringLiteral("12 h") },
            { 13, QStringLiteral("13 h") }, { 14, QStringLiteral("14 h") } } });
    time->setBand(11.17, 11.83, 13.33);
    grid.addWidget(time, 5, 1);
}

void widgets(const QString& out)
{
    QWidget page;
    auto* grid = new QGridLayout(&page);
    grid->setSpacing(12);
    buildControls(*grid);
    auto* banner = new Banner(BannerKind::Interrupted);
    banner->setMessage(QStringLiteral("Interrupted at 14:02:37: the computer restarted while 3 workers were training"),
        QStringLiteral(
            "The boot id changed, there is no exit record, the last heartbeat is 1 h 36 min old. Checkpoint 9 is verified and holds 702 chunks."));
    banner->addLink(QStringLiteral("How do we know?"));
    banner->addButton(QStringLiteral("Resume…"), true);
    banner->addButton(QStringLiteral("Inspect"));
    auto* error = new Banner(BannerKind::Error);
    error->setMessage(QStringLiteral("Each worker ends the epoch after about 33,500 steps, before the first merge."));
    error->addButton(QStringLiteral("Set to 500"));
    auto* banners = new QVBoxLayout;
    banners->addWidget(banner);
    banners->addWidget(error);
    grid->addLayout(banners, 3, 0, 1, 2);
    buildMeters(*grid);
    buildEstimates(*grid);
    auto* glyphs = new QHBoxLayout;
    for (int g = 0; g <= static_cast<int>(Glyph::Unknown); ++g) {
        auto* glyph = new StateGlyph(nullptr, 18);
        glyph->setGlyph(static_cast<Glyph>(g));
        glyphs->addWidget(glyph);
        glyphs->addWidget(new QLabel(glyphWord(static_cast<Glyph>(g))));
    }
    glyphs->addStretch();
    grid->addLayout(glyphs, 6, 0, 1, 2);
    QImage marks(QSize(1000, 60) * page.devicePixelRatioF(), QImage::Format_RGB32);
    marks.setDevicePixelRatio(page.devicePixelRatioF());
    marks.fill(theme().color(Token::Inset));
    QPainter painter(&marks);
    for (int w = 0; w < 8; ++w) {
        drawWorkerMarker(painter, { 20.0 + w * 60, 15 }, w);
        drawWorkerLine(painter, { 30.0 + w * 60, 15 }, w);
    }
    int x = 10;
    for (int k = 0; k <= static_cast<int>(CellKind::Orphaned); ++k) {
        CellLook look { static_cast<CellKind>(k), QColor::fromRgb(theme().lossMap()[90]), k % 3, 0.6, k == 3 };
        drawChunkCell(painter, QRectF(x, 34, 33, 18), look);
        x += 34;
    }
    painter.end();
    auto* label = new QLabel;
    label->setPixmap(QPixmap::fromImage(marks));
    grid->addWidget(label, 7, 0, 1, 2);
    auto* tokens = new TokenView;
    tokens->setTokens(
        { QStringLiteral("The"), QStringLiteral(" Independent"), QStringLiteral(" Jane"), QStringLiteral("\n"),
            QStringLiteral("For"), QStringLiteral(" all"), QStringLiteral(" the"), QStringLiteral(" love") });
    grid->addWidget(tokens, 8, 0);
    auto* spark = new Sparkline;
    spark->setValues({ 4, 3.7, 3.8, 3.5, 3.4, 3.45, 3.3, NAN, 3.2, 3.1 });
    grid->addWidget(spark, 8, 1);
    auto* lane = new LaneView;
    const double now = 1773427330;
    lane->setLanes(lanes(now));
    lane->setRange(now - 600, now, true);
    grid->addWidget(lane, 9, 0, 1, 2);
    auto* icons = new QHBoxLayout;
    for (const QString& name : QDir(QStringLiteral(":/furrow/icons")).entryList()) {
        auto* icon = new QLabel;
        icon->setPixmap(
            theme().icon(name.section(QLatin1Char('.'), 0, 0)).pixmap(QSize(16, 16), page.devicePixelRatioF()));
        icons->addWidget(icon);
    }
    grid->addLayout(icons, 10, 0, 1, 2);
    grab(page, { 1040, 780 }, out + QStringLiteral("/widgets.png"));
}

} // namespace

int main(int argc, char** argv)
{
    QApplication app(argc, argv);
    const QString out = argc > 1 ? QString::fromLocal8Bit(argv[1]) : QStringLiteral("gallery");
    const bool light = argc > 2 && qstrcmp(argv[2], "light") == 0;
    QDir().mkpath(out);
    theme().apply(light ? ThemeKind::Light : ThemeKind::Dark);
    const auto run = inventedRun(46'005);
    if (!run)
        return 1;
    widgets(out);
    charts(out, run);
    map(out);
    return 0;
}
