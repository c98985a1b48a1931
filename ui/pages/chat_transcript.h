#pragma once

#include "ui/bridge/chat_session.h"

#include <QPlainTextEdit>

namespace furrow {

/// What was said in a talk, as plain text that grows at its end. Over a token of the model lies a note: how likely it
/// was, and what else was.
class ChatTranscript : public QPlainTextEdit {
public:
    explicit ChatTranscript(QWidget* parent = nullptr);

    /// Begins a turn: who speaks, then what.
    void addTurn(const QString& who, const QString& text);
    void addToken(const ChatToken& token);
    /// A sentence that nobody said.
    void addNote(const QString& text);

protected:
    bool viewportEvent(QEvent* event) override;

private:
    void append(const QString& text, const QTextCharFormat& format);
    void colourAgain();
};

} // namespace furrow
