#include "ui/pages/new_run/hub_model_dialog.h"

#include "ui/bridge/answer_message.h"
#include "ui/models/core_words.h"
#include "ui/parts/page_parts.h"

#include <QJsonArray>
#include <QLineEdit>
#include <QListWidget>
#include <QLocale>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>

namespace furrow {

HubModelDialog::HubModelDialog(QWidget* parent)
    : QDialog(parent)
    , name_(new QLineEdit(this))
    , here_(new QListWidget(this))
    , nothing_(makeLabel(tr("No model has been downloaded to this computer yet."), TextTone::Secondary))
    , bar_(new QProgressBar(this))
    , state_(makeLabel({}, TextTone::Secondary, TextSize::Small))
{
    setWindowTitle(tr("Start from a model on the hub"));
    setMinimumSize(600, 380); // with room for the lines that come while it works
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 12, 16, 12);
    column->setSpacing(8);
    column->addWidget(buildFetch());
    bar_->setRange(0, 1000);
    bar_->setAccessibleName(tr("Progress"));
    bar_->hide();
    state_->setWordWrap(true);
    column->addWidget(bar_);
    column->addWidget(state_);
    column->addWidget(buildHere(), 1);
    connect(&fetching_, &TaskRunner::wrote, this, [this](const QString& text) {
        for (const auto& line : lines_.take(text))
            take(line);
    });
    connect(&fetching_, &TaskRunner::finished, this, &HubModelDialog::endFetch);
    connect(&listing_, &TaskRunner::finished, this,
        [this](const QJsonObject& answer, const Message&) { showHere(answer); });
    listing_.run({ QStringLiteral("model"), QStringLiteral("list"), QStringLiteral("--json") });
}

QWidget* HubModelDialog::buildFetch()
{
    auto* part = new QWidget(this);
    auto* column = new QVBoxLayout(part);
    column->setContentsMargins(0, 0, 0, 0);
    auto* what = makeLabel(tr(
        "Name a model on the Hugging Face hub: hf://owner/name, or hf://owner/name/FILE.gguf. It is downloaded once; shape, context, tokenizer and chat template come with it. A gated model needs HF_TOKEN in the environment."));
    what->setWordWrap(true);
    column->addWidget(what);
    auto* row = new QHBoxLayout;
    name_->setPlaceholderText(QStringLiteral("hf://owner/name"));
    name_->setAccessibleName(tr("Model on the hub"));
    row->addWidget(name_, 1);
    fetch_ = makeButton(tr("Download and use"), {}, true);
    fetch_->setDefault(true);
    fetch_->setEnabled(false);
    row->addWidget(fetch_);
    column->addLayout(row);
    connect(name_, &QLineEdit::textChanged, this,
        [this](const QString& text) { fetch_->setEnabled(!text.trimmed().isEmpty() && !fetching_.isBusy()); });
    connect(fetch_, &QPushButton::clicked, this, &HubModelDialog::fetch);
    return part;
}

QWidget* HubModelDialog::buildHere()
{
    auto* part = new QWidget(this);
    auto* column = new QVBoxLayout(part);
    column->setContentsMargins(0, 4, 0, 0);
    column->addWidget(makeLabel(tr("On this computer"), TextTone::Secondary, TextSize::Small));
    here_->setAccessibleName(tr("Models on this computer"));
    here_->hide();
    column->addWidget(here_, 1);
    column->addWidget(nothing_);
    column->addStretch();
    auto* row = new QHBoxLayout;
    row->addStretch();
    auto* close = makeButton(tr("Close"));
    connect(close, &QPushButton::clicked, this, &QDialog::reject);
    row->addWidget(close);
    auto* use = makeButton(tr("Use the selected one"));
    use->setEnabled(false);
    row->addWidget(use);
    column->addLayout(row);
    const auto useSelected = [this] {
        if (const auto* item = here_->currentItem())
            choose(item->data(Qt::UserRole).toString());
    };
    connect(here_, &QListWidget::currentItemChanged, this,
        [use](const QListWidgetItem* item) { use->setEnabled(item != nullptr); });
    connect(here_, &QListWidget::itemActivated, this, useSelected);
    connect(use, &QPushButton::clicked, this, useSelected);
    return part;
}

void HubModelDialog::fetch()
{
    QString name = name_->text().trimmed();
    if (!name.startsWith(QLatin1String("hf://")))
        name.prepend(QLatin1String("hf://"));
    name_->setEnabled(false);
    fetch_->setEnabled(false);
    lines_.forget();
    bar_->setRange(0, 0); // busy until there is a number
    bar_->show();
    saySentence(state_, tr("Asking the hub…"), false);
    fetching_.run({ QStringLiteral("model"), QStringLiteral("fetch"), name, QStringLiteral("--json") });
}

void HubModelDialog::take(const QJsonObject& line)
{
    if (line.contains(QLatin1String("say")))
        saySentence(state_, coreWords(answeredMessage(line, "say")), false);
    if (!line.contains(QLatin1String("total")))
        return;
    const double total = line.value(QLatin1String("total")).toDouble();
    bar_->setRange(0, total > 0 ? 1000 : 0);
    bar_->setValue(total > 0 ? static_cast<int>(1000 * line.value(QLatin1String("done")).toDouble() / total) : 0);
}

void HubModelDialog::endFetch(const QJsonObject& answer, const Message& problem)
{
    name_->setEnabled(true);
    fetch_->setEnabled(true);
    bar_->hide();
    saySentence(state_, coreWords(problem), !problem.empty());
    if (problem.empty())
        choose(answer.value(QLatin1String("place")).toString());
}

void HubModelDialog::showHere(const QJsonObject& answer)
{
    for (const auto& value : answer.value(QLatin1String("models")).toArray()) {
        const auto model = value.toObject();
        if (!model.value(QLatin1String("whole")).toBool())
            continue;
        const QString place = model.value(QLatin1String("place")).toString();
        auto* item
            = new QListWidgetItem(QStringLiteral("%1, %2").arg(model.value(QLatin1String("name")).toString(),
                                      locale().formattedDataSize(model.value(QLatin1String("bytes")).toInteger())),
                here_);
        item->setData(Qt::UserRole, place);
        item->setToolTip(place);
    }
    here_->setVisible(here_->count() > 0);
    nothing_->setVisible(here_->count() == 0);
}

void HubModelDialog::choose(const QString& place)
{
    if (place.isEmpty())
        return;
    Q_EMIT chosen(place);
    accept();
}

} // namespace furrow
