#pragma once

#include "ui/pages/small_charts.h"

#include <QWidget>
#include <optional>

class QCheckBox;
class QGridLayout;
class QLabel;
class QLineEdit;
class QVBoxLayout;

namespace furrow {

/// How the charts of a run are drawn, as a person wants it.
struct ChartWishes {
    double smoothingWidth = 0; ///< in units of x; 0: a fiftieth of everything
    bool raw = true;
    bool mean = true;
    bool logX = false;
    bool logLoss = false;
    bool perplexity = false;
    bool allPoints = false; ///< the loss axis reaches to the farthest point
    std::optional<double> lossFrom, lossTo; ///< absent: from what is visible
    std::vector<SmallChart> small { SmallChart::LearningRate, SmallChart::Speed, SmallChart::GradientNorm,
        SmallChart::Answers, SmallChart::Privacy, SmallChart::Margin,
        SmallChart::Preferred }; ///< some of them are shown only when the run has their numbers
};

/// A number as a person writes it: "20M", "1.5 k", "3e6", in the locale; nullopt: none, or one of two meanings.
/// @param counts  it is of something that is counted: "15.000" in Spanish is fifteen thousand
std::optional<double> quantityOf(const QString& text, bool counts);

/// The panel beside the charts: smoothing, scales, numeric ranges, which charts there are. Says when something changed.
class ChartSettings : public QWidget {
    Q_OBJECT
public:
    explicit ChartSettings(QWidget* parent = nullptr);
    ~ChartSettings() override;

    const ChartWishes& wishes() const { return wishes_; }
    void setLogLoss(bool on);
    /// Whether the run has numbers for a chart that not every run has.
    void offer(SmallChart chart, bool has);
    /// Other units of x: a width in the old ones means nothing. @param unit  "tokens"
    void setAxis(XAxis axis, const QString& unit);
    /// What is visible, as hint in the fields; nullopt: everything.
    void setVisibleRange(std::optional<ChartLink::Range> range);

Q_SIGNALS:
    void changed();
    void logLossChanged(bool on);
    void rangeWanted(double begin, double end);

private:
    void buildDisplay(QVBoxLayout& column);
    void buildRanges(QVBoxLayout& column);
    void buildCharts(QVBoxLayout& column);
    QCheckBox* addCheck(QVBoxLayout& column, const QString& text, const QString& tip, bool ChartWishes::* wish);
    QLineEdit* addField(QGridLayout& grid, int row, const QString& name, const QString& hint);
    void takeFields();
    void takeRange();
    void takeSmall();

    ChartWishes wishes_;
    bool counts_ = true; ///< x is tokens, steps, seconds
    QLineEdit* width_ = nullptr;
    QLabel* unit_ = nullptr;
    QCheckBox* logLoss_ = nullptr;
    QLineEdit* lossFrom_ = nullptr;
    QLineEdit* lossTo_ = nullptr;
    QLineEdit* xFrom_ = nullptr;
    QLineEdit* xTo_ = nullptr;
    std::vector<QCheckBox*> small_; ///< by kind
};

} // namespace furrow
