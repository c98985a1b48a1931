#include "ui/pages/chat_column.h"

#include "ui/models/core_words.h"
#include "ui/models/words.h"
#include "ui/pages/chat_transcript.h"
#include "ui/parts/page_parts.h"

#include <QVBoxLayout>

namespace furrow {

ChatColumn::ChatColumn(const QString& name, QWidget* parent)
    : QWidget(parent)
    , head_(new ElidedLabel(TextTone::Secondary, TextSize::Small))
    , text_(new ChatTranscript)
    , state_(makeLabel({}, TextTone::Secondary, TextSize::Small))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(6);
    column->addWidget(head_);
    text_->setAccessibleName(name);
    text_->setPlaceholderText(
        tr("Nothing has been said yet. Hold the pointer over a word of the model to see how likely it was."));
    column->addWidget(text_, 1);
    state_->setWordWrap(true);
    column->addWidget(state_);
    connect(&session_, &ChatSession::weightsTaken, this, &ChatColumn::showWeights);
    connect(&session_, &ChatSession::wrote, this, [this](const ChatToken& token) {
        text_->addToken(token);
        saySentence(state_, tr("Writing…"), false);
    });
    connect(&session_, &ChatSession::answered, this, &ChatColumn::showAnswer);
    connect(&session_, &ChatSession::refused, this, [this](const Message& why) {
        saySentence(state_, coreWords(why), true);
        Q_EMIT busyChanged();
    });
    connect(&session_, &ChatSession::ended, this, &ChatColumn::showEnd);
}

void ChatColumn::say(const QString& text, const ChatPlace& place, const SamplingChoices& choices)
{
    if (!session_.isOpen() || session_.place() != place) {
        clear();
        session_.open(place);
        saySentence(state_, tr("Loading the weights…"), false);
    } else {
        saySentence(state_, tr("Reading…"), false);
    }
    text_->addTurn(tr("You"), text);
    text_->addTurn(tr("Model"), {});
    session_.say(text, choices);
    Q_EMIT busyChanged();
}

void ChatColumn::stop() { session_.stopAnswer(); }

void ChatColumn::forget()
{
    if (isBusy())
        return clear();
    session_.forget();
    text_->clear();
    state_->clear();
}

void ChatColumn::clear()
{
    session_.close();
    checkpoint_.clear();
    text_->clear();
    head_->setText({});
    state_->clear();
    Q_EMIT busyChanged();
}

void ChatColumn::showWeights(const ChatWeights& weights)
{
    const QString whose = coreWords(weights.whose);
    const QString words = tr("%1, step %2").arg(weights.checkpoint, countText(weights.step))
        + (whose.isEmpty() ? QString() : QStringLiteral(" · ") + whose)
        + (weights.hasFormat ? QString() : QStringLiteral(" · ") + tr("no chat format: the text is continued"));
    if (!checkpoint_.isEmpty() && checkpoint_ != weights.checkpoint)
        text_->addNote(
            tr("From here on with newer weights: %1, step %2").arg(weights.checkpoint, countText(weights.step))
            + QStringLiteral("\n"));
    checkpoint_ = weights.checkpoint;
    head_->setText(words);
}

void ChatColumn::showAnswer(const ChatAnswer& answer)
{
    QString words = tr("%Ln token(s), %1 per second", nullptr, static_cast<int>(answer.tokens))
                        .arg(fixedText(answer.tokensPerSecond, 1));
    if (!answer.ended)
        words = tr("%1. Cut off before the model had ended.").arg(words);
    if (!answer.unknownCharacters.isEmpty())
        words += QLatin1Char(' ') + tr("The tokenizer has nothing for: %1").arg(answer.unknownCharacters);
    saySentence(state_, words, false);
    Q_EMIT busyChanged();
}

void ChatColumn::showEnd(const Message& why)
{
    saySentence(state_, tr("%1 What was said is forgotten; say something to begin again.").arg(coreWords(why)), true);
    Q_EMIT busyChanged();
}

} // namespace furrow
