#include "ui/pages/new_run/memory_view.h"

#include "core/base/path.h"
#include "core/base/process.h"
#include "core/config/warm_up.h"
#include "core/device/machine_fit.h"
#include "core/workspace/memory_history.h"
#include "ui/models/core_words.h"
#include "ui/models/run_form.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/parts/page_parts.h"
#include "ui/widgets/meters.h"

#include <QVBoxLayout>
#include <algorithm>

namespace furrow {

namespace {

QString gibText(std::int64_t bytes) { return bytesText(static_cast<std::uint64_t>(bytes)); }

} // namespace

MemoryView::MemoryView(Workbench& bench, QWidget* parent)
    : QWidget(parent)
    , bench_(bench)
    , title_(makeLabel({}, TextTone::Value, TextSize::Body))
    , value_(makeLabel({}, TextTone::Value, TextSize::Body, true))
    , bar_(new EstimateBar(this))
    , note_(makeLabel({}, TextTone::Secondary, TextSize::Small))
    , warning_(makeLabel({}, TextTone::Error, TextSize::Small))
{
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
    warning_->setWordWrap(true);
    warning_->hide();
    column->addWidget(warning_);
}

void MemoryView::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    if (auto monitor = GpuMonitor::open(); monitor.ok())
        gpus_ = monitor.value().read();
    history_ = memoryHistory(pathFromUtf8(bench_.workspace().toStdString()));
    refresh();
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
    const RunConfig& config = bench_.form().config();
    const bool isTyped = bench_.form().hasAllThatWasTyped();
    const ModelConfig model = modelConfigOf(config, usualVocabulary(config));
    const auto workers = placeWorkers(config, gpus_, cpuCount());
    const bool known
        = isTyped && workers.ok() && !workers.value().empty() && model.validate().empty() && config.batchSize > 0;
    const Gpu* gpu = known ? smallestOf(workers.value()) : nullptr;
    title_->setText(gpu != nullptr ? tr("GPU memory, each") : tr("Memory of each worker"));
    bar_->setVisible(known);
    if (!known) {
        showWarnings({});
        value_->setText(tr("not known yet"));
        note_->setText(
            isTyped ? tr("Known once the model can be built.") : tr("Known once what must be corrected is right."));
        return;
    }
    const StepPath path = stepPathOf(config, model, gpu != nullptr);
    const MemoryEstimate estimate = estimateMemory(config, model, path, workers.value().front().threads);
    const MemoryForecast forecast = forecastMemory(
        estimate, { gpu != nullptr ? gpu->name : "CPU", path, toString(model.architecture) }, history_);
    showForecast(forecast, gpu);
    auto warnings = machineWarnings(workers.value(), forecast.likely(), Machine::here());
    if (auto possible = canCompute(config, workers.value()); !possible.ok())
        warnings.push_back(possible.error().message);
    if (auto tooLong = warmUpWarning(config, std::ssize(workers.value())); !tooLong.empty())
        warnings.push_back(std::move(tooLong));
    showWarnings(warnings);
    note_->setText(note_->text() + QLatin1Char(' ') + tr("%1 parameters.").arg(countText(model.parameterCount())));
}

void MemoryView::showWarnings(const std::vector<Message>& warnings)
{
    warning_->setText(coreWords(warnings).join(QLatin1Char('\n')));
    warning_->setVisible(!warnings.empty());
}

void MemoryView::showForecast(const MemoryForecast& forecast, const Gpu* gpu)
{
    const MemoryEstimate& e = forecast.parts;
    const auto has = static_cast<double>(gpu != nullptr ? gpu->memoryTotalBytes : physicalMemoryBytes());
    const auto high = static_cast<double>(forecast.high());
    value_->setText(tr("about %1").arg(gibText(forecast.likely())));
    bar_->setScale(
        { 0, std::max(has, high), { { 0, QStringLiteral("0") }, { has, gibText(static_cast<std::int64_t>(has)) } } });
    const auto part = [&](std::int64_t bytes, int shade) {
        return EstimatePart { static_cast<double>(bytes) * forecast.factor, shade, false, {} };
    };
    bar_->setParts({ part(e.process + e.checkpoint, 1), part(e.weights, 2), part(e.gradients, 3), part(e.optimizer, 2),
        part(e.activations, 0), part(e.logits, 1), { high - static_cast<double>(forecast.likely()), 2, true, {} } });
    bar_->setLimit(gpu != nullptr ? std::optional(static_cast<double>(gpu->memoryFreeBytes)) : std::nullopt,
        gpu != nullptr ? tr("free %1").arg(bytesText(gpu->memoryFreeBytes)) : QString());
    bar_->setAccessibleDescription(value_->text());
    const QString sentence = forecast.runs > 0
        ? tr("%1 to %2, corrected by what %n worker(s) of earlier runs used. By formula: weights with their copies %3, gradients %4, optimiser %5, activations %6, logits %7.",
              nullptr, forecast.runs)
        : tr("%1 to %2 by formula: weights with their copies %3, gradients %4, optimiser %5, activations %6, logits %7.");
    note_->setText(sentence.arg(gibText(forecast.low()), gibText(forecast.high()), gibText(e.weights),
                       gibText(e.gradients), gibText(e.optimizer), gibText(e.activations), gibText(e.logits))
        + QLatin1Char(' ')
        + tr("The program itself %1, a copy for checkpoints %2.").arg(gibText(e.process), gibText(e.checkpoint)));
}

} // namespace furrow
