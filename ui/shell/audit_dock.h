#pragma once

#include "ui/bridge/ledger_auditor.h"
#include "ui/models/run_tables.h"

#include <QWidget>

class QCheckBox;
class QLabel;
class QPushButton;
class QSplitter;
class QTableView;
class QTimer;

namespace furrow {

class LaneView;
class Workbench;

/// Chunks twice or missing: what the audit found, proven from parts and claims and, when a person asks, from the files,
/// with the time lines of the trainings that explain it. The checks that come by themselves look at the ledger alone,
/// and say so.
class AuditDock : public QWidget {
    Q_OBJECT
public:
    explicit AuditDock(Workbench& bench, QWidget* parent = nullptr);
    /// Instead of a check that is under way. A person asked for it: "Stop checking" ends it.
    void begin(AuditDepth depth);

Q_SIGNALS:
    void counted(qint64 twice, qint64 missing);
    void audited(const furrow::AuditPtr& report);
    void forgotten(); ///< another run is shown, or none: what was counted is not of it
    void reportSaved(bool saved, const QString& file); ///< false: could not be written

protected:
    void showEvent(QShowEvent* event) override;

private:
    void takeRun();
    void follow(const StatusPtr& status);
    void check(AuditDepth depth);
    void checkByItself() { check(AuditDepth::Quick); }
    void stopOrCheckFiles();
    void show(const AuditPtr& report);
    void showFindings(const std::vector<AuditFinding>& findings);
    void sayOfData();
    const AuditFinding* current() const;
    void choose();
    void showTimeLines(const AuditFinding& finding);
    void saveReport();
    void showReport();

    Workbench& bench_;
    LedgerAuditor auditor_ { this };
    FindingModel model_;
    QLabel* sentence_;
    QTableView* table_;
    QLabel* ofData_; ///< what of the data is not as it may seem; hidden where that is nothing
    QSplitter* splitter_;
    QLabel* cause_;
    LaneView* lanes_;
    QPushButton* again_;
    QPushButton* files_; ///< begins or ends the audit of the files
    QCheckBox* source_;
    QPushButton* read_; ///< shows the report
    QPushButton* save_;
    AuditPtr report_;
    AuditDepth depth_ = AuditDepth::Quick; ///< of the audit under way
    QTimer* timer_;
    bool isRefilling_ = false; ///< nobody chose what is selected now
    bool ran_ = false; ///< at the last status
    bool moved_ = false; ///< the run went on since the last check
};

} // namespace furrow
