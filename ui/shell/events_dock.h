#pragma once

#include "ui/models/run_tables.h"

#include <QWidget>

class QCheckBox;
class QTableView;

namespace furrow {

class Workbench;

/// Events and alerts: what happened to chunks and to the run, up to the moment that is replayed; J and K go from alert
/// to alert.
class EventsDock : public QWidget {
    Q_OBJECT
public:
    explicit EventsDock(Workbench& bench, QWidget* parent = nullptr);
    /// @param step  1: next, -1: previous
    void goTo(int step);
    /// What of the list a person sees, and how.
    struct Place {
        bool isAll = false;
        int sortColumn = 0;
        Qt::SortOrder sortOrder = Qt::AscendingOrder;
        bool atEnd = true;
        int topRow = 0;
    };
    Place place() const;
    void goBackTo(const Place& place); ///< in a window that is made anew

Q_SIGNALS:
    void alertsChanged(int count);

private:
    const EventLine* marked() const; ///< null: no row is
    void choose();
    void followSelection();
    void watchRemovals();
    void keepAtEnd();
    void followReplay();
    void countAlerts();
    bool isNewestFirst() const;

    Workbench& bench_;
    EventFilter filter_;
    QTableView* table_;
    QCheckBox* all_;
    bool atEnd_ = true; ///< the newest event is in sight
    bool isRemoving_ = false; ///< rows go, and the view marks another one, without a person
};

} // namespace furrow
