#pragma once

#include "ui/charts/bar_raster.h"
#include "ui/charts/chart_data.h"
#include "ui/charts/edge_room.h"
#include "ui/charts/plot_include.h"

#include <map>
#include <span>

namespace furrow {

/// How a chart draws its data.
struct ChartOptions {
    Smoothing smoothing;
    bool raw = true;
    bool mean = true; ///< the token-weighted mean over workers, when there are several
    bool stacked = false; ///< workers on top of each other, smoothed; the extremes of a pixel as bars
    bool logX = false;
    bool logY = false;
    bool fromZero = false; ///< the value axis always shows 0
    bool perplexity = false; ///< a second axis at the right with e to the power of y
    double clipPercent = 0.3; ///< extremes beyond this share of pixel columns may leave the picture; arrows show them
    bool operator==(const ChartOptions&) const = default;
};

/// Draws all curves, marks and seams of a chart. measure() once per frame, then draw().
class CurvesLayer : public QCPAbstractPlottable {
    Q_OBJECT
public:
    CurvesLayer(QCPAxis* keyAxis, QCPAxis* valueAxis);

    void setData(ChartData data);
    const ChartData& data() const { return data_; }
    void setOptions(const ChartOptions& options);
    void setHighlights(std::vector<ChartSpan> spans) { highlights_ = std::move(spans); }
    /// x of all data; false: none.
    bool dataRange(double& begin, double& end) const;

    /// Computes pixel columns and smoothed curves for the range of the key axis; nothing when all is as it was.
    void measure(double pixelRatio);
    /// A value range that shows the measured columns but for the clipped share.
    QCPRange suggestedValues() const;

    struct Shape {
        ChartLine line; ///< what was measured: the data may be newer
        std::vector<PixelColumn> columns; ///< one per device pixel
        std::vector<PixelColumn> superseded;
        std::vector<SmoothPoint> smooth;
        std::size_t visible = 0; ///< points between the edges
        std::size_t wide = 0; ///< columns from the first of them to the last
    };
    const std::vector<Shape>& shapes() const { return shapes_; }
    const ColumnEdges& edges() const { return edges_; }
    /// Not a number where no worker has a step that survives; its last point is one.
    const std::vector<SmoothPoint>& mean() const { return mean_; }
    /// What is stacked, all workers together; empty: nothing is.
    const std::vector<SmoothPoint>& total() const { return total_; }
    /// The mean over the workers of a run, where lines are of runs, as the run's own chart has it; null: it has one.
    const std::vector<SmoothPoint>* meanOfRun(int run) const;
    /// Points behind one pixel where it is densest; 1: every point is drawn.
    std::size_t pointsPerPixel() const;
    std::int64_t notANumbers() const { return notANumbers_; }
    std::int64_t infinities() const { return infinities_; }
    /// What the smoothed curve of a worker shows at x; NaN: nothing there.
    double valueAt(int worker, double x) const;
    double meanAt(double x) const;

    double selectTest(const QPointF&, bool, QVariant*) const override { return -1; }
    QCPRange getKeyRange(bool& found, QCP::SignDomain domain) const override;
    QCPRange getValueRange(bool& found, QCP::SignDomain domain, const QCPRange& keys) const override;

protected:
    void draw(QCPPainter* painter) override;
    void drawLegendIcon(QCPPainter*, const QRectF&) const override { }

private:
    using Lines = std::span<const ChartLine>;
    static bool rangeOf(Lines lines, double& begin, double& end);
    double smoothingWidth(Lines lines) const;
    double meanWidth(Lines lines, double width) const;
    std::vector<SmoothPoint> measureLines(Lines lines);
    void measureRuns();
    std::vector<ChartSpan> trainedSpans(int worker) const;
    struct StackedColumn {
        Summary points;
        double value = std::numeric_limits<double>::quiet_NaN(); ///< as smoothed
    };
    std::vector<StackedColumn> stackedColumns(int worker) const;
    void measureStack();
    std::vector<double> lostValues() const;
    void drawSpans(QPainter& painter) const;
    void drawRaw(QPainter& painter, const Shape& shape, QImage* picture);
    template <typename Bar> void drawBars(QPainter& painter, const Shape& shape, Bar bar);
    void drawPoints(QPainter& painter, const Shape& shape, std::size_t begin, std::size_t end) const;
    void drawSmooth(
        QPainter& painter, std::span<const SmoothPoint> points, const QColor& color, const QVector<double>& dash) const;
    void drawPiece(
        QPainter& painter, std::span<const SmoothPoint> points, const QColor& color, const QVector<double>& dash) const;
    void drawStack(QPainter& painter) const;
    void drawBand(QPainter& painter, const std::vector<SmoothPoint>& top, const QColor& color) const;
    void drawMarks(QPainter& painter) const;
    struct OffScale {
        double x = 0; ///< pixel
        float value = 0;
        int worker = 0;
    };
    std::vector<OffScale> offScale(bool above) const;
    void drawOffScale(QPainter& painter, bool above, EdgeRoom& room) const;
    void drawExceptions(QPainter& painter, EdgeRoom& top, EdgeRoom& bottom) const;
    void drawSeams(QPainter& painter, EdgeRoom& room) const;
    double px(double x) const { return mKeyAxis->coordToPixel(x); }
    double py(double y) const;

    ChartData data_;
    ChartOptions options_;
    std::vector<ChartSpan> highlights_;
    ColumnEdges edges_;
    bool measured_ = false; ///< what follows is of these data, options and edges
    std::vector<Shape> shapes_;
    std::vector<SmoothPoint> mean_;
    std::vector<SmoothPoint> total_;
    std::map<int, std::vector<SmoothPoint>> runMeans_; ///< of runs with several workers
    struct Band {
        int worker = 0;
        std::vector<std::vector<SmoothPoint>> tops; ///< one for each time without a pause of this worker
        struct Extremes {
            double x = 0;
            double low = 0;
            double high = 0;
        };
        std::vector<Extremes> extremes;
    };
    std::vector<Band> stack_;
    double pixelRatio_ = 1;
    BarRaster bars_; ///< raw curves of a frame
    std::int64_t notANumbers_ = 0;
    std::int64_t infinities_ = 0;
};

} // namespace furrow
