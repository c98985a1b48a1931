#pragma once

#include "ui/bridge/run_feed.h"
#include "ui/charts/chart_link.h"
#include "ui/charts/lost_steps.h"

#include <QWidget>
#include <map>
#include <optional>

class QLabel;
class QGridLayout;
class QTextBrowser;
class QVBoxLayout;

namespace furrow {

class EpochHead;
class EpochMeters;
class Workbench;
class AlertList;
class FigureRow;
class SeriesChart;
class WorkerCard;

/// What a person sees first: state with its evidence, the curve of the loss, its figures, how far the epoch is and what
/// keeps it open, every worker, the newest text.
class OverviewPage : public QWidget {
    Q_OBJECT
public:
    explicit OverviewPage(Workbench& bench, QWidget* parent = nullptr);

Q_SIGNALS:
    void whyWanted();
    void workerOpened(); ///< it is selected

protected:
    bool event(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void buildChart();
    void fitChart();
    QWidget* buildSample();
    void take(const StatusPtr& status);
    void takeShown();
    void takeTelemetry(const SnapshotPtr& snapshot);
    void showLosses();
    void showLosses(WorkerCard& card, int worker);
    void showFigures(const RunStatus& status);
    void placeCards();
    void showReading(const RunStatus& status);
    void showWorkers(const RunStatus& status);
    void clear();

    Workbench& bench_;
    EpochHead* head_ = nullptr;
    EpochMeters* meters_ = nullptr;
    QLabel* open_ = nullptr;
    QLabel* privacy_ = nullptr; ///< what private training has given away; hidden: no noise is added
    QLabel* leftOut_ = nullptr; ///< files that the run goes on without; hidden: none
    FigureRow* figures_ = nullptr;
    FigureRow* reading_ = nullptr;
    AlertList* alerts_ = nullptr;
    ChartLink link_;
    SeriesChart* loss_ = nullptr;
    std::optional<double> evaluated_; // the one evaluation that all views of the console say
    std::optional<std::vector<LostTraining>> lost_; // dashed in its curves
    QGridLayout* cards_ = nullptr;
    std::map<int, WorkerCard*> cardOf_;
    QWidget* sampleBox_ = nullptr;
    QLabel* sampleTitle_ = nullptr;
    QTextBrowser* sample_ = nullptr;
};

} // namespace furrow
