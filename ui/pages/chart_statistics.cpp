#include "ui/pages/chart_statistics.h"

#include "ui/models/words.h"
#include "ui/parts/page_parts.h"
#include "ui/pages/worker_delegate.h"

#include <QHeaderView>
#include <QScrollBar>
#include <QTableView>
#include <QVBoxLayout>

namespace furrow {

namespace {

constexpr int kMostRows = 4; // more scroll

} // namespace

std::vector<TableColumn<ChartStatistics::Row>> ChartStatistics::columns()
{
    const auto number = [](const char* title, double SeriesChart::Statistic::* field) {
        return TableColumn<Row> { [title] { return QCoreApplication::translate("ChartStatistics", title); },
            [field](const Row& row) { return valueText(row.statistic.*field); },
            [field](const Row& row) { return QVariant(row.statistic.*field); }, true, {} };
    };
    return {
        { [] { return QCoreApplication::translate("ChartStatistics", "Visible range"); },
            [](const Row& row) { return row.name; }, [](const Row& row) { return QVariant(row.statistic.worker); },
            false,
            [](const Row& row, int role) { return role == WorkerRole ? QVariant(row.statistic.worker) : QVariant(); } },
        { [] { return QCoreApplication::translate("ChartStatistics", "Points"); },
            [](const Row& row) { return countText(static_cast<std::int64_t>(row.statistic.count)); },
            [](const Row& row) { return QVariant(static_cast<qulonglong>(row.statistic.count)); }, true, {} },
        number(QT_TRANSLATE_NOOP("ChartStatistics", "Smallest"), &SeriesChart::Statistic::min),
        number(QT_TRANSLATE_NOOP("ChartStatistics", "Mean"), &SeriesChart::Statistic::mean),
        number(QT_TRANSLATE_NOOP("ChartStatistics", "Largest"), &SeriesChart::Statistic::max),
        number(QT_TRANSLATE_NOOP("ChartStatistics", "Newest"), &SeriesChart::Statistic::newest),
    };
}

ChartStatistics::ChartStatistics(QWidget* parent)
    : QWidget(parent)
    , model_(columns())
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    QTableView* table = makeTable(QCoreApplication::translate("ChartStatistics", "Statistics of the visible range"));
    setSortedModel(table, &model_, 0);
    table->setItemDelegate(new WorkerDelegate(table));
    table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    table_ = table;
    column->addWidget(table);
}

void ChartStatistics::setChart(const SeriesChart& chart)
{
    std::vector<Row> rows;
    for (const SeriesChart::Statistic& statistic : chart.statistics())
        rows.push_back({ statistic, lineName(chart.data(), statistic.worker) });
    const int shown = std::clamp(static_cast<int>(rows.size()), 1, kMostRows);
    const int frame = table_->horizontalHeader()->height() + table_->horizontalScrollBar()->sizeHint().height();
    const int row = table_->verticalHeader()->defaultSectionSize();
    table_->setMinimumHeight(frame + row); // where the window is low
    table_->setMaximumHeight(frame + shown * row);
    model_.reset(std::move(rows));
}

} // namespace furrow
