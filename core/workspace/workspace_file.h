#pragma once

#include "core/tracker/sqlite/database.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace furrow {

/// What a person wrote about a run.
struct RunNotes {
    std::vector<std::string> tags; ///< sorted, without doubles
    std::string group;
    std::string note;
    bool archived = false; ///< left out of the library unless asked for
    bool operator==(const RunNotes&) const = default;
};

enum class QueueState { Waiting = 0, Running = 1, Ended = 2 };
std::string toString(QueueState state); ///< "waiting" "running" "ended"

/// A run that waits for its devices.
struct QueueEntry {
    std::int64_t id = 0;
    std::string run; ///< folder
    std::string name;
    std::string lane; ///< the setting `devices` of the run: entries that share a device wait for each other
    QueueState state = QueueState::Waiting;
    std::string outcome; ///< of an ended one: "finished", "failed: ..."
    bool operator==(const QueueEntry&) const = default;
};

/// The file that a workspace keeps beside its runs: tags and notes by run folder, and the queue. Short transactions, so
/// console, furrowctl and the queue process may all have it open. One thread.
class WorkspaceFile {
public:
    /// Opens <workspace>/library.sqlite, makes it when missing. Refuses a newer version.
    static Result<WorkspaceFile> open(const std::filesystem::path& workspace);
    /// For reading alone: takes no right to write and makes nothing. The file must be there.
    static Result<WorkspaceFile> look(const std::filesystem::path& workspace);

    /// By run folder; runs that nobody wrote about are not in it.
    Result<std::map<std::string, RunNotes>> notes();
    Status setNotes(const std::string& run, const RunNotes& notes);

    /// In order of their turn.
    Result<std::vector<QueueEntry>> queue();
    /// At the end. A run that waits or runs already is refused.
    Status enqueue(const std::string& run, const std::string& name, const std::string& lane);
    Status removeEntry(std::int64_t id);
    /// Before the entry that stands there now; positions count from 0 over all entries.
    Status moveEntry(std::int64_t id, std::int64_t position);
    Status setEntry(std::int64_t id, QueueState state, const std::string& outcome);
    Status removeEnded();
    /// A paused queue starts nothing; what runs goes on.
    Status setQueuePaused(bool paused);
    Result<bool> isQueuePaused();

private:
    WorkspaceFile(std::filesystem::path workspace, Database db)
        : workspace_(std::move(workspace))
        , db_(std::move(db))
    {
    }
    /// Refuses what another program, or a newer version, has written.
    static Result<WorkspaceFile> checked(const std::filesystem::path& workspace, Result<Database> opened);
    Status takeStatus(); ///< of db_
    Status inTransaction(const std::function<void()>& work);

    std::filesystem::path workspace_;
    Database db_;
};

/// How a run is called in the file: "runs/<folder>" inside the workspace, so that a workspace may be moved, else its
/// whole path.
std::string noteKey(const std::filesystem::path& workspace, const std::filesystem::path& run);

/// The file itself; there may be none yet.
std::filesystem::path workspaceFile(const std::filesystem::path& workspace);

/// Held by the one process that runs the queue of a workspace.
std::filesystem::path queueLock(const std::filesystem::path& workspace);

} // namespace furrow
