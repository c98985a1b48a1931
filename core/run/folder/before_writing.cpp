#include "core/run/folder/before_writing.h"

#include "core/base/absolute_path.h"
#include "core/base/group_share.h"
#include "core/base/owner.h"

namespace furrow {

void shareAround(const RunPaths& paths)
{
    shareBelow(paths.cacheFolder().parent_path()); // of the workspace, or of the run itself
    shareBelow(paths.folder());
}

Status beforeWritingInto(const RunPaths& paths)
{
    FURROW_TRY(refuseRootInFolderOf(paths.folder()));
    shareAround(paths);
    return {};
}

Status beforeExportingTo(const RunPaths& paths, const std::filesystem::path& out)
{
    const auto around = absolutePath(paths.cacheFolder()).parent_path();
    return isInside(absolutePath(out), around) ? beforeWritingInto(paths) : Status {};
}

Status beforeWritingBelow(const std::filesystem::path& workspace)
{
    FURROW_TRY(refuseRootInFolderOf(workspace));
    shareBelow(workspace);
    return {};
}

} // namespace furrow
