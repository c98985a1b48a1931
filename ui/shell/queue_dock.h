#pragma once

#include "ui/bridge/run_feed.h"

#include <QWidget>

class QLabel;
class QPushButton;

namespace furrow {

class QueueTree;
class Workbench;

/// The queue: a lane for each device, its runs in order of their turn. Another process runs it, so it goes on
/// when the console is closed.
class QueueDock : public QWidget {
    Q_OBJECT
public:
    explicit QueueDock(Workbench& bench, QWidget* parent = nullptr);

Q_SIGNALS:
    void counted(int open); ///< entries that wait or run

private:
    void take(const QueuePtr& queue);
    void enableButtons();
    void shift(int step);
    void shiftTo(qint64 id, qint64 toPlaceOf);
    const QueueEntry* entryOf(qint64 id) const;
    const QueueEntry* current() const;

    Workbench& bench_;
    QueuePtr queue_;
    QLabel* sentence_;
    QueueTree* tree_;
    QPushButton* pause_;
    QPushButton* up_;
    QPushButton* down_;
    QPushButton* next_;
    QPushButton* remove_;
    QPushButton* clear_;
};

} // namespace furrow
