#include "core/run/folder/before_writing.h"

#include "core/base/group_share.h"
#include "core/base/owner.h"

namespace furrow {

Status beforeWritingInto(const RunPaths& paths)
{
    FURROW_TRY(refuseRootInFolderOf(paths.folder()));
    shareBelow(paths.folder());
    return {};
}

} // namespace furrow
