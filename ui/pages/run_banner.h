#pragma once

#include "ui/bridge/run_feed.h"

#include <QWidget>

class QPushButton;

namespace furrow {

class Banner;
enum class BannerKind;
class Workbench;

/// Above the pages when a run was interrupted, failed, cannot be read, waits for its data, or trains without the folder
/// of its checkpoints: cause, evidence, and the way out.
class RunBanner : public QWidget {
    Q_OBJECT
public:
    explicit RunBanner(Workbench& bench, QWidget* parent = nullptr);

Q_SIGNALS:
    void resumeWanted();
    void inspectWanted();
    void whyWanted();
    void markFinishedWanted();

private:
    void take(const StatusPtr& status);
    void say(BannerKind kind, const QString& title, const Message& what);
    void showPlan();
    void takeProblem();

    Workbench& bench_;
    Banner* banner_;
    QPushButton* cancel_ = nullptr; ///< of the resume that would come by itself
    std::vector<QPushButton*> buttons_;
    QString sentence_;
    QString kept_;
};

} // namespace furrow
