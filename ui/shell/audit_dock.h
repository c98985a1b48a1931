#pragma once

#include "ui/bridge/ledger_auditor.h"
#include "ui/models/run_tables.h"

#include <QWidget>

class QLabel;
class QPushButton;
class QSplitter;
class QTableView;
class QTimer;

namespace furrow {

class LaneView;
class Workbench;

/// Duplicates and holes: what the audit of the ledger found, proven from parts and claims, with the time lines of the
/// trainings that explain it.
class AuditDock : public QWidget {
    Q_OBJECT
public:
    explicit AuditDock(Workbench& bench, QWidget* parent = nullptr);

Q_SIGNALS:
    void counted(qint64 twice, qint64 missing);
    void audited(const furrow::AuditPtr& report);
    void reportSaved(bool saved, const QString& file); ///< false: could not be written

protected:
    void showEvent(QShowEvent* event) override;

private:
    void follow(const StatusPtr& status);
    void check();
    void show(const AuditPtr& report);
    void choose(const QModelIndex& index);
    void showTimeLines(const AuditFinding& finding);
    void saveReport();

    Workbench& bench_;
    LedgerAuditor auditor_;
    FindingModel model_;
    QLabel* sentence_;
    QTableView* table_;
    QSplitter* splitter_;
    QLabel* cause_;
    LaneView* lanes_;
    QPushButton* save_;
    AuditPtr report_;
    QTimer* timer_;
    bool ran_ = false; ///< at the last status
    bool moved_ = false; ///< the run went on since the last check
};

} // namespace furrow
