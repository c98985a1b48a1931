#include "ui/models/alerts.h"

#include "core/run/folder/run_paths.h"
#include "core/base/memory_death.h"
#include "core/run/status/feeder_words.h"
#include "core/base/clock.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/run/status/disk_room_left.h"
#include "core/run/status/recorded_trouble.h"
#include "core/tracker/run_event_texts.h"
#include "ui/models/core_words.h"
#include "ui/models/words.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace furrow {

namespace {

constexpr std::int64_t kDiskEveryNs = 10'000'000'000;
const auto kAwayKey = QStringLiteral("away");
const auto kStayKey = QStringLiteral("stay");
constexpr std::int64_t kDataPatienceNs = 10'000'000'000; // a hub that answers the second time is no news

bool isAsleep(RunState state)
{
    return state == RunState::New || state == RunState::Finished || state == RunState::Paused
        || state == RunState::Stopped || state == RunState::Interrupted || state == RunState::Failed;
}

/// What an attempt that ended so is told as.
struct End {
    AlertKind kind;
    QString key;
};

std::optional<End> endOf(RunState state, std::int64_t attempt)
{
    const QString which = QString::number(attempt);
    switch (state) {
    case RunState::Finished: return End { AlertKind::Finished, QStringLiteral("finished ") + which };
    case RunState::Interrupted: return End { AlertKind::Interrupted, QStringLiteral("interrupted ") + which };
    case RunState::Failed: return End { AlertKind::Failed, QStringLiteral("failed ") + which };
    default: return std::nullopt;
    }
}

/// One that can be said again in another language.
/// @param inWords  called now and whenever the language changes: it keeps values
Alert alertSaying(AlertKind kind, const QString& key, std::function<QString()> inWords, std::int64_t wallNs,
    int worker = -1, ChunkId chunk = {})
{
    const QString text = inWords();
    return { kind, key, text, wallNs, worker, chunk, false, std::move(inWords) };
}

std::function<QString()> wordsOf(const Message& message)
{
    return [message] { return coreWords(message); };
}

QString endOfRun(RunState state, StopReason reason, const Message& detail, const QString& name)
{
    if (state == RunState::Finished)
        return QCoreApplication::translate("Alerts", "%1 has finished: %2.").arg(name, stopReasonSentence(reason));
    if (state == RunState::Failed)
        return QCoreApplication::translate("Alerts", "%1 has failed: %2").arg(name, coreWords(detail));
    return QCoreApplication::translate("Alerts", "%1 was interrupted. Resume shows what would be trained again.")
        .arg(name);
}

Alert deathOf(const HistoryEntry& entry)
{
    const bool isMemory = isForMemory(entry.cause);
    const auto ofMemory = [worker = entry.worker, cause = entry.cause] {
        return QCoreApplication::translate("Alerts", "%1 ended: %2. A smaller batch needs less memory.")
            .arg(workerName(worker), coreWords(cause));
    };
    return alertSaying(isMemory ? AlertKind::OutOfMemory : AlertKind::WorkerDied,
        QStringLiteral("died %1").arg(entry.incarnation.value),
        isMemory && entry.worker >= 0 ? std::function<QString()>(ofMemory) : wordsOf(entry.text), entry.wallNs,
        entry.worker);
}

Alert waitOf(const DataOutage& wait)
{
    const auto inWords = [why = wait.why] {
        return QCoreApplication::translate("Alerts", "The run waits for its data: %1").arg(coreWords(why));
    };
    return alertSaying(
        AlertKind::DataAway, QStringLiteral("data away %1").arg(wait.sinceWallNs), inWords, wait.sinceWallNs);
}

const auto kDiskKey = QStringLiteral("disk");
QString stallKey(int worker) { return QStringLiteral("stalled %1").arg(worker); }

Alert alertOf(const RecordedTrouble& trouble)
{
    Alert alert = alertSaying(AlertKind::DataAway, {}, wordsOf(trouble.text), trouble.sinceWallNs, trouble.worker);
    switch (trouble.kind) {
    case RecordedTrouble::Kind::DataAway: alert = waitOf(recordedWait(trouble.text).value_or(DataOutage {})); break;
    case RecordedTrouble::Kind::NoProgress:
        alert.kind = AlertKind::Stalled;
        alert.key = stallKey(trouble.worker);
        break;
    case RecordedTrouble::Kind::DiskNearlyFull:
        alert.kind = AlertKind::DiskSpace;
        alert.key = kDiskKey;
        break;
    case RecordedTrouble::Kind::CheckpointsAway:
        alert.kind = AlertKind::CheckpointsAway;
        alert.key = kAwayKey;
        break;
    case RecordedTrouble::Kind::CheckpointsStay:
        alert.kind = AlertKind::CheckpointsStay;
        alert.key = kStayKey;
        break;
    }
    alert.isRecorded = true;
    return alert;
}

std::optional<Alert> alertOf(const EventPoint& event)
{
    const auto wallNs = static_cast<std::int64_t>(event.wall * 1e9);
    const QString key = QStringLiteral("%1 %2 %3").arg(event.worker).arg(event.attempt).arg(event.record.step);
    const auto saying = [worker = event.worker, text = event.record.text](const char* words) {
        return [worker, text, words] {
            return QCoreApplication::translate("Alerts", words).arg(workerName(worker), coreWords(text));
        };
    };
    const ChunkId chunk { event.record.chunk };
    switch (event.record.kind) {
    case EventRecord::Kind::Spike:
        return alertSaying(AlertKind::Spike, QStringLiteral("spike ") + key,
            saying(QT_TRANSLATE_NOOP("Alerts", "Loss spike on %1: %2")), wallNs, event.worker, chunk);
    case EventRecord::Kind::Nan:
        return alertSaying(AlertKind::NotANumber, QStringLiteral("nan ") + key,
            saying(QT_TRANSLATE_NOOP("Alerts", "Not a number on %1: %2")), wallNs, event.worker, chunk);
    case EventRecord::Kind::Rollback:
        return alertSaying(AlertKind::NotANumber, QStringLiteral("rollback ") + key,
            saying(QT_TRANSLATE_NOOP("Alerts", "%1 went back to its last checkpoint: %2")), wallNs, event.worker);
    default: return std::nullopt;
    }
}

} // namespace

std::optional<Alert> alertOf(const EventRow& event)
{
    const auto trouble = recordedTrouble(event);
    return trouble ? std::optional(alertOf(*trouble)) : std::nullopt;
}

std::optional<Alert> alertOf(const HistoryEntry& entry)
{
    if (entry.kind == HistoryEntry::Kind::WorkerDied)
        return deathOf(entry);
    const auto end = entry.kind == HistoryEntry::Kind::AttemptEnded
        ? endOf(stateAfter(entry.reason), entry.attempt.value)
        : std::nullopt;
    if (!end)
        return std::nullopt;
    return alertSaying(end->kind, end->key, wordsOf(entry.text), entry.wallNs);
}

QString alertWord(AlertKind kind)
{
    switch (kind) {
    case AlertKind::Finished: return QCoreApplication::translate("Alerts", "Run finished");
    case AlertKind::Interrupted: return QCoreApplication::translate("Alerts", "Run interrupted");
    case AlertKind::Failed: return QCoreApplication::translate("Alerts", "Run failed");
    case AlertKind::NotANumber: return QCoreApplication::translate("Alerts", "Loss is not a number");
    case AlertKind::Spike: return QCoreApplication::translate("Alerts", "Loss spike");
    case AlertKind::Stalled: return QCoreApplication::translate("Alerts", "Worker makes no progress");
    case AlertKind::OutOfMemory: return QCoreApplication::translate("Alerts", "Out of memory");
    case AlertKind::RepeatedData: return QCoreApplication::translate("Alerts", "Data repeats itself");
    case AlertKind::LossTooGood: return QCoreApplication::translate("Alerts", "Loss too good to be true");
    case AlertKind::Duplicate: return QCoreApplication::translate("Alerts", "Chunk trained twice or missing");
    case AlertKind::DiskSpace: return QCoreApplication::translate("Alerts", "Disk nearly full");
    case AlertKind::WorkerDied: return QCoreApplication::translate("Alerts", "Worker died");
    case AlertKind::CheckpointsAway: return QCoreApplication::translate("Alerts", "Checkpoints cannot be found");
    case AlertKind::CheckpointsStay: return QCoreApplication::translate("Alerts", "Checkpoints cannot be removed");
    case AlertKind::DataAway: return QCoreApplication::translate("Alerts", "Run waits for its data");
    case AlertKind::LeftOut: return QCoreApplication::translate("Alerts", "Files of the data left out");
    }
    return {};
}

Alerts::Alerts(QObject* parent)
    : QObject(parent)
{
    qRegisterMetaType<Alert>();
}

void Alerts::open(const QString& folder)
{
    folder_ = folder;
    all_.clear();
    told_.clear();
    stateBefore_.reset();
    historySeen_ = false;
    telemetrySeen_ = false;
    diskLookedNs_ = 0;
    eventsSeen_ = 0;
}

void Alerts::retranslate()
{
    for (Alert& alert : all_)
        if (alert.inWords)
            alert.text = alert.inWords();
}

/// False when it is not wanted or was told already.
bool Alerts::keep(Alert alert)
{
    if (alert.wallNs == 0) // so now; nothing says since when
        alert.wallNs = systemClock().wallNs();
    if (rules_.off.contains(alert.kind) || !told_.insert(alert.key).second)
        return false;
    const auto after = std::upper_bound(
        all_.begin(), all_.end(), alert, [](const Alert& a, const Alert& b) { return a.wallNs < b.wallNs; });
    all_.insert(after, alert);
    Q_EMIT known(alert);
    return true;
}

void Alerts::raise(const Alert& alert, bool wasSoBefore)
{
    if (keep(alert) && !wasSoBefore)
        Q_EMIT raised(alert);
}

void Alerts::takeStatus(const RunStatus& status, const QString& name)
{
    const RunState state = status.state;
    const bool isFirst = !stateBefore_;
    takeState(status, name.isEmpty() ? QString::fromStdString(status.file.config.name) : name);
    if (const auto shown = shownEpochs(status)) {
        const RowCounts& rows = shown->together.rowsKnown;
        const double share = rows.rows > 0 ? static_cast<double>(rows.duplicates) / static_cast<double>(rows.rows) : 0;
        if (share > rules_.repeatedShare)
            raise(alertSaying(
                      AlertKind::RepeatedData, QStringLiteral("repeated"),
                      [share] {
                          return QCoreApplication::translate(
                              "Alerts", "%1 of the rows repeat a row before them and are left out.")
                              .arg(percentText(share));
                      },
                      status.epochs.front().openedWallNs), // that of the data is so from the start
                isFirst);
    }
    if (status.checkpointsAway.empty())
        told_.erase(kAwayKey); // one that goes again is told again
    else
        raise(alertSaying(AlertKind::CheckpointsAway, kAwayKey, wordsOf(status.checkpointsAway), 0));
    if (status.notRemoved.empty())
        told_.erase(kStayKey);
    else
        raise(alertSaying(AlertKind::CheckpointsStay, kStayKey, wordsOf(status.notRemoved), 0));
    lookAtData(status, isFirst);
    if (isAsleep(state))
        return;
    lookAtWorkers(status);
    lookAtDisk();
}

/// The list says of an end what takeHistory() would; who is told at once, what the run is called and what comes next.
void Alerts::takeState(const RunStatus& status, const QString& name)
{
    const bool changed = stateBefore_ && *stateBefore_ != status.state;
    stateBefore_ = status.state;
    const auto end = endOf(status.state, status.attempt);
    if (!end)
        return;
    const auto ofRun = [state = status.state, reason = status.stopReason, detail = status.stopDetail, name] {
        return endOfRun(state, reason, detail, name);
    };
    const Alert told = alertSaying(end->kind, end->key, ofRun, status.endedWallNs);
    const StopReason reason = status.state == RunState::Interrupted ? StopReason::Interrupted : status.stopReason;
    const auto ofAttempt = wordsOf(endOfAttempt(AttemptId { status.attempt }, reason, status.stopDetail));
    const Alert listed = status.markedByHand // no attempt ended so
        ? told
        : alertSaying(end->kind, end->key, ofAttempt, status.endedWallNs);
    if (keep(listed) && changed)
        Q_EMIT raised(told);
}

void Alerts::lookAtData(const RunStatus& status, bool isFirst)
{
    const auto& wait = status.dataWait;
    if (wait && !wait->trainsOn && systemClock().wallNs() - wait->sinceWallNs > kDataPatienceNs)
        raise(waitOf(*wait));
    for (const LeftOutPart& part : status.leftOut)
        raise(alertSaying(AlertKind::LeftOut, QStringLiteral("left out ") + QString::fromStdString(part.what.text()),
                  wordsOf(part.what), part.wallNs),
            isFirst);
}

void Alerts::takeHistory(const std::vector<HistoryEntry>& history)
{
    for (const HistoryEntry& entry : history) {
        if (const auto alert = alertOf(entry))
            raise(*alert, !historySeen_);
    }
    historySeen_ = true;
}

/// Nobody is told: who looked was told at once, and now it is known afterwards.
void Alerts::takeEvents(const std::vector<EventRow>& events)
{
    std::set<std::pair<RecordedTrouble::Kind, std::int32_t>> over; // with an event behind the one that is looked at
    for (auto event = events.rbegin(); event != events.rend(); ++event) {
        if (const auto end = recordedEnd(*event))
            over.emplace(end->kind, end->worker);
        const auto trouble = recordedTrouble(*event);
        if (trouble && !rules_.off.contains(alertOf(*trouble).kind))
            takeRecorded(alertOf(*trouble), over.erase(std::pair(trouble->kind, trouble->worker)) == 0);
    }
    for (const auto& [kind, worker] : over) // it began before these events
        told_.erase(alertOf(RecordedTrouble { kind, 0, worker, {} }).key);
}

/// Each event comes once. What was found by looking before the event came is withdrawn.
/// @param stands  it is not over
void Alerts::takeRecorded(Alert alert, bool stands)
{
    if (!stands) // what is found by looking has nothing to do with it
        alert.key += QLatin1Char(' ') + QString::number(alert.wallNs);
    const auto found
        = std::find_if(all_.rbegin(), all_.rend(), [&alert](const Alert& one) { return one.key == alert.key; });
    if (told_.erase(alert.key) != 0 && found != all_.rend() && !found->isRecorded) {
        const Alert looked = *found;
        all_.erase(std::next(found).base());
        Q_EMIT withdrawn(looked);
    }
    (void)keep(std::move(alert));
}

void Alerts::lookAtWorkers(const RunStatus& status)
{
    for (const WorkerStatus& worker : status.workers) {
        if (!worker.alive || worker.secondsSinceProgress <= rules_.stallSeconds) {
            told_.erase(stallKey(worker.worker)); // the next time is told again
            continue;
        }
        const std::int64_t since = nowOfRun(status) - static_cast<std::int64_t>(worker.secondsSinceProgress * 1e9);
        if (status.state == RunState::Running && !status.dataWait)
            raise(alertSaying(AlertKind::Stalled, stallKey(worker.worker),
                wordsOf(sentence(kNoProgressSince, { std::to_string(worker.worker), WallTime(since) })), since,
                worker.worker));
    }
}

void Alerts::lookAtDisk()
{
    const std::int64_t now = systemClock().monotonicNs();
    if (diskLookedNs_ != 0 && now - diskLookedNs_ < kDiskEveryNs)
        return;
    diskLookedNs_ = now;
    const auto free = diskRoomLeft(RunPaths(pathFromUtf8(folder_.toStdString())));
    if (free && static_cast<double>(*free) < rules_.freeGiB * (1 << 30))
        raise(alertSaying(AlertKind::DiskSpace, kDiskKey, wordsOf(sentence(kDiskNearlyFull, { Bytes(*free) })), 0));
    else
        told_.erase(kDiskKey);
}

void Alerts::lookForGoodLosses(const TelemetrySnapshot& snapshot, bool isFirst)
{
    constexpr std::int64_t kFirstSteps = 100;
    for (const Stretch& stretch : snapshot.stretches) { // by start time
        const QString key = QStringLiteral("good %1").arg(stretch.worker);
        const auto& loss = stretch.loss;
        if (stretch.rank > 0 || told_.contains(key) || rules_.off.contains(AlertKind::LossTooGood)
            || !(loss.pyramid.range(loss.values, 0, stretch.size()).min < rules_.lossTooGood))
            continue;
        std::size_t at = 0;
        while (at < stretch.size()
            && !(stretch.firstStep + stretch.step[at] > kFirstSteps && loss.values[at] < rules_.lossTooGood))
            ++at;
        if (at < stretch.size())
            raise(alertSaying(
                      AlertKind::LossTooGood, key,
                      [worker = stretch.worker, value = static_cast<double>(loss.values[at])] {
                          return QCoreApplication::translate("Alerts",
                              "The loss of %1 is %2: the model knows this data by heart, or the data is trivial.")
                              .arg(workerName(worker), fixedText(value, 3));
                      },
                      static_cast<std::int64_t>(stretch.wallAt(at) * 1e9), stretch.worker),
                isFirst);
    }
}

void Alerts::takeTelemetry(const TelemetrySnapshot& snapshot)
{
    const bool isFirst = !telemetrySeen_; // a large one comes in pieces
    telemetrySeen_ = telemetrySeen_ || snapshot.complete;
    lookForGoodLosses(snapshot, isFirst);
    if (!snapshot.events || snapshot.events->size() < eventsSeen_)
        return;
    std::vector<EventPoint> news(
        snapshot.events->begin() + static_cast<std::ptrdiff_t>(eventsSeen_), snapshot.events->end());
    eventsSeen_ = snapshot.events->size();
    std::stable_sort(news.begin(), news.end(),
        [](const EventPoint& a, const EventPoint& b) { return a.wall < b.wall; }); // they come worker by worker
    for (const EventPoint& event : news)
        if (const auto alert = alertOf(event))
            raise(*alert, isFirst);
}

void Alerts::takeAudit(const AuditReport& report)
{
    for (const AuditFinding& finding : report.findings) {
        if (finding.kind == FindingKind::Duplicated || finding.kind == FindingKind::Missing
            || finding.kind == FindingKind::OverlappingClaims)
            raise(alertSaying(AlertKind::Duplicate,
                QStringLiteral("audit %1 %2")
                    .arg(QString::fromStdString(toString(finding.kind)))
                    .arg(finding.chunk.value),
                wordsOf(finding.text), 0, -1, finding.chunk));
    }
}

} // namespace furrow
