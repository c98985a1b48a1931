#pragma once

#include "core/config/choices.h"
#include "ui/charts/map_colors.h"

#include <QWidget>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace furrow {

class CoverageMap;

/// Below a map: the ramp with its histogram and what it is relative to, every state with its count, the sum, and
/// "twice" and "missing" even when they are 0. It is as high as all of that needs in its width.
class MapLegend : public QWidget {
    Q_OBJECT
public:
    explicit MapLegend(CoverageMap& map, QWidget* parent = nullptr);
    ~MapLegend() override;
    /// Of the run: what its losses are in.
    void setObjective(Objective objective);
    /// Counts of the audit.
    void setAudit(std::int64_t twice, std::int64_t missing);
    /// Other epochs that are open too, each with how many of its chunks are still to come: the map and the counts are
    /// of one.
    void setOpenToo(std::vector<std::pair<std::int64_t, std::int64_t>> epochs);
    /// A mark on the ramp, e.g. the threshold of "worst"; nullopt: none.
    void setMark(std::optional<double> value);
    QSize sizeHint() const override { return { 900, height() }; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    struct Count;
    struct Phrase;
    struct Arrangement;

    QString rampTitle() const;
    void drawRamp(QPainter& painter, const QRectF& area) const;
    /// What the colours of a layer without numbers mean; empty: it has numbers.
    std::vector<std::pair<QString, std::uint8_t>> named() const;
    void drawNamed(QPainter& painter, const QRectF& area) const;
    std::vector<Count> counts() const;
    std::vector<Phrase> phrases() const;
    std::vector<double> columnsWithin(double room, std::size_t most) const;
    Arrangement arrange() const;
    void arrangeAnew();
    void drawCounts(QPainter& painter, const Arrangement& where) const;
    QString inWords() const;
    void drawPhrases(QPainter& painter, const Arrangement& where) const;

    CoverageMap& map_;
    Objective objective_ = Objective::NextToken;
    std::int64_t twice_ = 0;
    std::int64_t missing_ = 0;
    std::vector<std::pair<std::int64_t, std::int64_t>> openToo_;
    std::optional<double> mark_;
    std::unique_ptr<const Arrangement> arranged_; ///< for the texts and the width of now
};

} // namespace furrow
