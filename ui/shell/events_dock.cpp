#include "ui/shell/events_dock.h"

#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/parts/page_parts.h"
#include "ui/pages/worker_delegate.h"

#include <QCheckBox>
#include <QHeaderView>
#include <QScrollBar>
#include <QTableView>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>

namespace furrow {

namespace {

constexpr int kMomentMs = 150; // a replay has 25 moments a second, and a run many events

} // namespace

EventsDock::EventsDock(Workbench& bench, QWidget* parent)
    : QWidget(parent)
    , bench_(bench)
    , table_(makeTable(tr("Events and alerts")))
    , all_(new QCheckBox(tr("Include every change of a chunk"), this))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(12, 6, 12, 0);
    column->addWidget(all_);
    filter_.setSourceModel(&bench_.events());
    watchRemovals();
    setSortedModel(table_, &filter_, 0);
    table_->setItemDelegate(new WorkerDelegate(table_));
    table_->setSelectionMode(QAbstractItemView::SingleSelection);
    table_->setColumnWidth(0, 120);
    for (const int narrow : { 1, 2, 3 }) // worker, epoch, chunk: their headings are longer than what stands below
        table_->setColumnWidth(
            narrow, std::max(table_->columnWidth(narrow), table_->horizontalHeader()->sectionSizeHint(narrow)));
    column->addWidget(table_, 1);
    connect(all_, &QCheckBox::toggled, &filter_, &EventFilter::setAll);
    connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this, &EventsDock::choose);
    connect(&bench_.selection(), &SelectionModel::changed, this, &EventsDock::followSelection);
    keepAtEnd();
    connect(&bench_.events(), &QAbstractItemModel::rowsInserted, this, &EventsDock::countAlerts);
    connect(&bench_.events(), &QAbstractItemModel::modelReset, this, &EventsDock::countAlerts);
    followReplay();
}

/// The list is of the time that is shown, like everything else.
void EventsDock::followReplay()
{
    auto* soon = new QTimer(this);
    soon->setSingleShot(true);
    soon->setInterval(kMomentMs);
    connect(&bench_.replay(), &Replay::momentChanged, soon, [soon] {
        if (!soon->isActive())
            soon->start();
    });
    const auto follow = [this] {
        filter_.setMoment(bench_.replay().moment());
        countAlerts();
    };
    connect(soon, &QTimer::timeout, this, follow);
    soon->start(); // and once now: a window that is made anew shows what was told before
}

void EventsDock::countAlerts()
{
    const auto moment = bench_.replay().moment();
    int alerts = 0;
    for (const EventLine& line : bench_.events().rows())
        alerts += line.isAlert && (!moment || line.wallNs <= *moment) ? 1 : 0;
    Q_EMIT alertsChanged(alerts);
}

/// The newest is seen until a person looks at older ones, also in a dock that becomes lower or a window made anew.
void EventsDock::keepAtEnd()
{
    const QScrollBar* bar = table_->verticalScrollBar();
    const auto look = [this, bar] { atEnd_ = bar->value() == bar->maximum(); };
    connect(bar, &QScrollBar::valueChanged, this, look);
    connect(table_->horizontalHeader(), &QHeaderView::sortIndicatorChanged, this, look);
    connect(bar, &QScrollBar::rangeChanged, this, [this] {
        if (atEnd_ && !isNewestFirst())
            table_->verticalScrollBar()->setValue(table_->verticalScrollBar()->maximum());
    });
}

EventsDock::Place EventsDock::place() const
{
    const QHeaderView* header = table_->horizontalHeader();
    return { all_->isChecked(), header->sortIndicatorSection(), header->sortIndicatorOrder(), atEnd_,
        std::max(0, table_->rowAt(0)) };
}

void EventsDock::goBackTo(const Place& place)
{
    all_->setChecked(place.isAll);
    table_->sortByColumn(place.sortColumn, place.sortOrder);
    static_cast<QAbstractItemView*>(table_)->doItemsLayout(); // how far it can be scrolled
    atEnd_ = place.atEnd;
    if (atEnd_ && !isNewestFirst())
        table_->scrollToBottom();
    else
        table_->scrollTo(filter_.index(place.topRow, 0), QAbstractItemView::PositionAtTop);
}

/// A row that goes has the view mark its neighbour, which nobody chose. Connected before the view is.
void EventsDock::watchRemovals()
{
    connect(&filter_, &QAbstractItemModel::rowsAboutToBeRemoved, this, [this] { isRemoving_ = true; });
    connect(&filter_, &QAbstractItemModel::rowsRemoved, this, [this] {
        isRemoving_ = false;
        followSelection();
    });
}

const EventLine* EventsDock::marked() const
{
    const QModelIndexList rows = table_->selectionModel()->selectedRows();
    return rows.isEmpty() ? nullptr : bench_.events().rowAt(filter_.mapToSource(rows.front()));
}

/// A row is marked as long as what it is about is selected: verbs act on the selection. The place of the keyboard
/// stays.
void EventsDock::followSelection()
{
    const EventLine* line = marked();
    if (line == nullptr)
        return;
    const Selection& selection = bench_.selection().selection();
    const bool isSelected = line->chunk.value != 0
        ? selection.chunks.size() == 1 && selection.chunks.front().id == line->chunk
        : line->worker < 0 || selection.worker == line->worker;
    if (!isSelected)
        table_->clearSelection();
}

void EventsDock::choose()
{
    const EventLine* line = marked();
    if (line == nullptr || isRemoving_)
        return;
    if (line->chunk.value != 0)
        bench_.selection().setChunks(
            { { line->chunk, placeOf(line->chunk).block, placeOf(line->chunk).column } }); // of whatever epoch
    else if (line->worker >= 0)
        bench_.selection().setWorker(line->worker);
}

bool EventsDock::isNewestFirst() const
{
    const QHeaderView* header = table_->horizontalHeader();
    return header->sortIndicatorSection() == 0 && header->sortIndicatorOrder() == Qt::DescendingOrder;
}

void EventsDock::goTo(int step)
{
    if (isNewestFirst())
        step = -step;
    const int rows = filter_.rowCount();
    for (int row = table_->currentIndex().isValid() ? table_->currentIndex().row() + step : (step > 0 ? 0 : rows - 1);
        row >= 0 && row < rows; row += step) {
        const EventLine* line = bench_.events().rowAt(filter_.mapToSource(filter_.index(row, 0)));
        if (line != nullptr && line->weight >= EventWeight::Notice) {
            table_->setCurrentIndex(filter_.index(row, 0));
            return;
        }
    }
}

} // namespace furrow
