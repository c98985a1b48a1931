#include "ui/shell/gpu_dock.h"

#include "ui/models/workbench.h"
#include "ui/parts/page_parts.h"

#include <QSplitter>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <map>

namespace furrow {

namespace {

using Measure = float (*)(const GpuPoint&);

constexpr Measure kMeasures[] = {
    [](const GpuPoint& p) { return p.utilization * 100; },
    [](const GpuPoint& p) { return p.memoryGiB; },
    [](const GpuPoint& p) { return p.powerWatt; },
    [](const GpuPoint& p) { return p.temperatureCelsius; },
};

/// A worker has one line for each time between two gaps: nothing joins what was not measured.
ChartData dataOf(const Column<GpuPoint>& points, Measure measure, const ChartData& loss)
{
    using Key = std::pair<int, std::size_t>; // worker, gaps before
    std::map<Key, std::pair<std::vector<double>, std::vector<float>>> lines;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const GpuPoint point = points[i];
        const auto before = std::count_if(loss.gaps.begin(), loss.gaps.end(),
            [&point](const ChartSpan& gap) { return (gap.begin + gap.end) / 2 < point.wall; });
        auto& [x, y] = lines[{ point.worker, static_cast<std::size_t>(before) }];
        if (!x.empty() && point.wall <= x.back())
            continue;
        x.push_back(point.wall);
        y.push_back(measure(point));
    }
    ChartData data;
    data.axis = XAxis::WallTime;
    data.gaps = loss.gaps;
    data.seams = loss.seams;
    for (const auto& [key, line] : lines)
        data.lines.push_back({ makeCurve(line.first, line.second), nullptr, key.first });
    return data;
}

} // namespace

GpuDock::GpuDock(Workbench& bench, QWidget* parent)
    : QWidget(parent)
    , bench_(bench)
    , stack_(new QStackedWidget(this))
    , empty_(new EmptyState({}))
    , loss_(new SeriesChart(link_))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(stack_);
    auto* splitter = new QSplitter(Qt::Horizontal);
    splitter->setHandleWidth(1);
    loss_->setTitle(tr("Loss"), lossUnit(Objective::NextToken));
    splitter->addWidget(loss_);
    const std::pair<QString, QString> titles[] = { { tr("Utilisation"), tr("%") }, { tr("Memory"), tr("GiB") },
        { tr("Power"), tr("W") }, { tr("Temperature"), tr("°C") } };
    for (const auto& [title, unit] : titles) {
        auto* chart = new SeriesChart(link_);
        chart->setTitle(title, unit);
        ChartOptions options;
        options.smoothing.kind = SmoothingKind::None;
        options.mean = false;
        options.fromZero = true;
        options.clipPercent = 0;
        chart->setOptions(options);
        splitter->addWidget(chart);
        charts_.push_back(chart);
    }
    for (int i = 0; i < splitter->count(); ++i)
        splitter->widget(i)->setMinimumWidth(150);
    stack_->addWidget(empty_);
    stack_->addWidget(splitter);
    connect(&bench_.watcher(), &RunWatcher::telemetryRead, this, &GpuDock::take);
    connect(&bench_.watcher(), &RunWatcher::opened, this, &GpuDock::take);
    connect(&bench_.watcher(), &RunWatcher::statusRead, this, [this](const StatusPtr& status) {
        loss_->setTitle(tr("Loss"), lossUnit(status->file.config.objective));
        if (stack_->currentWidget() == empty_)
            explainNothing();
    });
    if (const StatusPtr& status = bench_.watcher().status())
        loss_->setTitle(tr("Loss"), lossUnit(status->file.config.objective));
    take();
}

void GpuDock::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    take();
}

void GpuDock::take()
{
    const SnapshotPtr& snapshot = bench_.watcher().telemetry();
    const bool any = snapshot && !snapshot->gpu.empty();
    stack_->setCurrentIndex(any ? 1 : 0);
    if (!any) {
        explainNothing();
        return;
    }
    if (!isVisible())
        return;
    const ChartData loss = chartDataOf(*snapshot, Metric::Loss, XAxis::WallTime);
    for (std::size_t i = 0; i < charts_.size(); ++i)
        charts_[i]->setData(dataOf(snapshot->gpu, kMeasures[i], loss));
    loss_->setData(loss);
}

// Nothing is drawn that was not measured; why there is nothing is said.
void GpuDock::explainNothing()
{
    const StatusPtr& status = bench_.watcher().status();
    bool onlyCpu = status && !status->workers.empty();
    for (const WorkerStatus& worker : status ? status->workers : std::vector<WorkerStatus> {})
        onlyCpu = onlyCpu && worker.device.rfind("cpu", 0) == 0;
    empty_->setSentence(onlyCpu
            ? tr("This run trains on the CPU; no GPU is measured.")
            : tr("No measurement of a GPU was recorded. It needs the NVIDIA driver (NVML) on the machine that trains."));
}

} // namespace furrow
