#include "ui/pages/torch_dialog.h"

#include "core/device/driver.h"
#include "core/libtorch/torch_pins.h"
#include "ui/bridge/answer_message.h"
#include "ui/models/core_words.h"
#include "ui/parts/page_parts.h"

#include <QCheckBox>
#include <QFileDialog>
#include <QLocale>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>

namespace furrow {

TorchDialog::TorchDialog(QWidget* parent)
    : QDialog(parent)
    , bar_(new QProgressBar(this))
    , room_(makeLabel({}, TextTone::Secondary, TextSize::Small))
    , state_(makeLabel({}, TextTone::Secondary, TextSize::Small))
{
    setWindowTitle(tr("Install libtorch"));
    setMinimumSize(600, 340); // with room for the lines that come while it works
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 12, 16, 12);
    column->setSpacing(8);
    column->addWidget(buildChoice());
    bar_->setRange(0, 1000);
    bar_->setAccessibleName(tr("Progress"));
    bar_->hide();
    room_->setWordWrap(true);
    state_->setWordWrap(true);
    for (QWidget* line : std::initializer_list<QWidget*> { room_, bar_, state_ })
        column->addWidget(line);
    column->addStretch();
    column->addWidget(buildFoot());
    connect(&task_, &TaskRunner::wrote, this, &TorchDialog::takeOutput);
    connect(&task_, &TaskRunner::finished, this,
        [this](const QJsonObject&, const Message& problem) { end(coreWords(problem)); });
}

QWidget* TorchDialog::buildChoice()
{
    auto* choice = new QWidget(this);
    auto* column = new QVBoxLayout(choice);
    column->setContentsMargins(0, 0, 0, 0);
    auto* what = makeLabel(tr(
        "Training uses libtorch, which is not part of Furrow. One that is on this computer can be used as it is; otherwise it is downloaded from the package index that pip is configured for, and compared with a hash that Furrow knows."));
    what->setWordWrap(true);
    column->addWidget(what);
    const auto outlook = gpuOutlook(gpuDriver(), otherAccelerators(), pinnedCudaMajor());
    auto* gpu = makeLabel(coreWords(outlook.words), TextTone::Secondary, TextSize::Small);
    gpu->setWordWrap(true);
    column->addWidget(gpu);
    cuda_ = new QCheckBox(tr("With CUDA's libraries, for GPUs of NVIDIA"));
    cuda_->setChecked(outlook.usable);
    column->addWidget(cuda_);
    return choice;
}

QWidget* TorchDialog::buildFoot()
{
    auto* foot = new QWidget(this);
    auto* row = new QHBoxLayout(foot);
    row->setContentsMargins(0, 4, 0, 0);
    find_ = makeButton(tr("Look on this computer"));
    connect(find_, &QPushButton::clicked, this,
        [this] { begin({ QStringLiteral("torch"), QStringLiteral("find"), QStringLiteral("--json") }); });
    row->addWidget(find_);
    folder_ = makeButton(tr("From a folder of wheels…"));
    connect(folder_, &QPushButton::clicked, this, [this] {
        const QString folder = QFileDialog::getExistingDirectory(this, tr("Folder of wheels"));
        if (!folder.isEmpty())
            install(folder);
    });
    row->addWidget(folder_);
    row->addStretch();
    auto* close = makeButton(tr("Close"));
    connect(close, &QPushButton::clicked, this, &QDialog::reject);
    row->addWidget(close);
    install_ = makeButton(tr("Install"), {}, true);
    install_->setDefault(true);
    connect(install_, &QPushButton::clicked, this, [this] { install({}); });
    row->addWidget(install_);
    return foot;
}

void TorchDialog::install(const QString& from)
{
    QStringList arguments { QStringLiteral("torch"), QStringLiteral("install"), QStringLiteral("--json"),
        cuda_->isChecked() ? QStringLiteral("--cuda") : QStringLiteral("--cpu") };
    if (!from.isEmpty())
        arguments << QStringLiteral("--from") << from;
    begin(arguments);
}

void TorchDialog::begin(const QStringList& arguments)
{
    for (QWidget* widget : std::initializer_list<QWidget*> { cuda_, find_, folder_, install_ })
        widget->setEnabled(false);
    lines_.forget();
    room_->clear();
    bar_->setRange(0, 0); // busy until there is a number
    bar_->show();
    say(tr("Working…"));
    task_.run(arguments);
}

void TorchDialog::takeOutput(const QString& text)
{
    for (const auto& line : lines_.take(text)) {
        if (line.contains(QLatin1String("say")))
            room_->setText(coreWords(answeredMessage(line, "say")));
        else if (line.contains(QLatin1String("step")))
            showProgress(line);
    }
}

void TorchDialog::showProgress(const QJsonObject& line)
{
    const double done = line.value(QLatin1String("done")).toDouble();
    const double total = line.value(QLatin1String("total")).toDouble();
    const QString file = line.value(QLatin1String("file")).toString();
    bar_->setRange(0, total > 0 ? 1000 : 0);
    bar_->setValue(total > 0 ? static_cast<int>(1000 * done / total) : 0);
    const QString size = locale().formattedDataSize(static_cast<qint64>(total > 0 ? total : done));
    say(line.value(QLatin1String("step")) == QLatin1String("download") ? tr("Fetching %1 (%2)").arg(file, size)
                                                                       : tr("Unpacking %1 (%2)").arg(file, size));
}

void TorchDialog::end(const QString& problem)
{
    for (QWidget* widget : std::initializer_list<QWidget*> { cuda_, find_, folder_, install_ })
        widget->setEnabled(true);
    bar_->hide();
    say(problem.isEmpty() ? tr("libtorch is there and works.") : problem, !problem.isEmpty());
    if (problem.isEmpty())
        Q_EMIT ready();
}

void TorchDialog::say(const QString& sentence, bool bad) { saySentence(state_, sentence, bad); }

} // namespace furrow
