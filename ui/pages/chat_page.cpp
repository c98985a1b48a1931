#include "ui/pages/chat_page.h"

#include "core/device/gpu.h"
#include "ui/models/workbench.h"
#include "ui/pages/chat_column.h"
#include "ui/parts/page_parts.h"
#include "ui/parts/weights_choice.h"

#include <QFormLayout>
#include <QKeyEvent>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSplitter>
#include <QVBoxLayout>

namespace furrow {

namespace {
constexpr int kSettingsWidth = 240;
constexpr int kComposerHeight = 64;
} // namespace

ChatPage::ChatPage(Workbench& bench, QWidget* parent)
    : QWidget(parent)
    , bench_(bench)
{
    auto* splitter = new QSplitter(Qt::Horizontal, this);
    splitter->setHandleWidth(1);
    splitter->addWidget(buildSettings());
    auto* right = new QWidget;
    auto* column = new QVBoxLayout(right);
    column->setContentsMargins(12, 12, 12, 12);
    column->setSpacing(8);
    column->addWidget(buildTalks(), 1);
    column->addWidget(buildComposer());
    splitter->addWidget(right);
    splitter->setStretchFactor(1, 1);
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->addWidget(splitter);
    connect(&bench_.watcher(), &RunWatcher::opened, this, [this] {
        talk_->clear();
        otherTalk_->clear();
    });
    connect(others_, &WeightsChoice::currentIndexChanged, this, &ChatPage::refresh);
    connect(&fields_, &SamplingFields::changed, this, &ChatPage::refresh);
    refresh();
}

QWidget* ChatPage::buildSettings()
{
    auto* side = new QWidget;
    side->setMinimumWidth(kSettingsWidth);
    auto* column = new QVBoxLayout(side);
    column->setContentsMargins(14, 12, 12, 12);
    weights_ = new WeightsChoice(bench_);
    others_ = new WeightsChoice(bench_, WeightsChoice::Offers::OthersOrNone);
    device_ = new ElidedCombo;
    device_->setMinimumContentsLength(6);
    fillDevices();
    auto* form = new QFormLayout;
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    addFieldRow(*form, tr("Weights"), weights_, true);
    addFieldRow(*form, tr("Beside them"), others_, true);
    addFieldRow(*form, tr("Device"), device_, true);
    fields_.addTo(*form, tr("Tokens of an answer, at most"), {});
    column->addLayout(form);
    column->addStretch();
    return side;
}

void ChatPage::fillDevices()
{
    device_->addItem(tr("CPU"), QStringLiteral("cpu"));
    if (const auto monitor = GpuMonitor::open(); monitor.ok())
        for (const Gpu& gpu : monitor.value().read())
            device_->addItem(QString::fromStdString(gpu.name), QString::fromStdString(gpu.uuid));
}

QWidget* ChatPage::buildTalks()
{
    auto* talks = new QSplitter(Qt::Horizontal);
    talks->setChildrenCollapsible(false);
    talk_ = new ChatColumn(tr("Talk"));
    otherTalk_ = new ChatColumn(tr("Talk beside it"));
    for (ChatColumn* one : { talk_, otherTalk_ }) {
        talks->addWidget(one);
        connect(one, &ChatColumn::busyChanged, this, &ChatPage::refresh);
    }
    return talks;
}

QWidget* ChatPage::buildComposer()
{
    auto* composer = new QWidget;
    auto* row = new QHBoxLayout(composer);
    row->setContentsMargins(0, 0, 0, 0);
    said_ = new QPlainTextEdit;
    said_->setTabChangesFocus(true);
    said_->setFixedHeight(kComposerHeight);
    said_->setPlaceholderText(tr("Say something. Enter sends it, Shift and Enter begins a new line."));
    said_->setAccessibleName(tr("What you say"));
    said_->installEventFilter(this);
    row->addWidget(said_, 1);
    auto* buttons = new QVBoxLayout;
    go_ = makeButton(tr("Send"), {}, true);
    connect(go_, &QPushButton::clicked, this, [this] {
        if (!isBusy())
            return say();
        talk_->stop();
        otherTalk_->stop();
    });
    forget_ = makeButton(tr("New talk"));
    forget_->setToolTip(tr("The model forgets what was said"));
    connect(forget_, &QPushButton::clicked, this, [this] {
        talk_->forget();
        otherTalk_->forget();
        said_->setFocus();
    });
    buttons->addWidget(go_);
    buttons->addWidget(forget_);
    row->addLayout(buttons);
    connect(said_, &QPlainTextEdit::textChanged, this, &ChatPage::refresh);
    return composer;
}

bool ChatPage::eventFilter(QObject* watched, QEvent* event)
{
    if (watched != said_ || event->type() != QEvent::KeyPress)
        return QWidget::eventFilter(watched, event);
    const auto* key = static_cast<QKeyEvent*>(event);
    const bool sends = (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter)
        && !key->modifiers().testFlag(Qt::ShiftModifier);
    if (sends && !isBusy())
        say();
    return sends;
}

ChatPlace ChatPage::placeOf(const WeightsChoice& choice) const
{
    return { choice.run(), choice.checkpoint(), device_->currentData().toString() };
}

bool ChatPage::isBusy() const { return talk_->isBusy() || otherTalk_->isBusy(); }

void ChatPage::say()
{
    const QString text = said_->toPlainText();
    const auto choices = fields_.choices();
    if (text.trimmed().isEmpty() || weights_->isNone() || !choices)
        return;
    said_->clear();
    talk_->say(text, placeOf(*weights_), *choices);
    if (!others_->isNone())
        otherTalk_->say(text, placeOf(*others_), *choices);
}

void ChatPage::refresh()
{
    otherTalk_->setVisible(!others_->isNone());
    go_->setText(isBusy() ? tr("Stop") : tr("Send"));
    go_->setEnabled(isBusy() || (fields_.choices() && !said_->toPlainText().trimmed().isEmpty()));
}

} // namespace furrow
