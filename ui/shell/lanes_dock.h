#pragma once

#include "ui/widgets/lane_view.h"

#include <QWidget>
#include <vector>

class QComboBox;
class QStackedWidget;
class QTimer;

namespace furrow {

class EmptyState;
class Workbench;

/// What each worker did with its chunks, by their numbers: as it is known, or as it was at the moment that is replayed.
std::vector<Lane> shownLanes(Workbench& bench);

/// The lanes of the workers over the last minutes, made of the claim history.
class LanesDock : public QWidget {
    Q_OBJECT
public:
    explicit LanesDock(Workbench& bench, QWidget* parent = nullptr);

protected:
    void showEvent(QShowEvent* event) override;

private:
    void showNow();
    void rebuild();
    void follow();
    void takeMoment();

    Workbench& bench_;
    LaneView* lanes_;
    EmptyState* empty_;
    QStackedWidget* stack_;
    QComboBox* span_;
    QTimer* timer_;
    bool stale_ = true;
    double oldest_ = 0; // begin of what is known [s since 1970]
    double newest_ = 0; // end of what is known [s since 1970]
};

} // namespace furrow
