#include "ui/pages/workers_page.h"

#include "ui/models/workbench.h"
#include "ui/pages/page_parts.h"
#include "ui/pages/worker_delegate.h"

#include <QHeaderView>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>

namespace furrow {

namespace {

QWidget* titled(const QString& title, QTableView* table)
{
    auto* box = new QWidget;
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(12, 12, 12, 0);
    column->addWidget(makeLabel(title, TextTone::Value, TextSize::Body, true));
    column->addWidget(table, 1);
    return box;
}

} // namespace

WorkersPage::WorkersPage(Workbench& bench, QWidget* parent)
    : QWidget(parent)
    , bench_(bench)
    , incarnations_(incarnationColumns())
    , checkpoints_(checkpointColumns())
    , processTable_(makeTable(tr("Worker processes")))
    , checkpointTable_(makeTable(tr("Checkpoints")))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    auto* splitter = new QSplitter(Qt::Vertical, this);
    splitter->setHandleWidth(1);
    splitter->addWidget(titled(tr("Worker processes of all attempts"), processTable_));
    splitter->addWidget(titled(tr("Checkpoints"), checkpointTable_));
    column->addWidget(splitter);
    setSortedModel(processTable_, &incarnations_, 4, Qt::DescendingOrder);
    setSortedModel(checkpointTable_, &checkpoints_, 0, Qt::DescendingOrder);
    processTable_->setItemDelegate(new WorkerDelegate(processTable_));
    connect(processTable_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& index) {
        const auto* proxy = static_cast<const QSortFilterProxyModel*>(processTable_->model());
        if (const IncarnationRow* row = incarnations_.rowAt(proxy->mapToSource(index)); row && row->worker >= 0)
            bench_.selection().setWorker(row->worker);
    });
    connect(&bench_.watcher(), &RunWatcher::tablesRead, this, &WorkersPage::take);
    connect(&bench_.watcher(), &RunWatcher::opened, this, [this] {
        incarnations_.reset({});
        checkpoints_.reset({});
    });
    if (bench_.watcher().tables())
        take(bench_.watcher().tables());
}

void WorkersPage::take(const TablesPtr& tables)
{
    const bool first = incarnations_.rowCount() == 0 && checkpoints_.rowCount() == 0;
    incarnations_.reset(tables->incarnations);
    checkpoints_.reset(tables->checkpoints);
    if (first) {
        processTable_->resizeColumnsToContents();
        checkpointTable_->resizeColumnsToContents();
    }
}

} // namespace furrow
