#include "ui/pages/sampling_page.h"

#include "core/data/tokenizer/prompt_words.h"
#include "ui/models/core_words.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/parts/page_parts.h"
#include "ui/parts/weights_choice.h"

#include <QFormLayout>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSplitter>
#include <QTextBrowser>
#include <QVBoxLayout>
#include <algorithm>

namespace furrow {

namespace {

constexpr std::size_t kMostRecorded = 50;

constexpr int kSettingsWidth = 240;
constexpr int kPromptHeight = 64;

} // namespace

SamplingPage::SamplingPage(Workbench& bench, QWidget* parent)
    : QWidget(parent)
    , bench_(bench)
{
    auto* splitter = new QSplitter(Qt::Horizontal, this);
    splitter->setHandleWidth(1);
    auto* scroll = new QScrollArea;
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    QWidget* settings = buildSettings();
    scroll->setWidget(settings);
    auto* side = new QWidget;
    side->setMinimumWidth(std::max(kSettingsWidth,
        settings->minimumSizeHint().width()
            + scroll->verticalScrollBar()->sizeHint().width())); // in some languages the words need more
    auto* sideColumn = new QVBoxLayout(side);
    sideColumn->setContentsMargins(0, 0, 0, 0);
    sideColumn->setSpacing(0);
    sideColumn->addWidget(scroll, 1);
    sideColumn->addWidget(buildFoot());
    splitter->addWidget(side);
    auto* right = new QWidget;
    auto* column = new QVBoxLayout(right);
    column->setContentsMargins(12, 12, 12, 12);
    column->addWidget(makeLabel(tr("What the model writes"), TextTone::Value, TextSize::Body, true));
    text_ = new QPlainTextEdit;
    text_->setReadOnly(true);
    text_->setTabChangesFocus(true);
    text_->setFont(codeFont());
    text_->setAccessibleName(tr("What the model writes"));
    column->addWidget(text_, 2);
    column->addWidget(makeLabel(tr("Written during training"), TextTone::Value, TextSize::Body, true));
    recorded_ = new QTextBrowser;
    recorded_->setFont(codeFont());
    recorded_->setAccessibleName(tr("Written during training"));
    column->addWidget(recorded_, 1);
    splitter->addWidget(right);
    splitter->setSizes({ 320, 680 });
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->addWidget(splitter);
    connect(&task_, &TaskRunner::wrote, text_, [this](const QString& text) {
        state_->setText(tr("Writing…"));
        text_->moveCursor(QTextCursor::End);
        text_->insertPlainText(text);
    });
    connect(&task_, &TaskRunner::finished, this, [this](const QJsonObject&, const Message& problem) {
        end(problem);
        if (problem.empty())
            sayWhatWasNotRead();
    });
    connect(checkpoint_, &WeightsChoice::filled, this, &SamplingPage::sayWhatIsThere);
    connect(&fields_, &SamplingFields::changed, this, &SamplingPage::sayWhatIsThere);
    connect(&bench_.watcher(), &RunWatcher::telemetryRead, this, &SamplingPage::showRecorded);
    connect(&bench_.watcher(), &RunWatcher::opened, this, [this] {
        task_.cancel();
        end({});
        text_->clear();
        recorded_->clear();
        recorded_->setProperty("shown", QString());
    });
    sayWhatIsThere();
    showRecorded();
}

QWidget* SamplingPage::buildSettings()
{
    auto* side = new QWidget;
    auto* column = new QVBoxLayout(side);
    column->setContentsMargins(14, 12, 12, 12);
    column->setSpacing(8);
    checkpoint_ = new WeightsChoice(bench_);
    prompt_ = new QPlainTextEdit;
    prompt_->setPlaceholderText(tr("Empty: a text of its own"));
    prompt_->setFont(codeFont());
    prompt_->setTabChangesFocus(true);
    prompt_->setFixedHeight(kPromptHeight);
    auto* form = new QFormLayout;
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    addFieldRow(*form, tr("Checkpoint"), checkpoint_, true);
    addFieldRow(*form, tr("Prompt"), prompt_, true);
    fields_.addTo(*form, tr("Tokens"), { .tokens = 300, .topK = 200 });
    column->addLayout(form);
    column->addStretch();
    return side;
}

// Stays in sight however low the page is.
QWidget* SamplingPage::buildFoot()
{
    auto* foot = new QWidget;
    foot->setAutoFillBackground(true); // one ground with what scrolls above it
    auto* column = new QVBoxLayout(foot);
    column->setContentsMargins(14, 8, 12, 12);
    state_ = makeLabel({}, TextTone::Secondary, TextSize::Small);
    state_->setWordWrap(true);
    column->addWidget(state_);
    go_ = makeButton(tr("Write text"), QStringLiteral("text"), true);
    connect(go_, &QPushButton::clicked, this, &SamplingPage::write);
    column->addWidget(go_, 0, Qt::AlignLeft);
    return foot;
}

void SamplingPage::setCheckpoint(const QString& folder) { checkpoint_->choose(folder); }

void SamplingPage::sayWhatIsThere()
{
    const bool any = checkpoint_->hasCheckpoints();
    go_->setEnabled((any && fields_.choices()) || task_.isBusy());
    if (!any)
        state_->setText(tr("No checkpoint has been saved yet."));
    else if (!wasAny_)
        state_->clear();
    wasAny_ = any;
}

void SamplingPage::write()
{
    if (task_.isBusy()) {
        task_.cancel();
        end(tr("Stopped by you.").toStdString());
        return;
    }
    const auto choices = fields_.choices();
    if (!choices)
        return;
    text_->clear();
    const QString prompt = prompt_->toPlainText();
    QStringList arguments { QStringLiteral("sample"), bench_.watcher().folder(), QStringLiteral("--tokens"),
        QString::number(choices->tokens), QStringLiteral("--temperature"), QString::number(choices->temperature),
        QStringLiteral("--seed"), QString::number(choices->seed) };
    if (!prompt.isEmpty())
        arguments.append(QStringLiteral("--prompt=") + prompt);
    if (choices->topK > 0)
        arguments += { QStringLiteral("--top-k"), QString::number(choices->topK) };
    if (!checkpoint_->checkpoint().isEmpty())
        arguments += { QStringLiteral("--checkpoint"), checkpoint_->checkpoint() };
    task_.run(arguments);
    go_->setText(tr("Stop"));
    setTone(state_, TextTone::Secondary);
    state_->setText(tr("Loading the checkpoint, then writing…"));
}

void SamplingPage::end(const Message& problem)
{
    go_->setText(tr("Write text"));
    saySentence(state_, coreWords(problem), !problem.empty());
}

/// The text begins with the prompt as it was typed, whatever the model knows of it.
void SamplingPage::sayWhatWasNotRead()
{
    for (const QString& note : task_.notes())
        if (const auto unknown = valuesOf(Message(note.trimmed().toStdString()), kNoTokenFor))
            saySentence(state_, coreWords(sentence(kNoTokenFor, { unknown->front() })), true);
}

void SamplingPage::showRecorded()
{
    const SnapshotPtr& snapshot = bench_.watcher().telemetry();
    if (!snapshot || !snapshot->samples)
        return;
    const auto& samples = *snapshot->samples;
    QString html;
    for (std::size_t i = samples.size(); i-- > 0 && samples.size() - i <= kMostRecorded;) {
        const SampleRecord& record = samples[i].record;
        html += QStringLiteral("<p style=\"color:%1\">%2</p><p>%3</p>")
                    .arg(palette().color(QPalette::PlaceholderText).name(),
                        tr("after %1 steps").arg(countText(record.step)),
                        QString::fromStdString(record.prompt + record.text)
                            .toHtmlEscaped()
                            .replace(QLatin1Char('\n'), QStringLiteral("<br>")));
    }
    if (html.isEmpty())
        html = QStringLiteral("<p style=\"color:%1\">%2</p>")
                   .arg(palette().color(QPalette::PlaceholderText).name(),
                       tr("None. The setting “Sample every” writes some text while the run trains."));
    if (recorded_->property("shown").toString() != html) {
        recorded_->setProperty("shown", html);
        recorded_->setHtml(html);
    }
}

} // namespace furrow
