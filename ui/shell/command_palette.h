#pragma once

#include <QDialog>

class QLineEdit;
class QTreeWidget;
class QTreeWidgetItem;

namespace furrow {

class Actions;

/// Ctrl+K: every action by name; type, choose, Enter. Those that are not possible now stand below the others, grey,
/// with the reason.
class CommandPalette : public QDialog {
    Q_OBJECT
public:
    explicit CommandPalette(const Actions& actions, QWidget* parent);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void filter(const QString& words);
    void run(const QTreeWidgetItem* item); ///< null, or not possible now: nothing is done

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
