#pragma once

#include "ui/models/run_tables.h"

#include <QWidget>

class QTableView;

namespace furrow {

class Workbench;

/// Every process that trained for the run, and the checkpoints they left.
class WorkersPage : public QWidget {
    Q_OBJECT
public:
    explicit WorkersPage(Workbench& bench, QWidget* parent = nullptr);

private:
    void take(const TablesPtr& tables);

    Workbench& bench_;
    IncarnationModel incarnations_;
    CheckpointModel checkpoints_;
    QTableView* processTable_;
    QTableView* checkpointTable_;
};

} // namespace furrow
