#pragma once

#include "ui/shell/palette_search.h"

#include <QDialog>
#include <QStringList>
#include <functional>
#include <vector>

class QLineEdit;
class QTreeWidget;
class QTreeWidgetItem;

namespace furrow {

class Actions;

/// Ctrl+K: every action by name, and the chunks, runs and settings that the words name; type, choose, Enter. What is
/// not possible now stands below the rest, grey, with the reason.
class CommandPalette : public QDialog {
    Q_OBJECT
public:
    using Search = std::function<std::vector<PaletteFinding>(const QString& words)>;
    /// @param search  finds what there is beside the commands; may be empty
    CommandPalette(const Actions& actions, QWidget* parent, Search search = {});

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void filter(const QString& words);
    void filterAgain(); ///< where other commands are possible now: the same words, and the same row if it is there
    QStringList whyNots() const;
    void findCommands(const QString& words);
    QTreeWidgetItem* add(const PaletteFinding& found, int place);
    void run(const QTreeWidgetItem* item); ///< null, or not possible now: nothing is done

    const Actions& actions_;
    Search search_;
    std::vector<std::function<void()>> opens_; ///< of the rows
    QStringList whyNots_; ///< when the rows were made
    int possible_ = 0; ///< rows before those that cannot be done
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
