#include "ui/shell/mnemonics.h"

#include "ui/pages/overflow.h"

#include <QAbstractButton>
#include <QAction>
#include <QDialog>
#include <QEvent>
#include <QKeySequence>
#include <QMenu>
#include <QRegularExpression>
#include <QSet>
#include <algorithm>

namespace furrow {

namespace {

QChar letterOf(const QString& text)
{
    const QKeySequence key = QKeySequence::mnemonic(text);
    return key.isEmpty() ? QChar() : QChar(static_cast<char16_t>(key[0].key())).toUpper();
}

bool isUsable(QChar letter, const QSet<QChar>& taken)
{
    const QChar upper = letter.toUpper();
    return ((upper >= QLatin1Char('A') && upper <= QLatin1Char('Z')) || upper.isDigit()) && !taken.contains(upper);
}

/// First letters of words before others: that is where a person looks.
qsizetype bestPlace(const QString& text, const QSet<QChar>& taken)
{
    for (qsizetype i = 0; i < text.size(); ++i)
        if ((i == 0 || text[i - 1].isSpace()) && isUsable(text[i], taken))
            return i;
    for (qsizetype i = 0; i < text.size(); ++i)
        if (isUsable(text[i], taken))
            return i;
    return -1;
}

QString withMnemonic(const QString& text, QSet<QChar>& taken)
{
    QString given = withoutMnemonic(text);
    const qsizetype place = bestPlace(given, taken);
    QChar letter = place >= 0 ? given[place].toUpper() : QChar();
    if (place >= 0) {
        given.insert(place, QLatin1Char('&'));
    } else {
        static const QString kLetters = QStringLiteral("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
        const auto open = std::find_if(kLetters.begin(), kLetters.end(), [&taken](QChar c) { return isUsable(c, taken); });
        letter = open == kLetters.end() ? QChar() : *open;
        if (letter.isNull())
            return text; // more entries than letters
        const auto tail = given.endsWith(QChar(0x2026)) ? given.size() - 1 : given.size();
        given.insert(tail, QStringLiteral("(&%1)").arg(letter));
    }
    taken.insert(letter);
    return given;
}

/// Those that have a letter keep it, the first one of each: a menu that is opened twice stays the same.
template <typename Item> void give(const QList<Item*>& items)
{
    QSet<QChar> taken;
    QList<Item*> open;
    for (Item* item : items) {
        const QChar letter = letterOf(item->text());
        if (letter.isNull() || taken.contains(letter))
            open.append(item);
        else
            taken.insert(letter);
    }
    for (Item* item : open)
        item->setText(withMnemonic(item->text(), taken));
}

} // namespace

void giveMnemonics(QMenu& menu)
{
    QList<QAction*> actions;
    const auto all = menu.actions();
    for (QAction* action : all) {
        if (action->isSeparator() || action->text().isEmpty())
            continue;
        actions.append(action);
        if (action->menu() != nullptr)
            giveMnemonics(*action->menu());
    }
    give(actions);
}

void giveDialogMnemonics(QWidget& dialog)
{
    QList<QAbstractButton*> buttons;
    const auto all = dialog.findChildren<QAbstractButton*>();
    for (QAbstractButton* button : all) {
        if (button->text().isEmpty() || button->window() != &dialog)
            continue;
        if (button->accessibleName().isEmpty())
            button->setAccessibleName(withoutMnemonic(button->text()));
        buttons.append(button);
    }
    give(buttons);
}

QString withoutMnemonic(const QString& text)
{
    static const QRegularExpression kInBrackets(QStringLiteral("\\(&.\\)"));
    QString plain = text;
    plain.remove(kInBrackets);
    return plain.remove(QLatin1Char('&'));
}

void setWords(QAction& action, const QString& text)
{
    if (withoutMnemonic(action.text()) != text)
        action.setText(text);
}

bool DialogPreparer::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::Show && !event->spontaneous()) {
        if (auto* dialog = qobject_cast<QDialog*>(watched)) {
            giveDialogMnemonics(*dialog);
            fitToScreen(*dialog);
        }
    }
    return QObject::eventFilter(watched, event);
}

} // namespace furrow
