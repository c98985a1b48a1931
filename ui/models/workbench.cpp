#include "ui/models/workbench.h"

#include "core/run/status/data_wait.h"
#include "core/tracker/run_event_texts.h"
#include "ui/models/core_words.h"
#include "ui/models/shown_name.h"
#include "ui/models/words.h"

#include <QSettings>
#include <algorithm>
#include <utility>

namespace furrow {

namespace {

constexpr int kMostEvents = 100'000;
constexpr int kMostLogLines = 50'000;

QString runsElsewhereKey() { return QStringLiteral("runs_elsewhere"); }

} // namespace

Workbench::Workbench(const QString& workspace, QObject* parent)
    : QObject(parent)
    , workspace_(workspace)
    , cells_(watcher_)
    , claims_(watcher_)
    , replay_(watcher_, cells_, claims_)
    , autoResume_(commands_)
    , events_(eventColumns())
    , log_(logColumns())
{
    workspaceCommands_.setWorkspace(workspace_);
    quarantine_.setWorkspace(workspace_);
    connect(&workspaceCommands_, &WorkspaceCommands::changed, &scanner_, &WorkspaceScanner::refresh);
    connect(&watcher_, &RunWatcher::eventsRead, this, &Workbench::takeEvents);
    connect(&watcher_, &RunWatcher::tablesRead, this, &Workbench::nameWorkers);
    connect(&watcher_, &RunWatcher::logRead, this, &Workbench::takeLog);
    connect(&watcher_, &RunWatcher::opened, this, [this] {
        events_.reset({});
        history_.clear();
        log_.reset({});
        logProcesses_.clear();
        Q_EMIT logProcessesChanged();
    });
    connectAlerts();
    connect(&scanner_, &WorkspaceScanner::scanned, this,
        [this](const RunLinesPtr& lines) { autoResume_.takeLines(*lines); });
    connect(&selection_, &SelectionModel::runChanged, &watcher_, &RunWatcher::open);
    connect(&commands_, &RunCommands::done, this, [this](RunVerb, const QString& folder) {
        scanner_.refresh();
        if (folder == watcher_.folder())
            watcher_.refresh();
    });
}

void Workbench::connectAlerts()
{
    connect(&watcher_, &RunWatcher::opened, &alerts_, &Alerts::open);
    connect(&watcher_, &RunWatcher::statusRead, this,
        [this](const StatusPtr& status) { alerts_.takeStatus(*status, shownName(*this)); });
    connect(&watcher_, &RunWatcher::tablesRead, this, [this](const TablesPtr& tables) { takeHistory(*tables); });
    connect(&watcher_, &RunWatcher::eventsRead, this, [this](const EventsPtr& events) { alerts_.takeEvents(*events); });
    connect(&watcher_, &RunWatcher::telemetryRead, this,
        [this](const SnapshotPtr& snapshot) { alerts_.takeTelemetry(*snapshot); });
    connect(&alerts_, &Alerts::known, this, [this](const Alert& alert) {
        if (alert.kind == AlertKind::LeftOut) // its event says it
            return;
        EventLine line;
        line.wallNs = alert.wallNs;
        line.isAlert = alert.kind != AlertKind::Finished;
        line.weight = alert.kind == AlertKind::Finished ? EventWeight::Notice : EventWeight::Warning;
        line.chunk = alert.chunk;
        line.worker = alert.worker;
        line.text = alert.text;
        line.inWords = alert.inWords;
        putIntoWords(line);
        events_.append({ line });
    });
    connect(&alerts_, &Alerts::withdrawn, this, [this](const Alert& alert) {
        std::vector<EventLine> lines = events_.rows();
        std::erase_if(lines, [&alert](const EventLine& line) {
            return line.isAlert && line.wallNs == alert.wallNs && line.text == alert.text;
        });
        events_.reset(std::move(lines));
    });
}

void Workbench::start(const QStringList& extraRuns)
{
    extraRuns_ += extraRuns;
    extraRuns_.removeDuplicates();
    scanner_.open(workspace_, extraRuns_);
}

void Workbench::rememberRuns()
{
    remembersRuns_ = true;
    extraRuns_ = QSettings().value(runsElsewhereKey()).toStringList();
}

void Workbench::listRuns()
{
    if (remembersRuns_)
        QSettings().setValue(runsElsewhereKey(), extraRuns_);
    scanner_.open(workspace_, extraRuns_);
}

void Workbench::openWorkspace(const QString& workspace)
{
    workspace_ = workspace;
    workspaceCommands_.setWorkspace(workspace_);
    quarantine_.setWorkspace(workspace_);
    showRun({});
    scanner_.open(workspace_, extraRuns_);
    Q_EMIT workspaceOpened(workspace_);
}

void Workbench::showRun(const QString& folder) { selection_.setRun(folder); }

void Workbench::retranslate()
{
    alerts_.retranslate();
    std::vector<EventLine> lines = events_.rows();
    for (EventLine& line : lines)
        putIntoWords(line);
    events_.reset(std::move(lines));
}

void Workbench::setResting(bool resting)
{
    watcher_.setResting(resting);
    scanner_.setResting(resting);
}

void Workbench::addRun(const QString& folder)
{
    if (!extraRuns_.contains(folder))
        extraRuns_.append(folder);
    listRuns();
    showRun(folder);
}

void Workbench::dropRun(const QString& folder)
{
    if (folder == watcher_.folder())
        showRun({});
    if (extraRuns_.removeOne(folder))
        listRuns();
}

void Workbench::takeEvents(const EventsPtr& events)
{
    std::vector<EventLine> lines;
    lines.reserve(events->size());
    const auto& off = alerts_.rules().off;
    for (const EventRow& event : *events) {
        if (const auto alert = alertOf(event); alert && !off.contains(alert->kind)) // it comes by alerts_
            continue;
        lines.push_back(eventLine(event, watcher_.tables().get()));
        if (event.chunk.value == 0 && event.cause.text().starts_with(kLeftOutEvent)) {
            lines.back().isAlert = true;
            lines.back().weight = EventWeight::Warning;
        }
    }
    events_.append(lines);
    events_.keepLast(kMostEvents);
    unnamed_ = unnamed_ || std::any_of(lines.begin(), lines.end(), [](const EventLine& line) {
        return line.incarnation != 0 && line.worker < 0;
    });
}

/// What is an alert comes by alerts_.
void Workbench::takeHistory(const LedgerTables& tables)
{
    const auto history = historyOf(tables.attempts, tables.incarnations);
    alerts_.takeHistory(history);
    std::vector<EventLine> lines;
    for (const HistoryEntry& entry : history) {
        if (alertOf(entry) || !history_.insert({ entry.kind, entry.attempt.value, entry.incarnation.value }).second)
            continue;
        EventLine line;
        line.wallNs = entry.wallNs;
        line.weight = EventWeight::Notice;
        line.worker = entry.worker;
        line.inWords = [text = entry.text] { return coreWords(text); };
        putIntoWords(line);
        lines.push_back(std::move(line));
    }
    events_.append(lines);
}

/// The processes are read less often than the events: the first deeds of a new one come before its name.
void Workbench::nameWorkers(const TablesPtr& tables)
{
    if (!std::exchange(unnamed_, false))
        return;
    for (int row = 0; row < events_.rowCount(); ++row) {
        EventLine line = events_.rows()[static_cast<std::size_t>(row)];
        if (line.incarnation == 0 || line.worker >= 0)
            continue;
        line.worker = workerOf(line.incarnation, tables.get());
        if (line.worker >= 0)
            events_.change(row, std::move(line));
    }
}

void Workbench::takeLog(const LogLinesPtr& lines)
{
    const auto before = logProcesses_.size();
    for (const LogLine& line : *lines) {
        if (!logProcesses_.contains(line.process))
            logProcesses_.append(line.process);
    }
    log_.append(*lines);
    log_.keepLast(kMostLogLines);
    if (logProcesses_.size() != before) {
        logProcesses_.sort();
        Q_EMIT logProcessesChanged();
    }
}

} // namespace furrow
