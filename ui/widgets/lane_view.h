#pragma once

#include <QString>
#include <QWidget>
#include <cstdint>
#include <memory>
#include <vector>

namespace furrow {

/// What a worker did with one chunk. Times in seconds since 1970; 0: not yet.
struct LaneClaim {
    std::int64_t chunk = 0;
    QString label; ///< "B45 C21"; stands where it fits
    double claimed = 0;
    double started = 0;
    double ended = 0; ///< 0: still going on
    bool lost = false; ///< the work did not get into any weights
};

struct LaneDeath {
    double at = 0;
    QString label; ///< "SIGKILL 18:41:22, restart 1 of 5"; empty: it ended in order, or it is not known how
    double restarted = 0; ///< 0: no process until now
};

struct Lane {
    int worker = 0;
    QString name; ///< "Worker 0"
    QString detail; ///< "RTX 4090, 118,200 tok/s"
    std::vector<LaneClaim> claims; ///< ascending
    std::vector<double> commits;
    std::vector<LaneDeath> deaths;
};

/// Worker lanes over time: wait, train, commit, lost work, no process. Shows `now` minus a span; follows it when live.
class LaneView : public QWidget {
    Q_OBJECT
public:
    explicit LaneView(QWidget* parent = nullptr);
    void setLanes(std::shared_ptr<const std::vector<Lane>> lanes);
    /// The visible stretch; `end` is drawn as "now" when `live`.
    void setRange(double begin, double end, bool live);
    /// Claims of this chunk get an accent frame; 0: none.
    void setHighlighted(std::int64_t chunk);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return { 200, 60 }; }

Q_SIGNALS:
    void chunkClicked(std::int64_t chunk, int worker);
    void rangeChanged(double begin, double end); ///< by wheel or drag

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    bool event(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void chooseBeside(int step);
    double xOf(double time) const;
    double timeAt(double x) const;
    QRectF laneArea(std::size_t index) const;
    const LaneClaim* claimAt(QPointF position, int* worker) const;
    void drawScale(QPainter& painter) const;
    void drawLane(QPainter& painter, const Lane& lane, const QRectF& area) const;
    void drawTraining(QPainter& painter, const Lane& lane, const LaneClaim& claim, const QRectF& train) const;
    void drawLabel(QPainter& painter, const Lane& lane, const LaneClaim& claim, const QRectF& train) const;
    void drawDeaths(QPainter& painter, const Lane& lane, const QRectF& area) const;

    std::shared_ptr<const std::vector<Lane>> lanes_;
    double begin_ = 0;
    double end_ = 600;
    bool live_ = true;
    std::int64_t highlighted_ = 0;
    int keyLane_ = 0; ///< that the keys are for
    double dragFrom_ = -1;
    double dragBegin_ = 0;
    bool dragged_ = false;
};

} // namespace furrow
