#pragma once

#include "ui/bridge/chat_session.h"

#include <QWidget>

class QLabel;

namespace furrow {

class ChatTranscript;
class ElidedLabel;

/// One talk: whose weights answer, what was said, and how the answer goes.
class ChatColumn : public QWidget {
    Q_OBJECT
public:
    explicit ChatColumn(const QString& name, QWidget* parent = nullptr);

    /// Says something to the model of a place; a talk with another place ends, and a new one begins.
    void say(const QString& text, const ChatPlace& place, const SamplingChoices& choices);
    void stop();
    /// Begins anew with the same weights.
    void forget();
    /// Ends the talk and what was said.
    void clear();
    bool isBusy() const { return session_.isAnswering(); }

Q_SIGNALS:
    void busyChanged();

private:
    void showWeights(const ChatWeights& weights);
    void showAnswer(const ChatAnswer& answer);
    void showEnd(const Message& why);

    ChatSession session_;
    ElidedLabel* head_;
    ChatTranscript* text_;
    QLabel* state_;
    QString checkpoint_; ///< that answers
};

} // namespace furrow
