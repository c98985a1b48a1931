#pragma once

#include <QObject>
#include <QString>

class QAction;
class QMenu;
class QWidget;

namespace furrow {

/// Underlines a letter of every action of the menu, and of its submenus, no letter twice; those given by hand ("&File")
/// stay. Words without Latin letters get one in brackets, as is the custom: "退出(&X)". Repeat it when texts have
/// changed.
void giveMnemonics(QMenu& menu);
/// The same for buttons, check boxes and radio buttons of a dialog.
void giveDialogMnemonics(QWidget& dialog);
/// The text without its mnemonic, as lists and accessible names show it.
QString withoutMnemonic(const QString& text);

/// Other words for an action; its mnemonic stays when they are the same, also while its menu is open.
void setWords(QAction& action, const QString& text);

/// When a dialog is shown it gets its mnemonics and fits the screen. One for the whole program, installed on the
/// application.
class DialogPreparer : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;
    bool eventFilter(QObject* watched, QEvent* event) override;
};

} // namespace furrow
