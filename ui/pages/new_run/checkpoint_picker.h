#pragma once

#include "ui/bridge/checkpoint_reader.h"
#include "ui/models/checkpoint_table.h"

#include <QDialog>

class QComboBox;
class QLabel;
class QPushButton;
class QTableView;

namespace furrow {

class Workbench;

/// Chooses the weights that a new run begins with: a run of the workspace and one of its checkpoints.
class CheckpointPicker : public QDialog {
    Q_OBJECT
public:
    explicit CheckpointPicker(Workbench& bench, QWidget* parent);

Q_SIGNALS:
    /// @param run  the folder of the run it is of  @param checkpoint  its own folder
    void chosen(const QString& run, const QString& checkpoint);

private:
    void readRun();
    void take(const CheckpointRowsPtr& rows);
    void choose();
    QWidget* buildFoot();

    Workbench& bench_;
    CheckpointReader reader_;
    CheckpointModel model_;
    QComboBox* run_;
    QTableView* table_;
    QLabel* sentence_;
    QPushButton* choose_ = nullptr;
};

} // namespace furrow
