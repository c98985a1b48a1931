#include "core/run/folder/run_folder_guard.h"

#include "core/base/link_refusal.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/data/source/block_cache.h"
#include "core/tracker/sqlite/database_files.h"

namespace furrow {

namespace {

Error replacedRun(const std::filesystem::path& folder)
{
    return { ErrorCode::InvalidArgument,
        sentence(
            "Another folder lies at %1 than the one in which this run was being trained, so the attempt ends; nothing more is written or deleted in it. Put the folder of the run back in its place and resume.",
            { utf8Text(folder) }) };
}

Error replacedFolder(const std::filesystem::path& folder)
{
    return { ErrorCode::InvalidArgument,
        sentence(
            "Another folder lies at %1 than the one that this attempt began with, so the attempt ends; nothing more is written or deleted in it. Put the right folder back in its place and resume.",
            { utf8Text(folder) }) };
}

Error replacedTracker(const std::filesystem::path& file)
{
    return { ErrorCode::InvalidArgument,
        sentence(
            "%1 was deleted or replaced while the run was being trained, so the attempt ends. Put the tracker of the run back and resume; or 'furrowctl doctor %2 --repair' makes it anew from what the checkpoints prove.",
            { utf8Text(file), utf8Text(file.parent_path()) }) };
}

/// Of the WAL and its index.
Error replacedBeside(const std::filesystem::path& file)
{
    return { ErrorCode::InvalidArgument,
        sentence(
            "%1 was deleted or replaced while the run was being trained, so the attempt ends. It is a part of the tracker. What it held was moved into the tracker first; 'furrowctl resume %2' goes on.",
            { utf8Text(file), utf8Text(file.parent_path()) }) };
}

} // namespace

RunFolderGuard::RunFolderGuard(const RunPaths& paths)
    : run_ { paths.folder(), {} }
    , files_ { { paths.tracker(), {} } }
    , checkpoints_ { paths.checkpointsFolder(), {} }
    , inCheckpoints_ { { paths.removedManifestsFolder(), {} }, { paths.writingNotesFolder(), {} },
        { paths.frozenFolder(), {} } }
    , folders_ { { paths.telemetryFolder(), {} }, { paths.logsFolder(), {} } }
    , remade_ { paths.unknownCheckpointsFolder(), paths.exportsFolder(), paths.meetingsFolder(), paths.memoryFolder(),
        paths.evaluationsFolder(), paths.viewCacheFolder(), paths.folder() / "cache" }
    , cache_(paths.cacheFolder())
{
}

Result<std::shared_ptr<const RunFolderGuard>> RunFolderGuard::watch(const RunPaths& paths)
{
    std::shared_ptr<const RunFolderGuard> guard(new RunFolderGuard(paths));
    FURROW_TRY(guard->check()); // remembers
    return guard;
}

Result<std::shared_ptr<const RunFolderGuard>> RunFolderGuard::watchWithWal(const RunPaths& paths)
{
    std::shared_ptr<RunFolderGuard> guard(new RunFolderGuard(paths));
    const auto files = databaseFiles(paths.tracker());
    guard->files_.push_back({ files[1], {} });
    guard->files_.push_back({ files[2], {} });
    FURROW_TRY(guard->check());
    return std::shared_ptr<const RunFolderGuard>(std::move(guard));
}

Status RunFolderGuard::check() const
{
    const std::lock_guard lock(mutex_);
    FURROW_TRY_ASSIGN(const auto run, identityOf(run_.path, Links::Follow));
    if (!run)
        return whyGone();
    if (!run_.known) {
        FURROW_TRY_ASSIGN(kept_, KeptFolder::open(run_.path));
        run_.known = run;
    }
    if (*run != *run_.known)
        return replacedRun(run_.path);
    for (const Name& file : files_)
        FURROW_TRY(checkFile(file));
    FURROW_TRY(checkCheckpoints());
    for (const auto& folder : folders_) {
        bool isAway = false;
        FURROW_TRY(checkFolder(folder, isAway));
    }
    for (const auto& folder : remade_)
        FURROW_TRY(refuseLink(folder));
    return refuseLinksInCache(cache_);
}

Error RunFolderGuard::whyGone() const
{
    const auto where = kept_ ? kept_->whereabouts() : KeptFolder::Whereabouts {};
    if (where.fate == KeptFolder::Fate::Moved)
        return { ErrorCode::InvalidArgument,
            sentence("%1 was moved to %2 while the run was being trained, so the attempt ends. Resume it there.",
                { utf8Text(run_.path), utf8Text(where.path) }) };
    if (where.fate == KeptFolder::Fate::Deleted)
        return { ErrorCode::InvalidArgument,
            sentence("%1 was deleted while the run was being trained, so the attempt ends.", { utf8Text(run_.path) }) };
    return { ErrorCode::NotFound, sentence("%1 is gone. Is its disk still there?", { utf8Text(run_.path) }) };
}

bool RunFolderGuard::hasOwnTracker() const
{
    const std::lock_guard lock(mutex_);
    const auto run = identityOf(run_.path, Links::Follow);
    return run.ok() && run.value() == run_.known && checkFile(files_.front()).ok();
}

Status RunFolderGuard::checkReplaced() const
{
    auto status = check();
    return status.ok() || status.error().code == ErrorCode::InvalidArgument ? status : Status {};
}

Status RunFolderGuard::checkFile(const Name& name) const
{
    FURROW_TRY_ASSIGN(const auto now, identityOf(name.path, Links::AsThemselves));
    if (!name.known)
        name.known = now;
    if (now == name.known)
        return {};
    return name.path == files_.front().path ? replacedTracker(name.path) : replacedBeside(name.path);
}

/// @param isAway  set when there is no such folder
Status RunFolderGuard::checkFolder(const Name& name, bool& isAway) const
{
    FURROW_TRY_ASSIGN(const auto now, identityOf(name.path, Links::AsThemselves));
    isAway = !now;
    if (isAway)
        return {};
    if (now->isLink)
        return refuseLink(name.path);
    if (!name.known)
        name.known = now;
    return *now == *name.known ? Status {} : replacedFolder(name.path);
}

Status RunFolderGuard::checkCheckpoints() const
{
    bool isAway = false;
    if (auto status = checkFolder(checkpoints_, isAway); !status.ok()) {
        const auto entries = isLink(checkpoints_.path) ? Result<std::vector<std::filesystem::path>>(status.error())
                                                       : entriesOf(checkpoints_.path);
        return entries.ok() && entries.value().empty() ? Status {} : status;
    }
    if (!isAway)
        for (const auto& folder : inCheckpoints_)
            FURROW_TRY(checkFolder(folder, isAway));
    return {};
}

Result<std::unique_ptr<OutputFile>> GuardedFiles::create(const std::filesystem::path& path)
{
    FURROW_TRY(guard_->check());
    return realFileSystem().create(path);
}

Result<std::string> GuardedFiles::read(const std::filesystem::path& path) { return realFileSystem().read(path); }

Status GuardedFiles::createFolders(const std::filesystem::path& path)
{
    FURROW_TRY(guard_->check());
    return realFileSystem().createFolders(path);
}

Status GuardedFiles::createFolder(const std::filesystem::path& path)
{
    FURROW_TRY(guard_->check());
    return realFileSystem().createFolder(path);
}

Status GuardedFiles::rename(const std::filesystem::path& from, const std::filesystem::path& to)
{
    FURROW_TRY(guard_->check());
    return realFileSystem().rename(from, to);
}

Status GuardedFiles::replace(const std::filesystem::path& from, const std::filesystem::path& to)
{
    FURROW_TRY(guard_->check());
    return realFileSystem().replace(from, to);
}

Status GuardedFiles::syncFolder(const std::filesystem::path& folder) { return realFileSystem().syncFolder(folder); }

Status GuardedFiles::removeAll(const std::filesystem::path& path)
{
    FURROW_TRY(guard_->check());
    return realFileSystem().removeAll(path);
}

} // namespace furrow
