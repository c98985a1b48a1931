#include "ui/bridge/workspace_commands.h"

#include "core/base/path.h"
#include "core/run/start/life_cycle.h"
#include "core/workspace/queue_runner.h"
#include "core/workspace/trash.h"

namespace furrow {

namespace {

std::filesystem::path pathOf(const QString& text) { return pathFromUtf8(text.toStdString()); }

Status enqueueRun(const std::filesystem::path& workspace, const std::filesystem::path& run)
{
    FURROW_TRY(checkQueueCanRun(workspace));
    FURROW_TRY(checkQueueCanStart(workspace, run));
    FURROW_TRY_ASSIGN(auto config, currentConfig(RunPaths(run)));
    FURROW_TRY_ASSIGN(auto file, WorkspaceFile::open(workspace));
    FURROW_TRY(settleQueue(file));
    FURROW_TRY(file.enqueue(utf8Text(run), config.name, laneOf(config.devices)));
    return startQueue(workspace);
}

} // namespace

WorkspaceCommands::WorkspaceCommands(QObject* parent)
    : QObject(parent)
{
    pool_.setMaxThreadCount(1);
}

WorkspaceCommands::~WorkspaceCommands() { pool_.waitForDone(); }

void WorkspaceCommands::run(Job job)
{
    pool_.start([this, job = std::move(job), workspace = pathOf(workspace_)] {
        const Status status = job(workspace);
        QMetaObject::invokeMethod(
            this,
            [this, status] {
                if (status.ok())
                    Q_EMIT changed();
                else
                    Q_EMIT failed(status.error().message);
            },
            Qt::QueuedConnection);
    });
}

void WorkspaceCommands::change(std::function<Status(WorkspaceFile&)> job)
{
    run([job = std::move(job)](const std::filesystem::path& workspace) -> Status {
        FURROW_TRY_ASSIGN(auto file, WorkspaceFile::open(workspace));
        FURROW_TRY(settleQueue(file));
        return job(file);
    });
}

void WorkspaceCommands::setNotes(const QString& folder, const RunNotes& notes)
{
    run([notes, folder = pathOf(folder)](const std::filesystem::path& workspace) -> Status {
        auto file = WorkspaceFile::open(workspace);
        return file.ok() ? file.value().setNotes(noteKey(workspace, folder), notes) : Status(file.error());
    });
}

void WorkspaceCommands::moveToTrash(const QString& folder)
{
    run([folder = pathOf(folder)](const std::filesystem::path& workspace) -> Status {
        auto moved = furrow::moveToTrash(workspace, folder);
        return moved.ok() ? Status {} : Status(moved.error());
    });
}

void WorkspaceCommands::restore(const QString& trashed)
{
    run([folder = pathOf(trashed)](const std::filesystem::path& workspace) -> Status {
        auto moved = restoreFromTrash(workspace, folder);
        return moved.ok() ? Status {} : Status(moved.error());
    });
}

void WorkspaceCommands::enqueue(const QString& folder)
{
    run([folder = pathOf(folder)](const std::filesystem::path& workspace) { return enqueueRun(workspace, folder); });
}

void WorkspaceCommands::removeEntry(qint64 id)
{
    change([id](WorkspaceFile& file) { return file.removeEntry(id); });
}

void WorkspaceCommands::moveEntry(qint64 id, qint64 position)
{
    change([id, position](WorkspaceFile& file) { return file.moveEntry(id, position); });
}

void WorkspaceCommands::letNextRun(qint64 id)
{
    run([id](const std::filesystem::path& workspace) { return furrow::letNextRun(workspace, id); });
}

void WorkspaceCommands::setQueuePaused(bool paused)
{
    run([paused](const std::filesystem::path& workspace) -> Status {
        FURROW_TRY_ASSIGN(auto file, WorkspaceFile::open(workspace));
        if (auto set = file.setQueuePaused(paused); !set.ok() || paused)
            return set;
        return startQueue(workspace);
    });
}

void WorkspaceCommands::removeEnded()
{
    change([](WorkspaceFile& file) { return file.removeEnded(); });
}

} // namespace furrow
