#pragma once

#include "ui/charts/series_chart.h"
#include "ui/models/table_model.h"

#include <QWidget>

class QTableView;

namespace furrow {

/// What a chart shows as numbers: for each worker the extremes, the mean and the newest of the visible points, exact.
class ChartStatistics : public QWidget {
public:
    explicit ChartStatistics(QWidget* parent = nullptr);
    void setChart(const SeriesChart& chart);

private:
    struct Row {
        SeriesChart::Statistic statistic;
        QString name;
    };
    static std::vector<TableColumn<Row>> columns();

    TableModel<Row> model_;
    QTableView* table_ = nullptr;
};

} // namespace furrow
