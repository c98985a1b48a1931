#include "ui/shell/bottom_docks.h"

#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/pages/page_parts.h"
#include "ui/pages/worker_delegate.h"

#include <QCheckBox>
#include <QHeaderView>
#include <QPushButton>
#include <QTableView>
#include <QTime>
#include <QTimer>
#include <QVBoxLayout>

namespace furrow {

namespace {

constexpr int kCheckMs = 15'000;

} // namespace

EventsDock::EventsDock(Workbench& bench, QWidget* parent)
    : QWidget(parent)
    , bench_(bench)
    , table_(makeTable(tr("Events and alerts")))
    , all_(new QCheckBox(tr("Also every move of a chunk"), this))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(12, 6, 12, 0);
    column->addWidget(all_);
    filter_.setSourceModel(&bench_.events());
    table_->setModel(&filter_);
    table_->setItemDelegate(new WorkerDelegate(table_));
    table_->setSelectionMode(QAbstractItemView::SingleSelection);
    table_->setColumnWidth(0, 120);
    column->addWidget(table_, 1);
    connect(all_, &QCheckBox::toggled, &filter_, &EventFilter::setAll);
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &EventsDock::choose);
    const auto count = [this] {
        int alerts = 0;
        for (const EventLine& line : bench_.events().rows())
            alerts += line.weight >= EventWeight::Warning ? 1 : 0;
        Q_EMIT alertsChanged(alerts);
    };
    connect(&bench_.events(), &QAbstractItemModel::rowsInserted, this, count);
    connect(&bench_.events(), &QAbstractItemModel::modelReset, this, count);
}

void EventsDock::choose(const QModelIndex& index)
{
    const EventLine* line = bench_.events().rowAt(filter_.mapToSource(index));
    if (line == nullptr)
        return;
    if (const ChunkCell* cell = bench_.cells().find(line->chunk))
        bench_.selection().setChunks({ { cell->id, cell->block, cell->column } });
    else if (line->worker >= 0)
        bench_.selection().setWorker(line->worker);
}

void EventsDock::goTo(int step)
{
    const int rows = filter_.rowCount();
    for (int row = table_->currentIndex().isValid() ? table_->currentIndex().row() + step : (step > 0 ? 0 : rows - 1); row >= 0 && row < rows; row += step) {
        const EventLine* line = bench_.events().rowAt(filter_.mapToSource(filter_.index(row, 0)));
        if (line != nullptr && line->weight >= EventWeight::Notice) {
            table_->setCurrentIndex(filter_.index(row, 0));
            return;
        }
    }
}

AuditDock::AuditDock(Workbench& bench, QWidget* parent)
    : QWidget(parent)
    , bench_(bench)
    , model_(findingColumns())
    , sentence_(makeLabel({}, TextTone::Secondary))
    , table_(makeTable(tr("Duplicates and holes")))
    , timer_(new QTimer(this))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(12, 8, 12, 0);
    auto* row = new QHBoxLayout;
    sentence_->setWordWrap(true);
    row->addWidget(sentence_, 1);
    auto* again = makeButton(tr("Check now"));
    row->addWidget(again);
    column->addLayout(row);
    setSortedModel(table_, &model_, 0);
    column->addWidget(table_, 1);
    timer_->setInterval(kCheckMs);
    connect(timer_, &QTimer::timeout, this, [this] {
        const StatusPtr& status = bench_.watcher().status();
        if (isVisible() && status && status->supervisorPid > 0) // a run that stands still does not change
            check();
    });
    timer_->start();
    connect(again, &QPushButton::clicked, this, &AuditDock::check);
    connect(&auditor_, &LedgerAuditor::audited, this, &AuditDock::show);
    connect(&auditor_, &LedgerAuditor::failed, this, [this](const QString& message) { sentence_->setText(message); });
    connect(&bench_.watcher(), &RunWatcher::opened, this, [this] {
        model_.reset({});
        sentence_->clear();
        if (isVisible())
            check();
    });
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &AuditDock::choose);
}

void AuditDock::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    check();
}

void AuditDock::check()
{
    if (bench_.watcher().folder().isEmpty() || auditor_.isBusy())
        return;
    if (sentence_->text().isEmpty())
        sentence_->setText(tr("Checking every chunk…"));
    auditor_.audit(bench_.watcher().folder());
}

void AuditDock::show(const AuditPtr& report)
{
    std::int64_t twice = 0;
    std::int64_t missing = 0;
    std::int64_t known = 0;
    for (const AuditEpoch& epoch : report->epochs) {
        twice += epoch.duplicated;
        missing += epoch.missing;
        known += epoch.known;
    }
    const QString time = QTime::currentTime().toString(QStringLiteral("HH:mm"));
    if (known == 0)
        sentence_->setText(tr("No chunk is known yet."));
    else if (report->isClean())
        sentence_->setText(tr("No duplicates, no holes. %1 chunks checked at %2.").arg(countText(known), time));
    else
        sentence_->setText(tr("Trained twice: %1. Missing: %2. %3 chunks checked at %4.").arg(countText(twice), countText(missing), countText(known), time));
    const bool first = model_.rowCount() == 0;
    model_.reset(report->findings);
    table_->setVisible(!report->findings.empty());
    if (first)
        table_->resizeColumnsToContents();
    Q_EMIT counted(twice, missing);
}

void AuditDock::choose(const QModelIndex& index)
{
    const auto* proxy = static_cast<const QSortFilterProxyModel*>(table_->model());
    const AuditFinding* finding = model_.rowAt(proxy->mapToSource(index));
    if (finding == nullptr)
        return;
    if (const ChunkCell* cell = bench_.cells().find(finding->chunk))
        bench_.selection().setChunks({ { cell->id, cell->block, cell->column } });
}

} // namespace furrow
