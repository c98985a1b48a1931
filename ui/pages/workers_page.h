#pragma once

#include "ui/bridge/checkpoint_verifier.h"
#include "ui/bridge/task_runner.h"
#include "ui/models/checkpoint_table.h"
#include "ui/models/run_tables.h"

#include <QWidget>

class QJsonObject;
class QLabel;
class QPushButton;
class QTableView;

namespace furrow {

class Workbench;

/// Every process that trained for the run, and the checkpoints they left with what can be done with one.
class WorkersPage : public QWidget {
    Q_OBJECT
public:
    explicit WorkersPage(Workbench& bench, QWidget* parent = nullptr);
    /// What an evaluation found, in a sentence. @param answer  of `furrowctl eval --json` @param whose  "checkpoint 3,
    /// replica 0"
    static QString evaluationText(const QJsonObject& answer, const QString& whose);

Q_SIGNALS:
    void sampleWanted(const QString& checkpointFolder);
    void newRunWanted(const QString& checkpointPath); ///< starts from its weights

private:
    QWidget* buildProcesses();
    QWidget* buildCheckpoints();
    void take(const TablesPtr& tables);
    void showProcesses();
    const CheckpointLine* current() const; ///< null: none chosen
    const IncarnationRow* markedProcess() const; ///< the same
    void enableButtons();
    void evaluate();
    void showEvaluation(const QJsonObject& answer, const Message& problem);
    void sayWhetherPresent();
    void showBest();
    void verifyAll();
    void showVerdicts();

    Workbench& bench_;
    TaskRunner task_;
    CheckpointVerifier verifier_;
    IncarnationModel incarnations_;
    CheckpointModel checkpoints_;
    QTableView* processTable_;
    QTableView* checkpointTable_;
    QLabel* present_ = nullptr; ///< in a replay: that the tables are not of its moment
    QLabel* sentence_ = nullptr;
    QLabel* evaluation_ = nullptr; ///< what the last evaluation asked for here gave
    QString evaluated_; ///< the checkpoint that is or was evaluated, and whose weights it holds
    QPushButton* verify_ = nullptr;
    QPushButton* pin_ = nullptr;
    QPushButton* evaluate_ = nullptr;
    QPushButton* sample_ = nullptr;
    QPushButton* start_ = nullptr;
};

} // namespace furrow
