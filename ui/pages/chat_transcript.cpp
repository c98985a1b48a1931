#include "ui/pages/chat_transcript.h"

#include "ui/models/words.h"
#include "ui/parts/page_parts.h"
#include "ui/theme/theme.h"
#include "ui/widgets/plain_text.h"

#include <QHelpEvent>
#include <QScrollBar>
#include <QTextBlock>
#include <vector>

namespace furrow {

namespace {

constexpr int kNote = QTextFormat::UserProperty; // what lies over a token
constexpr int kIsQuiet = kNote + 1; // in the colour of hints; the rest has none of its own and follows the theme

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

QTextCharFormat quiet()
{
    QTextCharFormat format;
    format.setForeground(theme().color(Token::Text3));
    format.setProperty(kIsQuiet, true);
    return format;
}

} // namespace

ChatTranscript::ChatTranscript(QWidget* parent)
    : QPlainTextEdit(parent)
{
    setReadOnly(true);
    setTabChangesFocus(true);
    setFont(codeFont(TextSize::Body));
    connect(&theme(), &Theme::changed, this, &ChatTranscript::colourAgain);
}

/// What was written keeps the colour it was given.
void ChatTranscript::colourAgain()
{
    std::vector<QTextCursor> passages;
    for (QTextBlock block = document()->begin(); block.isValid(); block = block.next())
        for (auto part = block.begin(); !part.atEnd(); ++part) {
            const QTextFragment fragment = part.fragment();
            if (!fragment.charFormat().boolProperty(kIsQuiet))
                continue;
            QTextCursor& passage = passages.emplace_back(document());
            passage.setPosition(fragment.position());
            passage.setPosition(fragment.position() + fragment.length(), QTextCursor::KeepAnchor);
        }
    for (QTextCursor& passage : passages)
        passage.mergeCharFormat(quiet());
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
    QTextCharFormat name = quiet();
    name.setFontWeight(QFont::DemiBold);
    append((document()->isEmpty() ? QString() : QStringLiteral("\n\n")) + who + QLatin1Char('\n'), name);
    append(text, {});
}

void ChatTranscript::addToken(const ChatToken& token)
{
    QTextCharFormat format;
    format.setProperty(kNote, noteOf(token));
    append(token.text, format);
}

void ChatTranscript::addNote(const QString& text)
{
    QTextCharFormat format = quiet();
    format.setFontItalic(true);
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
