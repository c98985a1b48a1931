#include "ui/shell/queue_dock.h"

#include "ui/models/workbench.h"
#include "ui/pages/page_parts.h"

#include <QHeaderView>
#include <QPushButton>
#include <QTreeWidget>
#include <QVBoxLayout>
#include <algorithm>

namespace furrow {

namespace {

QString stateText(const QueueEntry& entry)
{
    switch (entry.state) {
    case QueueState::Waiting: return QCoreApplication::translate("QueueDock", "waiting");
    case QueueState::Running: return QCoreApplication::translate("QueueDock", "in training");
    case QueueState::Ended: break;
    }
    return QString::fromStdString(entry.outcome);
}

} // namespace

QueueDock::QueueDock(Workbench& bench, QWidget* parent)
    : QWidget(parent)
    , bench_(bench)
    , queue_(bench.scanner().queue())
    , sentence_(makeLabel({}, TextTone::Secondary, TextSize::Small))
    , tree_(new QTreeWidget(this))
    , pause_(makeButton(tr("Pause queue")))
    , up_(makeButton(tr("Earlier")))
    , down_(makeButton(tr("Later")))
    , next_(makeButton(tr("Let next run")))
    , remove_(makeButton(tr("Take out")))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(12, 8, 12, 0);
    auto* row = new QHBoxLayout;
    sentence_->setWordWrap(true);
    row->addWidget(sentence_, 1);
    auto* clear = makeButton(tr("Forget ended"));
    for (QPushButton* button : { up_, down_, next_, remove_, clear, pause_ }) {
        button->setProperty("compact", true);
        row->addWidget(button);
    }
    next_->setToolTip(tr("Stop this run after a checkpoint and begin the next one of its lane; it goes on afterwards"));
    column->addLayout(row);
    tree_->setAccessibleName(tr("Queue"));
    tree_->setFont(scaledFont(TextSize::Small));
    tree_->setHeaderLabels({ tr("Run"), tr("State"), tr("Devices") });
    tree_->setRootIsDecorated(false);
    tree_->setUniformRowHeights(true);
    tree_->setFrameShape(QFrame::NoFrame);
    tree_->header()->setStretchLastSection(true);
    column->addWidget(tree_, 1);
    column->addStretch();
    connect(&bench_.scanner(), &WorkspaceScanner::queueRead, this, &QueueDock::take);
    connect(tree_, &QTreeWidget::currentItemChanged, this, &QueueDock::enableButtons);
    connect(tree_, &QTreeWidget::itemActivated, this, [this] {
        if (const QueueEntry* entry = current())
            bench_.showRun(QString::fromStdString(entry->run));
    });
    connect(pause_, &QPushButton::clicked, this, [this] { bench_.workspaceCommands().setQueuePaused(!queue_->paused); });
    connect(up_, &QPushButton::clicked, this, [this] { shift(-1); });
    connect(down_, &QPushButton::clicked, this, [this] { shift(1); });
    connect(next_, &QPushButton::clicked, this, [this] { bench_.workspaceCommands().letNextRun(currentId()); });
    connect(remove_, &QPushButton::clicked, this, [this] { bench_.workspaceCommands().removeEntry(currentId()); });
    connect(clear, &QPushButton::clicked, this, [this] { bench_.workspaceCommands().removeEnded(); });
    take(queue_);
}

qint64 QueueDock::currentId() const
{
    const QTreeWidgetItem* item = tree_->currentItem();
    return item == nullptr ? 0 : item->data(0, Qt::UserRole).toLongLong();
}

const QueueEntry* QueueDock::current() const
{
    const qint64 id = currentId();
    const auto found = std::find_if(queue_->entries.begin(), queue_->entries.end(), [id](const QueueEntry& entry) { return entry.id == id; });
    return found == queue_->entries.end() ? nullptr : &*found;
}

void QueueDock::take(const QueuePtr& queue)
{
    const qint64 chosen = currentId();
    queue_ = queue;
    tree_->clear();
    int open = 0;
    for (const QueueEntry& entry : queue_->entries) {
        auto* item = new QTreeWidgetItem(tree_, { QString::fromStdString(entry.name.empty() ? entry.run : entry.name), stateText(entry), QString::fromStdString(entry.lane) });
        item->setData(0, Qt::UserRole, static_cast<qlonglong>(entry.id));
        item->setToolTip(0, QString::fromStdString(entry.run));
        item->setToolTip(1, QString::fromStdString(entry.outcome));
        open += entry.state == QueueState::Ended ? 0 : 1;
        if (entry.id == chosen)
            tree_->setCurrentItem(item);
    }
    tree_->setVisible(!queue_->entries.empty());
    for (int i = 0; i < tree_->columnCount(); ++i)
        tree_->resizeColumnToContents(i);
    pause_->setText(queue_->paused ? tr("Start queue") : tr("Pause queue"));
    if (queue_->entries.empty())
        sentence_->setText(tr("No run waits. “Queue” in a new run puts it here; runs that share a device wait for each other."));
    else if (queue_->paused)
        sentence_->setText(tr("Paused: nothing is started, what trains goes on."));
    else
        sentence_->setText(queue_->active ? tr("%n run(s) wait or train.", nullptr, open) : tr("Nothing waits."));
    enableButtons();
    Q_EMIT counted(open);
}

void QueueDock::enableButtons()
{
    const QueueEntry* entry = current();
    const bool waits = entry != nullptr && entry->state == QueueState::Waiting;
    const auto at = entry == nullptr ? 0 : entry - queue_->entries.data();
    up_->setEnabled(waits && at > 0);
    down_->setEnabled(waits && at + 1 < static_cast<std::ptrdiff_t>(queue_->entries.size()));
    next_->setEnabled(entry != nullptr && entry->state == QueueState::Running);
    remove_->setEnabled(entry != nullptr && entry->state != QueueState::Running);
    pause_->setEnabled(!queue_->entries.empty() || queue_->paused);
}

void QueueDock::shift(int step)
{
    if (const QueueEntry* entry = current())
        bench_.workspaceCommands().moveEntry(entry->id, entry - queue_->entries.data() + step);
}

} // namespace furrow
