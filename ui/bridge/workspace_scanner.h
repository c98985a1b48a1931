#pragma once

#include "ui/bridge/run_feed.h"

#include <QObject>
#include <QStringList>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>

namespace furrow {

/// Keeps the list of runs of a workspace, with their derived states, up to date. A reading thread ("workspace scanner")
/// looks once a second; a run is read again only when its tracker changed or processes may have died. Lives on the GUI
/// thread.
class WorkspaceScanner : public QObject {
    Q_OBJECT
public:
    explicit WorkspaceScanner(QObject* parent = nullptr);
    ~WorkspaceScanner() override;

    /// @param extraRuns  run folders outside the workspace that are listed too
    void open(const QString& workspace, const QStringList& extraRuns);
    const QString& workspace() const { return workspace_; }
    const RunLinesPtr& lines() const { return lines_; }
    /// Never null.
    const QueuePtr& queue() const { return queue_; }
    /// Nobody looks: scans a tenth as often.
    void setResting(bool resting);
    /// Looks now.
    void refresh();

Q_SIGNALS:
    /// Newest run first. Sent when something changed, and once after each open().
    void scanned(const furrow::RunLinesPtr& lines);
    void queueRead(const furrow::QueuePtr& queue); ///< when it changed

private:
    void stopScanning();
    void scanLoop(const std::stop_token& stop, const std::filesystem::path& workspace,
        const std::vector<std::filesystem::path>& extra);
    void publish(const std::shared_ptr<const RunLines>& lines);
    void publishQueue(const QueuePtr& queue);

    QString workspace_;
    RunLinesPtr lines_;
    QueuePtr queue_;
    quint64 generation_ = 0;
    std::mutex mutex_;
    std::condition_variable_any wake_;
    bool refreshWanted_ = false; // guarded by mutex_
    bool resting_ = false; // guarded by mutex_
    std::jthread scanner_;
};

/// Reads one line of the library. `sparkline` false leaves the losses out.
RunLine readRunLine(const std::filesystem::path& folder, bool sparkline);

} // namespace furrow
