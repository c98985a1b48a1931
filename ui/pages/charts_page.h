#pragma once

#include "ui/bridge/run_feed.h"
#include "ui/pages/small_charts.h"
#include "ui/charts/lost_steps.h"
#include "ui/charts/series_chart.h"

#include <QWidget>
#include <array>
#include <optional>

class QComboBox;
class QPushButton;

namespace furrow {

class ChartSettings;
class ChartStatistics;
class EpochHead;
class EpochMeters;
class OverviewStrip;
class Workbench;

/// How far the epoch is; the loss and the charts that a person wants below it over one x axis, linked.
class ChartsPage : public QWidget {
    Q_OBJECT
public:
    explicit ChartsPage(Workbench& bench, QWidget* parent = nullptr);
    void fit();
    void zoomBack();
    void setLogY(bool on);
    bool savePicture(const QString& file); ///< of the loss chart: .png, .svg or .pdf; false: could not be written
    bool saveTable(const QString& name); ///< of what the loss chart shows, as CSV; false: could not be written
    /// Zooms to where the selected chunk was trained.
    void zoomToSelection();

Q_SIGNALS:
    void whyWanted();
    void logLossChanged(bool on); ///< by the panel of the page
    void densityChanged(
        const QString& text); ///< how many points a pixel stands for, at each drawing; "": every point is drawn

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void buildEpoch();
    void buildBar();
    void buildCharts();
    void connectSettings();
    XAxis axis() const;
    void followAxis();
    void showDrawn();
    void take(const SnapshotPtr& snapshot);
    void takeStatus(const StatusPtr& status);
    void takeShown();
    void redraw();
    void showSelection();
    std::vector<ChartSpan> selectedSpans() const;
    ChartData shownData(Metric metric) const;
    void showEmptyText();
    void choosePoint(int worker, double x);
    void selectInstant(int worker, double wall);
    void applyOptions();
    void showSmall();

    Workbench& bench_;
    ChartLink link_;
    SnapshotPtr snapshot_;
    QWidget* epoch_ = nullptr; // head and meters
    EpochHead* head_ = nullptr;
    EpochMeters* meters_ = nullptr;
    QWidget* epochLine_ = nullptr;
    QComboBox* axis_ = nullptr;
    QComboBox* smoothing_ = nullptr;
    QPushButton* backToLive_ = nullptr;
    SeriesChart* loss_ = nullptr;
    SmallCharts* small_ = nullptr;
    OverviewStrip* strip_ = nullptr;
    QPushButton* figures_ = nullptr;
    QPushButton* display_ = nullptr;
    ChartStatistics* statistics_ = nullptr;
    ChartSettings* settings_ = nullptr;
    std::optional<std::vector<LostTraining>> lost_; // dashed in the curves
    std::optional<double> evaluated_; // the one evaluation that all views of the console say
    /// Charts of which a run may have no numbers.
    static constexpr std::array kNotOfAllRuns { SmallChart::Answers, SmallChart::Privacy, SmallChart::Margin,
        SmallChart::Preferred };
    std::vector<SmallChart> absent_ { kNotOfAllRuns.begin(), kNotOfAllRuns.end() }; // of this run
    std::optional<std::int64_t> attempt_; // whose curves are shown; absent: all
};

} // namespace furrow
