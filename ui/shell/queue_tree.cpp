#include "ui/shell/queue_tree.h"

#include "ui/models/shown_name.h"
#include "ui/parts/page_parts.h"

#include <QCoreApplication>
#include <QDropEvent>
#include <QHeaderView>

namespace furrow {

namespace {

constexpr int kIdRole = Qt::UserRole;
constexpr int kWaitsRole = Qt::UserRole + 1;
constexpr int kRow = 26;
constexpr int kHeader = 24;

QString stateText(const QueueEntry& entry)
{
    switch (entry.state) {
    case QueueState::Waiting: return QCoreApplication::translate("QueueDock", "waiting");
    case QueueState::Running: return QCoreApplication::translate("QueueDock", "in training");
    case QueueState::Ended: break;
    }
    // The run may be trained again meanwhile, by hand: the library says how it is now.
    return QCoreApplication::translate("QueueDock", "left the queue: %1").arg(QString::fromStdString(entry.outcome));
}

QStringList devicesOf(const QueueEntry& entry)
{
    QStringList devices;
    const QStringList parts = QString::fromStdString(entry.lane).split(QLatin1Char(','), Qt::SkipEmptyParts);
    for (const QString& part : parts) { // cpu:2 is the same processor
        const QString device = part.trimmed();
        devices.append(device.startsWith(QLatin1String("cpu")) ? QStringLiteral("cpu") : device);
    }
    devices.removeDuplicates();
    return devices.isEmpty() ? QStringList { QStringLiteral("auto") } : devices;
}

QString deviceTitle(const QString& device)
{
    if (device == QLatin1String("cpu"))
        return QCoreApplication::translate("QueueDock", "CPU");
    if (device == QLatin1String("auto") || device == QLatin1String("all"))
        return QCoreApplication::translate("QueueDock", "Every GPU");
    constexpr int kShown = 12; // of a UUID; the tooltip has all of it
    return device.size() > kShown + 1 ? device.left(kShown) + QChar(0x2026)
                                      : QCoreApplication::translate("QueueDock", "GPU %1").arg(device);
}

} // namespace

QueueTree::QueueTree(QWidget* parent)
    : QTreeWidget(parent)
{
    setAccessibleName(QCoreApplication::translate("QueueDock", "Queue"));
    setFont(scaledFont(TextSize::Small));
    setHeaderLabels({ QCoreApplication::translate("QueueDock", "Device and run"),
        QCoreApplication::translate("QueueDock", "State") });
    setUniformRowHeights(true);
    setItemsExpandable(false);
    setRootIsDecorated(false);
    setFrameShape(QFrame::NoFrame);
    header()->setStretchLastSection(true);
    header()->setFixedHeight(kHeader);
    header()->setFont(scaledFont(TextSize::Tiny));
    setDragDropMode(QAbstractItemView::InternalMove);
    setDropIndicatorShown(true);
}

void QueueTree::addLane(const QString& device, qint64 chosen)
{
    auto* lane = new QTreeWidgetItem(this, { deviceTitle(device) });
    lane->setToolTip(0, device);
    lane->setSizeHint(0, QSize(0, kRow));
    lane->setFont(0, scaledFont(TextSize::Small, QFont::DemiBold));
    lane->setFlags(Qt::ItemIsEnabled | Qt::ItemIsDropEnabled);
    for (const QueueEntry& entry : entries_) {
        const QStringList devices = devicesOf(entry);
        if (!devices.contains(device))
            continue;
        auto* item = new QTreeWidgetItem(lane, { names_[&entry - entries_.data()], stateText(entry) });
        item->setData(0, kIdRole, static_cast<qlonglong>(entry.id));
        item->setData(0, kWaitsRole, entry.state == QueueState::Waiting);
        item->setSizeHint(0, QSize(0, kRow));
        item->setToolTip(0, QString::fromStdString(entry.run));
        item->setToolTip(1, QString::fromStdString(entry.outcome));
        const int needed = static_cast<int>(devices.size()); // lupdate does not read past a cast
        if (needed > 1)
            item->setText(1,
                QCoreApplication::translate("QueueDock", "%1, needs %n device(s)", nullptr, needed).arg(item->text(1)));
        item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable
            | (entry.state == QueueState::Waiting ? Qt::ItemIsDragEnabled : Qt::NoItemFlags));
        if (entry.id == chosen && currentItem() == nullptr)
            setCurrentItem(item);
    }
    lane->setExpanded(true);
}

void QueueTree::setQueue(const QueueView& queue, const RunLines& lines)
{
    QStringList names;
    for (const QueueEntry& entry : queue.entries)
        names.append(libraryName(lines, QString::fromStdString(entry.run),
            QString::fromStdString(entry.name.empty() ? entry.run : entry.name)));
    if (queue.entries == entries_ && names == names_)
        return; // nothing is taken out of a hand that drags
    entries_ = queue.entries;
    names_ = names;
    const qint64 chosen = currentId();
    clear();
    QStringList lanes;
    for (const QueueEntry& entry : entries_)
        lanes += devicesOf(entry);
    lanes.removeDuplicates();
    for (const QString& device : std::as_const(lanes))
        addLane(device, chosen);
    for (int i = 0; i < columnCount(); ++i)
        resizeColumnToContents(i);
}

qint64 QueueTree::currentId() const
{
    const QTreeWidgetItem* item = currentItem();
    return item == nullptr ? 0 : item->data(0, kIdRole).toLongLong();
}

qint64 QueueTree::neighbour(int step) const
{
    QTreeWidgetItem* item = currentItem();
    const QTreeWidgetItem* lane = item == nullptr ? nullptr : item->parent();
    if (lane == nullptr)
        return 0;
    const QTreeWidgetItem* other = lane->child(lane->indexOfChild(item) + step);
    return other != nullptr && other->data(0, kWaitsRole).toBool() ? other->data(0, kIdRole).toLongLong() : 0;
}

// The view does not move its own items: the queue is moved, and what it is then comes back as a new list.
void QueueTree::dropEvent(QDropEvent* event)
{
    QTreeWidgetItem* moved = currentItem();
    QTreeWidgetItem* target = itemAt(event->position().toPoint());
    event->setDropAction(Qt::IgnoreAction);
    event->accept();
    if (moved == nullptr || target == nullptr || moved->parent() == nullptr || target->parent() != moved->parent())
        return;
    const QTreeWidgetItem* lane = moved->parent();
    const int from = lane->indexOfChild(moved);
    const int gap = lane->indexOfChild(target) + (dropIndicatorPosition() == BelowItem ? 1 : 0);
    const QTreeWidgetItem* other = lane->child(gap > from ? gap - 1 : gap);
    if (other != nullptr && other != moved && other->data(0, kWaitsRole).toBool())
        Q_EMIT moveWanted(moved->data(0, kIdRole).toLongLong(), other->data(0, kIdRole).toLongLong());
}

} // namespace furrow
