#include "core/workspace/trash.h"

#include "core/base/absolute_path.h"
#include "core/base/file_lock.h"
#include "core/base/file_system.h"
#include "core/base/is_there.h"
#include "core/base/link_refusal.h"
#include "core/base/owner.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/run/folder/run_paths.h"

#include <algorithm>

namespace furrow {

namespace {

namespace fs = std::filesystem;

fs::path trashOf(const fs::path& workspace) { return workspace / "trash"; }

/// In a workspace that a group shares the rights alone would let anybody.
Result<fs::path> move(const fs::path& from, const fs::path& folder)
{
    if (const auto owner = otherOwner(from); !owner.empty())
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 belongs to %2. Only they, or root, can move it into the trash or out of it.",
                { utf8Text(from), owner }) };
    FURROW_TRY(realFileSystem().createFolders(folder));
    const fs::path to = folder / from.filename();
    FURROW_TRY(realFileSystem().rename(from, to));
    return to;
}

} // namespace

Result<fs::path> moveToTrash(const fs::path& workspace, const fs::path& run)
{
    const RunPaths paths(absolutePath(run / "").parent_path()); // "run", "run/" and "run/." are the same
    if (isLocked(paths.supervisorLock()))
        return Error { ErrorCode::Busy, sentence("%1 is being trained. Stop it first.", { utf8Text(run) }) };
    if (paths.folder().parent_path() != absolutePath(workspace) / "runs")
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 does not lie in this workspace; only its own runs go to its trash", { utf8Text(run) }) };
    if (isLink(paths.folder()))
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 is a link. Only runs go to the trash; remove the link yourself.", { utf8Text(run) }) };
    if (!isThere(paths.configFile()))
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 is no run: it has no run.json. Only runs go to the trash.", { utf8Text(run) }) };
    FURROW_TRY(refuseLink(trashOf(workspace))); // into the folder of whoever put it there
    return move(paths.folder(), trashOf(workspace));
}

Result<fs::path> restoreFromTrash(const fs::path& workspace, const fs::path& trashed)
{
    if (absolutePath(trashed).parent_path() != absolutePath(trashOf(workspace)))
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 does not lie in the trash of this workspace", { utf8Text(trashed) }) };
    return move(trashed, workspace / "runs");
}

std::vector<fs::path> trashedRuns(const fs::path& workspace)
{
    std::vector<fs::path> found;
    std::error_code failed;
    for (const auto& entry : fs::directory_iterator(trashOf(workspace), failed)) {
        if (fs::exists(entry.path() / "run.json", failed))
            found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    return found;
}

} // namespace furrow
