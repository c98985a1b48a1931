#include "ui/shell/queue_dock.h"

#include "ui/models/core_words.h"
#include "ui/models/workbench.h"
#include "ui/parts/page_parts.h"
#include "ui/shell/queue_tree.h"

#include <QApplication>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

namespace furrow {

QueueDock::QueueDock(Workbench& bench, QWidget* parent)
    : QWidget(parent)
    , bench_(bench)
    , queue_(bench.scanner().queue())
    , sentence_(makeLabel({}, TextTone::Secondary, TextSize::Small))
    , tree_(new QueueTree(this))
    , pause_(makeButton(tr("Pause queue")))
    , up_(makeButton(tr("Earlier")))
    , down_(makeButton(tr("Later")))
    , next_(makeButton(tr("Let the next one run")))
    , remove_(makeButton(tr("Remove")))
    , clear_(makeButton(tr("Clear ended")))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(12, 8, 12, 0);
    auto* row = new QHBoxLayout;
    sentence_->setWordWrap(true);
    row->addWidget(sentence_, 1);
    for (QPushButton* button : { up_, down_, next_, remove_, clear_, pause_ }) {
        button->setProperty("compact", true);
        row->addWidget(button);
    }
    next_->setToolTip(
        tr("Stop this run after a checkpoint and start the next one in its lane; it continues afterwards"));
    column->addLayout(row);
    column->addWidget(tree_, 1);
    column->addStretch();
    connect(&bench_.scanner(), &WorkspaceScanner::queueRead, this, &QueueDock::take);
    connect(&bench_.scanner(), &WorkspaceScanner::scanned, this, [this] { take(queue_); }); // for the names
    connect(tree_, &QTreeWidget::currentItemChanged, this, &QueueDock::enableButtons);
    connect(tree_, &QTreeWidget::itemActivated, this, [this] {
        if (const QueueEntry* entry = current())
            bench_.showRun(QString::fromStdString(entry->run));
    });
    connect(tree_, &QueueTree::moveWanted, this, &QueueDock::shiftTo);
    connect(
        pause_, &QPushButton::clicked, this, [this] { bench_.workspaceCommands().setQueuePaused(!queue_->paused); });
    connect(up_, &QPushButton::clicked, this, [this] { shift(-1); });
    connect(down_, &QPushButton::clicked, this, [this] { shift(1); });
    connect(next_, &QPushButton::clicked, this, [this] { bench_.workspaceCommands().letNextRun(tree_->currentId()); });
    connect(
        remove_, &QPushButton::clicked, this, [this] { bench_.workspaceCommands().removeEntry(tree_->currentId()); });
    connect(clear_, &QPushButton::clicked, this, [this] { bench_.workspaceCommands().removeEnded(); });
    take(queue_);
}

const QueueEntry* QueueDock::entryOf(qint64 id) const
{
    const auto found = std::find_if(
        queue_->entries.begin(), queue_->entries.end(), [id](const QueueEntry& entry) { return entry.id == id; });
    return found == queue_->entries.end() ? nullptr : &*found;
}

const QueueEntry* QueueDock::current() const { return entryOf(tree_->currentId()); }

void QueueDock::take(const QueuePtr& queue)
{
    queue_ = queue;
    {
        const QSignalBlocker block(
            tree_); // it has no current entry for a moment, and a button in use would lose the focus
        tree_->setQueue(*queue_, *bench_.scanner().lines());
    }
    const auto open = static_cast<int>(std::count_if(queue_->entries.begin(), queue_->entries.end(),
        [](const QueueEntry& entry) { return entry.state != QueueState::Ended; }));
    tree_->setVisible(!queue_->entries.empty());
    pause_->setText(queue_->paused ? tr("Start queue") : tr("Pause queue"));
    if (queue_->entries.empty())
        sentence_->setText(
            tr("No run is waiting. “Queue” in a new run puts it here; runs that share a device wait for each other."));
    else if (!queue_->cannotRun.empty() && open > 0)
        sentence_->setText(coreWords(queue_->cannotRun));
    else if (queue_->paused)
        sentence_->setText(tr("Paused: nothing new is started; what is training goes on."));
    else if (queue_->active)
        sentence_->setText(tr("%n run(s) waiting or training.", nullptr, open));
    else
        sentence_->setText(
            open > 0 ? tr("No process runs the queue: nothing of it is started.") : tr("Nothing is waiting."));
    enableButtons();
    Q_EMIT counted(open);
}

void QueueDock::enableButtons()
{
    const QWidget* inUse = QApplication::focusWidget();
    const QueueEntry* entry = current();
    const bool waits = entry != nullptr && entry->state == QueueState::Waiting;
    up_->setEnabled(waits && tree_->neighbour(-1) != 0);
    down_->setEnabled(waits && tree_->neighbour(1) != 0);
    next_->setEnabled(entry != nullptr && entry->state == QueueState::Running);
    remove_->setEnabled(entry != nullptr && entry->state != QueueState::Running);
    clear_->setEnabled(
        std::ranges::any_of(queue_->entries, [](const QueueEntry& one) { return one.state == QueueState::Ended; }));
    pause_->setEnabled(!queue_->entries.empty() || queue_->paused);
    if (inUse != nullptr && isAncestorOf(inUse) && !inUse->isEnabled())
        tree_->setFocus(); // Qt gives the focus to the next button, which does another thing
}

void QueueDock::shift(int step) { shiftTo(tree_->currentId(), tree_->neighbour(step)); }

// Turns count over all lanes.
void QueueDock::shiftTo(qint64 id, qint64 toPlaceOf)
{
    if (const QueueEntry* other = entryOf(toPlaceOf))
        bench_.workspaceCommands().moveEntry(id, other - queue_->entries.data());
}

} // namespace furrow
