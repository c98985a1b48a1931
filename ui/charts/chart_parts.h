#pragma once

#include "ui/charts/curves_layer.h"

#include <QWidget>

namespace furrow {

/// Numbers of an axis: units and digits as the axis needs, locale, never more than seven.
class ChartTicker : public QCPAxisTicker {
public:
    explicit ChartTicker(XAxis axis);

protected:
    double getTickStep(const QCPRange& range) override;
    QString getTickLabel(double tick, const QLocale& locale, QChar format, int precision) override;

private:
    XAxis axis_;
    double step_ = 1;
};

/// Numbers of a value axis; `perplexity`: e to the power of the tick.
class ValueTicker : public QCPAxisTicker {
public:
    explicit ValueTicker(bool perplexity = false);

protected:
    double getTickStep(const QCPRange& range) override;
    QString getTickLabel(double tick, const QLocale& locale, QChar format, int precision) override;

private:
    bool perplexity_;
    double step_ = 1;
};

/// A value as an axis writes it: "300 k", "6e-4", "3.5", with the digits that `step` needs.
QString tickText(double value, double step);

/// The line, the box with the values and the tag on the axis, drawn over a frame: moving it costs no replot of the
/// curves.
class CrossHair {
public:
    explicit CrossHair(const CurvesLayer& curves);
    void setX(double x) { x_ = x; }
    /// Values only in the chart under the mouse; the others have the line.
    void setShowsValues(bool shows) { showsValues_ = shows; }
    void setBox(const QRectF& box) { box_ = box; } ///< rubber band of a zoom; null: none
    void draw(QPainter& painter) const;

private:
    void drawValues(QPainter& painter, double pixel, const QRectF& area) const;
    void drawTag(QPainter& painter, double pixel, const QRectF& area) const;

    const CurvesLayer& curves_;
    double x_ = std::numeric_limits<double>::quiet_NaN();
    bool showsValues_ = false;
    QRectF box_;
};

/// The row above a chart: title, unit, legend with the newest values, trouble, one number at the right.
class ChartTitle : public QWidget {
    Q_OBJECT
public:
    explicit ChartTitle(QWidget* parent);
    struct Entry {
        int worker = -1; ///< -1: mean, -2: evaluation, -3: chunks in which the loss jumped
        QString name;
        QString value;
        bool operator==(const Entry&) const = default;
    };
    void set(const QString& title, const QString& unit, std::vector<Entry> entries, const QString& trouble,
        const QString& right);
    const std::vector<Entry>& entries() const { return entries_; }
    const QString& unit() const { return unit_; }
    const QString& right() const { return right_; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QString title_, unit_, trouble_, right_;
    std::vector<Entry> entries_;
};

} // namespace furrow
