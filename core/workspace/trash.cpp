#include "core/workspace/trash.h"

#include "core/base/absolute_path.h"
#include "core/base/file_lock.h"
#include "core/base/file_system.h"
#include "core/base/is_there.h"
#include "core/base/link_refusal.h"
#include "core/base/owner.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/run/folder/before_writing.h"
#include "core/run/folder/run_paths.h"
#include "core/run/status/run_holder.h"
#include "core/workspace/workspace_file.h"
#include "core/workspace/workspace_paths.h"

#include <algorithm>

namespace furrow {

namespace {

namespace fs = std::filesystem;

/// Where a run goes that does not lie in <workspace>/runs but in the workspace itself: it has to come back to there,
/// because what was written about it is kept by its place.
fs::path trashBesideRuns(const fs::path& workspace) { return trashOf(workspace) / "beside runs"; }

/// The folder and what holds it: "run", "run/" and "run/." are the same.
fs::path wholeFolder(const fs::path& run) { return absolutePath(run / "").parent_path(); }

/// In a workspace that a group shares the rights alone would let anybody.
Result<fs::path> move(const fs::path& workspace, const fs::path& from, const fs::path& folder)
{
    if (const auto owner = otherOwner(from); !owner.empty())
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 belongs to %2. Only they, or root, can move it into the trash or out of it.",
                { utf8Text(from), owner }) };
    FURROW_TRY(refuseRootInFolderOf(from)); // the owner could neither restore it nor use the trash any more
    FURROW_TRY(beforeWritingBelow(workspace));
    FURROW_TRY(realFileSystem().createFolders(folder));
    const fs::path to = folder / from.filename();
    FURROW_TRY(realFileSystem().rename(from, to));
    return to;
}

/// At its turn the queue would find nothing. A queue that cannot be read keeps nobody from tidying up.
Status refuseQueued(const fs::path& workspace, const fs::path& run)
{
    if (!isThere(workspaceFile(workspace))) // to look makes none
        return {};
    auto file = WorkspaceFile::look(workspace);
    const auto queue = file.ok() ? file.value().queue() : Result<std::vector<QueueEntry>>(file.error());
    for (const QueueEntry& entry : queue.ok() ? queue.value() : std::vector<QueueEntry>())
        if (entry.state == QueueState::Waiting && wholeFolder(pathFromUtf8(entry.run)) == run)
            return Error { ErrorCode::InvalidArgument,
                sentence("%1 waits in the queue. Take it out first ('furrowctl queue remove %2').",
                    { utf8Text(run), std::to_string(entry.id) }) };
    return {};
}

} // namespace

Status checkTrashable(const fs::path& workspace, const fs::path& run)
{
    const RunPaths paths(wholeFolder(run));
    if (isLocked(paths.supervisorLock()))
        return heldByAnother(paths, HeldFrom::Moving);
    const fs::path parent = paths.folder().parent_path();
    if (parent != runsOf(absolutePath(workspace)) && parent != wholeFolder(workspace))
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 does not lie in this workspace; only its own runs go to its trash", { utf8Text(run) }) };
    if (isLink(paths.folder()))
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 is a link. Only runs go to the trash; remove the link yourself.", { utf8Text(run) }) };
    if (!isThere(paths.configFile()))
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 is not a run: it has no run.json. Only runs go to the trash.", { utf8Text(run) }) };
    return refuseQueued(workspace, paths.folder());
}

Result<fs::path> moveToTrash(const fs::path& workspace, const fs::path& run)
{
    FURROW_TRY(checkTrashable(workspace, run));
    const fs::path folder = wholeFolder(run);
    const bool isBesideRuns = folder.parent_path() == wholeFolder(workspace);
    const fs::path trash = isBesideRuns ? trashBesideRuns(workspace) : trashOf(workspace);
    for (const auto& into : { trashOf(workspace), trash }) // into the folder of whoever put a link there
        FURROW_TRY(refuseLink(into));
    FURROW_TRY_ASSIGN(const auto moved, move(workspace, folder, trash));
    if (!isLocked(RunPaths(moved).supervisorLock()))
        return moved;
    FURROW_TRY(realFileSystem().rename(moved, folder)); // its training began meanwhile
    return heldByAnother(RunPaths(folder), HeldFrom::Moving);
}

Result<fs::path> restoreFromTrash(const fs::path& workspace, const fs::path& trashed)
{
    const fs::path parent = absolutePath(trashed).parent_path();
    if (parent == absolutePath(trashBesideRuns(workspace)))
        return move(workspace, trashed, workspace);
    if (parent == absolutePath(trashOf(workspace)))
        return move(workspace, trashed, runsOf(workspace));
    return Error { ErrorCode::InvalidArgument,
        sentence("%1 does not lie in the trash of this workspace", { utf8Text(trashed) }) };
}

std::vector<fs::path> trashedRuns(const fs::path& workspace)
{
    std::vector<fs::path> found;
    std::error_code failed;
    for (const auto& trash : { trashOf(workspace), trashBesideRuns(workspace) })
        for (const auto& entry : fs::directory_iterator(trash, failed))
            if (fs::exists(entry.path() / "run.json", failed))
                found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    return found;
}

} // namespace furrow
