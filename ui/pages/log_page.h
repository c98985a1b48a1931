#pragma once

#include "ui/models/run_tables.h"

#include <QWidget>

class QCheckBox;
class QComboBox;
class QLineEdit;
class QPlainTextEdit;
class QTableView;
class QTimer;

namespace furrow {

class Workbench;

/// What the processes of the run logged, up to the moment that is replayed: search, level and process filter, follow;
/// the chosen line as it was written, where a person wants to see that.
class LogPage : public QWidget {
    Q_OBJECT
public:
    explicit LogPage(Workbench& bench, QWidget* parent = nullptr);
    void focusSearch();
    /// Scrolls to what was written at a moment [ns since 1970].
    void showTime(std::int64_t wallNs);

private:
    void buildBar();
    void buildWhole();
    void followReplay();
    void fillProcesses();
    void copySelection();
    void showWhole();

    Workbench& bench_;
    LogFilter filter_;
    QLineEdit* search_ = nullptr;
    QComboBox* level_ = nullptr;
    QComboBox* process_ = nullptr;
    QCheckBox* follow_ = nullptr;
    QCheckBox* asWritten_ = nullptr;
    QTableView* table_ = nullptr;
    QPlainTextEdit* whole_ = nullptr; ///< the chosen line as it was written
    QTimer* moment_ = nullptr; ///< until the lines of the moment that is replayed are shown
};

} // namespace furrow
