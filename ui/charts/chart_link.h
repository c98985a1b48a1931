#pragma once

#include <QObject>
#include <QTimer>
#include <optional>
#include <vector>

namespace furrow {

/// What charts that stand together share: the visible range of x, its history, the cursor, and the one timer that
/// replots (30 per second at most). Charts add themselves. GUI thread.
class ChartLink : public QObject {
    Q_OBJECT
public:
    explicit ChartLink(QObject* parent = nullptr);

    struct Range {
        double begin = 0;
        double end = 1;
        bool operator==(const Range&) const = default;
    };
    /// Absent: everything there is, and it grows with the data ("live").
    const std::optional<Range>& range() const { return range_; }
    /// Zooms or pans. `remember`: zoomBack() returns to what was before.
    void setRange(std::optional<Range> range, bool remember = true);
    void zoomBack();
    bool canZoomBack() const { return !history_.empty(); }
    /// Everything any of the charts has; kept by the charts.
    void addExtent(QObject* chart, std::optional<Range> extent);
    std::optional<Range> extent() const;

    /// NaN: no cursor.
    void setCursor(double x);
    double cursor() const { return cursor_; }
    /// Asks for a frame; many calls make one.
    void requestFrame();

Q_SIGNALS:
    void rangeChanged();
    void extentChanged(); ///< what extent() gives
    void cursorChanged(double x);
    void frame(); ///< charts that need it replot now
    void followingChanged(bool live); ///< for the pill "back to live"

private:
    std::optional<Range> range_;
    std::vector<std::optional<Range>> history_;
    std::vector<std::pair<QObject*, Range>> extents_;
    double cursor_;
    QTimer timer_;
};

} // namespace furrow
