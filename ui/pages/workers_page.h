#pragma once

#include "ui/bridge/checkpoint_verifier.h"
#include "ui/bridge/task_runner.h"
#include "ui/models/checkpoint_table.h"
#include "ui/models/run_tables.h"

#include <QWidget>

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

Q_SIGNALS:
    void sampleWanted(const QString& checkpointFolder);
    void newRunWanted(const QString& checkpointPath); ///< starts from its weights

private:
    QWidget* buildProcesses();
    QWidget* buildCheckpoints();
    void take(const TablesPtr& tables);
    void keepRoomFor(QTableView& table, int column, const QString& text);
    const CheckpointLine* current() const; ///< null: none chosen
    void enableButtons();
    void evaluate();
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
    QLabel* sentence_ = nullptr;
    QPushButton* verify_ = nullptr;
    QPushButton* pin_ = nullptr;
    QPushButton* evaluate_ = nullptr;
    QPushButton* sample_ = nullptr;
    QPushButton* start_ = nullptr;
};

} // namespace furrow
