#pragma once

#include "ui/bridge/ledger_auditor.h"
#include "ui/bridge/run_feed.h"
#include "ui/bridge/task_runner.h"

#include <QDialog>
#include <QImage>

class QButtonGroup;
class QLabel;
class QLineEdit;
class QPushButton;

namespace furrow {

/// A run for others: a report, what was measured as CSV, JSON lines or TensorBoard files, the model for Hugging Face,
/// or a bundle for developers without data, weights, secrets and folders.
class ExportDialog : public QDialog {
    Q_OBJECT
public:
    /// @param tables  null: not read yet
    /// @param curves  picture of the charts for the report; may be null
    ExportDialog(const QString& folder, StatusPtr status, TablesPtr tables, const QImage& curves, QWidget* parent);

private:
    enum Kind { Report, Csv, JsonLines, TensorBoard, HuggingFace, Gguf, Bundle };
    QWidget* buildFoot();
    QString targetOf(int kind) const;
    void choose(int kind);
    void browse();
    void start();
    QString whatModel() const;
    bool hasFormInLlama() const;
    void showGo(bool idle);
    void sayNotWritten(const QString& why);
    void finishTask(const QJsonObject& answer, const QString& problem);
    void writeReport(const AuditReport& audit);
    void say(const QString& sentence, bool bad = false);

    QString folder_;
    StatusPtr status_;
    TablesPtr tables_;
    QImage curves_;
    TaskRunner task_;
    LedgerAuditor auditor_;
    QButtonGroup* kinds_;
    QLineEdit* target_;
    int kind_ = Report; ///< that the field's name is of
    QString writing_; ///< what was asked for when the export began; the field may have been edited since
    QString unfinished_; ///< what furrowctl writes before it gets that name; "": nothing
    QLabel* state_;
    QPushButton* go_ = nullptr;
};

} // namespace furrow
