#include "ui/shell/mnemonics.h"

#include "ui/parts/overflow.h"

#include <QAbstractButton>
#include <QAction>
#include <QDialog>
#include <QEvent>
#include <QHash>
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

/// Letters of a text in the order in which a person looks for them.
QList<QChar> lettersOf(const QString& text)
{
    QList<QChar> letters;
    for (QSet<QChar> seen;;) {
        const qsizetype place = bestPlace(text, seen);
        if (place < 0)
            return letters;
        seen.insert(text[place].toUpper());
        letters.append(text[place].toUpper());
    }
}

/// Who has which letter, so that as many as can be have one of their own: each may move on to another for the sake of
/// the next.
class Letters {
public:
    explicit Letters(QSet<QChar> taken)
        : taken_(std::move(taken))
    {
    }
    bool give(const QStringList& texts, qsizetype to)
    {
        QSet<QChar> tried;
        return give(texts, to, tried);
    }
    QChar of(qsizetype text) const { return owner_.key(text); }
    QSet<QChar> all() const
    {
        QSet<QChar> letters = taken_;
        for (auto entry = owner_.begin(); entry != owner_.end(); ++entry)
            letters.insert(entry.key());
        return letters;
    }

private:
    bool give(const QStringList& texts, qsizetype to, QSet<QChar>& tried)
    {
        const QList<QChar> letters = lettersOf(texts[to]);
        for (const bool move : { false, true }) { // a free one first
            for (const QChar letter : letters) {
                if (taken_.contains(letter) || (!move && owner_.contains(letter)) || tried.contains(letter))
                    continue;
                tried.insert(letter);
                if (move && !give(texts, owner_.value(letter), tried))
                    continue;
                owner_[letter] = to;
                return true;
            }
        }
        return false;
    }

    QSet<QChar> taken_;
    QHash<QChar, qsizetype> owner_;
};

QString marked(const QString& text, QChar letter)
{
    QSet<QChar> others;
    for (const QChar c : text)
        if (c.toUpper() != letter)
            others.insert(c.toUpper());
    QString given = text;
    return given.insert(bestPlace(text, others), QLatin1Char('&'));
}

/// For words without a letter of this keyboard, as in Chinese: behind them.
QString withAppended(const QString& text, QSet<QChar>& taken)
{
    static const QString kLetters = QStringLiteral("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
    const auto open = std::find_if(kLetters.begin(), kLetters.end(), [&taken](QChar c) { return isUsable(c, taken); });
    if (open == kLetters.end())
        return text; // more entries than letters
    taken.insert(*open);
    QString given = text;
    const auto tail = given.endsWith(QChar(0x2026)) ? given.size() - 1 : given.size();
    return given.insert(tail, QStringLiteral("(&%1)").arg(*open));
}

/// @param keep  those that have a letter keep it, the first one of each
/// @return false, and nothing is changed: words with letters of their own would be left without one
template <typename Item> bool giveLetters(const QList<Item*>& items, bool keep)
{
    QSet<QChar> kept;
    QList<Item*> open;
    QStringList texts;
    for (Item* item : items) {
        const QChar letter = letterOf(item->text());
        if (keep && !letter.isNull() && !kept.contains(letter)) {
            kept.insert(letter);
            continue;
        }
        open.append(item);
        texts.append(withoutMnemonic(item->text()));
    }
    Letters letters(kept);
    bool isAnyLeft = false;
    for (qsizetype i = 0; i < texts.size(); ++i)
        isAnyLeft = (!letters.give(texts, i) && !lettersOf(texts[i]).isEmpty()) || isAnyLeft;
    if (keep && isAnyLeft)
        return false;
    QSet<QChar> taken = letters.all();
    for (qsizetype i = 0; i < texts.size(); ++i) {
        const QChar letter = letters.of(i);
        open[i]->setText(letter.isNull() ? withAppended(texts[i], taken) : marked(texts[i], letter));
    }
    return true;
}

/// A menu that is opened twice stays the same, unless an entry that has other words now ("Pause", "Continue") would
/// find all its letters taken.
template <typename Item> void give(const QList<Item*>& items)
{
    if (!giveLetters(items, true))
        (void)giveLetters(items, false);
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
        if (button->text().isEmpty() || button->window() != &dialog || button->property("keepsWords").toBool())
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
