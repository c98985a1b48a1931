#pragma once

#include "ui/models/run_list_model.h"

#include <QSortFilterProxyModel>
#include <QStyledItemDelegate>
#include <QWidget>

class QLabel;
class QLineEdit;
class QListView;
class QStackedWidget;

namespace furrow {

class EmptyState;
class Workbench;

/// Draws a run of the library: glyph, name, subtitle, sparkline, loss.
class RunDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    explicit RunDelegate(QObject* parent = nullptr);
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

/// The left dock: the runs of the workspace with a filter.
class LibraryDock : public QWidget {
    Q_OBJECT
public:
    explicit LibraryDock(Workbench& bench, QWidget* parent = nullptr);
    void focusFilter();

Q_SIGNALS:
    void newRunWanted();
    void runChosen(const QString& folder);

private:
    void take(const RunLinesPtr& lines);
    void showCount();
    void followRun();

    Workbench& bench_;
    RunListModel model_;
    QSortFilterProxyModel filter_;
    QLineEdit* line_;
    QLabel* workspace_;
    QLabel* count_;
    QListView* list_;
    QStackedWidget* stack_;
    EmptyState* empty_;
    EmptyState* noMatch_;
    bool following_ = false; // the selection is being set from outside
};

} // namespace furrow
