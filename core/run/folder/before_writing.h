#pragma once

#include "core/base/result.h"
#include "core/run/folder/run_paths.h"

#include <filesystem>

namespace furrow {

/// What this process makes from now on in the folder of a run, and in the workspace around it, the users who share
/// either may write too (shareBelow). For the processes of a run, which others have started.
void shareAround(const RunPaths& paths);

/// For whoever is about to write into the folder of a run from outside of its processes, or to make it, before the
/// first byte: shareAround(). InvalidArgument: what root makes there its owner could not write (refuseRootInFolderOf).
Status beforeWritingInto(const RunPaths& paths);

/// The same for what a person names a place for, as an export, where that lies in the run or the workspace around it.
/// Elsewhere it is theirs.
Status beforeExportingTo(const RunPaths& paths, const std::filesystem::path& out);

/// The same for a workspace, whatever is written there: its library, queue, trash and cache. It may be yet to come.
Status beforeWritingBelow(const std::filesystem::path& workspace);

} // namespace furrow
