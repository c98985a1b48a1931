#include "ui/pages/new_run/device_picker.h"

#include "core/base/process.h"
#include "ui/models/run_form.h"
#include "ui/models/words.h"
#include "ui/parts/page_parts.h"

#include <QCheckBox>
#include <QGridLayout>

namespace furrow {

namespace {

const Setting& devicesSetting() { return *findSetting("devices"); }

} // namespace

DevicePicker::DevicePicker(RunForm& form, QWidget* parent)
    : QFrame(parent)
    , form_(form)
    , grid_(new QGridLayout(this))
{
    setProperty("wanted", true);
    grid_->setContentsMargins(0, 0, 0, 0);
    grid_->setHorizontalSpacing(12);
    grid_->setVerticalSpacing(0);
    grid_->setColumnStretch(3, 1);
    auto monitor = GpuMonitor::open();
    if (monitor.ok()) {
        for (const Gpu& gpu : monitor.value().read()) {
            const QString uuid = QString::fromStdString(gpu.uuid);
            const QString memory
                = tr("%1 of %2 free").arg(bytesText(gpu.memoryFreeBytes), bytesText(gpu.memoryTotalBytes));
            const QString note = gpu.utilisationPercent < 0 ? QString()
                : gpu.utilisationPercent == 0               ? tr("idle")
                                                            : tr("%1 % busy").arg(gpu.utilisationPercent);
            addRow(QString::fromStdString(gpu.name), uuid, memory, note, uuid);
        }
    }
    const QString memory = tr("%1 in all").arg(bytesText(physicalMemoryBytes()));
    addRow(tr("CPU, %n core(s)", nullptr, cpuCount()), {}, memory, rows_.empty() ? tr("no GPU was found") : QString(),
        QStringLiteral("cpu"));
    connect(&form_, &RunForm::edited, this, [this](const QString& key) {
        if (key == QLatin1String("devices"))
            refresh();
    });
    connect(&form_, &RunForm::replaced, this, &DevicePicker::refresh);
    refresh();
}

void DevicePicker::addRow(
    const QString& name, const QString& id, const QString& memory, const QString& note, const QString& value)
{
    const int row = static_cast<int>(rows_.size()) * 2;
    grid_->addWidget(makeLine(), row, 0, 1, 4);
    auto* box = new QCheckBox(name, this);
    box->setFont(scaledFont(TextSize::Body, QFont::DemiBold));
    box->setMinimumHeight(25);
    grid_->addWidget(box, row + 1, 0);
    QLabel* shortId = makeLabel(
        id.size() > 16 ? id.left(8) + QStringLiteral("…") + id.right(4) : id, TextTone::Secondary, TextSize::Tiny);
    shortId->setFont(codeFont(TextSize::Tiny));
    shortId->setToolTip(id);
    grid_->addWidget(shortId, row + 1, 1);
    grid_->addWidget(makeLabel(memory, TextTone::Secondary, TextSize::Small), row + 1, 2);
    auto* words = new ElidedLabel(TextTone::Hint, TextSize::Small);
    words->setText(note);
    words->setToolTip(note);
    grid_->addWidget(words, row + 1, 3);
    rows_.push_back({ box, value });
    connect(box, &QCheckBox::clicked, this, &DevicePicker::choose);
}

void DevicePicker::refresh()
{
    const QString text = form_.text(devicesSetting());
    const bool automatic = text == QLatin1String("auto");
    const QStringList wanted = text.split(QLatin1Char(','), Qt::SkipEmptyParts);
    const bool hasGpu = rows_.size() > 1;
    int index = 0;
    for (const Row& row : rows_) {
        const bool isCpu = row.value == QLatin1String("cpu");
        const bool named = isCpu ? text.startsWith(QLatin1String("cpu"))
                                 : wanted.contains(row.value) || wanted.contains(QString::number(index));
        row.box->setChecked(automatic ? isCpu != hasGpu : named);
        ++index;
    }
}

void DevicePicker::choose()
{
    QStringList gpus;
    bool cpu = false;
    const auto* clicked = qobject_cast<QCheckBox*>(sender());
    for (const Row& row : rows_) {
        const bool isCpu = row.value == QLatin1String("cpu");
        if (row.box->isChecked() && isCpu)
            cpu = true;
        else if (row.box->isChecked())
            gpus.append(row.value);
    }
    // CPU and GPUs are not mixed in one run: the box that was ticked last decides.
    const bool cpuClicked = clicked == rows_.back().box;
    if (cpu && (cpuClicked || gpus.isEmpty()))
        form_.setText(devicesSetting(), QStringLiteral("cpu"));
    else if (!gpus.isEmpty())
        form_.setText(devicesSetting(), gpus.join(QLatin1Char(',')));
    else
        form_.setText(devicesSetting(), QStringLiteral("auto"));
    refresh();
}

} // namespace furrow
