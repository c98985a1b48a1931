#pragma once

#include "core/workspace/workspace_file.h"

#include <QMetaType>
#include <QObject>
#include <QString>
#include <QThreadPool>
#include <functional>

namespace furrow {

/// Writes what a person says about runs, and the queue, away from the GUI thread and one after the other. Each ends in
/// changed() or failed(). Lives on the GUI thread.
class WorkspaceCommands : public QObject {
    Q_OBJECT
public:
    explicit WorkspaceCommands(QObject* parent = nullptr);
    ~WorkspaceCommands() override;
    void setWorkspace(const QString& workspace) { workspace_ = workspace; }

    void setNotes(const QString& run, const RunNotes& notes);
    void moveToTrash(const QString& run);
    void restore(const QString& trashed);

    /// Puts a run at the end of the queue and makes sure that the queue is run.
    void enqueue(const QString& run);
    void removeEntry(qint64 id);
    void moveEntry(qint64 id, qint64 position);
    void letNextRun(qint64 id);
    void setQueuePaused(bool paused);
    void removeEnded();

Q_SIGNALS:
    void changed();
    void failed(const furrow::Message& message);

private:
    using Job = std::function<Status(const std::filesystem::path& workspace)>;
    void run(Job job);
    void change(std::function<Status(WorkspaceFile&)> job);

    QString workspace_;
    QThreadPool pool_; // one thread: the orders keep their order
};

} // namespace furrow
