#include "ui/pages/chat_transcript.h"

#include "ui/models/words.h"
#include "ui/parts/page_parts.h"
#include "ui/widgets/plain_text.h"

#include <QHelpEvent>
#include <QScrollBar>
#include <QTextBlock>

namespace furrow {

namespace {

constexpr int kNote = QTextFormat::UserProperty; // what lies over a token

QString quoted(QString text)
{
    return QStringLiteral("“%1”").arg(text.replace(QLatin1Char('\n'), QStringLiteral("⏎")));
}

QString noteOf(const ChatToken& token)
{
    QStringList lines;
    if (token.probability > 0)
        lines += QPlainTextEdit::tr("This token: %1").arg(percentText(token.probability));
    for (const auto& [text, probability] : token.likeliest)
        lines += QStringLiteral("%1  %2").arg(percentText(probability), quoted(text));
    return lines.join(QLatin1Char('\n'));
}

} // namespace

ChatTranscript::ChatTranscript(QWidget* parent)
    : QPlainTextEdit(parent)
{
    setReadOnly(true);
    setTabChangesFocus(true);
    setFont(codeFont(TextSize::Body));
}

QTextCharFormat ChatTranscript::plain() const
{
    QTextCharFormat format;
    format.setForeground(palette().color(QPalette::Text));
    return format;
}

void ChatTranscript::append(const QString& text, const QTextCharFormat& format)
{
    QScrollBar* bar = verticalScrollBar();
    const bool follows = bar->value() == bar->maximum(); // a person who reads above is left there
    QTextCursor end(document());
    end.movePosition(QTextCursor::End);
    end.insertText(text, format);
    if (follows)
        bar->setValue(bar->maximum());
}

void ChatTranscript::addTurn(const QString& who, const QString& text)
{
    QTextCharFormat name = plain();
    name.setFontWeight(QFont::DemiBold);
    name.setForeground(palette().color(QPalette::PlaceholderText));
    append((document()->isEmpty() ? QString() : QStringLiteral("\n\n")) + who + QLatin1Char('\n'), name);
    append(text, plain());
}

void ChatTranscript::addToken(const ChatToken& token)
{
    QTextCharFormat format = plain();
    format.setProperty(kNote, noteOf(token));
    append(token.text, format);
}

void ChatTranscript::addNote(const QString& text)
{
    QTextCharFormat format = plain();
    format.setFontItalic(true);
    format.setForeground(palette().color(QPalette::PlaceholderText));
    append((document()->isEmpty() ? QString() : QStringLiteral("\n\n")) + text, format);
}

bool ChatTranscript::viewportEvent(QEvent* event)
{
    if (event->type() != QEvent::ToolTip)
        return QPlainTextEdit::viewportEvent(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    QTextCursor at = cursorForPosition(help->pos()); // the nearest place between two characters, however far it is
    const QRect place = cursorRect(at);
    const bool isBehind = place.left() <= help->pos().x();
    if (isBehind && !at.atBlockEnd())
        at.movePosition(QTextCursor::NextCharacter); // the format of a cursor is that of the character before it
    const bool isOver = place.top() <= help->pos().y() && help->pos().y() <= place.bottom()
        && !(isBehind && at.atBlockEnd() && cursorRect(at).left() < help->pos().x());
    showTip(help->globalPos(), isOver ? at.charFormat().stringProperty(kNote) : QString(), viewport());
    return true;
}

} // namespace furrow
