#include "ui/pages/new_run/memory_view.h"

#include "core/base/process.h"
#include "core/device/placement.h"
#include "core/model/memory_estimate.h"
#include "ui/models/run_form.h"
#include "ui/models/words.h"
#include "ui/pages/page_parts.h"
#include "ui/widgets/meters.h"

#include <QVBoxLayout>
#include <algorithm>

namespace furrow {

namespace {

constexpr double kBand = 0.2; // of the formula, on either side: tests/bench/README.md

QString gibText(std::int64_t bytes)
{
    return bytesText(static_cast<std::uint64_t>(bytes));
}

} // namespace

MemoryView::MemoryView(RunForm& form, QWidget* parent)
    : QWidget(parent)
    , form_(form)
    , title_(makeLabel({}, TextTone::Value, TextSize::Body))
    , value_(makeLabel({}, TextTone::Value, TextSize::Body, true))
    , bar_(new EstimateBar(this))
    , note_(makeLabel({}, TextTone::Secondary, TextSize::Small))
{
    if (auto monitor = GpuMonitor::open(); monitor.ok())
        gpus_ = monitor.value().read();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(8);
    auto* row = new QHBoxLayout;
    row->addWidget(title_);
    row->addStretch();
    row->addWidget(value_);
    column->addLayout(row);
    column->addWidget(bar_);
    note_->setWordWrap(true);
    column->addWidget(note_);
}

const Gpu* MemoryView::smallestOf(const std::vector<WorkerPlacement>& workers) const
{
    const Gpu* smallest = nullptr;
    for (const WorkerPlacement& worker : workers)
        for (const Gpu& gpu : gpus_)
            if (gpu.uuid == worker.device && (smallest == nullptr || gpu.memoryFreeBytes < smallest->memoryFreeBytes))
                smallest = &gpu;
    return smallest;
}

void MemoryView::refresh()
{
    const RunConfig& config = form_.config();
    const ModelConfig model = modelConfigOf(config, usualVocabulary(config));
    const auto workers = placeWorkers(config, gpus_, cpuCount());
    const bool known = workers.ok() && !workers.value().empty() && model.validate().empty() && config.batchSize > 0;
    const Gpu* gpu = known ? smallestOf(workers.value()) : nullptr;
    title_->setText(gpu != nullptr ? tr("GPU memory, each") : tr("Memory of each worker"));
    bar_->setVisible(known);
    if (!known) {
        value_->setText(tr("not known yet"));
        note_->setText(tr("Known when the model can be built."));
        return;
    }
    show(estimateMemory(config, model, stepPathOf(config, model, gpu != nullptr), workers.value().front().threads), gpu);
    note_->setText(note_->text() + QLatin1Char(' ') + tr("%1 parameters.").arg(countText(model.parameterCount())));
}

void MemoryView::show(const MemoryEstimate& e, const Gpu* gpu)
{
    const auto total = static_cast<double>(e.total());
    const auto has = static_cast<double>(gpu != nullptr ? gpu->memoryTotalBytes : physicalMemoryBytes());
    value_->setText(tr("about %1").arg(gibText(e.total())));
    bar_->setScale({ 0, std::max(has, total * (1 + kBand)), { { 0, QStringLiteral("0") }, { has, gibText(static_cast<std::int64_t>(has)) } } });
    const auto part = [](std::int64_t bytes, int shade) { return EstimatePart { static_cast<double>(bytes), shade, false, {} }; };
    bar_->setParts({ part(e.process + e.checkpoint, 1), part(e.weights, 2), part(e.gradients, 3), part(e.optimizer, 2), part(e.activations, 0), part(e.logits, 1), { total * kBand, 2, true, {} } });
    bar_->setLimit(gpu != nullptr ? std::optional(static_cast<double>(gpu->memoryFreeBytes)) : std::nullopt, gpu != nullptr ? tr("free %1").arg(bytesText(gpu->memoryFreeBytes)) : QString());
    bar_->setAccessibleDescription(value_->text());
    note_->setText(tr("%1 to %2 by formula: weights %3, gradients %4, optimizer %5, activations %6, logits %7.")
                       .arg(gibText(static_cast<std::int64_t>(total * (1 - kBand))), gibText(static_cast<std::int64_t>(total * (1 + kBand))), gibText(e.weights), gibText(e.gradients),
                           gibText(e.optimizer), gibText(e.activations), gibText(e.logits)));
}

} // namespace furrow
