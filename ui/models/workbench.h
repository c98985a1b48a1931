#pragma once

#include "ui/bridge/run_commands.h"
#include "ui/bridge/run_watcher.h"
#include "ui/bridge/workspace_commands.h"
#include "ui/bridge/workspace_scanner.h"
#include "ui/models/alerts.h"
#include "ui/models/auto_resume.h"
#include "ui/models/cell_store.h"
#include "ui/models/quarantine_draft.h"
#include "ui/models/replay.h"
#include "ui/models/run_form.h"
#include "ui/models/run_tables.h"
#include "ui/models/selection_model.h"

#include <QStringList>
#include <cstdint>
#include <set>
#include <tuple>

namespace furrow {

/// Everything the views of one console share: what is watched, what is selected, what is being typed. It outlives the
/// window, which is made anew when the language changes. Lives on the GUI thread.
class Workbench : public QObject {
    Q_OBJECT
public:
    explicit Workbench(const QString& workspace, QObject* parent = nullptr);

    const QString& workspace() const { return workspace_; }
    /// Begins to list runs; `extraRuns` are folders outside the workspace.
    void start(const QStringList& extraRuns);
    void openWorkspace(const QString& workspace);
    /// Shows a run everywhere; "": none.
    void showRun(const QString& folder);
    /// The window is minimised, or it is not: what feeds the views slows down with it.
    void setResting(bool resting);
    /// Lists a run folder outside the workspace and shows it.
    void addRun(const QString& folder);
    /// Lists a run folder outside the workspace no longer; the folder stays as it is.
    void dropRun(const QString& folder);
    bool isElsewhere(const QString& folder) const { return extraRuns_.contains(folder); }
    /// What was put into words before is put into those of the language of now. Before the window is made anew.
    void retranslate();
    /// Runs outside the workspace are listed by the next console too. Before start().
    void rememberRuns();

    RunWatcher& watcher() { return watcher_; }
    WorkspaceScanner& scanner() { return scanner_; }
    RunCommands& commands() { return commands_; }
    WorkspaceCommands& workspaceCommands() { return workspaceCommands_; }
    SelectionModel& selection() { return selection_; }
    RunForm& form() { return form_; }
    QuarantineDraft& quarantine() { return quarantine_; }
    CellStore& cells() { return cells_; }
    ClaimStore& claims() { return claims_; }
    Replay& replay() { return replay_; }
    Alerts& alerts() { return alerts_; }
    AutoResume& autoResume() { return autoResume_; }
    EventModel& events() { return events_; }
    LogModel& log() { return log_; }
    /// Processes that wrote log lines so far.
    const QStringList& logProcesses() const { return logProcesses_; }

Q_SIGNALS:
    void workspaceOpened(const QString& workspace);
    void logProcessesChanged();

private:
    void takeEvents(const EventsPtr& events);
    void takeHistory(const LedgerTables& tables);
    void nameWorkers(const TablesPtr& tables);
    void connectAlerts();
    void takeLog(const LogLinesPtr& lines);
    void listRuns();

    QString workspace_;
    QStringList extraRuns_;
    bool remembersRuns_ = false;
    WorkspaceScanner scanner_;
    RunWatcher watcher_;
    RunCommands commands_;
    WorkspaceCommands workspaceCommands_;
    SelectionModel selection_;
    RunForm form_;
    QuarantineDraft quarantine_;
    CellStore cells_;
    ClaimStore claims_;
    Replay replay_;
    Alerts alerts_;
    AutoResume autoResume_;
    EventModel events_;
    std::set<std::tuple<HistoryEntry::Kind, std::int64_t, std::int64_t>> history_; // in them: what, attempt, process
    bool unnamed_ = false; // some of them are of a process that is not known yet
    LogModel log_;
    QStringList logProcesses_;
};

} // namespace furrow
