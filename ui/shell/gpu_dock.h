#pragma once

#include "ui/charts/series_chart.h"

#include <QWidget>

class QStackedWidget;

namespace furrow {

class EmptyState;
class Workbench;

/// Utilisation, memory, power and temperature of each worker's device over time, under the loss of the same time.
class GpuDock : public QWidget {
    Q_OBJECT
public:
    explicit GpuDock(Workbench& bench, QWidget* parent = nullptr);

protected:
    void showEvent(QShowEvent* event) override;

private:
    void take();
    void explainNothing();

    Workbench& bench_;
    ChartLink link_;
    QStackedWidget* stack_;
    EmptyState* empty_;
    SeriesChart* loss_;
    std::vector<SeriesChart*> charts_; // as the measures in the source
};

} // namespace furrow
