#pragma once

#include "core/base/file_stamp.h"
#include "core/base/file_system.h"
#include "core/base/kept_folder.h"
#include "core/run/folder/run_paths.h"

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace furrow {

/// Remembers which folders and files a process of the run began with. Whoever moves them away while it runs, and puts
/// others or links in their place, finds those as they were: the process ends. Names that do not exist yet are
/// remembered when they are first seen. Some twenty calls of stat; any thread.
///
/// A folder that is missing is away and may come back: an unmounted disk. So is an empty folder where the checkpoints
/// were: its mount point. But a run folder that was moved or deleted does not. A disk that comes back with another
/// number of its own counts as another folder, which ends the attempt; a resume goes on there.
class RunFolderGuard {
public:
    /// Remembers what lies there now. InvalidArgument when a name is a link, NotFound when there is no run folder.
    static Result<std::shared_ptr<const RunFolderGuard>> watch(const RunPaths& paths);
    /// The same for the WAL of the tracker too: only for a process that has the tracker open before and until the end,
    /// so that nobody else may delete it.
    static Result<std::shared_ptr<const RunFolderGuard>> watchWithWal(const RunPaths& paths);

    /// InvalidArgument: something was replaced, moved or deleted, for good; the sentence names it. NotFound, Io: the
    /// run folder is away now, or nobody can tell.
    Status check() const;
    /// Whether the tracker in its place is still the one that was there at the beginning, whatever became of the rest.
    bool hasOwnTracker() const;
    /// check(), where only what was replaced is an error.
    Status checkReplaced() const;

private:
    struct Name {
        std::filesystem::path path;
        mutable std::optional<FileIdentity> known; ///< guarded by mutex_
    };
    explicit RunFolderGuard(const RunPaths& paths);
    Error whyGone() const;
    Status checkFolder(const Name& name, bool& isAway) const;
    Status checkCheckpoints() const;
    Status checkFile(const Name& name) const;

    mutable std::mutex mutex_;
    Name run_; ///< the folder itself, which links may lead to
    mutable std::optional<KeptFolder> kept_; ///< the same; guarded by mutex_
    std::vector<Name> files_; ///< of the tracker: gone is replaced
    Name checkpoints_;
    std::vector<Name> inCheckpoints_;
    std::vector<Name> folders_;
    std::vector<std::filesystem::path> remade_; ///< folders that may be made anew at any time, but as no links
    std::filesystem::path cache_; ///< of the run or its workspace
};

/// The real file system for as long as the guard finds the run folder as it was: asked right before each write, rename
/// or removal. Thread-safe.
class GuardedFiles final : public FileSystem {
public:
    explicit GuardedFiles(std::shared_ptr<const RunFolderGuard> guard)
        : guard_(std::move(guard))
    {
    }
    const RunFolderGuard& guard() const { return *guard_; }

    Result<std::unique_ptr<OutputFile>> create(const std::filesystem::path& path) override;
    Result<std::string> read(const std::filesystem::path& path) override;
    Status createFolders(const std::filesystem::path& path) override;
    Status createFolder(const std::filesystem::path& path) override;
    Status rename(const std::filesystem::path& from, const std::filesystem::path& to) override;
    Status replace(const std::filesystem::path& from, const std::filesystem::path& to) override;
    Status syncFolder(const std::filesystem::path& folder) override;
    Status removeAll(const std::filesystem::path& path) override;

private:
    std::shared_ptr<const RunFolderGuard> guard_;
};

} // namespace furrow
