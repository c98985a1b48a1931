#pragma once

#include "ui/bridge/ledger_auditor.h"
#include "ui/models/run_tables.h"

#include <QWidget>

class QCheckBox;
class QLabel;
class QTableView;
class QTimer;

namespace furrow {

class Workbench;

/// Events and alerts: what happened to chunks and to the run; J and K go from alert to alert.
class EventsDock : public QWidget {
    Q_OBJECT
public:
    explicit EventsDock(Workbench& bench, QWidget* parent = nullptr);
    /// @param step  1: next, -1: previous
    void goTo(int step);

Q_SIGNALS:
    void alertsChanged(int count);

private:
    void choose(const QModelIndex& index);

    Workbench& bench_;
    EventFilter filter_;
    QTableView* table_;
    QCheckBox* all_;
};

/// Duplicates and holes: what the audit of the ledger found, proven from parts and claims.
class AuditDock : public QWidget {
    Q_OBJECT
public:
    explicit AuditDock(Workbench& bench, QWidget* parent = nullptr);

Q_SIGNALS:
    void counted(qint64 twice, qint64 missing);

protected:
    void showEvent(QShowEvent* event) override;

private:
    void check();
    void show(const AuditPtr& report);
    void choose(const QModelIndex& index);

    Workbench& bench_;
    LedgerAuditor auditor_;
    FindingModel model_;
    QLabel* sentence_;
    QTableView* table_;
    QTimer* timer_;
};

} // namespace furrow
