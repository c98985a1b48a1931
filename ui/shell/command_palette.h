#pragma once

#include <QDialog>

class QLineEdit;
class QTreeWidget;

namespace furrow {

class Actions;

/// Ctrl+K: every enabled action by name; type, choose, Enter.
class CommandPalette : public QDialog {
    Q_OBJECT
public:
    explicit CommandPalette(const Actions& actions, QWidget* parent);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void filter(const QString& words);
    void run();

    const Actions& actions_;
    QLineEdit* line_;
    QTreeWidget* list_;
};

/// Ctrl+/: every action with its shortcut, by menu.
class ShortcutSheet : public QDialog {
    Q_OBJECT
public:
    explicit ShortcutSheet(const Actions& actions, QWidget* parent);
};

} // namespace furrow
