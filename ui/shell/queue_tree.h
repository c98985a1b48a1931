#pragma once

#include "ui/bridge/run_feed.h"

#include <QTreeWidget>

namespace furrow {

/// The lanes of the queue: a device, below it its runs in order of their turn. A run that needs two devices stands in
/// both lanes. Waiting runs are dragged to another place of their lane.
class QueueTree : public QTreeWidget {
    Q_OBJECT
public:
    explicit QueueTree(QWidget* parent = nullptr);

    /// Keeps the current run. @param lines  of the library, which calls the runs so
    void setQueue(const QueueView& queue, const RunLines& lines = {});
    qint64 currentId() const; ///< of the queue entry; 0: none
    /// The entry that stands `step` places from the current one in its lane; 0: none. Running ones keep their place.
    qint64 neighbour(int step) const;

Q_SIGNALS:
    void moveWanted(qint64 id, qint64 toPlaceOf); ///< to where the other one stands now

protected:
    void dropEvent(QDropEvent* event) override;

private:
    void addLane(const QString& device, qint64 chosen);

    std::vector<QueueEntry> entries_;
    QStringList names_; ///< of them
};

} // namespace furrow
