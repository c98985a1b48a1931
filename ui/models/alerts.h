#pragma once

#include "core/run/status/run_history.h"
#include "core/tracker/audit/audit.h"
#include "ui/bridge/run_feed.h"

#include <QObject>
#include <QStringList>
#include <functional>
#include <optional>
#include <set>

namespace furrow {

enum class AlertKind {
    Finished,
    Interrupted,
    Failed,
    NotANumber,
    Spike,
    Stalled,
    OutOfMemory,
    RepeatedData,
    LossTooGood,
    Duplicate,
    DiskSpace,
    WorkerDied,
    CheckpointsAway,
    DataAway,
    LeftOut,
    CheckpointsStay
};

/// Something that a person should know at once. `key` says what it is about: the same thing is not told twice.
struct Alert {
    AlertKind kind = AlertKind::Finished;
    QString key;
    QString text; ///< one sentence, in the language in which it was told
    std::int64_t wallNs = 0;
    int worker = -1;
    ChunkId chunk;
    bool isRecorded = false; ///< with the time that the run recorded; else somebody looked and found it so
    std::function<QString()> inWords {}; ///< `text` in the language of now; null: it is of none
};

/// What the rules look at; numbers beyond which they speak.
struct AlertRules {
    std::set<AlertKind> off; ///< rules that are not wanted
    double stallSeconds = 300; ///< a living worker without progress
    double freeGiB = 5; ///< on the disk of the run
    double lossTooGood = 0.05; ///< nats per token: data that the model has seen, or an error in the loss
    double repeatedShare = 0.2; ///< of the rows of the epoch that are left out as repeats
};

/// What of the history of a run is an alert; nothing: a person wished it, or it is no trouble.
std::optional<Alert> alertOf(const HistoryEntry& entry);

/// What the run recorded of itself that is an alert; nothing: the event is none.
std::optional<Alert> alertOf(const EventRow& event);

QString alertWord(AlertKind kind); ///< "Loss is not a number"

/// Finds alerts in what is read of a run. Each is told once for a run; opening another run begins anew. What happened
/// comes from what the run recorded, with the time of that: the list is the same whoever looks and whenever. What is so
/// now is looked for too, by the rules of the person and of runs that nobody records; it gives way to what the run
/// recorded of it. What had happened before the run was opened is not `raised`. Lives on the GUI thread.
class Alerts : public QObject {
    Q_OBJECT
public:
    explicit Alerts(QObject* parent = nullptr);

    const AlertRules& rules() const { return rules_; }
    void setRules(const AlertRules& rules) { rules_ = rules; }
    void open(const QString& folder);
    /// @param name  what the library calls the run; "": its own
    void takeStatus(const RunStatus& status, const QString& name = {});
    void takeHistory(const std::vector<HistoryEntry>& history); ///< all of the run
    void takeEvents(const std::vector<EventRow>& events); ///< new ones of the ledger
    void takeTelemetry(const TelemetrySnapshot& snapshot);
    void takeAudit(const AuditReport& report);
    void retranslate(); ///< another language is spoken from now on
    const std::vector<Alert>& all() const { return all_; }

Q_SIGNALS:
    void raised(const furrow::Alert& alert); ///< a person should be told
    void known(const furrow::Alert& alert); ///< those, and what had happened before somebody looked
    void withdrawn(const furrow::Alert& alert); ///< the run has recorded it, with another time

private:
    bool keep(Alert alert);
    void raise(const Alert& alert, bool wasSoBefore = false); ///< before somebody looked: nobody is told
    void takeState(const RunStatus& status, const QString& name);
    void lookForGoodLosses(const TelemetrySnapshot& snapshot, bool isFirst);
    void lookAtWorkers(const RunStatus& status);
    void lookAtDisk();
    void takeRecorded(Alert alert, bool stands);
    void lookAtData(const RunStatus& status, bool isFirst);

    AlertRules rules_;
    QString folder_;
    std::vector<Alert> all_; ///< in the order of their time
    std::set<QString> told_;
    std::optional<RunState> stateBefore_;
    bool historySeen_ = false; ///< what had happened before the run was opened
    bool telemetrySeen_ = false;
    std::int64_t diskLookedNs_ = 0;
    std::size_t eventsSeen_ = 0;
};

} // namespace furrow

Q_DECLARE_METATYPE(furrow::Alert)
