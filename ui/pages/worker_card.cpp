#include "ui/pages/worker_card.h"

#include "ui/models/core_words.h"
#include "ui/models/words.h"
#include "ui/parts/marks.h"
#include "ui/parts/page_parts.h"
#include "ui/widgets/meters.h"

#include <QGridLayout>
#include <QKeyEvent>
#include <QProgressBar>
#include <QVBoxLayout>
#include <cmath>

namespace furrow {

WorkerCard::WorkerCard(int worker, QWidget* parent)
    : QFrame(parent)
    , worker_(worker)
    , device_(new ElidedLabel(TextTone::Secondary, TextSize::Small))
    , phase_(makeLabel({}, TextTone::Secondary, TextSize::Small))
    , chunk_(makeLabel({}, TextTone::Value, TextSize::Small))
    , progress_(new QProgressBar(this))
    , loss_(makeLabel({}, TextTone::Value, TextSize::Title, true))
    , speed_(makeLabel({}, TextTone::Value, TextSize::Small))
    , steps_(makeLabel({}, TextTone::Hint, TextSize::Small))
    , strip_(new Sparkline(this))
{
    setProperty("card", true);
    strip_->setMinimumHeight(34);
    setFocusPolicy(Qt::StrongFocus);
    setMinimumWidth(200);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(12, 8, 12, 8);
    column->setSpacing(4);
    auto* head = new QHBoxLayout;
    head->addWidget(new WorkerMark(worker, this));
    head->addWidget(makeLabel(tr("Worker %1").arg(worker), TextTone::Value, TextSize::Body, true));
    head->addWidget(device_, 1);
    head->addWidget(loss_);
    column->addLayout(head);
    column->addWidget(strip_);
    auto* middle = new QHBoxLayout;
    middle->addWidget(phase_, 1);
    middle->addWidget(chunk_);
    column->addLayout(middle);
    progress_->setTextVisible(false);
    progress_->setRange(0, 1000);
    progress_->setFixedHeight(6);
    progress_->setAccessibleName(tr("How far the chunk is"));
    column->addWidget(progress_);
    auto* foot = new QHBoxLayout;
    foot->addWidget(steps_, 1);
    foot->addWidget(speed_);
    column->addLayout(foot);
}

void WorkerCard::setStatus(const WorkerStatus& status, bool endWanted)
{
    const QString device = QString::fromStdString(status.deviceName.empty() ? status.device : status.deviceName);
    device_->setText(status.alive && status.pid != 0 ? tr("%1, process %2").arg(device).arg(status.pid) : device);
    device_->setToolTip(QString::fromStdString(status.device)
        + (status.memory ? QLatin1Char('\n')
                    + tr("At most %1 of memory, %2 times the estimate")
                        .arg(bytesText(static_cast<std::uint64_t>(status.memory->peakBytes)),
                            fixedText(status.memory->ratio(), 2))
                         : QString()));
    const QString restarts = status.restarts > 0 ? tr(", %n restart(s)", nullptr, status.restarts) : QString();
    if (status.alive)
        phase_->setText(phaseWord(status.phase) + restarts);
    else
        phase_->setText((status.endCause.empty() ? tr("not alive") : coreWords(status.endCause)) + restarts);
    setTone(phase_, status.alive || endWanted || status.endCause.empty() ? TextTone::Secondary : TextTone::Error);
    const bool training = status.alive && status.chunkBlock >= 0;
    chunk_->setText(training ? chunkShort(status.chunkBlock, status.chunkColumn) : QString());
    progress_->setValue(training ? static_cast<int>(status.chunkFraction * 1000) : 0);
    loss_->setText(status.step > 0 ? lossText(status.loss, status.lossIsGone) : QStringLiteral("–"));
    loss_->setToolTip(status.lossIsGone ? lossIsGoneText() : QString());
    speed_->setText(status.alive ? rateText(status.tokensPerSecond) : QString());
    steps_->setText(status.step == 1 ? tr("1 step") : tr("%1 steps").arg(countText(status.step)));
    setAccessibleName(tr("Worker %1: %2, loss %3, %4").arg(worker_).arg(phase_->text(), loss_->text(), speed_->text()));
}

void WorkerCard::setLosses(const QVector<double>& losses) { strip_->setValues({ losses.begin(), losses.end() }); }

void WorkerCard::mousePressEvent(QMouseEvent* event)
{
    QFrame::mousePressEvent(event);
    Q_EMIT chosen(worker_);
}

void WorkerCard::mouseDoubleClickEvent(QMouseEvent* event)
{
    QFrame::mouseDoubleClickEvent(event);
    Q_EMIT opened();
}

void WorkerCard::keyPressEvent(QKeyEvent* event)
{
    const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
    if (!enter && event->key() != Qt::Key_Select)
        return QFrame::keyPressEvent(event);
    Q_EMIT chosen(worker_);
    Q_EMIT opened();
}

} // namespace furrow
