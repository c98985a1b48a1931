#pragma once

#include "core/telemetry/snapshot.h"
#include "ui/charts/series_chart.h"

#include <QFrame>
#include <functional>

class QGridLayout;

namespace furrow {

/// What can stand below the loss. In the order of the page.
enum class SmallChart {
    LearningRate,
    Speed,
    GradientNorm,
    ParameterNorm,
    Drift,
    Memory,
    WaitData,
    Forward,
    Backward,
    Optimizer,
    Answers,
    Privacy,
    Margin,
    Preferred
};
inline constexpr int kSmallChartCount = 14;

QString smallChartName(SmallChart chart); ///< "Learning rate"

/// The charts below the loss that a person chose, three in a row, linked with it. A chart is made when it is first
/// chosen.
class SmallCharts : public QFrame {
    Q_OBJECT
public:
    explicit SmallCharts(ChartLink& link, QWidget* parent = nullptr);

    void setShown(const std::vector<SmallChart>& shown);
    /// Smoothing, raw points, mean and the scale of x are taken; what belongs to one chart stays.
    void setOptions(const ChartOptions& common);
    /// @param dataOf  the curves of a metric as the page shows them  @param drift  of the replicas at each merge
    /// @param answers  to the questions of the run  @param privacy  what private training has given away
    void setData(const std::function<ChartData(Metric)>& dataOf, const ChartData& drift, const ChartData& answers,
        const ChartData& privacy);
    void clearData();
    void setHighlights(const std::vector<ChartSpan>& spans);
    void setEmptyText(const QString& sentence);
    /// Why nothing is said of what private training has given away; empty: as the other charts.
    void setPrivacyText(const QString& sentence);

private:
    SeriesChart* chart(SmallChart kind);
    QString emptyTextOf(SmallChart kind) const;
    void applyOptions(int kind);

    ChartLink& link_;
    QGridLayout* grid_;
    std::vector<SeriesChart*> charts_; ///< by kind; null: never chosen
    std::vector<SmallChart> shown_;
    ChartOptions common_;
    QString emptyText_;
    QString privacyText_;
};

} // namespace furrow
