#pragma once

#include "ui/bridge/run_feed.h"

#include <QWidget>
#include <functional>
#include <vector>

class QScrollArea;
class QStackedWidget;
class QTabBar;
class QVBoxLayout;

namespace furrow {

class RunBanner;
class Workbench;

/// The centre of the window: banner, tabs and the pages of the run. A page is made when it is first shown.
class RunView : public QWidget {
    Q_OBJECT
public:
    enum Page { Overview, Charts, Coverage, Workers, Config, Log, Data, Sampling, Chat, kPageCount };
    explicit RunView(Workbench& bench, QWidget* parent = nullptr);

    void showPage(int page);
    int currentPage() const;
    /// Null while it was never shown.
    QWidget* page(int page) const;

Q_SIGNALS:
    void pageShown(int page);
    void resumeWanted();
    void whyWanted();
    void markFinishedWanted();
    void cloneWanted();
    void logLossChanged(bool on);
    void densityChanged(const QString& text); ///< of the charts, for the status bar
    void newRunFromWanted(const QString& checkpointPath);

private:
    QWidget* make(int page);

    Workbench& bench_;
    QTabBar* tabs_;
    QStackedWidget* stack_;
    std::vector<QScrollArea*> rooms_; ///< of the pages; a page larger than its room is scrolled
};

} // namespace furrow
