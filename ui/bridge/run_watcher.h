#pragma once

#include "ui/bridge/run_poller.h"

#include <QObject>
#include <memory>
#include <optional>
#include <vector>

namespace furrow {

/// Turns one run folder into queued signals carrying values: the only way data of a run reaches a page. A reading
/// thread ("run watcher") polls the folder; at most one update is on its way, so a busy interface slows the reading
/// down and nothing piles up. Lives on the GUI thread, which waits for no reading before the end: one of a run that was
/// left ends by itself, however long its disk or a lock holds it.
class RunWatcher : public QObject {
    Q_OBJECT
public:
    explicit RunWatcher(QObject* parent = nullptr);
    ~RunWatcher() override;

    /// Begins with another folder; an empty one watches nothing.
    void open(const QString& folder);
    const QString& folder() const { return folder_; }
    /// Nothing of the open run was told yet, neither good nor bad: its views say "Reading…" (UntilRead).
    bool isReading() const { return reading_; }
    /// Newest status of the open run; null: none yet.
    const StatusPtr& status() const { return status_; }
    const TablesPtr& tables() const { return tables_; }
    /// Why the folder cannot be read now; "": it can. What is known of the run is then of lastReadNs(). When it can be
    /// read again the run is opened anew, since another folder may stand in its place.
    const Message& problem() const { return problem_; }
    std::int64_t lastReadNs() const { return lastReadNs_; }
    /// Newest telemetry of the open run; null: none yet.
    const SnapshotPtr& telemetry() const { return telemetry_; }
    /// All of it that is on disk has been read: of a large run that takes some looks.
    bool isTelemetryWhole() const { return telemetryWhole_; }
    /// Held views get no cells, claims, events or log lines; the state of the run goes on being shown.
    void setHeld(bool held);
    bool isHeld() const { return held_; }
    /// Shows curves up to a past moment [ns since 1970]; absent: all. Hold the views first.
    void showMoment(std::optional<std::int64_t> wallNs);
    /// Whose map is read; absent: the newest epoch.
    void setEpoch(std::optional<std::int64_t> epoch);
    /// Nobody looks: reads and tells every two seconds only, which alerts and the title of the window need.
    void setResting(bool resting);
    /// Reads now instead of at the next beat.
    void refresh();

Q_SIGNALS:
    void opened(const QString& folder);
    /// After opened(), and after all signals of the first look have come.
    void readingChanged(bool reading);
    void statusRead(const furrow::StatusPtr& status);
    void problemChanged(const furrow::Message& problem);
    void tablesRead(const furrow::TablesPtr& tables);
    void cellsRead(const furrow::CellsPtr& cells);
    void claimsRead(const furrow::ClaimsPtr& claims);
    void eventsRead(const furrow::EventsPtr& events);
    void logRead(const furrow::LogLinesPtr& lines);
    void telemetryRead(const furrow::SnapshotPtr& snapshot);
    void heldChanged(bool held);
    /// Events a second over the last seconds and milliseconds of the newest look.
    void paceMeasured(double eventsPerSecond, double lagMs);

private:
    struct Reading;
    void readLoop(Reading& reading, const std::stop_token& stop, const QString& folder);
    void deliver(quint64 generation, const RunUpdate& update);
    bool takeProblem(const RunUpdate& update);
    void tell(const RunUpdate& update);
    void measurePace(const RunUpdate& update);
    void leaveReading();

    QString folder_;
    StatusPtr status_;
    TablesPtr tables_;
    SnapshotPtr telemetry_; // what is shown
    SnapshotPtr newest_; // what was read
    Message problem_;
    std::int64_t lastReadNs_ = 0; // wall; 0: never
    std::int64_t failingSinceNs_ = 0; // monotonic; 0: the last look was good
    bool held_ = false;
    bool reading_ = false;
    bool resting_ = false;
    bool telemetryWhole_ = false;
    double eventsInWindow_ = 0;
    std::int64_t windowBeginNs_ = 0;
    std::int64_t linesRead_ = 0; ///< of telemetry

    quint64 generations_ = 0;
    std::unique_ptr<Reading> now_; // of the open folder; null: there is none
    std::vector<std::unique_ptr<Reading>> left_; // of folders before, until their threads are at an end
};

} // namespace furrow
