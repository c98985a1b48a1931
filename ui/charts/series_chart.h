#pragma once

#include "ui/charts/chart_data.h"
#include "ui/charts/chart_link.h"
#include "ui/charts/curves_layer.h"

#include <QPointer>
#include <QWidget>

class QLabel;

namespace furrow {

class ChartPlot;
class CrossHair;
class ChartTitle;

/// One chart of a run: title row with legend and newest values, curves, linked cross-hair and zoom. Everything about
/// x goes through the ChartLink it was made with. Wheel zooms at the cursor (with Shift: y), dragging pans, Shift and
/// dragging zooms to a rectangle, double click fits, Alt+Left or Backspace zooms back, F fits, L toggles log y.
class SeriesChart : public QWidget {
    Q_OBJECT
public:
    explicit SeriesChart(ChartLink& link, QWidget* parent = nullptr);
    ~SeriesChart() override;

    /// @param unit  "nats per token"; stands in text 3 behind the title
    void setTitle(const QString& title, const QString& unit);
    /// Small charts have no legend but one number at the right of the title row.
    void setCompact(const QString& newestValue);
    void setData(ChartData data);
    const ChartData& data() const { return curves_->data(); }
    void setOptions(const ChartOptions& options);
    const ChartOptions& options() const { return options_; }
    /// Intervals to be shaded in accent, e.g. of the selected chunk.
    void setHighlights(std::vector<ChartSpan> spans);
    /// Shown while there is no point: one sentence.
    void setEmptyText(const QString& sentence);
    /// A fixed value range; nullopt: from what is visible.
    void setValueRange(std::optional<QCPRange> range);
    /// Ends of the value axis as a person typed them; an absent one is from what is visible. Zooming goes before.
    void setValueLimits(std::optional<double> from, std::optional<double> to);
    void fit();

    struct Statistic {
        int worker = 0;
        std::uint64_t count = 0;
        double min = 0;
        double max = 0;
        double mean = 0; ///< of paces: all tokens over all the time that the steps took
        double newest = 0; ///< Curve::newest()
        std::int64_t attempt = 0; ///< that the newest is of
        bool isOver = false; ///< it is the last of a worker that ended before the others
    };
    /// Of the visible points of each worker, joined exactly.
    std::vector<Statistic> statistics() const;
    std::size_t pointsPerPixel() const { return curves_->pointsPerPixel(); }
    const CurvesLayer& curves() const { return *curves_; }
    /// "1 px = 412 points, min and max kept"; "" when every point is drawn.
    QString densityText() const;
    /// What is shown as text: "train loss 2.31, 48,200 steps, falling".
    QString valueSentence() const;
    /// Visible points: worker, x, y and whether the step is lost (1), as exports have it; one line each, C locale. At
    /// most `limit` lines.
    QString csv(std::size_t limit = 1'000'000) const;
    /// By extension: .png, .svg or .pdf, at `scale` times the size on screen (png).
    bool save(const QString& path, double scale = 2);

    /// Draws now, without waiting for the frame of the link. Returns milliseconds. For benchmarks and exports.
    double replotNow();
    QSize sizeHint() const override { return { 600, 220 }; }

Q_SIGNALS:
    /// A click near a curve: which worker, at which x.
    void pointClicked(int worker, double x);
    void optionsChanged(); ///< by the keyboard
    void replotted(); ///< density and statistics are new

protected:
    void showEvent(QShowEvent* event) override;
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void buildPlot();
    void connectPlot();
    void applyTheme();
    void applyAxes();
    void markDirty();
    void onFrame();
    void drawFrame();
    QImage picture(double scale);
    bool isSeen() const;
    void onPress(QMouseEvent* event);
    void onMove(QMouseEvent* event);
    void onRelease(QMouseEvent* event);
    void onWheel(QWheelEvent* event);
    ChartLink::Range shownRange() const;
    QCPRange shownValues() const;
    void updateTitle();
    void updateAccessible();

    ChartLink& link_;
    QPointer<ChartLink> linkAlive_; ///< a page may own both, and its members go before its children
    ChartPlot* plot_ = nullptr;
    CurvesLayer* curves_ = nullptr; ///< owned by plot_
    std::unique_ptr<CrossHair> crossHair_;
    ChartTitle* title_ = nullptr;
    QLabel* empty_ = nullptr;
    ChartOptions options_;
    QString titleText_, unit_, emptyText_;
    std::optional<QCPRange> values_;
    std::optional<double> from_, to_;
    bool dirty_ = true;
    bool screenKnown_ = false;
    enum class Drag { None, Pan, Box } drag_ = Drag::None;
    QPointF dragFrom_;
    ChartLink::Range dragRange_;
    bool dragMoved_ = false;
};

} // namespace furrow
