#pragma once

#include "ui/bridge/run_feed.h"

#include <QWidget>

class QLabel;
class QPushButton;
class QTreeWidget;

namespace furrow {

class Workbench;

/// The queue: a lane for each set of devices, entries in order of their turn. Another process runs it, so it goes on
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
    qint64 currentId() const; ///< 0: none
    const QueueEntry* current() const;

    Workbench& bench_;
    QueuePtr queue_;
    QLabel* sentence_;
    QTreeWidget* tree_;
    QPushButton* pause_;
    QPushButton* up_;
    QPushButton* down_;
    QPushButton* next_;
    QPushButton* remove_;
};

} // namespace furrow
