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

Q_SIGNALS:
    void alertsChanged(int count);

private:
    const EventLine* marked() const; ///< null: no row is
    void choose();
    void followSelection();
    void watchRemovals();
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
