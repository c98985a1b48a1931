#pragma once

#include "ui/models/library_filter.h"
#include "ui/models/run_list_model.h"

#include <QWidget>
#include <functional>

class QCheckBox;
class QHBoxLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QStackedWidget;

namespace furrow {

class EmptyState;
class RunTree;
class Workbench;

/// The left dock: the runs of the workspace with a filter and their tags, their attempts one level below, and what can
/// be done with one.
class LibraryDock : public QWidget {
    Q_OBJECT
public:
    explicit LibraryDock(Workbench& bench, QWidget* parent = nullptr);
    void focusFilter();
    QStringList selectedRuns() const; ///< folders, as they are listed

Q_SIGNALS:
    void newRunWanted();
    void demonstrationWanted();
    void tagWanted(); ///< of the shown run
    void runChosen(const QString& folder);
    /// Another one than the shown one may be meant: it was chosen before this is sent.
    void menuWanted(const QPoint& globalPosition);

private:
    void buildHead();
    void buildList();
    void choose(const QModelIndex& index);
    void filter(const std::function<void()>& change);
    QStringList openRuns() const;
    QModelIndex indexOf(const QString& folder) const; ///< in the list; invalid: not there or filtered out
    void take(const RunLinesPtr& lines);
    void showCount();
    void showTags();
    void selectAgain(const QStringList& folders);
    void followRun();

    Workbench& bench_;
    RunListModel model_;
    LibraryFilter filter_;
    AttemptReader attempts_;
    QLineEdit* line_;
    QWidget* tagRow_;
    QHBoxLayout* tags_;
    QPushButton* addTag_ = nullptr;
    QStringList shownTags_;
    QLabel* workspace_;
    QLabel* count_;
    QCheckBox* archived_;
    RunTree* list_;
    QStackedWidget* stack_;
    EmptyState* empty_;
    EmptyState* noMatch_;
    bool following_ = false; // the selection is being set from outside
};

} // namespace furrow
