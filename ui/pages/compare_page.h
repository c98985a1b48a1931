#pragma once

#include "ui/bridge/run_comparer.h"
#include "ui/charts/series_chart.h"
#include "ui/models/library_table.h"

#include <QWidget>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QStandardItemModel;
class QTableView;
class QTabWidget;
class QTimer;

namespace furrow {

class BoxRows;
class CoverageMap;
class MapLegend;
class Workbench;

/// All runs as a table of figures and settings, and two to eight of them beside each other: curves, losses chunk by
/// chunk, settings that differ, speed. The first selected run is the baseline unless another one is pinned.
class ComparePage : public QWidget {
    Q_OBJECT
public:
    explicit ComparePage(Workbench& bench, QWidget* parent = nullptr);
    void focusSearch();
    /// Selects these runs instead of what is selected; the first one is the baseline unless another one is pinned.
    void choose(const QStringList& folders);

Q_SIGNALS:
    void openRunWanted(const QString& folder);
    void closed();

private:
    QWidget* buildRuns();
    QWidget* buildCurves();
    QWidget* buildChunks();
    void takeRuns(const RunLinesPtr& lines);
    void selectAgain(const QStringList& folders);
    void takeChoice();
    QStringList comparedFolders() const; ///< of the chosen runs, the baseline first
    QString pinnable() const; ///< the run that would become the baseline; "": none
    void enablePin();
    void compare();
    void clearResult(const QString& sentence);
    void pinBaseline();
    void take(const ComparedRunsPtr& result);
    QString nameOf(const ComparedRun& run) const;
    void showCurves();
    void showSummary();
    void showSettings();
    void showChunks();

    Workbench& bench_;
    RunComparer comparer_;
    LibraryTable model_;
    LibraryTableFilter filter_;
    ComparedRunsPtr result_;
    QStringList chosen_; ///< folders, in the order in which they were chosen
    bool isRefilling_ = false; ///< the table is filled anew: what goes was not put off by a person
    QString baseline_; ///< folder; "": the first chosen one
    ChartLink link_;
    QTableView* runs_ = nullptr;
    QLineEdit* search_ = nullptr;
    QLabel* sentence_ = nullptr;
    QLabel* caveats_ = nullptr;
    QTimer* again_ = nullptr; ///< until the next look at runs that are being trained
    QPushButton* pin_ = nullptr;
    QTabWidget* tabs_ = nullptr;
    QComboBox* axis_ = nullptr;
    SeriesChart* chart_ = nullptr;
    BoxRows* speed_ = nullptr;
    QComboBox* other_ = nullptr;
    QLabel* aligned_ = nullptr;
    CoverageMap* map_ = nullptr;
    MapLegend* legend_ = nullptr;
    QTableView* summary_ = nullptr;
    QTableView* settings_ = nullptr;
};

} // namespace furrow
