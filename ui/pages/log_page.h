#pragma once

#include "ui/models/run_tables.h"

#include <QWidget>

class QCheckBox;
class QComboBox;
class QLineEdit;
class QTableView;

namespace furrow {

class Workbench;

/// What the processes of the run logged: search, level and process filter, follow.
class LogPage : public QWidget {
    Q_OBJECT
public:
    explicit LogPage(Workbench& bench, QWidget* parent = nullptr);
    void focusSearch();
    /// Scrolls to what was written at a moment [ns since 1970].
    void showTime(std::int64_t wallNs);

private:
    void buildBar();
    void fillProcesses();
    void copySelection();

    Workbench& bench_;
    LogFilter filter_;
    QLineEdit* search_ = nullptr;
    QComboBox* level_ = nullptr;
    QComboBox* process_ = nullptr;
    QCheckBox* follow_ = nullptr;
    QTableView* table_ = nullptr;
};

} // namespace furrow
